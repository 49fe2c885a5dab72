"""Everything that can be given wrongly to a public function of theory, and what it answers.

One table, one test: the class of the exception and what its message says. Warnings are errors in
all tests, so a refusal is all that may come of a row.
"""

import inspect
import math
import operator
from datetime import date
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from reidrisk import InvalidInput, TooLarge, theory

P = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
"""A good matrix: two users, three representations."""

RULE = [0, 1, 1]
HUGE = 10**400
"""A whole number beyond all floats."""

NAN, INF = math.nan, math.inf


class Table(list):
    """The rows: what is called, what is wrong, how it must be refused."""

    def add(self, function, what, says, *arguments, error=InvalidInput, then=None, **named):
        """Add a row.

        Args:
            function: Name within `reidrisk.theory`.
            what: What is wrong.
            says: Fragments of the message, one or several.
            arguments: Given to the function.
            error: The very class of the exception.
            then: Given to what the function returns, where that is a function.
            named: Given to the function by name.
        """

        def call():
            answer = operator.attrgetter(function)(theory)(*arguments, **named)
            return answer if then is None else answer(then)

        fragments = (says,) if isinstance(says, str) else says
        self.append(pytest.param(call, error, fragments, id=f"{function}: {what}"))
        self.functions.add(function)

    def __init__(self):
        super().__init__()
        self.functions = set()


TABLE = Table()


def coo(values, rows, columns, shape):
    return sp.coo_array((values, (rows, columns)), shape=shape)


BAD_MATRICES = {
    "one dimension": ([0.5, 0.5], ("2 dimensions", "got 1")),
    "three dimensions": (np.ones((2, 1, 1)), ("2 dimensions", "got 3")),
    "a number": (1.0, ("2 dimensions", "got 0")),
    "a sparse vector": (sp.coo_array([0.5, 0.5]), ("2 dimensions", "got 1")),
    "None": (None, "representation matrix"),
    "a string": ("matrix.csv", "representation matrix"),
    "a dictionary": ({"user": [1]}, "representation matrix"),
    "a set": ({0.5}, "representation matrix"),
    "a function": (len, "representation matrix"),
    "strings": ([["a", "b"]], "holds numbers, got dtype <U1"),
    "numbers in strings": ([["0.5", "0.5"]], "holds numbers, got dtype <U3"),
    "dates": (np.array([["2020-01-01"]], "datetime64[D]"), "got dtype datetime64[D]"),
    "complex numbers": (P + 0j, "got dtype complex128"),
    "sparse complex numbers": (sp.csr_array(P + 0j), "got dtype complex128"),
    "objects": ([[object()]], "table of numbers"),
    "None inside": ([[None, 1.0]], "row 0, representation 0 has probability nan"),
    "ragged lists": ([[0.5, 0.5], [1.0]], "row 1 has 1 entries, row 0 has 2"),
    "a number among rows": ([[0.5, 0.5], 1.0], "table of numbers"),
    "ragged arrays": ([np.array([0.5, 0.5]), np.array([1.0])], "users x representations"),
    "no rows": ([], "representation matrix"),
    "no users": (np.zeros((0, 3)), ("empty", "(0, 3)")),
    "no representations": ([[], []], ("empty", "(2, 0)")),
    "sparse without users": (sp.csr_array((0, 3)), ("empty", "(0, 3)")),
    "sparse without representations": (sp.csc_array((3, 0)), ("empty", "(3, 0)")),
    "nan": ([[0.5, 0.5], [NAN, 1.0]], "row 1, representation 0 has probability nan"),
    "nan in Fortran order": (
        np.asfortranarray([[0.5, 0.5, 0], [0, 1, NAN]]),
        "row 1, representation 2 has probability nan",
    ),
    "sparse nan": (
        sp.csr_array([[0.5, 0.5, 0], [0, NAN, 1]]),
        "row 1, representation 1 has probability nan",
    ),
    "negative": (
        [[0.5, 0.5, 0], [-0.5, 1.5, 0]],
        ("row 1, representation 0 has probability -0.5", "at least 0"),
    ),
    "several negative": (
        np.asfortranarray([[1.1, 0, -0.1], [0, 1.7, -0.7]]),
        ("row 1, representation 2 has probability -0.7", "the worst of 2 such entries"),
    ),
    "sparse negative": (
        sp.coo_array([[1.1, 0, -0.1], [0, 1.7, -0.7]]),
        ("row 1, representation 2 has probability -0.7", "the worst of 2 such entries"),
    ),
    "minus infinity": ([[0.5, 0.5], [INF, -INF]], "row 1, representation 1 has probability -inf"),
    "infinity": (
        [[0.5, 0.5], [INF, 0.0]],
        ("row 1 sums to inf", "largest entry is inf at representation 0"),
    ),
    "sparse infinity": (
        sp.csr_array([[0.5, 0.5], [INF, 0.0]]),
        ("row 1 sums to inf", "largest entry is inf at representation 0"),
    ),
    "sums beyond all floats": (
        [[0.5, 0.5], [1e308, 1e308]],
        ("row 1 sums to inf", "largest entry is 1e+308 at representation 0"),
    ),
    "whole numbers beyond all floats": ([[HUGE, 1]], "representation matrix"),
    "fractions beyond all floats": ([[Fraction(HUGE, 3), 1]], "representation matrix"),
    "a row that does not sum to 1": (
        [[0.5, 0.5, 0], [0.1, 0.3, 0.5]],
        (
            "row 1 sums to 0.9, not to 1 (tolerance 1e-06)",
            "its largest entry is 0.5 at representation 2",
        ),
    ),
    "a row that barely misses 1": ([[0.5, 0.500002]], "row 0 sums to 1.000002, not to 1"),
    "a sparse row that does not sum to 1": (
        sp.csr_array([[0.5, 0.5, 0], [0.1, 0.3, 0.5]]),
        (
            "row 1 sums to 0.9, not to 1 (tolerance 1e-06)",
            "its largest entry is 0.5 at representation 2",
        ),
    ),
    "counts": (
        [[3, 1], [2, 2]],
        ("row 0 sums to 4", "2 of 2 rows are off", "Divide each row by its sum"),
    ),
    "percent": (100 * P, ("row 0 sums to 100", "Divide each row by its sum")),
    "a row of zeros": ([[0.5, 0.5], [0, 0]], ("row 1 sums to 0,", "all its entries are 0")),
    "a sparse row of zeros": (
        sp.csr_array([[0.5, 0.5], [0, 0]]),
        ("row 1 sums to 0,", "all its entries are 0"),
    ),
    "transposed": (P.T, "row 0 sums to 0.5"),
    "masked entries": (np.ma.masked_array(P, mask=[[1, 0, 0], [0, 0, 0]]), "mask"),
    "duplicates in coo": (
        coo([0.5, 0.25, 0.25, 1.0], [0, 1, 1, 0], [1, 1, 1, 0], (2, 2)),
        "row 1 lists representation 1 more than once",
    ),
    "duplicates in csr": (
        sp.csr_array(([0.5, 0.5, 0.5, 0.5], [0, 1, 1, 1], [0, 2, 4]), shape=(2, 2)),
        "row 1 lists representation 1 more than once",
    ),
    "duplicates in csc": (
        sp.csc_array(([1.0, 0.5, 0.5], [0, 1, 1], [0, 1, 3]), shape=(2, 2)),
        "row 1 lists representation 1 more than once",
    ),
    "duplicates in bsr": (
        sp.bsr_array((np.array([1, 0.5, 0.5]).reshape(3, 1, 1), [0, 1, 1], [0, 1, 3])),
        "row 1 lists representation 1 more than once",
    ),
    "a duplicate that is zero": (
        coo([1.0, 0.0, 1.0], [0, 0, 1], [0, 0, 1], (2, 2)),
        "row 0 lists representation 0 more than once",
    ),
}

TAKE_A_MATRIX = {
    "RepresentationMatrix": {},
    "RepresentationMatrix.of": {},
    "additive_leakage": {},
    "anonymity": {},
    "bayes_vulnerability": {},
    "bounds": {},
    "g_vulnerability": {"gain": np.eye(2)},
    "likeliest_assignment": {},
    "local_dp_epsilon": {"delta": 0.1},
    "matching_accuracy": {"rule": lambda seen: seen},
    "matching_attack": {},
    "matching_optimum": {},
    "min_entropy_leakage": {},
    "multiplicative_leakage": {},
    "mutual_information": {},
    "one_by_one": {"rule": RULE},
    "optimal_matching": {},
    "optimal_rule": {},
    "partial_information_optimum": {},
    "prior_vulnerability": {},
    "random_user_optimum": {},
    "rule_accuracy": {"rule": RULE},
    "upper_matching": {},
}

for name, others in TAKE_A_MATRIX.items():
    for what, (matrix, says) in BAD_MATRICES.items():
        TABLE.add(name, what, says, matrix, **others)
for what, (matrix, says) in BAD_MATRICES.items():
    TABLE.add("expected_matrix", f"a world of {what}", says, [P, matrix], [0, 1])

# Labels.
for labels, says in (
    (["a"], ("user_labels", "2 names", "(1,)")),
    (["a", "b", "c"], ("user_labels", "2 names", "(3,)")),
    ("ab", ("user_labels", "2 names")),
    ([["a", "b"]], ("user_labels", "2 names", "(1, 2)")),
    ([["a"], ["b", "c"]], "user_labels"),
):
    TABLE.add("RepresentationMatrix", f"labels {labels}", says, P, user_labels=labels)
TABLE.add(
    "RepresentationMatrix",
    "labels of the users for the representations",
    ("representation_labels", "3 names", "(2,)"),
    P,
    representation_labels=["a", "b"],
)

# Priors.
BAD_PRIORS = {
    "too short": ([1.0], ("one probability per user", "(2,)", "(1,)")),
    "too long": ([0.5, 0.25, 0.25], ("one probability per user", "(2,)", "(3,)")),
    "square": (np.eye(2), ("one probability per user", "(2, 2)")),
    "not square": (np.full((2, 3), 1 / 6), ("one probability per user", "(2, 3)")),
    "a column": ([[0.5], [0.5]], ("one probability per user", "(2, 1)")),
    "a number": (0.5, ("one probability per user", "()")),
    "empty": ([], ("one probability per user", "(0,)")),
    "negative": ([-0.5, 1.5], "the prior of user 0 is -0.5"),
    "nan": ([0.5, NAN], "the prior of user 1 is nan"),
    "infinite": ([0.5, INF], "the prior sums to inf"),
    "minus infinity": ([INF, -INF], "the prior of user 1 is -inf"),
    "None inside": ([None, 1.0], "the prior of user 0 is nan"),
    "sum above 1": ([0.7, 0.7], "the prior sums to 1.4, not to 1 (tolerance 1e-06)"),
    "sum below 1": ([0.5, 0.4999], "the prior sums to 0.9999, not to 1"),
    "counts": ([3, 1], "the prior sums to 4"),
    "sum beyond all floats": ([1e308, 1e308], "the prior sums to inf"),
    "beyond all floats": ([HUGE, 1], "prior"),
    "ragged": ([[0.5], [0.2, 0.3]], "prior"),
    "a string": ("uniform", "prior"),
    "numbers in strings": (["0.5", "0.5"], "prior"),
    "a dictionary": ({0: 0.5, 1: 0.5}, "prior"),
    "sparse": (sp.csr_array([[0.5, 0.5]]), "prior"),
    "complex": (np.array([0.5 + 0j, 0.5]), "prior"),
    "dates": ([date(2020, 1, 1), date(2021, 1, 1)], "prior"),
}
TAKE_A_PRIOR = {
    "additive_leakage": (),
    "bayes_vulnerability": (),
    "g_vulnerability": (np.eye(2),),
    "min_entropy_leakage": (),
    "multiplicative_leakage": (),
    "mutual_information": (),
    "prior_vulnerability": (),
}
for name, others in TAKE_A_PRIOR.items():
    for what, (prior, says) in BAD_PRIORS.items():
        TABLE.add(name, f"prior {what}", says, P, *others, prior)
TABLE.add("bayes_vulnerability", "prior and tries", "sums to 2", P, [1, 1], tries=2)
TABLE.add(
    "expected_matrix", "too few weights", ("per world", "(1,)"), [P, P], [0, 1], weights=[1.0]
)
TABLE.add("expected_matrix", "weights that do not sum to 1", "1.5", [P, P], [0, 1], [0.5, 1.0])
TABLE.add("expected_matrix", "a negative weight", "world 1 is -1", [P, P], [0, 1], [2, -1])

# Rules for one random user.
BAD_RULES = {
    "too short": ([0, 1], ("3 whole numbers", "(2,)")),
    "too long": ([0, 1, 0, 1], ("3 whole numbers", "(4,)")),
    "empty": ([], "3 whole numbers"),
    "a user too many": ([0, 1, 2], "rule[2] is 2; it must be from 0 to 1"),
    "a negative user": ([0, -1, 1], "rule[1] is -1; it must be from 0 to 1"),
    "floats": ([0.0, 1.0, 1.0], ("3 whole numbers", "float64")),
    "truth values": ([True, False, True], ("3 whole numbers", "bool")),
    "strings": (["0", "1", "1"], ("3 whole numbers", "<U1")),
    "None": (None, "rule"),
    "a number": (1, "rule"),
    "a string": ("best", "rule"),
    "a function": (len, "rule"),
    "ragged": ([[1, 0, 0], [0, 1]], "rule"),
    "transposed": (np.full((3, 2), 0.5), ("(2, 3)", "(3, 2)")),
    "three dimensions": (np.ones((2, 3, 1)), ("(2, 3)", "(2, 3, 1)")),
    "a sparse vector": (sp.coo_array([0, 1, 1]), ("(2, 3)", "(3,)")),
    "columns above 1": (np.ones((2, 3)), "for representation 0 sum to 2"),
    "columns below 1": (
        [[0.5, 0.5, 0.5], [0.5, 0.5, 0.4]],
        "for representation 2 sum to 0.9, not to 1 (tolerance 1e-06)",
    ),
    "rows that sum to 1 instead": (P, "for representation 0 sum to 0.5"),
    "negative chances": ([[2, 1, 1], [-1, 0, 0]], "-1"),
    "nan": ([[NAN, 1, 1], [1, 0, 0]], "nan"),
    "infinite": ([[INF, 1, 1], [0, 0, 0]], "inf"),
    "infinities that cancel": ([[INF, 1, 1], [-INF, 0, 0]], "inf"),
    "beyond all floats": ([[1e308, 1, 1], [1e308, 0, 0]], "representation 0"),
    "complex": (np.full((2, 3), 0.5 + 0j), "complex128"),
    "strings in a table": ([["a", "b", "c"]] * 2, "<U1"),
    "objects": (np.array(RULE, dtype=object), "rule"),
}
for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"):
    table = getattr(sp, f"{form}_array")
    BAD_RULES[f"{form} columns above 1"] = (
        table(np.ones((2, 3))),
        "for representation 0 sum to 2",
    )
    BAD_RULES[f"{form} negative chances"] = (
        table([[2.0, 1, 1], [-1, 0, 0]]),
        "-1",
    )
for name in ("rule_accuracy", "one_by_one"):
    for what, (rule, says) in BAD_RULES.items():
        TABLE.add(name, f"rule {what}", says, P, rule)

# Gains, guesses and tries.
BAD_GAINS = {
    "users too many": (np.eye(3), ("per guess and user", "(3, 2)", "(3, 3)")),
    "transposed": (np.ones((2, 3)), ("per guess and user", "(2, 3)")),
    "one dimension": ([1.0, 1.0], ("guesses x users", "(2,)")),
    "three dimensions": (np.ones((2, 2, 2)), ("guesses x users", "(2, 2, 2)")),
    "a number": (1.0, ("guesses x users", "()")),
    "a string": ("identity", "gain"),
    "no guesses": (np.zeros((0, 2)), ("guesses x users", "(0, 2)")),
    "ragged": ([[1, 0], [1]], ("gain", "guesses x users")),
    "nan": ([[1.0, NAN]], ("gain", "not a number")),
    "infinite": ([[1.0, -INF]], ("gain", "infinite")),
    "strings": ([["a", "b"]], ("gain", "<U1")),
    "complex": ([[1j, 0]], ("gain", "complex128")),
    "sparse and too wide": (sp.csr_array(np.eye(3)), ("per guess and user", "(3, 3)")),
    "a sparse vector": (sp.coo_array([1.0, 0.0]), ("guesses x users", "(2,)")),
    "sparse nan": (sp.csr_array([[1.0, NAN]]), ("gain", "not a number")),
    "a function to a number": (lambda _guesses, _users: 1.0, ("(2, 2)", "()")),
    "a function to one row": (lambda _guesses, users: users, ("(2, 2)", "(1, 2)")),
    "a function to the transposed": (
        lambda guesses, _users: np.ones((1, len(guesses))),
        ("(2, 2)", "(1, 2)"),
    ),
    "a function to None": (lambda _guesses, _users: None, ("(2, 2)", "gain")),
    "a function to ragged lists": (lambda _guesses, _users: [[1, 0], [1]], "gain"),
    "a function to nan": (lambda guesses, users: guesses * users * NAN, ("gain", "not a number")),
    "a function to strings": (lambda _guesses, _users: [["a", "b"]] * 2, ("gain", "<U1")),
    "a function to something sparse": (lambda _guesses, _users: sp.eye_array(2), "gain"),
}
for name in (
    "g_vulnerability",
    "prior_vulnerability",
    "multiplicative_leakage",
    "additive_leakage",
):
    for what, (gain, says) in BAD_GAINS.items():
        TABLE.add(name, f"gain {what}", says, P, gain=gain)
    for guesses in (0, -1, 1.5, True, "2"):
        TABLE.add(
            name,
            f"guesses {guesses!r}",
            ("guesses is a whole number of at least 1", repr(guesses)),
            P,
            gain=np.equal,
            guesses=guesses,
        )
    TABLE.add(name, "guesses of a table", "guesses", P, gain=np.eye(2), guesses=2)
    if name != "g_vulnerability":
        TABLE.add(name, "guesses without a gain", "guesses", P, guesses=3)
TABLE.add("g_vulnerability", "gain None", "gain", P, None)
TABLE.add("multiplicative_leakage", "a gain below 0", ("-0.5", "above 0"), P, gain=-np.eye(2))
TABLE.add("multiplicative_leakage", "a gain of 0", "above 0", P, gain=np.zeros((1, 2)))
TABLE.add("prior_vulnerability", "tries with a gain", "tries", P, gain=np.eye(2), tries=2)
for name in ("bayes_vulnerability", "prior_vulnerability"):
    for tries in (0, -1, 1.5, True, "2", None, NAN):
        TABLE.add(
            name,
            f"tries {tries!r}",
            ("tries is a whole number of at least 1", repr(tries)),
            P,
            tries=tries,
        )

# Partial information.
BAD_WORLDS = {
    "none": ([], "worlds is empty"),
    "None": (None, "worlds"),
    "a number": (5, "worlds"),
    "one matrix": (theory.RepresentationMatrix(P), "worlds"),
    "one array": (P, "2 dimensions"),
    "of different shapes": ([P, np.eye(2)], ("world 1 has shape (2, 2)", "(2, 3)")),
}
for what, (worlds, says) in BAD_WORLDS.items():
    TABLE.add("expected_matrix", f"worlds {what}", says, worlds, [0, 1])
BAD_SHOWN = {
    "too short": ([0], ("shown", "2 whole numbers", "(1,)")),
    "too long": ([0, 1, 2], ("shown", "2 whole numbers", "(3,)")),
    "too large": ([0, 3], "shown[1] is 3; it must be from 0 to 2"),
    "negative": ([-1, 1], "shown[0] is -1; it must be from 0 to 2"),
    "floats": ([0.0, 1.0], ("shown", "float64")),
    "names": (["a", "b"], ("shown", "<U1")),
    "None": (None, "shown"),
    "ragged": ([[0], [1, 2]], "shown"),
    "two dimensions": ([[0, 1]], ("shown", "(1, 2)")),
    "impossible": ([2, 0], "no world of positive weight can show this"),
}
for what, (shown, says) in BAD_SHOWN.items():
    TABLE.add("expected_matrix", f"shown {what}", says, [P], shown)

# Matching: rules, what they are asked, and sizes.
BAD_ANSWERS = {
    "no function": ([0, 1], "rule"),
    "None": (None, "rule"),
    "answers None": (lambda _seen: None, ("matching rule", "(2, 2)")),
    "answers too few": (lambda _seen: [0], ("matching rule", "(1,)")),
    "answers floats": (lambda _seen: [0.0, 1.0], ("matching rule", "float64")),
    "answers truth values": (lambda _seen: [True, False], ("matching rule", "bool")),
    "answers strings": (lambda _seen: ["a", "b"], ("matching rule", "<U1")),
    "answers a user too many": (lambda _seen: [0, 5], "5"),
    "answers a negative user": (lambda _seen: [0, -1], "-1"),
    "answers ragged lists": (lambda _seen: [[1, 0], [1]], "rule"),
    "answers chances that are no numbers": (lambda _seen: np.full((2, 2), NAN), "rule"),
    "answers chances below 0": (lambda _seen: [[2.0, -1.0], [0.0, 1.0]], "rule"),
    "answers chances above 1": (lambda _seen: np.ones((2, 2)), "rule"),
    "answers a table of strings": (lambda _seen: [["a", "b"]] * 2, "rule"),
    "answers complex chances": (lambda _seen: np.eye(2) + 0j, "rule"),
    "answers a table of another shape": (lambda _seen: np.eye(3), ("matching rule", "(3, 3)")),
}
for what, (rule, says) in BAD_ANSWERS.items():
    TABLE.add("matching_accuracy", f"a rule that {what}", says, P, rule)
for name, others in (
    ("likeliest_assignment", ()),
    ("optimal_matching", ()),
    ("one_by_one", (RULE,)),
):
    for what, seen in (
        ("too large", np.array([0, 7])),
        ("negative", np.array([0, -1])),
        ("floats", np.array([0.0, 1.0])),
    ):
        TABLE.add(name, f"seen {what}", "seen", P, *others, then=seen)
    if name != "one_by_one":  # which answers each position on its own
        TABLE.add(name, "seen too often", "seen", P, then=np.array([0, 1, 1]))
TABLE.add("likeliest_assignment", "seen impossible", "seen", P, then=np.array([0, 0]))

CHAIN = coo(np.full(6_000, 0.5), np.arange(6_000) // 2, (np.arange(6_000) + 1) // 2, (3000, 3001))
"""3,000 users, each sharing a symbol with the next: one group."""

FULL = np.full((2_000, 2), 0.5)
for what, matrix in (("14 x 20", np.full((14, 20), 0.05)), ("full", FULL), ("chain", CHAIN)):
    says = (f"{len(matrix.sum(axis=1)):,} users", "the limit is", "upper_matching")
    TABLE.add("matching_optimum", f"too large, {what}", says, matrix, error=TooLarge)
for what, matrix in (("40 x 2", np.full((40, 2), 0.5)), ("full", FULL), ("chain", CHAIN)):
    says = ("users", "the limit is")
    TABLE.add("optimal_matching", f"too large, {what}", says, matrix, error=TooLarge)
for what, matrix in (
    ("20 x 2", np.full((20, 2), 0.5)),
    ("full", FULL),
    ("more digits than Python prints", np.full((5_000, 10), 0.1)),
    ("one representation", np.ones((70, 1))),
    ("sparse", sp.eye_array(100_000, format="csr")),
):
    TABLE.add(
        "matching_accuracy",
        f"too large, {what}",
        ("users", "the limit is"),
        matrix,
        lambda seen: seen,
        error=TooLarge,
    )
TABLE.add(
    "matching_attack",
    "too large",
    ("5,001 users", "the limit is 5,000"),
    np.full((5_001, 2), 0.5),
    error=TooLarge,
)
TABLE.add(
    "local_dp_epsilon",
    "too large",
    ("1,100,000 rows", "the limit is", "delta=0"),
    coo(np.ones(1_100_000), np.arange(1_100_000), np.zeros(1_100_000, int), (1_100_000, 1)),
    0.1,
    error=TooLarge,
)
for releases in (1, 0, -3, 2.5, True, "20", None):
    TABLE.add(
        "matching_attack",
        f"releases {releases!r}",
        ("releases is a whole number of at least 2", repr(releases)),
        P,
        releases=releases,
    )
for seed in (-1, 1.5, "1", None, True):
    TABLE.add("matching_attack", f"seed {seed!r}", ("seed", repr(seed)), P, seed=seed)
for level in (0, 1, -0.5, 95, NAN, "0.95", None):
    TABLE.add("matching_attack", f"level {level!r}", "level", P, level=level)
TABLE.add("matching_attack", "level in percent", "did you mean 0.95?", P, level=95)
TABLE.add("matching_attack", "progress that is no function", "progress", P, progress=5)

# Single numbers.
BAD_PROBABILITIES = {
    5: "did you mean 0.05?",
    -1: "between 0 and 1, got -1",
    1.0001: "between 0 and 1",
    INF: "between 0 and 1, got inf",
    NAN: "got nan",
    HUGE: "",
    "0.1": "got '0.1'",
    b"0.1": "got b'0.1'",
    None: "got None",
    1j: "got 1j",
}
for value, says in BAD_PROBABILITIES.items():
    what = "beyond all floats" if value == HUGE else repr(value)
    TABLE.add("local_dp_epsilon", f"delta {what}", ("delta is a ", says), P, value)
    TABLE.add("listeners", f"noise {what}", ("noise is a ", says), value)
    TABLE.add(
        "upper_from_local_dp",
        f"delta {what}",
        ("delta is a ", says),
        epsilon=1,
        users=5,
        delta=value,
    )
    for name in ("sharp_upper_from_local_dp", "largest_epsilon"):
        first = () if name == "sharp_upper_from_local_dp" else (0.5,)
        epsilon = {} if first else {"epsilon": 1}
        TABLE.add(
            name, f"delta {what}", ("delta is a ", says), *first, users=5, delta=value, **epsilon
        )
    TABLE.add("largest_epsilon", f"limit {what}", ("limit is a ", says), value, users=5)
for value in (-1, -1e-300, -INF, NAN, "1", b"1", None, 1j, [1.0], {}):
    says = f" is a number of at least 0, got {value!r}"
    for name in ("sharp_upper_from_local_dp", "telling_tokens"):
        TABLE.add(name, f"epsilon {value!r}", "epsilon" + says, epsilon=value, users=5)
    TABLE.add(
        "randomised_response_optimum",
        f"epsilon {value!r}",
        "epsilon" + says,
        epsilon=value,
        tokens=3,
        users=5,
    )
    TABLE.add("upper_from_local_dp", f"epsilon {value!r}", "epsilon" + says, epsilon=value, users=5)
    TABLE.add(
        "upper_from_mutual_information", f"bits {value!r}", "bits" + says, bits=value, users=5
    )
for value in (-1.0, NAN, "1", None, [1.0]):
    for name in ("upper_from_cone", "upper_from_gaussian_reference", "upper_from_volume"):
        TABLE.add(name, f"mu {value!r}", "mu is a number", 2, 2, value)
    TABLE.add("upper_from_l2_laplace", f"radius {value!r}", "radius is a number", 2, 2, value)
    TABLE.add("upper_from_box", f"scale {value!r}", "noise_scale is a number", 2, [1.0], value)
    TABLE.add("epsilon_of_gaussian_noise", f"distance {value!r}", "distance is", value, 1e-6)
    for name in ("upper_from_neighbours", "upper_matching_from_neighbours"):
        TABLE.add(name, f"scale {value!r}", "scale is a number", [1.0], value)
for values in ([-1.0], [NAN], [], [[1.0]], ["a"], None):
    says = "a list of numbers of at least 0"
    TABLE.add("upper_from_box", f"widths {values!r}", says, 2, values, 1.0)
    for name in ("upper_from_neighbours", "upper_matching_from_neighbours"):
        TABLE.add(name, f"distances {values!r}", says, values, 1.0)
for value in (0, -1, 1.5, 2.0, True, "3", None, NAN, INF, [3]):
    says = f" is a whole number of at least 1, got {value!r}"
    TABLE.add("upper_from_local_dp", f"users {value!r}", "users" + says, epsilon=1, users=value)
    TABLE.add(
        "upper_from_mutual_information", f"users {value!r}", "users" + says, bits=1, users=value
    )
    TABLE.add("upper_from_k_anonymity", f"k {value!r}", "k" + says, value)
    for name in ("upper_from_cone", "upper_from_gaussian_reference", "upper_from_volume"):
        TABLE.add(name, f"users {value!r}", "users" + says, value, 2, 1.0)
        TABLE.add(name, f"dimensions {value!r}", "dimensions" + says, 2, value, 1.0)
    TABLE.add("upper_from_l2_laplace", f"users {value!r}", "users" + says, value, 2, 1.0)
    TABLE.add("upper_from_box", f"users {value!r}", "users" + says, value, [1.0], 1.0)
    for part in ("users", "slots"):
        given = {"epsilon": 1, "users": 5, "slots": 2, part: value}
        for name in ("sharp_upper_from_local_dp", "telling_tokens"):
            TABLE.add(name, f"{part} {value!r}", part + says, **given)
        TABLE.add(
            "randomised_response_optimum", f"{part} {value!r}", part + says, tokens=3, **given
        )
    TABLE.add(
        "randomised_response_optimum",
        f"tokens {value!r}",
        "tokens" + says,
        epsilon=1,
        tokens=value,
        users=5,
    )
    if value is not None:
        TABLE.add(
            "upper_from_local_dp",
            f"representations {value!r}",
            "representations" + says,
            epsilon=1,
            users=5,
            representations=value,
        )
for name in ("matching_beats_random_user", "safe_without_promise"):
    for users in (1, 0, -2, 2.5, 4.0, True, "4", None):
        says = f"users is a whole number of at least 2, got {users!r}"
        TABLE.add(name, f"users {users!r}", says, users)
TABLE.add("matching_beats_random_user", "an odd number of users", ("pairs", "3"), 3)

# Long tables and assignments.
GOOD = {"user": ["a", "b"], "representation": ["x", "y"], "probability": [1.0, 1.0]}
LABELS_WITHIN = [[1], [2]]
BAD_TABLES = {
    "None": (None, "table"),
    "a list": ([1, 2], "table"),
    "an array": (P, "table"),
    "a string": ("matrix.csv", "table"),
    "no columns": ({}, ("no column 'user'", "only none")),
    "an unknown column": (
        {"person": ["a"], "representation": ["x"], "probability": [1.0]},
        ("no column 'user'", "needs user, representation, probability", "only person"),
    ),
    "no probabilities": (
        {"user": ["a"], "representation": ["x"]},
        ("no column 'probability'", "only user, representation;"),
    ),
    "a column twice": (
        pa.table(
            [["a"], ["a"], ["x"], [1.0]],
            names=["user", "user", "representation", "probability"],
        ),
        "user",
    ),
    "no rows": (
        {"user": [], "representation": [], "probability": []},
        "the table: there are no rows",
    ),
    "columns of different length": (GOOD | {"probability": [1.0]}, "table"),
    "a user who is null": (GOOD | {"user": ["a", None]}, "the table, row 2: 'user' is empty"),
    "a null representation": (
        GOOD | {"representation": [None, "y"]},
        "the table, row 1: 'representation' is empty",
    ),
    "a null probability": (
        GOOD | {"probability": [1.0, None]},
        "the table, row 2: 'probability' is empty",
    ),
    "a null among categories": (
        GOOD | {"user": pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None]))},
        "the table, row 2: 'user' is empty",
    ),
    "strings as probabilities": (
        GOOD | {"probability": ["1", "1"]},
        "column 'probability' holds string, but must hold numbers",
    ),
    "truth values as probabilities": (
        GOOD | {"probability": [True, True]},
        "column 'probability' holds bool, but must hold numbers",
    ),
    "users of several kinds": (GOOD | {"user": ["a", 1]}, "table"),
    "users that are lists": (GOOD | {"user": LABELS_WITHIN}, "user"),
    "users that are records": (GOOD | {"user": [{"id": 1}, {"id": 2}]}, "user"),
    "representations that are lists": (
        GOOD | {"representation": LABELS_WITHIN},
        "representation",
    ),
    "nan": (GOOD | {"probability": [1.0, NAN]}, ("table, row 2 has", "nan")),
    "negative": (
        {"user": ["a", "a", "b"], "representation": ["x", "y", "y"], "probability": [2, -1, 1]},
        ("the table, row 2 has probability below 0",),
    ),
    "a sum that is not 1": (
        GOOD | {"probability": [1.0, 0.7]},
        ("sums to 0.7, not to 1", "0.7 at the representation of the table, row 2"),
    ),
    "whole numbers as representations and a sum that is not 1": (
        GOOD | {"representation": [10, 20], "probability": [1.0, 0.7]},
        ("sums to 0.7, not to 1", "0.7 at the representation of the table, row 2"),
    ),
    "a pair twice": (
        {"user": ["a", "b", "a"], "representation": ["x", "y", "x"], "probability": [0.5, 1, 0.5]},
        ("the representation of the table, row 1 more than once",),
    ),
}
for what, (table, says) in BAD_TABLES.items():
    TABLE.add("RepresentationMatrix.from_table", what, says, table)
BAD_ASSIGNMENTS = {
    "None": (None, "representations"),
    "a number": (5, "representations"),
    "empty": ([], "representations is empty"),
    "two dimensions": (np.ones((2, 2)), "representations"),
    "lists": (LABELS_WITHIN, "representations"),
    "several kinds": (["a", 1], "representations"),
    "None inside": (["a", None], "representations, row 2: 'representations' is empty"),
    "sparse": (sp.csr_array(P), "representations"),
    "a string": ("abc", "representations"),
    "numbers that are not whole": ([1.0, NAN], ("'representations' holds double", "whole numbers")),
}
for what, (shown, says) in BAD_ASSIGNMENTS.items():
    TABLE.add("RepresentationMatrix.from_assignment", what, says, shown)

# Files; broken ones are in test_matrix.
for path, says in (
    (None, "path"),
    (5, "path"),
    ("matrix.xls", ("matrix.xls: ", "there is no such file")),
    ("matrix", ("matrix: ", "there is no such file")),
    ("", ("the folder has no file", ".csv, .tsv, .parquet", "packed, .gz")),
    ("nowhere/matrix.csv", ("nowhere/matrix.csv: ", "no such file")),
    (Path("nowhere/matrix.npz"), ("nowhere/matrix.npz: ", "no such file")),
    ("nowhere/matrix.npy", ("nowhere/matrix.npy: ", "no such file")),
    ("nowhere/matrix.parquet", ("nowhere/matrix.parquet: ", "no such file")),
    ("null\0byte.csv", "byte.csv"),
):
    TABLE.add("read_matrix", repr(str(path)), says, path)


@pytest.mark.parametrize(("call", "error", "fragments"), TABLE)
def test_bad_input_is_refused_with_a_message_that_says_what_is_wrong(call, error, fragments):
    with pytest.raises(InvalidInput) as refused:
        call()
    message = str(refused.value)
    assert type(refused.value) is error
    for fragment in fragments:
        assert fragment in message
    assert len(message) < 500, "nobody reads that much"
    assert "\n" not in message


def test_every_public_function_is_in_the_table():
    functions = {name for name in theory.__all__ if inspect.isfunction(getattr(theory, name))}
    makers = {"RepresentationMatrix"} | {
        f"RepresentationMatrix.{name}"
        for name, member in vars(theory.RepresentationMatrix).items()
        if isinstance(member, classmethod) and not name.startswith("_")
    }
    assert functions | makers == TABLE.functions
    classes = {name for name in theory.__all__ if inspect.isclass(getattr(theory, name))}
    answers = {"MatchingAttack", "Statement", "UpperBound"}  # given, never taken
    assert classes == answers | {"RepresentationMatrix"}


HEADER = b"user,representation,probability\n"
FILES = {
    "wrong columns": (b"user,token,probability\na,x,1\n", "no column 'representation'"),
    "header only": (HEADER, ": there are no rows"),
    "a short row": (
        HEADER + b"a,x,1\nb,y\n",
        ", line 3: 2 entries, and the header, line 1, has 3",
    ),
    "words": (HEADER + b"a,x,one\n", ", row 1: 'probability' must be a"),
    "a gap": (HEADER + b"a,x,\nb,y,1\n", ", row 1: 'probability' is empty"),
    "a column twice": (b"user,user,representation,probability\na,a,x,1\n", "user"),
    "other columns": (b"user\trepresentations\tprobability\na\tx\t1\n", "representations"),
    "a sum": (
        HEADER + b"a,x,1\nb,y,0.5\n",
        ", row 2: the user of this row sums to 0.5",
    ),
    "nan": (
        HEADER + b"a,x,1\nb,y,nan\n",
        ", row 2: the user of this row, the repr",
    ),
    "a pair twice": (
        HEADER + b"a,x,0.5\na,x,0.5\n",
        ", row 1: the user of this row lists the repr",
    ),
}


@pytest.mark.parametrize(("content", "says"), FILES.values(), ids=FILES)
def test_what_is_wrong_in_a_csv_file_is_said_with_its_name(tmp_path, content, says):
    path = tmp_path / "long.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        theory.read_matrix(path)
    assert str(refused.value).startswith(str(path))
    assert says in str(refused.value)


def test_edges_that_are_still_good_are_not_refused():
    """The other side of the table: the last value that is allowed."""
    assert theory.upper_from_local_dp(epsilon=0, delta=0, users=1) == 1
    assert theory.upper_from_local_dp(epsilon=INF, delta=1, users=10**30) == 1
    assert theory.upper_from_local_dp(epsilon=709.782712893384, users=1).raw > 1e308
    assert theory.upper_from_local_dp(epsilon=710, users=1).raw == INF
    assert theory.upper_from_mutual_information(bits=INF, users=5) == 1
    assert theory.upper_from_mutual_information(bits=0, users=1) == 1
    assert theory.upper_from_k_anonymity(np.int64(4)) == 0.25
    assert theory.local_dp_epsilon(P, delta=1) == 0
    assert theory.listeners(noise=1).users == 8
    assert theory.matching_beats_random_user(2).users == 2
    assert theory.matching_attack(P, releases=2, seed=0).accuracy.trials == 2
    assert theory.rule_accuracy(P, np.array([1, 0, 0], dtype=np.uint8)) == 0.25
    assert theory.random_user_optimum([[1]]) == 1
    assert theory.bayes_vulnerability(P, [1, 0]) == 1
