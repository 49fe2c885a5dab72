"""Read the published tree of topics."""

from collections.abc import Iterator
from dataclasses import dataclass

from reidrisk.core.settings_syntax import offering
from reidrisk.errors import InvalidInput
from reidrisk.io.labels import text_of
from reidrisk.io.layouts import Layout
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import AnyPath, column_names, read_table

_UTILITIES = {"Standard": 0, "High": 1}
DIGITS = 18


@dataclass(frozen=True, slots=True)
class TopicTree:
    """Topics by ascending id; token t is the t-th of them, as in profiles with this taxonomy.

    Attributes:
        ids: The published ids, which start at 1 and may have gaps.
        names: Full paths.
        parents: The token above each one, -1 for a root: `parents` of `TopicsApi`.
        buckets: Utility of each one, that of its root: `buckets` of `TopicsApi`. Empty if the
            buckets were not given.

    Example:
        >>> tree = rr.data.TopicTree(ids=(1, 7), names=("/Arts", "/Arts/Music"), parents=(-1, 0))
        >>> rr.TopicsApi(topics=2, top=1, parents=tree.parents).topics
        2
    """

    ids: tuple[int, ...]
    names: tuple[str, ...]
    parents: tuple[int, ...]
    buckets: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


@offering()
def read_topic_tree(path: AnyPath, buckets: AnyPath | None = None) -> TopicTree:
    """Read a taxonomy and, if given, the utility buckets of its roots.

    Args:
        path: A table of two columns, whatever they are called: id, path of the topic.
        buckets: A table of two columns: root, High or Standard.

    Example:
        >>> from pyarrow import parquet, table
        >>> topics = table({"id": [7, 1], "topic": ["/Arts/Music", "/Arts"]})
        >>> parquet.write_table(topics, "tree.parquet")
        >>> tree = rr.data.read_topic_tree("tree.parquet")
        >>> tree.names, tree.parents
        (('/Arts', '/Arts/Music'), (-1, 0))
    """
    topics: dict[int, str] = {}
    for place, number, name in _pairs(path):
        fits = number.isdecimal() and len(number) <= DIGITS
        new = fits and int(number) not in topics and name not in topics.values()
        if not new or not name.startswith("/"):
            raise InvalidInput(
                f"{place}: this is not a new topic; give each row another whole number and another "
                "path such as /Arts/Music",
                code="invalid-topic",
            )
        topics[int(number)] = name
    if not topics:
        raise InvalidInput(
            f"{path}: there are no topics; give a header and one row per topic", code="empty-table"
        )
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


def _utilities(path: AnyPath, names: tuple[str, ...]) -> tuple[int, ...]:
    found: dict[str, int] = {}
    for place, root, bucket in _pairs(path):
        if bucket not in _UTILITIES:
            raise InvalidInput(
                f"{place}: this is not a utility bucket; write High or Standard",
                code="invalid-utility",
            )
        found[root] = _UTILITIES[bucket]
    roots = ["/" + name.split("/")[1] for name in names]
    for root in roots:
        if root not in found:
            raise InvalidInput(
                f"{path}: there is no bucket for the root {root}; add a row for it",
                code="missing-utility",
            )
    return tuple(found[root] for root in roots)


def _pairs(path: AnyPath) -> Iterator[tuple[str, str, str]]:
    """The place of each row, and its two entries."""
    layout = Layout(header=True)
    names = column_names(path, layout)
    if len(names) != 2:  # noqa: PLR2004
        raise InvalidInput(
            f"{path}: there are {len(names)} columns, but two are needed; remove the others, and "
            "check that columns are separated by a tab in .tsv and by a comma in .csv",
            code="wrong-number-of-columns",
        )
    columns = dict(zip(("first", "second"), names, strict=True))
    table, source = read_table(path, {"first": TEXT, "second": TEXT}, columns, layout=layout)
    texts = (text_of(table[name], columns[name], source) for name in ("first", "second"))
    entries = (text.fill_null("").to_pylist() for text in texts)
    for row, (first, second) in enumerate(zip(*entries, strict=True)):
        yield source.place(row), first.strip(), second.strip()
