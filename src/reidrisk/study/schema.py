"""The JSON Schema of `result.json`.

It is kept beside this file as `result.schema.json`, for who checks results without Python. After a
change of the records: `python -m reidrisk.study.schema`.
"""

import json
from pathlib import Path

from reidrisk.study.analyses.releases import OF_VECTORS
from reidrisk.study.records import adapter
from reidrisk.study.result import ADDED, SCHEMA, Result

_LATER = {"Signoff": ("accept",), "Compared": OF_VECTORS}
"""Keys of records that came to `reidrisk/1` later, and are left out where there is nothing."""

FILE = Path(__file__).with_name("result.schema.json")


def schema_text() -> str:
    """The text of `result.schema.json`."""
    body = adapter(Result).json_schema(mode="serialization")
    for record in (body, *body["$defs"].values()):
        if "description" in record:  # a docstring, of which an example is for who writes Python
            record["description"] = record["description"].partition("\n\nExample:")[0]
    for name, later in _LATER.items():
        record = body["$defs"][name]
        record["required"] = [key for key in record.get("required", ()) if key not in later]
    checksum = {
        "description": "SHA-256 of everything else: JSON with sorted keys, in ASCII, with ', ' and "
        "': ' between.",
        "pattern": "^[0-9a-f]{64}$",
        "type": "string",
    }
    own = {"schema": {"const": SCHEMA}, "checksum": checksum}
    body["properties"] = {**own, **body["properties"]}
    body["required"] = [*own, *(name for name in body["required"] if name not in ADDED)]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **body, "title": "reidrisk result"}, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
