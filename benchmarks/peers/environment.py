"""The environment that peers live in: made and filled by the command that needs it."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv-peers"
LIST = ROOT / "benchmarks" / "peers.txt"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")


def python():
    """Its Python."""
    return HOME / "bin" / "python"


def listed(text):
    """The requirements of a list, without comments and empty lines."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def prepared():
    """Make the environment, unless it is as listed; packages that could not be installed, and why.

    The list names all that is needed, and nothing is resolved: the peers ask for versions of numpy
    and pandas that no one version fulfils, and work with newer ones all the same.
    """
    wanted = LIST.read_text(encoding="utf-8")
    stamp = HOME / "peers.json"
    digest = hashlib.sha256((wanted + sys.version).encode()).hexdigest()
    made = json.loads(stamp.read_text()) if stamp.is_file() else {}
    if made == {"list": digest, "missing": {}}:
        return {}
    print(f"installing peers into {HOME.name}", file=sys.stderr, flush=True)
    ran(sys.executable, "-m", "venv", HOME)
    missing = {}
    if ran(python(), *PIP, "--requirement", LIST):
        for requirement in listed(wanted):
            if why := ran(python(), *PIP, requirement):
                missing[requirement.partition("==")[0]] = why
    if why := ran(python(), *PIP, "--editable", ROOT):
        missing["reidrisk"] = why
    stamp.write_text(json.dumps({"list": digest, "missing": missing}))
    return missing


def ran(*words):
    """Run a program; the last line of what it complained about, if it failed."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)  # noqa: S603  our own words
    return (done.stderr.strip().splitlines() or ["failed"])[-1] if done.returncode else ""
