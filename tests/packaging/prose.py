"""Count test functions that quote prose: `python -m tests.packaging.prose [TREE]`.

Counted are two words or more in a string of an assertion or of a case of `parametrize`, and every
`match=` of `pytest.raises`.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

_WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? [A-Za-z]{2,}")


def quotes(function):
    """Whether a test function quotes prose."""
    cases = [one for one in function.decorator_list if "parametrize" in ast.unparse(one)]
    asserted = [one.test for one in ast.walk(function) if isinstance(one, ast.Assert)]
    matched = any(isinstance(one, ast.keyword) and one.arg == "match" for one in ast.walk(function))
    return matched or any(map(_has_words, [*cases, *asserted]))


def _has_words(node):
    texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    return any(isinstance(text, str) and _WORDS.search(text) for text in texts)


def counted(tree):
    """By folder of tests, how many functions quote prose, and how many there are."""
    quoting, all_of_them = Counter(), Counter()
    for file in sorted((tree / "tests").rglob("test_*.py")):
        folder = file.relative_to(tree / "tests").parts[0]
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                all_of_them[folder] += 1
                quoting[folder] += quotes(node)
    return quoting, all_of_them


if __name__ == "__main__":
    quoting, all_of_them = counted(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for folder in sorted(all_of_them):
        print(f"{folder}: {quoting[folder]} of {all_of_them[folder]}")  # noqa: T201
    print(  # noqa: T201
        f"{quoting.total()} of {all_of_them.total()} test functions quote prose, "
        f"{quoting.total() / all_of_them.total():.1%}"
    )
