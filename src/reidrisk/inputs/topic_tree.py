"""The tree of topics as published: tab-separated ids and paths such as /Arts/Music."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reidrisk.errors import InvalidInput

UTILITIES = {"Standard": 0, "High": 1}


@dataclass(frozen=True, slots=True)
class TopicTree:
    """Topics by ascending id; token t is the t-th of them, as in profiles with this taxonomy.

    Attributes:
        ids: The published ids, which start at 1 and may have gaps.
        names: Full paths.
        parents: The token above each one, -1 for a root: `parents` of `TopicsApi`.
        buckets: Utility of each one, that of its root: `buckets` of `TopicsApi`. Empty if the
            buckets were not given.
    """

    ids: tuple[int, ...]
    names: tuple[str, ...]
    parents: tuple[int, ...]
    buckets: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


def read_topic_tree(path: str | Path, buckets: str | Path | None = None) -> TopicTree:
    """Read a taxonomy and, if given, the utility buckets of its roots.

    Args:
        path: Tab-separated, with a header: id, path of the topic.
        buckets: Tab-separated, with a header: root, High or Standard.
    """
    topics: dict[int, str] = {}
    for row, (number, name) in _pairs(path):
        new = number.isdecimal() and int(number) not in topics and name not in topics.values()
        if not new or not name.startswith("/"):
            raise InvalidInput(
                f"{path}, row {row}: {number!r}, {name!r} is no new topic; each row holds another "
                "whole number and another path such as /Arts/Music"
            )
        topics[int(number)] = name
    if not topics:
        raise InvalidInput(f"{path} holds no topics; it needs a header and one row per topic")
    ids = tuple(sorted(topics))
    names = tuple(topics[number] for number in ids)
    tokens = {name: token for token, name in enumerate(names)}
    utilities = () if buckets is None else _utilities(buckets, names)
    return TopicTree(ids, names, tuple(_above(name, tokens) for name in names), utilities)


def _above(name: str, tokens: dict[str, int]) -> int:
    """The nearest topic above that is in the taxonomy."""
    while name := name.rpartition("/")[0]:
        if name in tokens:
            return tokens[name]
    return -1


def _utilities(path: str | Path, names: tuple[str, ...]) -> tuple[int, ...]:
    found: dict[str, int] = {}
    for row, (root, bucket) in _pairs(path):
        if bucket not in UTILITIES:
            raise InvalidInput(
                f"{path}, row {row}: {bucket!r} is no utility bucket; it is High or Standard"
            )
        found[root] = UTILITIES[bucket]
    roots = ["/" + name.split("/")[1] for name in names]
    for root in roots:
        if root not in found:
            raise InvalidInput(f"{path} has no bucket for the root {root}; add a row for it")
    return tuple(found[root] for root in roots)


def _pairs(path: str | Path) -> Iterator[tuple[int, tuple[str, str]]]:
    """Rows of two columns behind the header, numbered as an editor does."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as trouble:
        raise InvalidInput(f"{path} cannot be read as text in UTF-8: {trouble}") from trouble
    for row, cells in enumerate(csv.reader(text.splitlines(), delimiter="\t"), start=1):
        if row == 1 or not any(cells):
            continue
        if len(cells) != 2:  # noqa: PLR2004
            raise InvalidInput(
                f"{path}, row {row} has {len(cells)} columns; two are needed, separated by a tab"
            )
        yield row, (cells[0].strip(), cells[1].strip())
