"""Tables in random dialects, as Python's writer writes them, are read back equal."""

import csv
import random
from contextlib import suppress

import pytest

from reidrisk.data import Layout
from reidrisk.errors import Assumed, InvalidInput
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import read_table

SIGNS = "ab1. é\u2028\x85,;|\t'\"\\:-#\n"


def dialect(drawn):
    """How Python's writer writes one of many kinds of CSV.

    Single quotes stand around all words: around some only, they may be apostrophes of a name.
    """
    quote = drawn.choice(('"', '"', "'"))
    few = [csv.QUOTE_MINIMAL] if quote == '"' else []
    doubled = drawn.random() < 0.7
    return {
        "delimiter": drawn.choice(",;\t|,;\t|:^~#! "),
        "quotechar": quote,
        "doublequote": doubled,
        "escapechar": None if doubled else "\\",
        "quoting": drawn.choice([*few, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        "lineterminator": drawn.choice(["\n", "\r\n", "\r"]),
    }


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(300))
def test_what_python_writes_is_read_back(tmp_path, seed):
    """Files of random dialects are read as they were written, or refused until somebody says so."""
    drawn = random.Random(seed)  # noqa: S311
    how = dialect(drawn)
    encoding = drawn.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1"])
    header = drawn.random() < 0.7
    signs = SIGNS if how["doublequote"] else SIGNS.replace("\\", "")
    if encoding == "latin-1":
        signs = signs.replace("\u2028", "ß")
    if how["lineterminator"] == "\r":
        signs = signs.replace("\n", "")
    rows = [
        tuple(
            "".join(drawn.choices(signs, k=drawn.randrange(1, 9))).strip() or "x" for _ in range(3)
        )
        for _ in range(drawn.randrange(2, 12))
    ]
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding=encoding) as out:
        csv.writer(out, **how).writerows([("user", "item", "place")] * header + rows)
    expected = [tuple(cell.strip(" \t") for cell in row) for row in rows]
    names = ("user", "item", "place") if header else ("1", "2", "3")
    said = {"encoding": encoding} if encoding == "latin-1" else {}

    def read_back(**more):
        columns = dict.fromkeys(names, TEXT)
        found, _ = read_table(path, columns, layout=Layout(**said, **more))
        return list(zip(*found.to_pydict().values(), strict=True))

    with suppress(InvalidInput, Assumed):
        assert read_back() == expected, how
    assert read_back(separator=how["delimiter"], header=header) == expected, how
