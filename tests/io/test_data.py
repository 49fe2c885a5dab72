"""The public door to people and inputs."""

import types

from reidrisk import data


def test_the_door_is_sorted_and_complete():
    assert data.__all__ == sorted(data.__all__)
    there = {
        name
        for name, value in vars(data).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert there == set(data.__all__)


def test_everything_behind_the_door_explains_itself():
    for name in data.__all__:
        assert getattr(data, name).__doc__[0].isupper(), name
