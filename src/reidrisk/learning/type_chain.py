"""A network that learns on a laptop what two sites show: types of users that drift, and copies.

A user has a class in each slot. From slot to slot the class is kept with a chance of its own, or
else drawn anew. Given the class, the known site shows a symbol; the other site shows the same one
with a chance that depends on class and symbol, or else another. All tables are made of free
numbers, so everything is learned by gradients; and every probability is exact, because a sum over
all ways through the classes is a recursion.  Decision 0106 says why it is built like this.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.learning.hardware import torch
from reidrisk.learning.latent_types import fit_types
from reidrisk.learning.looks import Training
from reidrisk.observations import MISSING

Floats = NDArray[np.float64]
Symbols = NDArray[np.integer]

FLOOR = 1e-4
"""The least chance to keep, leave, copy or not, and the share of a class's chances that all symbols
have alike. Nothing is impossible, and products of chances stay within single precision."""

KEEP, COPY = 0.95, 0.2
"""Chances to keep a class and to copy, before anything is learned."""

SPREAD = 0.5
"""Of the logarithms of a class's chances around everyone's, from scratch."""


class Tables(NamedTuple):
    """The chances of a chain of K classes over S symbols, the gap being the last.

    Attributes:
        weights: K; of the class in the first slot, and of one that is drawn anew.
        keep: K; that a class is kept to the next slot.
        known: K x S; of what the known site shows.
        copy: K x S; that the other site shows the same symbol.
        other: K x S; of what it shows else. The known symbol a left out, it is b with chance
            `other[b] / (1 - other[a])`.
    """

    weights: Floats
    keep: Floats
    known: Floats
    copy: Floats
    other: Floats


class TypeChain(torch.nn.Module):  # type: ignore[misc]
    """Classes that drift, and copies.

    Args:
        tables: Where it begins.
        conditional: Whether it tells what a site shows given what the known site shows; else it
            tells a site alone, by the chances `other`.
    """

    def __init__(self, tables: Tables, *, conditional: bool) -> None:
        super().__init__()
        self.weights = _free(np.log(tables.weights))
        self.keep = _free(_logit(tables.keep))
        self.other = _free(_log(tables.other).T)
        if conditional:
            self.known = _free(_log(tables.known).T)
            self.copy = _free(_logit(tables.copy).T)

    def nats(self, source: Any | None, target: Any) -> Any:
        """Surprise at each symbol of rows, given those before it and all of the known row.

        Args:
            source: Symbols of the known site, rows x slots; None for a site alone.
            target: Symbols of the other site.

        Returns:
            Rows x slots; a row's sum is minus the logarithm of its chance.
        """
        other = _spread(self.other)
        if source is None:
            return self._surprise(_of(other, target))
        copy, size, copied = _inside(self.copy), len(other), source == target
        # One look into each table: a copy is told by the known symbol alone.
        first = torch.cat([(1 - copy) / (1 - other), copy])
        second = torch.cat([other, torch.ones_like(other[:1])])
        shown = _of(first, source + size * copied) * _of(second, target.masked_fill(copied, size))
        return self._surprise(shown, _of(_spread(self.known), source))

    def tables(self) -> Tables:
        """The chances in double precision, for an attack; of a conditional chain."""
        numbers = {name: one.detach().cpu().double() for name, one in self.named_parameters()}
        return Tables(
            numbers["weights"].softmax(0).numpy(),
            _inside(numbers["keep"]).numpy(),
            _spread(numbers["known"]).T.numpy(),
            _inside(numbers["copy"]).T.numpy(),
            _spread(numbers["other"]).T.numpy(),
        )

    def _surprise(self, shown: Any, known: Any | None = None) -> Any:
        """Both are chances of symbols, rows x slots x classes; `shown` those given `known`.

        Given all that the known site shows, classes are a chain again. Its chances to go on are
        those of the classes times `after`, the chance of what is known from the next slot on, over
        `ahead`, the same before the next class is drawn.
        """
        weights, keep = self.weights.softmax(0), _inside(self.keep)
        leave = 1 - keep
        slots = shown.shape[1]
        after, ahead = [torch.ones_like(shown[:, 0])] * slots, [None] * slots
        if known is not None:
            for slot in range(slots)[::-1]:
                later = known[:, slot]
                if slot + 1 < slots:
                    ahead[slot] = (
                        after[slot + 1] * keep + (after[slot + 1] @ weights)[:, None] * leave
                    )
                    later = later * ahead[slot]
                # Any scale will do, as it is divided by; so it needs no gradient.
                after[slot] = later / later.detach().sum(1, keepdim=True)
        belief = weights * after[0]
        belief = belief / belief.sum(1, keepdim=True)
        told = []
        for slot in range(slots):
            belief = belief * shown[:, slot]
            told.append(belief.sum(1))
            belief = belief / told[-1][:, None]
            if slot + 1 < slots:
                if known is not None:
                    belief = belief / ahead[slot]
                belief = belief * keep + (belief @ leave)[:, None] * weights
                if known is not None:
                    belief = belief * after[slot + 1]
        return -torch.stack(told, 1).log()


def begun(
    known: Symbols,
    shown: Symbols,
    tokens: int,
    *,
    conditional: bool,
    seed: int = 0,
    begin: str = "types",
    classes: int = 64,
) -> TypeChain:
    """A chain before training: from types found by EM, or from everyone's chances and noise."""
    size = tokens + 1
    known, shown = (np.where(rows == MISSING, tokens, rows) for rows in (known, shown))
    chance = np.random.default_rng(seed)
    if begin == "types":
        rows = np.concatenate([known, np.where(known == shown, MISSING, shown)], axis=1)
        fit = fit_types(rows, tokens=size, top=1, noise=0, types=classes, seed=seed)
        weights, chances = fit.weights, fit.inclusion
        both = (chances, chances)
        keep = 0.99
    else:
        weights = np.full(classes, 1 / classes)
        noise = np.exp(SPREAD * chance.standard_normal((classes, size)))
        both = tuple(_popularity(rows, size) * noise for rows in (known, shown))
        both = tuple(one / one.sum(1, keepdims=True) for one in both)
        keep = KEEP
    copy = float((known == shown).mean())
    return TypeChain(
        Tables(weights, np.full(classes, keep), both[0], np.full((classes, size), copy), both[1]),
        conditional=conditional,
    )


def _popularity(rows: Symbols, size: int) -> Floats:
    counts = np.bincount(rows.reshape(-1), minlength=size) + 0.5
    return counts / counts.sum()


def _free(start: Floats) -> Any:
    return torch.nn.Parameter(torch.tensor(np.ascontiguousarray(start), dtype=torch.float32))


def _of(table: Any, symbols: Any) -> Any:
    return torch.nn.functional.embedding(symbols, table)


def _spread(logits: Any) -> Any:
    """Chances of symbols x classes, each class a sum of 1."""
    return (1 - FLOOR) * logits.softmax(0) + FLOOR / len(logits)


def _inside(logits: Any) -> Any:
    """Chances that are neither 0 nor 1."""
    return FLOOR + (1 - 2 * FLOOR) * logits.sigmoid()


def _log(chances: Floats) -> Floats:
    """What `_spread` makes these chances of, transposed; or nearly, if some are below the floor."""
    rest = chances - FLOOR / chances.shape[1]
    return np.asarray(np.log(np.maximum(rest, 1e-9)))


def _logit(chances: Floats) -> Floats:
    rest = np.clip((chances - FLOOR) / (1 - 2 * FLOOR), 1e-6, 1 - 1e-6)
    return np.asarray(np.log(rest / (1 - rest)))
