"""Matrices in numpy's and scipy's files: odd types, shapes, numbers and parts."""

import io
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import scipy.sparse as sp

TYPES = (
    "f8",
    "f4",
    "f2",
    "i1",
    "i8",
    "u8",
    "?",
    "c16",
    "S3",
    "U2",
    "M8[s]",
    "m8[s]",
    ">f8",
    "V4",
    "O",
)
SHAPES = ((), (0,), (0, 4), (4, 0), (3,), (24, 4), (1, 1), (2, 2, 2), (400, 3), (3, 400))  # fmt: skip
NUMBERS = (0.0, 1.0, 0.25, 0.5, -0.25, 1.5, float("nan"), float("inf"), 5e-324, 1e308, 0.1 + 0.2)


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A spoilt array, and `bounds`, its only reader."""
    suffix, make = rng.choice(((".npy", _dense), (".npz", _sparse), (".npz", _parts)))
    (place / f"spoilt{suffix}").write_bytes(make(rng))
    return ("bounds", f"spoilt{suffix}", *rng.choice(((), ("--json",))))


def _array(rng: Random) -> np.ndarray:
    shape = rng.choice(SHAPES)
    one = rng.choice(("chances", "numbers", "type"))
    if one == "chances" and len(shape) == 2 and shape[1]:
        return np.full(shape, 1 / shape[1])
    if one == "numbers":
        return np.array([rng.choice(NUMBERS) for _ in range(int(np.prod(shape)))]).reshape(shape)
    kind = np.dtype(rng.choice(TYPES))
    return np.zeros(shape, kind) if kind.kind != "O" else np.full(shape, None, object)


def _dense(rng: Random) -> bytes:
    stream, array = io.BytesIO(), _array(rng)
    if rng.random() < 0.2:
        array = np.asfortranarray(array)
    np.save(stream, array, allow_pickle=True)  # who reads it must not unpickle
    content = stream.getvalue()
    if rng.random() < 0.2:  # a header that promises more than there is
        content = content.replace(
            b"(24, 4)", rng.choice((b"(9**99,)", b"(2, 4) ", b"(99, 9)", b"(-1, 4)"))
        )
    return content


def _sparse(rng: Random) -> bytes:
    stream = io.BytesIO()
    size = rng.choice((1, 4, 24))
    values = np.array([rng.choice(NUMBERS) for _ in range(size)])
    eye = sp.coo_array(
        (rng.choice((values, np.ones(size))), (range(size), range(size))), (size, size)
    )
    made = rng.choice((eye.tocsr, eye.tocsc, eye.tocoo, eye.tobsr, eye.todia))()
    sp.save_npz(stream, made, compressed=rng.random() < 0.5)
    return stream.getvalue()


def _parts(rng: Random) -> bytes:
    """The members of a sparse array, some of them wrong or away."""
    parts = {
        "format": np.array(rng.choice((b"csr", b"csc", b"coo", b"bsr", b"xyz", b""))),
        "shape": np.array(rng.choice(((4, 4), (4, 2), (-1, 4), (2**40, 4), (4,), (0, 0)))),
        "data": np.array([rng.choice(NUMBERS) for _ in range(4)]),
        "indices": np.array(rng.choice(((0, 1, 2, 3), (0, 0, 0, 0), (9, -1, 2, 3), (0, 1)))),
        "indptr": np.array(rng.choice(((0, 1, 2, 3, 4), (0, 4, 2, 3, 4), (0, 9, 9, 9, 9), (0, 4)))),
        "row": np.array(rng.choice(((0, 1, 2, 3), (0, 1, 2, 9), (0, 1, 2, -9)))),
        "col": np.array([0, 1, 2, 3]),
        "_is_array": np.array(rng.choice((True, False))),
    }
    for name in list(parts):
        if rng.random() < 0.1:
            del parts[name]
        elif rng.random() < 0.05:
            parts[name] = rng.choice((np.array(None, object), np.zeros((2, 2)), np.array("text")))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, part in parts.items():
            inner = io.BytesIO()
            np.save(inner, part, allow_pickle=True)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), inner.getvalue())
    return stream.getvalue()
