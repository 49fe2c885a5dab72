"""Parse and vary parameters of a release.

Study files, sweeps, `--vary` and `calibrate` all come here; what a parameter may be, and which way
is safer, the release alone says.
"""

import math
from collections.abc import Mapping
from typing import Any

from reidrisk.core.checks import meant, shown
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.releases import AnyRelease, Parameter, parameters_of
from reidrisk.releases.parameters import known_parameter
from reidrisk.releases.table import release_kind
from reidrisk.study.quantities import share, size
from reidrisk.study.release_syntax import in_words
from reidrisk.study.source import AnySource, source_of

USERS = Parameter(
    name="users",
    help="How many synthetic people there are",
    whole=True,
    number=True,
    least=1,
    safer_as_it_grows=True,
    search=(1_000, 1_000_000),
)
"""The one parameter of a study that is not the release's."""


def parameter_of(release: AnyRelease | None, name: str, what: str = "") -> Parameter:
    """A parameter that may be changed: a number of the release, or the number of users.

    A release that has `users` of its own, such as those that each cohort has, means these.

    Args:
        release: Whose.
        name: Of the parameter.
        what: Who asks, for messages: "sweep: ".
    """
    own = release is not None and name in parameters_of(release)
    if name == USERS.name and not own:
        return USERS
    if release is None:
        raise InvalidInput(
            f"{what}{name} is a parameter of a release, and this study names none; name one",
            code="missing-release",
        )
    try:
        found = known_parameter(release, name, others=(USERS.name,))
    except InvalidInput as wrong:
        raise InvalidInput(f"{what}{wrong}", code=wrong.code) from None
    assert found is not None
    if not found.number:
        raise InvalidInput(
            f"{what}{name} is not a number, so it cannot be varied; make a study for each value",
            code="cannot-be-varied",
        )
    return found


def read_value(parameter: Parameter, value: Any) -> Any:
    """A value as people write it, `5%` or `10k`; lists become tuples, the rest is left as it is.

    Args:
        parameter: Whose value.
        value: As it is written.
    """
    if isinstance(value, list):
        return tuple(read_value(parameter, one) for one in value)
    if parameter.flag and not isinstance(value, bool):
        raise InvalidInput(
            f"{parameter.name} is {parameter.range}, got {shown(value)}", code="out-of-range"
        )
    if parameter.choices and value not in parameter.choices:
        raise InvalidInput(
            f"{parameter.name} is {parameter.range}; got {shown(value)}", code="unknown-choice"
        )
    return _number(parameter, value) if parameter.number else value


_ALL = 1.0
"""A share that was read before, as from a release.json; people who mean it write 100%."""


def _number(parameter: Parameter, value: Any) -> Any:
    name, number = parameter.name, value
    if isinstance(value, bool):
        raise InvalidInput(
            f"{name} is {parameter.range}, not true or false; write {_example(parameter)}",
            code="out-of-range",
        )
    if parameter.share and not (isinstance(value, float) and value == _ALL):
        number = share(value, name)
    elif parameter.whole:
        number = size(value, name)
    elif isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
    if isinstance(number, float) and math.isnan(number):
        raise InvalidInput(f"{name} is {parameter.range}, got {shown(value)}", code="out-of-range")
    parameter.check(number)
    return number


def _example(parameter: Parameter) -> str:
    """A setting that could be meant: what it is by default, or the least it may be."""
    plain = isinstance(parameter.default, int | float)
    least = 1 if math.isinf(parameter.least) else parameter.least
    return f"a number, such as {setting(parameter.name, parameter.default if plain else least)}"


def faults(kind: type[AnyRelease], given: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with parameters of a release, by name; nothing if all is well.

    Those of a release inside it have both names: `of.samples`.

    Args:
        kind: The class of the release.
        given: Its parameters as they are written.
    """
    known = parameters_of(kind)
    found = {}
    for name, value in given.items():
        if name not in known:
            found[name] = (
                f"there is no such key{meant(name, known)} There are {', '.join(sorted(known))}"
            )
            continue
        try:
            if known[name].release:
                inner, parts = _inner(name, value)
                found |= {f"{name}.{key}": why for key, why in faults(inner, parts).items()}
            else:
                read_value(known[name], value)
        except InvalidInput as wrong:
            found[name] = _in_range(known[name], str(wrong))
    for one in known.values():
        if one.needed and one.name not in given and not one.of_people:
            found[one.name] = f"this key is needed: {one.help or one.name}, {one.range}"
    return found


def make_release(
    kind: type[AnyRelease],
    given: Mapping[str, Any],
    source: AnySource,
    own: AnyRelease | None = None,
) -> AnyRelease:
    """A release with these parameters; the alphabet and gaps are those of the source, unless told.

    Nobody knows where the gaps of a table come from. They are taken to be chance, the same for all.

    Args:
        kind: Its class.
        given: Its parameters.
        source: Whom it shows.
        own: The study's own release, if this one stands beside it: a function of what another one
            shows is then a function of that, unless told.
    """
    known = parameters_of(kind)
    values = {
        name: make_release(*_inner(name, value), source)
        if known[name].release
        else read_value(known[name], value)
        for name, value in given.items()
    }
    for one in known.values():
        if one.name in values:
            continue
        # One of people's own vectors, if nothing is said, is not made one of the other release.
        if one.release and own is not None and one.default is not None:
            values[one.name] = own
        elif (value := _usual(one, source)) is not None:
            values[one.name] = value
    try:
        return kind(**values)
    # It is a ValueError too, and already says what is wrong.
    except InvalidInput:
        raise
    except (TypeError, ValueError) as wrong:  # of a release of someone else
        raise InvalidInput(
            f"{kind.name} cannot be made with these parameters: {wrong}", code="invalid-parameters"
        ) from wrong


def release_in_words(text: str, source: AnySource, own: AnyRelease | None = None) -> AnyRelease:
    """The release that one line of words describes: `cohorts users=50`; `own` as above.

    Args:
        text: The line.
        source: Whom it shows.
        own: The study's own release, if this one stands beside it.
    """
    kind, given = _inner("it", text)
    if wrong := faults(kind, given):
        raise InvalidInput(
            "; ".join(f"{name}: {why}" for name, why in wrong.items()), code="invalid-parameters"
        )
    return make_release(kind, given, source, own)


def _inner(name: str, value: Any) -> tuple[type[AnyRelease], dict[str, Any]]:
    """The kind and the parameters of a release that is a parameter: a table, or words."""
    table = dict(in_words(value)) if isinstance(value, str) else value
    if not isinstance(table, Mapping) or not isinstance(table.get("kind"), str):
        raise InvalidInput(
            f"{name} is a release: a table with its kind, such as item-samples, and its parameters;"
            f" got {shown(value)}",
            code="not-a-release",
        )
    return release_kind(table["kind"]), {key: table[key] for key in table if key != "kind"}


def _usual(parameter: Parameter, source: AnySource) -> float | int | None:
    """What a source says of a parameter that is not given, if anything."""
    if parameter.of_people:
        return source_of(source).tokens
    return source_of(source).absence() if parameter.name == "absence" else None


def _in_range(parameter: Parameter, wrong: str) -> str:
    """A message that says the range; that of a share is in its own."""
    return (
        wrong
        if parameter.share or parameter.range in wrong
        else f"{wrong}; it is {parameter.range}"
    )
