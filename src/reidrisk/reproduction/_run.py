"""Run all chapters of the reproduction, step by step, in a folder."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from reidrisk.core.checks import real_number
from reidrisk.core.digest import sha256_file
from reidrisk.core.files import existing_file, keep_inputs, writable, written_whole
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.report.jinja import is_other
from reidrisk.reproduction import chapters
from reidrisk.reproduction.chapter import GUESTS, ChapterStep, Row, Scale
from reidrisk.reproduction.record import PAGE, RECORD, SCHEMA, Part, Reproduction
from reidrisk.study.records import plain, typed
from reidrisk.study.run_store import (
    NOTE,
    RunStore,
    Watcher,
    as_written,
    first_difference,
    has_schema,
    versions,
)

_SIZES = {
    "laptop": {"users": 100_000, "targets": 10_000, "seconds": 0.0},
    "full": {"users": 10_000_000, "targets": 10_000, "seconds": 300.0},
}
"""What a scale is, unless something else is asked for."""


def scaled(
    name: str = "laptop",
    *,
    seconds: float | None = None,
    files: Mapping[str, str | Path] | None = None,
    seed: int = 1,
) -> Scale:
    """A scale by its name.

    Args:
        name: "laptop" or "full".
        seconds: Processor time for everything that is learned, in all; that of the scale if None.
        files: Data that cannot be shipped, by name, such as `{"plays": "train_triplets.txt"}`.
        seed: Of everything that is drawn.

    Raises:
        InvalidInput: There is no such scale or file.
    """
    if name not in _SIZES:
        raise InvalidInput(
            f"scale is one of {', '.join(_SIZES)}; got {name!r}", code="unknown-choice"
        )
    size: dict[str, Any] = dict(_SIZES[name])
    if seconds is not None:
        size["seconds"] = real_number("seconds", seconds, least=0)
    given = {name: existing_file(path) for name, path in (files or {}).items()}
    return Scale(name, **size, files=given, seed=seed)  # type: ignore[arg-type]


def run(
    folder: str | Path,
    scale: Scale | str = "laptop",
    *,
    fresh: bool = False,
    watch: Watcher | None = None,
    only: Iterable[Any] | None = None,
) -> Reproduction:
    """Reproduce what was published, or go on with a run that was stopped.

    Every step is kept in the folder as soon as it is done; a finished reproduction is found, and
    nothing is computed again. The same scale, files and versions give the same bytes, but for what
    is learned in a given time.

    Args:
        folder: Made if it is not there; `reproduction.json` is in it in the end.
        scale: "laptop", "full", or what `scaled` gives.
        fresh: Forget what the folder holds of another reproduction, or of this one.
        watch: Called before each step.
        only: These chapters, instead of all: modules with `TITLE`, `SOURCE` and `steps`.

    Raises:
        InvalidInput: The folder holds another reproduction or something else, or another process
            works there.

    Example:
        >>> from reidrisk.reproduction.chapters import alvim
        >>> rr.reproduction.run("alvim/", only=[alvim]).marks["reproduced"]
        3
    """
    size = scaled(scale) if isinstance(scale, str) else scale
    inputs = {name: sha256_file(path) for name, path in sorted(size.files.items())}
    outputs = [Path(folder) / name for name in (RECORD, PAGE)]
    # A file that is read must not be one of those that are written.
    keep_inputs(outputs, size.files.values())
    described = _described(size, inputs)
    kept = _ReproductionStore(Path(folder), {"schema": SCHEMA, "what": described}, GUESTS)
    modules = tuple(chapters.CHAPTERS if only is None else only)
    steps = [
        (module, f"{_name(module)}: {step.name}", step)
        for module in modules
        for step in module.steps(size)
    ]
    # Before the folder is locked, and so made: a refusal leaves nothing behind.
    if not fresh:
        kept.check()
    # Checked again inside: another process may have written here before it was locked.
    with kept.locked([name for _, name, _ in steps], watch) as reproduction:
        if fresh:
            kept.clear()
        kept.check()
        kept.sweep_up()
        found: dict[Any, list[Row]] = {module: [] for module in modules}
        for module, name, step in steps:
            found[module] += reproduction.done(name, partial(_checked, kept, step, name), plain)
        result = Reproduction(
            scale=size.name,
            users=size.users,
            targets=size.targets,
            seconds=size.seconds,
            seed=size.seed,
            inputs=inputs,
            versions=dict(kept.ran_with),
            chapters=tuple(
                Part(_name(module), module.TITLE, module.SOURCE, tuple(rows))
                for module, rows in found.items()
            ),
        )
        _write(kept.folder / RECORD, result.to_json())
    return result


@dataclass(frozen=True)
class _ReproductionStore(RunStore):
    """The folder of a reproduction: `steps/`, then `reproduction.json` and `reproduction.html`."""

    schema: ClassVar[str] = SCHEMA
    outputs: ClassVar[tuple[str, ...]] = (RECORD, PAGE)

    def check(self) -> None:
        """Refuse a folder that holds what this run may not replace."""
        record, what = self.folder / RECORD, self.run["what"]
        if record.exists() and not self.has_schema(RECORD):
            raise InvalidInput(
                f"{record} is there, and nothing shows that a reproduction wrote it; it is left "
                "alone: use another folder",
                code="file-not-ours",
            )
        if is_other(page := writable(self.folder / PAGE)):
            raise InvalidInput(
                f"{page} is there, and reidrisk did not write it; it is left alone: use another "
                "folder",
                code="file-not-ours",
            )
        for file, step in self.step_files():
            if step["what"] != what:
                changed = first_difference(step["what"], what)
                raise InvalidInput(
                    f"{self.folder} holds another reproduction: {changed} differs ({file.name}). "
                    f"Use another folder, or begin anew with {setting('fresh', value=True)}",
                    code="another-run",
                )
        if (self.folder / NOTE).exists():
            raise InvalidInput(
                f"{self.folder} holds the run of a study; use another folder", code="another-run"
            )

    def decode(self, records: Any) -> tuple[Row, ...]:
        """Rows, from the records of a step."""
        rows: tuple[Row, ...] = typed(tuple[Row, ...], records)
        return rows

    def is_step(self, body: Any) -> bool:
        """Whether this is a step of a reproduction, as it was written."""
        ours = has_schema(body, SCHEMA) and isinstance(body.get("what"), dict)
        return ours and as_written(body)

    def gone(self) -> InvalidInput:
        """The refusal to go on."""
        return InvalidInput(
            f"{self.folder} was removed or renamed meanwhile, so what is found cannot be kept "
            "there; leave the folder alone, and run the command again",
            code="folder-removed",
        )


def _checked(kept: _ReproductionStore, step: ChapterStep, name: str) -> tuple[Row, ...]:
    """What a step gives, as it will be found; every row says why it is marked so."""
    rows = tuple(step.run())
    for row in rows:
        if not (row.why and row.where and row.what and row.published):
            raise ValueError(f"{name}: a row says not what, where, why, or what was published")
    # A run that is resumed reads its rows, so all others get them as they are read, too.
    return kept.decode(plain(rows))


def _write(file: Path, text: str) -> None:
    """Write a file, unless it says this already."""
    if not (file.is_file() and file.read_bytes() == text.encode()):
        with written_whole(file) as (part,):
            part.write_text(text, encoding="utf-8")


def _described(scale: Scale, inputs: dict[str, str]) -> dict[str, Any]:
    """What decides the figures."""
    return {
        "version": version("reidrisk"),
        "scale": scale.name,
        "users": scale.users,
        "targets": scale.targets,
        "seconds": scale.seconds,
        "seed": scale.seed,
        "inputs": inputs,
        "torch": versions(GUESTS).get("torch", ""),
    }


def _name(module: Any) -> str:
    return str(module.__name__).rpartition(".")[2]
