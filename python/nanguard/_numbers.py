"""One number in another shape than a field was bound in: a float for a tensor, a float32 for a float64.

For whoever logs a loss they are the same thing, so the number is brought to the
type and the memory of the field. It is never made infinite by that: what is too
large for the field's type becomes the largest value of it.
"""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from typing import Any, NamedTuple

from ._arrays import OTHER, View, is_scalar, view_of
from ._library import CUDA, DTYPES, HOST, NanGuardError

#: Largest finite value of the types that a number may be brought to.
_LARGEST = {"float16": 65504.0, "bfloat16": (2 - 2**-7) * 2.0**127, "float32": (2 - 2**-23) * 2.0**127, "float64": sys.float_info.max}
_LETTERS = {"float16": "e", "float32": "f", "float64": "d"}


class One(NamedTuple):
    """Where the single element of a shared field was when it was bound."""

    dtype: str
    memory: int
    device: int

    def __str__(self) -> str:
        return f"{self.dtype} " + (f"on cuda:{self.device}" if self.memory == CUDA else "in host memory")


def fitted(name: str, x: Any, one: One) -> Any:
    """Returns x when it is what the field was bound as, or no number; else a View or a tensor with its number."""
    if one.dtype not in _LARGEST:
        return x
    if is_scalar(x):
        now = One("a number", HOST, 0)
    else:
        v = view_of(x)
        now = One(v.dtype, v.memory, v.device)
        if now == one or math.prod(v.shape) != 1:
            return x
    if one.memory == HOST and now.memory == HOST:
        return _cell(float(x.item() if hasattr(x, "item") else x), one.dtype)
    y = _on_gpu(x, now, one) if one.memory == CUDA else None
    if y is None:
        raise NanGuardError(
            f'check: field "{name}" was bound as {one} and this is {now}, which takes a wait for the GPU to bring there: '
            f'give it as it was bound, or begin with guard.bind("{name}", x, shared=True) where x is like what checks will be given',
            "changed",
        )
    return y


def _cell(value: float, dtype: str) -> View:
    """Returns a place in host memory that holds a value."""
    value = _within(value, dtype)
    if dtype == "bfloat16":
        bits = struct.unpack("=I", struct.pack("=f", value))[0]
        if math.isfinite(value):
            bits += 0x7FFF + (bits >> 16 & 1)  # to the nearest, ties to even
        data = struct.pack("=H", bits >> 16)
    else:
        data = struct.pack("=" + _LETTERS[dtype], value)
    cell = ctypes.create_string_buffer(data, len(data))
    return View(ctypes.addressof(cell), dtype, (1,), (DTYPES[dtype][1],), HOST, 0, OTHER, keep=cell)


def _within(value: float, dtype: str) -> float:
    return max(-_LARGEST[dtype], min(_LARGEST[dtype], value)) if math.isfinite(value) else value


def _on_gpu(x: Any, now: One, one: One) -> Any:
    """Returns a tensor of torch on the field's device, made there without a wait; None where that is not possible."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    dtype = getattr(torch, one.dtype)
    if now.memory == HOST:
        if torch.cuda.is_current_stream_capturing():  # each replay would record the number of today
            return None
        return torch.full((1,), _within(float(x.item() if hasattr(x, "item") else x), one.dtype), dtype=dtype, device=f"cuda:{one.device}")
    if now.device != one.device or not isinstance(x, torch.Tensor):
        return None
    return narrowed(x.detach(), dtype)


def narrowed(x: Any, dtype: Any) -> Any:
    """Returns a tensor in another type, what is too large for that as its largest value."""
    largest = _LARGEST[str(dtype).split(".")[-1]]
    if not x.is_floating_point():
        x = x.float()
    if _LARGEST[str(x.dtype).split(".")[-1]] > largest:
        x = x.where(x.isinf(), x.clamp(-largest, largest))
    return x.to(dtype)
