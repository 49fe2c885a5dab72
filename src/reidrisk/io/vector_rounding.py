"""Round the vectors of two tables to one grid, a row for each user, and say what that moved."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.doubts import CodedWarning
from reidrisk.core.machine import check_fits
from reidrisk.core.vector_rows import Grid, VectorRows
from reidrisk.errors import InvalidInput
from reidrisk.io.epochs import order_of
from reidrisk.io.labels import Coded, find, refuse_duplicate_users, union
from reidrisk.io.overlap_checks import check_slots
from reidrisk.io.vector_tables import SiteVectors

_ONE_VECTOR = (
    "keep one vector of each user, or their mean; or name the column that tells them apart, such "
    "as weeks, as the epoch, so that each epoch is a slot"
)
_NOTICED = 0.01
"""A note says how far rounding moves a vector at most, if that is a larger share of its length."""
_FAR, _MANY = 0.1, 0.01
"""A warning is due if rounding moves more than this share of vectors farther than that."""


@dataclass(eq=False, slots=True)
class _Moves:
    """How far rounding moves vectors, as shares of their lengths."""

    most: float = 0.0
    vectors: int = 0
    far: int = 0

    def add(self, shares: NDArray[np.float64]) -> None:
        self.most = max(self.most, float(shares.max(initial=0.0)))
        self.vectors += len(shares)
        self.far += int((shares > _FAR).sum())


@dataclass(frozen=True, eq=False, slots=True)
class _RoundedSites:
    """The vectors of two tables on one grid, users in the order of their labels.

    Args:
        known: Rows of the known table.
        anonymous: Those of the other one.
        slots: The epochs that are slots, if there are some.
        moves: How far rounding moved the vectors.
    """

    known: VectorRows
    anonymous: VectorRows
    slots: tuple[str, ...]
    moves: _Moves

    @property
    def notes(self) -> tuple[str, ...]:
        """What rounding moved, if anybody would notice."""
        if self.moves.most <= _NOTICED or self.warnings:
            return ()
        bits, most = self.known.grid.bits, 100 * self.moves.most
        note = f"Rounding numbers to {bits} bits moves no vector by more than {most:.2g} % of its"
        return (f"{note} length",)

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """That rounding moved many vectors far."""
        if self.moves.far <= _MANY * self.moves.vectors:
            return ()
        bits, moves = self.known.grid.bits, self.moves
        text = (
            f"Rounding to {bits} bits moves {moves.far:,} of {moves.vectors:,} vectors by more "
            f"than {100 * _FAR:.0f} % of their length, since a few numbers are so much larger than "
            "the others: clip or rescale them; the risk may be far higher than these figures say."
        )
        return (CodedWarning(text),)

    def epoch_warnings(self, where: str) -> Iterator[CodedWarning]:
        """Warnings about epochs that are slots; tables that have none in common are refused.

        Args:
            where: The two tables, as a message names them.
        """
        if self.slots:
            known, anonymous = (rows.present().sum(axis=0) for rows in (self.known, self.anonymous))
            yield from check_slots(np.array(self.slots, object), (known, anonymous), where)


def round_sites(here: SiteVectors, there: SiteVectors) -> _RoundedSites:
    """Round two tables to the finest grid that holds both.

    Args:
        here: Known rows.
        there: Anonymous rows.
    """
    _refuse_unlike(here, there)
    slots: tuple[NDArray[np.generic], NDArray[np.int64]] | None = None
    if here.epochs is not None and there.epochs is not None:
        labels = union(here.epochs.labels, there.epochs.labels)
        order = order_of(labels, f"{here.source} and {there.source}").places
        slots = labels, np.argsort(order)
    grid = Grid.of(*(block for site in (here, there) for _, block in site.blocks()))
    moves = _Moves()
    known, anonymous = (_rows_of(site, grid, slots, moves) for site in (here, there))
    names = () if slots is None else tuple(map(str, slots[0][np.argsort(slots[1])]))
    return _RoundedSites(known, anonymous, names, moves)


def _refuse_unlike(here: SiteVectors, there: SiteVectors) -> None:
    both = f"{here.source} and {there.source}"
    if here.dimensions != there.dimensions:
        raise InvalidInput(
            f"{both}: the vectors of one have {here.dimensions:,} numbers, and those of the other "
            f"{there.dimensions:,}; embed both by the same model, or cut both to the same numbers",
            code="dimensions-differ",
        )
    if (here.epochs is None) != (there.epochs is None):
        raise InvalidInput(
            f"{both}: a column of epochs is named for one of them only; name one in both, or in "
            "neither",
            code="conflicting-arguments",
        )


def _rows_of(
    site: SiteVectors,
    grid: Grid,
    slots: tuple[NDArray[np.generic], NDArray[np.int64]] | None,
    moves: _Moves,
) -> VectorRows:
    """The vectors of a table on a grid, a row for each user."""
    places = np.zeros(len(site.vectors), np.int64)
    width = 1
    if slots is None or site.epochs is None:
        refuse_duplicate_users(site.users, site.source, _ONE_VECTOR)
    else:
        places = slots[1][find(site.epochs.labels, slots[0])][site.epochs.codes]
        width = len(slots[0])
        _refuse_same_epoch(site.users, places, width, site)
    users = len(site.users.labels)
    what = f"{site.source}: {users:,} users with {width:,} slots of {site.dimensions:,} numbers"
    check_fits(2 * users * width * site.dimensions, what, "use coarser epochs, or fewer rows")
    gap = np.iinfo(grid.dtype).min
    values = np.full((users, width, site.dimensions), gap, grid.dtype)
    for rows, block in site.blocks():
        steps = grid.round(block)
        if (zero := ~steps.any(axis=1)).any():
            raise InvalidInput(
                f"{site.source.place(rows.start + int(zero.argmax()))}: all numbers of the vector "
                "are zero, or so near to zero beside the largest of both tables that rounding to "
                f"{grid.bits} bits makes them so; such a vector has no direction that could be "
                "compared: leave this row out, and rows like it",
                code="zero-vector",
            )
        exact = block.astype(np.float64) * grid.scale
        off = np.sqrt(((steps - exact) ** 2).sum(axis=1) / (exact**2).sum(axis=1))
        moves.add(off)
        values[site.users.codes[rows], places[rows]] = steps
    return VectorRows(values, scale=grid.scale)


def _refuse_same_epoch(
    users: Coded, places: NDArray[np.int64], width: int, site: SiteVectors
) -> None:
    cells = users.codes.astype(np.int64) * width + places
    order = np.argsort(cells, kind="stable")
    if (again := np.diff(cells[order]) == 0).any():
        at = int(again.argmax())
        first, second = (site.source.place(int(order[row])) for row in (at, at + 1))
        raise InvalidInput(
            f"{second}: the same user and epoch as in {first}; a user has one vector in an epoch "
            "here: keep one of them, or their mean",
            code="duplicate-row",
        )
