"""Turn signals into one kind of interrupt.

Each raises `KeyboardInterrupt`, so that temporary files are removed and finished steps are kept. A
library that is being imported may turn that into another exception; `stopped` still tells.
"""

import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_heard: list[int] = []


def stoppable(work: "Callable[[], None]") -> None:
    """Run something; if a signal stops it, print so and exit with the code of the signal.

    Args:
        work: What to run.
    """
    _heard.clear()
    before, hook = _listen(), sys.unraisablehook
    sys.unraisablehook = _unraisable
    try:
        work()
    except SystemExit:
        raise
    except BaseException as wrong:
        if not (_heard or isinstance(wrong, KeyboardInterrupt)):
            raise
        sys.stderr.write("stopped\n")
        sys.exit(code())
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def stopped() -> bool:
    """Whether a signal was received."""
    return bool(_heard)


def code() -> int:
    """The exit code after a signal, as shells have it: 128 plus its number."""
    return 128 + (_heard[0] if _heard else signal.SIGINT)


def _listen() -> dict[int, Any]:
    """Handle all signals but those ignored, as by `nohup`; returns the handlers before."""
    before: dict[int, Any] = {}
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            try:
                before[number] = signal.signal(number, _hear)
            except ValueError:  # another thread than the first hears no signals
                return before
    return before


def _hear(number: int, _frame: Any) -> None:
    # A system that shuts down sends several signals in a row, and the first is being handled.
    if not _heard or _heard[0] == number:
        _heard.append(number)
        raise KeyboardInterrupt


def _unraisable(found: Any) -> None:
    """Report exceptions that cannot be raised, unless they follow from a signal."""
    if not _heard:
        sys.__unraisablehook__(found)
