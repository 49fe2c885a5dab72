"""Whom one table helps to find in another, as one call."""

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, get_args

from reidrisk.attacks import Attack, attack_named
from reidrisk.core.checks import whole_number
from reidrisk.core.optional import in_frames_of
from reidrisk.core.settings_syntax import offering, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Returns
from reidrisk.io.linked import Strangers
from reidrisk.io.paired_columns import Pair, Pairs, two_layouts
from reidrisk.io.tables import is_path, path_or_table
from reidrisk.risk.arguments import SearchEngine
from reidrisk.study.keys import TwoTables
from reidrisk.study.portfolio import Effort
from reidrisk.study.quantities import share
from reidrisk.study.result import Result
from reidrisk.study.toml import StudyFile, described_study, read_section, table_name, whole_path


def link(
    known: Any,
    anonymous: Any,
    *,
    user: str | None = None,
    known_user: str | None = None,
    anonymous_user: str | None = None,
    user_pattern: str | None = None,
    item: Pair = None,
    count: Pair = None,
    epoch: Pair = None,
    time: Pair = None,
    columns: Pairs = (),
    vector: Pair = None,
    vectors: str | Pairs = (),
    attacks: Sequence[str | Attack] = (),
    effort: Effort = "normal",
    slots: Sequence[int] | None = None,
    noise: float | None = None,
    top: int | None = None,
    strangers: Strangers | float = "keep",
    present: float | None = None,
    training: float = 0.0,
    everyone: bool = False,
    error_rates: bool = False,
    seed: int = 0,
    header: bool | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    skip: int | None = None,
    where: str | None = None,
    time_format: str | None = None,
    returns: Returns = "refuse",
    engine: SearchEngine | None = None,
) -> Result:
    """Find the people of one table in another.

    The same as `reidrisk link`, with the same result. `rr.data.read_linked` tells which forms the
    tables may have.

    Args:
        known: Rows whose user the attacker knows: a file or folder, a dictionary of columns, or a
            frame of pandas, polars, Arrow or DuckDB.
        anonymous: Rows whose user the attacker wants, likewise. Their users are the truth, which
            only the evaluation sees.
        user: The column of users of both tables; the one whose name says so, if not given.
        known_user: That of the known table, if the two have different names for it.
        anonymous_user: That of the anonymous table.
        user_pattern: A regular expression whose first group is the user within an id, such as
            "rec-([0-9]+)".
        item: The column of items or tokens, as `user`. A column with another name in the anonymous
            table is written `{"sku": "product"}`, the name in the known table first.
        count: The column of how often each item came, perhaps such a pair.
        epoch: The column of epochs, weeks or visits, perhaps such a pair.
        time: The column of when each item came, perhaps such a pair; attackers then compare when
            users act as well: hours, weekdays, gaps, dates in common.
        columns: Columns that describe a person, each of which becomes a slot: `["age", "zip"]`, or
            `{"given_name": "First name"}` with a name for each table.
        vector: The column of vectors, such as embeddings: lists of numbers; perhaps a pair.
        vectors: Columns that hold a number of a vector each: their names, or a pattern such as
            `"v*"`; in pairs where the other table has other names.
        attacks: Attacks, or their names; if none is given, all that apply to such rows.
        effort: How many of these are tried: "quick", those that train no model; "normal", all that
            fit into half an hour of one core, as predicted; or "thorough", all.
        slots: After how many slots; all, if not given.
        noise: Chance that the release behind the rows shows a random token.
        top: Tokens of a user and slot that the release may show.
        strangers: Rows of users who are not known: "keep" them, as people whom the attackers meet;
            or "refuse" them, as a mistake. A share, 0.3 or "30%", keeps them, and hides as many
            known users besides.
        present: Share of visitors whom the attackers know; as in the data, if not given.
        training: Share of users who are not attacked, from whom attacks may learn.
        everyone: Whether to measure attackers too who name everybody at once, and nobody twice.
        error_rates: Whether to tell the error rates of biometrics too: EER, D_sys, DET and others.
        seed: Of all chance.
        header: Whether the first line of a file names the columns; detected if not given.
        separator: Separator of columns in a file; detected if not given.
        encoding: Of a file of text; UTF-8, if not given.
        skip: Lines above the table, such as a title; recognised if not given.
        where: Only rows that meet it are taken, one SQL expression over the names of columns.
        time_format: How the column of epochs or times writes them, such as "%d.%m.%Y"; detected if
            not given.
        returns: Rows with a count below zero: "refuse" them, "net" them, which adds them up with
            the others of the same user and item, or "skip" them.
        engine: Where it runs; this machine, if not given. The result does not depend on it.

    Example:
        >>> register = {"id": [1, 2, 3], "age": [34, 51, 51], "town": ["Rome", "Oslo", "Rome"]}
        >>> survey = {"id": [1, 3], "age": [34, 51], "town": ["Rome", "Rome"]}
        >>> result = rr.link(register, survey, user="id", columns=["age", "town"])
        >>> result.users, result.targets, result.risks[0].value
        (3, 2, 1.0)
    """
    with offering(*signature(link).parameters):
        said = {
            "user": user, "known_user": known_user, "anonymous_user": anonymous_user, "item": item,
            "count": count, "epoch": epoch, "time": time, "columns": columns, "vector": vector,
            "vectors": vectors, "header": header,
            "separator": separator, "encoding": encoding, "skip": skip, "where": where,
            "time_format": time_format, "returns": returns,
        }  # fmt: skip
        found = link_study(
            path_or_table(known), path_or_table(anonymous), said, user_pattern=user_pattern,
            attacks=attacks, effort=effort, slots=slots, shown=release_keys(noise, top),
            strangers=strangers, present=present, training=training, everyone=everyone,
            error_rates=error_rates, seed=seed,
        )  # fmt: skip
        return in_frames_of(found.run(engine), known, anonymous)


def link_study(
    known: Any,
    anonymous: Any,
    said: Mapping[str, Any],
    *,
    user_pattern: str | None = None,
    attacks: Sequence[str | Attack],
    effort: Effort = "normal",
    slots: Sequence[int] | None,
    shown: Mapping[str, Any],
    strangers: Strangers | float,
    present: float | None,
    training: float,
    everyone: bool = False,
    error_rates: bool = False,
    seed: int,
    comment: str | None = None,
) -> StudyFile:
    """The study that `link` runs.

    Args:
        known: As above.
        anonymous: As above.
        said: What is said of the tables, as arguments of `two_layouts`.
        user_pattern: As above.
        attacks: As above.
        effort: As above.
        slots: As above.
        shown: The release behind the rows, as a section of a study file; empty if it is not known.
        strangers: As above.
        present: As above.
        training: As above.
        everyone: As above.
        error_rates: As above.
        seed: As above.
        comment: The first line of the study file; None where no file is written.
    """
    told = strangers in get_args(Strangers)
    if isinstance(strangers, str) and not told:
        strangers = share(strangers, "strangers")
    kept = {"strangers": strangers} if told else {}
    if slots is not None:
        slots = [whole_number("slots", one, least=1) for one in slots]
    two_layouts(**said)  # refuses what makes no sense
    people = {"kind": "linked", "known": known, "anonymous": anonymous, **_keys(said),
              **({} if user_pattern is None else {"user_pattern": user_pattern}),
              **kept}  # fmt: skip
    read = read_section(TwoTables.model_construct(**people))
    if shown and read[1].form == "vectors":
        raise InvalidInput(
            f"{setting('noise')} and {setting('top')} are those of a release of tokens, and rows "
            "are vectors; leave both out",
            code="conflicting-arguments",
        )
    _refuse_blind(attacks, shown)
    other = table_name(anonymous) if is_path(known) or is_path(anonymous) else "another"
    keys = {
        "title": f"Whom {table_name(known)} helps to find in {other}",
        "unit": read[1].form, "seed": seed, "targets": "all", "attacks": attacks, "effort": effort,
        "slots": slots,
        "strangers": 0.0 if told else strangers, "present": present, "training": training,
        "everyone": everyone or None, "error_rates": error_rates or None,
    }  # fmt: skip
    people |= {"known": whole_path(known), "anonymous": whole_path(anonymous)}
    return described_study(keys, people, shown or None, read, comment=comment)


def _keys(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of two tables as keys of a study file; what is left open is left out."""
    keys = dict(said)
    if isinstance(keys.get("user"), Mapping):
        ((keys["known_user"], keys["anonymous_user"]),) = keys.pop("user").items()
    several = {name: _entries(keys.pop(name, ())) for name in ("vectors", "columns")}
    usual = {name: key.default for name, key in TwoTables.model_fields.items()}
    kept = {name: value for name, value in keys.items() if value != usual[name]}
    return kept | {name: entries for name, entries in several.items() if entries}


def _entries(given: str | Pairs) -> list[Any]:
    """Names or pairs of names, as a list in a study file has them."""
    if isinstance(given, Mapping):
        return [here if here == there else {here: there} for here, there in given.items()]
    return [given] if isinstance(given, str) else list(given)


def release_keys(
    noise: float | None, top: int | None, note: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The release behind rows as a section of a study file; empty if nothing is said of it.

    Args:
        noise: Chance that it shows a random token.
        top: Tokens of a user and slot that it may show.
        note: What the folder of a release says of it, if the rows are from one.
    """
    noted = dict(note or {})
    kind = noted.pop("release", "topics")
    noted.pop("seed", None)
    given = {"noise": noise, "top": top}
    said = {name: value for name, value in given.items() if value is not None}
    if len(said) == 1 and not note:
        raise InvalidInput(
            f"an attack that weighs tokens must know what showed them: {setting('noise')} and "
            f"{setting('top')} belong together; give both, or neither",
            code="missing-option",
        )
    shown = noted | said
    return {"kind": kind, **shown} if shown else {}


def _refuse_blind(attacks: Sequence[str | Attack], shown: Mapping[str, Any]) -> None:
    """Refuse attacks that must know the release, if nobody told it."""
    made = (attack_named(one) if isinstance(one, str) else one for one in attacks)
    if blind := [one.name for one in made if "release" in one.needs and not shown]:
        raise InvalidInput(
            f"{blind[0]} must know what showed the tokens: how many of a user ({setting('top')}) "
            f"and the noise ({setting('noise')}); `reidrisk attacks` tells which attacks need not",
            code="missing-knowledge",
        )
