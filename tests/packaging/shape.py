"""Measure the shape of the package: its size, its imports and how far a call travels.

    python -m tests.packaging.shape           this tree
    python -m tests.packaging.shape TREE      another checkout, for figures before and after

How each figure is counted stands beside it. Nothing is imported from the tree except by a process
of its own, which runs a small study and looks at the functions that it enters.
"""

import ast
import io
import json
import os
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONCEPT = "stranger"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LAYOUT = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @property
    def package(self) -> str:
        return ".".join(self.name.split(".")[:2])

    def names(self) -> set[str]:
        """All names in the code, without strings and comments."""
        return {token.string.lower() for token in self.tokens if token.type == tokenize.NAME}

    def comment_and_code_lines(self) -> tuple[int, int]:
        """Lines with a comment; lines of code, which docstrings are not."""
        comments, code, prose = set(), set(), set()
        for token in self.tokens:
            if token.type == tokenize.COMMENT:
                comments.add(token.start[0])
            elif token.type not in _LAYOUT:
                code |= set(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Expr) and _is_text(node.value):
                prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return len(comments), len(code - prose)

    def sentences(self) -> int:
        """Strings of four words or more that are no docstring; an f-string counts once."""
        filled = [node for node in ast.walk(self.tree) if isinstance(node, ast.JoinedStr)]
        around = [node for node in ast.walk(self.tree) if isinstance(node, ast.Expr)]
        skipped = {inner for node in [*filled, *around] for inner in ast.iter_child_nodes(node)}
        plain = [node for node in ast.walk(self.tree) if _is_text(node) and node not in skipped]
        return sum(len(ast.unparse(node).split()) >= 4 for node in [*filled, *plain])


def modules(tree: Path) -> dict[str, Module]:
    """All modules under `tree/src`, by dotted name; a package is its `__init__.py`."""
    found = {}
    for path in sorted((tree / "src").rglob("*.py")):
        parts = path.relative_to(tree / "src").with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path.read_text(encoding="utf-8"))
    return found


def importers(found: dict[str, Module]) -> Counter[str]:
    """By how many other modules each one is imported, wherever the import stands."""
    pairs = {
        (imported, one.name)
        for one in found.values()
        for imported in _imported(one, found)
        if imported in found and imported != one.name
    }
    return Counter(imported for imported, _ in pairs)


def _imported(module: Module, found: dict[str, Module]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in found else node.module


def public_functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions, and methods of classes, without a leading underscore and with parameters."""
    for node in module.tree.body:
        within = node.body if isinstance(node, ast.ClassDef) and node.name[0] != "_" else [node]
        for one in within:
            if isinstance(one, _FUNCTIONS) and one.name[0] != "_":
                arguments = [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs]
                if [each for each in arguments if each.arg not in {"self", "cls"}]:
                    yield one


def shape(tree: Path) -> dict[str, int | float | str]:
    """All figures that need no run, each under what it counts."""
    found = modules(tree)
    every = list(found.values())
    packages = {name for name in found if any(other.startswith(f"{name}.") for other in found)}
    single = [n for n, times in importers(found).items() if times == 1 and n not in packages]
    classes = Counter(
        node.name for one in every for node in one.tree.body if isinstance(node, ast.ClassDef)
    )
    knowing = [one for one in every if any(CONCEPT in name for name in one.names())]
    public = [node for one in every for node in public_functions(one)]
    documented = [node for node in public if "Args:" in (ast.get_docstring(node) or "")]
    lines = [one.comment_and_code_lines() for one in every]
    comments, code = (sum(column) for column in zip(*lines, strict=True))
    said: Counter[str] = Counter()
    for one in every:
        said[one.package] += one.sentences()
    return {
        "lines (all lines of src/**/*.py)": sum(len(one.text.splitlines()) for one in every),
        "code lines (without blanks, comments, docstrings)": code,
        "modules (.py files)": len(every),
        "modules whose name begins with _": sum(
            one.name.split(".")[-1].startswith("_") and not one.name.endswith("__main__")
            for one in every
        ),
        "classes (at the top of a module)": sum(classes.values()),
        "class names with several homes": sum(times > 1 for times in classes.values()),
        "modules with exactly one importer (packages left out)": len(single),
        f"modules that name {CONCEPT} in code": len(knowing),
        f"packages that name {CONCEPT} in code": len({one.package for one in knowing}),
        "public functions with parameters": len(public),
        "of these, documented (Args:)": len(documented),
        "lines with a comment per code line": round(comments / code, 4) if code else 0,
        "sentences in code (strings of four words or more)": sum(said.values()),
        "packages with most sentences": ", ".join(
            f"{name.split('.')[-1]} {times}" for name, times in said.most_common(5)
        ),
    }


_TRACED = """
import json, sys, tempfile
from pathlib import Path
import reidrisk as rr

inside = str(Path(rr.__file__).parent)
entered, deepest = set(), 0

def ours(code):
    # neither module nor class bodies (not optimised), nor comprehensions and lambdas (<...>)
    return code.co_flags & 1 and code.co_name[0] != "<" and code.co_filename.startswith(inside)

def entering(frame, event, _):
    global deepest
    if event == "call" and ours(frame.f_code):
        entered.add(frame.f_code)
        depth = 0
        while frame is not None:
            depth += bool(ours(frame.f_code))
            frame = frame.f_back
        deepest = max(deepest, depth)

def study(folder):
    people = rr.data.synthetic_topics(users=2_000, topics=349, epochs=8, seed=1)
    asked = rr.Study(release=rr.TopicsApi(topics=349), attacks=(rr.Hamming(),), seed=7)
    result = asked.run(people)
    result.save(f"{folder}/run")
    rr.report.html(result, f"{folder}/report.html")

with tempfile.TemporaryDirectory() as folder:
    study(f"{folder}/first")  # loads and compiles all that the second needs
    sys.setprofile(entering)
    study(f"{folder}/second")
    sys.setprofile(None)
print(json.dumps([len(entered), len({code.co_filename for code in entered}), deepest]))
"""


def traced(tree: Path) -> dict[str, int]:
    """What a Hamming study of 2,000 people enters: people, run, save, report."""
    ran = subprocess.run(
        [sys.executable, "-c", _TRACED],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    keys = (
        "functions entered by a Hamming study of 2,000 people",
        "modules entered by it",
        "depth of its calls (our named functions on the stack)",
    )
    return dict(zip(keys, json.loads(ran.stdout), strict=True))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


if __name__ == "__main__":
    where = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    for what, figure in {**shape(where), **traced(where)}.items():
        told = f"{figure:,}" if isinstance(figure, int) else figure
        print(f"{what:<56} {told}")  # noqa: T201
