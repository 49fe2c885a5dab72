"""Every release, attack, score, engine and analysis of the package, found in its modules.

A new file in `releases`, `attacks`, `scores`, `engines` or `study.analyses` is found; only what an
analysis needs to be asked for is named, in `study_of_everything`. A part whose parameters have no
defaults is made with small values in their range; where that is not enough, it says what a small
one is with a classmethod `example`.
"""

import inspect
from dataclasses import replace

import numpy as np

import reidrisk.engines
import reidrisk.releases
import reidrisk.scores
from reidrisk import GaussianNoise, Hamming, Nearest, Study, TopicsApi, WeightedHamming
from reidrisk.attacks.protocol import View
from reidrisk.core.plugins import modules_of
from reidrisk.errors import InvalidInput
from reidrisk.people.vectors import VectorPeople
from reidrisk.releases.parameters import parameters_of
from reidrisk.releases.protocol import ShowsVectors
from reidrisk.releases.table import release_kinds
from reidrisk.scores import (
    CosineWeights,
    Shortlisted,
    ShortlistedChances,
    TokenPairWeights,
    TokenWeights,
    TypeChain,
)
from reidrisk.study import Repeats
from reidrisk.study.analyses import ANALYSES
from reidrisk.testing.releases import TOKENS, small_worlds, vector_worlds


def releases():
    """An example of every release, by name."""
    return {name: example(kind) for name, kind in release_kinds().items()}


def world_of(release, *, first=True):
    """Small people whom a release can show.

    Args:
        release: It.
        first: Whether all are always there, and have one vector each; else some are away at times,
            or have several.
    """
    worlds = vector_worlds() if isinstance(release, ShowsVectors) else small_worlds()
    return worlds[0 if first else 1]


def example(kind):
    """A release of this kind for the small worlds of `reidrisk.testing`."""
    if hasattr(kind, "example"):
        return kind.example()
    known = parameters_of(kind)
    needed = {name: _value(one) for name, one in known.items() if one.needed or one.of_people}
    try:
        return kind(**needed)
    except InvalidInput:  # one of several must be given
        first = next(one for one in known.values() if one.number and one.name not in needed)
        return kind(**needed, **{first.name: _value(first)})


def _value(parameter):
    """A small value in the range of a parameter."""
    if parameter.release:
        kinds = release_kinds().values()
        return example(next(one for one in kinds if not _inner(one)))
    if parameter.of_people:
        return TOKENS
    if parameter.choices:
        return parameter.choices[0]
    usual = 3 if parameter.whole else 0.2 if parameter.share else 1.0
    return type(usual)(np.clip(usual, parameter.least, parameter.most))


def _inner(kind):
    """Whether a release is one of another release, or looks at everybody first."""
    return hasattr(kind, "surveyed") or any(one.release for one in parameters_of(kind).values())


def engines():
    """All engines that need no library beside our own, by name; those of a cluster: tests/spark."""
    found = {}
    for kind in _classes(reidrisk.engines, "reduce", "search"):
        try:
            found[kind] = kind()
        except TypeError:  # it needs a session
            continue
    bases = {base for kind in found for base in kind.__mro__[1:]}
    return {kind.__name__: one for kind, one in found.items() if kind not in bases}


def score_kinds():
    """All classes of scores that `reidrisk.scores` offers."""
    found = _classes(reidrisk.scores, "check", "of")
    return {one for one in found if one.__name__ in reidrisk.scores.__all__}


def analyses():
    """All analyses of the package, by the names of their modules."""
    return {one.__name__.rpartition(".")[-1]: one for one in ANALYSES}


def study_of_everything():
    """A small study that asks for every analysis."""
    topics = TopicsApi(topics=TOKENS, top=3, noise=0.1)
    return Study(
        attacks=(Hamming(), WeightedHamming()),
        release=topics,
        targets=40,
        seed=1,
        models=(WeightedHamming(),),
        full_information=True,
        sizes=(50,),
        guesses=(2,),
        strangers=0.2,
        per_user=Repeats(users=3, repeats=3),
        information=("counts",),
        beside=(replace(topics, noise=0.2),),
        sweep={"noise": (0.05,)},
        everyone=True,
        error_rates=True,
    )


def study_of_vectors():
    """A small study of noise on vectors, and its people."""
    vectors = np.random.default_rng(1).standard_normal((60, 4))
    people = VectorPeople(vectors, np.arange(60))
    noise = GaussianNoise(scale=0.5, clip=1.0)
    return Study(attacks=(Nearest(),), release=noise, noise_levels=(1.0,), seed=1), people


def _classes(package, *methods):
    """Classes of a package that have these methods, and are no protocols."""
    for module in modules_of(package):
        for name, one in vars(module).items():
            if (
                inspect.isclass(one)
                and one.__module__ == module.__name__
                and not name.startswith("_")
                and not getattr(one, "_is_protocol", False)
                and all(callable(getattr(one, method, None)) for method in methods)
            ):
                yield one


def fitted(attack, seen, revealed, **besides):
    """The observations that an attack is for, and its score on them.

    Args:
        attack: The attack.
        seen: What sites were shown.
        revealed: Makes the observations of a full-information attacker.
        besides: What the view holds besides them.
    """
    try:
        score = attack.fit(View.of(seen, **besides))
    except InvalidInput as wrong:
        if wrong.code != "needs-top-sets":
            raise
        seen = revealed()
        score = attack.fit(View.of(seen, **besides))
    score.check(seen)
    return seen, score


def scores():
    """Scores that no attack makes by default without torch, each with rows of 4 tokens."""
    random = np.random.default_rng(1)
    known, other = random.dirichlet(np.ones(5), (2, 3))
    chain = TypeChain(np.full(3, 1 / 3), np.full(3, 0.9), known, random.random((3, 5)), other)
    hamming = TokenWeights(np.ones(4))
    return (
        chain,
        CosineWeights([1, 2, 3, 0]),
        Shortlisted(TokenPairWeights(np.eye(4)), hamming, 5),
        ShortlistedChances(chain, hamming, 5),
    )
