"""What our pages tell people to type exists, also where a page does not run it."""

import re
import sys
import tomllib
import types
from contextlib import suppress
from dataclasses import make_dataclass

import click
import pytest
from tests.packaging.pages import (
    PAGES,
    ROOT,
    check_command,
    extras,
    fences,
    mentioned,
    targets,
    typed,
)

from reidrisk.errors import MissingExtra
from reidrisk.releases import parameter
from reidrisk.study.toml import parse

SHOWN = [page for page in PAGES if "decisions" not in page.parts]
names = [str(page.relative_to(ROOT)) for page in SHOWN]

PEOPLE = '\n[people]\nkind = "synthetic"\nusers = "1k"\n'


@pytest.mark.parametrize("page", SHOWN, ids=names)
def test_commands_and_options_exist(page):
    shown = [(words, True) for words in typed(page)]
    shown += [(words, False) for words in mentioned(page)]
    for words, whole in shown:
        try:
            check_command(words, whole=whole)
        except (AssertionError, click.ClickException) as wrong:
            pytest.fail(f"{page.name}: reidrisk {' '.join(words)}: {wrong}")


@pytest.mark.parametrize("page", SHOWN, ids=names)
def test_fences_say_what_they_hold(page):
    kinds = {fence.kind for fence in fences(page) if not fence.kind.startswith("{")}
    assert kinds <= {"", "python", "console", "sh", "toml", "yaml", "text", "bibtex"}


@pytest.mark.parametrize("page", SHOWN, ids=names)
def test_pieces_of_study_files_are_read(page):
    for fence in fences(page):
        if fence.kind != "toml":
            continue
        body = tomllib.loads(fence.text)
        with suppress(MissingExtra):  # what needs a library that is not here has been understood
            parse(fence.text if "people" in body else fence.text + PEOPLE)


@pytest.fixture(autouse=True)
def _their_own(request, monkeypatch):
    """Releases and attacks that a page names by their modules, and does not bring along here."""
    page = request.node.callspec.params.get("page") if hasattr(request.node, "callspec") else None
    for fence in fences(page) if page else ():
        keys = re.findall(r"^([a-z_]+) = ", fence.text.partition("[release]")[2], re.MULTILINE)
        for module, name in re.findall(r"\b([a-z_.]+):([A-Z]\w+)", fence.text):
            given = types.ModuleType(module)
            vars(given)[name] = _part(name, {*keys} - {"kind"})
            monkeypatch.setitem(sys.modules, module, given)


def _part(name, keys):
    """Something that passes for a release with these parameters, and for an attack."""
    fields = [(key, float, parameter(0.1, help=key, least=0, most=1)) for key in keys]
    says = {"name": name, "knows": "-", "assumes": "-", "likelihood": False, "needs": ()}
    does = dict.fromkeys(("slots", "show", "promises", "fit"), lambda *_: ())
    return make_dataclass(name, fields, namespace={**says, **does}, frozen=True)


@pytest.mark.parametrize("page", SHOWN, ids=names)
def test_extras_and_targets_exist(page):
    text = page.read_text(encoding="utf-8")
    named = ",".join(re.findall(r"(?:reidrisk|')?\.?\[([a-z,]+)\]'", text))
    assert {one for one in named.split(",") if one} <= extras()
    shown = [fence.text for fence in fences(page) if fence.kind in {"", "sh"}]
    made = re.findall(r"^make ([a-z]+)", "\n".join(shown), re.MULTILINE)
    assert {*made, *re.findall(r"`make ([a-z]+)`", text)} <= targets()


@pytest.mark.parametrize(
    "line",
    [
        "riks run/",
        "gate run/ --max-riks 1%",
        "gate run/ --max-risk 1",
        "gate run/ other/ --max-risk 1%",
        "study study.toml --fast",
        "study new --engine spark",
        "report run/ --edition short",
    ],
)
def test_what_does_not_exist_is_noticed(line):
    with pytest.raises((AssertionError, click.ClickException)):
        check_command(line.split())


def test_every_line_is_looked_at():
    page = ROOT / "docs/how-to/gate-a-release.md"
    assert ["gate", "run/", "--max-risk", "1%"] in typed(page)  # of the pipeline
    assert ["gate"] in mentioned(ROOT / "docs/how-to/sign-off.md")
