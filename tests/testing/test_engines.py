"""The promises of engines, kept by ours and missed by broken ones."""

from dataclasses import dataclass, replace
from functools import reduce as fold

import numpy as np
import pytest

from reidrisk.core.matches import Matches
from reidrisk.engines import LocalEngine, Searches
from reidrisk.engines.protocol import Room
from reidrisk.testing import check_engine


class Plain(Searches):
    """A backend in a few lines: one piece of work for every block, merged one by one."""

    @property
    def room(self):
        return Room(threads=2, rows=50, memory=1 << 30)

    def blocks(self, rows, step, most):
        step = step or self.room.rows_together(rows.users, most)
        for start in range(0, rows.users, step):
            yield start, rows.block(start, min(start + step, rows.users))

    def merged(self, merge, parts):
        return fold(merge, parts)

    def reduce(self, rows, work, merge, *, step=None, most=1 << 36, pairs=0):
        parts = [work(iter([block])) for block in self.blocks(rows, step, most)]
        return self.merged(merge, parts)


@pytest.mark.parametrize("engine", [LocalEngine(threads=3, rows=20), Plain()])
def test_our_engines_keep_every_promise(engine):
    check_engine(engine)


class Backwards(Plain):
    """Order does not matter: this one is right, too."""

    def merged(self, merge, parts):
        return fold(merge, parts[::-1])


def test_the_order_of_merging_does_not_matter():
    check_engine(Backwards())


class LosesARow(Plain):
    def blocks(self, rows, step, most):
        for start, block in super().blocks(rows, step, most):
            yield start, block if start == 0 else block[1:]


class OwnBlocks(Plain):
    def blocks(self, rows, step, most):
        return super().blocks(rows, 10, most)


class LastPart(Plain):
    def merged(self, merge, parts):
        return parts[-1]


class Twice(Plain):
    def merged(self, merge, parts):
        return fold(merge, [*parts, parts[0]])


@dataclass(frozen=True)
class LosesTies(Plain):
    def search(self, observations, score, **wanted):
        found = super().search(observations, score, **wanted)
        return replace(found, ties=np.ones_like(found.ties))


class ForgetsOrder(Plain):
    """Lists the best rows with the last of equal ones first."""

    def search(self, observations, score, **wanted):
        found = super().search(observations, score, **wanted)
        return replace(found, best_rows=found.best_rows[:, ::-1])


class CountsItself(Plain):
    """Takes the truth for one of those level with it."""

    def search(self, observations, score, **wanted):
        found = super().search(observations, score, **wanted)
        return replace(found, level=found.level + (found.above == 0))


class CountsOn(Plain):
    """Counts further than it was asked to."""

    def search(self, observations, score, *, ranks=1, **wanted):
        found = super().search(observations, score, ranks=None, **wanted)
        return replace(found, ranks=ranks)


class SecondIsTheFirst(Plain):
    """Takes the best row for the second best too."""

    def search(self, observations, score, **wanted):
        found = super().search(observations, score, **wanted)
        return replace(found, second=None if found.second is None else found.best)


class KnowsStrangers(Plain):
    """Compares somebody with the truth of strangers, who have none."""

    def search(self, observations, score, **wanted):
        found = super().search(observations, score, **wanted)
        return replace(found, above=np.maximum(found.above, 0))


class CurvesOfTheBest(Plain):
    """Forgets how far to count along a curve."""

    def curves(self, observations, scores, slots, *, ranks=1):
        return super().curves(observations, scores, slots, ranks=1)


class FirstShardWins(Plain):
    """Merges by keeping what came first: right only if nothing is cut."""

    def merged(self, merge, parts):
        if isinstance(parts[0], Matches):
            return parts[0]
        return fold(merge, parts)


class OnlyCredit(Plain):
    def credit(self, observations, score):
        return super().credit(observations, score) / 2


class OnlyEvidence(Plain):
    def evidence(self, observations, score):
        return super().evidence(observations, score) + 1e-3


class PickyAboutScores(Plain):
    def search(self, observations, score, **wanted):
        if type(score).__name__ == "OneSlot":
            score = type(
                "Nothing", (), {"check": lambda *_: None, "of": lambda *a: 0 * a[1][:, 0]}
            )()
        return super().search(observations, score, **wanted)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (LosesARow, "every row be seen once"),
        (OwnBlocks, "blocks of the size asked for"),
        (LastPart, "every row be seen once"),
        (Twice, "nothing twice"),
        (LosesTies, "the reference's answer for TokenWeights"),
        (ForgetsOrder, "the reference's answer for TokenWeights"),
        (CountsItself, "the reference's answer for TokenWeights, ranks"),
        (CountsOn, "the reference's answer for TokenWeights, ranks"),
        (SecondIsTheFirst, "the reference's answer for TokenWeights, the second best"),
        (KnowsStrangers, "the reference's answer for TokenWeights, if strangers are met"),
        (CurvesOfTheBest, "the reference's answer for TokenWeights, curves"),
        (FirstShardWins, "the reference's answer for"),
        (OnlyCredit, "credit"),
        (OnlyEvidence, "evidence"),
        (PickyAboutScores, "the reference's answer for OneSlot"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    with pytest.raises(AssertionError, match=promise):
        check_engine(broken())
