"""Write who was found, one row per attack and target."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from reidrisk.core.files import ONLY_ME, left_over, written_whole
from reidrisk.core.matches import NOBODY
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.risk.arguments import SearchEngine
from reidrisk.study.context import Context
from reidrisk.study.source import AnySource
from reidrisk.study.study import Study

USERS = "users.parquet"
"""The name of the file in a run's folder."""

_COLUMNS = ["attack", "user", "credit", "ties", "best"]

LISTED, MOST_LISTED = 5, 100
"""How many of the best users are named; as many as are guessed, up to a list one can look at."""


def write_users(
    study: Study, source: AnySource, path: str | Path, *, engine: SearchEngine | None = None
) -> None:
    """Write who was attacked and who was named, after the most slots, as a Parquet file.

    The columns are `attack`, `user` (the truth), `credit` (the chance that this attack names the
    right user), `ties` (how many known users score best) and `best` (the users with the highest
    scores: five, or as many as the study guesses, at most a hundred). These are people: the file
    can be read by its owner alone, and nothing else that a study writes holds users.

    Args:
        study: Whose attacks name users.
        source: Of whom.
        path: Of the Parquet file.
        engine: Where it runs; this machine, if not given.
    """
    if study.precision is not None:
        raise InvalidInput(
            "a study with a precision stops attacking when it is sure enough, so it has no list of "
            "everyone; leave precision out",
            code="precision-not-supported",
        )
    _refuse_others(Path(path))
    listed = max(LISTED, min(max(study.guesses, default=0), MOST_LISTED))
    context = study.context(source, LocalEngine() if engine is None else engine)
    # Ids are numbers or text, and all rows of a file have the type of the first.
    kind = pa.array(context.ids_of(np.arange(1))).type
    kinds = (pa.string(), kind, pa.float64(), pa.int64(), pa.list_(kind))
    schema = pa.schema(list(zip(_COLUMNS, kinds, strict=True)))
    for part in left_over(Path(path)):
        part.unlink(missing_ok=True)
    with written_whole(path, mode=ONLY_ME) as (part,), parquet.ParquetWriter(part, schema) as file:
        for attack in study.attacks:
            # A second search: the first kept no list, which would cost memory in every study.
            found = context.search(attack, list_best=listed)
            file.write_table(
                pa.table(
                    [
                        pa.array([attack.name] * len(found), pa.string()),
                        pa.array(context.ids_of(context.seen.truth), kind),
                        found.credit,
                        found.ties,
                        pa.array(list(_named(found.best_rows, context)), pa.list_(kind)),
                    ],
                    schema=schema,
                )
            )


def _refuse_others(file: Path) -> None:
    """Leave alone what has the name, and is no such list: perhaps the very people of the study."""
    if not file.is_file():
        return
    try:
        names = parquet.read_schema(file).names
    except (OSError, ValueError, pa.ArrowException):
        names = []
    if names != _COLUMNS:
        raise InvalidInput(
            f"{file}: is not a list of users that reidrisk wrote, so it is left alone; move it, or "
            "use another folder",
            code="file-not-ours",
        )


def _named(rows: NDArray[np.int64], context: Context) -> Iterator[list[object]]:
    """The users of each list of rows."""
    ids = context.ids_of(rows[rows != NOBODY])
    ends = np.cumsum((rows != NOBODY).sum(axis=1))
    for one in np.split(ids, ends[:-1]):
        yield one.tolist()
