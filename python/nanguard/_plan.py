"""The packed references of one kind of check, made once and patched.

A training loop makes the same checks over and over: the same fields, in the same
order, with arrays of the same shape. A plan holds the ``ng_ref`` structs of such
a check in one buffer. For most arrays a check only writes 8 bytes of address,
after seeing that type, dtype, device, shape and strides are what they were; for
those of a framework with DLPack's C exchange the library does it in C.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import weakref
from collections.abc import Iterable
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
from ._library import CUDA, DTYPES, HOST, Known, Library, Ref
from ._loans import Loans
from ._numbers import One, fitted

_SIZE = ctypes.sizeof(Ref)
_WORDS = _SIZE // 8
_CHANCES = 3
_PACK = struct.Struct("=IiQqqqqiiiI")
assert _PACK.size == _SIZE

#: How the latest array in a place is recognised: its type, kind, dtype, shape, device, strides.
_NEW: tuple[Any, ...] = (None, OTHER, None, None, None, None)


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


#: Where a tuple has its objects, and an object its type, in this CPython; 0: not where they are looked for.
_ITEMS = tuple.__basicsize__
_TYPE_AT = object.__basicsize__ - 8
_SAMPLE: tuple[Any, ...] = (None, ctypes, 1.5)
if (
    sys.implementation.name != "cpython"
    or any(_word(id(_SAMPLE) + _ITEMS + 8 * i) != id(x) for i, x in enumerate(_SAMPLE))
    or any(_word(id(x) + _TYPE_AT) != id(type(x)) for x in (_SAMPLE, *_SAMPLE))
):
    _TYPE_AT = 0


class BoundField:
    """A field of a guard, as this side knows it."""

    __slots__ = ("name", "id", "shared", "cols", "number", "one", "watched", "address")

    def __init__(self, name: str, shared: bool, cols: list[str] | None) -> None:
        self.name, self.shared, self.cols = name, shared, cols
        self.id = -1
        self.number: ctypes.Array[ctypes.c_double] | None = None  # where a plain number is put
        self.one: One | None = None  # of a shared field with a single element
        self.watched: Any = None  # the array, or a function that returns it
        self.address = 0  # of the watched array at the latest check


class Plan:
    """The references of one check: a clock and some fields in order."""

    def __init__(self, lib: Library, guard: int, clock: int, fields: list[BoundField]) -> None:
        self.fields, self.n = fields, len(fields)
        self._buffer = bytearray(_SIZE * self.n)
        self._pin = (ctypes.c_char * len(self._buffer)).from_buffer(self._buffer) if self.n else None
        address = ctypes.c_void_p(ctypes.addressof(self._pin) if self._pin is not None else None)
        n = ctypes.c_uint32(self.n)
        # Of ng_check, but for the stream. Objects of ctypes are passed on quicker than numbers.
        self.args = (ctypes.c_uint64(guard), ctypes.c_int32(clock), address, n)
        self._words = memoryview(self._buffer).cast("Q") if self.n else memoryview(b"")
        self._entries: list[tuple[Any, ...]] = [_NEW] * self.n
        self.watched = [(_WORDS * i + 1, f) for i, f in enumerate(fields) if f.watched is not None]
        self.stream: Callable[[], int] | None = None
        self._streams: list[tuple[bool, Callable[[], int] | None]] = [(False, None)] * self.n  # of each array, and whether torch's
        # Which arrays the library locates, by ng_source, and the others.
        self._sources = (ctypes.c_uint64 * (2 * self.n))()
        self._types: list[Any] = [None] * self.n
        self._chances = [_CHANCES if _TYPE_AT else 0] * self.n
        self._rest = list(range(self.n))
        self._refs_from_objects, self._refs_args = lib.ng_refs_from_objects, (n, ctypes.c_size_t(_TYPE_AT), address)
        self.known_to_library = False  # it locates all of them, and they are of one framework, which knows the stream
        self.lent: list[Any] = []  # to the check under way, by owners that know nothing of its stream
        self._loans: Loans | None = None

    def known(self, clock: str, names: tuple[str, ...]) -> tuple[Known, int, Any]:
        """Returns what the library needs to make this check by itself, where an object has its type, and what must be kept."""
        pointers = (ctypes.c_void_p * self.n)(*[id(name) for name in names])
        sources = (ctypes.c_uint64 * (2 * self.n))(*self._sources)
        refs = (ctypes.c_char * len(self._buffer)).from_buffer_copy(self._buffer)
        known = Known(
            guard=self.args[0].value,
            clock=self.args[1].value,
            n=self.n,
            clock_name=id(clock),
            names=ctypes.addressof(pointers),
            sources=ctypes.addressof(sources),
            refs=ctypes.addressof(refs),
        )
        return known, _TYPE_AT, (clock, names, pointers, sources, refs, tuple(self._types))

    def fill(self, arrays: tuple[Any, ...]) -> list[Any] | None:
        """Writes where the arrays are now; returns what must live until the call was made."""
        if len(self._rest) < self.n:
            self._locate(arrays)
        return self._fill(arrays) if self._rest else None

    def _locate(self, arrays: tuple[Any, ...]) -> None:
        """Has the library ask the frameworks where their arrays are; one that is not like the last goes the slow way."""
        while True:
            try:
                done: int = self._refs_from_objects(self._sources, id(arrays) + _ITEMS, *self._refs_args)
                if done == self.n:
                    return
                self._withdraw([done])
            except Exception:  # the framework's, which does not say of which array: the slow way says what is wrong
                self._withdraw(range(self.n))
                return

    def _offer(self, i: int, kind: type) -> None:
        """Has the library locate an array from now on, if its type has the exchange."""
        self._chances[i] -= 1
        table = exchange_of(kind)
        if table:
            self._types[i] = kind
            self._sources[2 * i : 2 * i + 2] = [id(kind), table]
            self._rest = [k for k in self._rest if k != i]
            self.known_to_library = not self._rest and not self.watched and len(set(self._sources[1::2])) == 1

    def _withdraw(self, which: Iterable[int]) -> None:
        """Has arrays looked at here again, from anew."""
        for i in which:
            self._types[i] = None
            self._sources[2 * i : 2 * i + 2] = [0, 0]
            self._entries[i] = _NEW
        self._rest = [i for i in range(self.n) if self._types[i] is None]
        self.known_to_library = False

    def _fill(self, arrays: tuple[Any, ...]) -> list[Any]:
        """Writes where the arrays are that the library does not locate, one by one."""
        keep: list[Any] = []
        words = self._words
        for i in self._rest:
            x = arrays[i]
            of_type, kind, dtype, shape, device, stride = self._entries[i]
            if type(x) is of_type:
                at = _WORDS * i + 1
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
            self._look(i, x, keep)
        return keep

    def on(self, stream: Any) -> Any:
        """Returns the stream of a check: the one given, or that which is current in the arrays' framework."""
        if stream is None:
            return self.stream and self.stream()
        return getattr(stream, "cuda_stream", stream)

    def hold(self, stream: int | None) -> None:
        """Has what was lent live until the GPU is past the check that was just enqueued on a stream."""
        assert self._loans is not None
        self._loans.hold(self.lent, stream or 0)
        self.lent = []

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
            self._follow(i, x, number_view(f))
            self._pack(i, number_view(f), Layout(1, 1, 8, 8))
            self._entries[i] = (type(x), SCALAR, None, None, f.number, None)
            return
        given = x
        if f.one is not None:
            x = fitted(f.name, x, f.one)
        v, layout, copied = locate(x, f.shared, keep)
        copied = copied or x is not given
        lent = v.keep is not None and v.memory == CUDA
        if lent:
            self.lent.append(v.keep)
            self._loans = self._loans or Loans(v.device)
        self._follow(i, x, v)
        self._pack(i, v, layout)
        self._remember(i, x, v, copied)
        if self._chances[i] and not copied and not lent:
            self._offer(i, type(x))

    def _follow(self, i: int, x: Any, v: View) -> None:
        """Notes who knows the stream of an array. Where torch has a part in the check, its word counts.

        It is that of the arrays as they are now: a simulator's own arrays may follow
        torch's views of them in the same place, in a graph that the simulator captures.
        """
        self._streams[i] = (v.kind == TORCH, stream_source(x, v))
        known = [s for s in self._streams if s[1] is not None]
        self.stream = max(known, key=lambda s: s[0])[1] if known else None

    def _remember(self, i: int, x: Any, v: View, copied: bool) -> None:
        """Says how the same array, or one like it, is recognised next time."""
        kind = OTHER if copied or (v.kind == PROXY and not type(x).__weakrefoffset__) else v.kind
        if kind == TORCH:
            stride = None if x.is_contiguous() else x.stride()
            self._entries[i] = (type(x), kind, x.dtype, x.shape, x.get_device(), stride)
        elif kind == NUMPY:
            self._entries[i] = (type(x), kind, x.dtype, x.shape, [weakref.ref(x)], x.strides)
        elif kind == WARP:
            self._entries[i] = (type(x), kind, x.dtype, x.shape, x.device, x.strides)
        elif kind == PROXY:
            self._entries[i] = (type(x), kind, None, None, weakref.ref(x), None)
        else:
            self._entries[i] = _NEW

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
    v = x if isinstance(x, View) else view_of(x)
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
