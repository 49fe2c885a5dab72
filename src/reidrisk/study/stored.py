"""A result as it lies in a file: read once, checked, and known by its bytes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from reidrisk.core.digest import sha256, sha256_json
from reidrisk.errors import InvalidInput
from reidrisk.study.result import SCHEMA, Result, typed
from reidrisk.study.strict_json import read_json
from reidrisk.study.validators import unsound


@dataclass(frozen=True)
class Stored:
    """A result and the file that it was read from.

    Attributes:
        result: What the file says.
        file: Which.
        sha256: Of the very bytes that were read, as `sha256sum` prints it.
        sealed: Whether the file carries a checksum; those of earlier versions do not.
    """

    result: Result
    file: Path
    sha256: str
    sealed: bool

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a result: `result.json`, or the folder that holds it."""
        file = Path(path) / "result.json" if Path(path).is_dir() else Path(path)
        if not file.is_file() and (Path(path) / "run.json").is_file():
            raise InvalidInput(
                f"{path}: the run is not finished, so it has no result yet; run the command "
                "that began it again, and it goes on",
                code="unfinished-run",
            )
        if not file.is_file():
            raise InvalidInput(
                f"{file}: there is no such file; run a study first", code="file-not-found"
            )
        content = file.read_bytes()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as wrong:
            raise InvalidInput(
                f"{file} is damaged ({wrong}); run the study again", code="damaged-file"
            ) from wrong
        result, sealed = parsed(text, str(file))
        return cls(result, file, sha256(content), sealed)


def parsed(text: str, name: str) -> tuple[Result, bool]:
    """What the text of a `result.json` says, and whether it carries a checksum.

    Nothing that cannot be gets past here, whoever wrote it: neither to a gate nor to a chart.
    """
    try:
        body = read_json(text)
    except ValueError as wrong:
        raise InvalidInput(
            f"{name} is not JSON: {wrong}; run the study again", code="damaged-file"
        ) from wrong
    schema = body.get("schema") if isinstance(body, dict) else None
    if schema != SCHEMA:
        raise InvalidInput(
            f"{name} has schema {schema!r} and this version reads {SCHEMA!r}; run the study "
            "again, or use the version that wrote it",
            code="unknown-schema",
        )
    sealed, changed = "checksum" in body, False
    try:
        changed = sealed and body["checksum"] != checksum_of(body)
        result: Result = typed(
            Result, {key: body[key] for key in body if key not in {"schema", "checksum"}}
        )
        fault = unsound(result)
    except ValueError as wrong:
        fault = str(wrong)
    if changed:
        more = f" ({fault})" if fault else ""
        raise InvalidInput(
            f"{name} was changed after it was written, since its checksum does not match{more}; "
            "restore the original, or run the study again",
            code="checksum-mismatch",
        )
    if fault:
        raise InvalidInput(f"{name} is damaged ({fault}); run the study again", code="damaged-file")
    return result, sealed


def checksum_of(body: dict[str, Any]) -> str:
    """What must stand in a file that says this: blanks and the order of keys are free.

    Raises:
        ValueError: It is nested too deeply.
    """
    try:
        return sha256_json({key: body[key] for key in body if key != "checksum"})
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
