"""How long something is held that was lent to a check on a GPU."""

import ctypes
import gc
import weakref

import pytest

from nanguard._loans import BLIND, Loans


class Lent:
    pass


class Driver:
    """The calls of libcuda that are made, on a GPU that gets on when it is told to."""

    def __init__(self, **fails: int) -> None:
        self.fails, self.done, self.made, self.marks, self.depth = fails, 0, 0, {}, 0

    def _code(self, name):
        return self.fails.get(name, 0)

    def cuDevicePrimaryCtxRetain(self, out, device):
        out._obj.value = 7
        return self._code("cuDevicePrimaryCtxRetain")

    def cuDevicePrimaryCtxRelease_v2(self, device):
        return 0

    def cuCtxPushCurrent_v2(self, context):
        self.depth += 1
        return 0

    def cuCtxPopCurrent_v2(self, out):
        self.depth -= 1
        return 0

    def cuEventCreate(self, out, flags):
        self.made += 1
        out._obj.value = 100 + self.made
        return self._code("cuEventCreate")

    def cuEventDestroy_v2(self, event):
        self.made -= 1
        return 0

    def cuEventRecord(self, event, stream):
        self.marks[event.value] = len(self.marks) + 1 if event.value not in self.marks else max(self.marks.values()) + 1
        return self._code("cuEventRecord")

    def cuEventQuery(self, event):
        assert self.depth == 1
        return 0 if self.marks[event.value] <= self.done else 600


def lend(loans: Loans, n: int) -> list:
    out = []
    for _ in range(n):
        x = Lent()
        out.append(weakref.ref(x))
        loans.hold([x], 1)
        del x
    gc.collect()
    return out


def test_held_until_the_gpu_has_read_it() -> None:
    driver = Driver()
    loans = Loans(0, driver)
    lent = lend(loans, 300)  # however far the GPU is behind
    assert all(x() for x in lent) and driver.made == 300
    driver.done = 120
    lent += lend(loans, 1)
    assert [bool(x()) for x in lent] == [False] * 120 + [True] * 181
    lent += lend(loans, 100)
    assert driver.made == 300  # events are used again
    driver.done = 10**6
    lend(loans, 1)
    assert len(loans) == 1 and not any(x() for x in lent)
    del loans
    gc.collect()
    assert (driver.made, driver.depth) == (0, 0)


@pytest.mark.parametrize("call", ["cuDevicePrimaryCtxRetain", "cuEventCreate", "cuEventRecord"])
def test_a_driver_that_refuses(call) -> None:
    """Without an event, many checks must have come behind it."""
    driver = Driver(**{call: 1})
    loans = Loans(0, driver)
    lent = lend(loans, BLIND + 10)
    assert [bool(x()) for x in lent] == [False] * 10 + [True] * BLIND
    assert driver.depth == 0


def test_without_a_driver(monkeypatch) -> None:
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    loans = Loans(0)
    lend(loans, 2 * BLIND)
    assert len(loans) == BLIND
