"""Parameters of a release: the fields of its dataclass, with their ranges and directions.

Study files, `--vary`, sweeps, `calibrate` and help texts all read this, so a parameter is described
once.
"""

import dataclasses
import difflib
import math
import types
import typing
from dataclasses import dataclass, field
from typing import Any

from reidrisk.errors import InvalidInput
from reidrisk.releases.protocol import Release, Surveys

_KEY = "reidrisk"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a release.

    Attributes:
        name: Name of the field.
        help: What it is, in a few words.
        whole: Whether it takes whole numbers only.
        number: Whether it can be a single number; else it takes lists or text.
        flag: Whether it is true or false.
        text: Whether it can be text.
        choices: The words that it may be, if it is one of a few.
        release: Whether it is a release itself.
        least: The least value; minus infinity if there is none.
        most: The largest value; infinity if there is none.
        safer_as_it_grows: Whether people become safer as it grows; None if that depends.
        search: The range that `calibrate` searches by default; None if it does not search it.
        needed: Whether it has no default.
        default: Its default.
        of_people: Whether it is the size of people's alphabet, which is then its default.
        example: A value to show in examples. A required parameter appears there even without one.

    Example:
        >>> noise = rr.releases.parameters_of(rr.TopicsApi)["noise"]
        >>> noise.range, noise.default, noise.safer_as_it_grows
        ('a share from 0 to 1', 0.05, True)
    """

    name: str
    help: str
    whole: bool
    number: bool
    flag: bool = False
    text: bool = False
    choices: tuple[str, ...] = ()
    release: bool = False
    least: float = -math.inf
    most: float = math.inf
    safer_as_it_grows: bool | None = None
    search: tuple[float, float] | None = None
    needed: bool = False
    default: Any = None
    of_people: bool = False
    example: Any = None

    @property
    def share(self) -> bool:
        """Whether it is a share, which is printed in percent."""
        return not self.whole and (self.least, self.most) == (0, 1)

    @property
    def range(self) -> str:
        """What it may be, in words."""
        if self.flag:
            return "true or false"
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.release:
            return "a release"
        kind = "a whole number" if self.whole else "a share" if self.share else "a number"
        if math.isinf(self.most):
            return kind if math.isinf(self.least) else f"{kind} of at least {self.least:g}"
        return f"{kind} from {self.least:g} to {self.most:g}"

    @property
    def shown(self) -> Any:
        """A value for examples: the one given for this, or one inside the range."""
        if self.example is not None or self.choices:
            return self.choices[0] if self.example is None else self.example
        if not self.number:
            return "topics" if self.release else "text"
        if self.search is not None:
            return self.search[0]
        return next((end for end in (self.least, self.most) if math.isfinite(end)), 1)

    def check(self, value: Any) -> None:
        """Refuse a number that is out of range; lists and text are left to the release."""
        # In Python a truth value is a whole number; here it is none.
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        if not self.least <= value <= self.most or (self.whole and value != int(value)):
            raise InvalidInput(f"{self.name} is {self.range}, got {value!r}", code="out-of-range")


def parameter(default: Any = dataclasses.MISSING, *, help: str, **facts: Any) -> Any:  # noqa: A002
    """A field of a release, with what help texts and searches need to know about it.

    Args:
        default: Value if nothing is given; the field is required without one.
        help: One line on what the parameter does.
        **facts: Fields of `Parameter`: its range, its direction.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Rounded:
        ...     digits: int = rr.releases.parameter(2, help="Digits that stay", least=0)
        >>> rr.releases.parameters_of(Rounded)["digits"].range
        'a whole number of at least 0'
    """
    keyword = facts.pop("kw_only", dataclasses.MISSING)
    return field(default=default, kw_only=keyword, metadata={_KEY: {"help": help, **facts}})


def parameters_of(release: Any) -> dict[str, Parameter]:
    """Parameters of a release, or of a class of them, by name.

    Args:
        release: What shows people to sites.

    Example:
        >>> for one in rr.releases.parameters_of(rr.ItemSamples).values():
        ...     print(f"{one.name}: {one.range}")
        samples: a whole number of at least 1
        by_count: true or false
        replacement: true or false
    """
    kind = release if isinstance(release, type) else type(release)
    if not dataclasses.is_dataclass(kind):
        raise InvalidInput(
            f"{kind.__name__} is not a dataclass, so its parameters are not known; make it a "
            "frozen dataclass whose fields are its parameters",
            code="not-a-dataclass",
        )
    hints = typing.get_type_hints(kind)
    return {
        one.name: _parameter(one, hints[one.name]) for one in dataclasses.fields(kind) if one.init
    }


def known_parameter(release: Any, name: str, *, others: tuple[str, ...] = ()) -> Parameter | None:
    """The parameter of a name; None for a name in `others`; a refusal for any other name."""
    known = parameters_of(release)
    if name in known or name in others:
        return known.get(name)
    names = sorted({*known, *others})
    close = difflib.get_close_matches(name, names, 1)
    hint = f": did you mean {close[0]}?" if close else "."
    raise InvalidInput(
        f"{name!r} is not a parameter of the release{hint} There are {', '.join(names)}",
        code="unknown-parameter",
    )


def _parameter(one: "dataclasses.Field[Any]", hint: Any) -> Parameter:
    kinds = set(typing.get_args(hint)) if _is_union(hint) else {hint}
    words = [kind for kind in kinds if typing.get_origin(kind) is typing.Literal]
    facts = {
        "help": "",
        "whole": int in kinds and float not in kinds,
        "number": bool(kinds & {int, float}),
        "flag": bool in kinds,
        "text": str in kinds,
        "choices": tuple(word for kind in words for word in typing.get_args(kind)),
        "release": bool(kinds & {Release, Surveys}),
        **one.metadata.get(_KEY, {}),
    }
    required = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    default = None if one.default is dataclasses.MISSING else one.default
    return Parameter(name=one.name, needed=required, default=default, **facts)


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in {typing.Union, types.UnionType}
