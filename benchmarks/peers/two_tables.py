"""Two tables of people: who of the first is each row of the second?

Six columns as in a register; a survey copies each cell with chance .8 and else holds what others
have. Nobody is told who is who: every package learns from the two tables alone. All pairs are
compared, because which ones a package leaves out is up to its user. Who ties for the best shares
the credit, for us and for them.
"""

import tempfile
from pathlib import Path

import numpy as np

import reidrisk as rr
from benchmarks.comparison import Agreement, Comparison, cost, equal
from benchmarks.worlds import draw, popularity
from reidrisk.scores import GRID

PEERS = ("recordlinkage", "splink")
COLUMNS = {"born": 80, "zip": 500, "sex": 2, "job": 100, "household": 6, "month": 12}
COPIED, EXPONENT = 0.8, 0.8
KNOWN, SHOWN = 2_000, 500
QUICK_KNOWN, QUICK_SHOWN = 200, 60
TIED = 1e-9
"""Scores that differ by no more than this are equal."""

WORSE = 0.05
"""We must not name fewer than a peer by more than this share of the targets."""


class Tables:
    """Two tables, in memory and in files."""

    def __init__(self, folder, known, shown):
        random = np.random.default_rng(3)
        self.known, fresh = (
            np.column_stack([
                draw(random, (rows,), popularity(size, EXPONENT)) for size in COLUMNS.values()
            ])
            for rows in (known, shown)
        )  # fmt: skip
        self.truth = random.permutation(known)[:shown]
        copied = random.random(fresh.shape) < COPIED
        self.shown = np.where(copied, self.known[self.truth], fresh)
        self.files = [folder / name for name in ("register.csv", "survey.csv")]
        for file, rows, users in zip(
            self.files, (self.known, self.shown), (np.arange(known), self.truth), strict=True
        ):
            lines = (",".join(map(str, (user, *row))) for user, row in zip(users, rows, strict=True))
            file.write_text("\n".join([",".join(("user", *COLUMNS)), *lines, ""]))

    def frames(self):
        """As the peers read them."""
        import pandas as pd

        return [pd.read_csv(file, dtype=str)[list(COLUMNS)] for file in self.files]

    def read(self):
        """As we read them."""
        layout = rr.data.Layout(user="user", columns=tuple(COLUMNS))
        return rr.data.read_linked(*self.files, layout=layout)

    def credits(self, scores):
        """Of each target, from scores known x shown."""
        best = scores.max(axis=0) - TIED
        right = scores[self.truth, np.arange(len(self.truth))] >= best
        return right / (scores >= best).sum(axis=0)


def compare(peer, *, quick):
    with tempfile.TemporaryDirectory() as folder:
        size = (QUICK_KNOWN, QUICK_SHOWN) if quick else (KNOWN, SHOWN)
        tables = Tables(Path(folder), *size)
        yield from COMPARISONS[peer](tables, "{:,} and {:,} rows, 6 columns".format(*size))


def ours(tables, attack):
    """Our cost from the files on, and the curve."""
    return cost(lambda: rr.measure(tables.read().observations, attack))


def named(curve, theirs):
    """Who names more; models differ, so that figures do."""
    our_share, share = curve[len(COLUMNS)].value, float(theirs.mean())
    return Agreement(
        our_share >= share - WORSE,
        f"another model: names {share:.1%} rightly, ours {our_share:.1%}",
    )


def same_matches(tables, scores):
    """Whether sums of agreements, known x shown, have the best scores and ties that we find."""
    linked = tables.read()
    seen = linked.observations
    found = rr.LocalEngine().search(seen, rr.Hamming().fit(rr.attacks.View.of(seen)))
    place = {int(user): row for row, user in enumerate(tables.truth)}
    scores = scores[:, [place[int(user)] for user in linked.ids[seen.truth]]]
    best = scores.max(axis=0)
    return equal(
        (found.best // GRID, found.ties), (best, (scores == best).sum(axis=0)),
        "best scores and ties",
    )  # fmt: skip


def with_recordlinkage(tables, size):
    import recordlinkage

    def features():
        known, shown = tables.frames()
        index = recordlinkage.Index()
        index.full()
        comparing = recordlinkage.Compare()
        for name in COLUMNS:
            comparing.exact(name, name, label=name)
        return comparing.compute(index.index(known, shown), known, shown)

    def square(series):
        return series.to_numpy().reshape(len(tables.known), len(tables.shown))

    our_cost, _ = ours(tables, rr.Hamming())
    their_cost, found = cost(features, repeat=1, first=False)
    agreement = same_matches(tables, square(found.sum(axis=1)))
    yield Comparison(
        "two tables", size, "hamming", "recordlinkage", "Compare.exact, summed",
        our_cost, their_cost, agreement,
    )  # fmt: skip

    def learned():
        pairs, model = features(), recordlinkage.ECMClassifier()
        model.fit(pairs)
        return model.prob(pairs)

    our_cost, curve = ours(tables, rr.attacks.LearnedPairs())
    their_cost, chances = cost(learned, repeat=1, first=False)
    yield Comparison(
        "two tables, learned", size, "learned-pairs", "recordlinkage", "ECMClassifier",
        our_cost, their_cost, named(curve, tables.credits(square(chances))),
    )  # fmt: skip


def with_splink(tables, size):
    import splink.comparison_library as comparisons
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    def learned():
        known, shown = (frame.assign(unique_id=range(len(frame))) for frame in tables.frames())
        database = DuckDBAPI()
        settings = SettingsCreator(
            link_type="link_only",
            comparisons=[
                comparisons.ExactMatch(name).configure(term_frequency_adjustments=True)
                for name in COLUMNS
            ],
            blocking_rules_to_generate_predictions=["1=1"],
            probability_two_random_records_match=1 / len(known),
        )
        linker = Linker(
            [database.register(known, dataset_display_name="register"),
             database.register(shown, dataset_display_name="survey")],
            settings,
        )  # fmt: skip
        linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
        for column in ("zip", "job"):
            linker.training.estimate_parameters_using_expectation_maximisation(block_on(column))
        found = linker.inference.predict().as_duckdbpyrelation()
        return found.select("unique_id_l, unique_id_r, match_weight").fetchnumpy()

    our_cost, curve = ours(tables, rr.attacks.LearnedPairs())
    their_cost, found = cost(learned, first=False)
    scores = np.full((len(tables.known), len(tables.shown)), -np.inf)
    scores[found["unique_id_l"], found["unique_id_r"]] = found["match_weight"]
    yield Comparison(
        "two tables, learned", size, "learned-pairs", "splink", "EM, term frequencies, DuckDB",
        our_cost, their_cost, named(curve, tables.credits(scores)),
    )  # fmt: skip


COMPARISONS = {"recordlinkage": with_recordlinkage, "splink": with_splink}
