"""Small people and the test that a simulation follows exact chances."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from reidrisk.people.protocol import Cells

RARE = 1e-4  # seeds are fixed: a smaller p-value means that the code has changed for the worse


@dataclass(frozen=True, eq=False)
class Fixed:
    """People with given top sets, users x epochs x top, all of whose members count alike."""

    sets: np.ndarray
    tokens: int
    ids: np.ndarray

    @classmethod
    def of(cls, sets, tokens, ids=None):
        sets = np.array(sets, np.int32)
        return cls(sets, tokens, np.arange(len(sets)) if ids is None else np.array(ids))

    @classmethod
    def copies(cls, sets, tokens, users):
        """Many users who all have the sets of one."""
        return cls.of(np.tile(np.array(sets, np.int32), (users, 1, 1)), tokens)

    @property
    def users(self):
        return len(self.sets)

    @property
    def epochs(self):
        return self.sets.shape[1]

    @property
    def complete(self):
        return bool((self.sets >= 0).all())

    def cells(self, start, stop):
        sets = np.sort(self.sets[start:stop], axis=2).reshape(-1, self.sets.shape[2])
        sizes = (sets >= 0).sum(axis=1)
        members = sets[sets >= 0]
        return Cells(np.concatenate([[0], np.cumsum(sizes)]), members, np.ones(members.size))

    def top_sets(self, start, stop, *, top, seed, priority=None):
        del seed
        sets = self.sets[start:stop]
        if priority is not None:
            order = np.argsort(-priority[sets].astype(int), axis=2, kind="stable")
            sets = np.take_along_axis(sets, order, axis=2)
        return sets[:, :, :top]


def p_value(columns, chances):
    """Of a chi-square test that columns are drawn with these chances; rare ones are joined."""
    counts = np.bincount(columns, minlength=chances.size).astype(float)
    assert not counts[chances == 0].any()
    expected = chances * len(columns)
    often = expected >= 5
    counts = np.append(counts[often], counts[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    keep = expected > 0
    counts, expected = counts[keep], expected[keep]
    if expected.size == 1:
        return 1.0
    return stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue
