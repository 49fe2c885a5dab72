"""The authors' files: TFRecord with odd features, weights with odd entries."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from tests.fuzz.running import NAME
from tests.fuzz.world import STUDY

from reidrisk.io.authors.tfrecord import Lists, tfrecord_bytes

VALUES = (0, 1, -1, 7, 10**9, 10**30, 1.5, 1e308, "1e999", "NaN", "-Infinity", "true", "null", '"7"',
          "[1]", "{}", "9" * 5000, "[" * 3000)  # fmt: skip
WHOLE = (0, 1, 2, 5, 10, -1, 349, 2**31, 2**62, -(2**63))
NAMES = ("epoch_0_topics", "epoch_1_topics", "epoch_2_topics", "epoch_0_weights", "epoch_1_weights",
         "epoch_2_weights", "client_1_tokens", "client_2_tokens", "epoch_0_tokens", "epoch_1_tokens",
         "epoch_999999999999999999_topics", "epoch_01_topics", "other", "", "é", "user_id")  # fmt: skip


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A spoilt file of the authors' kind, and its reader."""
    if rng.random() < 0.3:
        (place / "spoilt.jsonl").write_text("".join(_line(rng) for _ in range(rng.randrange(6))))
        return ("read", "weights", "spoilt.jsonl")
    (place / "spoilt.tfrecord").write_bytes(tfrecord_bytes(_features(rng)).tobytes())
    if rng.random() < 0.2:
        study = STUDY.format(path="spoilt.tfrecord").replace('"table"', '"tfrecord"')
        (place / "file.toml").write_text(study)
        return ("study", "file.toml", "-o", "ours-run", "-q")
    return ("read", rng.choice(("tfrecord-people", "tfrecord-rows")), "spoilt.tfrecord")


def _line(rng: Random) -> str:
    fields = ["token_id", "match_weight", "mismatch_weight"]
    if rng.random() < 0.1:
        fields[rng.randrange(3)] = "other"
    values = [rng.choice(VALUES) if rng.random() < 0.3 else rng.randrange(9) for _ in fields]
    whole = ", ".join(
        f"{json.dumps(name)}: {one}" for name, one in zip(fields, values, strict=True)
    )
    return rng.choice((f"{{{whole}}}",) * 9 + (f"[{whole}]", whole, "", "3")) + "\n"


def _features(rng: Random) -> dict[str, Lists | pa.Array]:
    count = rng.choice((1, 4, 24))
    users = [f"{NAME}{rng.choice((one, one, one, 0))}" for one in range(count)]
    features: dict[str, Lists | pa.Array] = {}
    if rng.random() < 0.9:
        features["user_id"] = pa.array(users) if rng.random() < 0.9 else _whole(rng, [1] * count)
    for name in rng.sample(NAMES, rng.randrange(1, 7)):
        sizes = [rng.choice((0, 1, 4))] * count
        if rng.random() < 0.3:
            sizes = [rng.choice((0, 1, 2, 4)) for _ in range(count)]
        how = rng.random()
        floats = ("weights" in name) == (how < 0.9)
        features[name] = (
            pa.array(users) if how < 0.05 else (_real if floats else _whole)(rng, sizes)
        )
    return features


def _whole(rng: Random, sizes: list[int]) -> Lists:
    most = rng.choice((4, len(WHOLE)))
    values = [rng.choice(WHOLE[:most]) for _ in range(sum(sizes))]
    return Lists(np.array(values, np.int64), np.cumsum([0, *sizes]))


def _real(rng: Random, sizes: list[int]) -> Lists:
    values = (
        (1.0, 2.0, 0.5) if rng.random() < 0.5 else (0.0, -1.0, float("nan"), float("inf"), 1e38)
    )
    return Lists(np.array([rng.choice(values) for _ in range(sum(sizes))]), np.cumsum([0, *sizes]))
