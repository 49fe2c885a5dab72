"""Random sets the slow way: all of them, one by one."""

import itertools
import math
from bisect import bisect_left


def chances_of_sets(weights, size):
    """Every set and its chance: proportional to the product of its weights."""
    products = {
        chosen: math.prod(weights[token] for token in chosen)
        for chosen in itertools.combinations(range(len(weights)), size)
    }
    total = math.fsum(products.values())
    return {chosen: product / total for chosen, product in products.items()}


def tails(weights, size):
    """Polynomials of the weights from each position on, as `tail_polynomials` sums them."""
    answer = [[0.0] * (size + 1) for _ in range(len(weights) + 1)]
    answer[-1][0] = 1.0
    for position in range(len(weights) - 1, -1, -1):
        answer[position][0] = 1.0
        for degree in range(1, size + 1):
            after = answer[position + 1]
            answer[position][degree] = after[degree] + weights[position] * after[degree - 1]
    return answer


def reference_set(weights, draws):
    """One set, chosen position by position with plain loops: the definition of `draw_sets`."""
    order = sorted(range(len(weights)), key=lambda token: (-weights[token], token))
    table = tails([weights[token] for token in order], len(draws))
    chosen, position = [], 0
    for left, draw in zip(range(len(draws), 0, -1), draws, strict=True):
        goal = draw * table[position][left]
        while table[position + 1][left] > goal:
            position += 1
        chosen.append(order[position])
        position += 1
    return chosen


def set_by_rejection(weights, size, random):
    """Independent draws, anew until all differ."""
    heights = list(itertools.accumulate(weights))
    while True:
        drawn = {bisect_left(heights, random.random() * heights[-1]) for _ in range(size)}
        if len(drawn) == size:
            return tuple(sorted(drawn))
