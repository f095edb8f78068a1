"""The packed references of one kind of check, made once and patched.

A training loop makes the same checks over and over: the same fields, in the same
order, with arrays of the same shape. A plan holds the ``ng_ref`` structs of such
a check in one buffer. For most arrays a check only writes 8 bytes of address,
after seeing that type, dtype, device, shape and strides are what they were; where
all come from a framework with DLPack's C exchange, the library does it in C.
"""

from __future__ import annotations

import collections
import ctypes
import struct
import weakref
from collections.abc import Collection, Iterable
from typing import Any, Callable

from ._arrays import (
    NUMPY,
    OTHER,
    PROXY,
    SCALAR,
    TORCH,
    WARP,
    Layout,
    View,
    contiguous,
    exchange_of,
    is_scalar,
    layout_of,
    stream_source,
    view_of,
)
from ._library import CUDA, DTYPES, HOST, Library, Ref

_SIZE = ctypes.sizeof(Ref)
_WORDS = _SIZE // 8
_CHANCES = 3
_BORROWED = 8  # checks; by then the GPU has come to the first of them
_PACK = struct.Struct("=IiQqqqqiiiI")
assert _PACK.size == _SIZE


class BoundField:
    """A field of a guard, as this side knows it."""

    __slots__ = ("name", "id", "shared", "cols", "number", "watched", "address")

    def __init__(self, name: str, shared: bool, cols: list[str] | None) -> None:
        self.name, self.shared, self.cols = name, shared, cols
        self.id = -1
        self.number: ctypes.Array[ctypes.c_double] | None = None  # where a plain number is put
        self.watched: Any = None  # the array, or a function that returns it
        self.address = 0  # of the watched array at the latest check


class Plan:
    """The references of one check: a clock and some fields in order."""

    def __init__(self, lib: Library, clock: int, fields: list[BoundField]) -> None:
        self._lib, self.clock, self.fields, self.n = lib, clock, fields, len(fields)
        self._buffer = bytearray(_SIZE * self.n)
        self._pin = (ctypes.c_char * len(self._buffer)).from_buffer(self._buffer) if self.n else None
        self.address = ctypes.addressof(self._pin) if self._pin is not None else None
        self._words = memoryview(self._buffer).cast("Q") if self.n else memoryview(b"")
        self._entries: list[tuple[Any, ...]] = []
        self._forget()
        self.watched = [(_WORDS * i + 1, f) for i, f in enumerate(fields) if f.watched is not None]
        self.stream: Callable[[], int] | None = None
        self._exchange: int | None = None  # table of functions that locate all the arrays at once
        self._types: tuple[type, ...] = ()  # of the arrays that it does that for
        self._chances = _CHANCES  # to find such a table
        self._copied = False  # an array had to be copied
        # What was borrowed through DLPack from owners that know nothing of the check's stream.
        self._borrowed: collections.deque[Any] = collections.deque(maxlen=_BORROWED * self.n)
        self._ids = (ctypes.c_uint64 * self.n)()
        self._pack_ids = struct.Struct(f"={self.n}Q").pack_into

    def fill(self, arrays: Collection[Any]) -> list[Any]:
        """Writes where the arrays are now; returns what must live until the call was made."""
        if self._exchange is not None:
            if tuple(map(type, arrays)) == self._types and self._fill_at_once(arrays):
                return []
            self._exchange = None
            self._forget()
        keep = self._fill(arrays)
        if self._chances:
            self._chances -= 1
            self._find_exchange(arrays)
        return keep

    def _fill_at_once(self, arrays: Collection[Any]) -> bool:
        """Has the library ask the framework where the arrays are; reports whether they are like the last ones."""
        self._pack_ids(self._ids, 0, *map(id, arrays))
        try:
            done: int = self._lib.ng_refs_from_objects(self._exchange, self._ids, self.n, self.address)
        except Exception:  # the framework's: the slow way says what is wrong
            return False
        return done == self.n

    def _find_exchange(self, arrays: Collection[Any]) -> None:
        """Looks whether one framework can locate all the arrays."""
        self._types = tuple(map(type, arrays))
        tables = {exchange_of(t) for t in set(self._types)}
        if len(tables) == 1 and not self._copied:
            self._exchange = tables.pop()

    def _forget(self) -> None:
        """Has every array looked at again."""
        self._entries = [(None, OTHER, None, None, None, None, _WORDS * i + 1) for i in range(self.n)]

    def _fill(self, arrays: Iterable[Any]) -> list[Any]:
        """Writes where the arrays are, one by one."""
        keep: list[Any] = []
        words = self._words
        for entry, x in zip(self._entries, arrays):
            of_type, kind, dtype, shape, device, stride, at = entry
            if type(x) is of_type:
                if kind == TORCH:
                    if (
                        x.dtype is dtype
                        and x.shape == shape
                        and x.get_device() == device
                        and (x.is_contiguous() if stride is None else x.stride() == stride)
                    ):
                        words[at] = x.data_ptr()
                        continue
                elif kind == NUMPY:
                    if x.shape == shape and x.strides == stride and x.dtype is dtype:
                        if device[0]() is not x:  # asking for the address takes long, and an array that lives does not move
                            device[0] = weakref.ref(x)
                            words[at] = x.__array_interface__["data"][0]
                        continue
                elif kind == SCALAR:
                    device[0] = x
                    continue
                elif kind == WARP:
                    if x.shape == shape and x.strides == stride and x.dtype is dtype and x.device is device:
                        words[at] = x.ptr or 0
                        continue
                elif kind == PROXY and device() is x and x.data_ptr() == words[at]:
                    continue
            self._look(at // _WORDS, x, keep)
        return keep

    def moved(self) -> list[tuple[BoundField, int, int]]:
        """Returns the watched fields that are elsewhere than at their latest check: field, from, to."""
        out = []
        for at, f in self.watched:
            now = self._words[at]
            if now != f.address:
                if f.address:
                    out.append((f, f.address, now))
                f.address = now
        return out

    def _look(self, i: int, x: Any, keep: list[Any]) -> None:
        """Looks at an array that is not like the last one in its place."""
        f = self.fields[i]
        if f.number is not None and is_scalar(x):
            f.number[0] = float(x)
            self._pack(i, number_view(f), Layout(1, 1, 8, 8))
            self._enter(i, type(x), SCALAR, None, None, f.number, None)
            return
        v, layout, copied = locate(x, f.shared, keep)
        self._copied = self._copied or copied
        if v.keep is not None and v.memory == CUDA:
            self._borrowed.append(v.keep)
        if v.memory == CUDA and (self.stream is None or v.kind == TORCH):
            self.stream = stream_source(x, v) or self.stream
        self._pack(i, v, layout)
        self._remember(i, x, v, copied)

    def _remember(self, i: int, x: Any, v: View, copied: bool) -> None:
        """Says how the same array, or one like it, is recognised next time."""
        kind = OTHER if copied or (v.kind == PROXY and not type(x).__weakrefoffset__) else v.kind
        if kind == TORCH:
            stride = None if x.is_contiguous() else x.stride()
            self._enter(i, type(x), kind, x.dtype, x.shape, x.get_device(), stride)
        elif kind == NUMPY:
            self._enter(i, type(x), kind, x.dtype, x.shape, [weakref.ref(x)], x.strides)
        elif kind == WARP:
            self._enter(i, type(x), kind, x.dtype, x.shape, x.device, x.strides)
        elif kind == PROXY:
            self._enter(i, type(x), kind, None, None, weakref.ref(x), None)
        else:
            self._enter(i, None, OTHER, None, None, None, None)

    def _enter(self, i: int, *entry: Any) -> None:
        self._entries[i] = (*entry, _WORDS * i + 1)

    def _pack(self, i: int, v: View, layout: Layout) -> None:
        _PACK.pack_into(
            self._buffer,
            _SIZE * i,
            _SIZE,
            self.fields[i].id,
            v.address,
            *layout,
            DTYPES[v.dtype][0],
            v.memory,
            v.device,
            0,
        )


def locate(x: Any, shared: bool, keep: list[Any]) -> tuple[View, Layout, bool]:
    """Returns where x is as rows and columns, and whether that is a copy made for it.

    What must live while the view is used is added to keep.
    """
    v = view_of(x)
    layout = layout_of(v, shared)
    copied = layout is None
    if layout is None:
        x = contiguous(x)
        v = view_of(x)
        layout = layout_of(v, shared)
        if layout is None:
            raise TypeError(f"an array of shape {v.shape} with strides {v.strides} cannot be read as rows and columns")
    keep.append((x, v.keep))
    return v, layout, copied


def number_view(f: BoundField) -> View:
    """Returns the view of the place where a plain number is put."""
    assert f.number is not None
    return View(ctypes.addressof(f.number), "float64", (1,), (8,), HOST, 0, SCALAR)
