"""Published figures of the Topics API.  Paper: section 7."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from reidrisk import theory
from reidrisk.data import Interests, sequence_information, synthetic_topics
from reidrisk.releases import TopicsApi

API = TopicsApi(topics=349, top=5, noise=0.05)


def test_chances_of_one_epoch():
    assert API.q_in == pytest.approx(0.190143, abs=5e-7)
    assert API.q_out == pytest.approx(0.000143266, abs=5e-10)
    assert 5 * API.q_in + 344 * API.q_out == pytest.approx(1)


def test_two_sites_show_the_same_topic():
    """The paper's (1-p)/5 = 0.19 is approximate."""
    assert API.agreement == pytest.approx(0.180779, abs=5e-7)


@pytest.mark.parametrize("shape", [{}, {"s": 0, "sigma": 0}, {"types": 3, "moods": 2}])
def test_two_sites_show_the_same_topic_whatever_the_population(shape):
    model = Interests(**{"topics": 30, **shape})
    rise, q_out = 0.95 / 5, 0.05 / 30
    together = q_out**2 + 2 * q_out * rise * model.popularity + rise**2 * model.popularity
    assert together.sum() == pytest.approx(TopicsApi(topics=30).agreement)


@pytest.mark.parametrize(("topics", "epsilon"), [(349, 7.1908), (469, 7.4862)])
def test_local_privacy_of_one_epoch(topics, epsilon):
    assert TopicsApi(topics=topics).epsilon == pytest.approx(epsilon, abs=5e-5)
    assert TopicsApi(topics=topics, noise=0).epsilon == math.inf


@pytest.mark.parametrize(("noise", "leakage"), [(0.05, 32.16), (0.0, 33.8)])
def test_full_information_leakage_of_one_epoch(noise, leakage):
    """169 topics that occur in someone's top: `m'(1-p)/k + p`."""
    api = TopicsApi(noise=noise)
    sets = [[(5 * user + place) % 169 for place in range(5)] for user in range(34)]
    rows = np.full((34, 349), api.q_out)
    for row, mine in zip(rows, sets, strict=True):
        row[mine] = api.q_in
    assert theory.multiplicative_leakage(sp.csr_array(rows)) == pytest.approx(leakage)
    assert leakage == pytest.approx(169 * (1 - noise) / 5 + noise)


def test_bits_of_one_epoch_equal_the_published():
    people = synthetic_topics(users=10)
    assert people.entropy() == pytest.approx(7.59, abs=1e-4)
    assert people.conditional_entropy() == pytest.approx(6.66, abs=1e-4)
    assert people.mutual_information() == pytest.approx(0.93, abs=1e-4)


def test_independent_sets_share_fewer_bits():
    zipf = synthetic_topics(users=10, types=1, s=0.8, sigma=0)
    uniform = synthetic_topics(users=10, types=1, s=0, sigma=0)
    assert zipf.mutual_information() == pytest.approx(0.69, abs=5e-3)
    assert uniform.mutual_information(noise=0) == pytest.approx(0.97, abs=5e-3)


INDEPENDENT = (6.553, 5.456, 1.097)  # another program, standard error .006
LONGER = (6.5457, 5.4416, 1.1041)  # ours with 200,000 sequences, standard error .0018


def bits_of_eight_epochs(samples, seed):
    bits = sequence_information(Interests(), epochs=8, samples=samples, seed=seed)
    return (bits.entropy, bits.conditional_entropy, bits.mutual_information)


def test_bits_of_eight_epochs():
    found = bits_of_eight_epochs(samples=20_000, seed=1)
    for mean, other, longer in zip(found, INDEPENDENT, LONGER, strict=True):
        assert 0 < mean.error < 0.01
        assert abs(mean.value - other) < 3 * math.hypot(mean.error, 0.006)
        assert abs(mean.value - longer) < 3 * math.hypot(mean.error, 0.0018)
    assert found[0].value - found[1].value == pytest.approx(found[2].value)


@pytest.mark.slow
def test_bits_of_eight_epochs_are_close_to_the_published():
    for mean, published in zip(bits_of_eight_epochs(200_000, 2), (6.54, 5.45, 1.09), strict=True):
        assert mean.error < 0.002
        assert abs(mean.value - published) < 0.02


def test_simulation_shares_as_many_bits_as_the_closed_form():
    """Plug-in entropy of a million simulated epochs; its bias is below (cells - 1) / (2 n ln 2)."""
    people = synthetic_topics(users=1_000_000, topics=40, epochs=1, types=8, seed=2)
    seen = TopicsApi(topics=40).observe(people, seed=3)
    table = np.zeros((40, 40))
    np.add.at(table, (seen.known[seen.truth, 0], seen.anonymous[:, 0]), 1e-6)
    both = -(table[table > 0] * np.log2(table[table > 0])).sum()
    one = -(table.sum(0) * np.log2(table.sum(0))).sum()
    other = -(table.sum(1) * np.log2(table.sum(1))).sum()
    assert one == pytest.approx(people.entropy(), abs=0.006)
    assert one + other - both == pytest.approx(people.mutual_information(), abs=0.01)
