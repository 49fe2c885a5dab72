"""Write and read tensors and notes in one safetensors file with a checksum.

The checksum stands in the header, computed with zeros in its place. It shows damage and careless
changes; it is no signature. Nothing of a file is executed, and nothing is allocated that the file
does not hold.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reidrisk.core.digest import sha256
from reidrisk.core.files import ONLY_ME, existing_file, written_whole
from reidrisk.core.machine import check_fits
from reidrisk.core.optional import guest
from reidrisk.errors import InvalidInput, TooLarge

safetensors: Any = guest("safetensors", "torch")
safetensors_torch: Any = guest("safetensors.torch", "torch")

_SAID, _SEAL = "reidrisk", "sha256"
_NO_SEAL = "0" * 64
_LENGTH = 8
"""Bytes at the start of a file that say how long its header is."""
_MOST_HEADER = 1 << 24
"""A header of the network with 300 million parameters has some 50,000 bytes."""


def write_sealed(path: Path, said: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
    """Write a file that only its owner may read, whole or not at all.

    Args:
        path: Where.
        said: What JSON can say.
        tensors: By name, on any device; views and tensors that share memory too.
    """
    # Copies, since safetensors refuses memory that two tensors share.
    copies = {name: one.detach().to("cpu", copy=True).contiguous() for name, one in tensors.items()}
    # One note that says all: safetensors writes several in any order.
    text = json.dumps({**said, _SEAL: _NO_SEAL}, allow_nan=False, sort_keys=True)
    content = safetensors_torch.save(copies, metadata={_SAID: text})
    seal = sha256(content)
    head = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
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
    check_fits(2 * file.stat().st_size, f"{file}", "use a smaller network")
    content = file.read_bytes()
    length = int.from_bytes(content[:_LENGTH], "little")
    if not length <= min(_MOST_HEADER, len(content) - _LENGTH):
        raise _damaged(file, what, "its header is not as long as it says")
    head = content[: _LENGTH + length]
    said, seal = _header(head[_LENGTH:], file, what)
    unsealed = head.replace(_written(seal), _written(_NO_SEAL), 1)
    if sha256(unsealed, memoryview(content)[len(head) :]) != seal:
        raise _damaged(file, what, "its checksum is that of other content")
    try:
        return said, safetensors_torch.load(content)
    except (safetensors.SafetensorError, AssertionError, KeyError, RuntimeError) as wrong:
        raise _damaged(file, what, "its tensors are not where it says") from wrong


def _written(seal: str) -> bytes:
    """A checksum as it stands in a header: in a text of JSON within JSON."""
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
