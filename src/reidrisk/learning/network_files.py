"""Trained networks and checkpoints of training in safetensors files, each with a checksum.

The checksum is in the header, computed with zeros in its place. It detects damage and careless
changes; it is no signature. Nothing in a file is executed, and no more memory is allocated than the
file is long.

A model may reveal something of the people it was trained on, so only its owner may read the file:
see `docs/decisions/0025-networks-in-safetensors.md`.

Two checkpoints are kept: the last, and the one before in case the last is damaged. Resuming from
either gives the same network, so skipping a damaged one costs only time. A checkpoint of another
training is somebody's work, and is left alone.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import shown, whole_number
from reidrisk.core.digest import sha256, sha256_json
from reidrisk.core.files import ONLY_ME, PART, existing_file, written_whole
from reidrisk.core.machine import check_fits
from reidrisk.core.optional import guest
from reidrisk.errors import InvalidInput, TooLarge

safetensors: Any = guest("safetensors", "torch")
_safetensors_torch: Any = guest("safetensors.torch", "torch")

_SAID, _SEAL = "reidrisk", "sha256"
_NO_SEAL = "0" * 64
_LENGTH = 8
"""Bytes at the start of a file that say how long its header is."""
_MOST_HEADER = 1 << 24
"""A header of the network with 300 million parameters has some 50,000 bytes."""

SCHEMA = "reidrisk-model/1"

_KEPT = 2
_BEGIN, _END = "reidrisk-training-", ".safetensors"


def write_sealed(path: Path, said: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
    """Write a file that only its owner may read, whole or not at all.

    Args:
        path: Where.
        said: What JSON can say.
        tensors: By name, on any device; views and tensors that share memory too.
    """
    # Copies, since safetensors refuses memory that two tensors share.
    copies = {name: one.detach().to("cpu", copy=True).contiguous() for name, one in tensors.items()}
    # One note holds everything: safetensors writes several in arbitrary order.
    text = json.dumps({**said, _SEAL: _NO_SEAL}, allow_nan=False, sort_keys=True)
    content = _safetensors_torch.save(copies, metadata={_SAID: text})
    seal = sha256(content)
    head = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    # What `read_sealed` refuses must not be written.
    if head > _LENGTH + _MOST_HEADER:
        raise TooLarge(
            f"{path}: more would be said of the tensors than can be read; say less",
            code="too-much-metadata",
        )
    with written_whole(path, mode=ONLY_ME) as (part,), part.open("wb") as file:
        file.write(content[:head].replace(_written(_NO_SEAL), _written(seal), 1))
        file.write(memoryview(content)[head:])


def read_sealed(path: Path, what: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a file says, and its tensors.

    Args:
        path: The file.
        what: What it should be, such as "a model".

    Raises:
        InvalidInput: It is no such file, or not one byte of it may differ and some does.
    """
    file = existing_file(path)
    # The content and the tensors made of it.
    check_fits(2 * file.stat().st_size, f"{file}", "use a smaller network")
    content = file.read_bytes()
    length = int.from_bytes(content[:_LENGTH], "little")
    # Before anything is parsed: in a damaged file the length may be any number.
    if not length <= min(_MOST_HEADER, len(content) - _LENGTH):
        raise _damaged(file, what, "its header is not as long as it says")
    head = content[: _LENGTH + length]
    said, seal = _header(head[_LENGTH:], file, what)
    # The checksum was computed with zeros in its place.
    unsealed = head.replace(_written(seal), _written(_NO_SEAL), 1)
    if sha256(unsealed, memoryview(content)[len(head) :]) != seal:
        raise _damaged(file, what, "its checksum is that of other content")
    try:
        return said, _safetensors_torch.load(content)
    except (safetensors.SafetensorError, AssertionError, KeyError, RuntimeError) as wrong:
        raise _damaged(file, what, "its tensors are not where it says") from wrong


def _written(seal: str) -> bytes:
    """A checksum as it stands in a header: JSON inside a string of JSON."""
    return json.dumps(json.dumps({_SEAL: seal}))[2:-2].encode()


def _header(header: bytes, file: Path, what: str) -> tuple[dict[str, Any], str]:
    """What a header says, and the checksum."""
    try:
        said = json.loads(json.loads(header)["__metadata__"][_SAID])
        seal = said.pop(_SEAL)
    except KeyError:
        raise InvalidInput(
            f"{file}: is a safetensors file, but not {what} of reidrisk; name the file that "
            "reidrisk wrote",
            code="wrong-model",
        ) from None
    except (AttributeError, ValueError, TypeError, RecursionError):
        raise _damaged(file, what, "its header is not what safetensors files begin with") from None
    if not (isinstance(seal, str) and re.fullmatch("[0-9a-f]{64}", seal)):
        raise _damaged(file, what, "its header has no checksum")
    return said, seal


def _damaged(file: Path, what: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{file}: is not {what} as reidrisk wrote it ({why}); copy it again from where it came "
        "from, or delete it and train anew",
        code="damaged-file",
    )


@dataclass(frozen=True, slots=True)
class ModelInfo:
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
    about: ModelInfo
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


def write_model(path: Path, network: Any, about: ModelInfo) -> None:
    """Write a model into a file that only its owner may read, whole or not at all.

    Args:
        path: The file.
        network: A module of torch.
        about: What it is.
    """
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


def _about(path: Path, said: dict[str, Any]) -> ModelInfo:
    """What is said of a model."""
    schema, by = said.get("schema"), said.get("version")
    if schema == SCHEMA and isinstance(by, str):
        try:
            return ModelInfo(**said["about"])
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
    # Shapes too, since 2 x 3 and 3 x 2 tokens may have the same bytes.
    return sha256(*(part for one in rows for part in (repr(one.shape), _numbers(one))))


def _numbers(rows: NDArray[np.integer]) -> memoryview:
    # One width and byte order, so that a hash is the same on every machine.
    return np.ascontiguousarray(rows, dtype="<i8").data


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of one training.

    Attributes:
        folder: Where they are; other files in it are left alone.
        training: What makes it this training and no other: a text by name.
    """

    folder: Path
    training: Mapping[str, str]

    def find(self) -> tuple[Path, dict[str, Any]] | None:
        """The last whole checkpoint and its tensors; None if there is none.

        Raises:
            InvalidInput: It is of another training; says what differs.
        """
        for file in reversed(self._files()):
            try:
                said, tensors = read_sealed(file, "a checkpoint")
            # A lack of memory is no damage, so nothing is skipped because of it.
            except TooLarge:
                raise
            except InvalidInput:
                continue
            self._refuse_another(file, said.get("training"))
            return file, tensors
        return None

    def store(self, step: int, tensors: Mapping[str, Any]) -> None:
        """Keep what was reached at a step.

        Args:
            step: Steps done.
            tensors: All that what follows depends on, by name.
        """
        file = self.folder / f"{_BEGIN}{step:09}{_END}"
        write_sealed(file, {"training": dict(self.training)}, tensors)
        files = self._files()
        here = files.index(file) + 1
        # Checkpoints of later steps were skipped because they are damaged.
        _remove(files[: max(here - _KEPT, 0)] + files[here:])

    def clear(self) -> None:
        """Remove them, and temporary files that killed processes left behind."""
        _remove([*self._files(), *self.folder.glob(f".{_BEGIN}*{_END}.*{PART}")])

    def last(self) -> Path | None:
        """The file of the last step, if there is one."""
        return max(self._files(), default=None)

    def _files(self) -> list[Path]:
        """By step."""
        # Steps are written with nine digits, so names sort as steps do.
        return sorted(self.folder.glob(f"{_BEGIN}{'[0-9]' * 9}{_END}"))

    def _refuse_another(self, file: Path, training: object) -> None:
        if training == self.training:
            return
        other = training if isinstance(training, dict) else {}
        names = sorted({*other, *self.training})
        differ = [name for name in names if other.get(name) != self.training.get(name)]
        raise InvalidInput(
            f"{file}: is a checkpoint of another training (another {', '.join(differ)}); go on as "
            "it was begun, name another folder, or remove the file to begin anew",
            code="another-run",
        )


def _remove(files: list[Path]) -> None:
    for file in files:
        # A file that cannot be removed does no harm, and is no reason to stop training.
        with suppress(OSError):
            file.unlink()
