"""Dumps for a process that is about to die: uncaught exceptions and SIGTERM."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._guard import Guard


#: Most characters of a message, and most frames of a traceback, that a dump holds.
_MESSAGE, _FRAMES = 4000, 50


def text_of(kind: type, value: BaseException | None, tb: Any) -> str:
    """Returns an exception as a dump holds it: the first line of what it says, then the traceback as Python prints it.

    What is too long loses its middle or, of the traceback, its outer frames: the
    error itself is at the end.
    """
    last = "".join(traceback.format_exception_only(kind, value)).strip().replace("\0", "\\0")
    name, _, rest = last.partition(":")
    last = kind.__name__ + (":" + rest if rest else "") if name.endswith(kind.__name__) else last
    first = _cut(last.partition("\n")[0])
    stack = "".join(traceback.format_tb(tb, -_FRAMES)).rstrip()
    if not stack:
        return _cut(last)
    left_out = sum(1 for _ in traceback.walk_tb(tb)) - _FRAMES
    more = f"  ... ({left_out} frames left out)\n" if left_out > 0 else ""
    return f"{first}\nTraceback (most recent call last):\n{more}{stack}\n{_cut(last)}"


def _cut(text: str) -> str:
    """Returns a text without its middle when it is too long."""
    n = len(text) - _MESSAGE
    return text if n <= 0 else f"{text[: _MESSAGE // 4]} ... ({n} characters left out) ... {text[n + _MESSAGE // 4 :]}"


_living: weakref.WeakSet[Hooks] = weakref.WeakSet()
_masks = threading.local()


class Hooks:
    """The hooks of one guard, in place from installing to removing them.

    They pass on to whatever was there before, and removing them leaves alone
    what was put on top of them since.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = weakref.ref(guard)  # a guard that is forgotten is closed all the same
        self._old_excepthook = sys.excepthook
        self._excepthook = self._on_exception
        sys.excepthook = self._excepthook
        self._old_handler: Any = None
        self._handler = self._on_sigterm
        self._signalled = threading.current_thread() is threading.main_thread()
        if self._signalled:  # Python lets no other thread set a handler
            self._old_handler = signal.signal(signal.SIGTERM, self._handler)
        _living.add(self)

    def remove(self) -> None:
        """Puts back what was there before."""
        _living.discard(self)
        if sys.excepthook == self._excepthook:
            sys.excepthook = self._old_excepthook
        if self._signalled and threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == self._handler:
            signal.signal(signal.SIGTERM, self._old_handler or signal.SIG_DFL)

    def _dump(self, reason: str) -> None:
        guard = self._guard()
        if guard is not None:
            guard._dump_at_end(reason)

    def _on_exception(self, kind: type, value: BaseException, tb: Any) -> None:
        self._dump(text_of(kind, value, tb))
        self._old_excepthook(kind, value, tb)

    def _on_sigterm(self, number: int, frame: Any) -> None:
        self._dump("signal: SIGTERM")
        if callable(self._old_handler):
            self._old_handler(number, frame)
        elif self._old_handler != signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)


def _before_fork() -> None:
    """Holds SIGTERM back: Python forgets what a new child was sent before it could run its handler."""
    _masks.old = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]) if _living else None


def _after_fork() -> None:
    if getattr(_masks, "old", None) is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, _masks.old)


def _after_fork_in_child() -> None:
    """Takes the hooks out of a child, which has no guard to dump, and lets it have its SIGTERM."""
    for hooks in list(_living):
        hooks.remove()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
