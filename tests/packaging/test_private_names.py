"""A name that only its own module uses begins with an underscore."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.packaging.shape import ROOT, Module, modules

WORD = re.compile(r"\w+")


def top_names(module: Module) -> Iterator[str]:
    """Functions, classes and variables that a module defines and that others could import."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not is_exempt(node):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (one.id for one in node.targets if isinstance(one, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def is_exempt(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Commands of click, which are called by their decorator, and protocols, which nobody calls."""
    decorated = any("command" in ast.unparse(one) for one in node.decorator_list)
    return decorated or "Protocol" in map(ast.unparse, getattr(node, "bases", ()))


def used_only_at_home(found: Mapping[str, Module], elsewhere: set[str]) -> list[str]:
    """Names without an underscore that stand in one module, and nowhere in `elsewhere`."""
    words = {name: set(WORD.findall(one.text)) for name, one in found.items()}
    homes = Counter(word for one in words.values() for word in one)
    return [
        f"{module}.{name}"
        for module, one in found.items()
        for name in top_names(one)
        if not name.startswith("_") and homes[name] == 1 and name not in elsewhere
    ]


def words_in(*files: Path) -> set[str]:
    return {word for file in files for word in WORD.findall(file.read_text(encoding="utf-8"))}


def test_names_used_in_one_module_only_begin_with_an_underscore():
    stubs = words_in(*(ROOT / "src").rglob("*.pyi"))
    users = words_in(*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"))
    assert used_only_at_home(modules(ROOT), stubs | users) == []


def test_the_check_finds_a_name_that_nobody_else_uses():
    found = {
        "a": Module("a", "LIMIT = 3\ndef shared(): ...\ndef _own(): ...\n"),
        "b": Module("b", "from a import shared\nclass Listed: ...\nclass Seam(Protocol): ...\n"),
    }
    assert used_only_at_home(found, {"Listed"}) == ["a.LIMIT"]
