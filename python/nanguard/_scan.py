"""One look at one array, without a guard."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from . import _library
from ._arrays import NUMPY, contiguous, is_scalar, layout_of, view_of
from ._library import CLASSES, DTYPES, HOST


class Scan(NamedTuple):
    """What :func:`scan` found. The extremes and the mean are those of the finite values, 0.0 when there is none."""

    finite: bool  #: every value is finite
    nan: int  #: how many values are NaN
    posinf: int  #: how many are +inf
    neginf: int  #: how many are -inf
    bad_rows: int  #: along the first axis, how many rows hold one of them
    first: tuple[int, ...] | None  #: index of the first one in row-major order
    first_class: str | None  #: what it is: ``"nan"``, ``"posinf"``, ``"neginf"``
    absmax: float  #: largest absolute value
    absmax_row: int  #: along the first axis, the first row that has it
    min: float
    max: float
    mean: float


def scan(array: Any) -> Scan:
    """Looks at every value of an array in host memory, in one pass.

    Args:
        array: numpy, torch on the CPU, or anything else with ``__array_interface__``
            or ``__dlpack__``, of any shape and strides; floats (bfloat16 too),
            integers or bools. An array in the memory of a GPU is a TypeError: that is
            what :class:`Guard` is for.
    """
    lib = _library.load()
    ref, shape, _keep = _ref_of(array)
    s = _library.Summary(struct_size=ctypes.sizeof(_library.Summary))
    finite = lib.ok(lib.ng_scan(ctypes.byref(ref), ctypes.byref(s))) == _library.OK
    return Scan(
        finite,
        s.nan,
        s.posinf,
        s.neginf,
        s.bad_rows,
        None if finite else _index(shape, s.first_row, s.first_col),
        CLASSES.get(s.first_class),
        s.absmax,
        s.absmax_row,
        s.min,
        s.max,
        s.mean,
    )


def all_finite(array: Any) -> bool:
    """Reports whether no value of an array in host memory is NaN or infinite.

    It answers as ``numpy.isfinite(array).all()`` does, for the arrays of :func:`scan`,
    and makes no array of its own.
    """
    lib = _library.load()
    ref, _shape, _keep = _ref_of(array)
    code: int = lib.ok(lib.ng_scan(ctypes.byref(ref), None))
    return code == _library.OK


def _ref_of(array: Any) -> tuple[_library.Ref, tuple[int, ...], Any]:
    """Returns where the elements are, the shape, and what keeps them alive."""
    kind = type(array)
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy" and array.dtype in _numpy_types and array.flags.c_contiguous:
        return _ref_of_numpy(array), array.shape, array
    if is_scalar(array):
        raise TypeError(f"{array!r} is a number and no array")
    v, keep = view_of(array), array
    if v.memory != HOST:
        raise TypeError("an array in the memory of a GPU: nanguard scans the memory of the host, a Guard that of a GPU")
    if v.kind == NUMPY:
        _numpy_types[array.dtype] = DTYPES[v.dtype]
    layout = layout_of(v, False)
    if layout is None:
        keep = contiguous(array)
        v = view_of(keep)
        layout = layout_of(v, False)
    assert layout is not None
    rows, cols, row_stride, col_stride = layout
    ref = _library.Ref(_SIZE, 0, v.address or None, rows, cols, row_stride, col_stride, DTYPES[v.dtype][0], HOST)
    return ref, v.shape, (keep, v)


#: Number and size of an element, by the dtypes of numpy that were seen.
_numpy_types: dict[Any, tuple[int, int]] = {}

_SIZE = ctypes.sizeof(_library.Ref)


def _ref_of_numpy(x: Any) -> _library.Ref:
    """Returns where the elements of an array in C order are; small ones wait for this longer than for the scan."""
    number, size = _numpy_types[x.dtype]
    rows = x.shape[0] if x.ndim else 1
    cols = x.size // rows if rows else 0
    return _library.Ref(_SIZE, 0, x.__array_interface__["data"][0] or None, rows, cols, cols * size, size, number, HOST)


def _index(shape: tuple[int, ...], row: int, col: int) -> tuple[int, ...]:
    """Returns the index of an element from its row and its place in the row."""
    index = []
    for n in reversed(shape[1:]):
        col, i = divmod(col, n)
        index.append(i)
    return (row, *reversed(index)) if shape else ()
