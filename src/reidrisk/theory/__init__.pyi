from .examples import (
    listeners as listeners,
    matching_beats_random_user as matching_beats_random_user,
    safe_without_promise as safe_without_promise,
)
from .gaussian_privacy import (
    epsilon_of_gaussian_noise as epsilon_of_gaussian_noise,
)
from .local_privacy import (
    largest_epsilon as largest_epsilon,
    randomised_response_optimum as randomised_response_optimum,
    sharp_upper_from_local_dp as sharp_upper_from_local_dp,
    telling_tokens as telling_tokens,
)
from .matching import (
    MatchingAttack as MatchingAttack,
    likeliest_assignment as likeliest_assignment,
    matching_accuracy as matching_accuracy,
    matching_attack as matching_attack,
    matching_optimum as matching_optimum,
    one_by_one as one_by_one,
    optimal_matching as optimal_matching,
    upper_matching as upper_matching,
)
from .matrix import (
    RepresentationMatrix as RepresentationMatrix,
    read_matrix as read_matrix,
)
from .numerics import (
    UpperBound as UpperBound,
)
from .optimum import (
    expected_matrix as expected_matrix,
    optimal_rule as optimal_rule,
    partial_information_optimum as partial_information_optimum,
    random_user_optimum as random_user_optimum,
    rule_accuracy as rule_accuracy,
)
from .qif import (
    additive_leakage as additive_leakage,
    bayes_vulnerability as bayes_vulnerability,
    g_vulnerability as g_vulnerability,
    min_entropy_leakage as min_entropy_leakage,
    multiplicative_leakage as multiplicative_leakage,
    prior_vulnerability as prior_vulnerability,
)
from .relations import (
    anonymity as anonymity,
    local_dp_epsilon as local_dp_epsilon,
    mutual_information as mutual_information,
    upper_from_k_anonymity as upper_from_k_anonymity,
    upper_from_local_dp as upper_from_local_dp,
    upper_from_mutual_information as upper_from_mutual_information,
)
from .summary import (
    Statement as Statement,
    bounds as bounds,
)
from .vectors import (
    upper_from_box as upper_from_box,
    upper_from_cone as upper_from_cone,
    upper_from_gaussian_reference as upper_from_gaussian_reference,
    upper_from_l2_laplace as upper_from_l2_laplace,
    upper_from_neighbours as upper_from_neighbours,
    upper_from_volume as upper_from_volume,
    upper_matching_from_neighbours as upper_matching_from_neighbours,
)
