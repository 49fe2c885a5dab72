"""Methods of what a table shows that studies have too: its result, report, chart and gate."""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from reidrisk.core.settings_syntax import warn

if TYPE_CHECKING:
    from pathlib import Path

    from reidrisk.io.provenance import Origin
    from reidrisk.study.doubts import Judgement
    from reidrisk.study.result import Result


class Reported:
    """What a table shows, which becomes a result as that of a study.

    Reports and gates stand above in the flow, and are opened only when one is asked for.

    Attributes:
        notes: What was left out of the table or seems odd in it, a sentence each.
        warnings: Likewise, where figures may be far off for it; a gate doubts it.
    """

    # No fields: what the table was like changes neither equality nor what is stored of figures.
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def read_from(self, *sources: "Origin") -> Self:
        """The same, with what is odd about the tables; warned of in Python.

        Args:
            sources: The tables.
        """
        notes = tuple(note for source in sources for note in source.notes)
        warnings = tuple(warning for source in sources for warning in source.warnings)
        object.__setattr__(self, "notes", notes)
        object.__setattr__(self, "warnings", warnings)
        warn(warnings)
        return self

    def result(
        self,
        *,
        name: str = "a table",
        command: str | None = None,
        inputs: Mapping[str, str] | None = None,
    ) -> "Result":
        """The result to save, compare, judge and report, as that of a study.

        Args:
            name: Of the table, for the title.
            command: That found it, if it was one.
            inputs: Hashes of the files read, by name.
        """
        from reidrisk.study.table_results import result_of  # noqa: PLC0415  it stands above

        return result_of(self, name=name, command=command, inputs=inputs or {})

    def plot(self) -> Any:
        """A chart of altair, as the report draws it first."""
        return self.result().plot()

    @overload
    def report(self, path: None = None, *, edition: Literal["long", "signoff"] = ...) -> str: ...
    @overload
    def report(
        self, path: str | os.PathLike[str], *, edition: Literal["long", "signoff"] = ...
    ) -> "Path": ...
    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        edition: Literal["long", "signoff"] = "long",
    ) -> "str | Path":
        """Write the report, or return its HTML if no path is given.

        Args:
            path: Where to.
            edition: "long" holds everything; "signoff" prints on two pages, with a place to sign.
        """
        return self.result().report(path, edition=edition)

    def gate(self, *, accept: Iterable[str] = (), **limits: Any) -> "Judgement":
        """Judge the figures against limits, as `Result.gate` does.

        Args:
            accept: Codes of doubts that are accepted.
            limits: Such as `max_risk=0.05`.
        """
        return self.result().gate(accept=accept, **limits)
