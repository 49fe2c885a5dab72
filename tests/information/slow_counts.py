"""Bits from counts, slow and obvious: dictionaries, loops, fractions, each by its definition.

Everything takes rows of symbols, one list for each user.
"""

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

WEIGHTS = [4.0**power for power in range(9)]


def tally(rows):
    return Counter(symbol for row in rows for symbol in row)


def plug_in(rows):
    counts = tally(rows)
    pairs = sum(counts.values())
    return -sum(count / pairs * math.log2(count / pairs) for count in counts.values())


def miller_madow(rows):
    counts = tally(rows)
    return plug_in(rows) + (len(counts) - 1) / (2 * sum(counts.values()) * math.log(2))


def jackknife(rows, figure=plug_in):
    left = [figure(rows[:user] + rows[user + 1 :]) for user in range(len(rows))]
    return len(rows) * figure(rows) - (len(rows) - 1) * sum(left) / len(rows)


def turing(rows):
    """Zhang's definition: the chance to draw a symbol, and others in each of the next v draws."""
    counts = tally(rows)
    pairs = sum(counts.values())
    total = Fraction(0)
    for count in counts.values():
        others = Fraction(1)
        for v in range(1, pairs - count + 1):
            others *= 1 - Fraction(count - 1, pairs - v)
            total += Fraction(count, pairs) * others / v
    return float(total) / math.log(2)


def coverage(rows, stratum=lambda _: 0):
    """The published tail of each stratum, with its two cases for what came twice."""
    bits, everything = turing(rows), sum(tally(rows).values())
    for one in {stratum(symbol) for symbol in tally(rows)}:
        counts = [count for symbol, count in tally(rows).items() if stratum(symbol) == one]
        n, once, twice = sum(counts), counts.count(1), counts.count(2)
        if twice:
            a = Fraction(2 * twice, (n - 1) * once + 2 * twice)
        elif once > 1:
            a = Fraction(2, (n - 1) * (once - 1) + 2)
        else:
            a = Fraction(1)
        if not once or a == 1:
            continue
        head = sum(Fraction(1, r) * (1 - a) ** r for r in range(1, n))
        # A logarithm of 100 digits: the difference is small beside its parts.
        rest = _minus_log(a) - head
        bits += float(Fraction(once, everything) * (1 - a) ** (1 - n) * rest) / math.log(2)
    return bits


def _minus_log(number):
    with localcontext(prec=100):
        return Fraction(-(Decimal(number.numerator) / Decimal(number.denominator)).ln())


def held_out(known, shown, symbols, folds):
    """Bits per slot of everybody, by what the others were shown: H(A), H(B), H(B|A)."""
    losses = [[0.0] * len(known) for _ in range(3)]
    for fold in folds:
        rest = [user for user in range(len(known)) if user not in fold]
        pairs = [pair for user in rest for pair in zip(known[user], shown[user], strict=True)]
        both, times = Counter(pairs), Counter(one for one, _ in pairs)
        first = _smooth(times, symbols)
        second = _smooth(Counter(other for _, other in pairs), symbols)
        chance = sum(first[symbol] * second[symbol] for symbol in times)
        met = (sum(one == other for one, other in pairs) + 0.5) / (len(pairs) + 1)
        again = max((met - chance) / (1 - chance), 0.0)

        def base(pair, again=again, second=second):
            return again * (pair[0] == pair[1]) + (1 - again) * second[pair[1]]

        def left_out(weight, pairs=pairs, both=both, times=times, base=base):
            return sum(
                math.log((both[pair] - 1 + weight * base(pair)) / (times[pair[0]] - 1 + weight))
                for pair in pairs
            )

        weight = _best(left_out)
        for user in fold:
            for pair in zip(known[user], shown[user], strict=True):
                given = (both[pair] + weight * base(pair)) / (times[pair[0]] + weight)
                for place, chances in enumerate((first[pair[0]], second[pair[1]], given)):
                    losses[place][user] -= math.log2(chances) / len(known[user])
    return [sum(each) / len(each) for each in losses]


def _smooth(counts, symbols):
    total = sum(counts.values())

    def left_out(weight):
        return sum(
            count * math.log((count - 1 + weight / symbols) / (total - 1 + weight))
            for count in counts.values()
        )

    weight = _best(left_out)
    return [(counts[symbol] + weight / symbols) / (total + weight) for symbol in range(symbols)]


def _best(left_out):
    """The first weight that is as good as the best, but for roundings."""
    most = max(left_out(weight) for weight in WEIGHTS)
    return next(one for one in WEIGHTS if left_out(one) >= most - 1e-9 * (1 + abs(most)))
