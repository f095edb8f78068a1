"""Where the elements of an array are, whoever made it.

Nothing here imports torch, Warp, JAX or CuPy: an array is asked for its address
by protocol, in this order.

1. torch, and what behaves like it: ``data_ptr``, ``dtype``, ``stride``, ``device``
   (bfloat16 has no array interface);
2. ``__dlpack__`` for JAX, which has an array interface but tells no stream with it;
3. ``__cuda_array_interface__``: CuPy, Numba, Warp on a GPU;
4. ``__array_interface__``: numpy, Warp on the host;
5. ``__dlpack__``: the rest.
"""

from __future__ import annotations

import ctypes
import numbers
import sys
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from ._library import CUDA, DTYPES, HOST

#: How an array is asked for its address again, see ``_plan.Plan.fill``.
TORCH, NUMPY, WARP, PROXY, SCALAR, OTHER = range(6)


class View(NamedTuple):
    """An array as it stands now. Strides are in bytes."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    memory: int
    device: int
    kind: int  # TORCH, ...
    keep: Any = None  # what must live until the check was made


class Layout(NamedTuple):
    """A view as rows and columns: rows are envs, or one row for the whole run."""

    rows: int
    cols: int
    row_stride: int
    col_stride: int


def is_scalar(x: Any) -> bool:
    """Reports whether x is a number of Python or numpy rather than an array."""
    return isinstance(x, (float, int, numbers.Real)) or type(x).__name__ in ("bool_", "bool")


def view_of(x: Any) -> View:
    """Returns where the elements of x are; raises TypeError for what is no array."""
    if hasattr(x, "data_ptr") and hasattr(x, "stride"):
        return _of_torch(x)
    if is_scalar(x):
        raise TypeError(f"{x!r} is a number and was an array before")
    if _package(x) in ("jax", "jaxlib"):
        return _of_dlpack(x)
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_interface(x, interface, CUDA)
    interface = getattr(x, "__array_interface__", None)
    if interface is not None:
        return _of_interface(x, interface, HOST)
    if hasattr(x, "__dlpack__"):
        return _of_dlpack(x)
    raise TypeError(
        f"{type(x).__module__}.{type(x).__qualname__} is no array: want torch, numpy, or anything with "
        "__cuda_array_interface__, __array_interface__ or __dlpack__"
    )


def _package(x: Any) -> str:
    """Returns the package that the type of x belongs to."""
    return type(x).__module__.partition(".")[0]


def layout_of(v: View, shared: bool) -> Layout | None:
    """Returns v as rows and columns, None when one stride cannot lead through its columns."""
    itemsize = DTYPES[v.dtype][1]
    shape, strides = v.shape, v.strides
    if shared or not shape:
        rows, row_stride, first = 1, 0, 0
    else:
        rows, row_stride, first = shape[0], strides[0], 1
    cols, col_stride, span = 1, itemsize, 0
    for n, step in zip(reversed(shape[first:]), reversed(strides[first:])):
        if n != 1:
            if cols == 1:
                col_stride = step
            elif step != span:
                return None
            span = step * n
        cols *= n
    return Layout(rows, cols, row_stride, col_stride)


def contiguous(x: Any) -> Any:
    """Returns a copy of x in C order, made in the order of its stream."""
    if hasattr(x, "contiguous"):
        return x.detach().contiguous() if hasattr(x, "detach") else x.contiguous()
    return x.copy(order="C") if _package(x) in ("numpy", "cupy") else x.copy()


def _of_torch(x: Any) -> View:
    if str(getattr(x, "layout", "torch.strided")) != "torch.strided":
        raise TypeError(f"a tensor of layout {x.layout}: give its dense values")
    dtype = _known(str(x.dtype).split(".")[-1], x)
    size = DTYPES[dtype][1]
    kind = x.device.type
    if kind not in ("cpu", "cuda"):
        raise TypeError(f"a tensor on device {x.device}: nanguard reads the memory of the host and of CUDA devices")
    return View(
        x.data_ptr(),
        dtype,
        tuple(x.shape),
        tuple(size * s for s in x.stride()),
        CUDA if kind == "cuda" else HOST,
        (x.device.index or 0) if kind == "cuda" else 0,
        TORCH if _is_tensor(x) else PROXY,
    )


def _is_tensor(x: Any) -> bool:
    """Reports whether x is a torch tensor and no stand-in, whose attributes take longer."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _of_interface(x: Any, interface: Any, memory: int) -> View:
    shape = tuple(interface["shape"])
    dtype = _of_typestr(interface["typestr"], x)
    strides = interface.get("strides") or _c_strides(shape, DTYPES[dtype][1])
    device = 0
    if memory == CUDA:
        device = _device_number(x)
    kind = OTHER
    if _package(x) == "warp" and hasattr(x, "ptr"):
        kind = WARP
    elif _package(x) == "numpy":
        kind = NUMPY
    return View(interface["data"][0] or 0, dtype, shape, tuple(strides), memory, device, kind)


def _c_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    strides = []
    for n in reversed(shape):
        strides.append(size)
        size *= n
    return tuple(reversed(strides))


def _device_number(x: Any) -> int:
    """Returns the number of the CUDA device of x: CuPy has .device.id, Warp .device.ordinal, Numba neither."""
    device = getattr(x, "device", None)
    for name in ("id", "ordinal", "index"):
        n = getattr(device, name, None)
        if isinstance(n, int):
            return n
    return 0


_LETTERS = {"f": "float", "i": "int", "u": "uint"}


def _of_typestr(typestr: str, x: Any) -> str:
    order, letter, size = typestr[0], typestr[1], typestr[2:]
    if order == (">" if sys.byteorder == "little" else "<"):
        raise TypeError(f"elements of type {typestr}: nanguard reads native byte order")
    if letter == "b":
        return "bool"
    if letter == "V":  # bfloat16 of ml_dtypes and Warp is "raw bytes" to numpy
        dtype = getattr(x, "dtype", None)
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
        return _known(str(name or typestr), x)
    return _known(f"{_LETTERS[letter]}{int(size) * 8}" if letter in _LETTERS else typestr, x)


def _known(dtype: str, x: Any) -> str:
    if dtype not in DTYPES:
        raise TypeError(f"elements of type {getattr(x, 'dtype', dtype)}: nanguard reads {', '.join(DTYPES)}")
    return dtype


class _DLTensor(ctypes.Structure):
    """DLTensor of dlpack.h, which is also how a DLManagedTensor begins."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_DL_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_DL_HOST, _DL_CUDA = (1, 3), (2, 13)  # pinned host memory is host memory, managed memory that of the device


def _of_dlpack(x: Any) -> View:
    """Reads the capsule without consuming it: what it holds is given back when the view is dropped."""
    device_type, device = x.__dlpack_device__()
    device_type = int(device_type)
    if device_type not in _DL_HOST + _DL_CUDA:
        raise TypeError(f"an array of DLPack device {device_type}: nanguard reads the memory of the host and of CUDA devices")
    # Stream 1 is CUDA's default stream, where the check will be: its owner has it wait for what makes x.
    capsule = x.__dlpack__(stream=1) if device_type in _DL_CUDA else x.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    t = _DLTensor.from_address(get(capsule, b"dltensor"))
    name = _DL_CODES.get(t.code, f"code {t.code} of ")
    dtype = _known("bool" if name == "bool" else f"{name}{t.bits * t.lanes}", x)
    size = DTYPES[dtype][1]
    shape = tuple(t.shape[i] for i in range(t.ndim))
    strides = tuple(size * t.strides[i] for i in range(t.ndim)) if t.strides else _c_strides(shape, size)
    memory = CUDA if device_type in _DL_CUDA else HOST
    return View((t.data or 0) + t.byte_offset, dtype, shape, strides, memory, int(device), OTHER, keep=capsule)


def exchange_of(kind: type) -> int | None:
    """Returns the address of the C exchange table of DLPack that a type of array has, None without one."""
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    if type(capsule).__name__ != "PyCapsule":
        return None
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    address: int = get(capsule, b"dlpack_exchange_api")
    return address


def stream_source(x: Any, v: View) -> Callable[[], int] | None:
    """Returns what tells the CUDA stream on which a check of x is to be enqueued.

    It is the stream that is current in the framework that x belongs to, which is
    where the work that makes x was enqueued. None: host memory, or nobody knows
    (the default stream then).
    """
    if v.memory != CUDA:
        return None
    torch, warp, cupy = (sys.modules.get(name) for name in ("torch", "warp", "cupy"))
    device = getattr(x, "device", None)
    if torch is not None and hasattr(x, "data_ptr"):
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # ten times quicker than the public one
        if raw is not None:
            return lambda: int(raw(v.device))
        return lambda: int(torch.cuda.current_stream(v.device).cuda_stream)
    if warp is not None and v.kind == WARP:
        return lambda: int(warp.get_stream(device).cuda_stream)
    if cupy is not None and _package(x) == "cupy":
        return lambda: int(cupy.cuda.get_current_stream().ptr)
    return None
