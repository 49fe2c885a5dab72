"""Java for Spark: the one that is there, or one from the packages of the system: `make spark`."""

import os
import re
import shutil
import subprocess
import sys

NEEDED = 17
PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
"""No release of Debian and Ubuntu has all of them, and each has one."""


def java() -> str | None:
    """The Java that Spark would take, or None."""
    place = os.environ.get("JAVA_HOME")
    return shutil.which(f"{place}/bin/java" if place else "java")


def version() -> int | None:
    """Its version, or None if there is none that says it: 8 calls itself 1.8."""
    if (place := java()) is None:
        return None
    said = subprocess.run([place, "-version"], capture_output=True, text=True, check=False).stderr
    number = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(number[1]) if number else None


def install() -> None:
    """Install Java where we may."""
    tool = shutil.which("apt-get")
    if tool is None or os.geteuid():
        return
    subprocess.run([tool, "update", "-qq"], check=False)
    for package in PACKAGES:
        words = [tool, "install", "-y", "-qq", "--no-install-recommends", package]
        if not subprocess.run(words, check=False).returncode:
            return


def missing() -> str | None:
    """What is wrong with the Java that is here, and what to do, in one line."""
    found = version()
    if found is not None and found >= NEEDED:
        return None
    home = os.environ.get("JAVA_HOME")
    what = f"Java {found} is too old" if found else "there is no Java"
    where = f" in JAVA_HOME, {home}" if home else " on PATH"
    return (
        f"spark: {what}{where}; Spark needs {NEEDED} or newer: "
        f"apt-get install {PACKAGES[0]} as root, or unpack one and set JAVA_HOME to its folder"
    )


if __name__ == "__main__":
    if missing():
        install()
    if told := missing():
        print(told, file=sys.stderr)  # noqa: T201
        sys.exit(2)
