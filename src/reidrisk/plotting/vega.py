"""Build Vega-Lite charts as plain dictionaries.

Altair takes 0.3 CPU s to load, and as long again to copy and check a page's charts at every step.
Charts are made here, and given to altair where somebody wants one of it (`curves.alone`); tests let
altair check them all.
"""

from collections.abc import Mapping, Sequence
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
