"""Files of what parts of a run found: written whole, known by a checksum, merged in any grouping.

A file begins with a line of its kind and one of the SHA-256 of the rest, which is packed: of which
study it is, which of how many parts it holds, and what they gave to the answer of each question.
Files that were merged are files of the same kind. However parts are merged, the same bytes result.

They hold scores, counts and numbers of rows, and no user. Who has the tables, too, sees by the
numbers who was taken for whom: so only their owner may read them.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.files import ONLY_ME, written_whole
from reidrisk.core.matches import Matches
from reidrisk.core.packing import packed, unpacked
from reidrisk.errors import InvalidInput
from reidrisk.study.fingerprints import fingerprint
from reidrisk.study.folder import first_difference

SUFFIX: Final = ".matches"

MATCHES: Final = "reidrisk-matches/1"
"""Kinds of files: parts of answers, and passes over known rows."""
PASSED: Final = "reidrisk-pass/1"

Answers = dict[str, list[Any]]
"""By the name of a question, what passes over the known rows found for it."""


@dataclass(frozen=True)
class Whole:
    """What parts are parts of.

    Attributes:
        study: The description of the study and its inputs, as JSON.
        of: How many parts there are.
        text: The study as a file.
        folder: What paths in that are relative to.
        version: Of reidrisk.
    """

    study: str
    of: int
    text: str
    folder: str
    version: str = field(default_factory=lambda: version("reidrisk"))

    @classmethod
    def of_study(cls, description: dict[str, Any], of: int, text: str, folder: Path) -> "Whole":
        """The parts of a study, by its description and inputs."""
        return cls(json.dumps(description, sort_keys=True), of, text, str(folder.absolute()))

    @property
    def description(self) -> dict[str, Any]:
        """Of the study and its inputs."""
        found: dict[str, Any] = json.loads(self.study)
        return found

    @property
    def fingerprint(self) -> str:
        """A short name of the study and its inputs."""
        return fingerprint(self.description)

    def check_same(self, other: "Whole", mine: str, others: str) -> None:
        """Refuse to go together with parts of something else; says what differs."""
        if other.fingerprint != self.fingerprint:
            where = first_difference(self.description, other.description)
            raise InvalidInput(
                f"{others} belongs to another study or to other inputs than {mine}: {where} "
                "differs; only parts of one study and the same files go together",
                code="parts-differ",
            )
        if other.of != self.of:
            raise InvalidInput(
                f"{others} is one of {other.of} parts, and {mine} of {self.of}; cut all parts "
                "alike",
                code="parts-differ",
            )


@dataclass(frozen=True, eq=False)
class Parts:
    """What some parts found.

    Attributes:
        whole: What they are parts of.
        held: Their numbers, ascending, the first of all being 1.
        rows: How many known rows they searched; a part may have none, if there are few.
        answers: What they found.
    """

    whole: Whole
    held: tuple[int, ...]
    rows: int
    answers: Answers

    @property
    def asked(self) -> dict[str, int]:
        """What was asked, and how many passes over the known rows each question took."""
        return {name: len(found) for name, found in self.answers.items()}

    @property
    def missing(self) -> list[int]:
        """The numbers of parts that are not here."""
        return sorted({*range(1, self.whole.of + 1)}.difference(self.held))

    def merge(self, other: "Parts") -> "Parts":
        """Both together; they have no part in common, and answer the same questions."""
        answers = {
            name: [_together(*both) for both in zip(mine, other.answers[name], strict=True)]
            for name, mine in self.answers.items()
        }
        first = min(self, other, key=lambda parts: parts.held)
        held = tuple(sorted((*self.held, *other.held)))
        return Parts(first.whole, held, self.rows + other.rows, answers)


def write_parts(path: Path, parts: Parts) -> None:
    """Write a file, which only its owner may read."""
    body = {
        "version": parts.whole.version,
        "study": parts.whole.study,
        "of": parts.whole.of,
        "text": parts.whole.text,
        "folder": parts.whole.folder,
        "held": parts.held,
        "rows": parts.rows,
        "answers": dict(sorted(parts.answers.items())),
    }
    write_sealed(path, MATCHES, packed(body))


def read_parts(path: Path) -> Parts:
    """Read a file of parts.

    Raises:
        InvalidInput: It is none, is damaged, or is of another version.
    """
    try:
        body = unpacked(read_sealed(path, MATCHES))
        whole = Whole(**{name: body[name] for name in _WHOLE})
        parts = Parts(whole, body["held"], body["rows"], body["answers"])
        sound = _is_sound(parts) and isinstance(whole.description, dict)
    except (InvalidInput, KeyError, TypeError, ValueError) as wrong:
        if isinstance(wrong, InvalidInput) and str(path) in str(wrong):
            raise
        sound = False
    if not sound:
        raise InvalidInput(f"{path}: is damaged; search its part again", code="damaged-file")
    if whole.version != version("reidrisk"):
        raise InvalidInput(
            f"{path}: was written by another version of reidrisk, {whole.version!r}; this is "
            f"{version('reidrisk')!r}. Search its part again with this version",
            code="unknown-schema",
        )
    return parts


_WHOLE: Final = {"study": str, "of": int, "text": str, "folder": str, "version": str}


def _is_sound(parts: Parts) -> bool:
    whole, held, answers = parts.whole, parts.held, parts.answers
    return (
        all(type(getattr(whole, name)) is kind for name, kind in _WHOLE.items())
        and isinstance(held, tuple)
        and all(type(one) is int and 1 <= one <= whole.of for one in held)
        and list(held) == sorted(set(held))
        and type(parts.rows) is int
        and isinstance(answers, dict)
        and all(type(name) is str and isinstance(found, list) for name, found in answers.items())
        and all(_is_kept(one) for found in answers.values() for one in found)
    )


def _is_kept(one: Any) -> bool:
    """Whether this is what a pass may find, as it is kept."""
    if _is_sparse(one):
        at, counts, shape = one.get("at"), one.get("counts"), one["shape"]
        return (
            isinstance(shape, tuple)
            and all(type(size) is int for size in shape)
            and all(
                isinstance(each, np.ndarray) and each.dtype.kind == "u" for each in (at, counts)
            )
            and at.ndim == 1
            and at.shape == counts.shape
            and (at.size == 0 or int(at.max()) < math.prod(shape))
        )
    if isinstance(one, dict):
        return all(type(start) is int and _is_sum(sums) for start, sums in one.items())
    return isinstance(one, Matches)


def _is_sum(one: Any) -> bool:
    """Whether these are sums of floats, perhaps with the whole numbers they are relative to."""
    match one:
        case (best, sums):
            return _is_array(best, np.int64) and _is_array(sums, np.float64)
        case _:
            return _is_array(one, np.float64)


def _is_array(one: Any, kind: type) -> bool:
    return isinstance(one, np.ndarray) and one.dtype == kind


def read_all(paths: Sequence[Path]) -> Parts:
    """The parts of several files, merged.

    Raises:
        InvalidInput: They do not go together, or one is damaged; says which.
    """
    merged: Parts | None = None
    whose: dict[int, Path] = {}
    for path in paths:
        parts = read_parts(path)
        if merged is None:
            merged = parts
        else:
            merged.whole.check_same(parts.whole, str(paths[0]), str(path))
            if common := sorted(whose.keys() & set(parts.held)):
                _check_copy(whose[common[0]], path, common[0], parts)
                continue
            if parts.asked != merged.asked:
                raise InvalidInput(
                    f"{path} answers other questions than {paths[0]}, though it is of the same "
                    "study: what an attack learned was not the same, as networks may differ from "
                    "machine to machine; search all parts on machines that are alike",
                    code="parts-differ",
                )
            try:
                merged = merged.merge(parts)
            except (TypeError, ValueError, AttributeError, InvalidInput) as wrong:
                raise InvalidInput(
                    f"{path}: does not match {paths[0]}, though it is of the same study; search "
                    "its part again",
                    code="parts-differ",
                ) from wrong
        whose |= dict.fromkeys(parts.held, path)
    assert merged is not None
    return merged


def _check_copy(before: Path, path: Path, part: int, parts: Parts) -> None:
    """The same again is no harm."""
    if before.read_bytes() == path.read_bytes():
        return
    if read_parts(before).held == parts.held:
        raise InvalidInput(
            f"{before} and {path} both hold part {part}, and they differ, which must not be; "
            "search this part again, and leave both out",
            code="parts-differ",
        )
    raise InvalidInput(
        f"{before} and {path} both hold part {part}; leave one of them out", code="parts-differ"
    )


def stored(found: Any) -> Any:
    """What a pass found, as it is kept: of whole numbers in an array those that are not 0."""
    if isinstance(found, np.ndarray):
        flat = found.ravel()
        at = np.flatnonzero(flat)
        return _sparse(found.shape, at, flat[at])
    if isinstance(found, dict):
        return dict(sorted(found.items()))
    assert isinstance(found, Matches)
    return found


def as_found(kept: Any) -> Any:
    """What a pass over all rows would have found, from what was kept."""
    if not _is_sparse(kept):
        return kept
    array = np.zeros(kept["shape"], np.int64)
    array.reshape(-1)[kept["at"]] = kept["counts"]
    return array


def _together(one: Any, other: Any) -> Any:
    """What two parts found for the same pass."""
    if isinstance(one, Matches):
        return one.merge(other)
    if not _is_sparse(one):
        return dict(sorted((one | other).items()))
    at, places = np.unique(np.concatenate([one["at"], other["at"]]), return_inverse=True)
    counts = np.zeros(len(at), np.int64)
    for part, theirs in ((one, places[: len(one["at"])]), (other, places[len(one["at"]) :])):
        counts[theirs] += part["counts"]
    return _sparse(one["shape"], at, counts)


def _is_sparse(kept: Any) -> bool:
    return isinstance(kept, dict) and "shape" in kept


def _sparse(shape: tuple[int, ...], at: NDArray[Any], counts: NDArray[Any]) -> dict[str, Any]:
    return {"shape": tuple(shape), "at": _small(at), "counts": _small(counts)}


def _small(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the smallest type, so that equal ones are equal bytes."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def write_sealed(path: Path, kind: str, content: bytes) -> None:
    """Write a kind of file, with the checksum of its content."""
    seal = f"{kind}\n{hashlib.sha256(content).hexdigest()}\n"
    with written_whole(path, mode=ONLY_ME) as (part,), part.open("wb") as file:
        file.write(seal.encode())
        file.write(content)


def read_sealed(path: Path, kind: str) -> bytearray:
    """The content of a file of this kind, as it was written.

    Raises:
        InvalidInput: It is no such file, or is damaged.
    """
    try:
        with path.open("rb") as file:
            said, seal = file.readline(64), file.readline(80)
            content = bytearray(file.read())
    except OSError as wrong:
        raise InvalidInput(
            f"{path}: cannot be read ({wrong.strerror}); check the path", code="cannot-read"
        ) from wrong
    if said != f"{kind}\n".encode():
        raise InvalidInput(
            f"{path}: is not a file of parts that this version of reidrisk wrote",
            code="damaged-file",
        )
    if seal.rstrip(b"\n") != hashlib.sha256(content).hexdigest().encode():
        raise InvalidInput(
            f"{path}: is damaged, its checksum does not match; search its part again",
            code="damaged-file",
        )
    return content
