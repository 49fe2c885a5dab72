"""What people install: the wheel, and the archive of sources that it is built from.

Nothing is downloaded. The fresh environment has the wheel, and links to what the wheel says that it
needs: a library that we use and do not name is absent there.
"""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import reidrisk

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BUILD = (sys.executable, "-m", "build", "--no-isolation")
KINDS = {".css", ".html", ".js", ".json", ".py", ".pyi", ".toml", ".typed"}
"""Code and what pages are made of; tables of people would have another ending."""


def run(*words, **settings):
    """The standard output of a program that must succeed."""
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, **settings
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def files(folder):
    """Names of all files in a folder, but for what tools leave there: often hidden, or drawn."""
    left = {"__pycache__", "_build", "_pictures"}
    found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    hidden = re.compile(r"(^|/)\.")
    return {
        name.as_posix()
        for name in found
        if not left & {*name.parts} and not hidden.search(name.as_posix())
    }


@dataclass(frozen=True)
class Built:
    """The files of a release, and the sources unpacked."""

    wheel: Path
    archive: Path
    sources: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The archive, and the wheel that is built from the archive: what `make package` uploads."""
    folder = tmp_path_factory.mktemp("built")
    run(*BUILD, "--outdir", folder, ROOT)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return Built(wheel, archive, folder / archive.name.removesuffix(".tar.gz"))


def test_the_index_accepts_them_and_their_version_is_ours(built):
    run(sys.executable, "-m", "twine", "check", "--strict", built.wheel, built.archive)
    assert built.wheel.name == f"reidrisk-{reidrisk.__version__}-py3-none-any.whl"
    assert built.archive.name == f"reidrisk-{reidrisk.__version__}.tar.gz"


def test_the_wheel_holds_the_package_and_nothing_else(built):
    ours = {f"reidrisk/{name}" for name in files(ROOT / "src" / "reidrisk")}
    about = f"reidrisk-{reidrisk.__version__}.dist-info/"
    names = set(zipfile.ZipFile(built.wheel).namelist())
    assert {name for name in names if not name.startswith(about)} == ours
    assert {"reidrisk/py.typed", "reidrisk/study/result.schema.json"} < names
    assert {Path(name).suffix for name in ours} == KINDS
    assert {name.removeprefix(about) for name in names - ours} == {
        "METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE",
    }  # fmt: skip


def test_each_python_that_we_name_may_install_it(built):
    text = zipfile.ZipFile(built.wheel).read(f"reidrisk-{reidrisk.__version__}.dist-info/METADATA")
    told = Parser().parsestr(text.decode())
    named = {line.rpartition(" ")[2] for line in told.get_all("Classifier") if "3." in line}
    assert named == {"3.11", "3.12", "3.13"}
    assert told["Requires-Python"] == f">={min(named)}"
    assert f"PYTHONS := {' '.join(sorted(named))}\n" in (ROOT / "Makefile").read_text()


def test_the_archive_builds_the_same_wheel_as_the_repository(built, tmp_path):
    run(*BUILD, "--wheel", "--outdir", tmp_path, ROOT)
    assert (tmp_path / built.wheel.name).read_bytes() == built.wheel.read_bytes()


def test_the_archive_holds_all_tests_and_pages_and_they_run_there(built):
    for folder in ("benchmarks", "docs", "tests"):
        assert files(built.sources / folder) == files(ROOT / folder)
    tests = ("tests/study/test_result.py", "tests/core/test_rows.py")
    done = run(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests,
        cwd=built.sources, env={**os.environ, "PYTHONPATH": str(built.sources / "src")},
    )  # fmt: skip
    assert " passed" in done.stdout


def needed(requirements, extra=""):
    """Names of all distributions that these ask for, and those ask for in turn."""
    found, left = set(), [(Requirement(line), extra) for line in requirements]
    while left:
        one, extra = left.pop()
        if one.marker and not one.marker.evaluate({"extra": extra}):
            continue
        for wanted in {"", *one.extras}:
            if (one.name, wanted) not in found:
                found.add((one.name, wanted))
                more = distribution(one.name).requires or ()
                left += [(Requirement(line), wanted) for line in more]
    return {name for name, _ in found}


@dataclass(frozen=True)
class Environment:
    """A virtual environment with a wheel, and with what that needs."""

    folder: Path

    @property
    def python(self):
        return self.folder / "bin" / "python"

    def install(self, wheel, extra=""):
        """As pip would, but with links to distributions that are here already."""
        (site,) = self.folder.glob("lib/python3*/site-packages")
        told = zipfile.ZipFile(wheel).read(f"reidrisk-{reidrisk.__version__}.dist-info/METADATA")
        requirements = Parser().parsestr(told.decode()).get_all("Requires-Dist")
        for name in needed(requirements, extra):
            there = distribution(name)
            for top in {file.parts[0] for file in there.files} - {"..", "__pycache__"}:
                if not (site / top).exists():
                    (site / top).symlink_to(there.locate_file(top))
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.python)
        run(*pip, "install", "--no-index", "--no-deps", "--force-reinstall", wheel)
        run(*pip, "check")

    def run(self, *words, cwd):
        """What a command says, of the package that is installed there and of no other."""
        plain = {name: told for name, told in os.environ.items() if name != "PYTHONPATH"}
        return run(self.folder / "bin" / "reidrisk", *words, cwd=cwd, env=plain)


@pytest.fixture(scope="module")
def fresh(built, tmp_path_factory):
    """An environment in which nobody asked for an extra."""
    folder = tmp_path_factory.mktemp("fresh") / "environment"
    venv.create(folder, symlinks=True)
    made = Environment(folder)
    made.install(built.wheel)
    return made


def test_the_demo_of_a_plain_install_says_how_to_get_a_page_and_then_makes_it(
    built, fresh, tmp_path
):
    """Also the one run of the study file that people begin with, as it is."""
    assert "Usage: reidrisk " in fresh.run("--help", cwd=tmp_path).stdout
    done = fresh.run("demo", cwd=tmp_path)
    assert "Found: after 8 weeks, an attacker who knows " in done.stdout
    assert done.stderr.endswith("pip install 'reidrisk[plots]'\n")
    assert not (tmp_path / "reidrisk-demo" / "report.html").exists()
    fresh.install(built.wheel, "plots")
    done = fresh.run("demo", cwd=tmp_path)
    assert done.stdout.endswith("The report: reidrisk-demo/report.html\n")
    assert "<svg" in (tmp_path / "reidrisk-demo" / "report.html").read_text(encoding="utf-8")


PROGRAM = Path(__file__).parent / "typed_program.py"


def test_a_type_checker_knows_what_a_program_gets_from_us(fresh, tmp_path):
    """Nothing in it may be of type Any, so each name leads to a type, also those loaded late."""
    strict = ("--strict", "--disallow-any-expr", "--cache-dir", tmp_path / "cache")
    words = ("-m", "mypy", *strict, "--python-executable", fresh.python, "--config-file=")
    run(sys.executable, *words, PROGRAM, cwd=tmp_path)
    wrong = PROGRAM.read_text().replace("curve[4].value, float", "curve[4].value, int")
    (tmp_path / "wrong.py").write_text(wrong)
    done = subprocess.run(
        [sys.executable, *map(str, words), "wrong.py"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert 'Expression is of type "float", not "int"' in done.stdout
    run(fresh.python, PROGRAM, cwd=tmp_path)
