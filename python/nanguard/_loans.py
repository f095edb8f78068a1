"""What a check on a GPU reads and whose owner knows nothing of the check's stream.

torch, Warp and CuPy give memory back in the order of the stream on which the check
is, so they may do it right behind the check. JAX has streams of its own: what it lent
through DLPack is held here until the GPU has come past the check, which a CUDA event
tells that nobody waits for.
"""

from __future__ import annotations

import collections
import ctypes
from typing import Any

#: Checks for which a loan is held when the driver refuses an event.
BLIND = 64

_NO_TIMING = 2  # CU_EVENT_DISABLE_TIMING


class Loans:
    """The loans of the checks of one plan, oldest first."""

    def __init__(self, device: int, driver: Any = None) -> None:
        self._device, self._driver, self._context = device, driver, ctypes.c_void_p()
        self._held: collections.deque[tuple[int, list[Any]]] = collections.deque()  # event, or 0; what was lent
        self._free: list[int] = []  # events that may be used again

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, lent: list[Any], stream: int) -> None:
        """Holds what was lent to the check that was just enqueued, and lets go of what the GPU has read."""
        if not self._enter():
            self._held.append((0, lent))
        else:
            self._let_go()
            self._held.append((self._mark(stream), lent))
            self._driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        while len(self._held) > BLIND and not self._held[0][0]:
            self._held.popleft()

    def _enter(self) -> bool:
        """Makes the device's context the current one."""
        if self._driver is None:
            try:
                self._driver = ctypes.CDLL("libcuda.so.1")
            except OSError:
                return False
        if not self._context:
            context = ctypes.c_void_p()
            if self._driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), self._device):
                return False
            self._context = context
        return bool(self._driver.cuCtxPushCurrent_v2(self._context) == 0)

    def _mark(self, stream: int) -> int:
        """Returns an event behind the work of a stream so far, 0 when there can be none."""
        event = ctypes.c_void_p(self._free.pop() if self._free else None)
        if not event and self._driver.cuEventCreate(ctypes.byref(event), _NO_TIMING):
            return 0
        if self._driver.cuEventRecord(event, ctypes.c_void_p(stream)):
            return 0
        return event.value or 0

    def _let_go(self) -> None:
        while self._held and self._held[0][0] and self._driver.cuEventQuery(ctypes.c_void_p(self._held[0][0])) == 0:
            self._free.append(self._held.popleft()[0])

    def __del__(self) -> None:
        if self._context and self._driver is not None and self._driver.cuCtxPushCurrent_v2(self._context) == 0:
            for event in [*self._free, *(event for event, _ in self._held if event)]:
                self._driver.cuEventDestroy_v2(ctypes.c_void_p(event))
            self._driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
            self._driver.cuDevicePrimaryCtxRelease_v2(self._device)
