"""Run the benchmarks that were named; without a name, list them."""

import ast
import importlib
import pkgutil
import sys
from pathlib import Path

from benchmarks.tools import machine

HERE = Path(__file__).parent
HIDDEN = {"__main__", "comparison", "peers", "tools", "worlds"}


def known():
    """Names of benchmarks, and the first line that each says of itself."""
    found = {}
    for _, name, is_folder in pkgutil.iter_modules([str(HERE)]):
        file = HERE / name / "__init__.py" if is_folder else HERE / f"{name}.py"
        said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
        found[name] = said.splitlines()[0]
    return {name: about for name, about in sorted(found.items()) if name not in HIDDEN}


def main(asked):
    there = known()
    if unknown := set(asked) - set(there):
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(there)}")
    if not asked:
        print("\n".join(f"{name:16} {about}" for name, about in there.items()))
        return
    print(machine())
    for name in asked:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
