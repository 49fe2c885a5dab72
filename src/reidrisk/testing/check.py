"""Helpers of the checks."""

import dataclasses


def promise(kept: bool, who: str, what: str) -> None:
    """Raise if a promise is broken."""
    if not kept:
        raise AssertionError(f"{who} promises {what}; this one does not keep it")


def is_frozen(value: object) -> bool:
    """Whether it is a value: it has a hash, and its fields cannot be changed."""
    try:
        hash(value)
    except TypeError:
        return False
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    name = fields[0].name if fields else "name"
    try:
        setattr(value, name, getattr(value, name, None))
    except (AttributeError, TypeError):
        return True
    return False
