"""Every error that the package builds says by a code what kind of fault it is."""

import ast
import copy
import pickle
import re
from pathlib import Path

import pytest

import reidrisk as rr
from reidrisk import errors

SOURCE = Path(rr.__file__).parent
KINDS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, rr.ReidriskError)
} | {"NothingSuffices"}


def built():
    """All calls in the package that build one of its errors, each with its place."""
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and _name(node.func) in KINDS:
                yield f"{file.relative_to(SOURCE)}:{node.lineno}", node


def _name(node):
    return getattr(node, "id", None) or getattr(node, "attr", None)


def code_of(call):
    """The code as it is written, or the expression that carries another error's."""
    found = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    return found[0] if found else None


def test_every_error_has_a_code():
    assert [place for place, call in built() if code_of(call) is None] == []


def test_codes_are_words_between_hyphens():
    codes = {node.value for _, call in built() if isinstance(node := code_of(call), ast.Constant)}
    assert len(codes) > 100
    assert [code for code in codes if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)] == []


@pytest.mark.parametrize(
    ("kind", "usual"),
    [
        (rr.InvalidInput, "invalid-input"),
        (rr.TooLarge, "too-large"),
        (rr.MissingExtra, "missing-extra"),
    ],
)
def test_a_code_travels_with_its_error(kind, usual):
    assert kind("wrong").code == usual
    wrong = kind("wrong", code="duplicate-user")
    for other in (pickle.loads(pickle.dumps(wrong)), copy.copy(wrong)):  # noqa: S301  our own
        assert (type(other), str(other), other.code) == (kind, "wrong", "duplicate-user")
