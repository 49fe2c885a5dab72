"""Rows of a kind that the package does not know go through search, study and report."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import ArrayCodec, ArrayRows
from reidrisk.scores import Unit

DIMENSIONS, NOTHING = 8, -(2**15)
PEOPLE = rr.data.synthetic_topics(users=600, topics=20, epochs=2, seed=1)


class Vectors(Enum):
    VECTORS = "a vector for each slot"


@dataclass(frozen=True)
class VectorCodec(ArrayCodec):
    kind: ClassVar[Enum] = Vectors.VECTORS
    gap: ClassVar[int] = NOTHING

    @classmethod
    def of(cls, slots):
        return cls((slots, DIMENSIONS), np.dtype(np.int16))


@dataclass(frozen=True)
class InnerProduct:
    unit: ClassVar[Unit] = Unit("inner products", steps=1)

    def check(self, observations):
        assert observations.known.kind is Vectors.VECTORS

    def of(self, known, shown):
        known, shown = (
            np.where(each == NOTHING, 0, each).astype(np.int64) for each in (known, shown)
        )
        return (known * shown).sum(axis=(1, 2))


@dataclass(frozen=True)
class Nearest:
    name: ClassVar[str] = "nearest"
    knows: ClassVar[str] = "known vectors"
    assumes: ClassVar[str] = "Nothing is learned."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view):
        return InnerProduct()


@dataclass(frozen=True)
class Noisy:
    name: ClassVar[str] = "noisy-vectors"

    scale: float = rr.releases.parameter(5.0, help="Scale of the noise", least=0)

    def slots(self, people):
        return people.epochs

    def codec(self, people):
        return VectorCodec.of(people.epochs)

    def show(self, people, start, stop, *, site, seed, again=0):
        ids, count = people.ids[start:stop], people.epochs * DIMENSIONS
        true = uniforms(seed=0, purpose="vectors", users=ids, count=count) - 0.5
        noise = uniforms(seed=seed, purpose=f"noise/{site}/{again}", users=ids, count=count) - 0.5
        values = np.rint(100 * true + self.scale * noise).astype(np.int16)
        values = values.reshape(-1, people.epochs, DIMENSIONS)
        values[ids % 10 == 0] = NOTHING
        return ArrayRows(values, self.codec(people))

    def promises(self, people, slots):
        return ()


def observations(strangers=0.2):
    return rr.releases.observe(Noisy(), PEOPLE, targets=120, strangers=strangers, seed=3)


def test_observations_hold_them():
    seen = observations()
    assert seen.known.kind is Vectors.VECTORS
    assert seen.prefix(1).known.block(0, 2).shape == (2, 1, DIMENSIONS)
    assert (seen.anonymous.present() == seen.true_rows.present()).all()
    assert not seen.anonymous.present().all()
    with refuses("not-tokens"):
        _ = seen.tokens


def test_engines_agree():
    seen = observations()
    found, slow = (
        engine.search(seen, InnerProduct(), ranks=None, second=True)
        for engine in (rr.LocalEngine(threads=2, rows=64), rr.engines.ReferenceEngine())
    )
    for name in ("best", "ties", "true_score", "above", "level", "second"):
        assert (getattr(found, name) == getattr(slow, name)).all()


def test_risk_is_measured():
    seen = observations()
    curve = rr.measure(seen, Nearest(), slots=(1, 2))
    assert curve[2].value > curve[1].value > 0.3
    assert curve.not_assessed[2] == (~seen.anonymous.present().any(axis=1)).sum() > 0
    score, gap = rr.measure_strangers(seen, Nearest())
    assert (score.rule, gap.rule) == ("score", "gap")


@pytest.mark.parametrize("source", ["people", "observations"])
def test_a_study_and_its_report(source, tmp_path):
    of_people = source == "people"
    study = rr.Study(
        release=Noisy() if of_people else None,
        attacks=(Nearest(),),
        targets=120,
        strangers=0.2 if of_people else 0.0,
        seed=3,
    )
    result = study.run(PEOPLE if of_people else observations())
    assert result.risks[0].value > 0.5
    result.save(tmp_path / "run")
    rr.report.html(rr.study.Result.load(tmp_path / "run"), tmp_path / "report.html")
    assert "nearest" in (tmp_path / "report.html").read_text()
