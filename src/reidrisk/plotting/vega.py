"""Build Vega-Lite charts as plain dictionaries, with ticks for logarithmic axes.

Altair takes 0.3 CPU s to load, and as long again to copy and check a page's charts at every step.
Charts are made here, and given to altair where somebody wants one of it (`curves.alone`); tests let
altair check them all.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

VERSION = 6
"""The major version of Vega-Lite that is written."""

_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
_ENDS = ("x2", "y2")
"""Channels that are of the type of another."""


@dataclass(frozen=True)
class Chart:
    """Marks that show rows, or several charts upon each other. Every method gives another chart.

    Attributes:
        rows: The data.
        parts: All else, as Vega-Lite calls it.
        layers: The charts, if there are several.
    """

    rows: Sequence[Mapping[str, Any]] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    layers: tuple["Chart", ...] = ()

    def mark(self, kind: str, **how: Any) -> "Chart":
        """Show rows so."""
        return self.properties(mark={"type": kind, **how})

    def encode(self, **channels: Any) -> "Chart":
        """Let channels stand for fields: `"share:Q"`, or what `of` and `fixed` give."""
        given = {
            name: _field(about, typed=name not in _ENDS) if isinstance(about, str) else about
            for name, about in channels.items()
        }
        return self.properties(encoding={**self.parts.get("encoding", {}), **given})

    def filter(self, condition: str) -> "Chart":
        """Show only rows of which an expression is true."""
        return self.properties(transform=[*self.parts.get("transform", ()), {"filter": condition}])

    def properties(self, **parts: Any) -> "Chart":
        """The same with other parts: height, width, title."""
        return replace(self, parts={**self.parts, **parts})

    def to_dict(self) -> dict[str, Any]:
        """As Vega-Lite reads it. Rows of several layers are written once."""
        schema = f"https://vega.github.io/schema/vega-lite/v{VERSION}.json"
        if not self.layers:
            return {"$schema": schema, "data": _data(self.rows), **self.parts}
        # By identity: layers that were made of one chart share its very list.
        used = [id(layer.rows) for layer in self.layers]
        most = max(self.layers, key=lambda layer: used.count(id(layer.rows))).rows
        layers = [
            {**({} if layer.rows is most else {"data": _data(layer.rows)}), **layer.parts}
            for layer in self.layers
        ]
        return {"$schema": schema, "data": _data(most), "layer": layers, **self.parts}


def chart(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """A chart of rows."""
    return Chart(list(rows))


def layer(*charts: Chart) -> Chart:
    """Charts upon each other, the first below."""
    return Chart(layers=charts)


def of(name: str, **how: Any) -> dict[str, Any]:
    """A field for a channel, with its type, and how it is shown: `of("share:Q", title="right")`."""
    return {**_field(name), **how}


def fixed(place: float | str) -> dict[str, Any]:
    """A channel that is the same for all rows."""
    return {"value": place}


def settings(**how: Any) -> dict[str, Any]:
    """Settings of an axis, a scale or a legend."""
    return how


def _field(name: str, *, typed: bool = True) -> dict[str, Any]:
    """Such as `share:Q`."""
    plain, _, kind = name.partition(":")
    return {"field": plain, "type": _TYPES[kind]} if typed else {"field": plain}


def _data(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"values": list(rows)}


_GAP = 0.2
"""Least distance of two ticks, as a share of the axis: room for a label on a phone."""

_LEAST = 3
_WIDTH = 4.0
"""Least factor between the ends of an axis."""


def floor_of(values: Iterable[float]) -> float:
    """Where a logarithmic axis begins: half the least number above 0."""
    return min((value for value in values if value > 0), default=1e-6) / 2


def log_range(values: Iterable[float], most: float = math.inf) -> tuple[float, float]:
    """Ends of a logarithmic axis that holds all numbers above 0, and is wide enough to be read."""
    known = [value for value in values if value > 0] or [min(1.0, most)]
    low, high = min(known), max(known)
    missing = _WIDTH / (high / low)
    # Both ends move by the same factor, but shares never go beyond `most`.
    if missing > 1:
        high = min(high * math.sqrt(missing), most)
        low = high / _WIDTH
    return low, high


def decades(floor: float) -> list[float]:
    """Ticks of shares, from 1 down to a floor."""
    return log_ticks(floor, 1.0)[::-1]


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, three at least, a fifth of the axis apart at least.

    Powers of ten if there are enough of them, every second or third if there are many; then 3, or 2
    and 5 of each between them; then the roundest numbers near the ends and the middle.
    """
    first, last = math.log10(low), math.log10(high)
    gap = _GAP * (last - first)
    ticks = _tens(first, last, max(1, math.ceil(gap)))
    for parts in ((3,), (2, 5)):
        if len(ticks) >= _LEAST:
            return ticks
        for ten in range(math.floor(first), math.ceil(last) + 1):
            for part in parts:
                place = ten + math.log10(part)
                fits = all(abs(place - math.log10(tick)) >= gap for tick in ticks)
                if fits and first <= place <= last:
                    ticks = sorted([*ticks, _power(ten, part)])
    return ticks if len(ticks) >= _LEAST else _spread(first, last, gap)


def _tens(first: float, last: float, step: int) -> list[float]:
    """Every power of ten, or every second or third: 1 among them, unless others are more."""
    powers = range(math.ceil(first), math.floor(last) + 1)
    ways = [[power for power in powers if power % step == rest] for rest in range(step)]
    best = ways[0] if len(ways[0]) >= _LEAST else max(ways, key=len)
    return [_power(power) for power in best]


def _spread(first: float, last: float, gap: float) -> list[float]:
    """Three numbers, with as few digits as keep them apart."""
    wanted = [first + part * (last - first) / 6 for part in (1, 3, 5)]
    for digits in range(1, 17):
        ticks = [float(f"{10**place:.{digits}g}") for place in wanted]
        places = [math.log10(tick) for tick in ticks]
        apart = all(right - left >= gap for left, right in itertools.pairwise(places))
        if apart and first <= places[0] and places[-1] <= last:
            return ticks
    return [10**place for place in wanted]


def _power(ten: int, part: int = 1) -> float:
    """The float nearest to a part of a power of ten, such as 0.3."""
    return float(f"{part}e{ten}")
