"""Run the benchmarks that were named, or all of them."""

import importlib
import pkgutil
import sys
from pathlib import Path

from benchmarks.tools import machine

HIDDEN = {"__main__", "tools"}


def main():
    here = str(Path(__file__).parent)
    known = sorted({module.name for module in pkgutil.iter_modules([here])} - HIDDEN)
    asked = sys.argv[1:] or known
    if unknown := set(asked) - set(known):
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    print(machine())
    for name in asked:
        importlib.import_module(f"benchmarks.{name}").main()


main()
