"""Risk among 20 times the users, from few: the power law of ranks beside tails fitted to scores.

Biometrics often fits the tail of each person's non-mated scores, by a normal distribution or by a
generalised Pareto distribution above a high quantile, and takes it to the power n - 1. Vectors with
noise, compared by cosine; 2,000 known users, and 40,000 to be predicted, who are then measured.
"""

import numpy as np
from scipy.special import ndtr

import reidrisk as rr
from benchmarks.tools import figures
from reidrisk.estimates import extrapolate, sizes_to_fit
from reidrisk.scores.inner_product import InnerProduct

FEW, MANY = 2_000, 40_000
ABOVE = 100  # scores of each person that the Pareto tail is fitted to
WORLDS = (
    ("spread evenly", 16, 1.0),
    ("spread evenly", 64, 1.5),
    ("200 clusters", 16, 0.7),
    ("of very different lengths", 32, 1.2),
)


def vectors(kind, dimensions, noise):
    """Unit vectors of everybody, and what is shown of the first few."""
    random = np.random.default_rng(1)
    own = random.normal(size=(MANY, dimensions))
    if kind == "200 clusters":
        centres = random.normal(size=(200, dimensions))
        cluster = random.choice(200, MANY, p=random.dirichlet(np.full(200, 0.3)))
        own = centres[cluster] + 0.6 * own
    if kind == "of very different lengths":
        own *= np.sqrt(1 / random.gamma(2, 1, size=(MANY, 1)))
    shown = own[:FEW] + noise * random.normal(size=(FEW, dimensions))
    return tuple(side / np.linalg.norm(side, axis=1, keepdims=True) for side in (own, shown))


def others(scores):
    """Each person's scores with everybody else, sorted."""
    return np.sort(scores[~np.eye(len(scores), dtype=bool)].reshape(len(scores), -1), axis=1)


def normal_tail(mated, nonmated):
    """Chance that another scores higher, if scores are normal."""
    return ndtr((nonmated.mean(axis=1) - mated) / nonmated.std(axis=1))


def pareto_tail(mated, nonmated):
    """The same by a generalised Pareto tail, fitted by probability-weighted moments."""
    edge, excess = nonmated[:, -ABOVE - 1], nonmated[:, -ABOVE:] - nonmated[:, [-ABOVE - 1]]
    first = excess.mean(axis=1)
    second = (excess * np.arange(ABOVE)[::-1] / (ABOVE - 1)).mean(axis=1)
    shape = 2 - first / (first - 2 * second)
    scale = 2 * first * second / (first - 2 * second)
    inside = np.maximum(1 + shape * (mated - edge) / scale, 0.0)
    beyond = np.where(inside > 0, np.maximum(inside, 1e-300) ** (-1 / shape), 0.0)
    counted = (nonmated >= mated[:, None]).mean(axis=1)
    return np.where(mated > edge, ABOVE / nonmated.shape[1] * beyond, counted)


def by_ranks(own, shown):
    """What the ranks among few predict of many."""
    grid = rr.Grid.of(own, shown, bits=16)
    known, anonymous = (rr.VectorRows.rounded(side[:FEW, None], grid) for side in (own, shown))
    seen = rr.Observations(known, anonymous, np.arange(FEW))
    cosine = rr.risk.Fitted(rr.Hamming(), InnerProduct.of_vectors())
    curve = rr.measure_sizes(seen, cosine, users=sizes_to_fit(FEW))
    found = extrapolate(curve, [MANY], correlation=curve.correlation).predicted[MANY]
    return curve[FEW].value, found


def named(own, shown, mated):
    """How many are named among everybody."""
    right = 0
    for start in range(0, FEW, 500):
        scores = shown[start : start + 500] @ own.T
        rows = np.arange(len(scores))
        scores[rows, start + rows] = -np.inf
        right += (scores.max(axis=1) < mated[start : start + 500]).sum()
    return right / FEW


def main():
    rows = []
    for kind, dimensions, noise in WORLDS:
        own, shown = vectors(kind, dimensions, noise)
        mated, nonmated = (own[:FEW] * shown).sum(axis=1), others(shown @ own[:FEW].T)
        pareto, normal = (
            ((1 - tail(mated, nonmated)) ** (MANY - 1)).mean()
            for tail in (pareto_tail, normal_tail)
        )
        before, law = by_ranks(own, shown)
        rows.append((
            f"{kind}, d = {dimensions}", f"{before:.3f}", f"{named(own, shown, mated):.3f}",
            f"{law.value:.3f} [{law.low:.3f}, {law.high:.3f}]", f"{pareto:.3f}", f"{normal:.4f}",
        ))  # fmt: skip
    headings = ("vectors", f"{FEW:,}: named", f"{MANY:,}: named", "power law", "Pareto", "normal")
    figures("Risk among 20 times the users", headings, rows)
