"""The reference has every public name once, and every command."""

import importlib
import inspect
import re
import shlex
import sys
from collections import Counter

import click
import pytest
from tests.packaging.pages import ROOT, check_command, fences

import reidrisk
from reidrisk.cli.app import cli

REFERENCE = ROOT / "docs/reference"
ROOMS = ["attacks", "data", "engines", "estimates", "information", "releases", "report",
         "reproduction", "risk", "scores", "study", "testing", "theory"]  # fmt: skip
MODULES = ["reidrisk", *(f"reidrisk.{room}" for room in ROOMS)]


def found(path):
    """What a dotted name leads to; modules that nobody has loaded yet are loaded."""
    thing, so_far = reidrisk, "reidrisk"
    for name in path.split(".")[1:]:
        so_far += f".{name}"
        if not hasattr(thing, name):
            importlib.import_module(so_far)
        thing = getattr(thing, name)
    return thing


def key(path):
    """One key for all names of the same class or function; plain values go by their last name."""
    thing = found(path)
    if inspect.ismodule(thing):
        return thing.__name__
    named = inspect.isclass(thing) or inspect.isfunction(thing)
    return id(thing) if named else path.rpartition(".")[2]


def documented():
    """Whatever the pages of the reference name in a directive, in order."""
    directive = re.compile(r"^\.\. (auto\w+|py:data):: (\S+)$", re.MULTILINE)
    return [
        (page.name, kind, path)
        for page in sorted(REFERENCE.glob("*.md"))
        for fence in fences(page)
        for kind, path in directive.findall(fence.text)
    ]


def public():
    """Every public name but that of the version and of the rooms themselves."""
    paths = [f"{module}.{name}" for module in MODULES for name in found(module).__all__]
    return [path for path in paths if path not in {*MODULES, "reidrisk.__version__"}]


def test_every_public_name_is_in_the_reference():
    there = {key(path) for _, _, path in documented()}
    assert [path for path in public() if key(path) not in there] == []


def test_nothing_is_in_the_reference_twice():
    pages = Counter(key(path) for _, _, path in documented())
    twice = [path for _, _, path in documented() if pages[key(path)] > 1]
    assert twice == []


def test_names_that_are_no_longer_public_are_not_in_the_reference():
    offered = {key(path) for path in public()}
    more = {"reidrisk.theory.reference", "reidrisk.risk.bounds"}
    extra = [path for _, _, path in documented() if key(path) not in offered | more]
    assert extra == []


@pytest.mark.parametrize("path", [path for _, _, path in documented()])
def test_everything_in_the_reference_explains_itself(path):
    thing = found(path)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert (inspect.getdoc(thing) or "").strip()


@pytest.fixture(scope="module")
def shown():
    """Every command of the page, by what is typed."""
    pytest.importorskip("docutils")
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        generator = importlib.import_module("command_reference")
    finally:
        sys.path.pop(0)
    return {one.command_path: one for _, part in generator.commands() for one in part}


def test_every_command_is_in_the_reference(shown):
    assert {"reidrisk gate", "reidrisk study run", "reidrisk release topics"} <= set(shown)
    assert {path.split()[1] for path in shown} == set(
        cli.list_commands(click.Context(cli, **cli.context_settings))
    )


def test_the_examples_of_every_command_can_be_typed(shown):
    for path, context in shown.items():
        if isinstance(context.command, click.Group):
            continue
        text = re.sub(r" *\\\n\s*", " ", context.command.help)
        examples = re.findall(r"^ +reidrisk (.*?)(?:  .*)?$", text, re.MULTILINE)
        assert examples, path
        for example in examples:
            check_command(shlex.split(example.partition(" > ")[0].partition(" >> ")[0]))
