"""One look at one array, without a guard."""

import math
import types

import numpy as np
import pytest

import nanguard

FLOATS = ["float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_finite_values(dtype: str) -> None:
    x = np.random.default_rng(1).standard_normal((300, 7)).astype(dtype)
    s = nanguard.scan(x)
    assert s == nanguard.Scan(
        True, 0, 0, 0, 0, None, None, s.absmax, s.absmax_row, float(x.min()), float(x.max()), pytest.approx(x.mean(dtype="float64"))
    )
    assert s.absmax == float(abs(x).max()) == float(abs(x[s.absmax_row]).max())
    assert nanguard.all_finite(x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_bad_values(dtype: str) -> None:
    x = np.ones((40, 3, 5), dtype)
    x[17, 2, 1], x[17, 2, 2], x[30, 0, 0] = math.nan, math.inf, -math.inf
    s = nanguard.scan(x)
    assert not s.finite and (s.nan, s.posinf, s.neginf, s.bad_rows) == (1, 1, 1, 2)
    assert s.first == (17, 2, 1) and s.first_class == "nan" and np.isnan(x[s.first])
    assert (s.absmax, s.min, s.max, s.mean) == (1, 1, 1, 1)
    assert not nanguard.all_finite(x)


def test_any_shape_and_strides() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    x[1, 2, 3] = math.inf
    for view in (x, x[::-1], x.transpose(2, 0, 1), x[:, :, ::2], x[:, ::2, 1:], x[0, 0], x[1, 2, 3:], x[1, 2, 3, ...], x[:0]):
        s = nanguard.scan(view)
        assert s.finite == nanguard.all_finite(view) == bool(np.isfinite(view).all())
        if not s.finite:
            assert s.first == np.unravel_index(int(np.argmin(np.isfinite(view))), view.shape)
    with pytest.raises(TypeError, match="is a number"):
        nanguard.scan(3.0)


def test_integers_and_bools_are_finite() -> None:
    assert nanguard.scan(np.array([3, -7, 1])) == nanguard.Scan(True, 0, 0, 0, 0, None, None, 7, 1, -7, 3, -1)
    assert nanguard.scan(np.array([True, False])).mean == 0.5


def test_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.ones(5, 4, dtype=torch.bfloat16, requires_grad=True)
    assert nanguard.scan(x).mean == 1
    y = x.detach().clone()
    y[3, 1] = -math.inf
    assert nanguard.scan(y)[:7] == (False, 0, 0, 1, 1, (3, 1), "neginf")


def test_memory_of_a_gpu_is_for_a_guard() -> None:
    interface = {"version": 3, "strides": None, "shape": (2,), "typestr": "<f4", "data": (4096, False)}
    nanguard.scan(np.ones(2, np.float32))
    cupy = type("ndarray", (), {"__module__": "cupy", "dtype": np.dtype("float32"), "flags": np.ones(2).flags})()
    cupy.__cuda_array_interface__ = interface
    for array in (cupy, types.SimpleNamespace(__cuda_array_interface__=interface)):
        with pytest.raises(TypeError, match="a Guard that of a GPU"):
            nanguard.scan(array)


def test_memory_that_cannot_be_read() -> None:
    interface = {"version": 3, "strides": None, "shape": (1000,), "typestr": "<f4", "data": (4096, False)}
    with pytest.raises(nanguard.NanGuardError, match="cannot be read") as e:
        nanguard.all_finite(types.SimpleNamespace(__array_interface__=interface))
    assert e.value.code == "argument"


def test_arrays_without_a_shape_attribute() -> None:
    x = np.array([[1.0, math.nan]])
    assert nanguard.scan(types.SimpleNamespace(__array_interface__=x.__array_interface__)).first == (0, 1)


def test_numpy_twice_and_strided_after_that() -> None:
    x = np.ones((6, 4, 2), np.float32)
    for array in (x, x, x[:, ::2], x[:0], np.ones((), np.float32), np.ones((3, 0), np.float32)):
        assert nanguard.all_finite(array) and nanguard.scan(array).finite
    x[5, 3, 1] = math.nan
    for array in (x, x[:, ::3], x[::-1]):
        assert not nanguard.all_finite(array) and np.isnan(array[nanguard.scan(array).first])
