"""Benchmarks import, agreement is judged rightly, and what is written has its shape."""

import importlib
import pkgutil
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from benchmarks import comparison, growth, results, worlds
from benchmarks.__main__ import known
from benchmarks.comparison import Agreement, Comparison, Cost
from benchmarks.peers import QUESTIONS, environment, search, unicity

import reidrisk as rr
from reidrisk.engines import ReferenceEngine
from reidrisk.information.sequences import SequenceChances

ROOT = Path(__file__).parents[2] / "benchmarks"
RESULTS = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages([str(ROOT)], "benchmarks.")
    if not module.name.endswith("__main__")
)
NEEDS = {"benchmarks.spark": "pyspark"}
ROW = Comparison(
    "best match", "3 users", "ours", "numpy", "a loop", Cost(1, 2), Cost(4, 4),
    Agreement(holds=True, words="equal: all"),
)  # fmt: skip
ANSWERS = [
    {"peer": "numpy", "version": "2.4.6", "rows": [ROW.plain()]},
    {"peer": "splink", "missing": "ImportError: no DuckDB"},
]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports(name):
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not here")
    importlib.import_module(name)


def test_every_benchmark_is_listed_and_can_be_called():
    listed = known()
    assert {"results", "growth", "memory", "intervals"} <= set(listed)
    assert not {"tools", "worlds", "comparison", "peers"} & set(listed)
    for name in set(listed) - {"spark"}:
        assert callable(importlib.import_module(f"benchmarks.{name}").main), name


def test_whole_numbers_are_equal_or_they_are_not():
    same = comparison.equal(([1, 2], [3]), ([1, 2], [3]), "ties")
    other = comparison.equal(([1, 2], [3]), ([1, 2], [4]), "ties")
    fewer = comparison.equal(([1, 2],), ([1],), "ties")
    assert (same.holds, other.holds, fewer.holds) == (True, False, False)
    assert str(same) == "equal: ties"
    assert str(other) == "**not as expected**: ties equal in 2 of 3"


def test_numbers_are_close_up_to_rounding():
    assert comparison.close([0.5], [0.5], "value").words == "equal: value"
    assert comparison.close([0.5], [0.5 + 1e-12], "value").holds
    assert not comparison.close([0.5], [0.5 + 1e-6], "value").holds


@pytest.mark.parametrize(
    ("theirs", "named", "holds"),
    [([3, 5], [3, 5], True), ([3, 4], [3, 5], False), ([3, 5], [3, 4], False)],
)
def test_a_peer_that_names_one_row_must_name_a_best_one(theirs, named, holds):
    found = comparison.one_of_the_best([3, 5], [1, 2], np.array(theirs), np.array(named))
    assert found.holds is holds
    assert "1 have ties" in found.words


def test_a_row_survives_json():
    assert Comparison.of(ROW.plain()) == ROW
    assert (ROW.ratio, ROW.processor_ratio) == (0.25, 0.5)


@pytest.mark.parametrize("peer", ["numpy", "scipy"])
def test_peers_that_are_always_here_agree(peer):
    (row,) = search.compare(peer, quick=True)
    assert str(row.agreement) == "equal: best scores and ties"


def test_crowds_of_pairs_are_those_of_sets():
    places = unicity.visits(8)
    assert all(len(set(row)) == unicity.EACH for row in places.tolist())
    pairs = [(a, b) for i, a in enumerate(places[0]) for b in places[0][i + 1 :]]
    expected = [sum({a, b} <= set(row) for row in places.tolist()) for a, b in pairs]
    np.testing.assert_array_equal(unicity.crowds_of(places, 1), expected)


def test_people_are_searched_by_the_definition_as_peers_do():
    seen = worlds.people(300, 5)
    found = ReferenceEngine().search(seen, rr.scores.TokenWeights(np.ones(worlds.TOKENS)))
    best, ties = search.with_numpy(seen.known.block(0, 300), seen.anonymous)()
    np.testing.assert_array_equal(found.best // rr.scores.GRID, best)
    np.testing.assert_array_equal(found.ties, ties)


def test_exact_bits_are_those_of_rows_by_themselves(monkeypatch):
    monkeypatch.setattr(worlds, "ROWS_AT_A_TIME", 3)
    people = rr.data.synthetic_topics(8, epochs=2, seed=1)
    seen = rr.TopicsApi().observe(people, targets=8, seed=7)
    rows = seen.known.block(0, 8)[seen.truth]
    chances = SequenceChances.of(people.interests, 0.05)
    alone, given = worlds.exact_bits(chances, rows, seen.anonymous)
    both = chances.log2_joint(rows, seen.anonymous)
    np.testing.assert_allclose(alone, -chances.log2_single(seen.anonymous))
    np.testing.assert_allclose(given, chances.log2_single(rows) - both)


def test_the_exponent_of_a_power_law_is_found():
    points = [growth.Point("users", size, growth.ATTACKS[0], 3 * size**1.5) for size in (1, 4, 9)]
    assert growth.fit(points) == pytest.approx((1.5, 1.0))
    (row,) = growth.rows(points)
    assert row == ("users", "1 to 9", growth.ATTACKS[0], "1.50", "1.000", "81")
    drawn = growth.specification(points, "users")
    line = drawn["layer"][0].get("data", drawn["data"])["values"]
    assert [one["seconds"] for one in line] == pytest.approx([3, 81])


def test_a_list_of_requirements_is_read():
    assert environment.listed("# peers\nnumpy==2.4.6  # new\n\nqif==1.6.0\n") == [
        "numpy==2.4.6",
        "qif==1.6.0",
    ]
    wanted = {line.partition("==")[0] for line in environment.listed(environment.LIST.read_text())}
    for question in QUESTIONS:
        assert set(importlib.import_module(f"benchmarks.peers.{question}").PEERS) <= wanted


def test_who_is_missing_is_named_with_the_reason():
    section = results.peers_section(ANSWERS)
    assert "| numpy: a loop | 4 | 0.25 | 0.5 | equal: all |" in section
    assert "- splink: ImportError: no DuckDB" in section
    assert "none: all peers" in results.peers_section(ANSWERS[:1])


def tables(text):
    """Headings of all tables of a page."""
    return re.findall(r"^\| (.*) \|\n\| ---", text, re.MULTILINE)


def test_the_results_have_the_shape_that_the_command_writes():
    headings = (
        results.PEER_HEADINGS, growth.HEADINGS, results.memory.HEADINGS, results.cold.HEADINGS,
    )  # fmt: skip
    assert tables(RESULTS) == [" | ".join(one) for one in headings]
    assert re.findall("^#+ (.*)", RESULTS, re.MULTILINE) == [
        "Benchmarks", "Peers", "Growth", "Memory", "Start",
    ]  # fmt: skip
    assert "not as expected" not in RESULTS
    assert "Load average before" in RESULTS


def test_every_peer_is_in_the_results():
    peers = [
        peer for one in QUESTIONS
        for peer in importlib.import_module(f"benchmarks.peers.{one}").PEERS
    ]  # fmt: skip
    ran = RESULTS.partition("Not run:")[0]
    missing = RESULTS.partition("Not run:")[2]
    for peer in peers:
        assert f"| {peer}: " in ran or f"- {peer}: " in missing, peer


@pytest.mark.parametrize("name", growth.BASE)
def test_plots_of_the_results_are_there(name):
    assert f"plots/growth-{name}.svg" in RESULTS
    assert (ROOT / "plots" / f"growth-{name}.svg").read_text().startswith("<svg")
