"""Compiled loops over the entries of a matrix.

There are two layouts: rows of a C-ordered array, and segments, where column `o` is
`values[starts[o]:starts[o + 1]]` (sparse columns, or a Fortran-ordered array). Nothing is checked
here, since a matrix is checked when it is made.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel

Floats = NDArray[np.float64]
Numbers = NDArray[Any]

_SPLITTER = 2.0**27 + 1
"""Cuts a float into two halves whose products are exact."""

_STRIP = 8
"""Rows that are compared at once; the winning strip is searched again for the winning row."""


@kernel
def sum_in_two_parts(values: Floats) -> tuple[float, float, float]:
    """Sum as high + low, as if carried in twice the precision (Neumaier 1974).

    The third number is the sum of all roundings without their signs: 0 if there were none.
    """
    high = low = rounded = 0.0
    for value in values:
        total = high + value
        # What a sum loses by rounding is found exactly only if the larger part comes first.
        larger, smaller = (high, value) if abs(high) >= abs(value) else (value, high)
        lost = (larger - total) + smaller
        low += lost
        rounded += abs(lost)
        high = total
    return high, low, rounded


@kernel
def best_in_rows(rows: Floats, weights: Floats, best: Floats, where: Numbers) -> None:
    """Per column the largest weighted entry and the first row of a strip that holds it."""
    # Eight rows at a time: `best` and `where` are read and written once per strip, not per row,
    # and comparisons without branches become vector instructions.
    for start in range(0, rows.shape[0] - _STRIP + 1, _STRIP):
        a, b, c, d = rows[start], rows[start + 1], rows[start + 2], rows[start + 3]
        e, f, g, h = rows[start + 4], rows[start + 5], rows[start + 6], rows[start + 7]
        w = weights[start : start + _STRIP]
        for column in range(rows.shape[1]):
            ab = max(w[0] * a[column], w[1] * b[column])
            cd = max(w[2] * c[column], w[3] * d[column])
            ef = max(w[4] * e[column], w[5] * f[column])
            gh = max(w[6] * g[column], w[7] * h[column])
            strip = max(ab, cd, ef, gh)
            better = strip > best[column]
            best[column] = strip if better else best[column]
            where[column] = start if better else where[column]
    for row in range(rows.shape[0] // _STRIP * _STRIP, rows.shape[0]):
        for column in range(rows.shape[1]):
            value = weights[row] * rows[row, column]
            if value > best[column]:
                best[column] = value
                where[column] = row


@kernel
def first_in_strip(rows: Floats, weights: Floats, best: Floats, where: Numbers) -> None:
    """Turn strips into the first row that holds the best entry."""
    for column in range(rows.shape[1]):
        # Ends within the strip: the winner's product is computed again and rounded alike.
        while weights[where[column]] * rows[where[column], column] < best[column]:
            where[column] += 1


@kernel
def best_in_columns(columns: Floats, weights: Floats, best: Floats, where: Numbers) -> None:
    """As `best_in_rows` and `first_in_strip`, for contiguous columns `columns[column, row]`."""
    count = columns.shape[1]
    for column in range(columns.shape[0]):
        values = columns[column]
        top = 0.0
        first = 0
        for start in range(0, count - _STRIP + 1, _STRIP):
            v, w = values[start : start + _STRIP], weights[start : start + _STRIP]
            low = max(w[0] * v[0], w[1] * v[1], w[2] * v[2], w[3] * v[3])
            high = max(w[4] * v[4], w[5] * v[5], w[6] * v[6], w[7] * v[7])
            if max(low, high) > top:
                top = max(low, high)
                first = start
        for row in range(count // _STRIP * _STRIP, count):
            if weights[row] * values[row] > top:
                top = weights[row] * values[row]
                first = row
        while weights[first] * values[first] < top:
            first += 1
        best[column] = top
        where[column] = first


@kernel
def best_in_segments(
    values: Floats, rows: Numbers, starts: Numbers, best: Floats, where: Numbers
) -> None:
    """Per segment the largest value and the first row that holds it (0 and row 0 where empty)."""
    for column in range(len(starts) - 1):
        for place in range(starts[column], starts[column + 1]):
            if values[place] > best[column]:
                best[column] = values[place]
                where[column] = rows[place]


@kernel
def someone_in_rows(rows: Floats, someone: Floats) -> None:
    """Per column the chance that at least one row shows it, `1 - prod(1 - p)`.

    The step `u + p (1 - u)` neither cancels for tiny p nor underflows for many rows, as the
    product does, and needs no logarithm.
    """
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            someone[column] += rows[row, column] * (1.0 - someone[column])


@kernel
def someone_in_segments(values: Floats, starts: Numbers, someone: Floats) -> None:
    """As `someone_in_rows`, per segment; four independent parts keep the processor busy."""
    for column in range(len(starts) - 1):
        a = b = c = d = 0.0
        place = starts[column]
        while place + 4 <= starts[column + 1]:
            a += values[place] * (1.0 - a)
            b += values[place + 1] * (1.0 - b)
            c += values[place + 2] * (1.0 - c)
            d += values[place + 3] * (1.0 - d)
            place += 4
        while place < starts[column + 1]:
            a += values[place] * (1.0 - a)
            place += 1
        # Users are independent of each other, so the parts join by the same step.
        a += b * (1.0 - a)
        c += d * (1.0 - c)
        someone[column] = a + c * (1.0 - a)


@kernel
def first_exceeding(
    lanes: Floats, everyone: Floats, factor: float, delta: float, start: int
) -> int:
    """First row q, from `start`, with `sum_o max(p[o] - factor q[o], 0) > delta` for a lane p.

    `lanes[representation, lane]`, so that the inner loop needs no sum across lanes. A sum that is
    too close to delta for a float to tell is carried in twice the precision.
    """
    excess = np.empty(lanes.shape[1])
    # Bounds the rounding of a sum of so many parts, all of rows that sum to 1.
    doubt = (lanes.shape[0] + 4) * 2.0**-52
    for row in range(start, everyone.shape[0]):
        excess[:] = 0.0
        for representation in range(lanes.shape[0]):
            allowed = factor * everyone[row, representation]
            for lane in range(lanes.shape[1]):
                excess[lane] += max(lanes[representation, lane] - allowed, 0.0)
        if excess.max() <= delta - doubt:
            continue
        for lane in range(lanes.shape[1]):
            if excess[lane] > delta + doubt:
                return row
            if excess[lane] > delta - doubt and _exceeds(
                lanes[:, lane], everyone[row], factor, delta
            ):
                return row
    return len(everyone)


@kernel
def _exceeds(one: Floats, other: Floats, factor: float, delta: float) -> bool:
    """Whether `sum_o max(one[o] - factor other[o], 0) > delta`, in twice the precision."""
    high, low = -delta, 0.0
    for place in range(len(one)):
        product, product_low = _exact_product(factor, other[place])
        part, part_low = _exact_sum_of_two(one[place], -product)
        part_low -= product_low
        if not part + part_low <= 0.0:  # nor where a product is beyond all floats
            high, lost = _exact_sum_of_two(high, part)
            low += lost + part_low
    return not high + low <= 0.0


@kernel
def _exact_sum_of_two(a: float, b: float) -> tuple[float, float]:
    """A float and a smaller one that are a + b together (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def _exact_product(a: float, b: float) -> tuple[float, float]:
    """A float and a smaller one that are a times b together (Dekker)."""
    product = a * b
    a_high = a * _SPLITTER - (a * _SPLITTER - a)
    b_high = b * _SPLITTER - (b * _SPLITTER - b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (product - a_high * b_high - a_low * b_high - a_high * b_low)


@kernel
def joint_marginals(chances: Floats, forward: Floats, backward: Floats, joint: Floats) -> None:
    """For each position and user, the sum over all assignments that put the user there.

    `chances[position, user]` is the chance of that user to show what is seen at that position;
    `joint[position, user]` becomes the sum, over all permutations that put the user there, of the
    products of chances: entries times permanents of minors. A set of users is a bit mask;
    `forward[set]` covers the first positions and `backward[set]` the last ones.
    """
    count = chances.shape[0]
    everyone = (1 << count) - 1
    sizes = np.zeros(everyone + 1, dtype=np.int64)
    forward[0] = backward[0] = 1.0
    joint[:] = 0.0
    for users in range(1, everyone + 1):
        # users & (users - 1) is the set without its lowest member.
        sizes[users] = sizes[users & (users - 1)] + 1
        forward[users] = backward[users] = 0.0
        for user in range(count):
            if users >> user & 1:
                rest = users ^ (1 << user)
                forward[users] += forward[rest] * chances[sizes[users] - 1, user]
                backward[users] += backward[rest] * chances[count - sizes[users], user]
    for users in range(everyone):
        # The set takes the first positions, the user the next one, everybody else the last ones.
        position = sizes[users]
        for user in range(count):
            if not users >> user & 1:
                rest = everyone ^ users ^ (1 << user)
                joint[position, user] += forward[users] * chances[position, user] * backward[rest]


@kernel
def best_matching(columns: Floats) -> float:
    """Expected number of users that the best matching rule names rightly.

    `columns[representation, user]`; goes through all sorted lists of what may be seen.
    """
    representations, count = columns.shape
    seen = np.zeros(count, dtype=np.int64)
    forward, backward = np.empty(1 << count), np.empty(1 << count)
    joint = np.empty((count, count))
    expected: float = 0.0
    while True:
        joint_marginals(columns[seen], forward, backward, joint)
        orders = 1.0  # permutations that leave the sorted list as it is
        run = 1
        right = joint[0].max()
        for position in range(1, count):
            run = run + 1 if seen[position] == seen[position - 1] else 1
            orders *= run
            right += joint[position].max()
        expected += right / orders
        last = count - 1
        while last >= 0 and seen[last] == representations - 1:
            last -= 1
        if last < 0:
            return expected
        # The next sorted list: nothing behind the entry that grew may be below it.
        seen[last:] = seen[last] + 1
