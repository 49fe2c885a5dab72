"""The messages in `tests/messages/` are those of tests that exist."""

import json
import os
import re

from tests.snapshots import ACCEPT, FOLDER, written


def test_every_snapshot_has_its_test():
    for file in sorted(FOLDER.glob("*.json")):
        messages = json.loads(file.read_text("utf-8"))
        stale = [key for key in messages if not _exists(file.stem, key)]
        if stale and os.environ.get(ACCEPT):
            written(file, {key: messages[key] for key in messages if key not in stale})
        else:
            assert stale == [], f"{file.name}: run `make messages`"


def _exists(folder, key):
    name = re.fullmatch(r".*?\.py::(?:\w+::)*(\w+).*", key, re.DOTALL).group(1)
    files = sorted((FOLDER.parent / folder).rglob("test_*.py"))
    return any(f"def {name}(" in file.read_text("utf-8") for file in files)
