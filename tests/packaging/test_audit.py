"""An audit of dependencies that could not run has failed; it never passes in silence."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.packaging import audit

ROOT = Path(__file__).parents[2]


def answering(place, answer):
    """A program that answers so, whatever it is asked."""
    program = place / "pip-audit"
    program.write_text(f"#!{sys.executable}\n{answer}\n")
    program.chmod(0o700)
    return str(program)


def listed(**changed):
    """An answer about all packages, some of them otherwise."""
    found = [{"name": name, "version": one, "vulns": []} for name, one in audit.installed().items()]
    return [{**one, **changed.get(one["name"], {})} for one in found]


def said(answers):
    return f"print({json.dumps(json.dumps({'dependencies': answers}))})"


def test_a_build_for_some_machine_is_asked_about_as_what_it_is_a_build_of(monkeypatch):
    built = SimpleNamespace(metadata={"Name": "Torch"}, version="2.13.0+cpu")
    monkeypatch.setattr(audit, "distributions", lambda: [built])
    assert audit.installed() == {"torch": "2.13.0"}


def test_a_clean_answer_about_all_packages_passes(tmp_path, capsys):
    assert audit.main(answering(tmp_path, said(listed()))) == 0
    assert "nothing is known against" in capsys.readouterr().out


def test_a_vulnerability_is_named(tmp_path, capsys):
    answers = listed(numpy={"vulns": [{"id": "PYSEC-0"}]})
    assert audit.main(answering(tmp_path, said(answers) + "\nraise SystemExit(1)")) == 1
    assert "PYSEC-0" in capsys.readouterr().out


@pytest.mark.parametrize("answer", [
    "raise SystemExit(1)", "print('{}')", "print('no JSON')", "raise ConnectionError", said([]),
])  # fmt: skip
def test_who_cannot_be_asked_has_not_passed(tmp_path, capsys, answer):
    assert audit.main(answering(tmp_path, answer)) == 2
    assert capsys.readouterr().err.startswith("audit: the audit could not run")


def test_packages_that_the_service_skips_have_not_passed(tmp_path, capsys):
    answers = [one for one in listed() if one["name"] != "numpy"]
    answers.append({"name": "numpy", "skip_reason": "not found on PyPI"})
    assert audit.main(answering(tmp_path, said(answers))) == 2
    assert "1 of " in capsys.readouterr().err


def test_without_the_program_it_has_not_passed(tmp_path, capsys):
    assert audit.main(str(tmp_path / "away")) == 2
    assert "could not run" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_target_fails_where_no_registry_can_be_reached(tmp_path):
    """No package index, no proxy: pip-audit cannot even be installed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "dev.stamp").touch()
    away = "http://127.0.0.1:9"
    blind = {"PIP_INDEX_URL": away, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
    kept = {name: one for name, one in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        ["make", "audit", f"VENV={tmp_path}", f"PYTHON={sys.executable}"],  # noqa: S607
        cwd=ROOT, env={**kept, **blind}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2
    assert "audit: the audit could not run" in done.stderr
