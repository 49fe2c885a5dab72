"""Parameters are the fields of a release."""

import math
from dataclasses import dataclass

import pytest

from reidrisk import InvalidInput, ItemSamples, RandomisedResponse, TopicsApi
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
    ("name", "value", "message"),
    [
        ("noise", 5, "noise is a share from 0 to 1, got 5"),
        ("top", 0, "top is a whole number of at least 1, got 0"),
        ("top", 2.5, "top is a whole number of at least 1, got 2.5"),
        ("delay", 8, "delay is a number from 0 to 7, got 8"),
    ],
)
def test_a_number_out_of_range_is_refused(name, value, message):
    with pytest.raises(InvalidInput, match=message):
        parameters_of(TopicsApi)[name].check(value)
    parameters_of(TopicsApi)[name].check(1)


def test_an_unknown_parameter_is_refused_with_the_nearest():
    assert known_parameter(TopicsApi(), "noise").name == "noise"
    assert known_parameter(TopicsApi(), "users", others=("users",)) is None
    with pytest.raises(InvalidInput, match=r"'nose' is not a parameter.*did you mean noise"):
        known_parameter(TopicsApi(), "nose")


def test_what_is_no_dataclass_has_no_parameters():
    with pytest.raises(InvalidInput, match="make it a frozen dataclass"):
        parameters_of(object())


def test_a_parameter_without_default_comes_first():
    @dataclass(frozen=True)
    class Own:
        size: int = parameter(help="Some size", least=3)

    assert parameters_of(Own)["size"].help == "Some size"
    with pytest.raises(TypeError):
        Own()
