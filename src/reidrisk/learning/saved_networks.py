"""Save and load a trained network with all it needs, as one safetensors file.

A model is learned from people and may tell of them, so only its owner may read the file: see
`docs/decisions/0025-networks-in-safetensors.md`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import shown, whole_number
from reidrisk.core.digest import sha256, sha256_json
from reidrisk.errors import InvalidInput
from reidrisk.learning.tensor_files import read_sealed, write_sealed

SCHEMA = "reidrisk-model/1"


@dataclass(frozen=True, slots=True)
class About:
    """What a model is.

    Attributes:
        kind: What kind of model, such as "transformer".
        configuration: How it is built; what JSON can say.
        tokens: Of its vocabulary.
        labels: `hash_of_labels` of the vocabulary; None if tokens have no labels.
        slots: Of the longest row that it knows.
        users: It was trained on.
        seed: Of the training.
        steps: After which it has these weights.
        rows: `hash_of_rows` that it was trained on.
    """

    kind: str
    configuration: Mapping[str, Any]
    tokens: int
    labels: str | None
    slots: int
    users: int
    seed: int
    steps: int
    rows: str

    def __post_init__(self) -> None:
        for name in ("tokens", "slots", "users"):
            whole_number(name, getattr(self, name), least=1)
        for name in ("seed", "steps"):
            whole_number(name, getattr(self, name), least=0)
        texts = (self.kind, self.rows, self.labels or "")
        if not all(isinstance(one, str) for one in texts):
            raise InvalidInput(
                f"kind, rows and labels are texts, got {shown(texts)}", code="wrong-type"
            )
        if not isinstance(self.configuration, Mapping):
            raise InvalidInput(
                f"configuration is by name, got {shown(self.configuration)}", code="wrong-type"
            )


@dataclass(frozen=True, slots=True)
class Model:
    """A model as it was read.

    Attributes:
        path: From where.
        about: What it is.
        tensors: Its weights, by name.
        version: Of reidrisk, which wrote it.
    """

    path: Path
    about: About
    tensors: Mapping[str, Any]
    version: str

    def fill(self, network: Any) -> None:
        """Give a network the weights.

        Raises:
            InvalidInput: They are those of a network of another shape, or no numbers.
        """
        self.check(network)
        wrong = [name for name, one in self.tensors.items() if not bool(one.isfinite().all())]
        if wrong:
            raise InvalidInput(
                f"{self.path}: has weights that are not numbers (in {shown(wrong[0])}); train anew",
                code="not-finite",
            )
        network.load_state_dict(dict(self.tensors))

    def check(self, network: Any) -> None:
        """Refuse weights of another network; this one may be on the device `meta`."""
        wanted, there = _kinds(network.state_dict()), _kinds(self.tensors)
        if wanted != there:
            differ = sorted({name for name, _ in wanted.items() ^ there.items()})
            raise self.of_another(f"{shown(differ[0])} and {len(differ)} in all differ")

    def of_another(self, why: str) -> InvalidInput:
        """The refusal of weights that are another network's."""
        return InvalidInput(
            f"{self.path}: has the weights of another network ({why}); use the version of reidrisk "
            f"that wrote it, {shown(self.version)}, or train anew",
            code="wrong-model",
        )


def _kinds(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: (tuple(one.shape), one.dtype) for name, one in tensors.items()}


def write_model(path: Path, network: Any, about: About) -> None:
    """Write a model into a file that only its owner may read, whole or not at all."""
    said = {"schema": SCHEMA, "version": version("reidrisk"), "about": asdict(about)}
    write_sealed(path, said, network.state_dict())


def read_model(
    path: Path,
    *,
    kind: str,
    tokens: int | None = None,
    labels: str | None = None,
    slots: int | None = None,
) -> Model:
    """Read a model.

    Args:
        path: The file.
        kind: What kind of model is wanted.
        tokens: Of the data at hand.
        labels: `hash_of_labels` of the data at hand, if it has labels.
        slots: Of the rows at hand.

    Raises:
        InvalidInput: It is no model, not as it was written, or not for this.
    """
    said, tensors = read_sealed(path, "a model")
    about = _about(path, said)
    if about.kind != kind:
        raise InvalidInput(
            f"{path}: is a model of kind {shown(about.kind)}, and {kind!r} is wanted; name a file "
            "of that kind, or train one",
            code="wrong-model",
        )
    for what, needed, there in (("tokens", tokens, about.tokens), ("slots", slots, about.slots)):
        # Shorter rows can be read by a model of longer ones; other tokens cannot.
        if needed is not None and (needed > there or (what == "tokens" and needed != there)):
            raise InvalidInput(
                f"{path}: the model was trained with {there:,} {what} and the rows have "
                f"{needed:,}; use rows like those, or train anew",
                code="wrong-model",
            )
    if labels is not None and about.labels is not None and labels != about.labels:
        raise InvalidInput(
            f"{path}: the model was trained with other labels of tokens than the rows have; use "
            "rows with the same tokens in the same order, or train anew",
            code="wrong-model",
        )
    return Model(path, about, tensors, said["version"])


def _about(path: Path, said: dict[str, Any]) -> About:
    """What is said of a model."""
    schema, by = said.get("schema"), said.get("version")
    if schema == SCHEMA and isinstance(by, str):
        try:
            return About(**said["about"])
        except (InvalidInput, KeyError, TypeError):
            pass
    raise InvalidInput(
        f"{path}: is not a model that reidrisk {version('reidrisk')} knows ({shown(schema)} by "
        f"version {shown(by)}); name a model, or use that version",
        code="unknown-schema",
    )


def hash_of_labels(labels: Iterable[object]) -> str:
    """The SHA-256 of the labels of tokens, in their order."""
    return sha256_json([str(one) for one in labels])


def hash_of_rows(*rows: NDArray[np.integer]) -> str:
    """The SHA-256 of rows of tokens, whatever type holds them; several if a user has several."""
    return sha256(*(part for one in rows for part in (repr(one.shape), _numbers(one))))


def _numbers(rows: NDArray[np.integer]) -> memoryview:
    return np.ascontiguousarray(rows, dtype="<i8").data
