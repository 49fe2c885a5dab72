"""Parameters are the fields of a release."""

import math
from dataclasses import dataclass

import pytest
from tests.snapshots import refuses

from reidrisk import ItemSamples, RandomisedResponse, TopicsApi
from reidrisk.releases import parameter, parameters_of
from reidrisk.releases.parameters import known_parameter


@dataclass(frozen=True)
class Plain:
    """A release of someone else who has never heard of `parameter`."""

    size: int
    share: float = 0.5
    words: tuple[str, ...] = ()


def test_ranges_and_directions_come_from_the_fields():
    found = parameters_of(TopicsApi)
    assert list(found)[:3] == ["topics", "top", "noise"]
    noise, top = found["noise"], found["top"]
    assert (noise.least, noise.most, noise.safer_as_it_grows, noise.share) == (0, 1, True, True)
    assert (top.whole, top.range) == (True, "a whole number of at least 1")
    assert (found["every"].whole, found["every"].number) == (True, True)
    assert not found["buckets"].number
    assert parameters_of(RandomisedResponse(1.0))["epsilon"].safer_as_it_grows is False
    assert parameters_of(ItemSamples)["samples"].needed


def test_a_plain_dataclass_has_parameters_too():
    found = parameters_of(Plain)
    assert (found["size"].whole, found["size"].needed) == (True, True)
    assert (found["share"].number, found["share"].whole, found["share"].needed) == (
        True, False, False,
    )  # fmt: skip
    assert not found["words"].number
    assert found["size"].least == -math.inf


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("noise", 5, "out-of-range"),
        ("top", 0, "out-of-range"),
        ("top", 2.5, "out-of-range"),
        ("delay", 8, "out-of-range"),
    ],
)
def test_a_number_out_of_range_is_refused(name, value, code):
    with refuses(code):
        parameters_of(TopicsApi)[name].check(value)
    parameters_of(TopicsApi)[name].check(1)


def test_an_unknown_parameter_is_refused_with_the_nearest():
    assert known_parameter(TopicsApi(), "noise").name == "noise"
    assert known_parameter(TopicsApi(), "users", others=("users",)) is None
    with refuses("unknown-parameter"):
        known_parameter(TopicsApi(), "nose")


def test_what_is_no_dataclass_has_no_parameters():
    with refuses("not-a-dataclass"):
        parameters_of(object())


def test_a_parameter_without_default_comes_first():
    @dataclass(frozen=True)
    class Own:
        size: int = parameter(help="Some size", least=3)

    assert parameters_of(Own)["size"].help == "Some size"
    with pytest.raises(TypeError):
        Own()
