"""Render templates with escaping and a content security policy."""

import base64
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from reidrisk.core.digest import sha256_bytes
from reidrisk.core.files import written_whole
from reidrisk.core.optional import guest

_SPACE = "\N{NO-BREAK SPACE}"
_FOOT = 60
"""Characters of a title at the foot of a printed page."""

_OURS = b'<meta name="generator" content="reidrisk">'
_HEAD = 512
"""What stands in the first bytes of a page of ours."""


def template(name: str) -> Any:
    """A template of ours: everything is escaped unless it is ours."""
    jinja2 = guest("jinja2")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_tied,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.from_string(resource(name))


def trusted(text: str) -> Any:
    """Text of ours, which is not escaped."""
    return guest("markupsafe").Markup(text)


def policy(style: str, scripts: Sequence[str] = ()) -> str:
    """Only our own style and scripts count; nothing can be fetched, sent or framed."""
    allowed = [f"script-src {' '.join(_hash(script) for script in scripts)}"] if scripts else []
    return "; ".join(
        (
            "default-src 'none'",
            *allowed,
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def resource(name: str) -> str:
    """A file beside this one."""
    return files("reidrisk.report").joinpath(name).read_text(encoding="utf-8")


def foot(title: str, *more: str) -> str:
    """Style that writes a title, and perhaps more, at the foot of every printed page."""
    begins = title if len(title) <= _FOOT else f"{title[:_FOOT].rstrip()} \N{HORIZONTAL ELLIPSIS}"
    words = _quoted(" \N{MIDDLE DOT} ".join((begins, *more)))
    return f"@media print {{ @page {{ @bottom-left {{ content: {words}; }} }} }}\n"


def saved(body: str, path: str | os.PathLike[str]) -> Path:
    """Write a page, whole or not at all."""
    file = Path(path)
    with written_whole(file) as (part,):
        part.write_text(body, encoding="utf-8", newline="\n")
    return file


def is_other(page: Path) -> bool:
    """Whether it is a file with content, and no page of ours."""
    if page.is_symlink() or not page.is_file():
        return False  # who writes will say so
    with page.open("rb") as file:
        head = file.read(_HEAD)
    return bool(head) and _OURS not in head


def _tied(value: Any) -> Any:
    """A percent sign stays with its number."""
    return value.replace(" %", f"{_SPACE}%") if type(value) is str else value


def _quoted(text: str) -> str:
    """Text as a string of CSS, every sign but letters, digits and spaces by its number."""
    plain = (
        sign if sign == " " or (sign.isascii() and sign.isalnum()) else f"\\{ord(sign):x} "
        for sign in " ".join(text.split())
    )
    return f'"{"".join(plain)}"'


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256_bytes([text])).decode()}'"
