"""A register of the whole population: how many in it share the values of each record (k-map)."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.estimates import Estimate
from reidrisk.risk.tables.singling.groups import Codes, Whole, keys, numbered
from reidrisk.risk.tables.singling.result import EXACT, RegisterCrowds
from reidrisk.risk.tables.singling.sizes import by_size

NOWHERE = -1


def crowds(columns: Sequence[Codes], register: Sequence[Codes]) -> Whole:
    """For each record, how many people of the register have the same values."""
    translated = [_in_terms_of(one, other) for one, other in zip(columns, register, strict=True)]
    inside = np.logical_and.reduce([codes != NOWHERE for codes in translated])
    both = [
        Codes(one.name, np.concatenate([one.codes, codes[inside]]), one.values)
        for one, codes in zip(columns, translated, strict=True)
    ]
    group, groups = numbered(keys(both))
    records = len(columns[0].codes)
    return np.bincount(group[records:], minlength=groups)[group[:records]]


def register_crowds(k: Whole, crowd: Whole, people: int) -> RegisterCrowds:
    """What the crowds say of a table with groups of these sizes."""
    found = crowd > 0
    # At least as many people share the values as the table itself holds.
    shared = np.maximum(crowd, k)[found]
    people_of = np.bincount(shared, minlength=2)
    sizes = np.flatnonzero(people_of)
    right = sum((Fraction(int(people_of[size]), int(size)) for size in sizes), Fraction(0))
    return RegisterCrowds(
        people=people,
        found=len(shared),
        not_found=int((~found).sum()),
        short=int((crowd[found] < k[found]).sum()),
        unique=int(people_of[1]),
        smallest=int(sizes[0]) if len(sizes) else 0,
        sizes=by_size(people_of, whole=False),
        optimum=Estimate.computed(float(right / max(len(shared), 1)), EXACT),
    )


def _in_terms_of(column: Codes, register: Codes) -> Whole:
    """The register's cells as numbers of the table's values."""
    values, wanted = column.values, register.values
    if values.type != wanted.type:  # a number in one file may be text in the other
        values, wanted = values.cast(pa.large_string()), wanted.cast(pa.large_string())
    place = pc.index_in(wanted, value_set=values).fill_null(NOWHERE)
    return np.asarray(place.to_numpy(zero_copy_only=False), np.int64)[register.codes]
