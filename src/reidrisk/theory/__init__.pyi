from .attacking import (
    MatchingAttack as MatchingAttack,
)
from .attacking import (
    matching_attack as matching_attack,
)
from .audits import (
    anonymity as anonymity,
)
from .audits import (
    local_dp_epsilon as local_dp_epsilon,
)
from .examples import (
    listeners as listeners,
)
from .examples import (
    matching_beats_random_user as matching_beats_random_user,
)
from .examples import (
    safe_without_promise as safe_without_promise,
)
from .local_privacy import (
    largest_epsilon as largest_epsilon,
)
from .local_privacy import (
    randomised_response_optimum as randomised_response_optimum,
)
from .local_privacy import (
    sharp_upper_from_local_dp as sharp_upper_from_local_dp,
)
from .local_privacy import (
    telling_tokens as telling_tokens,
)
from .matching import (
    likeliest_assignment as likeliest_assignment,
)
from .matching import (
    matching_accuracy as matching_accuracy,
)
from .matching import (
    matching_optimum as matching_optimum,
)
from .matching import (
    one_by_one as one_by_one,
)
from .matching import (
    optimal_matching as optimal_matching,
)
from .matching import (
    upper_matching as upper_matching,
)
from .matrix import (
    RepresentationMatrix as RepresentationMatrix,
)
from .matrix import (
    read_matrix as read_matrix,
)
from .numerics import (
    UpperBound as UpperBound,
)
from .optimum import (
    expected_matrix as expected_matrix,
)
from .optimum import (
    optimal_rule as optimal_rule,
)
from .optimum import (
    partial_information_optimum as partial_information_optimum,
)
from .optimum import (
    random_user_optimum as random_user_optimum,
)
from .optimum import (
    rule_accuracy as rule_accuracy,
)
from .qif import (
    additive_leakage as additive_leakage,
)
from .qif import (
    bayes_vulnerability as bayes_vulnerability,
)
from .qif import (
    g_vulnerability as g_vulnerability,
)
from .qif import (
    min_entropy_leakage as min_entropy_leakage,
)
from .qif import (
    multiplicative_leakage as multiplicative_leakage,
)
from .qif import (
    prior_vulnerability as prior_vulnerability,
)
from .relations import (
    mutual_information as mutual_information,
)
from .relations import (
    upper_from_k_anonymity as upper_from_k_anonymity,
)
from .relations import (
    upper_from_local_dp as upper_from_local_dp,
)
from .relations import (
    upper_from_mutual_information as upper_from_mutual_information,
)
from .summary import (
    Statement as Statement,
)
from .summary import (
    bounds as bounds,
)
