"""A result whose every word wants to be something else."""

from dataclasses import fields, is_dataclass, replace

from tests.report.sample import sample

EVIL = (
    "</script><script>alert(1)</script>{{7*7}}<img src=x onerror=alert(2)>\"'`&amp;"
    "\u202e\u2066\u2028"
)
KEEP = {"side", "method", "leans"}


def _evil(value, name=""):
    if isinstance(value, str):
        return value if name in KEEP else f"{EVIL}{value}"
    if is_dataclass(value):
        parts = {part.name: _evil(getattr(value, part.name), part.name) for part in fields(value)}
        return replace(value, **parts)
    if isinstance(value, dict):
        return {_evil(key): _evil(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_evil(item, name) for item in value)
    return value


def hostile(result=None):
    result = sample() if result is None else result
    return replace(
        _evil(result), study={**_evil(dict(result.study)), "unit": EVIL, "command": EVIL}
    )
