"""Checks that were made before, made again by one call of a built-in function of the library's.

A loop makes the same checks over and over, each after milliseconds of other work, and
what a check costs then is the code that it runs for the first time since: most of it
of ctypes, and of this package. The library finds such a check by clock and names.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from typing import TYPE_CHECKING, Any, Callable

from ._library import UNLIKE, Known, KnownChecks, Library

if TYPE_CHECKING:
    from ._plan import Plan

_CHECKS = 64
_CHANCES = 3


def _unknown(*_: Any) -> int:
    """Knows no check."""
    return UNLIKE


class Again:
    """The checks of one guard that can be made by clock and names.

    ``check`` and ``same`` take a clock and mappings of arrays by name, or None, and
    return the code of the check; UNLIKE when none like it was learned, or an array is
    not like the one that was there, and nothing was checked.
    """

    def __init__(self, lib: Library) -> None:
        self.check: Callable[..., int] = _unknown
        self.same: Callable[..., int] = _unknown
        self._known = (Known * _CHECKS)()
        self._all = KnownChecks(known=self._known)
        self._places: dict[tuple[Any, ...], tuple[int, int]] = {}  # of a check: where it is and how often it was learned
        self._kept: list[Any] = []  # what the library reads. A check that is under way reads what was learned before
        if _has_lock() and lib.ng_python_method(1):
            self.check, self.same = (_built_in(lib.ng_python_method(advance), ctypes.addressof(self._all)) for advance in (1, 0))

    def learn(self, plan: Plan, advance: bool, clock: str, names: tuple[str, ...]) -> None:
        """Learns a check that was just made; a few times, for arrays may become others for good."""
        key = (clock, advance, names)
        at, times = self._places.get(key, (len(self._places), 0))
        if self.check is _unknown or at == _CHECKS or times == _CHANCES or self._known[at].busy:
            return
        known, type_at, kept = plan.known(clock, names)
        known.advance = advance
        self._kept.append(kept)
        self._known[at] = known
        self._places[key] = at, times + 1
        self._all.type_at, self._all.count = type_at, len(self._places)

    def forget(self) -> None:
        """Forgets all checks, for they are to be others from now on."""
        self._all.count = 0
        self._places.clear()


def _has_lock() -> bool:
    """Reports whether this is a CPython with its lock, under which the library finds a check."""
    return sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def _built_in(method: int, known: int) -> Callable[..., int]:
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.argtypes, new.restype = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p), ctypes.py_object
    made: Callable[..., int] = new(method, known, None)
    return made
