"""Plausibility on public data that is kept beside the repository, not in it."""

import numpy as np
import pytest
from tests.shared_data import DATA, needs_data

from reidrisk.data import make_profiles, read_profiles, read_taxonomy

pytestmark = needs_data

JOURNEY = "completejourney_household_week_category.csv.gz"
COLUMNS = {"user": "household_id", "epoch": "week", "token": "cat_id", "weight": "items"}


def journey(**choices):
    return read_profiles(DATA / JOURNEY, columns=COLUMNS, **choices)


def test_complete_journey_has_the_counts_of_its_description():
    people = journey(taxonomy=read_taxonomy(DATA / "completejourney_categories.csv"))
    assert (people.counts.rows, people.users, people.tokens) == (982_597, 2_469, 302)
    assert people.epoch_labels.tolist() == list(range(1, 54))


def test_eight_weeks_of_complete_journey():
    always = journey(epochs=range(5, 13), absent="drop")
    assert always.users == 441
    assert always.counts.dropped_users == 2_170 - 441
    padded = journey(epochs=range(5, 13), absent="pad")
    assert (padded.users, padded.tokens) == (2_170, 302)
    assert (padded.top_sets(0, padded.users, top=5, seed=1) >= 0).all()


def test_a_week_of_complete_journey_has_the_entropy_of_its_description():
    """One epoch, top 5, noise 5 %, plug-in: 6.96 bits, and 5.43 given what another site saw.

    Shown tokens are mixed exactly, so only ties and padding are random here.
    """
    people = journey(epochs=range(5, 13), absent="drop")
    sets = people.top_sets(0, people.users, top=5, seed=1)
    per_epoch = np.array([entropies(sets[:, epoch], people.tokens) for epoch in range(8)])
    assert per_epoch.mean(axis=0) == pytest.approx([6.96, 5.43], abs=0.06)


def entropies(sets, tokens, noise=0.05):
    """Entropy of what one site sees, and of it given what another sees."""
    rows = np.full((len(sets), tokens), noise / tokens)
    np.put_along_axis(rows, sets, (1 - noise) / sets.shape[1] + noise / tokens, axis=1)
    joint = rows.T @ rows / len(rows)
    alone = joint.sum(axis=0)
    both = -(joint * np.log2(joint)).sum()
    one = -(alone * np.log2(alone)).sum()
    return one, both - one


def msweb():
    users, tokens, user = [], [], None
    for part in ("data", "test"):
        text = (DATA / f"anonymous-msweb.{part}").read_text(encoding="latin-1")
        for line in text.splitlines():
            kind, *rest = line.split(",")
            if kind == "C":
                # Both files count from 10001.
                user = f"{part} {rest[1]}"
            elif kind == "V":
                users.append(user)
                tokens.append(int(rest[0]))
    return users, tokens


def test_msweb_has_the_counts_and_the_entropy_of_its_description():
    users, tokens = msweb()
    people = make_profiles(users, [0] * len(users), tokens)
    assert people.counts.rows == 113_845
    assert people.users == 37_711
    sets = people.top_sets(0, people.users, top=5, seed=1)[:, 0]
    one, given = entropies(sets, people.tokens)
    assert (one, given) == pytest.approx((7.37, 6.59), abs=0.03)


@pytest.mark.parametrize(("version", "topics", "last"), [(1, 349, 349), (2, 469, 629)])
def test_taxonomies_have_their_gaps(version, topics, last):
    taxonomy = read_taxonomy(DATA / f"chrome_taxonomy_v{version}.tsv")
    assert (len(taxonomy), taxonomy.min(), taxonomy.max()) == (topics, 1, last)
