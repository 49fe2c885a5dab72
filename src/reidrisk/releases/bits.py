"""A figure of information, as a record."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bits:
    """An information figure: bits per slot, with its standard error (0 if exact).

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> one = rr.TopicsApi(topics=40).information(people, 1, seed=7)[0]
        >>> one.name, round(one.value, 2)
        ('entropy', 5.1)
    """

    name: str
    slots: int
    value: float
    error: float
    note: str
