"""What callers give, as the library takes it: devices, clocks, models, env ids, JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from ._arrays import is_scalar, view_of
from ._library import CLOCKS, DEVICE_AUTO, DEVICE_HOST


def device_number(device: Any) -> int:
    """Returns a device as ng_config numbers it."""
    text = str(device)
    kind, _, number = text.partition(":")
    if text == "auto":
        return DEVICE_AUTO
    if text == "cpu":
        return DEVICE_HOST
    if kind == "cuda" and (number.isdigit() or not number):
        return int(number or 0)
    raise ValueError(f'device {text!r}: want "auto", "cpu" or "cuda:N"')


def clock_number(clock: str) -> int:
    """Returns a clock as nanguard.h numbers it."""
    try:
        return CLOCKS[clock]
    except KeyError:
        raise ValueError(f"clock {clock!r}: want {', '.join(CLOCKS)}") from None


def model_file(model: Any) -> tuple[str | None, str | None]:
    """Returns the path of a model, and the folder to remove when it was saved for the guard."""
    if model is None or isinstance(model, (str, os.PathLike)):
        return (None if model is None else os.fspath(model)), None
    mujoco = sys.modules.get("mujoco")
    if mujoco is None or not isinstance(model, mujoco.MjModel):
        raise TypeError(f"model of type {type(model).__qualname__}: want a path or a mujoco.MjModel")
    folder = tempfile.mkdtemp(prefix="nanguard-")
    path = os.path.join(folder, "model.mjb")
    mujoco.mj_saveModel(model, path, None)
    return path, folder


def logged(x: Any) -> Any:
    """Returns a logged value as a float, or as it is when it lies on a GPU or is an array."""
    on_gpu = getattr(x, "is_cuda", None)  # torch, where the protocol's attribute takes long
    if on_gpu is None:
        if is_scalar(x):
            return x
        on_gpu = hasattr(x, "__cuda_array_interface__")
    if on_gpu:
        return x
    size = getattr(x, "size", None)
    if callable(size):  # torch
        size = x.numel()
    return float(x.item()) if size == 1 and hasattr(x, "item") else x


def env_ids(envs: Any) -> list[int]:
    """Returns env ids out of a list, an array of ids or a mask."""
    if envs is None:
        return []
    values = envs.tolist() if hasattr(envs, "tolist") else list(envs)
    if not isinstance(values, list):
        values = [values]
    if values and all(isinstance(v, bool) for v in values):
        return [i for i, v in enumerate(values) if v]
    return [int(v) for v in values]


def with_addresses(detail: Any) -> Any:
    """Returns a detail in which the arrays below "reads" are addresses."""
    if not isinstance(detail, Mapping) or not isinstance(detail.get("reads"), Mapping):
        return detail
    reads = {name: x if is_scalar(x) else view_of(x).address for name, x in detail["reads"].items()}
    return {**detail, "reads": reads}


def json_of(value: Any) -> bytes:
    """Returns a value as JSON, arrays and dates included."""
    return json.dumps(_plain(value), default=_fallback).encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """Returns a value whose non-finite numbers are text inside of lists and mappings, as the dump format has it."""
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")
    return _plain(value)


def _fallback(value: Any) -> Any:
    """Returns what JSON does not know as something that it does."""
    for convert in ("tolist", "item", "isoformat"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    return str(value)
