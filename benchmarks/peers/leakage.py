"""Bayes vulnerability and leakage of a channel: users by representations, dense."""

import numpy as np

from benchmarks.comparison import Comparison, close, cost
from reidrisk import theory

PEERS = ("qif",)
SHAPE, QUICK_SHAPE = (5_000, 2_500), (200, 100)


def compare(peer, *, quick):
    from qif.measure import bayes_vuln

    users, representations = QUICK_SHAPE if quick else SHAPE
    random = np.random.default_rng(1)
    channel = random.random((users, representations)) ** 8
    channel /= channel.sum(axis=1, keepdims=True)
    prior = random.dirichlet(np.ones(users))
    matrix = theory.RepresentationMatrix(channel)
    for question, ours, theirs in (
        ("bayes_vulnerability", theory.bayes_vulnerability, bayes_vuln.posterior),
        ("multiplicative_leakage", theory.multiplicative_leakage, bayes_vuln.mult_leakage),
        ("additive_leakage", theory.additive_leakage, bayes_vuln.add_leakage),
    ):
        our_cost, value = cost(lambda ours=ours: ours(matrix, prior))
        their_cost, expected = cost(lambda theirs=theirs: theirs(prior, channel))
        yield Comparison(
            "leakage", f"{users:,} users, {representations:,} representations",
            f"theory.{question}", peer, f"bayes_vuln.{theirs.__name__}", our_cost, their_cost,
            close([value], [expected], "value"),
        )  # fmt: skip
