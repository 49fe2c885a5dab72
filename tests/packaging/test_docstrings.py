"""Every public name has an example in its docstring, and every example of a docstring runs.

Those of public names take two lines for granted, `import numpy as np` and `import reidrisk as rr`;
those of other names run inside their module. One with a line `>>> # needs torch` runs in that lane.
One with `>>> # needs pyspark` is run by tests/spark, where `spark` is a session.
"""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import reidrisk as rr

ROOMS = (
    "attacks", "data", "engines", "estimates", "information", "releases", "report", "risk",
    "scores", "study", "testing", "theory",
)  # fmt: skip
PACKAGE = Path(rr.__file__).parent


def public():
    """What can be called, of all rooms that people import from; each once, by its first name."""
    named = {}
    for room in (rr, *(importlib.import_module(f"reidrisk.{room}") for room in ROOMS)):
        for name in room.__all__:
            value = getattr(room, name)
            if callable(value) and value.__module__.startswith("reidrisk."):
                named.setdefault(value, f"{room.__name__}.{name}".replace("reidrisk", "rr", 1))
    return {name: value for value, name in named.items()}


PUBLIC = public()


def guest_of(text):
    """The library that an example needs, if it says so."""
    said = re.search(r">>> # needs (\w+)$", text, re.MULTILINE)
    return said and said[1]


def with_examples(guest):
    """The modules with examples that need a library, or with some that need none."""
    for path in sorted(PACKAGE.rglob("*.py")):
        texts = path.read_text(encoding="utf-8").split('"""')
        if any(">>>" in text and guest_of(text) == guest for text in texts):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__")


def run_examples(module, guest=None, **given):
    """Run the examples of a module that need this library; `given` are names they may use."""
    home = importlib.import_module(module)
    public = {f"{value.__module__}.{value.__qualname__}" for value in PUBLIC.values()}
    runner = doctest.DocTestRunner()
    for one in doctest.DocTestFinder().find(home, module):
        if one.examples and guest_of(one.docstring) == guest:
            one.globs = {} if one.name in public else vars(home).copy()
            one.globs |= {"np": np, "rr": rr, **given}
            runner.run(one)
    assert runner.tries
    assert not runner.failures


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_shows_an_example(name):
    said = inspect.getdoc(PUBLIC[name])
    assert said
    assert ">>>" in said


@pytest.mark.parametrize("module", list(with_examples(None)))
def test_the_examples_of_a_module_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples(module)


@pytest.mark.torch
@pytest.mark.parametrize("module", list(with_examples("torch")))
def test_examples_that_learn_run(module, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    run_examples(module, "torch")


def parameters_of(part):
    """What a function or a class takes by name; nothing for protocols and plain types."""
    if getattr(part, "_is_protocol", False) or not (
        inspect.isfunction(part) or inspect.isclass(part)
    ):
        return []
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    named = inspect.signature(part).parameters.values()
    return [one.name for one in named if one.kind not in kinds]


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_function_documents_its_parameters(name):
    """A class may say them as `Args` or as `Attributes`."""
    told = PUBLIC[name].__doc__ or ""
    named = re.findall(r"^ +(\w+)(?: \(.*\))?:", told, re.MULTILINE)
    assert set(parameters_of(PUBLIC[name])) <= set(named)
