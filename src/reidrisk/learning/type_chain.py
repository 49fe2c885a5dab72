"""A network for a chain of hidden types, small enough for a laptop.

A user has a class in each slot. From slot to slot the class is kept with a chance of its own, or
else drawn anew. Given the class, the known site shows a symbol; the other site shows the same one
with a chance that depends on class and symbol, or else another. All of it is made of free numbers
and learned by gradients; and every probability is exact, because a sum over all ways through the
classes is a recursion. Decision 26 says why it is built like this.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.errors import InvalidInput
from reidrisk.learning.hardware import torch
from reidrisk.learning.latent_types import choose_types, fit_types
from reidrisk.learning.pairs import symbols_of

Floats = NDArray[np.float64]
Symbols = NDArray[np.integer]

FLOOR = 1e-4
"""The least chance to keep, leave, copy or not copy, and the share of a class's chances that is
spread evenly over symbols. So nothing is impossible, and products stay within single precision."""

_KEEP = 0.95
"""Chance to keep a class, from scratch."""

_KEEPS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.999)
"""Chances to keep a class that are tried, where there are types."""

_TRIALS = tuple(itertools.product((1.0, 0.5, 0.0), (0.02, 0.98)))
"""Values of `trust` and `fresh` that are tried with each of `_KEEPS`."""

_TRIED = 2_000
"""Users they are tried on."""

_SPREAD = 0.5
"""Of the logarithms of a class's chances around everyone's, from scratch."""

_PSEUDO = 4.0
"""Added to the count of each symbol at each site, so that rare symbols do not differ by chance."""

_PSEUDO_COPIES = 32.0
"""Added to the count of each symbol, copied as often as symbols are on average."""

_RARE = 1e-4
"""Chance of a symbol in a class at which only half as many are copied, before training."""

_SIGHTINGS, _USERS = 3_200_000, 200_000
"""Types are fitted to so many users, or to more if rows are short."""

_USERS_PER_CLASS = 20
"""With fewer users, there are fewer classes."""

_ENOUGH = 50_000
"""From this many users on, the most classes are taken; with fewer users, fewer are tried too."""


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


class TypeChainNetwork(torch.nn.Module):
    """Classes that drift, and copies.

    What a class shows is the same at both sites, but for how popular a symbol is at each, and for
    `trust`: with 0, the known site shows the same in all classes and says nothing about them. How
    often a symbol is copied depends on the class, the symbol, and how rare it is in the class; as
    far as the other site draws anew (`fresh`), it is the same symbol by chance alone.

    Args:
        classes: How many.
        symbols: How many, the gap included.
        conditional: Whether it tells what a site shows given what the known site shows; else it
            tells a site alone.
    """

    def __init__(self, classes: int, symbols: int, *, conditional: bool) -> None:
        super().__init__()

        def free(*shape: int) -> Any:
            return torch.nn.Parameter(torch.zeros(shape))

        self.weights, self.keep = free(classes), free(classes)
        self.shown, self.other_site = free(symbols, classes), free(symbols, 1)
        if conditional:
            self.known_site, self.trust = free(symbols, 1), free()
            self.copy_class, self.copy_symbol = free(classes), free(symbols, 1)
            self.rare, self.fresh = free(), free()

    def nats(self, source: Any | None, target: Any) -> Any:
        """Surprise at each symbol of rows, given those before it and all of the known row.

        Args:
            source: Symbols of the known site, rows x slots; None for a site alone.
            target: Symbols of the other site.

        Returns:
            Rows x slots; a row's sum is minus the logarithm of its chance.
        """
        other = _spread(self.shown + self.other_site)
        if source is None:
            return self._surprise(_of(other, target))
        known, copy = self._known_and_copy(other)
        # One look-up in each of two tables: a copy depends on the known symbol alone.
        size, copied = len(other), source == target
        first = torch.cat([(1 - copy) / (1 - other), copy])
        second = torch.cat([other, torch.ones_like(other[:1])])
        shown = _of(first, source + size * copied) * _of(second, target.masked_fill(copied, size))
        return self._surprise(shown, _of(known, source))

    def tables(self) -> Tables:
        """The chances of a conditional chain in double precision, for an attack."""
        exact = TypeChainNetwork(self.keep.numel(), len(self.shown), conditional=True).double()
        exact.load_state_dict(self.state_dict())
        with torch.no_grad():
            other = _spread(exact.shown + exact.other_site)
            known, copy = exact._known_and_copy(other)  # noqa: SLF001  it is the same class
            arrays = (
                exact.weights.softmax(0),
                _inside(exact.keep.sigmoid()),
                known.T,
                copy.T,
                other.T,
            )
            return Tables(*(np.ascontiguousarray(one.numpy()) for one in arrays))

    def _known_and_copy(self, other: Any) -> tuple[Any, Any]:
        known = _spread(self.trust * self.shown + self.known_site)
        often = (self.copy_class + self.copy_symbol).sigmoid()
        copied = often * (known.log() - self.rare).sigmoid()
        return known, _inside(torch.lerp(copied, other, self.fresh.sigmoid()))

    def _surprise(self, shown: Any, known: Any | None = None) -> Any:
        """Both are chances of symbols by class, rows x slots x classes.

        Given all that the known site shows, the classes are a chain again: `after` a slot begins is
        the chance of all that is known from there on, `ahead` of a slot the same of what follows.
        """
        weights, keep = self.weights.softmax(0), _inside(self.keep.sigmoid())
        after, ahead = _futures(shown if known is None else known, weights, keep, known is None)
        belief = after[0] * weights
        belief = belief / belief.sum(1, keepdim=True)
        told = []
        for slot in range(shown.shape[1]):
            if slot:
                belief = belief / ahead[slot - 1]
                belief = belief * keep + (belief @ (1 - keep))[:, None] * weights
                belief = belief * after[slot]
            belief = belief * shown[:, slot]
            told.append(belief.sum(1, keepdim=True))
            belief = belief / told[-1]
        return -torch.cat(told, 1).log()


def begun(
    known: Symbols,
    shown: Symbols,
    tokens: int,
    *,
    conditional: bool,
    seed: int,
    begin: str = "types",
    classes: int = 64,
) -> TypeChainNetwork:
    """A chain before training.

    Args:
        known: What the known site shows of training users, users x slots, gaps as `MISSING` or as
            the symbol `tokens`.
        shown: What the other site shows of them.
        tokens: Size of the alphabet.
        conditional: Whether it is to tell what the other site shows given the known site.
        seed: Of all chance.
        begin: "types", found by EM in both sites' rows; or "scratch": everyone's chances and noise.
        classes: The most. A site alone that shows one symbol needs only one; a class has
            `_USERS_PER_CLASS` users or more; and where there are few users, a fourth or a sixteenth
            is taken if that tells others better.
    """
    size = tokens + 1
    known, shown = (symbols_of(rows, tokens) for rows in (known, shown))
    if not conditional and shown.shape[1] == 1:
        classes = 1
    classes = min(classes, max(len(shown) // _USERS_PER_CLASS, 1))
    if begin == "scratch":
        noise = np.random.default_rng(seed).standard_normal((classes, size))
        everyone = _counts(known, size) + _counts(shown, size)
        start = np.ones(classes), everyone / everyone.sum() * np.exp(_SPREAD * noise)
        chain = _begun_at(start, known, shown, conditional=conditional)
        _set_scalars(chain, _KEEP, *_TRIALS[0])
        return chain
    if begin != "types":
        raise InvalidInput(
            f"a chain begins from types or from scratch, got {begin!r}", code="unknown-choice"
        )
    # A copied symbol says nothing new about a type; counted twice it would make a type of its own.
    rows = np.concatenate([known, np.where(known == shown, MISSING, shown)], axis=1)
    chain = _begun_at(_types(rows, size, classes, seed), known, shown, conditional=conditional)
    _try(chain, known, shown)
    if conditional and not chain.trust and shown.shape[1] > 1:
        # The known site says nothing about the class, so types are fitted to the rows of each site.
        start = _types(np.concatenate([known, shown]), size, classes, seed)
        chain = _begun_at(start, known, shown, conditional=True)
        _try(chain, known, shown)
    return chain


def _types(rows: Symbols, size: int, classes: int, seed: int) -> tuple[Floats, Floats]:
    """Shares of types, and chances of symbols in each."""
    plain = {"tokens": size, "top": 1, "noise": 0, "seed": seed}
    if classes > 1 and len(rows) < _ENOUGH:
        fewer = tuple(dict.fromkeys(max(classes // share, 1) for share in (1, 4, 16, classes)))
        classes = choose_types(rows, fewer, **plain)
    users = max(_USERS, _SIGHTINGS // rows.shape[1])
    fit = fit_types(rows, types=classes, users=users, **plain)
    # Logarithms are taken of the weights, and a type may have ended with none.
    return np.maximum(fit.weights, FLOOR / classes), fit.inclusion


def _begun_at(
    start: tuple[Floats, Floats], known: Symbols, shown: Symbols, *, conditional: bool
) -> TypeChainNetwork:
    """A chain of these classes, and for the rest what is counted in rows."""
    weights, chances = start
    size = chances.shape[1]
    chain = TypeChainNetwork(weights.size, size, conditional=conditional)
    known_counts, shown_counts = _counts(known, size), _counts(shown, size)
    mean = (known_counts + shown_counts) / 2
    _set(chain.weights, np.log(weights))
    _set(chain.shown, np.log(np.maximum(chances, FLOOR / size)).T)
    _set(chain.other_site, np.log(shown_counts / mean)[:, None])
    if conditional:
        _set(chain.known_site, np.log(known_counts / mean)[:, None])
        copied = known == shown
        # Neither 0 nor 1, even if all symbols or none were copied, so that the logit is finite.
        rate = (copied.sum() + 1) / (copied.size + 2)
        copies = np.bincount(known[copied], minlength=size) + _PSEUDO_COPIES * rate
        # `_counts` has added `_PSEUDO`, which are no symbols that could have been copied.
        rates = copies / (known_counts - _PSEUDO + _PSEUDO_COPIES)
        _set(chain.copy_symbol, _logit(rates)[:, None])
        _set(chain.rare, np.log(_RARE))
    return chain


def _try(chain: TypeChainNetwork, known: Symbols, shown: Symbols) -> None:
    """Set `keep`, `trust` and `fresh` to the values under which rows are most likely."""
    conditional = hasattr(chain, "trust")
    source, target = (torch.tensor(rows[:_TRIED]).long() for rows in (known, shown))

    def reached(numbers: tuple[float, tuple[float, float]]) -> float:
        _set_scalars(chain, numbers[0], *numbers[1])
        with torch.no_grad():
            return float(chain.nats(source if conditional else None, target).mean())

    # With one slot there is no next one to keep a class to.
    keeps = _KEEPS if shown.shape[1] > 1 else _KEEPS[-1:]
    # Called once more with the best, which leaves them set in the chain.
    reached(min(itertools.product(keeps, _TRIALS if conditional else _TRIALS[:1]), key=reached))


def _set_scalars(chain: TypeChainNetwork, keep: float, trust: float, fresh: float) -> None:
    _set(chain.keep, _logit(np.full(chain.keep.numel(), keep)))
    if hasattr(chain, "trust"):
        _set(chain.trust, trust)
        _set(chain.fresh, _logit(np.array(fresh)))


def _futures(known: Any, weights: Any, keep: Any, nothing: bool) -> tuple[list[Any], list[Any]]:
    """For each slot and class: the chance of what is known from this slot on, and after it.

    Both are scaled by a factor that cancels later, so it needs no gradient.
    """
    slots = known.shape[1]
    one = torch.ones_like(known[:, 0])
    if nothing:
        return [one] * slots, [one] * slots
    after, ahead = [], [one]
    for slot in reversed(range(slots)):
        here = known[:, slot] * ahead[-1]
        after.append(here / here.detach().sum(1, keepdim=True))
        ahead.append(after[-1] * keep + (after[-1] @ weights)[:, None] * (1 - keep))
    return after[::-1], ahead[-2::-1]


def _of(table: Any, symbols: Any) -> Any:
    return torch.nn.functional.embedding(symbols, table)


def _spread(logits: Any) -> Any:
    """Chances of symbols x classes: those of a class sum to 1."""
    return (1 - FLOOR) * logits.softmax(0) + FLOOR / len(logits)


def _inside(chances: Any) -> Any:
    """Neither 0 nor 1."""
    return FLOOR + (1 - 2 * FLOOR) * chances


def _logit(chances: Floats) -> Floats:
    return np.asarray(np.log(chances / (1 - chances)))


def _set(parameter: Any, values: Any) -> None:
    with torch.no_grad():
        parameter.copy_(torch.tensor(values))


def _counts(rows: Symbols, size: int) -> Floats:
    counts: Floats = np.bincount(rows.reshape(-1), minlength=size).astype(np.float64)
    return counts + _PSEUDO
