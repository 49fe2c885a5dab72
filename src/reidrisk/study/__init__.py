"""Studies: what is measured, the run that measures it, and the result."""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.study._compare import Comparison, compare
    from reidrisk.study._explain import Explanation, explain
    from reidrisk.study.folder import run_in
    from reidrisk.study.result import Result
    from reidrisk.study.study import Repeats, Study
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "_compare": ("Comparison", "compare"),
            "_explain": ("Explanation", "explain"),
            "folder": ("run_in",),
            "result": ("Result",),
            "study": ("Repeats", "Study"),
        },
    )

__all__ = [
    "Comparison",
    "Explanation",
    "Repeats",
    "Result",
    "Study",
    "compare",
    "explain",
    "run_in",
]
