"""Users as Beugin and McDaniel draw them, and their way to match profiles."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.reproduction.chapter import Scale
from reidrisk.reproduction.chapters import beugin
from reidrisk.reproduction.given_sets import GivenSets

SCALE = Scale("laptop", users=1000, targets=100, seconds=0)


def rows(scale=SCALE):
    return [row for step in beugin.steps(scale) for row in step.run()]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(beugin, "TARGETS", {"laptop": 300})
    sets = beugin.rebuilt(1, users=3000)
    monkeypatch.setattr(beugin, "rebuilt", lambda _: sets)
    return sets


def test_the_published_shares_come_out_of_rebuilt_users(monkeypatch):
    """At the published size; the spread was fitted to the last share only."""
    monkeypatch.setattr(beugin, "TARGETS", {"laptop": 500})
    found = rows()
    assert [row.published for row in found] == ["0.4%", "57%", "75%", "not studied"]
    assert found[0].ours.value < 0.02
    assert found[1].ours.value == pytest.approx(0.57, abs=0.06)
    assert found[2].ours.value == pytest.approx(0.75, abs=0.06)
    assert {row.mark for row in found[1:3]} == {"on the calibrated population"}
    assert "250,000 users" in found[0].what
    assert found[3].mark == "added here"
    assert found[3].ours.value > found[1].ours.value


def test_a_figure_that_is_off_is_marked_and_explained(small, monkeypatch):
    monkeypatch.setitem(beugin.PUBLISHED, 30, "12%")
    off = rows()[2]
    assert off.mark == "differs"
    assert "points higher: perhaps" in off.why


def windows(draws):
    """What a site sees in each epoch: the last three topics that were drawn."""
    return [draws[epoch : epoch + 3] for epoch in range(len(draws) - 2)]


def profile_by_windows(draws):
    """The authors' rule, epoch by epoch.

    A topic is real if it stands twice in one answer, if it comes back after it was gone, or if it
    has been there for longer than one draw stays.
    """
    first, last, real, met = {}, {}, set(), set()
    for epoch, answer in enumerate(windows(draws)):
        for topic in answer:
            met.add(topic)
            there = topic in first
            if there and (last[topic] != epoch - 1 or first[topic] + 3 <= epoch):
                real.add(topic)
            first.setdefault(topic, epoch)
            last[topic] = epoch
    return real if len(real) >= 5 else met


@pytest.mark.parametrize("draws", [3, 6, 17, 32])
def test_profiles_are_those_of_the_authors(draws):
    shown = np.random.default_rng(draws).choice(9, (400, draws), p=np.arange(9, 0, -1) / 45)
    ours = beugin.profiles(shown)
    for row, bag in zip(shown.tolist(), ours, strict=True):
        assert set(bag.tolist()) == profile_by_windows(row)


def test_who_is_alone_at_the_top(small):
    """Against sets of Python."""
    seen = beugin.observed(small[:200], Scale("laptop", 1000, 100, 0))
    found = beugin.matched(seen, 15)
    site = [profile_by_windows(row) for row in np.asarray(seen.known)[:, :17].tolist()]
    other = [profile_by_windows(row) for row in seen.anonymous[:, :17].tolist()]
    for place, profile in enumerate(other):
        common = [len(profile & each) for each in site]
        assert found.ties[place] == common.count(max(common))
        alone = found.true_score[place] == found.best[place]
        assert alone == (common[seen.truth[place]] == max(common))


def test_domains_are_visited_by_their_share_of_page_loads():
    assert len(beugin.RANKS) == len(beugin.LOADS)
    assert (np.diff(beugin.RANKS) > 0).all()
    assert (np.diff(beugin.LOADS) > 0).all()
    domains = beugin.visited(np.random.default_rng(1).random(200_000))
    assert (domains == 0).mean() == pytest.approx(7.59 / 42.85, abs=0.004)
    assert (domains < 100).mean() == pytest.approx(17.49 / 42.85, abs=0.004)
    ends = beugin.visited(np.array([0.0, np.nextafter(1.0, 0.0)]))
    assert ends.tolist() == [0, 999_999]


def test_users_have_five_topics_from_histories_of_the_published_lengths():
    sets = beugin.rebuilt(3, users=5197)
    assert sets.shape == (5197, 5)
    assert beugin.is_set(sets).all()
    again = beugin.rebuilt(3, users=5197)
    assert (sets == again).all()
    assert (sets != beugin.rebuilt(4, users=5197)).any()


def test_as_many_users_visit_as_many_domains_as_published(monkeypatch):
    asked = []

    def users(self, least, most, wanted):
        asked.append((least, most, wanted))
        return np.zeros((wanted, 5), np.int32)

    monkeypatch.setattr(beugin.Web, "users", users)
    total = sum(count for *_, count in beugin.DOMAINS_OF_USERS)
    assert beugin.rebuilt(1, users=total).shape == (total, 5)
    assert tuple(asked) == beugin.DOMAINS_OF_USERS


def test_ten_users_are_made_of_one_history():
    web = beugin.Web.drawn(np.random.default_rng(1))
    sets = web.users(151, 1116, 30)
    pools = [np.unique(sets[start : start + 10]) for start in (0, 10, 20)]
    assert all(5 < len(pool) <= 50 for pool in pools)
    few = web.sets(np.array([1, 2], np.int16), 1)
    assert {1, 2} < set(few[0].tolist())
    assert len(set(few[0].tolist())) == 5


def test_with_the_file_the_users_of_the_authors_are_attacked(tmp_path, small, monkeypatch):
    path = tmp_path / "users.csv"
    lines = ["\t".join(map(str, [9, 9, *(topics + 1)])) for topics in small]
    path.write_text("\n".join(["nb_unique_domain\tnb_topics\tt1\tt2\tt3\tt4\tt5", *lines]) + "\n")
    assert (beugin.read_sets(path) == small).all()
    rebuilt = rows()
    monkeypatch.setitem(beugin.PUBLISHED, 30, f"{rebuilt[2].ours.value:.0%}")
    found = rows(Scale("laptop", 1000, 100, 0, {"beugin": path}))
    assert [row.ours for row in found] == [row.ours for row in rebuilt]
    assert found[2].mark == "reproduced"
    assert rows()[2].mark == "on the calibrated population"
    assert all("from the file" in row.why for row in found)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("a\tb\tc", "wrong-authors-file"),
        ("9\t9\t1\t2\t3\t4\t350", "wrong-authors-file"),
        ("9\t9\t0\t2\t3\t4\t5", "wrong-authors-file"),
        ("9\t9\t1\t2\t3\t4\t4", "wrong-authors-file"),
        ("1\t2\t3", "wrong-authors-file"),
    ],
)
def test_other_files_are_refused(tmp_path, line, code):
    path = tmp_path / "users.csv"
    path.write_text(f"names\n{line}\n")
    with refuses(code):
        beugin.read_sets(path)


def test_given_sets_are_people():
    sets = np.array([[[3, 1], [4, 2]], [[0, 4], [1, 0]]], np.int32)
    people = GivenSets(sets, tokens=5)
    assert (people.users, people.epochs, people.tokens, people.complete) == (2, 2, 5, True)
    assert (people.top_sets(1, 2, top=2, seed=9) == sets[1:2]).all()
    cells = people.cells(0, 2)
    assert cells.starts.tolist() == [0, 2, 4, 6, 8]
    assert cells.members.tolist() == [1, 3, 2, 4, 0, 4, 0, 1]
    for refused in ({"top": 3}, {"top": 2, "priority": np.zeros(5, np.int8)}):
        with refuses("unsupported-people"):
            people.top_sets(0, 1, seed=0, **refused)
    stable = GivenSets.stable(sets[:, 0], epochs=3, tokens=5)
    assert (stable.sets == sets[:, :1]).all()
    assert stable.epochs == 3
