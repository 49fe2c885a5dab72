"""See a case again, run many, or keep one.

`python -m tests.fuzz tables/17`, `python -m tests.fuzz tables 0 5000`,
`python -m tests.fuzz keep tables/17 two-headers`.
"""

import shutil
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.cases import ground
from tests.fuzz.families import FAMILIES
from tests.fuzz.running import faults, limits, run

CORPUS = Path(__file__).parent / "corpus"


def one(name: str) -> int:
    """Run one case and keep its folder."""
    family = name.partition("/")[0]
    with ground(family) as place, limits():
        words, where = place.case(name)
        kept = Path("/tmp") / f"reidrisk-fuzz-{name.replace('/', '-')}"  # noqa: S108  said below
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(where, kept, symlinks=True)
        print(f"cd {kept}; reidrisk {' '.join(map(repr, words))}")
        if wrong := faults(words, where):
            print("\n".join(wrong))
            return 1
        words, where = place.case(name)
        done = run(words, where)
        print(f"exit code {done.code}\n{done.err}{done.out}")
    return 0


def keep(name: str, kept: str) -> int:
    """Put a case into the corpus: its words, and the files in which it differs from sound ones."""
    folder = CORPUS / kept
    with ground(name.partition("/")[0]) as place, limits():
        words, where = place.case(name)
        for file in filter(Path.is_file, where.rglob("*")):
            inner = file.relative_to(where)
            good = place.good / inner
            if not good.is_file() or good.read_bytes() != file.read_bytes():
                (folder / inner).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, folder / inner)
        folder.mkdir(parents=True, exist_ok=True)
        if hasattr(place.family, "prepare"):
            (folder / "with-runs").touch()
        (folder / "words").write_text("\n".join(words) + "\n")
    return 0


def many(family: str, start: int, stop: int) -> int:
    """Run cases of a family, telling each before it runs, and sum up."""
    bad, ends, begun = 0, Counter(), time.monotonic()
    with ground(family) as place, limits():
        for number in range(start, stop):
            words, where = place.case(f"{family}/{number}")
            before = time.monotonic()
            wrong = faults(words, where)
            if (took := time.monotonic() - before) > 2:
                print(f"{family}/{number} took {took:.1f} s: {words}")
            if wrong:
                bad += 1
                ends[wrong[0]] += 1
                print(f"{family}/{number} {words}\n    " + "\n    ".join(wrong), flush=True)
    print(f"{family}: {bad} of {stop - start} are wrong, {time.monotonic() - begun:.0f} s; {ends}")
    return min(bad, 1)


def main(words: list[str]) -> int:
    if words[:1] == ["keep"]:
        return keep(*words[1:])
    if len(words) == 1 and "/" in words[0]:
        return one(words[0])
    families = words[:1] or list(FAMILIES)
    start, stop = map(int, words[1:3]) if len(words) > 2 else (0, None)
    return max(many(family, start, stop or FAMILIES[family][1]) for family in families)


sys.exit(main(sys.argv[1:]))
