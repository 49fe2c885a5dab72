"""Good files of every kind, with a few bytes changed."""

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path
from random import Random

import numpy as np
from tests.fuzz.families.odd import spoilt
from tests.fuzz.world import COMMANDS, STUDY

from reidrisk.io.authors import wire

READ = {
    **{f"{name}.csv": commands for name, commands in COMMANDS.items()},
    "people.parquet": COMMANDS["people"],
    "plays.parquet": COMMANDS["plays"],
    "known-lists.parquet": COMMANDS["known-lists"],
    "matrix.npy": COMMANDS["matrix"][:2],
    "matrix.npz": COMMANDS["matrix"][:2],
    "people.tfrecord": (("read", "tfrecord-people", "FILE"), ("read", "tfrecord-rows", "FILE")),
    "weights.jsonl": (("read", "weights", "FILE"),),
    "study.toml": (("study", "FILE", "-o", "ours-run", "-q"),),
}


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A file with changed bytes, perhaps packed before or after, and who reads it."""
    name = rng.choice(list(READ))
    good = (place / name).read_bytes()
    other = (place / rng.choice(list(READ))).read_bytes()
    words = rng.choice(READ[name])
    new = f"spoilt{Path(name).suffix}"
    if name == "people.tfrecord" and rng.random() < 0.8:
        content = reframed(rng, good)
    elif name.endswith(".csv") and rng.random() < 0.3:
        new, content = packed(rng, good, new)
    else:
        content = spoilt(rng, good, other)
    (place / new).write_bytes(content)
    return filled(words, new, place)


def filled(words: tuple[str, ...], name: str, place: Path) -> tuple[str, ...]:
    """The words with the name of the file; a study that reads it is written."""
    if "FILE.toml" in words:
        (place / "file.toml").write_text(STUDY.format(path=name))
    return tuple({"FILE": name, "FILE.toml": "file.toml"}.get(word, word) for word in words)


def packed(rng: Random, content: bytes, name: str) -> tuple[str, bytes]:
    """Text that is packed in some way, spoilt inside or outside; not always called so."""
    inside = rng.random() < 0.5
    if inside:
        content = spoilt(rng, content)
    end, pack = rng.choice(
        (("gz", _gzip), ("bz2", bz2.compress), ("xz", lzma.compress), ("", None))
    )
    if pack is not None:
        new, whole = rng.choice((f"{name}.{end}", name)), pack(content)
    else:
        stream = io.BytesIO()
        how = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
        with zipfile.ZipFile(stream, "w", how) as archive:
            for part in rng.choice(((name,), (name,), (name, "other.csv"), ("folder/", name))):
                archive.writestr(zipfile.ZipInfo(part), content, how)
        new, whole = f"{name}.zip", stream.getvalue()
    return new, whole if inside else spoilt(rng, whole)


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def reframed(rng: Random, content: bytes) -> bytes:
    """Records that are spoilt inside, with checksums that are right: the parser sees them."""
    data, at, records = np.frombuffer(content, np.uint8), 0, []
    while at < len(content):
        length = int.from_bytes(content[at : at + 8], "little")
        records.append(content[at + 12 : at + 12 + length])
        at += length + 16
    for _ in range(rng.choice((1, 1, 3))):
        one = rng.randrange(len(records))
        records[one] = spoilt(rng, records[one], records[one - 1])
    assert data.size == at
    return b"".join(map(framed, records))


def framed(record: bytes) -> bytes:
    length = len(record).to_bytes(8, "little")
    return length + _checksum(length) + record + _checksum(record)


def _checksum(content: bytes) -> bytes:
    data = np.frombuffer(content or b"\0", np.uint8)
    return int(wire.checksum(data, 0, len(content))).to_bytes(4, "little")
