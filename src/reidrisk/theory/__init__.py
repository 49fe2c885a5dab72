"""Exact optimum and bounds of re-identification, without sampling.  Paper: sections 3 to 6.

Everywhere a matrix is expected, anything that makes a `RepresentationMatrix` will do.
"""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.theory.attacking import MatchingAttack, matching_attack
    from reidrisk.theory.audits import anonymity, local_dp_epsilon
    from reidrisk.theory.examples import (
        listeners,
        matching_beats_random_user,
        safe_without_promise,
    )
    from reidrisk.theory.local_privacy import (
        largest_epsilon,
        randomised_response_optimum,
        sharp_upper_from_local_dp,
        telling_tokens,
    )
    from reidrisk.theory.matching import (
        likeliest_assignment,
        matching_accuracy,
        matching_optimum,
        one_by_one,
        optimal_matching,
        upper_matching,
    )
    from reidrisk.theory.matrix import RepresentationMatrix, read_matrix
    from reidrisk.theory.numerics import UpperBound
    from reidrisk.theory.optimum import (
        expected_matrix,
        optimal_rule,
        partial_information_optimum,
        random_user_optimum,
        rule_accuracy,
    )
    from reidrisk.theory.qif import (
        additive_leakage,
        bayes_vulnerability,
        g_vulnerability,
        min_entropy_leakage,
        multiplicative_leakage,
        prior_vulnerability,
    )
    from reidrisk.theory.relations import (
        mutual_information,
        upper_from_k_anonymity,
        upper_from_local_dp,
        upper_from_mutual_information,
    )
    from reidrisk.theory.summary import Statement, bounds
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "attacking": ("MatchingAttack", "matching_attack"),
            "audits": ("anonymity", "local_dp_epsilon"),
            "examples": ("listeners", "matching_beats_random_user", "safe_without_promise"),
            "local_privacy": (
                "largest_epsilon",
                "randomised_response_optimum",
                "sharp_upper_from_local_dp",
                "telling_tokens",
            ),
            "matching": (
                "likeliest_assignment",
                "matching_accuracy",
                "matching_optimum",
                "one_by_one",
                "optimal_matching",
                "upper_matching",
            ),
            "matrix": ("RepresentationMatrix", "read_matrix"),
            "numerics": ("UpperBound",),
            "optimum": (
                "expected_matrix",
                "optimal_rule",
                "partial_information_optimum",
                "random_user_optimum",
                "rule_accuracy",
            ),
            "qif": (
                "additive_leakage",
                "bayes_vulnerability",
                "g_vulnerability",
                "min_entropy_leakage",
                "multiplicative_leakage",
                "prior_vulnerability",
            ),
            "relations": (
                "mutual_information",
                "upper_from_k_anonymity",
                "upper_from_local_dp",
                "upper_from_mutual_information",
            ),
            "summary": ("Statement", "bounds"),
        },
    )

__all__ = [
    "MatchingAttack",
    "RepresentationMatrix",
    "Statement",
    "UpperBound",
    "additive_leakage",
    "anonymity",
    "bayes_vulnerability",
    "bounds",
    "expected_matrix",
    "g_vulnerability",
    "largest_epsilon",
    "likeliest_assignment",
    "listeners",
    "local_dp_epsilon",
    "matching_accuracy",
    "matching_attack",
    "matching_beats_random_user",
    "matching_optimum",
    "min_entropy_leakage",
    "multiplicative_leakage",
    "mutual_information",
    "one_by_one",
    "optimal_matching",
    "optimal_rule",
    "partial_information_optimum",
    "prior_vulnerability",
    "random_user_optimum",
    "randomised_response_optimum",
    "read_matrix",
    "rule_accuracy",
    "safe_without_promise",
    "sharp_upper_from_local_dp",
    "telling_tokens",
    "upper_from_k_anonymity",
    "upper_from_local_dp",
    "upper_from_mutual_information",
    "upper_matching",
]
