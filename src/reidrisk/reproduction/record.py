"""The record of a reproduction, as `reproduction.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, get_args

from reidrisk.core.files import existing_file
from reidrisk.errors import InvalidInput
from reidrisk.reproduction.chapter import Mark, Row
from reidrisk.study.records import plain, typed
from reidrisk.study.run_store import checksum_of, read_json

SCHEMA = "reidrisk-reproduction/1"
RECORD, PAGE = "reproduction.json", "reproduction.html"
MARKS: tuple[Mark, ...] = get_args(Mark)


@dataclass(frozen=True)
class Part:
    """A chapter that was carried out.

    Attributes:
        name: Of its module.
        title: For people.
        source: Where its figures were published.
        rows: Ours beside them, in the order of the source.
    """

    name: str
    title: str
    source: str
    rows: tuple[Row, ...]

    @property
    def marks(self) -> dict[Mark, int]:
        """How many rows bear each mark."""
        found = [row.mark for row in self.rows]
        return {mark: found.count(mark) for mark in MARKS}


@dataclass(frozen=True)
class Reproduction:
    """Ours beside the published, chapter by chapter.

    Attributes:
        scale: "laptop" or "full".
        users: Of the large experiment.
        targets: How many of them were attacked.
        seconds: Time that could be spent on learning.
        seed: Of everything that was drawn.
        inputs: SHA-256 of the files that were given, by name.
        versions: Of the package and the libraries that the figures come from.
        chapters: In the order of the paper; its neighbours behind.
    """

    scale: str
    users: int
    targets: int
    seconds: float
    seed: int
    inputs: Mapping[str, str]
    versions: Mapping[str, str]
    chapters: tuple[Part, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All of them."""
        return tuple(row for part in self.chapters for row in part.rows)

    @property
    def marks(self) -> dict[Mark, int]:
        """How many rows bear each mark."""
        return {mark: sum(part.marks[mark] for part in self.chapters) for mark in MARKS}

    def to_json(self) -> str:
        """As `reproduction.json` has it: the same reproduction, the same text."""
        body: dict[str, Any] = {"schema": SCHEMA, "checksum": "", **plain(self)}
        body["checksum"] = checksum_of(body)
        return json.dumps(body, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read `reproduction.json`, or the folder that holds it.

        Args:
            path: A `reproduction.json`, or its folder.

        Raises:
            InvalidInput: There is none, or it is of another schema, or was changed.
        """
        file = existing_file(Path(path) / RECORD if Path(path).is_dir() else Path(path))
        try:
            body = read_json(file.read_text(encoding="utf-8"))
        except ValueError as wrong:
            raise InvalidInput(
                f"{file} is not JSON ({wrong}); reproduce it again", code="damaged-file"
            ) from wrong
        schema = body.get("schema") if isinstance(body, dict) else None
        if schema != SCHEMA:
            raise InvalidInput(
                f"{file} has schema {schema!r} and this version reads {SCHEMA!r}; reproduce it "
                "again, or use the version that wrote it",
                code="unknown-schema",
            )
        if body.get("checksum") != checksum_of(body):
            raise InvalidInput(
                f"{file} was changed after it was written, since its checksum does not fit; "
                "reproduce it again",
                code="checksum-mismatch",
            )
        fields = {key: value for key, value in body.items() if key not in {"schema", "checksum"}}
        try:
            # In a tuple, since pydantic takes no configuration beside that of a dataclass itself.
            found: Self = typed(tuple[cls], [fields])[0]  # type: ignore[valid-type]
        except ValueError as wrong:
            raise InvalidInput(
                f"{file} is damaged ({wrong}); reproduce it again", code="damaged-file"
            ) from wrong
        return found
