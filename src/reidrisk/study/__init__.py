"""Studies: what is measured, the run that measures it, and the result."""

from typing import TYPE_CHECKING

from reidrisk.first_use import on_first_use

if TYPE_CHECKING:
    from reidrisk.study.comparing import Comparison, compare
    from reidrisk.study.explaining import Explanation, explain
    from reidrisk.study.folder import run_in
    from reidrisk.study.result import Result
    from reidrisk.study.study import Repeats, Study
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "comparing": ("Comparison", "compare"),
            "explaining": ("Explanation", "explain"),
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
