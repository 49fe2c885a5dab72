"""What a task gives: what its work found, or what was wrong, as bytes that merge.

What is wrong with the input is wrong however often a task is tried again, so it is a result like
any other, and not a failure, after which Spark would try again.
"""

from collections.abc import Callable, Iterable
from typing import Any

from reidrisk import errors
from reidrisk.core.packing import packed, unpacked
from reidrisk.engines.spark.errors import OUT_OF_MEMORY, TO_SEND

_NO_MEMORY = "MemoryError"
_NO_FILE = "FileNotFoundError"
_NO_MODULE = "ModuleNotFoundError"


def outcome(place: int, find: Callable[[], Any]) -> bytes:
    """What is found, or what is wrong and where, packed."""
    try:
        return packed((None, find()))
    except errors.ReidriskError as wrong:
        return packed(((place, type(wrong).__name__, str(wrong), wrong.code), None))
    except MemoryError:
        return packed(((place, _NO_MEMORY, "", ""), None))
    except FileNotFoundError as wrong:
        return packed(((place, _NO_FILE, str(wrong.filename), ""), None))
    except ModuleNotFoundError as wrong:
        return packed(((place, _NO_MODULE, str(wrong.name), ""), None))


def merged(outcomes: Iterable[bytes], merge: Callable[[Any, Any], Any]) -> bytes:
    """Outcomes put together: what is wrong in the first place outweighs all that was found."""
    wrongs, found, some = [], None, False
    for content in outcomes:
        wrong, result = unpacked(bytearray(content))  # to be merged in place
        if wrong is not None:
            wrongs.append(wrong)
        elif not wrongs:
            found, some = (merge(found, result) if some else result), True
    return packed((min(wrongs), None) if wrongs else (None, found))


def found_in(content: bytes) -> Any:
    """What was found; what was wrong is raised as it would be here."""
    wrong, found = unpacked(bytearray(content))
    if wrong is None:
        return found
    _, name, message, code = wrong
    if name == _NO_MEMORY:
        raise errors.TooLarge(OUT_OF_MEMORY, code="out-of-memory")
    if name == _NO_FILE:
        raise errors.InvalidInput(
            f"an executor does not see {message}; put it on storage that all nodes see under the "
            "same name, or read it with Spark and give rows_of(dataframe)",
            code="file-not-on-executor",
        )
    if name == _NO_MODULE:
        raise errors.InvalidInput(
            f"the Python of an executor has no {message}; {TO_SEND}", code="module-not-on-executor"
        )
    raise getattr(errors, name)(message, code=code)
