"""Every block of Python and of commands in the docs runs, and prints what it says it prints."""

import doctest
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.cli.tools import call

import reidrisk.information.counts.counting
import reidrisk.theory.matching
import reidrisk.theory.matrix
import reidrisk.theory.optimum

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


LONG = {ROOT / "docs/concepts/attacks.md"}
"""Pages that attack many people."""

LEARNING = {
    ROOT / "docs/concepts" / name
    for name in ("attacks.md", "latent-chain.md", "sequence-models.md")
}
"""Pages that train networks."""

CLUSTER = {ROOT / "docs/how-to/cluster.md"}
"""Pages that need a session on Spark: tests/spark runs them."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=[
                *([pytest.mark.slow] if page in LONG else []),
                *([pytest.mark.torch] if page in LEARNING else []),
            ],
        )
        for page in PAGES
        if page not in CLUSTER
    ],
)
def test_the_blocks_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_blocks(page, capsys)


def run_blocks(page, capsys):
    """Run a page; a comment `# -> text` after a print says what must have been printed by then.

    A block that begins with `# needs name` is skipped, with all after it, where no such package is.
    """
    names = {"__name__": "__main__"}
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "console":
            type_in(block)
            continue
        if (needs := re.match(r"# needs (\S+)\n", block)) and not find_spec(needs[1]):
            pytest.skip(f"{page.name} needs {needs[1]}: pip install --no-deps {needs[1]}")
        exec(compile(block, str(page), "exec"), names)  # noqa: S102  our own pages
        expected = re.findall(r"# -> (.*)$", block, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == expected or not expected


def type_in(block):
    """Run each `$ reidrisk ...` of a terminal, and compare what it prints; `...` is anything."""
    for words, told in re.findall(r"^\$ reidrisk (.*)\n((?:[^$].*\n|\n)*)", block, re.MULTILINE):
        done = call(*shlex.split(words), width=80)
        assert done.returncode == 0, done.stderr
        printed = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
        wanted = [line.rstrip() for line in told.splitlines() if line.strip()]
        pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in wanted)
        assert re.fullmatch(pattern, "\n".join(printed), re.DOTALL), done.stdout


def test_the_readme_has_an_example():
    assert BLOCK.findall(PAGES[0].read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "module",
    [
        reidrisk.information.counts.counting,
        reidrisk.theory.matrix,
        reidrisk.theory.optimum,
        reidrisk.theory.matching,
    ],
)
def test_the_examples_of_docstrings_run(module):
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
