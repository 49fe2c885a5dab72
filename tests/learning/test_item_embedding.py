"""People embedded by their items: what the panel teaches, and what it does not."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import Averaged
from reidrisk.data import ItemEmbedding, VectorPeople, embed_items, make_profiles
from reidrisk.people.subset import Subset
from reidrisk.releases import observe

ITEMS = 40


def people(users=300, *, tastes=2, epochs=2, seed=1):
    """People of a few tastes, who hold items of theirs and a few others."""
    random = np.random.default_rng(seed)
    size = ITEMS // tastes
    rows = [
        (user, epoch, item, int(random.integers(1, 5)))
        for user in range(users)
        for epoch in range(epochs)
        for item in {
            *(random.choice(size, 6, replace=False) + user % tastes * size).tolist(),
            int(random.integers(ITEMS)),
        }
    ]
    return make_profiles(*np.array(rows).T, taxonomy=np.arange(ITEMS))


PEOPLE = people()


def counts_of(crowd):
    """Users x items, all epochs together."""
    table = np.zeros((crowd.users, crowd.tokens))
    for user in range(crowd.users):
        for epoch in range(crowd.epochs):
            items, weights = crowd.cell(user, epoch)
            table[user, items] += weights
    return table


def test_users_are_tf_idf_rows_in_the_directions_of_a_full_svd():
    """Against dense algebra; a direction may point either way, so products are compared."""
    panel, others = people(tastes=4, seed=2), people(120, tastes=4, seed=3)
    made = ItemEmbedding.fit(panel, dimensions=4).users(others)
    counts = counts_of(panel)
    idf = np.log((1 + panel.users) / (1 + (counts > 0).sum(axis=0)))

    def rows(table):
        weighted = np.log1p(table) * idf
        return weighted / np.linalg.norm(weighted, axis=1)[:, None]

    taught = rows(counts)
    _, _, right = np.linalg.svd(taught, full_matrices=False)
    flat = (rows(counts_of(others)) - taught.mean(axis=0)) @ right[:4].T
    expected = flat / np.linalg.norm(flat, axis=1)[:, None]
    np.testing.assert_allclose(made.vectors @ made.vectors.T, expected @ expected.T, atol=1e-3)
    np.testing.assert_array_equal(made.ids, others.ids)


def test_items_of_a_user_are_those_held_epoch_by_epoch():
    made = ItemEmbedding.fit(PEOPLE, dimensions=5).items(PEOPLE)
    held = sum(len(PEOPLE.cell(3, epoch)[0]) for epoch in range(2))
    assert np.diff(made.starts)[3] == held
    np.testing.assert_allclose(np.linalg.norm(made.vectors, axis=1), 1)
    # The same item has the same vector, whoever holds it.
    assert len(np.unique(made.vectors.round(9), axis=0)) == ITEMS


def test_tastes_are_far_apart():
    made = embed_items(PEOPLE, dimensions=4)
    products = made.vectors @ made.vectors.T
    same = (made.ids[:, None] - made.ids) % 2 == 0
    np.fill_diagonal(same, val=False)
    assert products[same].mean() > 0.3
    assert products[~same].mean() < -0.3


def test_the_panel_is_left_out_and_others_teach_nothing():
    made = embed_items(PEOPLE, dimensions=4, panel=0.5, seed=3)
    assert 0 < made.users < 300
    panel = np.setdiff1d(PEOPLE.ids, made.ids)
    some = Subset.of(PEOPLE, np.sort(np.concatenate([panel, made.ids[:7]])))
    fewer = embed_items(some, dimensions=4, panel=0.5, seed=3)
    np.testing.assert_array_equal(fewer.ids, made.ids[:7])
    np.testing.assert_array_equal(fewer.vectors, made.vectors[:7])


def test_means_of_items_name_people():
    made = embed_items(PEOPLE, dimensions=8, each="item")
    assert isinstance(made, VectorPeople)
    assert observe(Averaged(3), made, targets=50, seed=1).known.dimensions == 8


def test_who_has_nothing_that_the_panel_knows_is_left_out():
    panel = make_profiles([0, 0, 1, 1, 2], [0] * 5, [0, 1, 0, 2, 1], taxonomy=np.arange(5))
    others = make_profiles([7, 8, 8, 9], [0] * 4, [4, 4, 1, 2], taxonomy=np.arange(5))
    embedding = ItemEmbedding.fit(panel, dimensions=2)
    assert embedding.users(others).ids.tolist() == [8, 9]
    items = embedding.items(others)
    assert (items.ids.tolist(), items.starts.tolist()) == ([8, 9], [0, 1, 2])


def test_what_cannot_be_embedded_is_refused():
    with refuses("too-many-dimensions"):
        embed_items(PEOPLE, dimensions=60)
    with refuses("empty-side"):
        embed_items(PEOPLE, panel=0.0)
    with refuses("unknown-choice"):
        embed_items(PEOPLE, each="week")
    embedding = ItemEmbedding.fit(PEOPLE, dimensions=4)
    with refuses("alphabet-mismatch"):
        embedding.users(make_profiles([1], [1], ["tea"]))
    with refuses("people-have-vectors"):
        embedding.items(embedding.users(PEOPLE))
    with refuses("people-have-vectors"):
        ItemEmbedding.fit(embedding.users(PEOPLE))


@pytest.mark.parametrize("each", ["user", "item"])
def test_blocks_change_nothing(monkeypatch, each):
    whole = embed_items(PEOPLE, dimensions=4, each=each)
    monkeypatch.setattr("reidrisk.learning.item_embedding._AT_A_TIME", 7)
    cut = embed_items(PEOPLE, dimensions=4, each=each)
    np.testing.assert_array_equal(cut.vectors, whole.vectors)
    np.testing.assert_array_equal(cut.ids, whole.ids)
