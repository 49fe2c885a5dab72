"""The experiment with samples of songs.

Paper: section 8.5.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from reidrisk import data
from reidrisk.attacks import Attack, Hamming, Overlap
from reidrisk.estimates import Estimate
from reidrisk.io.plays import plays_layout
from reidrisk.people.profiles import Profiles
from reidrisk.releases import ItemSamples, observe
from reidrisk.reproduction.chapter import ChapterStep, Mark, Point, Row, Scale, claimed, measured
from reidrisk.risk import measure

TITLE = "Million Song"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), section 8.5"

SAMPLES = (1, 2, 4, 8)
LISTENERS, ENTRIES, SONGS = 1_019_318, 48_373_586, 384_546
"""Of the Taste Profile subset, by its own page."""

ABOUT = 0.1
"""How far a number may be from what it is about."""

_READINGS: dict[str, Attack] = {
    "slot by slot, the first song against the first": Hamming(),
    "as sets, where the order says nothing": Overlap(),
}
_FILE = (
    "The Taste Profile triplets (train_triplets.txt) are public and too large to ship: get them "
    "from the page of the Million Song Dataset and give them with --plays FILE."
)


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """What the file holds, then the attack in its two readings."""
    path = scale.files.get("plays")
    if path is not None:
        plays_layout(path)  # refuses what is no such table, before anything runs
    people = cache(partial(_people, path))
    yield ChapterStep("what the file holds", lambda: sizes(people()))
    for reading in _READINGS:
        yield ChapterStep(reading.partition(",")[0], partial(_attacked, scale, people, reading))


def _people(path: Path | None) -> Profiles | None:
    return None if path is None else data.read_plays(path)


def _attacked(scale: Scale, people: Callable[[], Profiles | None], reading: str) -> tuple[Row, ...]:
    return (attacked(scale, people(), reading),)


def sizes(people: Profiles | None) -> tuple[Row, ...]:
    """The numbers that describe the data."""
    found = (None,) * 3 if people is None else _sizes(people)
    described = (
        ("Entries on who played what", "48 million", 48e6, ""),
        ("Listeners", "about a million", 1e6, ""),
        ("Different songs", "about a million", 1e6,
         f"A million songs are in the Million Song Dataset; {SONGS:,} of them were played."),
    )  # fmt: skip
    return tuple(
        Row("Section 8.5", what, said, None, "", "not run", _FILE)
        if number is None
        else Row("Section 8.5", what, said, Estimate.computed(number), "",
                 _about(people, published, number), _held(people), slip)
        for (what, said, published, slip), number in zip(described, found, strict=True)
    )  # fmt: skip


def _sizes(people: Profiles) -> tuple[int, int, int]:
    return int(people.starts[-1]), people.users, people.tokens


def attacked(scale: Scale, people: Profiles | None, reading: str) -> Row:
    """Figure 5."""
    what = f"Unweighted Hamming, {reading}: risk with r = 4 independent songs"
    if people is None:
        return Row("Figure 5", what, "about 1 %", None, "%", "not run", _FILE)
    targets, release = min(scale.targets, people.users), ItemSamples(max(SAMPLES))
    seen = observe(release, people, targets=targets, seed=scale.seed + 6)
    curve = measure(seen, _READINGS[reading], slots=SAMPLES)
    return Row(
        where="Figure 5",
        what=what,
        published="about 1 %",
        ours=curve[4],
        unit="%",
        # "About 1 %" is read as what rounds to 1 %.
        mark=measured(0.01, curve[4], rounding=0.005) if _whole(people) else "not run",
        why=f"Two sites each see r songs of everyone, drawn alike; {curve[4].trials:,} targets. "
        f"{_held(people)}",
        axis="songs",
        points=tuple(Point(reading.partition(",")[0], r, curve[r]) for r in SAMPLES),
    )


def _whole(people: Profiles) -> bool:
    """Whether these may be the listeners of the paper, not a part of them."""
    return abs(people.users / 1e6 - 1) <= ABOUT


def _about(people: Profiles | None, published: float, number: float) -> Mark:
    if people is None or not _whole(people):
        return "not run"
    return claimed(holds=abs(number / published - 1) <= ABOUT)


def _held(people: Profiles | None) -> str:
    if people is None:
        return _FILE
    said = f"The file holds {people.users:,} listeners and {people.tokens:,} songs"
    if _whole(people):
        return f"{said}; the Taste Profile holds {LISTENERS:,} and {SONGS:,}."
    return (
        f"{said}: a part of the Taste Profile ({LISTENERS:,} and {SONGS:,}), so it cannot confirm "
        "what was published."
    )
