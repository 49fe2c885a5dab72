"""Models in files: what comes back, and what is refused in one line."""

import hashlib
import json
import stat
import struct
import tracemalloc
from dataclasses import asdict, replace

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk
from reidrisk.core.machine import limited
from reidrisk.errors import InvalidInput, TooLarge

torch = pytest.importorskip("torch")

from tests.learning.small_networks import TOKENS, Small  # noqa: E402

from reidrisk.learning.network_files import (  # noqa: E402  # noqa: E402
    ModelInfo,
    hash_of_labels,
    hash_of_rows,
    read_model,
    read_sealed,
    write_model,
    write_sealed,
)

pytestmark = pytest.mark.torch

LABELS = ("news", "music", "sports", "travel", "cats")
ABOUT = ModelInfo(
    kind="small",
    configuration={"width": 8, "drop": 0.2},
    tokens=TOKENS,
    labels=hash_of_labels(LABELS),
    slots=8,
    users=60,
    seed=3,
    steps=40,
    rows=hash_of_rows(np.arange(6).reshape(2, 3)),
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.safetensors"
    write_model(path, Small(), ABOUT)
    return path


def refused(path, code, *, snapshot=True, **wanted):
    """Expect that a file is refused by name and in one line."""
    with refuses(code, snapshot=snapshot) as found:
        read_model(path, **{"kind": "small", **wanted})
    assert_names(path, found.value)


def refused_for_any_reason(path):
    """The same where what is wrong depends on which bytes are."""
    with pytest.raises(InvalidInput) as found:
        read_model(path, kind="small")
    assert_names(path, found.value)


def assert_names(path, wrong):
    assert "\n" not in str(wrong)
    assert str(wrong).startswith(str(path))


def test_a_model_comes_back_as_it_was_written(tmp_path):
    network, other = Small(), Small()
    path = tmp_path / "model.safetensors"
    write_model(path, network, ABOUT)
    model = read_model(path, kind="small", tokens=TOKENS, labels=hash_of_labels(LABELS), slots=8)
    assert model.about == ABOUT
    assert model.version == reidrisk.__version__
    model.fill(other)
    for name, one in network.state_dict().items():
        assert torch.equal(other.state_dict()[name], one)


def test_the_same_model_gives_the_same_bytes_and_other_tools_can_read_them(tmp_path, file):
    from safetensors.torch import load_file

    model, again = read_model(file, kind="small"), tmp_path / "again.safetensors"
    network = Small()
    model.fill(network)
    write_model(again, network, ABOUT)
    assert again.read_bytes() == file.read_bytes()
    assert load_file(file).keys() == model.tensors.keys()


def test_a_model_is_for_its_owner_alone(file):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_shorter_rows_fit_and_labels_are_compared_only_where_there_are_some(tmp_path, file):
    read_model(file, kind="small", slots=3)
    read_model(file, kind="small", labels=None)
    bare = tmp_path / "bare.safetensors"
    write_model(bare, Small(), replace(ABOUT, labels=None))
    read_model(bare, kind="small", labels=hash_of_labels(LABELS))


@pytest.mark.parametrize(
    "wanted",
    [
        {"kind": "transformer"},
        {"tokens": 4},
        {"tokens": 6},
        {"slots": 9},
        {"labels": hash_of_labels(LABELS[::-1])},
    ],
)
def test_a_model_for_something_else_is_refused(file, wanted):
    refused(file, "wrong-model", **wanted)


def test_weights_of_another_network_are_refused(file):
    model, network = read_model(file, kind="small"), Small()
    network.out = torch.nn.Linear(8, TOKENS + 1)
    with refuses("wrong-model"):
        model.fill(network)


def test_any_flipped_byte_is_found(tmp_path, file):
    content, spoilt = file.read_bytes(), tmp_path / "spoilt.safetensors"
    head = 8 + int.from_bytes(content[:8], "little")
    chance = np.random.default_rng(0)
    some = chance.integers(head, len(content), 200)
    for place in (*range(head), *some, len(content) - 1):
        other = bytearray(content)
        other[place] ^= chance.choice([1, 2, 4, 8, 16, 32, 64, 128, 255])
        spoilt.write_bytes(other)
        refused_for_any_reason(spoilt)


def test_a_header_with_other_spaces_is_found(tmp_path, file):
    """JSON says the same with other spaces; the checksum is of bytes."""
    content, spoilt = file.read_bytes(), tmp_path / "spoilt.safetensors"
    head = 8 + int.from_bytes(content[:8], "little")
    text = content[8:head].rstrip().decode()
    same = json.dumps(json.loads(text)).encode()
    spoilt.write_bytes(struct.pack("<Q", len(same)) + same + content[head:])
    refused(spoilt, "damaged-file")


def test_a_truncated_or_longer_file_is_found(tmp_path, file):
    content, spoilt = file.read_bytes(), tmp_path / "spoilt.safetensors"
    lengths = (0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1)
    for other in (*(content[:length] for length in lengths), content + b"\0"):
        spoilt.write_bytes(other)
        refused_for_any_reason(spoilt)


def header(text, rest=b""):
    return struct.pack("<Q", len(text)) + text + rest


@pytest.mark.parametrize(
    "content",
    [
        b"user,token\n1,2\n",
        b"PK\x03\x04" + bytes(40),
        b"\x80\x02cos\nsystem\n.",
        bytes(64),
        b"\xff" * 64,
        header(b"null"),
        header(b"[]"),
        header(b'{"__metadata__": []}'),
        header(b'{"__metadata__": {"reidrisk": 7}}'),
        header(b'{"__metadata__": {"reidrisk": "[]"}}'),
        header(b'{"__metadata__": {"reidrisk": "7"}}'),
        header(json.dumps({"__metadata__": {"reidrisk": '{"sha256": "0"}'}}).encode()),
        header(json.dumps({"__metadata__": {"reidrisk": '{"sha256": 7}'}}).encode()),
        header(json.dumps({"__metadata__": {"reidrisk": f'{{"sha256": "{"0" * 64}"}}'}}).encode()),
        header(b"[" * 200_000),
        header(b'{"__metadata__": {"reidrisk": "' + b"[" * 200_000 + b'"}}'),
        header(b'{"a": ' + b"9" * 5_000 + b"}"),
        header(b'\xff\xfe{"__metadata__": 1}'),
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2**24 + 1) + b"{}",
    ],
)
def test_what_is_no_model_is_refused(tmp_path, content):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    refused(path, "damaged-file", snapshot=False)


def forged(said, tensors, rest=b""):
    """A file with a checksum that fits, by somebody who knows how."""
    notes = {"reidrisk": json.dumps({**said, "sha256": "0" * 64})}
    text = json.dumps({"__metadata__": notes, **tensors}).encode()
    seal = hashlib.sha256(header(text, rest)).hexdigest().encode()
    return header(text.replace(b"0" * 64, seal, 1), rest)


@pytest.mark.parametrize(
    "tensors",
    [
        {"out": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}},
        {"out": {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 8]}},
        {"out": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 8]}},
        {"out": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}},
        {"out": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}},
        {"out": 7},
    ],
)
def test_tensors_that_the_file_does_not_hold_are_refused_without_being_allocated(tmp_path, tensors):
    path = tmp_path / "model.safetensors"
    path.write_bytes(forged({}, tensors, bytes(8)))
    tracemalloc.start()
    try:
        refused(path, "damaged-file")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_file_larger_than_memory_is_refused_before_it_is_read(file):
    with limited(1), refuses("out-of-memory", TooLarge):
        read_model(file, kind="small")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"schema": "reidrisk-model/2", "version": "9.9", "about": {}},
        {"schema": "reidrisk-model/1", "version": "0.1.0"},
        {"schema": "reidrisk-model/1", "version": "0.1.0", "about": {"kind": "small"}},
        {"schema": "reidrisk-model/1", "version": "0.1.0", "about": []},
        {"schema": "reidrisk-model/1", "version": 7, "about": asdict(ABOUT)},
        *(
            {"schema": "reidrisk-model/1", "version": "0.1.0", "about": asdict(ABOUT) | wrong}
            for wrong in (
                {"tokens": "5"},
                {"slots": 0},
                {"kind": ["small"]},
                {"labels": 7},
                {"configuration": [8]},
                {"more": 1},
            )
        ),
    ],
)
def test_a_file_of_another_version_or_purpose_is_refused(tmp_path, said):
    path = tmp_path / "model.safetensors"
    write_sealed(path, said, {})
    refused(path, "unknown-schema")


def test_a_safetensors_file_of_somebody_else_is_refused(tmp_path):
    from safetensors.torch import save_file

    path = tmp_path / "other.safetensors"
    save_file({"weight": torch.ones(2)}, path)
    refused(path, "wrong-model")
    save_file({"weight": torch.ones(2)}, path, metadata={"format": "pt"})
    refused(path, "wrong-model")


def test_a_file_that_is_not_there_is_said(tmp_path):
    refused(tmp_path / "none.safetensors", "file-not-found")


def test_tensors_that_share_memory_are_written_too(tmp_path):
    path, whole = tmp_path / "shared.safetensors", torch.arange(6.0).reshape(2, 3)
    write_sealed(path, {}, {"one": whole, "same": whole, "turned": whole.T, "none": whole[:0]})
    _, found = read_sealed(path, "a model")
    assert torch.equal(found["same"], whole)
    assert torch.equal(found["turned"], whole.T)
    assert found["none"].shape == (0, 3)


def test_zeros_elsewhere_are_not_taken_for_the_place_of_the_checksum(tmp_path):
    path, zeros = tmp_path / "zeros.safetensors", "0" * 64
    write_sealed(path, {"about": zeros, "z": zeros}, {"sha256": torch.zeros(2)})
    assert read_sealed(path, "a model")[0] == {"about": zeros, "z": zeros}


def test_what_could_not_be_read_is_not_written(tmp_path):
    path = tmp_path / "model.safetensors"
    with refuses("too-much-metadata", TooLarge):
        write_sealed(path, {"labels": "x" * (1 << 24)}, {})
    assert not path.exists()


def test_hashes_tell_rows_and_labels_apart():
    rows = np.array([[0, 1], [2, -1]])
    assert hash_of_rows(rows) == hash_of_rows(rows.astype(np.int16).copy(order="F"))
    different = (rows, rows[::-1], rows.reshape(1, 4), rows[:1])
    assert len({hash_of_rows(one) for one in different}) == 4
    assert hash_of_rows(rows, rows) != hash_of_rows(np.vstack([rows, rows]))
    assert hash_of_labels(["a", "b,c"]) != hash_of_labels(["a,b", "c"])
