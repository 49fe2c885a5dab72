"""Every kind of bad input, each with file, row or record, reason and remedy; never a traceback."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk import InvalidInput, theory
from reidrisk.core.observations import Observations
from reidrisk.data import (
    make_profiles,
    read_histories,
    read_linked,
    read_observations,
    read_profiles,
    read_taxonomy,
    read_tfrecord_observations,
    read_tfrecord_profiles,
    read_token_weights,
    write_observations,
    write_tfrecord_profiles,
)
from reidrisk.errors import Unverified
from reidrisk.io.authors.tfrecord import Lists, tfrecord_bytes

HEAD = b"user,epoch,token,weight\n"


def records(**features):
    return tfrecord_bytes(features).tobytes()


def ints(*lists):
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Lists(np.array([value for part in lists for value in part], np.int64), ends)


def floats(*lists):
    return Lists(ints(*lists).values.astype(np.float32), ints(*lists).ends)


def texts(*values):
    return pa.array(values)


def packed_parquet(**columns):
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


# Arrow takes any bytes for a string, and a damaged file holds any.
NO_TEXT = pa.StringArray.from_buffers(
    2, pa.py_buffer(np.array([0, 3, 4], np.int32)), pa.py_buffer(b"ann\xff")
)
GOOD_RECORDS = records(
    user_id=texts("ann", "bob"),
    epoch_0_topics=ints([1], [2]),
    epoch_0_weights=floats([1], [1]),
)

PROFILES = {
    "missing column": (
        "p.csv",
        b"user,week,token\n1,1,1\n",
        "no column 'epoch'.*user, week, token",
    ),
    "missing column in Parquet": ("p.parquet", packed_parquet(user=[1]), "no column 'epoch'"),
    "two columns": ("p.csv", b"user,epoch,token,token\n1,1,1,1\n", "two columns 'token'"),
    "wrong type": (
        "p.csv",
        HEAD + b"1,1,1,2\n1,1,2,heavy\n",
        "row 2: 'weight' must be a number; correct",
    ),
    "weights as text": (
        "p.parquet",
        packed_parquet(user=[1], epoch=[1], token=[1], weight=["1"]),
        "'weight' holds string",
    ),
    "users as fractions": (
        "p.parquet",
        packed_parquet(user=[1.5], epoch=[1], token=[1]),
        "'user' holds double.*write the column",
    ),
    "text that is no text": (
        "p.parquet",
        packed_parquet(user=NO_TEXT, epoch=[1, 1], token=[1, 1]),
        "row 2: 'user' is not UTF-8",
    ),
    "negative weight": (
        "p.csv",
        HEAD + b"1,1,1,2\n1,1,2,-0.5\n",
        "row 2: weight is negative or not a finite number",
    ),
    "weight that is not a number": (
        "p.csv",
        HEAD + b"1,1,1,nan\n",
        "row 1: weight is negative or not",
    ),
    "infinite weight": ("p.csv", HEAD + b"1,1,1,inf\n", "row 1: weight is negative or not"),
    "empty weight": ("p.csv", HEAD + b"1,1,1,1\n1,2,1,\n", "row 2: 'weight' is empty"),
    "no user at all": ("p.csv", HEAD + b",1,1,1\nNULL,2,1,1\n", "no row names a user"),
    "token outside the taxonomy": (
        "p.csv",
        HEAD + b"1,1,1,1\n1,1,630,1\n",
        "row 2: the? token is not one of the 9",
    ),
    "duplicate": (
        "p.csv",
        HEAD + b"1,1,1,1\n2,1,1,1\n1,1,1,3\n",
        "row 3: the same.*row 1.*duplicates=",
    ),
    "duplicate of weight zero": ("p.csv", HEAD + b"1,1,1,1\n1,1,1,0\n", "row 2: the same"),
    "empty file": ("p.csv", b"", "the file is empty"),
    "no rows": ("p.csv", HEAD, "there are no rows"),
    "no rows in Parquet": (
        "p.parquet",
        packed_parquet(
            user=pa.array([], pa.int64()),
            epoch=pa.array([], pa.int64()),
            token=pa.array([], pa.int64()),
        ),
        "there are no rows",
    ),
    "too few entries": (
        "p.csv",
        HEAD + b"1,1,1,1\n1,1\n",
        "line 3: 2 entries, and the header, line 1, has 4;",
    ),
    "too many entries": (
        "p.csv",
        HEAD + b"1,1,1,1\n1,1,1,1,1\n",
        "line 3: 5 entries, and the header, line 1, has 4;",
    ),
    "mixed encodings": (
        "p.csv",
        HEAD + "zoë,1,1,1\n".encode() + "zoë,2,1,1\n".encode("latin-1"),
        "line 3: 'user' is not UTF-8",
    ),
    "header in another encoding": (
        "p.csv",
        "usér,epoch,token\n".encode("latin-1"),
        "header.*UTF-8",
    ),
    "UTF-16": ("p.csv", "user,epoch,token\n1,1,1\n".encode("utf-16-le"), "UTF-16.*utf-16-le"),
    "bytes that are no text": (
        "p.parquet",
        packed_parquet(user=[b"a", b"\xff"], epoch=[1, 1], token=[1, 1]),
        "row 2: 'user' is not UTF-8",
    ),
    "unknown file type": ("p.xlsx", b"PK", "not a workbook"),
    "no Parquet": ("p.parquet", b"user,epoch", "not a complete Parquet file"),
    "truncated Parquet": (
        "p.parquet",
        packed_parquet(user=[1], epoch=[1], token=[1])[:-20],
        "not a complete Parquet",
    ),
    "truncated gzip": ("p.csv.gz", gzip.compress(HEAD + b"1,1,1,1\n" * 99)[:-12], "p.csv.gz: "),
    "no gzip": ("p.csv.gz", HEAD, "this is not a gz file"),
}

EXAMPLES = {
    "empty TFRecord": (b"", "the file is empty"),
    "truncated TFRecord": (GOOD_RECORDS[:-5], "record 2: the file ends inside"),
    "bad checksum": (GOOD_RECORDS[:-1] + b"x", "record 2: the checksum is wrong"),
    "no TFRecord": (b"user,epoch,token,weight\n1,1,1,1\n", "record 1: the checksum.*no TFRecord"),
    "wrong feature type": (
        records(user_id=texts("a"), epoch_0_topics=floats([1]), epoch_0_weights=floats([1])),
        "record 1: feature 'epoch_0_topics' holds floats, but must hold whole numbers",
    ),
    "user as number": (
        records(user_id=ints([1]), epoch_0_topics=ints([1]), epoch_0_weights=floats([1])),
        "record 1: feature 'user_id' holds whole numbers",
    ),
    "no user": (records(epoch_0_topics=ints([1])), "record 1: there is no feature 'user_id'"),
    "user without a name": (
        records(user_id=texts(""), epoch_0_topics=ints([1]), epoch_0_weights=floats([1])),
        "record 1: 'user_id' is empty",
    ),
    "uneven lists": (
        records(user_id=texts("a"), epoch_0_topics=ints([1, 2]), epoch_0_weights=floats([1])),
        "record 1: epoch_0_topics has 2 values and epoch_0_weights has 1",
    ),
    "no weights": (records(user_id=texts("a"), epoch_0_topics=ints([1])), "epoch_0_weights has 0"),
    "user twice": (
        records(
            user_id=texts("a", "a"), epoch_0_topics=ints([1], [1]), epoch_0_weights=floats([1], [1])
        ),
        "record 2: the same user as in .*record 1",
    ),
    "topic twice": (
        records(
            user_id=texts("b", "a"),
            epoch_0_topics=ints([1], [3, 3]),
            epoch_0_weights=floats([1], [1, 2]),
        ),
        "record 2: the same user, epoch and token",
    ),
    "negative weight in a record": (
        records(
            user_id=texts("b", "a"),
            epoch_0_topics=ints([1], [3]),
            epoch_0_weights=floats([1], [-2]),
        ),
        "record 2: weight is negative",
    ),
    "topic outside the taxonomy": (
        records(
            user_id=texts("b", "a"),
            epoch_0_topics=ints([1], [30]),
            epoch_0_weights=floats([1], [2]),
        ),
        "record 2: the token is not one of the 9",
    ),
    "no topics": (
        records(user_id=texts("a"), epoch_0_topics=ints([]), epoch_0_weights=floats([])),
        "no record has any topic",
    ),
    "output instead of input": (
        records(user_id=texts("a"), client_1_tokens=ints([1])),
        "read it with read_tfrecord_observations",
    ),
}

OUTPUTS = {
    "input instead of output": (GOOD_RECORDS, "read it with read_tfrecord_profiles"),
    "uneven rows": (
        records(
            user_id=texts("a", "b"),
            client_1_tokens=ints([1, 2], [1]),
            client_2_tokens=ints([1, 2], [1, 2]),
        ),
        "record 2: client_1_tokens has 1 tokens and the first 2",
    ),
    "uneven sites": (
        records(user_id=texts("a"), client_1_tokens=ints([1, 2]), client_2_tokens=ints([1])),
        "client_1_tokens has 2 tokens and client_2_tokens has 1",
    ),
    "token outside the taxonomy": (
        records(user_id=texts("a"), client_1_tokens=ints([1]), client_2_tokens=ints([10])),
        "record 1: a token is not one of the 9",
    ),
    "top token outside the taxonomy": (
        records(
            user_id=texts("a"),
            client_1_tokens=ints([1]),
            client_2_tokens=ints([1]),
            epoch_0_tokens=ints([10]),
        ),
        "record 1: a token of epoch_",
    ),
}

WIDE, LONG = b"user,tokens\n1,3;4\n2,4;5\n", b"user,epoch,token\n1,1,3\n2,1,4\n"
TABLES = {
    "uneven lists": (
        b"user,tokens\n1,3;4\n2,4;;5\n",
        WIDE,
        "k.csv, row 2: an entry is empty, as if entries were slots",
    ),
    "known twice": (b"user,tokens\n1,3;4\n1,4;4\n", WIDE, "k.csv, row 2: the same user.*row 1"),
    "strangers": (WIDE, b"user,tokens\n8,3;4\n9,4;5\n", "a.csv: none of the 2 users is in.*k.csv"),
    "other slots": (WIDE, b"user,tokens\n1,3\n", "k.csv has 2 slots and .*a.csv has 1"),
    "other form": (WIDE, LONG, "one has lists"),
    "epoch twice": (
        b"user,epoch,token\n1,1,3\n1,1,4\n",
        LONG,
        "k.csv, row 2: the same user and epoch",
    ),
    "token outside the taxonomy": (WIDE, b"user,tokens\n1,3;4\n2,4;77\n", "a.csv, row 2: a token"),
    "long token outside the taxonomy": (
        b"user,epoch,token\n1,1,3\n2,1,88\n",
        LONG,
        "k.csv, row 2: a token",
    ),
    "no columns": (b"user,topics\n1,2\n", WIDE, "nobody says which column holds the items"),
    "no rows": (b"user,tokens\n", WIDE, "no rows"),
    "empty list": (b"user,epoch,token\n1,1,\n", LONG, "k.csv, row 1: 'token' is empty"),
}

VISITS = b"user,timestamp,domain\n1,2023-01-01T00:00:00,a.org\n"
HISTORIES = {
    "no time": (VISITS + b"1,yesterday,a.org\n", "row 2: the timestamp is not a time"),
    "zones mixed": (VISITS + b"1,2023-01-01T00:00:00Z,a.org\n", "some timestamps name a time zone"),
    "milliseconds": (
        b"user,timestamp,domain\n1,1683504000000,a.org\n",
        "row 1: .*divide them by 1000",
    ),
    "fractions": (b"user,timestamp,domain\n1,1.5,a.org\n", "'timestamp' holds double"),
    "empty time": (VISITS + b"1,,a.org\n", "row 2: 'timestamp' is empty"),
    "empty domain": (VISITS + b"1,2023-01-01T00:00:00,\n", "row 2: 'domain' is empty"),
    "no visits": (b"user,timestamp,domain\n", "no visits"),
    "missing column": (b"user,time,domain\n", "no column 'timestamp'"),
}

WEIGHTS = {
    "no JSON": (
        b'{"token_id": 1, "match_weight": 1, "mismatch_weight": 2}\n7\x80',
        "line 2: this is not a JSON",
    ),
    "missing field": (b'{"token_id": 1}', "line 1: the line must have token_id"),
    "no object": (b"[1]", "line 1: the line must have"),
    "token as text": (
        b'{"token_id": "1", "match_weight": 1, "mismatch_weight": 2}',
        "token_id must be",
    ),
    "no number": (
        b'{"token_id": 1, "match_weight": NaN, "mismatch_weight": 2}',
        "finite numbers; correct",
    ),
    "token twice": (
        b'{"token_id": 1, "match_weight": 1, "mismatch_weight": 2}\n' * 2,
        "line 2: the same token as in line 1",
    ),
    "empty": (b"", "the file is empty"),
    "blank": (b"\n\n", "there are no lines"),
}


def refused(call, message, *, path):
    """The message names the file and says what to do after a semicolon."""
    with pytest.raises(InvalidInput, match=message) as caught:
        call()
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("case", PROFILES)
def test_bad_tables(tmp_path, case):
    name, content, message = PROFILES[case]
    path = tmp_path / name
    path.write_bytes(content)
    taxonomy = range(1, 10) if "taxonomy" in case else None
    said = refused(lambda: read_profiles(path, taxonomy=taxonomy), message, path=path)
    assert ";" in said or ":" in said


@pytest.mark.parametrize("case", EXAMPLES)
def test_bad_examples(tmp_path, case):
    content, message = EXAMPLES[case]
    path = tmp_path / "p.tfrecord"
    path.write_bytes(content)
    taxonomy = range(1, 10) if "taxonomy" in case else None
    refused(lambda: read_tfrecord_profiles(path, taxonomy=taxonomy), message, path=path)


@pytest.mark.parametrize("case", OUTPUTS)
def test_bad_simulator_output(tmp_path, case):
    content, message = OUTPUTS[case]
    path = tmp_path / "p.tfrecord"
    path.write_bytes(content)
    taxonomy = range(1, 10) if "taxonomy" in case else None
    refused(lambda: read_tfrecord_observations(path, taxonomy=taxonomy), message, path=path)


@pytest.mark.parametrize("case", TABLES)
def test_bad_observations(tmp_path, case):
    known, anonymous, message = TABLES[case]
    (tmp_path / "k.csv").write_bytes(known)
    (tmp_path / "a.csv").write_bytes(anonymous)
    taxonomy = range(1, 10) if "taxonomy" in case else None
    refused(
        lambda: read_observations(tmp_path / "k.csv", tmp_path / "a.csv", taxonomy=taxonomy),
        message,
        path=tmp_path,
    )


@pytest.mark.parametrize("case", HISTORIES)
def test_bad_histories(tmp_path, case):
    content, message = HISTORIES[case]
    path = tmp_path / "v.csv"
    path.write_bytes(content)
    refused(lambda: read_histories(path, {"a.org": [1]}), message, path=path)


@pytest.mark.parametrize("case", WEIGHTS)
def test_bad_weight_files(tmp_path, case):
    content, message = WEIGHTS[case]
    path = tmp_path / "w.jsonl"
    path.write_bytes(content)
    refused(lambda: read_token_weights(path), message, path=path)


@pytest.mark.parametrize(
    "read",
    [
        lambda path: read_profiles(path / "p.csv"),
        lambda path: read_tfrecord_profiles(path / "p.tfrecord"),
        lambda path: read_token_weights(path / "w.jsonl"),
        lambda path: read_taxonomy(path / "t.csv"),
        read_profiles,
        read_tfrecord_profiles,
    ],
)
def test_absent_files_and_folders_without_files(tmp_path, read):
    refused(lambda: read(tmp_path), "no such file|the folder has no", path=tmp_path)


@pytest.mark.parametrize(
    ("choices", "code"),
    [
        ({"absent": "ignore"}, "unknown-choice"),
        ({"duplicates": "keep"}, "unknown-choice"),
        ({"taxonomy": []}, "empty-list"),
        ({"taxonomy": [1, 2, 2]}, "duplicate-label"),
        ({"taxonomy": [1, "a"]}, "wrong-label-type"),
        ({"taxonomy": [1.5]}, "wrong-column-type"),
        ({"epochs": [3]}, "unknown-epoch"),
        ({"absent": "drop"}, "nobody-left"),
    ],
)
def test_bad_choices(choices, code):
    with refuses(code):
        make_profiles([1, 2], [1, 2], [1, 2], **choices)


def test_bad_columns():
    with refuses("malformed-table"):
        make_profiles([1, 2], [1], [1])
    with refuses("malformed-table"):
        make_profiles([1, "a"], [1, 2], [1, 2])
    with refuses("empty-table"):
        make_profiles([], [], [])


ZOE = "zoe:1@example.org"


@pytest.mark.parametrize(
    "call",
    [
        lambda _: make_profiles([1, ZOE], [1, 2], [1, 2]),
        lambda _: theory.RepresentationMatrix.from_table(
            {"user": [1, ZOE], "representation": [1, 2], "probability": [1.0, 1.0]}
        ),
        lambda path: read_profiles(path / "short.csv"),
        lambda path: read_profiles(path / "twice.csv"),
        lambda path: read_linked(path / "wide.csv", path / "stranger.csv"),
        lambda path: theory.read_matrix(path / "short.csv"),
        lambda path: theory.read_matrix(path / "sum.csv"),
    ],
)
def test_no_message_names_a_user(tmp_path, call):
    for name, text in {
        "short": f"user,epoch,token,representation,probability\n1,1,1,1,1\n{ZOE},1\n",
        "twice": f"user,epoch,token\n{ZOE},1,1\n{ZOE},1,1\n",
        "wide": f"user,tokens\n1,3\n{ZOE}!,4\n",
        "stranger": f"user,tokens\n{ZOE},3\n",
        "sum": f"user,representation,probability\n{ZOE},x,0.4\n",
    }.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        call(tmp_path)
    assert "zoe" not in str(caught.value)


def test_bad_renaming_and_bad_choices_of_readers(tmp_path):
    (tmp_path / "p.csv").write_bytes(HEAD + b"1,1,1,1\n")
    with refuses("unknown-column"):
        read_profiles(tmp_path / "p.csv", columns={"person": "user"})
    with refuses("unknown-choice"):
        read_observations(tmp_path / "p.csv", tmp_path / "p.csv", strangers="drop")


def test_files_of_a_folder_must_agree(tmp_path):
    (tmp_path / "1.csv").write_bytes(HEAD + b"1,1,1,1\n")
    (tmp_path / "2.csv").write_bytes(b"user,epoch,token\n1,1,2\n")
    with refuses("columns-differ"):
        read_profiles(tmp_path)
    (tmp_path / "2.csv").write_bytes(HEAD + b"1,1,2,1\n1,1,1,1\n")
    with refuses("duplicate-row"):
        read_profiles(tmp_path)


def test_a_damaged_note_is_refused(tmp_path):
    write_observations(Observations([[0]], [[0]], [0], tokens=1), tmp_path)
    path = tmp_path / "known.parquet"
    table = parquet.read_table(path).replace_schema_metadata({"reidrisk:taxonomy": "{"})
    old = tmp_path / "old"
    old.mkdir()
    for name in ("known.parquet", "anonymous.parquet"):
        parquet.write_table(table, old / name)
    with pytest.warns(Unverified):
        refused(
            lambda: read_observations(old / "known.parquet", old / "anonymous.parquet"),
            "is damaged",
            path=old / "known.parquet",
        )


def test_records_are_counted_over_shards(tmp_path):
    people = make_profiles([1, 2], [0, 0], [1, 1])
    for part in range(2):
        write_tfrecord_profiles(people, Path(tmp_path / f"p.tfrecord-{part}-of-2"))
    refused(
        lambda: read_tfrecord_profiles(tmp_path),
        "p.tfrecord-1-of-2, record 1: the same user as in .*p.tfrecord-0-of-2, record 1",
        path=tmp_path,
    )
