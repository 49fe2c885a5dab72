"""Results and run folders that somebody edited, cut, copied or emptied."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.families.odd import spoilt
from tests.fuzz.world import runs

VALUES = (
    None, True, False, 0, 1, -1, 2, 10**30, 0.5, -0.0, 1.5, 1e308, "", "x", "lower", "upper", [], {}, [1],
    {"a": 1}, [[]], "<script>", "x" * 3000, "\x1b[31m", "\u202e", float("nan"), float("inf"), "5%",
)  # fmt: skip

prepare = runs
"""What a folder of cases needs besides the sound files."""


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A spoilt run, and who reads it."""
    run, seen = place / "ours-run", place / "ours-seen"
    how = rng.randrange(10)
    if how < 5:
        _edit(rng, run / "result.json")
        return _judged(rng)
    if how == 5:
        _spoil(rng, run / "result.json")
        return _judged(rng)
    if how < 8:
        for _ in range(rng.choice((1, 1, 2))):
            _step(rng, place, run)
        return rng.choice((
            ("study", "study.toml", "-o", "ours-run", "-q"),
            ("study", "study.toml", "-o", "ours-run"),
            ("study", "study.toml", "-o", "ours-run", "--fresh", "-q"),
            ("study", "other.toml", "-o", "ours-run", "-q"),
        ))  # fmt: skip
    files = sorted(file for file in seen.iterdir() if file.is_file())
    file = rng.choice(files)
    (_edit if file.suffix == ".json" and rng.random() < 0.7 else _spoil)(rng, file)
    return rng.choice((("attack", "ours-seen", "-q"), ("information", "ours-seen"),
                       ("information", "ours-seen", "--json"),
                       ("information", "ours-seen", "--model", "laptop", "--folder", "ours-new"),
                       ("attack", "ours-seen", "--attack", "weighted-hamming", "--json")))  # fmt: skip


def _judged(rng: Random) -> tuple[str, ...]:
    return rng.choice((
        ("gate", "ours-run", "--max-risk", "50%"),
        ("gate", "ours-run/result.json", "--max-risk", "1%", "--accept", "input", "--json"),
        ("gate", "ours-run", "--worst-tenth", "5%", "--max-risk", "50%", "--side", "upper"),
        ("gate", "ours-run", "--compare", "ours-other", "--worse-by", "5%"),
        ("compare", "ours-run", "ours-other"),
        ("compare", "ours-other", "ours-run", "--json"),
        ("report", "ours-run", "--edition", "signoff", "-o", "ours.html", "-q"),
        ("study", "study.toml", "-o", "ours-run", "-q"),
        *([("report", "ours-run", "-o", "ours.html", "-q")] if rng.random() < 0.2 else []),
    ))  # fmt: skip


def _places(body: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key of it."""
    keys = body if isinstance(body, dict) else range(len(body))
    for key in keys:
        yield body, key
        if isinstance(body[key], dict | list):
            yield from _places(body[key])


def _edit(rng: Random, file: Path) -> None:
    """Change some values, keys or lists of a file, and keep it JSON."""
    body = json.loads(file.read_text())
    for _ in range(rng.choice((1, 1, 1, 3))):
        place, key = rng.choice(list(_places(body)))
        how = rng.randrange(6)
        if how == 0:
            del place[key]
        elif how == 1 and isinstance(place, dict):
            place[rng.choice(("more", "", "value"))] = rng.choice(VALUES)
        elif how == 2 and isinstance(place[key], float | int):
            place[key] = rng.choice((-place[key], place[key] * 10, place[key] + 1, str(place[key])))
        elif how == 3 and isinstance(place[key], list) and place[key]:
            place[key] = place[key] * 2
        else:
            place[key] = rng.choice(VALUES)
        if not body:
            break
    text = json.dumps(body, indent=1)
    if rng.random() < 0.1:
        text = rng.choice(("[" * 3000 + "]" * 3000, "{}", "null", "[]", "", text * 2, '{"a":' * 3000,
                           text.replace("0", "9" * 5000, 1)))  # fmt: skip
    file.write_text(text)


def _spoil(rng: Random, file: Path) -> None:
    file.write_bytes(spoilt(rng, file.read_bytes()))


def _step(rng: Random, place: Path, run: Path) -> None:
    """Something happens to a file of a run."""
    files = sorted(file for file in run.rglob("*") if file.is_file())
    if not files:
        return
    file, other = rng.choice(files), rng.choice(files)
    how = rng.randrange(9)
    if how == 0:
        file.unlink()
    elif how == 1:
        file.write_bytes(b"")
    elif how == 2 and file.suffix == ".json":
        _edit(rng, file)
    elif how == 3 and file != other:
        shutil.copy(other, file)
    elif how == 4:
        shutil.rmtree(run / "steps", ignore_errors=True)
    elif how == 5:
        file.unlink()
        file.mkdir()
    elif how == 6:
        file.unlink()
        file.symlink_to(place / "people.csv")
    else:
        _spoil(rng, file)
