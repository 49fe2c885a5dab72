"""What a process may take of its machine."""

import os
import subprocess
import sys
from contextvars import copy_context

import pytest
from tests.snapshots import refuses

from reidrisk.core import machine
from reidrisk.core.machine import GIB, cores, free_memory, limited
from reidrisk.core.settings_syntax import speaking
from reidrisk.errors import TooLarge

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="there are no such limits")


def system(root, **files):
    """A system that says this; double underscores are slashes."""
    said = {"proc__meminfo": f"MemTotal: 1 kB\nMemAvailable: {100 * GIB // 1024} kB\n", **files}
    for name, text in said.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return root


def test_without_limits_what_is_free_is_what_the_machine_has(tmp_path):
    assert free_memory(system(tmp_path)) == 100 * GIB


def test_where_the_system_says_nothing_there_is_memory(tmp_path):
    assert free_memory(tmp_path) > 0


def test_a_container_has_what_its_group_leaves(tmp_path):
    root = system(
        tmp_path,
        **{
            "proc__self__cgroup": "0::/\n",
            "sys__fs__cgroup__memory.max": f"{4 * GIB}\n",
            "sys__fs__cgroup__memory.current": 3 * GIB,
            "sys__fs__cgroup__memory.stat": f"anon {2 * GIB}\ninactive_file {GIB}\n",
        },
    )
    assert free_memory(root) == 2 * GIB


@pytest.mark.parametrize("place", ["", "__outer", "__outer__inner"])
@pytest.mark.parametrize("name", ["memory.max", "memory.high"])
def test_of_groups_within_groups_the_tightest_holds(tmp_path, place, name):
    around = {f"sys__fs__cgroup{one}__memory.max": "max" for one in ("", "__outer")}
    root = system(
        tmp_path,
        **around,
        **{
            "proc__self__cgroup": "0::/outer/inner\n",
            "sys__fs__cgroup__outer__inner__memory.max": 50 * GIB,
        },
    )
    assert free_memory(root) == 50 * GIB
    system(root, **{f"sys__fs__cgroup{place}__{name}": 3 * GIB})
    assert free_memory(root) == 3 * GIB


def test_groups_of_the_first_version_are_honoured(tmp_path):
    top = "sys__fs__cgroup__memory"
    root = system(
        tmp_path,
        **{
            "proc__self__cgroup": "5:cpu,cpuacct:/a\n4:memory:/a/b\n1:name=systemd:/\n",
            f"{top}__memory.limit_in_bytes": 9223372036854771712,
            f"{top}__a__memory.limit_in_bytes": 8 * GIB,
            f"{top}__a__memory.usage_in_bytes": 5 * GIB,
            f"{top}__a__memory.stat": f"inactive_file 0\ntotal_inactive_file {GIB}\n",
            f"{top}__a__b__memory.limit_in_bytes": 9223372036854771712,
        },
    )
    assert free_memory(root) == 4 * GIB


def test_a_group_that_is_not_seen_from_inside_a_container_is_its_top(tmp_path):
    root = system(
        tmp_path,
        **{
            "proc__self__cgroup": "0::/../elsewhere/scope\n",
            "sys__fs__cgroup__memory.max": 2 * GIB,
        },
    )
    assert free_memory(root) == 2 * GIB


def test_a_group_that_has_taken_all_leaves_nothing(tmp_path):
    root = system(
        tmp_path,
        **{
            "proc__self__cgroup": "0::/\n",
            "sys__fs__cgroup__memory.max": GIB,
            "sys__fs__cgroup__memory.current": 2 * GIB,
        },
    )
    assert free_memory(root) == 0


@pytest.mark.parametrize(
    "files",
    [
        {"proc__self__cgroup": "0::/\n", "sys__fs__cgroup__cpu.max": "100000 100000\n"},
        {"proc__self__cgroup": "0::/a\n", "sys__fs__cgroup__cpu.max": "50000 100000\n"},
        {
            "proc__self__cgroup": "3:cpu,cpuacct:/\n",
            "sys__fs__cgroup__cpu__cpu.cfs_quota_us": "90000\n",
            "sys__fs__cgroup__cpu__cpu.cfs_period_us": "100000\n",
        },
    ],
)
def test_a_container_with_one_core_has_one(tmp_path, files):
    assert cores(system(tmp_path, **files)) == 1


def test_a_container_without_a_quota_has_all_cores(tmp_path):
    before = cores(system(tmp_path))
    files = {"proc__self__cgroup": "0::/\n", "sys__fs__cgroup__cpu.max": "max 100000\n"}
    assert cores(system(tmp_path, **files)) == before
    files = {
        "proc__self__cgroup": "3:cpu:/\n",
        "sys__fs__cgroup__cpu__cpu.cfs_quota_us": "-1\n",
        "sys__fs__cgroup__cpu__cpu.cfs_period_us": "100000\n",
    }
    assert cores(system(tmp_path, **files)) == before


def test_what_the_user_says_counts_what_is_taken_already(tmp_path):
    system(tmp_path, proc__self__statm="900 300 0 0 0 500 0\n")
    with limited(1000 * os.sysconf("SC_PAGE_SIZE")):
        assert free_memory(tmp_path) == 700 * os.sysconf("SC_PAGE_SIZE")
    with limited(100):
        assert free_memory(tmp_path) == 0
    assert free_memory(tmp_path) == 100 * GIB


def test_pages_of_files_are_not_memory_that_is_taken(tmp_path):
    system(tmp_path, proc__self__statm="900 300 200 0 0 500 0\n")
    with limited(1000 * os.sysconf("SC_PAGE_SIZE")):
        assert free_memory(tmp_path) == 900 * os.sysconf("SC_PAGE_SIZE")


def test_what_does_not_fit_is_refused_with_what_to_do():
    with limited(GIB), speaking("options"), refuses("out-of-memory", TooLarge):
        machine.check_fits(100 * GIB, "rows", "use fewer users")
    with limited(1 << 60):
        machine.check_fits(GIB, "rows", "use fewer users")


def test_parts_are_taken_as_long_as_there_is_room_for_as_much_again(monkeypatch):
    taken = iter(range(0, 100, 10))
    monkeypatch.setattr(machine, "_taken", lambda _: (0, next(taken), 0))
    monkeypatch.setattr(machine, "usable_memory", lambda: 25)
    monkeypatch.setattr(machine, "to_get_more", lambda: "raise it")
    found = []
    with refuses("out-of-memory", TooLarge):
        found.extend(machine.within_memory(iter("abcde"), "a file"))
    assert found == ["a", "b"]


def run_limited(kind, most, *command):
    """Run Python under a limit of the system."""
    import resource

    def limit():
        resource.setrlimit(getattr(resource, kind), (most, most))

    return subprocess.run(
        [sys.executable, *command],
        check=False, capture_output=True, text=True, timeout=300, preexec_fn=limit,
    )  # fmt: skip


@LINUX
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_are_honoured(kind):
    script = "from reidrisk.core.machine import free_memory; print(free_memory())"
    found = run_limited(kind, 3 * GIB, "-c", script)
    assert 2 * GIB < int(found.stdout) < 3 * GIB


@LINUX
def test_an_engine_takes_what_the_process_may():
    script = "from reidrisk.engines import LocalEngine; print(LocalEngine().room.memory)"
    assert int(run_limited("RLIMIT_AS", 3 * GIB, "-c", script).stdout) < 3 * GIB


def test_as_many_cores_are_used_as_were_given():
    def given():
        machine.take_cores(1)
        return machine.cores()

    before = machine.cores()
    assert copy_context().run(given) == 1
    assert machine.cores() == before
