"""Known vulnerabilities of every package here: `python -m tests.packaging.audit PIP_AUDIT`.

It ends with 0 only if a service was asked about each of them and knew nothing: what could not be
asked has not passed. Exit code 1 means vulnerabilities, 2 that the audit could not run.
"""

import json
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

OURS = "reidrisk"
NOT_RUN = "the audit could not run, so nothing is known of vulnerabilities"


class NotRun(Exception):
    """Nobody could be asked."""


def installed() -> dict[str, str]:
    """Packages here, by name as PyPI compares them, with their versions."""
    # A build for some machine, such as 2.13.0+cpu, has the holes of what it is a build of.
    found = {_normal(one.metadata["Name"]): one.version.split("+")[0] for one in distributions()}
    found.pop(OURS, None)
    return found


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def asked(program: str, packages: dict[str, str]) -> dict[str, list[dict[str, str]]]:
    """What the service knows of each package; refuses an answer that leaves one out."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text("".join(f"{name}=={one}\n" for name, one in sorted(packages.items())))
        words = [program, "--requirement", str(listed), "--no-deps", "--disable-pip",
                 "--progress-spinner", "off", "--format", "json"]  # fmt: skip
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900)
            answers = json.loads(done.stdout)["dependencies"]
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as wrong:
            raise NotRun(f"{NOT_RUN}: pip-audit gave no answer; can it reach PyPI?") from wrong
    known = {_normal(one["name"]): one["vulns"] for one in answers if "vulns" in one}
    if missing := sorted(set(packages) - set(known)):
        few = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise NotRun(
            f"{NOT_RUN} of {len(missing)} of {len(packages)} packages ({few}): the service did not "
            "answer for them"
        )
    return known


def main(program: str) -> int:
    """Ask, and tell."""
    packages = installed()
    try:
        known = asked(program, packages)
    except NotRun as wrong:
        sys.stderr.write(f"audit: {wrong}\n")
        return 2
    wrong = [f"{name} {packages[name]}: {one['id']}" for name in packages for one in known[name]]
    said = wrong or [f"audit: nothing is known against {len(packages)} packages"]
    sys.stdout.write("\n".join(said) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
