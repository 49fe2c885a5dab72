"""Every block of Python and of commands in the docs runs, and prints what it says it prints."""

import re
import shlex
from importlib.util import find_spec

import pytest
from tests.cli.tools import call
from tests.packaging.pages import PAGES, ROOT, fences

LONG = {ROOT / "docs/concepts/attacks.md", ROOT / "docs/gallery.md"}
"""Pages that attack many people, or draw; the build of the pages runs the gallery, too."""

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
    monkeypatch.syspath_prepend(tmp_path)  # as for a program in the folder one works in
    run_blocks(page, capsys)


def run_blocks(page, capsys):
    """Run a page; a comment `# -> text` after a print says what must have been printed by then.

    A block that begins with `# needs name` is skipped, with all after it, where no such package is.
    """
    names = {"__name__": "__main__"}
    for fence in fences(page):
        if fence.kind == "console":
            type_in(fence.text)
        if fence.kind != "python":
            continue
        if (needs := re.match(r"# needs (\S+)\n", fence.text)) and not find_spec(needs[1]):
            pytest.skip(f"{page.name} needs {needs[1]}: pip install --no-deps {needs[1]}")
        exec(compile(fence.text, str(page), "exec"), names)  # noqa: S102  our own pages
        expected = re.findall(r"# -> (.*)$", fence.text, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == expected or not expected


def type_in(block):
    """Run each `$ reidrisk ...` of a terminal, and compare what it prints; `...` is anything.

    `$ echo $?` after a command shows its exit code, which otherwise must be 0; what a command says
    before it fails may come on either stream.
    """
    found = re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:[^$].*\n|\n)*)", block, re.MULTILINE)
    typed = [(re.sub(r" *\\\n\s*", " ", line), told) for line, told in found]
    after = [line for line, _ in typed[1:]] + [""]
    code = 0
    for (line, told), following in zip(typed, after, strict=True):
        if line == "echo $?":
            assert told.strip() == str(code)
            continue
        program, *words = shlex.split(line)
        assert program == "reidrisk", f"{line}: nobody runs this"
        done = call(*words, width=80)
        code, said = done.returncode, done.stdout
        if following == "echo $?":
            said += done.stderr
        else:
            assert code == 0, done.stderr
        printed = [line.rstrip() for line in said.splitlines() if line.strip()]
        wanted = [line.rstrip() for line in told.splitlines() if line.strip()]
        pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in wanted)
        assert re.fullmatch(pattern, "\n".join(printed), re.DOTALL), said


def test_the_readme_has_an_example():
    assert {"python"} <= {fence.kind for fence in fences(ROOT / "README.md")}


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
