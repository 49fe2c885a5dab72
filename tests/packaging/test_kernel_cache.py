"""Compiled kernels are kept on disk, and several processes may do so at once."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from reidrisk import theory
print(theory.random_user_optimum(np.eye(3)), theory.upper_matching(np.eye(3)))
"""


def start(folder):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_several_processes_may_compile_into_one_folder_at_once(tmp_path):
    running = [start(tmp_path / "kernels") for _ in range(3)]
    assert [process.communicate(timeout=300) for process in running] == [("1.0 1.0\n", "")] * 3
    assert list((tmp_path / "kernels").rglob("*.nbc"))


def test_a_folder_that_cannot_be_written_to_does_not_stop_anybody(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    assert start(tmp_path / "file" / "kernels").communicate(timeout=300) == ("1.0 1.0\n", "")
