"""Commands begin at once: what each of them loads, and what it does without.  Decision 24.

Modules are counted, and nothing is timed: `python -m benchmarks start` does that.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import reidrisk
from reidrisk import attacks, releases
from reidrisk.attacks.table import all_attacks, own_attack
from reidrisk.core import parallel, plugins
from reidrisk.releases.table import own_release, release_kinds

SOURCE = Path(reidrisk.__file__).parent
RUN = Path(__file__).parents[1] / "study" / "data" / "reidrisk-1.json"
ACCEPTED = ("--accept", "unsealed")  # it is of an earlier version

COMPILER = {"numba", "llvmlite"}
NUMBERS = {"numpy", "scipy.special", "scipy.sparse", "scipy.optimize", "pyarrow"}
GUESTS = {"torch", "pyspark", "pandas", "polars", "duckdb", "matplotlib", "altair", "jinja2"}
ENGINES = {"reidrisk.engines.plan", "reidrisk.io.tables", "reidrisk.study.study"}
NO_NUMBERS = {*COMPILER, *NUMBERS, *GUESTS, *ENGINES, "pydantic"}
NO_FIGURES = {*COMPILER, *NUMBERS - {"numpy"}, *GUESTS, *ENGINES}

LOADS = """
import sys
from reidrisk.cli import main
sys.argv = ["reidrisk", *sys.argv[1:]]
try:
    main()
finally:
    print("loaded:", *sorted(sys.modules))
"""


def loaded(code, *words):
    """The exit code of a program, and what it had loaded in the end."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False
    )
    *_, last = done.stdout.splitlines()
    assert last.startswith("loaded: "), done.stderr
    return done.returncode, set(last.split()[1:])


@pytest.mark.parametrize(
    ("words", "code", "without"),
    [
        (["--help"], 0, {*NO_NUMBERS, "rich"}),
        (["--version"], 0, {*NO_NUMBERS, "rich"}),
        (["gate", "--help"], 0, {*NO_NUMBERS, "rich"}),
        (["inspect", "--help"], 0, {*NO_NUMBERS, "rich"}),
        (["gate", RUN, "--bad"], 2, {*NO_NUMBERS, "rich"}),
        (["release", "--help"], 0, NO_FIGURES),
        (["release", "topics", "--help"], 0, NO_FIGURES),
        (["attacks"], 0, {*NO_FIGURES, "pydantic"}),
        (["attacks", "--json"], 0, {*NO_FIGURES, "pydantic", "rich"}),
        (["gate", RUN, "--max-risk", "99%"], 3, {*NO_FIGURES, "rich"}),
        (
            ["gate", RUN, "--max-risk", "99%", "--side", "upper", *ACCEPTED],
            0,
            {*NO_FIGURES, "rich"},
        ),
        (["gate", RUN, "--max-risk", "99%", "--json", *ACCEPTED], 0, {*NO_FIGURES, "rich"}),
        (["gate", "nowhere", "--max-risk", "99%"], 2, {*NO_FIGURES, "rich"}),
        (["report", "nowhere"], 2, NO_FIGURES),
        (["report", RUN, "--edition", "signoff"], 0, {*COMPILER, *NUMBERS - {"numpy"}, "altair"}),
        (["compare", RUN, "nowhere"], 2, {*NO_FIGURES, "rich"}),
        (["explain", "--epsilon", "1", "--users", "1000"], 0, {*NO_FIGURES, "pydantic"}),
        (["attack", "nowhere"], 2, {*NO_FIGURES, "rich"}),
        (["singling", "nowhere.csv"], 2, {*COMPILER, *GUESTS, "rich"}),
        (["study", "nowhere.toml", "-o", "nowhere"], 2, {*COMPILER, *GUESTS, "rich"}),
    ],
    ids=lambda one: " ".join(map(str, one)) if isinstance(one, list) else "",
)
def test_a_command_loads_no_more_than_it_needs(tmp_path, monkeypatch, words, code, without):
    monkeypatch.chdir(tmp_path)
    ended, modules = loaded(LOADS, *words)
    assert ended == code
    assert without & modules == set()


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("import reidrisk", {*NO_NUMBERS, "rich", "click"}),
        (
            "from reidrisk import measure, Hamming; Hamming()",
            {*COMPILER, *NUMBERS - {"numpy"}, *GUESTS, "pydantic", "rich"},
        ),
        ("from reidrisk import Result; Result.load", {*NO_FIGURES, "pydantic", "rich"}),
        ("from reidrisk import TopicsApi; TopicsApi()", {*NO_FIGURES, "pydantic", "rich"}),
        ("from reidrisk import theory; theory.RepresentationMatrix", NO_FIGURES),
    ],
)
def test_an_import_loads_no_more_than_it_needs(code, without):
    ended, modules = loaded(f"import sys; {code}; print('loaded:', *sys.modules)")
    assert ended == 0
    assert without & modules == set()


def test_an_attack_that_was_judged_is_loaded_and_no_other(tmp_path):
    """The gate asks what an attack knows: `needs`."""
    code = f"""
import sys
from reidrisk.study.doubts import doubts
from reidrisk.study.gate import Limits, judge
from reidrisk.study.result import Result
from dataclasses import replace
result = Result.load({str(RUN)!r})
risks = tuple(replace(one, attack="repetition") for one in result.risks)
result, limits = replace(result, risks=risks), Limits(max_risk=0.99)
doubts(result, judge(result, limits), limits)
print("loaded:", *sys.modules)
"""
    ended, modules = loaded(code)
    assert ended == 0
    assert "reidrisk.attacks.repetition" in modules
    assert not {"reidrisk.attacks.type_aware", "reidrisk.learning"} & modules


def test_an_attack_and_a_release_are_in_the_module_of_their_name():
    assert {name: own_attack(name) for name in all_attacks()} == all_attacks()
    assert {name: own_release(name) for name in release_kinds()} == release_kinds()


@pytest.mark.parametrize(
    "name", ["", "attack", "weighted_hamming", "Hamming", "__init__", "table", "../os", "a.b"]
)
def test_what_is_no_name_of_a_part_is_none(name):
    assert own_attack(name) is None
    assert own_release(name) is None
    assert plugins.part_named(attacks, name, lambda _: False) is None
    assert plugins.part_named(releases, name, lambda _: False) is None


def test_a_kernel_loads_the_compiler_when_it_is_called(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "from reidrisk.core.parallel import kernel\n"
        "@kernel\n"
        "def inner(number):\n    return number + 1\n"
        "@kernel\n"
        "def outer(number):\n    return 2 * inner(number)\n"
    )
    code = (
        f"import pickle, sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import kernels\n"
        "assert pickle.loads(pickle.dumps(kernels.outer)) is kernels.outer\n"
        "assert 'numba' not in sys.modules\n"
        "assert kernels.outer(3) == 8\n"
        "print('loaded:', *sys.modules)"
    )
    ended, modules = loaded(code)
    assert ended == 0
    assert "numba" in modules


def test_a_kernel_is_made_once_for_all_threads(monkeypatch):
    """Kernels that call it hold what was made first, and hold it weakly."""
    made = iter("ab")
    monkeypatch.setattr(parallel, "_compiled", lambda _: next(made))
    kernel = parallel.Kernel(abs)
    slower = parallel.Kernel.compiled.func(kernel)  # of a thread that came too late
    assert (slower, parallel.Kernel.compiled.func(kernel), kernel.compiled) == ("a", "a", "a")


def test_nothing_is_looked_through_when_a_command_ends():
    """Python would look for cycles in everything that was loaded; numba's types take 0.4 s."""
    code = """
import atexit, gc, sys
before = gc.get_freeze_count()  # not 0 in every Python
atexit.register(lambda: print("loaded:", gc.get_freeze_count() > before + 1_000))  # runs last
from reidrisk.cli import main
sys.argv = ["reidrisk", "--version"]
for _ in range(2):
    try:
        main()
    except SystemExit:
        assert gc.get_freeze_count() == before  # not yet: whoever called it goes on
"""
    assert loaded(code) == (0, {"True"})
