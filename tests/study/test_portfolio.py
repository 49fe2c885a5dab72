"""The portfolio: which attacks are tried where nobody names any, and the strongest of them."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import BagRows, Hamming, Observations, Overlap, Study, TopicsApi
from reidrisk.attacks.table import attack_named
from reidrisk.data import synthetic_topics
from reidrisk.estimates import mean_of_credits
from reidrisk.study import link
from reidrisk.study.credits import credits_in
from reidrisk.study.portfolio import BUDGETS, not_tried, plan, plan_in_words, within
from reidrisk.study.source import source_of
from reidrisk.study.text.attacks import as_chosen, found, strongest


def baskets(users, seed=0):
    rng = np.random.default_rng(seed)
    taste = rng.dirichlet(np.full(40, 0.15), users)
    known, shown = ([rng.choice(40, 12, p=one) for one in taste] for _ in range(2))
    rows = BagRows.of(np.concatenate(known), np.arange(users + 1) * 12, tokens=40)
    return Observations(rows, rows.codec.beside(shown, "anonymous"), np.arange(users))


@pytest.fixture(scope="module")
def result():
    source = source_of(baskets(120))
    attacks = [attack_named(one.name) for one in plan(source, None)]
    return Study(attacks=attacks, targets=None).run(source)


def test_all_attacks_that_apply_are_tried_cheapest_first():
    planned = plan(source_of(baskets(60)), None)
    names = [one.name for one in planned]
    assert {"overlap", "cosine-csls", "polya", "latent", "self-trained", "stacked"} <= set(names)
    assert not {"hamming", "gaps", "weighted-hamming", "record-linkage"} & set(names)
    assert within(planned, "thorough") == within(planned, "normal") == planned
    # They need not be in strict order; what learns comes last.
    assert [one.learns for one in planned] == sorted(one.learns for one in planned)


def test_nothing_is_learned_from_a_few_rows():
    assert not any(one.learns for one in plan(source_of(baskets(49)), None))


class Register:
    """A source of tables of columns."""

    people, form = None, "columns"

    def __init__(self, users):
        self.users = self.paired_users = users

    def has_gaps(self, release, seed):
        return False


def test_columns_have_attacks_of_their_own_and_all_that_combine_them():
    names = [one.name for one in plan(Register(50), None)]
    assert names == [
        "hamming", "learned-pairs", "record-linkage", "text-cosine", "nearest-numbers",
        "self-trained", "stacked",
    ]  # fmt: skip
    assert [one.name for one in plan(Register(49), None)] == names[:-2]
    kept = [one.name for one in within(plan(Register(200_000), None), "normal")]
    assert kept == names[:-3]


def test_a_quick_portfolio_learns_nothing_and_a_budget_is_kept():
    source = source_of(baskets(60))
    assert not any(one.learns for one in within(plan(source, None), "quick"))
    many = plan(source, None, lengths=10**12)  # as if the tables were huge
    kept = within(many, "normal")
    assert sum(one.seconds for one in kept) <= BUDGETS["normal"]
    assert len(kept) < len(within(many, "thorough")) == len(many)
    with refuses("unknown-choice"):
        within(many, "most")


def test_what_a_release_shows_of_people_has_a_portfolio_of_its_own():
    people = source_of(synthetic_topics(users=200, topics=40, epochs=2, seed=1))
    names = [one.name for one in plan(people, TopicsApi(topics=40))]
    assert names == ["hamming", "weighted-hamming"]
    study = Study(attacks=(Hamming(),), release=TopicsApi(topics=40))
    assert not_tried(study, people) == ()


def test_the_strongest_is_reported_with_an_interval_that_pays_for_the_choice(result):
    outsider, other = result.strongest
    assert (outsider.given, other.given) == ("rows", "rows and pairs")
    assert set(other.among) - set(outsider.among) == {"stacked"}
    best = max(risk.value for risk in result.risks if risk.attack != "stacked")
    assert outsider.right.value == best
    place = [risk.attack for risk in result.risks].index(outsider.attack)
    credit = credits_in(result.credits[place], result.targets)
    wider = mean_of_credits(credit, level=1 - 0.05 / len(outsider.among))
    assert (outsider.right.low, outsider.right.high) == (wider.low, wider.high)
    alone = result.risks[place]
    assert wider.low < alone.low < alone.high < wider.high
    assert strongest(result) == as_chosen(result, alone) != alone
    assert (outsider.right.level, other.right.level) == (0.95, 0.95)


def test_gate_judges_the_interval_that_pays_for_the_choice(result):
    best = strongest(result)
    alone = next(risk for risk in result.risks if risk.attack == best.attack)
    between = (alone.high + best.high) / 2
    (check,) = result.gate(max_risk=between, attack=best.attack).checks
    assert check.figure.high == best.high
    assert not check.passed


def test_attackers_who_know_pairs_are_told_apart(result):
    text = found(result).text
    assert "the true pairs of half of the people" in text
    assert f"({result.strongest[0].attack}, the strongest of" in text


def test_a_portfolio_that_was_not_tried_whole_is_a_doubt():
    seen = baskets(60)
    tried = Study(attacks=(Overlap(),), targets=None).run(seen)
    (doubt,) = (one for one in tried.doubts if one.code == "partial-portfolio")
    assert doubt.text.startswith("rarity-overlap, polya")
    assert doubt.text.endswith("and stacked apply to these rows and were not tried.")
    assert not tried.gate(max_risk="99%").passed
    accepted = {one.code for one in tried.gate(max_risk="99%").doubts}
    assert tried.gate(max_risk="99%", accept=tuple(accepted)).passed


def test_a_whole_portfolio_is_none(result):
    assert "partial-portfolio" not in {one.code for one in result.doubts}


def test_one_call_tries_the_portfolio_within_the_effort():
    table = {"user": [1, 1, 2, 2, 3], "item": ["a", "b", "b", "c", "d"]}
    quick = link(table, table, effort="quick")
    assert [risk.attack for risk in quick.risks] == [
        "overlap", "rarity-overlap", "polya", "size-adjusted", "cosine", "cosine-csls",
    ]  # fmt: skip
    with refuses("invalid-study-file"):
        link(table, table, effort="most")


def test_a_result_notes_the_version_of_what_attacks_learn_with(result):
    assert "scikit-learn" in result.versions
    table = {"user": [1, 2], "item": ["a", "b"]}
    plain = link(table, table, attacks=["overlap"], everyone=True)
    assert "scikit-learn" not in plain.versions
    assert [one.attack for one in plain.assignments] == ["overlap"]


def test_a_plan_says_how_long_it_takes_and_what_is_left_out():
    source = source_of(baskets(60))
    whole = Study(attacks=[attack_named(one.name) for one in plan(source, None)], targets=None)
    assert "on one core" in plan_in_words(whole, source)
    assert "Left out" not in plan_in_words(whole, source)
    part = plan_in_words(Study(attacks=(Overlap(),), targets=None), source)
    assert part.startswith("1 attack is tried")
    assert "Left out: rarity-overlap" in part
