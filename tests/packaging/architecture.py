"""Write the tree of modules in `docs/architecture.md`: `python -m tests.packaging.architecture`.

Only the lines between the two marks are generated, from the first sentence of each module's
docstring. Everything else on the page is written by hand.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "reidrisk"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- Begin: written by `python -m tests.packaging.architecture`. -->\n"
END = "<!-- End -->\n"


def page() -> str:
    """The page as it should be: the text written by hand around the tree as it is now."""
    above, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, below = rest.partition(END)
    assert end, f"{PAGE} has lost the marks around the tree"
    return above + begin + "\n" + tree(PACKAGE) + "\n" + end + below


def tree(package: Path) -> str:
    """A heading and a table of modules for the package and for each of its packages.

    Args:
        package: the folder of the package.

    Returns:
        Markdown, one line for each module.
    """
    parts = [f"### `{package.name}/`", *_section(package, package.glob("*.py"))]
    for folder in sorted(one.parent for one in package.glob("*/__init__.py")):
        parts += [f"### `{folder.name}/`", *_section(folder, folder.rglob("*.py"))]
    return "\n\n".join(parts) + "\n"


def without_docstring(package: Path) -> list[str]:
    """The modules that do not say what they hold, by their path within the package."""
    return [
        str(module.relative_to(package))
        for module in sorted(package.rglob("*.py"))
        if not _first_sentence(module)
    ]


def _section(folder: Path, modules: Iterator[Path]) -> list[str]:
    rows = [f"| `{_name(one, folder)}` | {_cell(one)} |" for one in sorted(modules, key=_order)]
    return [
        _cell(folder / "__init__.py"),
        "\n".join(["| module | holds |", "| --- | --- |", *rows[1:]]),
    ]


def _order(module: Path) -> tuple[str, ...]:
    """Modules by name, each package's own line before those of its modules."""
    return (*module.parent.parts, "" if module.name == "__init__.py" else module.name)


def _name(module: Path, folder: Path) -> str:
    inside = module.relative_to(folder)
    return f"{inside.parent}/" if module.name == "__init__.py" else str(inside)


def _cell(module: Path) -> str:
    return _first_sentence(module).replace("|", "\\|")


def _first_sentence(module: Path) -> str:
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=[.?!])\s", paragraph, maxsplit=1)[0]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
