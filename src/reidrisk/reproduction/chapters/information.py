"""The bits that two sites share.

Paper: section 8.4.
"""

from collections.abc import Iterator
from dataclasses import replace

from reidrisk import data
from reidrisk.estimates import Estimate, standard_errors
from reidrisk.information import count_information
from reidrisk.information.records import Mean
from reidrisk.people.interests import Interests
from reidrisk.releases import TopicsApi
from reidrisk.reproduction.chapter import (
    ALL_EPOCHS,
    ONE_EPOCH,
    ChapterStep,
    Point,
    Row,
    Scale,
    measured,
    missing,
)

TITLE = "Entropy and mutual information"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), section 8.4"

_API = TopicsApi(topics=349, top=5, noise=0.05)
_NAMES = {
    "entropy": "Entropy of a site's topics, H(B)",
    "conditional_entropy": "Given the other site's, H(B|A)",
    "mutual_information": "Mutual information of the two, I(A;B)",
}
_SHORT = {name: name.replace("_", " ") for name in _NAMES}
_PUBLISHED = {1: (7.59, 6.66, 0.93), 8: (6.54, 5.45, 1.09)}
_ROUNDING = 0.005
"""Half a unit of the last published digit."""

_SAMPLES = {"laptop": 20_000, "full": 200_000}
_COUNTED = 50_000
_LEVEL = 0.95
_PANEL = {1: 2_000_000, 8: 250_000}
"""Users that the laptop's model learns from in `tests/paper`: it misses 0.02 and 0.05 bits."""

_SLIP = (
    "The formulas of both entropies sum over i up to r and should sum over the n users tested; one "
    "of the texts around them swaps A and B."
)
_WHERE = {1: "Section 8.4, r = 1", 8: "Section 8.4, r = 8"}


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """One epoch, eight, and what follows."""
    yield ChapterStep("one epoch, exact", _one_epoch)
    yield ChapterStep("one epoch, by counts", lambda: _counted(scale))
    yield ChapterStep("eight epochs", lambda: _eight_epochs(scale))
    yield ChapterStep("one epoch, learned", lambda: _learned(scale, 1, ONE_EPOCH))
    yield ChapterStep("eight epochs, learned", lambda: _learned(scale, 8, ALL_EPOCHS))


def _one_epoch() -> tuple[Row, ...]:
    """The closed form of the calibrated population."""
    found = Interests().information(_API.noise)
    return tuple(
        _row(1, name, Estimate.computed(getattr(found, name)),
             "Closed form. The population has two parameters that were fitted to these figures, so "
             "this shows that such people exist, and no more.",
             _SLIP if name == "entropy" else "", drawn=True)
        for name in _NAMES
    )  # fmt: skip


def _counted(scale: Scale) -> tuple[Row, ...]:
    """The same from what users show, without knowing how they were made."""
    users = min(_COUNTED, scale.users)
    people = data.synthetic_topics(users=users, seed=scale.seed)
    found = count_information(_API.observe(people, seed=scale.seed + 6)).pooled
    why = (
        f"From counts of {users:,} users of the calibrated population, 8 epochs taken together, "
        "corrected for what counts miss."
    )
    return tuple(
        _row(1, name, getattr(found, name), why, how=", by counts")
        for name in _NAMES
    )  # fmt: skip


def _eight_epochs(scale: Scale) -> tuple[Row, ...]:
    """Exact chances of sequences, averaged over drawn ones."""
    samples = min(_SAMPLES[scale.name], 10 * scale.users)
    found = data.sequence_information(
        Interests(), epochs=8, samples=samples, seed=scale.seed, noise=_API.noise
    )
    means = {name: _estimate(getattr(found, name), samples) for name in _NAMES}
    why = (
        f"Per epoch: exact chances of {samples:,} drawn pairs of sequences of the calibrated "
        "population, which was fitted to r = 1 only."
    )
    rows = [_row(8, name, mean, why, drawn=True) for name, mean in means.items()]
    gained = means["mutual_information"]
    alone = Interests().information(_API.noise).mutual_information
    more = replace(
        gained, value=gained.value - alone, low=gained.low - alone, high=gained.high - alone
    )
    return (
        *rows,
        Row(
            where="Section 8.4",
            what="Eight epochs share little more per epoch than one, so epochs are close to "
            "independent: difference",
            published="0.16 bits",
            ours=more,
            unit="bits",
            # Twice, since 0.16 is the difference of two figures that were rounded.
            mark=measured(0.16, more, rounding=2 * _ROUNDING, calibrated=True),
            why=f"{why} It does not say how much an attacker gains by types that last: for that, "
            "compare type-aware with weighted-hamming under Re-identification by topics.",
        ),
    )


def _learned(scale: Scale, epochs: int, share: float) -> tuple[Row, ...]:
    """By a model that learns to continue sequences, as the authors did."""
    if why := missing(scale):
        return tuple(
            Row(
                _WHERE[epochs],
                f"{what}, learned",
                f"{published:g} bits",
                None,
                "bits",
                "not run",
                why,
            )
            for what, published in zip(_NAMES.values(), _PUBLISHED[epochs], strict=True)
        )
    from reidrisk.information.sequence_model import learn_information  # noqa: PLC0415  torch
    from reidrisk.learning.models import MODELS  # noqa: PLC0415  needed by who learns

    seconds = scale.seconds * share / 2  # two models: with the other site, and without
    users = min(_PANEL[epochs], scale.users)
    people = data.synthetic_topics(users=users, epochs=epochs, seed=scale.seed)
    seen = _API.observe(people, targets=users, seed=scale.seed + 6)
    how = replace(MODELS["laptop"].training, seconds=seconds, seed=scale.seed)
    found = learn_information(seen, "laptop", how=how, seed=scale.seed)
    why = (
        f"A chain of classes, not the authors' Transformer, trained on {found.training:,} users of "
        f"the calibrated population for at most {2 * seconds:.0f} processor seconds, tested on "
        f"{found.tested:,} others. A model that has not learned all misses some of what is shared."
    )
    return tuple(
        _row(epochs, name, _estimate(getattr(found, name), found.tested), why, how=", learned")
        for name in _NAMES
    )


def _estimate(mean: Mean, trials: int) -> Estimate:
    margin = standard_errors(_LEVEL) * mean.error
    return Estimate(mean.value, mean.value - margin, mean.value + margin, _LEVEL, trials, "normal")


def _row(
    epochs: int,
    name: str,
    ours: Estimate,
    why: str,
    slip: str = "",
    *,
    drawn: bool = False,
    how: str = "",
) -> Row:
    published = dict(zip(_NAMES, _PUBLISHED[epochs], strict=True))[name]
    mark = measured(published, ours, rounding=_ROUNDING, calibrated=True)
    off = ours.value - published
    return Row(
        where=_WHERE[epochs],
        what=f"{_NAMES[name]}{how}",
        published=f"{published:g} bits",
        ours=ours,
        unit="bits",
        mark=mark,
        why=why if mark != "differs" else f"{why} It differs by {off:+.3f} bits.",
        slip=slip,
        axis="epochs" if drawn else "",
        points=(Point(_SHORT[name], epochs, ours, published),) if drawn else (),
    )
