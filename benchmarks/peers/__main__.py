"""Compare with the peers of one question; JSON on stdout. Runs in the environment of peers."""

import argparse
import importlib
import json
import logging
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version

from benchmarks.peers import QUESTIONS


def found(question, peer, *, quick):
    """Rows of a peer, or why there are none."""
    try:
        rows = list(question.compare(peer, quick=quick))
    except (ImportError, PackageNotFoundError) as missing:
        return {"peer": peer, "missing": f"{type(missing).__name__}: {missing}"}
    return {"peer": peer, "version": version(peer), "rows": [row.plain() for row in rows]}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--peer", action="append", help="only this one; may be repeated")
    asked = parser.parse_args()
    # What peers say of newer libraries or of how they are used is none of our results.
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    question = importlib.import_module(f"benchmarks.peers.{asked.question}")
    answers = [found(question, peer, quick=asked.quick) for peer in asked.peer or question.PEERS]
    json.dump(answers, sys.stdout)


main()
