"""Commands with tables of their own, and what they measure, as figures that can be compared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.running import Done, chance, run
from tests.fuzz.world import STUDY, TABLES, Table, user

USERS, EPOCHS, TOKENS = 24, 12, 9
Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Scene:
    """A command on some tables.

    Attributes:
        words: The command; `{name}` is the file of a table.
        tables: By name.
        labels: Columns whose entries are mere names: whatever they are, the figures are the same.
        drawn: Columns whose entries chance draws from, in the order of their names.
        epochs: The column of epochs, if there is one.
    """

    words: tuple[str, ...]
    tables: Tables
    labels: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    epochs: str | None = None

    def done(self, files: Mapping[str, str], place: Path) -> Done:
        """Run it on these files."""
        if "people" in files and "study.toml" in self.words:
            (place / "study.toml").write_text(STUDY.format(path=files["people"]))
        return run(tuple(word.format(**files) for word in self.words), place)


def _slots(rng_name: str) -> Table:
    """One token in each of twelve epochs, more than ten, so that 10 must not come before 2."""
    rng, habits = chance(rng_name), chance("habits")
    rows = [(user(one), f"{epoch + 1}", f"{habits.randrange(TOKENS) + 1 if rng.random() < 0.6 else rng.randrange(TOKENS) + 1}")
            for one in range(USERS) for epoch in range(EPOCHS)]  # fmt: skip
    return Table(("user", "epoch", "token"), tuple(rows))


def _lists(table: Table) -> Table:
    tokens: dict[str, list[str]] = {}
    for who, _, token in table.rows:
        tokens.setdefault(who, []).append(token)
    return Table(("user", "tokens"), tuple((who, ";".join(row)) for who, row in tokens.items()))


def _people() -> Table:
    rng = chance("people")
    rows = [(user(one), f"{epoch + 1}", f"t{token:02}", f"{rng.randrange(1, 9)}")
            for one in range(USERS) for epoch in range(EPOCHS)
            for token in rng.sample(range(TOKENS), 4)]  # fmt: skip
    return Table(("user", "epoch", "token", "weight"), tuple(rows))


_SITES = {"known": _slots("known"), "anonymous": _slots("anonymous")}
SCENES = {
    "link": Scene(
        ("link", "{known}", "{anonymous}", "--slots", "1,2,4,12", "--json"),
        _SITES, labels=("user", "token"), epochs="epoch",
    ),
    "link lists": Scene(
        ("link", "{known}", "{anonymous}", "--slots", "1,2,12", "--json"),
        {name: _lists(table) for name, table in _SITES.items()}, labels=("user",),
    ),
    "link baskets": Scene(
        ("link", "{known}", "{anonymous}", "--user", "user", "--item", "item", "--json"),
        {"known": TABLES["plays"], "anonymous": TABLES["plays-again"]}, labels=("user", "item"),
    ),
    "link columns": Scene(
        # Other attacks compare how values are written.
        ("link", "{known}", "{anonymous}", "--user", "user", "--columns", "age,zip,sex", "--attack",
         "hamming", "--attack", "learned-pairs", "--json"),
        {"known": TABLES["persons"], "anonymous": TABLES["persons-again"]},
        labels=("user", "age", "zip", "sex"),
    ),
    "plays": Scene(
        ("items", "{plays}", "--samples", "1,2", "--user", "user", "--item", "item", "--json"),
        {"plays": TABLES["plays"]}, drawn=("item",),
    ),
    "bounds": Scene(
        ("bounds", "{matrix}", "--json"), {"matrix": TABLES["matrix"]},
        labels=("user", "representation"),
    ),
    "study": Scene(
        ("study", "study.toml", "-o", "ours-run", "--json"), {"people": _people()},
        drawn=("token",), epochs="epoch",
    ),
    "singling": Scene(
        ("singling", "{persons}", "--user", "user", "--columns", "age,zip,sex", "--json"),
        {"persons": TABLES["persons"]}, labels=("user", "age", "zip", "sex"),
    ),
    "unicity": Scene(
        ("unicity", "{plays}", "--points", "1,2", "--user", "user", "--item", "item", "--json"),
        {"plays": TABLES["plays"]}, drawn=("item",),
    ),
}  # fmt: skip
FIGURES = ("users", "targets", "slots", "risks", "bounds", "strangers", "singling", "unicity")
NAMES = {"values", "parts", "named", "rarest", "labels"}
"""Of what names values, only how many there are is compared: they were renamed."""


def figures(done: Done) -> Any:
    """What was measured, without names, titles and hashes; rounded, since sums come in any order."""
    body = json.loads(done.out)
    return _rounded({name: body[name] for name in FIGURES if name in body})


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items() if name not in NAMES}
    return [_rounded(one) for one in value] if isinstance(value, list) else value
