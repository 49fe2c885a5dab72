"""Whom two sites can match if each sees some items of people, as one call."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

from reidrisk.attacks import Attack
from reidrisk.core.checks import whole_number
from reidrisk.core.optional import in_frames_of
from reidrisk.core.settings_syntax import offering, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout, Returns
from reidrisk.io.plays import plays_layout
from reidrisk.io.tables import path_or_table
from reidrisk.io.unpacking import Progress
from reidrisk.risk.arguments import SearchEngine
from reidrisk.study.keys import ItemLog, layout_keys
from reidrisk.study.portfolio import Effort
from reidrisk.study.result import Result
from reidrisk.study.toml import StudyFile, described_study, read_section, table_name, whole_path


def items(
    table: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    count: str | None = None,
    samples: Sequence[int] = (1, 2, 4, 8),
    targets: int | None = 10_000,
    weighted: bool = False,
    again: bool = True,
    strangers: float = 0.0,
    present: float | None = None,
    attacks: Sequence[str | Attack] = (),
    effort: Effort = "normal",
    seed: int = 0,
    header: bool | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    skip: int | None = None,
    where: str | None = None,
    returns: Returns = "refuse",
    engine: SearchEngine | None = None,
) -> Result:
    """Measure how many people two sites can match if each sees some of their items.

    The same as `reidrisk items`, with the same result.

    Args:
        table: Rows of a user, an item and perhaps a count: a file or folder, a dictionary of
            columns, or a frame of pandas, polars, Arrow or DuckDB.
        user: The column of users; the one whose name says so, if not given.
        item: The column of items; likewise.
        count: The column of how often, or how much; likewise, and it may be missing.
        samples: How many items each site sees of a person.
        targets: Number of people to attack, chosen at random; everybody, if None or if there are
            fewer.
        weighted: Whether items are drawn by their counts; else each item of a person is as likely.
        again: Whether a site may see the same item of a person again.
        strangers: Share of users whom the attackers do not know, but meet.
        present: Share of visitors whom the attackers know; as in the data, if not given.
        attacks: Attacks, or their names; if none is given, all that apply to such rows.
        effort: How many of these are tried: "quick", those that train no model; "normal", all that
            fit into half an hour of one core, as predicted; or "thorough", all.
        seed: Of all chance.
        header: Whether the first line of a file names the columns; detected if not given.
        separator: Separator of columns in a file; detected if not given.
        encoding: Of a file of text; UTF-8, if not given.
        skip: Lines above the table, such as a title; recognised if not given.
        where: Only rows that meet it are taken, one SQL expression over the names of columns.
        returns: Rows with a count below zero: "refuse" them, "skip" them, or "net" them, which adds
            them up with the others of the same user and item.
        engine: Where it runs; this machine, if not given. The result does not depend on it.

    Example:
        >>> sales = {"user": ["ann", "ann", "bob", "bob"], "item": ["tea", "jam", "rye", "oil"]}
        >>> result = rr.items(sales, samples=[1, 4])
        >>> result.users, [risk.slots for risk in result.risks if risk.attack == "overlap"]
        (2, [1, 4])
    """
    with offering(*signature(items).parameters):
        layout = Layout(
            user=user, item=item, count=count, header=header, separator=separator,
            encoding=encoding, skip=skip, where=where, returns=returns,
        )  # fmt: skip
        rows = path_or_table(table)
        found = items_study(
            rows, plays_layout(rows, layout), samples=samples, targets=targets,
            weighted=weighted, again=again, strangers=strangers, present=present, attacks=attacks,
            effort=effort, seed=seed,
        )  # fmt: skip
        return in_frames_of(found.run(engine), table)


def items_study(
    table: Any,
    layout: Layout,
    *,
    samples: Sequence[int],
    targets: int | None,
    weighted: bool,
    again: bool,
    strangers: float,
    present: float | None,
    attacks: Sequence[str | Attack],
    effort: Effort = "normal",
    seed: int,
    comment: str | None = None,
    progress: Progress | None = None,
) -> StudyFile:
    """The study that `items` runs.

    Args:
        table: As above.
        layout: Which column is what, as `plays_layout` tells.
        samples: As above.
        targets: As above.
        weighted: As above.
        again: As above.
        strangers: As above.
        present: As above.
        attacks: As above.
        effort: As above.
        seed: As above.
        comment: The first line of the study file; None where no file is written.
        progress: Told how many bytes of a file have been read, and how many there are.
    """
    slots = [whole_number("samples", one, least=1) for one in samples]
    if not slots:
        raise InvalidInput(
            f"{setting('samples')} says how many items a site sees; name at least one number",
            code="empty-list",
        )
    keys = {
        "title": f"What two sites learn from some items of {table_name(table)}", "unit": "items",
        "seed": seed, "targets": "all" if targets is None else targets, "attacks": attacks,
        "effort": effort,
        "slots": slots, "strangers": strangers, "present": present,
    }  # fmt: skip
    people = {"kind": "items", "path": table, **layout_keys(layout)}
    release = {"kind": "item-samples", "samples": max(slots), "by_count": weighted,
               "replacement": again}  # fmt: skip
    # What the reader says names the file as it was given; the study file has the whole path.
    read = read_section(ItemLog.model_construct(**people), progress=progress)
    people["path"] = whole_path(table)
    return described_study(keys, people, release, read, comment=comment)
