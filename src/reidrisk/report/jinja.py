"""Jinja templates of pages, with escaping and a content security policy."""

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
"""Bytes at the beginning of a page among which `_OURS` stands."""


def template(name: str) -> Any:
    """A template of the folder `templates`, in which every value is escaped.

    Args:
        name: Of its file.
    """
    jinja2 = guest("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(resource),
        autoescape=True,
        # A name that is misspelt in a template fails, rather than leave a gap in a report.
        undefined=jinja2.StrictUndefined,
        finalize=_keep_percent,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def trusted(text: str) -> Any:
    """Text that is not escaped: our own style and scripts, and what is escaped already.

    Args:
        text: Nothing that comes from a study or its data as it is.
    """
    return guest("markupsafe").Markup(text)


def policy(style: str, scripts: Sequence[str] = ()) -> str:
    """The content security policy of a page: nothing can be fetched, sent or framed.

    Args:
        style: The one style that the browser may apply, by its hash.
        scripts: The only scripts that it may run, by their hashes.
    """
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
    """The text of a template, style or script.

    Args:
        name: Of its file in the folder `templates`.
    """
    return files("reidrisk.report").joinpath("templates", name).read_text(encoding="utf-8")


def foot(title: str, *more: str) -> str:
    """Style that writes a title at the foot of every printed page.

    Args:
        title: Cut if it is long.
        more: What stands behind it.
    """
    begins = title if len(title) <= _FOOT else f"{title[:_FOOT].rstrip()} \N{HORIZONTAL ELLIPSIS}"
    words = _quoted(" \N{MIDDLE DOT} ".join((begins, *more)))
    return f"@media print {{ @page {{ @bottom-left {{ content: {words}; }} }} }}\n"


def saved(body: str, path: str | os.PathLike[str]) -> Path:
    """Write a page, whole or not at all.

    Args:
        body: The page.
        path: Where to.
    """
    file = Path(path)
    with written_whole(file) as (part,):
        # The same result gives the same bytes on every system.
        part.write_text(body, encoding="utf-8", newline="\n")
    return file


def is_other(page: Path) -> bool:
    """Whether a file has content and is not a page that reidrisk wrote.

    Args:
        page: A file that would be overwritten.
    """
    if page.is_symlink() or not page.is_file():
        return False  # writing refuses these with a message of its own
    with page.open("rb") as file:
        head = file.read(_HEAD)
    return bool(head) and _OURS not in head


def _keep_percent(value: Any) -> Any:
    """Keep a percent sign on the line of its number."""
    # Not `isinstance`: Markup is text, too, and holds scripts that must stay as they are.
    return value.replace(" %", f"{_SPACE}%") if type(value) is str else value


def _quoted(text: str) -> str:
    """Text as a CSS string; every character but letters, digits and spaces by its code."""
    # A style goes into the page unescaped, so no sign of a title may end the string or the element.
    plain = (
        one if one == " " or (one.isascii() and one.isalnum()) else f"\\{ord(one):x} "
        for one in " ".join(text.split())
    )
    return f'"{"".join(plain)}"'


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256_bytes([text])).decode()}'"
