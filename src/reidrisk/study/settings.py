"""Settings of a study: how a study file writes them, said on their fields.

The fields of `Study` are the keyword arguments of Python and the keys of a study file. Their types
are those of Python; an annotation beside a type says how a file writes the value:

    sizes: tuple[Size, ...] = ()

pydantic asks the annotations for their schemas, and is loaded only by whoever reads a file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from reidrisk.core.checks import shown
from reidrisk.errors import InvalidInput
from reidrisk.study.quantities import share, size


@dataclass(frozen=True)
class ReadBy:
    """A value that a function reads from what a file has.

    Attributes:
        read: Gives the value, or refuses it.
    """

    read: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, _kind: Any, _handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_plain_validator_function

        return no_info_plain_validator_function(self.read)


@dataclass(frozen=True)
class Whole:
    """A whole number: neither true, nor 3.0, nor "3".

    Attributes:
        least: The smallest it may be.
        most: The largest; None if there is none.
    """

    least: int = 0
    most: int | None = None

    def __get_pydantic_core_schema__(self, _kind: Any, _handler: Any) -> Any:
        from pydantic_core.core_schema import int_schema

        return int_schema(strict=True, ge=self.least, le=self.most)


@dataclass(frozen=True)
class AfterRelease:
    """Entries of a section that can be read only once the release is known.

    Attributes:
        read: Called with the release, the name of an entry and what the file has.
    """

    read: Callable[[Any, str, Any], Any]


def named(find: Callable[[str], Any]) -> ReadBy:
    """A part that a file names, such as an attack.

    Args:
        find: Gives the part of a name, or refuses it.
    """

    def found(name: Any) -> Any:
        if not isinstance(name, str):
            raise InvalidInput(f"a name is text in quotes; got {shown(name)}", code="wrong-type")
        return find(name)

    return ReadBy(found)


_MANY = 10**6

Count = Annotated[int, Whole(least=1, most=_MANY)]
Size = Annotated[int, ReadBy(size)]
"""A number of users: `10k` in a file."""
Share = Annotated[float, ReadBy(share)]
"""`1%` in a file."""
