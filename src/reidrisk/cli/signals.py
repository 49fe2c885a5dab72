"""Turn signals into one kind of interrupt.

Each raises `KeyboardInterrupt`, so that temporary files go and what is done is kept. Libraries that
are being loaded may turn it into something else; then it is still known that somebody stopped us.
"""

import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_heard: list[int] = []


def stoppable(work: "Callable[[], None]") -> None:
    """Do something that can be stopped; then say so, and leave with the code of the signal."""
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
    """Whether somebody stopped us."""
    return bool(_heard)


def code() -> int:
    """The exit code of whoever is stopped: as a shell has it, 128 and the number of the signal."""
    return 128 + (_heard[0] if _heard else signal.SIGINT)


def _listen() -> dict[int, Any]:
    """Hear all signals that nobody has asked to ignore, as `nohup` does; who heard them before."""
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
    # A system that shuts down sends one after the other, and the first is being answered.
    if not _heard or _heard[0] == number:
        _heard.append(number)
        raise KeyboardInterrupt


def _unraisable(found: Any) -> None:
    """What goes wrong where nothing can be raised, except what comes of our being stopped."""
    if not _heard:
        sys.__unraisablehook__(found)
