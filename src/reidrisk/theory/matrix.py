"""The representation matrix P: the chance that each user shows each representation.

Paper: section 3, Representations.

Dense input keeps its memory layout, sparse input becomes a compressed sparse column array, because
every statement of the paper reads P column by column.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.rows import read_only
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.io.matrices import LongMatrix
    from reidrisk.io.tables import AnyPath

TOLERANCE = 1e-6
"""How far the sum of a row, of a prior or of a column of a rule may be from 1."""

_MOST_QUOTED = 10
"""Numbers from tables up to this are quoted in messages; larger ones may be ids of users."""

Floats = NDArray[np.float64]
Entries = Any  # Floats, or scipy's csc_array, which has no types
NUMBERS = "fiub"  # numpy's letters for floats, whole numbers and truth values
MatrixLike = Any  # a RepresentationMatrix, or what its constructor takes: numpy has no name for it


@dataclass(frozen=True, slots=True)
class _Names:
    """How messages name a row, a column and a probability; contents of tables are not quoted."""

    row: Callable[[int], str] = "row {}".format
    column: Callable[[int], str] = "representation {}".format
    number: Callable[[float], str] = "{:.9g}".format


class RepresentationMatrix:
    """For each user the distribution of what is shown: n rows that each sum to 1.

    The entries are checked once, here, and are read-only afterwards. A dense array of float64 is
    not copied: do not write to it elsewhere while the matrix lives.

    Args:
        probabilities: Array, nested list or scipy sparse array of any format, users x
            representations. Rows may miss 1 by `TOLERANCE`; the entries are used as given.
        user_labels: Names of the rows, if they have any.
        representation_labels: Names of the columns, if they have any.

    Raises:
        InvalidInput: Naming the first bad row, its sum and its worst entry.

    Example:
        >>> P = rr.RepresentationMatrix([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
        >>> P.users, P.representations
        (2, 3)
    """

    __slots__ = ("_entries", "_representation_labels", "_user_labels")

    def __init__(
        self,
        probabilities: "ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix",
        *,
        user_labels: ArrayLike | None = None,
        representation_labels: ArrayLike | None = None,
    ) -> None:
        self._settle(probabilities, user_labels, representation_labels, _Names())

    def _settle(
        self,
        probabilities: "ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix",
        user_labels: ArrayLike | None,
        representation_labels: ArrayLike | None,
        names: _Names,
    ) -> None:
        """Check all arguments and keep them."""
        if scipy.sparse.issparse(probabilities):
            self._entries: Entries = _sparse(probabilities, names)
        else:
            self._entries = _dense(probabilities)
        _check_entries(self._entries, names)
        self._user_labels = _labels("user_labels", user_labels, self.users)
        self._representation_labels = _labels(
            "representation_labels", representation_labels, self.representations
        )

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Build from long rows with columns `user`, `representation`, `probability`.

        Args:
            table: A dictionary of columns, an Arrow table, or a data frame. Users and
                representations are whole numbers or text; pairs that are not listed have
                probability 0. Rows and columns of P follow the sorted labels, whatever the order
                of the table.
        """
        from reidrisk.io.matrices import long_matrix_of

        return cls._from_long(long_matrix_of(table))

    @classmethod
    def _from_long(cls, rows: "LongMatrix") -> Self:
        users, shown, place = rows.users, rows.representations, rows.source.place
        names = _Names(
            row=lambda row: f"{place(int((users.codes == row).argmax()))}: the user of this row",
            column=lambda column: (
                f"the representation of {place(int((shown.codes == column).argmax()))}"
            ),
            number=_kind_of,
        )
        entries = scipy.sparse.coo_array(
            (rows.probabilities, (users.codes, shown.codes)),
            shape=(len(users.labels), len(shown.labels)),
        )
        # Not by the constructor: messages are to name rows of the table, not of the matrix.
        matrix = cls.__new__(cls)
        matrix._settle(entries, users.labels, shown.labels, names)  # noqa: SLF001  our own
        return matrix

    @classmethod
    def from_assignment(cls, representations: Sequence[Any] | NDArray[Any]) -> Self:
        """Build one-hot rows: user i always shows `representations[i]`, a number or text.

        Args:
            representations: What each user always shows.
        """
        from reidrisk.io.columns import column_of
        from reidrisk.io.labels import encode
        from reidrisk.io.provenance import Origin

        name = "representations"
        column = column_of(name, representations)
        shown = encode(column, name, Origin((name,), (len(column),)))
        everyone = np.arange(len(column))
        return cls(
            scipy.sparse.csc_array((np.ones(len(column)), (everyone, shown.codes))),
            representation_labels=shown.labels,
        )

    @classmethod
    def of(cls, matrix: MatrixLike) -> Self:
        """Return the matrix itself, or a checked one from anything the constructor takes.

        Args:
            matrix: A matrix, or what makes one.
        """
        return matrix if isinstance(matrix, cls) else cls(matrix)

    @property
    def users(self) -> int:
        """Number of users, n."""
        return int(self._entries.shape[0])

    @property
    def representations(self) -> int:
        """Number of representations, m."""
        return int(self._entries.shape[1])

    @property
    def entries(self) -> Entries:
        """The probabilities: a read-only array, or sparse columns, sorted, without stored zeros."""
        return self._entries

    @property
    def user_labels(self) -> NDArray[Any] | None:
        """Names of the rows, or None."""
        return self._user_labels

    @property
    def representation_labels(self) -> NDArray[Any] | None:
        """Names of the columns, or None."""
        return self._representation_labels

    def __repr__(self) -> str:
        kind = f"{self._entries.nnz:,} entries" if scipy.sparse.issparse(self._entries) else "dense"
        return f"<RepresentationMatrix {self.users:,} users x {self.representations:,}, {kind}>"


def read_matrix(
    path: "AnyPath", *, columns: Mapping[str, str] | None = None
) -> RepresentationMatrix:
    """Read a matrix: `.npy` dense, `.npz` scipy sparse, or a table of long rows.

    Args:
        path: A `.npy` or `.npz` file; or a `.csv`, `.tsv` (both also `.gz`) or `.parquet` file, or
            a folder of them, with the columns `user`, `representation`, `probability`.
        columns: Names of columns that are called otherwise in the file.

    Raises:
        InvalidInput: Naming the file and what is wrong in it.

    Example:
        >>> np.save("shown.npy", [[0.75, 0.25], [0.25, 0.75]])
        >>> rr.theory.random_user_optimum(rr.theory.read_matrix("shown.npy"))
        0.75
    """
    from reidrisk.io.matrices import LongMatrix, read_matrix_parts

    parts = read_matrix_parts(path, columns)
    if isinstance(parts, LongMatrix):
        return RepresentationMatrix._from_long(parts)  # noqa: SLF001  our own
    try:
        return RepresentationMatrix(parts)
    except InvalidInput as wrong:
        raise InvalidInput(f"{path}: {wrong}", code=wrong.code) from wrong


def _dense(probabilities: ArrayLike) -> Floats:
    """Two-dimensional float64 in the order it came, or row by row where it is strided."""
    try:
        given = as_array("a representation matrix, users x representations,", probabilities)
    except InvalidInput as wrong:
        raise InvalidInput(_why_ragged(probabilities) or str(wrong), code=wrong.code) from None
    _check_shape(given)
    array = given.astype(np.float64, copy=False)
    # The kernels read one of these two layouts.
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    return read_only(array)


def _why_ragged(rows: object) -> str | None:
    """Explain why nested rows make no matrix, if their lengths are why."""
    if isinstance(rows, Sequence) and all(isinstance(row, Sequence) for row in rows):
        for index, row in enumerate(rows):
            if len(row) != len(rows[0]):
                return (
                    f"row {index} has {len(row)} entries, row 0 has {len(rows[0])}; each user "
                    "needs one probability per representation (0 for what is never shown)"
                )
    return None


def _sparse(matrix: Any, names: _Names) -> "scipy.sparse.csc_array":
    """Sorted compressed sparse columns without stored zeros; the input is left alone."""
    if matrix.dtype.kind not in NUMBERS:
        raise InvalidInput(
            f"a representation matrix holds numbers, got dtype {matrix.dtype}", code="wrong-type"
        )
    _check_shape(matrix)
    # The conversion below would add entries up that are listed twice.
    if matrix.format == "coo":
        # 64 bits before the product: indices of scipy may have 32.
        pairs = matrix.coords[1].astype(np.int64) * matrix.shape[0] + matrix.coords[0]
        _refuse_duplicates(np.sort(pairs), matrix.shape[0], names)
    # Before any conversion, whose loops trust the indices.
    if matrix.format in {"csc", "csr", "bsr"}:
        _check_structure(matrix)
    # Other formats are converted, which copies; this one would share the caller's arrays.
    columns = scipy.sparse.csc_array(matrix, dtype=np.float64, copy=matrix.format == "csc")
    columns.sort_indices()
    if matrix.format != "coo":
        column = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
        _refuse_duplicates(column * columns.shape[0] + columns.indices, columns.shape[0], names)
    # `anonymity` and `local_dp_epsilon` count stored entries, so none may be 0.
    columns.eliminate_zeros()
    parts = (columns.data, columns.indices, columns.indptr)
    return scipy.sparse.csc_array(tuple(map(read_only, parts)), shape=columns.shape)


def _check_structure(matrix: Any) -> None:
    """Refuse indices that point outside the matrix: scipy's loops would read there."""
    indices, starts = matrix.indices, matrix.indptr
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    across = matrix.format == "csc"
    most = matrix.shape[0] if across else matrix.shape[1] // block[1]
    major = matrix.shape[1] if across else matrix.shape[0] // block[0]
    inside = not len(indices) or (indices.min() >= 0 and indices.max() < most)
    ordered = len(starts) == major + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    if not (inside and ordered and starts[-1] <= min(len(indices), len(matrix.data))):
        raise InvalidInput(
            "the sparse matrix is damaged: its indices point outside of it", code="damaged-matrix"
        )


def _check_shape(array: Any) -> None:
    if array.ndim != 2:  # noqa: PLR2004  users x representations
        raise InvalidInput(
            f"a representation matrix has 2 dimensions, users x representations, got {array.ndim}",
            code="wrong-shape",
        )
    if 0 in array.shape:
        raise InvalidInput(
            f"a representation matrix is empty without users or representations, got {array.shape}",
            code="wrong-shape",
        )


def _refuse_duplicates(places: NDArray[np.int64], rows: int, names: _Names) -> None:
    """Refuse entries that are listed twice; places are sorted, column by column."""
    repeated = np.flatnonzero(places[1:] == places[:-1])
    if len(repeated):
        column, row = divmod(int(places[repeated[0]]), rows)
        raise InvalidInput(
            f"{names.row(row)} lists {names.column(column)} more than once; give each pair of user "
            "and representation one probability (add the parts up if they belong together)",
            code="duplicate-entry",
        )


def _check_entries(entries: Entries, names: _Names) -> None:
    """Refuse entries that are no probabilities and rows that do not sum to 1."""
    sparse = isinstance(entries, scipy.sparse.csc_array)
    values = entries.data if sparse else entries
    if not values.min(initial=0.0) >= 0:  # also when the minimum is not a number
        raise InvalidInput(_bad_entry(entries, values, names), code="not-a-probability")
    with np.errstate(over="ignore"):  # an infinite sum is wrong enough
        if sparse:
            sums = np.bincount(entries.indices, weights=values, minlength=entries.shape[0])
        else:
            sums = entries.sum(axis=1)
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= TOLERANCE))
    if len(wrong):
        others = f"; {len(wrong):,} of {len(sums):,} rows are off" if len(wrong) > 1 else ""
        raise InvalidInput(
            f"{_bad_row(entries, int(wrong[0]), float(sums[wrong[0]]), names)}{others}. "
            "Divide each row by its sum if these are counts or rounded figures",
            code="not-normalised",
        )


def _bad_entry(entries: Entries, values: Floats, names: _Names) -> str:
    """Name the worst entry: the first that is not a number, else the most negative."""
    place = int(np.argmin(values))
    if isinstance(entries, scipy.sparse.csc_array):
        row, column = int(entries.indices[place]), _column_of(entries, place)
    else:
        row, column = divmod(place, entries.shape[1])
    bad = int(np.count_nonzero(~(values >= 0)))
    others = f" (the worst of {bad:,} such entries)" if bad > 1 else ""
    return (
        f"{names.row(row)}, {names.column(column)} has probability "
        f"{names.number(float(values.flat[place]))}{others}; probabilities are numbers of at least "
        "0"
    )


def _bad_row(entries: Entries, row: int, total: float, names: _Names) -> str:
    """Name a row that does not sum to 1, and its largest entry."""
    sparse = isinstance(entries, scipy.sparse.csc_array)
    dense = entries[[row]].toarray()[0] if sparse else entries[row]
    largest = int(np.argmax(dense))
    if dense[largest] > 0:
        largest_entry = names.number(float(dense[largest]))
        worst = f"its largest entry is {largest_entry} at {names.column(largest)}"
    else:
        worst = "all its entries are 0"
    return (
        f"{names.row(row)} sums to {names.number(total)}, not to 1 (tolerance {TOLERANCE:g}); "
        f"{worst}"
    )


def _kind_of(number: float) -> str:
    """A number that may be a probability; of other numbers, which may be ids, only the kind."""
    if 0 <= number <= _MOST_QUOTED:
        return f"{number:.9g}"
    return "far above 1" if number > 0 else "below 0" if number < 0 else "nan"


def _column_of(columns: "scipy.sparse.csc_array", place: int) -> int:
    """Column of the entry stored at a place."""
    return int(np.searchsorted(columns.indptr, place, side="right")) - 1


def _labels(name: str, labels: ArrayLike | None, count: int) -> NDArray[Any] | None:
    if labels is None:
        return None
    try:
        array = np.asarray(labels)
    except ValueError:
        raise InvalidInput(
            f"{name} needs {count:,} names, one each; rows differ", code="length-mismatch"
        ) from None
    if array.shape != (count,):
        raise InvalidInput(
            f"{name} needs {count:,} names, one each; got shape {array.shape}",
            code="length-mismatch",
        )
    return read_only(array)


def as_array(what: str, given: Any) -> NDArray[Any]:
    """Numbers as an array of the shape and type they have; `what` begins the message if not."""
    # numpy would drop the mask and use what lies beneath it.
    if np.ma.is_masked(given):
        raise InvalidInput(
            f"{what} has masked entries; fill them, with 0 for what is never shown",
            code="masked-entries",
        )
    try:
        array = np.asarray(given)
        if array.dtype == object:  # fractions, decimals
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{what} is a list or table of numbers", code="not-a-number") from None
    if array.dtype.kind not in NUMBERS:
        raise InvalidInput(f"{what} holds numbers, got dtype {array.dtype}", code="not-a-number")
    return array


def as_prior(prior: ArrayLike | None, count: int, *, of: str = "user") -> Floats:
    """Chance of each user (or whatever it is of) before anything is seen; equal unless given."""
    if prior is None:
        return np.full(count, 1 / count)
    array = as_array("a prior", prior).astype(np.float64, copy=False)
    if array.shape != (count,):
        raise InvalidInput(
            f"a prior holds one probability per {of}, shape ({count},); got shape {array.shape}",
            code="wrong-shape",
        )
    if not array.min() >= 0:
        worst = int(np.argmin(array))
        raise InvalidInput(
            f"the prior of {of} {worst} is {array[worst]:g}; probabilities are at least 0",
            code="not-a-probability",
        )
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if not abs(total - 1) <= TOLERANCE:
        raise InvalidInput(
            f"the prior sums to {total:.9g}, not to 1 (tolerance {TOLERANCE:g})",
            code="not-normalised",
        )
    return array
