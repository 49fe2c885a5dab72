"""Results from rows alone."""

import numpy as np
import pytest

from reidrisk import Observations
from reidrisk.attacks import Hamming, ProfileOverlap
from reidrisk.releases import TopicsApi
from reidrisk.study.given import measure_given

SEEN = Observations(
    np.array([[0, 1], [0, 2], [0, 1], [0, 0]]), np.array([[0, 1], [0, 2]]), np.array([0, 1]),
    tokens=3,
)  # fmt: skip


def test_figures_by_hand():
    result = measure_given(SEEN, [Hamming(), ProfileOverlap()], slots=(1, 2))
    found = {(one.attack, one.slots): one.value for one in result.risks}
    assert found == {
        ("hamming", 1): 1 / 4, ("hamming", 2): 3 / 4,
        ("profile-overlap", 1): 1 / 4, ("profile-overlap", 2): 3 / 4,
    }  # fmt: skip
    assert [one.name for one in result.bounds] == ["guessing", "hamming", "profile-overlap"]
    assert (result.users, result.targets, result.slots, result.seed) == (4, 2, (1, 2), 0)
    assert result.study["release"] is None


def test_with_a_release_there_is_what_local_privacy_allows(tmp_path):
    (tmp_path / "known.csv").write_text("x")
    result = measure_given(
        SEEN, [Hamming()], release=TopicsApi(topics=3, top=1, noise=0.9), seed=4,
        inputs=[tmp_path / "known.csv", tmp_path],
    )  # fmt: skip
    # The odds of a slot are (0.1 + 0.3) / 0.3, of both their square; over four users.
    assert result.bounds[-1].value == pytest.approx((4 / 3) ** 2 / 4)
    assert (list(result.inputs), result.seed) == (["known.csv"], 4)
