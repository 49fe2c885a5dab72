"""Studies: what is measured, the run that measures it, and the result."""

from reidrisk.study.comparing import Comparison, compare
from reidrisk.study.folder import run_in
from reidrisk.study.result import Result
from reidrisk.study.study import Repeats, Study

__all__ = ["Comparison", "Repeats", "Result", "Study", "compare", "run_in"]
