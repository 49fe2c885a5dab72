"""Matrices from files: one reader of tables, so one meaning of a label in the whole package."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

from reidrisk import RepresentationMatrix, theory
from reidrisk.data import make_profiles, read_profiles

LABELS = {
    "leading zeros": (["7", "007", "07"], ["007", "07", "7"]),
    "hashes of 64 bits without sign": (
        ["18446744073709551615", "18446744073709551614", "9"],
        ["18446744073709551614", "18446744073709551615", "9"],
    ),
    "hashes of 64 bits with sign": (
        ["9223372036854775807", "9223372036854775806", "-9223372036854775808"],
        [-9223372036854775808, 9223372036854775806, 9223372036854775807],
    ),
    "truth and words": (["true", "True", "TRUE"], ["TRUE", "True", "true"]),
    "fractions": (["1.0", "1", "1.00"], ["1", "1.0", "1.00"]),
    "nearly words for nothing": (["na", "nul", "Nan"], ["Nan", "na", "nul"]),
    "dates": (["2023-01-01", "2023-1-1", "20230101"], ["2023-01-01", "2023-1-1", "20230101"]),
    "plain numbers": (["10", "9", "-1"], [-1, 9, 10]),
}  # fmt: skip


@pytest.mark.parametrize(("written", "labels"), LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("column", ["user", "representation"])
def test_labels_of_a_csv_file_stay_apart(tmp_path, written, labels, column):
    """No type is guessed: what is written differently is different."""
    other = ["a", "b", "c"]
    pair = (written, other) if column == "user" else (other, written)
    rows = "".join(f"{user},{shown},1\n" for user, shown in zip(*pair, strict=True))
    path = tmp_path / "matrix.csv"
    path.write_text(f"user,representation,probability\n{rows}", encoding="utf-8")
    matrix = theory.read_matrix(path)
    assert getattr(matrix, f"{column}_labels").tolist() == labels
    assert theory.random_user_optimum(matrix) == 1


@pytest.mark.filterwarnings("ignore:.*differ from another only by upper and lower case")
@pytest.mark.parametrize(("written", "labels"), LABELS.values(), ids=LABELS)
def test_users_are_the_same_in_matrices_and_people(tmp_path, written, labels):
    path = tmp_path / "both.csv"
    rows = "".join(f"{user},1,{user},1\n" for user in written)
    path.write_text(f"user,epoch,token,probability\n{rows}", encoding="utf-8")
    matrix = theory.read_matrix(path, columns={"representation": "token"})
    people = read_profiles(path)
    assert matrix.user_labels.tolist() == people.ids.tolist() == labels
    assert matrix.representation_labels.tolist() == people.labels.tolist()


WHOLE = st.integers(-(2**63), 2**64 - 1) | st.integers(-3, 12)


@given(st.lists(WHOLE, min_size=1, unique=True))
def test_numbers_and_their_texts_are_the_same_labels(numbers):
    """In memory, as Parquet has them and as CSV has them."""
    kinds = [pa.string()]
    kinds += [pa.int64()] if max(numbers) < 2**63 else []
    kinds += [pa.uint64()] if min(numbers) >= 0 else []
    found = []
    for kind in kinds:
        texts = pa.array([str(number) for number in numbers]).cast(kind)
        table = {"user": texts, "representation": texts, "probability": [1.0] * len(texts)}
        matrix = RepresentationMatrix.from_table(table)
        found += [matrix.user_labels.tolist(), matrix.representation_labels.tolist()]
        found += [make_profiles(texts, [0] * len(texts), [0] * len(texts)).ids.tolist()]
    whole = max(numbers) < 2**63
    expected = sorted(numbers) if whole else sorted(map(str, numbers))
    assert all(labels == expected for labels in found)


TABLE = pa.table(
    {"user": ["007", "7", "7"], "representation": ["x", "x", "y"], "probability": [1.0, 0.5, 0.5]}
)


def as_csv(path):
    csv.write_csv(TABLE, path)


def as_packed(path):
    with gzip.open(path, "wb") as stream:
        csv.write_csv(TABLE, stream)


def as_tabs(path):
    csv.write_csv(TABLE, path, csv.WriteOptions(delimiter="\t"))


def as_folder(path):
    path.mkdir()
    parquet.write_table(TABLE.slice(0, 2), path / "part-0.parquet")
    parquet.write_table(TABLE.slice(2), path / "part-1.parquet")


@pytest.mark.parametrize(
    ("name", "write"),
    [("m.csv", as_csv), ("m.csv.gz", as_packed), ("m.tsv", as_tabs), ("m", as_folder)],
)
def test_every_form_of_a_table_gives_the_same_matrix(tmp_path, name, write):
    write(tmp_path / name)
    matrix = theory.read_matrix(tmp_path / name)
    assert matrix.user_labels.tolist() == ["007", "7"]
    assert matrix.entries.toarray().tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_truth_values_are_the_texts_of_csv_files(tmp_path):
    columns = {"user": [1, 2], "representation": [True, False], "probability": [1.0, 1.0]}
    csv.write_csv(pa.table(columns), tmp_path / "m.csv")
    parquet.write_table(pa.table(columns), tmp_path / "m.parquet")
    for matrix in (
        RepresentationMatrix.from_table(columns),
        theory.read_matrix(tmp_path / "m.csv"),
        theory.read_matrix(tmp_path / "m.parquet"),
    ):
        assert matrix.representation_labels.tolist() == ["false", "true"]
    shown = RepresentationMatrix.from_assignment(np.array([True, False]))
    assert shown.representation_labels.tolist() == ["false", "true"]
