"""The shim itself: what it counts, and that faults are seen by whoever writes."""

import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.faults.shim import TORN, Killed, faulty_files

pytestmark = pytest.mark.faults


def write(place):
    """Make a folder, write a file, flush it, move it."""
    (place / "folder").mkdir()
    with (place / "folder" / "part").open("w") as file:
        file.write("much more than a few bytes")
        file.flush()
        os.fsync(file.fileno())
    (place / "folder" / "part").replace(place / "folder" / "whole")


def test_all_operations_are_counted(tmp_path):
    with faulty_files(tmp_path) as counted:
        write(tmp_path)
    steps = [one.split()[0] for one in counted.told]
    assert steps == ["os.mkdir", "open", "write", "fsync", "os.rename"]


@pytest.mark.parametrize("at", range(5))
def test_each_of_them_fails_in_its_turn(tmp_path, at):
    with (
        faulty_files(tmp_path, at) as fault,
        pytest.raises(OSError, match=r"too large|No space|error|denied"),
    ):
        write(tmp_path)
    assert len(fault.told) == at + 1
    assert not (tmp_path / "folder" / "whole").exists()


def test_a_torn_file_has_a_few_bytes(tmp_path):
    with faulty_files(tmp_path, 2), pytest.raises(OSError, match="large"):
        write(tmp_path)
    assert len((tmp_path / "folder" / "part").read_bytes()) == TORN


def test_compiled_libraries_cannot_write_either(tmp_path):
    with faulty_files(tmp_path, 1):
        (tmp_path / "part").touch()
        with pytest.raises(OSError, match=r"too large|No space|error|denied"):
            parquet.write_table(pa.table({"a": np.arange(9)}), str(tmp_path / "part"))


def test_the_dead_do_nothing_more(tmp_path):
    with faulty_files(tmp_path, 4, "killed"):
        with pytest.raises(Killed):
            write(tmp_path)
        with pytest.raises(Killed):
            (tmp_path / "folder" / "part").unlink()
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["part"]
