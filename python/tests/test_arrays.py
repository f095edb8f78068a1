"""Every kind of array, asked for its address by protocol."""

import ctypes
import sys
import types

import numpy as np
import pytest

from nanguard._arrays import NUMPY, OTHER, PROXY, TORCH, WARP, contiguous, is_scalar, layout_of, stream_source, view_of
from nanguard._library import CUDA, HOST
from nanguard._plan import BoundField, Plan


class Interface:
    """Something that has an array interface and nothing else, as CuPy has on a GPU."""

    def __init__(self, kind: str, **interface) -> None:
        setattr(self, kind, {"version": 3, "strides": None, **interface})


class DLPackOnly:
    """Something that has DLPack and nothing else."""

    def __init__(self, array: np.ndarray, device=None) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **options):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._device or self._array.__dlpack_device__()


def address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


def test_numpy() -> None:
    a = np.zeros((6, 4), np.float32)
    v = view_of(a)
    assert (v.address, v.dtype, v.shape, v.strides, v.memory, v.kind) == (address(a), "float32", (6, 4), (16, 4), HOST, NUMPY)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
)
def test_dtypes(dtype: str) -> None:
    assert view_of(np.zeros(3, dtype)).dtype == dtype
    assert view_of(DLPackOnly(np.zeros(3, dtype))).dtype == dtype


@pytest.mark.parametrize("dtype", ["complex64", "longdouble", "datetime64[s]", ">f4", "S3", "O", "f4,f4"])
def test_dtypes_that_are_not_taken(dtype: str) -> None:
    with pytest.raises(TypeError, match="elements of type"):
        view_of(np.zeros(3, dtype))


def test_bfloat16_of_a_numpy_extension() -> None:
    x = Interface("__array_interface__", data=(4096, False), shape=(2,), typestr="<V2")
    x.dtype = types.SimpleNamespace(name="bfloat16")
    assert view_of(x).dtype == "bfloat16"


def test_cuda_array_interface() -> None:
    x = Interface("__cuda_array_interface__", data=(0x7F00, False), shape=(4, 3), typestr="<f2", strides=(12, 2))
    x.device = types.SimpleNamespace(id=2)
    v = view_of(x)
    assert (v.address, v.dtype, v.strides, v.memory, v.device, v.kind) == (0x7F00, "float16", (12, 2), CUDA, 2, OTHER)
    assert view_of(Interface("__cuda_array_interface__", data=(1, True), shape=(4, 3), typestr="<f8")).strides == (24, 8)


def test_dlpack() -> None:
    a = np.arange(24, dtype=np.float64).reshape(6, 4)[::2]
    v = view_of(DLPackOnly(a))
    assert (v.address, v.dtype, v.shape, v.strides, v.memory) == (address(a), "float64", (3, 4), (64, 8), HOST)
    assert view_of(DLPackOnly(a, device=(2, 1)))[4:6] == (CUDA, 1)
    assert view_of(DLPackOnly(a, device=(3, 0))).memory == HOST  # pinned
    with pytest.raises(TypeError, match="DLPack device 10"):
        view_of(DLPackOnly(a, device=(10, 0)))


def test_dlpack_gives_back_what_it_took() -> None:
    a = np.zeros(5)
    before = sys.getrefcount(a)
    for _ in range(100):
        v = view_of(DLPackOnly(a))
    del v
    assert sys.getrefcount(a) == before


class FakeTensor:
    """As much of a torch tensor as is asked for."""

    layout = "torch.strided"

    def __init__(self, shape=(4, 3), dtype="torch.bfloat16", device=("cuda", 1), stride=(3, 1)) -> None:
        self.shape, self.dtype, self._stride = shape, dtype, stride
        self.device = types.SimpleNamespace(type=device[0], index=device[1])

    def stride(self):
        return self._stride

    def data_ptr(self) -> int:
        return 0x7000

    def get_device(self) -> int:
        return self.device.index

    def is_contiguous(self) -> bool:
        return self._stride == (self.shape[1], 1)


def test_torch_by_duck() -> None:
    v = view_of(FakeTensor())
    assert (v.address, v.dtype, v.shape, v.strides, v.memory, v.device, v.kind) == (0x7000, "bfloat16", (4, 3), (6, 2), CUDA, 1, PROXY)
    assert view_of(FakeTensor(device=("cpu", None))).memory == HOST
    with pytest.raises(TypeError, match="memory of the host and of CUDA"):
        view_of(FakeTensor(device=("mps", 0)))
    with pytest.raises(TypeError, match="elements of type torch.complex64"):
        view_of(FakeTensor(dtype="torch.complex64"))
    x = FakeTensor()
    x.layout = "torch.sparse_coo"
    with pytest.raises(TypeError, match="sparse"):
        view_of(x)


def test_the_stream_is_asked_for_where_the_array_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=100 + device))
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda, _C=object(), Tensor=FakeTensor))
    x = FakeTensor()
    assert view_of(x).kind == TORCH
    assert stream_source(x, view_of(x))() == 101
    quick = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 200 + device)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda, _C=quick, Tensor=FakeTensor))
    assert stream_source(x, view_of(x))() == 201
    assert stream_source(x, view_of(FakeTensor(device=("cpu", None)))) is None

    monkeypatch.setitem(sys.modules, "warp", types.SimpleNamespace(get_stream=lambda d: types.SimpleNamespace(cuda_stream=300 + d.ordinal)))

    class Array(Interface):
        ptr, dtype, strides, shape = 64, "float32", (4,), (2,)
        device = types.SimpleNamespace(ordinal=3)

    Array.__module__ = "warp._src.types"
    w = Array("__cuda_array_interface__", data=(64, False), shape=(2,), typestr="<f4")
    assert (view_of(w).kind, view_of(w).device) == (WARP, 3)
    assert stream_source(w, view_of(w))() == 303

    current = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=404))
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=current))

    class ndarray(Interface):  # noqa: N801
        device = types.SimpleNamespace(id=4)

    ndarray.__module__ = "cupy"
    c = ndarray("__cuda_array_interface__", data=(64, False), shape=(2,), typestr="<f4")
    assert (view_of(c).device, stream_source(c, view_of(c))()) == (4, 404)

    # The stream of a plan is that of the arrays of this check, not of those that were there first.
    plan = Plan(
        types.SimpleNamespace(ng_refs_from_objects=None),
        1,
        0,
        [BoundField("qpos", True, None), BoundField("qvel", True, None)],
    )
    for arrays, stream in [((x, x), 201), ((w, w), 303), ((w, x), 201), ((c, w), 404), ((x, w), 201), ((1.0, w), 303), ((1.0, 2.0), None)]:
        for f, a in zip(plan.fields, arrays):
            f.number = (ctypes.c_double * 1)() if isinstance(a, float) else None
        plan._fill(arrays)
        assert (plan.stream and plan.stream()) == stream, arrays


@pytest.mark.parametrize(
    "x,shared,want",
    [
        (np.zeros((6, 4), np.float32), False, (6, 4, 16, 4)),
        (np.zeros(6, np.float32), False, (6, 1, 4, 4)),
        (np.zeros((6, 4, 3), np.float32), False, (6, 12, 48, 4)),
        (np.zeros((6, 4, 3), np.float32)[:, :, :2], False, None),
        (np.zeros((6, 4, 3), np.float32)[:, ::2], False, None),
        (np.zeros((6, 4, 3), np.float32)[:, 1:2, :2], False, (6, 2, 48, 4)),
        (np.zeros((12, 8), np.float32)[::2, ::-2], False, (6, 4, 64, -8)),
        (np.zeros((4, 6), np.float32).T, False, (6, 4, 4, 24)),
        (np.broadcast_to(np.zeros(4, np.float32), (6, 4)), False, (6, 4, 0, 4)),
        (np.zeros((0, 4), np.float32), False, (0, 4, 16, 4)),
        (np.zeros((6, 0), np.float32), False, (6, 0, 4, 4)),
        (np.zeros((), np.float64), True, (1, 1, 0, 8)),
        (np.zeros((5, 3), np.float64), True, (1, 15, 0, 8)),
        (np.zeros((5, 3), np.float64)[:, 0], True, (1, 5, 0, 24)),
    ],
)
def test_rows_and_columns(x: np.ndarray, shared: bool, want) -> None:
    got = layout_of(view_of(x), shared)
    if want is None:
        assert got is None
        assert layout_of(view_of(contiguous(x)), shared)[:2] == (x.shape[0], int(np.prod(x.shape[1:])))
        return
    rows, cols, row_stride, col_stride = got
    assert (rows, cols) == want[:2]
    if rows > 1 and cols > 0:
        assert row_stride == want[2]
    if cols > 1:
        assert col_stride == want[3]


def test_numbers_are_no_arrays() -> None:
    assert all(is_scalar(x) for x in (1, 1.5, True, np.float32(2), np.int64(3), np.bool_(True), np.float64(1)))
    assert not any(is_scalar(x) for x in (np.zeros(1), np.zeros(()), "1", None, [1]))
    for x in (1.0, np.float32(1)):
        with pytest.raises(TypeError, match="is a number"):
            view_of(x)
    for x in ([1.0], None, "qvel"):
        with pytest.raises(TypeError, match="is no array"):
            view_of(x)


def test_jax() -> None:
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    for dtype, want in ((jnp.float32, "float32"), (jnp.bfloat16, "bfloat16"), (jnp.int32, "int32"), (jnp.bool_, "bool")):
        x = jnp.ones((4, 3), dtype)
        v = view_of(x)
        assert (v.dtype, v.shape, v.address) == (want, (4, 3), x.unsafe_buffer_pointer())
        assert v.memory == (CUDA if "cuda" in str(x.devices()).lower() else HOST)


def test_warp() -> None:
    wp = pytest.importorskip("warp", reason="Warp is not installed")
    wp.config.quiet = True
    x = wp.zeros((4, 3), dtype=wp.float32, device="cpu")
    v = view_of(x)
    assert (v.address, v.dtype, v.shape, v.strides, v.memory, v.kind) == (x.ptr, "float32", (4, 3), (12, 4), HOST, WARP)
    assert view_of(wp.zeros(5, dtype=wp.vec3, device="cpu")).shape == (5, 3)
