"""Scores: how well a known row explains an anonymous one, as whole numbers."""

from reidrisk.scores.compared_numbers import ComparedNumbers
from reidrisk.scores.compared_values import ComparedValues
from reidrisk.scores.cosine import CosineWeights
from reidrisk.scores.inner_product import InnerProduct
from reidrisk.scores.overlap import OverlapWeights, first_shown
from reidrisk.scores.pair_table import PairTable, contents
from reidrisk.scores.polya import PolyaChances
from reidrisk.scores.protocol import (
    GRID,
    NATS,
    Distribution,
    Gains,
    HasUnit,
    OfAnyone,
    Score,
    Unit,
    by_slot,
    check_kind,
    in_units,
    normalised,
)
from reidrisk.scores.repetition import RepeatedTokens
from reidrisk.scores.shortlisted import Shortlisted, ShortlistedChances
from reidrisk.scores.token_table import TokenPairWeights
from reidrisk.scores.token_weights import NormalisedWeights, TokenWeights
from reidrisk.scores.type_chain import TypeChain
from reidrisk.scores.type_mixture import IMPOSSIBLE, TypeMixture

__all__ = [
    "GRID",
    "IMPOSSIBLE",
    "NATS",
    "ComparedNumbers",
    "ComparedValues",
    "CosineWeights",
    "Distribution",
    "Gains",
    "HasUnit",
    "InnerProduct",
    "NormalisedWeights",
    "OfAnyone",
    "OverlapWeights",
    "PairTable",
    "PolyaChances",
    "RepeatedTokens",
    "Score",
    "Shortlisted",
    "ShortlistedChances",
    "TokenPairWeights",
    "TokenWeights",
    "TypeChain",
    "TypeMixture",
    "Unit",
    "by_slot",
    "check_kind",
    "contents",
    "first_shown",
    "in_units",
    "normalised",
]
