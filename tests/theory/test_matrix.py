"""The representation matrix, whatever it is made from and wherever it comes from."""

import copy
import io
import json
import pickle
import subprocess
import sys
import textwrap
import zipfile
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses
from tests.worlds import layouts, matrices

from reidrisk import InvalidInput, RepresentationMatrix, theory

ARRAY = np.array([[0.5, 0.25, 0.25, 0.0], [0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]])
SPARSE_FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


def dense(matrix):
    """The entries as an array, whatever they are."""
    return matrix.entries.toarray() if sp.issparse(matrix.entries) else np.array(matrix.entries)


def strided(array):
    """The same numbers in every other cell of a larger array."""
    wide = np.full((2 * array.shape[0], 2 * array.shape[1]), np.nan)
    wide[::2, ::2] = array
    return wide[::2, ::2]


def unaligned(array):
    """The same numbers, each starting at an odd address."""
    memory = b"." + array.tobytes()
    return np.frombuffer(memory, offset=1, count=array.size).reshape(array.shape)


def read_only(array):
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen


DENSE_FORMS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "reversed twice": lambda array: array[::-1].copy()[::-1],
    "transposed": lambda array: array.T.copy().T,
    "unaligned": unaligned,
    "read-only": read_only,
    "float32": lambda array: array.astype(np.float32),
    "float16": lambda array: array.astype(np.float16),
    "long double": lambda array: array.astype(np.longdouble),
    "big-endian": lambda array: array.astype(">f8"),
    "nested lists": np.ndarray.tolist,
    "nested tuples": lambda array: tuple(map(tuple, array.tolist())),
    "list of arrays": list,
    "fractions": lambda array: [[Fraction(entry) for entry in row] for row in array.tolist()],
    "decimals": lambda array: [[Decimal(entry) for entry in row] for row in array.tolist()],
    "numpy matrix": lambda array: array.view(np.matrix),
}


@pytest.mark.parametrize("form", DENSE_FORMS.values(), ids=DENSE_FORMS)
def test_dense_input_of_any_form_gives_the_same_matrix_and_the_same_answers(form):
    matrix = RepresentationMatrix(form(ARRAY))
    assert (matrix.users, matrix.representations) == (3, 4)
    assert dense(matrix).tolist() == ARRAY.tolist()
    assert_same_answers(matrix)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.uint64])
def test_whole_numbers_and_truth_values_make_one_hot_rows(dtype):
    rows = np.eye(3)[[0, 2, 2]].astype(dtype)
    for given_rows in (rows, rows.tolist(), sp.csr_array(rows), sp.coo_array(rows)):
        matrix = RepresentationMatrix(given_rows)
        assert dense(matrix).tolist() == rows.astype(float).tolist()
        assert theory.anonymity(matrix) == 1


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("name", SPARSE_FORMATS)
def test_sparse_input_of_any_format_gives_the_same_matrix_and_the_same_answers(name, kind):
    for dtype in (np.float64, np.float32, np.longdouble):
        matrix = RepresentationMatrix(getattr(sp, f"{name}_{kind}")(ARRAY.astype(dtype)))
        assert sp.issparse(matrix.entries)
        assert matrix.entries.dtype == np.float64
        assert matrix.entries.nnz == np.count_nonzero(ARRAY)
        assert dense(matrix).tolist() == ARRAY.tolist()
        assert_same_answers(matrix)


def assert_same_answers(matrix):
    """One function of each kernel and layout."""
    assert theory.random_user_optimum(matrix) == 2 / 3
    assert theory.optimal_rule(matrix).tolist() == [2, 1, 1, 0]
    assert theory.upper_matching(matrix) == pytest.approx(1.625 / 3 + 0.625 / 3, rel=1e-12)
    assert theory.local_dp_epsilon(matrix) == np.inf
    assert theory.anonymity(matrix) == 0
    assert theory.mutual_information(matrix) == pytest.approx(MUTUAL_INFORMATION, rel=1e-12)


MUTUAL_INFORMATION = sum(
    entry / 3 * np.log2(entry / shown)
    for row in ARRAY
    for entry, shown in zip(row, ARRAY.mean(axis=0), strict=True)
    if entry
)


def test_a_matrix_is_taken_as_it_is():
    matrix = RepresentationMatrix(ARRAY)
    assert RepresentationMatrix.of(matrix) is matrix
    assert isinstance(RepresentationMatrix.of(ARRAY), RepresentationMatrix)


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_floats_are_not_copied(order):
    array = np.array(ARRAY, order=order)
    assert np.shares_memory(RepresentationMatrix(array).entries, array)


def inputs():
    """One of each kind that our code might be tempted to tidy up in place."""
    rough = sp.csc_array(  # unsorted, with a stored zero
        (np.array([1.0, 1.0, 0.0, 1.0]), np.array([1, 0, 2, 2]), np.array([0, 3, 4])), shape=(3, 2)
    )
    return [
        np.array(ARRAY),
        np.asfortranarray(ARRAY),
        *(getattr(sp, f"{name}_array")(ARRAY) for name in SPARSE_FORMATS),
        rough,
        rough.sorted_indices(),
        sp.coo_array((np.ones(3), (np.array([2, 0, 1]), np.array([1, 0, 1]))), shape=(3, 2)),
    ]


def snapshot(item):
    """Everything that can be seen of an input, in bytes."""
    if not sp.issparse(item):
        return item.tobytes("A"), item.flags.writeable, item.flags.f_contiguous
    if item.format == "lil":
        return str(item.rows.tolist()), str(item.data.tolist())
    if item.format == "dok":
        return str(list(item.items()))
    parts = {"coo": ("data", "row", "col"), "dia": ("data", "offsets")}
    names = parts.get(item.format, ("data", "indices", "indptr"))
    arrays = [getattr(item, name) for name in names]
    return [(array.tobytes(), array.dtype.str, array.flags.writeable) for array in arrays]


@pytest.mark.parametrize("item", inputs(), ids=lambda item: type(item).__name__)
def test_the_input_is_never_changed(item):
    before = snapshot(item)
    matrix = RepresentationMatrix(item)
    theory.bounds(matrix)
    theory.bayes_vulnerability(item, np.full(3, 1 / 3), tries=2)
    theory.g_vulnerability(item, np.eye(3))
    theory.local_dp_epsilon(item, 0.1)
    theory.matching_optimum(item)
    theory.expected_matrix([item, item], dense(matrix).argmax(axis=1))
    theory.rule_accuracy(item, theory.optimal_rule(item))
    theory.matching_attack(item, releases=2)
    assert snapshot(item) == before


def test_rules_gains_and_priors_are_never_changed():
    rule, gain, prior = np.full((3, 4), 1 / 3), np.eye(3), np.full(3, 1 / 3)
    for kind in (np.array, sp.csr_array, sp.csc_array, sp.coo_array):
        given_rule, given_gain = kind(rule), kind(gain)
        before = snapshot(given_rule), snapshot(given_gain), snapshot(prior)
        theory.rule_accuracy(ARRAY, given_rule)
        theory.one_by_one(ARRAY, given_rule)(np.array([0, 1, 2]))
        theory.g_vulnerability(ARRAY, given_gain, prior)
        theory.prior_vulnerability(ARRAY, prior, gain=given_gain)
        assert (snapshot(given_rule), snapshot(given_gain), snapshot(prior)) == before


def test_sparse_columns_come_out_sorted_and_without_stored_zeros():
    rough = inputs()[-3]
    entries = RepresentationMatrix(rough).entries
    assert not rough.has_sorted_indices
    assert entries.has_sorted_indices
    assert entries.indices.tolist() == [0, 1, 2]
    assert entries.data.tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_entries_and_labels_cannot_be_written_to(kind):
    matrix = RepresentationMatrix(
        kind(ARRAY), user_labels=["a", "b", "c"], representation_labels=range(4)
    )
    values = getattr(matrix.entries, "data", None) if sp.issparse(matrix.entries) else None
    values = matrix.entries if values is None else values
    for array in (values, matrix.user_labels, matrix.representation_labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[-1]


def test_a_matrix_survives_copies_and_pickles():
    for item in layouts(ARRAY).values():
        matrix = RepresentationMatrix(item, user_labels=["a", "b", "c"])
        for twin in (pickle.loads(pickle.dumps(matrix)), copy.deepcopy(matrix)):  # noqa: S301
            assert dense(twin).tolist() == ARRAY.tolist()
            assert twin.user_labels.tolist() == ["a", "b", "c"]
    bound = theory.upper_from_local_dp(epsilon=3, users=2)
    for twin in (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound)):  # noqa: S301
        assert (twin, twin.raw) == (bound, bound.raw)
        assert twin.raw > 1


def test_the_representation_says_what_it_is():
    assert repr(RepresentationMatrix(ARRAY)) == "<RepresentationMatrix 3 users x 4, dense>"
    assert repr(RepresentationMatrix(sp.csr_array(ARRAY))) == (
        "<RepresentationMatrix 3 users x 4, 6 entries>"
    )


@pytest.mark.parametrize("off", [0.9e-6, -0.9e-6])
def test_rows_may_miss_1_by_the_tolerance_and_entries_stay_as_given(off):
    for item in layouts(np.array([[0.5, 0.5 + off], [1.0, 0.0]])).values():
        assert dense(RepresentationMatrix(item))[0, 1] == 0.5 + off
    for item in layouts(np.array([[0.5, 0.5 + 1.2 * off], [1.0, 0.0]])).values():
        with refuses("not-normalised"):
            RepresentationMatrix(item)


@given(matrices(users=(1, 9), representations=(1, 9)))
def test_all_layouts_of_a_random_world_are_one_matrix(array):
    for item in (*layouts(array).values(), strided(array)):
        assert dense(RepresentationMatrix(item)).tolist() == array.tolist()


TABLE = {
    "user": ["ann", "ann", "ann", "bob", "bob", "cleo"],
    "representation": ["folk", "jazz", "rock", "jazz", "rock", "folk"],
    "probability": [0.5, 0.25, 0.25, 0.5, 0.5, 1.0],
}
NUMBERS = TABLE | {"user": [-3, -3, -3, 7, 7, 20], "representation": [10, 20, 300, 20, 300, 10]}


def chunked(table):
    """The same rows in three chunks."""
    whole = pa.table(table)
    return pa.concat_tables([whole.slice(0, 1), whole.slice(1, 3), whole.slice(4)])


def categories(table):
    """Names as dictionary codes, as data frames keep categories, with one that never occurs."""
    unused = [*sorted(set(table["user"])), "zoe"]
    codes = pa.array([unused.index(user) for user in table["user"]])
    return pa.table(table).set_column(0, "user", pa.DictionaryArray.from_arrays(codes, unused))


TABLE_FORMS = {
    "dictionary": dict,
    "dictionary of arrays": lambda table: {key: np.array(value) for key, value in table.items()},
    "Arrow table": pa.table,
    "chunks": chunked,
    "record batch": pa.record_batch,
    "other columns too": lambda table: {"note": ["?"] * 6} | table,
    "large strings": lambda table: pa.table(table).cast(
        pa.schema({"user": "large_string", "representation": "large_string",
                   "probability": pa.float32()})
    ),
    "string views": lambda table: table | {"user": pa.array(table["user"], pa.string_view())},
    "half floats": lambda table: table
    | {"probability": pa.array(np.array(table["probability"], np.float16))},
    "categories": categories,
}  # fmt: skip


@pytest.mark.parametrize("form", TABLE_FORMS.values(), ids=TABLE_FORMS)
def test_long_tables_of_names_give_sorted_rows_and_columns(form):
    matrix = RepresentationMatrix.from_table(form(TABLE))
    assert matrix.user_labels.tolist() == ["ann", "bob", "cleo"]
    assert matrix.representation_labels.tolist() == ["folk", "jazz", "rock"]
    assert dense(matrix).tolist() == ARRAY[:, :3].tolist()
    assert sp.issparse(matrix.entries)


def test_long_tables_of_numbers_are_sorted_by_value():
    for form in (dict, pa.table, chunked):
        matrix = RepresentationMatrix.from_table(form(NUMBERS))
        assert matrix.user_labels.tolist() == [-3, 7, 20]
        assert matrix.representation_labels.tolist() == [10, 20, 300]
        assert dense(matrix).tolist() == ARRAY[:, :3].tolist()


@given(st.permutations(range(6)), st.sampled_from([TABLE, NUMBERS]))
def test_the_order_of_the_rows_of_a_table_changes_nothing(order, table):
    expected = RepresentationMatrix.from_table(table)
    shuffled = {key: [values[row] for row in order] for key, values in table.items()}
    matrix = RepresentationMatrix.from_table(shuffled)
    assert matrix.user_labels.tolist() == expected.user_labels.tolist()
    assert matrix.representation_labels.tolist() == expected.representation_labels.tolist()
    assert dense(matrix).tolist() == dense(expected).tolist()


def test_whole_probabilities_and_listed_zeros_are_fine_in_a_table():
    matrix = RepresentationMatrix.from_table(
        {"user": [1, 1, 2], "representation": ["a", "b", "b"], "probability": [1, 0, 1]}
    )
    assert dense(matrix).tolist() == [[1, 0], [0, 1]]
    assert matrix.entries.nnz == 2


ASSIGNMENTS = {
    "names": ["b", "a", "b", "c"],
    "numbers": [20, 3, 20, 100],
    "array": np.array([20, 3, 20, 100]),
    "array of names": np.array(["b", "a", "b", "c"]),
    "Arrow array": pa.array(["b", "a", "b", "c"]),
    "tuple": ("b", "a", "b", "c"),
    "truth values, as CSV files have them": ["true", "false", "true", "true"],
}


@pytest.mark.parametrize("shown", ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_an_assignment_gives_one_hot_rows_over_the_sorted_representations(shown):
    matrix = RepresentationMatrix.from_assignment(shown)
    names = shown.tolist() if hasattr(shown, "tolist") else list(shown)
    labels = sorted(set(names))
    assert matrix.representation_labels.tolist() == labels
    assert dense(matrix).tolist() == [[float(label == name) for label in labels] for name in names]
    assert matrix.entries.nnz == 4


SAVERS = {
    "csv": lambda path: pa.csv.write_csv(pa.table(TABLE), path),
    "parquet": lambda path: pa.parquet.write_table(pa.table(TABLE), path),
    "npy": lambda path: np.save(path, ARRAY[:, :3]),
    "npz": lambda path: sp.save_npz(path, sp.coo_array(ARRAY[:, :3])),
}


@pytest.mark.parametrize("kind", SAVERS)
def test_files_of_every_kind_are_read_by_path_and_by_name(tmp_path, kind):
    path = tmp_path / f"matrix.{kind}"
    SAVERS[kind](path)
    for given_path in (path, str(path)):
        assert dense(theory.read_matrix(given_path)).tolist() == ARRAY[:, :3].tolist()
    shouting = tmp_path / f"MATRIX.{kind.upper()}"
    path.rename(shouting)
    matrix = theory.read_matrix(shouting)
    assert (matrix.users, matrix.representations) == (3, 3)
    if kind in ("csv", "parquet"):
        assert matrix.user_labels.tolist() == ["ann", "bob", "cleo"]


@pytest.mark.parametrize("name", ["bsr", "coo", "csc", "csr", "dia"])
def test_sparse_files_of_every_format_are_read(tmp_path, name):
    for kind in ("array", "matrix"):
        path = tmp_path / f"{name}_{kind}.npz"
        sp.save_npz(path, getattr(sp, f"{name}_{kind}")(ARRAY), compressed=kind == "array")
        assert dense(theory.read_matrix(path)).tolist() == ARRAY.tolist()


def saved(kind, tmp_path):
    path = tmp_path / f"whole.{kind}"
    SAVERS[kind](path)
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet"])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_ends_too_early_is_refused_by_name(tmp_path, kind, share):
    content = saved(kind, tmp_path)
    path = tmp_path / f"cut.{kind}"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InvalidInput, match=rf"cut\.{kind}: "):
        theory.read_matrix(path)


@pytest.mark.parametrize("kind", SAVERS)
@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"hello, world\n", bytes(range(256)) * 8])
def test_a_file_of_something_else_is_refused_by_name(tmp_path, kind, content):
    path = tmp_path / f"other.{kind}"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=rf"other\.{kind}: "):
        theory.read_matrix(path)


@pytest.mark.parametrize(("kind", "real"), [("npy", "npz"), ("npz", "npy"), ("parquet", "csv")])
def test_a_file_under_the_wrong_name_is_refused_by_name(tmp_path, kind, real):
    path = tmp_path / f"renamed.{kind}"
    path.write_bytes(saved(real, tmp_path))
    with pytest.raises(InvalidInput, match=rf"renamed\.{kind}: "):
        theory.read_matrix(path)


def test_every_flipped_byte_of_a_file_gives_a_matrix_or_a_refusal(tmp_path):
    """Never anything else: no crash, no warning, no other exception."""
    for kind in ("npy", "npz", "parquet"):
        content = saved(kind, tmp_path)
        path = tmp_path / f"flipped.{kind}"
        for place in range(0, len(content), 11):
            path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
            try:
                matrix = theory.read_matrix(path)
            except InvalidInput as refused:
                assert f"flipped.{kind}" in str(refused)  # noqa: PT017  either is fine
            else:
                assert matrix.users >= 1


def test_names_that_are_not_text_are_refused():
    """A string of Arrow may hold any bytes, and a damaged file does."""
    bytes_of_names, ends = pa.py_buffer(b"ann\xff"), pa.py_buffer(np.array([0, 3, 4], np.int32))
    names = pa.StringArray.from_buffers(2, ends, bytes_of_names)
    for column in ("user", "representation"):
        table = {"user": [1, 2], "representation": [1, 2], "probability": [1.0, 1.0]}
        with refuses("not-utf8"):
            RepresentationMatrix.from_table(table | {column: names})


class Bomb:
    """Unpickling it would call `print`."""

    def __reduce__(self):
        return print, ("unpickled",)


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_pickled_objects_are_refused_and_never_run(tmp_path, kind, capsys):
    path = tmp_path / f"pickled.{kind}"
    bomb = np.array([[Bomb()]], dtype=object)
    if kind == "npy":
        np.save(path, bomb, allow_pickle=True)
    else:
        np.savez(path, format=np.array(b"csc"), shape=bomb, data=bomb, indices=bomb, indptr=bomb)
    with refuses("damaged-file"):
        theory.read_matrix(path)
    path.write_bytes(pickle.dumps(Bomb()))
    with refuses("damaged-file") as refused:
        theory.read_matrix(path)
    assert "load it unsafely" not in str(refused.value)
    assert capsys.readouterr().out == ""


def test_an_array_that_claims_to_be_far_too_large_is_refused(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10**7)}
    )
    path = tmp_path / "boast.npy"
    path.write_bytes(header.getvalue() + b"\0" * 800)
    with refuses("damaged-file"):
        theory.read_matrix(path)


SPARSE_LIES = {
    "a row too far": {"indices": [0, 3, 1]},
    "a row far too far": {"indices": [0, 10**9, 1]},
    "a negative row": {"indices": [0, -1, 1]},
    "columns that run backwards": {"indptr": [0, 2, 1, 3]},
    "columns that end too late": {"indptr": [0, 1, 2, 9]},
}


@pytest.mark.parametrize("kind", ["csc", "csr"])
def test_a_sparse_file_whose_indices_lie_is_refused_and_does_not_crash(tmp_path, kind):
    """In a process of its own: what is not refused reads or writes memory that is not ours."""
    for name, lie in SPARSE_LIES.items():
        parts = {"data": [0.5, 0.5, 1.0], "indices": [0, 0, 1], "indptr": [0, 1, 2, 3]} | lie
        shape = (2, 3) if kind == "csc" else (3, 2)
        path = tmp_path / f"{name}.npz"
        np.savez(path, format=np.array(kind.encode()), shape=shape, _is_array=True, **parts)
    script = f"""
        import pathlib, resource
        from reidrisk import InvalidInput, theory
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
        for path in sorted(pathlib.Path({str(tmp_path)!r}).glob("*.npz")):
            print(path.name, end=": ", flush=True)
            try:
                theory.random_user_optimum(theory.read_matrix(path))
            except InvalidInput as refused:
                print("refused" if path.name in str(refused) else refused, flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    refusals = [f"{name}.npz: refused" for name in sorted(SPARSE_LIES)]
    assert done.stdout.splitlines() == refusals, done.stderr[-300:]
    assert done.returncode == 0


def test_the_members_of_a_sparse_file_may_be_missing(tmp_path):
    path = tmp_path / "gaps.npz"
    content = saved("npz", tmp_path)
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        names = whole.namelist()
        for missing in names:
            with zipfile.ZipFile(path, "w") as part:
                for name in names:
                    if name != missing:
                        part.writestr(name, whole.read(name))
            if missing == "_is_array.npy":  # then it is one of scipy's older matrices
                assert theory.read_matrix(path).users == 3
                continue
            with refuses("damaged-file"):
                theory.read_matrix(path)


MILLION = """
    import json, resource, sys
    import numpy as np, scipy.sparse as sp
    from reidrisk import RepresentationMatrix, TooLarge, theory

    n, per_row = 1_000_000, 10
    rng = np.random.default_rng(0)
    columns = rng.integers(1, n // per_row, (n, per_row), dtype=np.int32)
    columns[:, 0] = rng.integers(0, n, n)
    columns = (columns.cumsum(axis=1) % n).astype(np.int32).reshape(-1)
    data = np.full(n * per_row, 1 / per_row)

    def rows():
        return np.repeat(np.arange(n, dtype=np.int32), per_row)

    def million(source):
        if source == "csr":
            starts = np.arange(0, n * per_row + 1, per_row)
            return RepresentationMatrix(sp.csr_array((data, columns, starts), (n, n)))
        if source == "coo":
            return RepresentationMatrix(sp.coo_array((data, (rows(), columns)), (n, n)))
        return RepresentationMatrix.from_table(
            {"user": rows(), "representation": columns, "probability": data}
        )
"""


def in_a_process(script, *arguments):
    """What a script prints as JSON, run with the million users of above at hand."""
    program = textwrap.dedent(MILLION) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout)


def poisson_of_ten():
    """How many others show what one user shows, where everyone shows ten of a million."""
    return np.random.default_rng(1).poisson(10, 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["csr", "coo", "table"])
def test_a_million_users_and_a_million_representations_fit_in_three_gibibytes(source):
    """Ten entries a row; everything that scales."""
    script = """
        P = million(sys.argv[1])
        prior = rng.dirichlet(np.ones(n))
        rule = theory.optimal_rule(P)
        answers = {
            "users": P.users,
            "entries": P.entries.nnz,
            "optimum": theory.random_user_optimum(P),
            "rule": theory.rule_accuracy(P, rule),
            "matching": theory.upper_matching(P),
            "epsilon": theory.local_dp_epsilon(P),
            "anonymity": theory.anonymity(P),
            "bits": theory.mutual_information(P),
            "prior bits": theory.mutual_information(P, prior),
            "bayes": theory.bayes_vulnerability(P, prior),
            "tries": theory.bayes_vulnerability(P, prior, tries=3),
            "leakage": theory.multiplicative_leakage(P),
            "bounds": len(theory.bounds(P)),
        }
        answers["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(json.dumps(answers))
    """
    answers = in_a_process(script, source)
    assert (answers["users"], answers["entries"]) == (1_000_000, 10_000_000)
    assert answers["optimum"] == pytest.approx(0.1, rel=1e-3)
    assert answers["rule"] == answers["optimum"]
    assert answers["matching"] == pytest.approx(1 - np.exp(-1), rel=1e-3)
    assert answers["epsilon"] == np.inf
    assert answers["anonymity"] == 0
    sharing = 1 + poisson_of_ten()  # a representation that is seen is shared by these
    assert answers["bits"] == pytest.approx(np.log2(1e6) - np.log2(sharing).mean(), rel=1e-3)
    assert answers["prior bits"] < answers["bits"]
    assert 0 < answers["bayes"] < answers["tries"] < 1
    assert answers["leakage"] == pytest.approx(100_000, rel=1e-3)
    assert answers["peak"] < 3


@pytest.mark.slow
def test_what_has_no_exact_answer_for_a_million_users_is_refused_at_once():
    """None of them may make P dense, or print a number of millions of digits."""
    script = """
        P = million("csr")
        refusals = {}
        for name, ask in {
            "matching_optimum": theory.matching_optimum,
            "optimal_matching": theory.optimal_matching,
            "matching_attack": theory.matching_attack,
            "matching_accuracy": lambda P: theory.matching_accuracy(P, lambda seen: seen),
            "local_dp_epsilon": lambda P: theory.local_dp_epsilon(P, 0.1),
        }.items():
            try:
                ask(P)
            except TooLarge as error:
                refusals[name] = str(error)
            except Exception as error:
                refusals[name] = repr(error)
        refusals["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(json.dumps(refusals))
    """
    refusals = in_a_process(script)
    assert refusals.pop("peak") < 3
    for name, message in refusals.items():
        assert "the limit is" in message, f"{name}: {message}"
        assert len(message) < 300
