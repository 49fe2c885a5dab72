"""Kinds of cases: each spoils something else. All are functions of a generator and a folder."""

from tests.fuzz.families import (
    arrays,
    bytes_of_files,
    command_lines,
    parquet_tables,
    records,
    runs,
    study_files,
    tables,
)

FAMILIES = {
    "arrays": (arrays, 400),
    "bytes": (bytes_of_files, 1600),
    "command-lines": (command_lines, 1200),
    "parquet": (parquet_tables, 1000),
    "records": (records, 500),
    "runs": (runs, 800),
    "study-files": (study_files, 1000),
    "tables": (tables, 1500),
}
"""The module of each, and how many cases of it CI runs."""
