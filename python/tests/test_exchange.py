"""DLPack's C exchange: the library asks the framework itself where its tensors are."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from conftest import ENVS
from fakegpu import run

import nanguard
from nanguard._arrays import _DLTensor

FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_DLTensor))


class Table(ctypes.Structure):
    """DLPackExchangeAPI of dlpack.h."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("older", ctypes.c_void_p),
        ("unused", ctypes.c_void_p * 3),
        ("tensor_from_object", FROM_OBJECT),
        ("current_stream", ctypes.c_void_p),
    ]


CODES = {"f": 2, "i": 0, "u": 1, "b": 6}


@FROM_OBJECT
def from_object(x, out):
    Tensor.asked += 1
    if x.broken:
        return 1
    a, t = x.array, out[0]
    t.data, t.device_type, t.device_id, t.ndim, t.byte_offset = a.ctypes.data, x.device[0], x.device[1], a.ndim, 0
    t.code, t.bits, t.lanes = CODES[a.dtype.kind], a.itemsize * 8, 1
    x.dims = (ctypes.c_int64 * a.ndim)(*a.shape), (ctypes.c_int64 * a.ndim)(*[s // a.itemsize for s in a.strides])
    t.shape, t.strides = x.dims
    return 0


TABLE = Table(1, 3, None, (ctypes.c_void_p * 3)(), from_object, None)
NEWER = Table(2, 0, ctypes.addressof(TABLE), (ctypes.c_void_p * 3)(), FROM_OBJECT(lambda x, out: 1), None)


def capsule(table: Table):
    new = ctypes.pythonapi.PyCapsule_New
    new.argtypes, new.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p), ctypes.py_object
    return new(ctypes.addressof(table), b"dlpack_exchange_api", None)


class Tensor:
    """A tensor of a framework that has the exchange, over a numpy array."""

    asked = 0
    __dlpack_c_exchange_api__ = capsule(TABLE)

    def __init__(self, array, device=(1, 0), broken=False) -> None:
        self.array, self.device, self.broken = array, device, broken

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class Later(Tensor):
    __dlpack_c_exchange_api__ = capsule(NEWER)


@pytest.fixture(autouse=True)
def count() -> None:
    Tensor.asked = 0


def test_it_is_used(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(10):
            guard.check("step", {"obs.a": Tensor(np.full((ENVS, 3), i, np.float32)), "obs.b": Tensor(np.full((ENVS, 2, 2), i, np.float64))})
        assert Tensor.asked == 18  # all checks but the first
        d = open_dump(guard.dump())
    assert list(d.field("obs.a")[:, 0, 0]) == list(d.field("obs.b")[:, 0, 3]) == list(range(10))


def test_an_older_table_is_found_behind_a_newer_one(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for _ in range(3):
            guard.check(obs=Later(np.zeros((ENVS, 3))))
        assert Tensor.asked == 2


def test_layouts_may_change(dumps, open_dump) -> None:
    """Strides are taken anew each time, there and back to the slow way when there is no single one."""
    a = np.arange(6.0 * ENVS).reshape(ENVS, 2, 3)
    wide = np.full((ENVS, 2, 6), np.nan)
    wide[:, :, ::2] = a
    same = [
        a,
        np.asfortranarray(a.reshape(ENVS, 6)).reshape(ENVS, 6),
        a.reshape(ENVS, 6)[:, ::-1].copy()[:, ::-1].reshape(ENVS, 2, 3),
        wide[:, :, ::2],
    ]
    with nanguard.Guard(ENVS, dumps) as guard:
        for x in same * 4:
            guard.check(obs=Tensor(x))
        d = open_dump(guard.dump())
    assert d.field("obs").shape[0] == 16
    assert (d.field("obs") == d.field("obs")[0]).all() and d.field("obs")[0, 0, 4] == 6 * d.manifest["env_ids"][0] + 4


@pytest.mark.parametrize(
    "wrong,words",
    [
        (Tensor(np.zeros((ENVS, 4))), "8 x 3 when it was bound, now 8 x 4"),
        (Tensor(np.zeros((3, ENVS))), "8 x 3 when it was bound, now 3 x 8"),
        (Tensor(np.zeros((ENVS, 3), np.float32)), "float64 when it was bound, now float32"),
        (Tensor(np.zeros((0, 3))), "now 0 x 3"),
        (Tensor(np.zeros((ENVS, 3)), device=(2, 0)), "host memory when it was bound"),
        (np.zeros((ENVS, 4)), "now 8 x 4"),
    ],
)
def test_what_changed_is_refused(dumps, wrong, words) -> None:
    right = Tensor(np.zeros((ENVS, 3)))
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=right)
        guard.check(obs=right)
        with pytest.raises(nanguard.NanGuardError, match=words) as e:
            guard.check(obs=wrong)
        assert e.value.code == "changed"
        for _ in range(3):
            guard.check(obs=right)
        guard.check(obs=Tensor(np.full((ENVS, 3), np.nan)))
        assert guard.wait().count == 6


def test_a_framework_that_refuses(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for broken in (False, False, True, False, True, True, True, True):
            guard.check(obs=Tensor(np.zeros((ENVS, 3)), broken=broken))
        assert guard.poll() is None
        guard.check(obs=Tensor(np.full((ENVS, 3), np.nan)))
        assert guard.wait().count == 9


def test_shared_fields(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("param.w", Tensor(np.zeros((3, 4))), shared=True, clock="step")
        w = np.zeros((3, 4))
        for _ in range(3):
            guard.check("step", {"param.w": Tensor(w)})
        w[1, 2] = np.inf
        guard.check("step", {"param.w": Tensor(w)})
        assert (guard.wait().env, guard.wait().col, Tensor.asked) == (None, 6, 3)


def test_torch_has_it(dumps) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip(f"torch {torch.__version__} has no C exchange")
    with nanguard.Guard(ENVS, dumps) as guard:
        fields = {
            "obs": torch.zeros(ENVS, 3),
            "reward": torch.zeros(ENVS, requires_grad=True),
            "value": torch.nn.Parameter(torch.zeros(ENVS)),
        }
        guard.check("step", fields)
        (plan,) = guard._plans.values()
        plan._fill = None  # the slow way would fail now
        for _ in range(3):
            guard.check("step", fields)


def test_each_array_goes_its_own_way(dumps, open_dump) -> None:
    """Among arrays of several kinds, those that have the exchange use it, and the others their quick path."""
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(10):
            fields = {
                "obs.a": Tensor(np.full((ENVS, 3), i)),
                "obs.b": np.full((ENVS, 2), i),
                "lr": float(i),
                "obs.c": Tensor(np.full(ENVS, i)),
            }
            guard.check("step", fields)
        (plan,) = guard._plans.values()
        assert (Tensor.asked, plan._rest) == (18, [1, 2])
        d = open_dump(guard.dump())
    for name in ("obs.a", "obs.b", "obs.c"):
        assert list(d.field(name)[:, 0, 0]) == list(range(10)), name
    assert list(d.field("lr")[:, 0]) == list(range(10))


def test_another_type_in_the_place_of_one_that_has_it(dumps, open_dump) -> None:
    """The exchange is asked for no object whose type does not have it: that would read what is no tensor."""
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(24):
            a = np.full((ENVS, 3), float(i))
            guard.check("step", {"obs.a": a if i % 3 == 2 else Tensor(a), "obs.b": Tensor(a)})
        asked = Tensor.asked
        d = open_dump(guard.dump())
    assert list(d.field("obs.a")[:, 0, 0]) == list(d.field("obs.b")[:, 0, 0]) == list(range(24))
    assert asked >= 23  # all checks of the other field but the first


def test_an_interpreter_whose_objects_are_unknown(dumps, monkeypatch) -> None:
    monkeypatch.setattr("nanguard._plan._TYPE_AT", 0)
    with nanguard.Guard(ENVS, dumps) as guard:
        for _ in range(3):
            guard.check(obs=Tensor(np.zeros((ENVS, 3))))
        guard.check(obs=Tensor(np.full((ENVS, 3), np.nan)))
        assert (guard.wait().count, Tensor.asked) == (4, 0)


ON_GPU = """
from test_exchange import TABLE, Table, Tensor, capsule
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
asked = []

@STREAM
def current(kind, index, out):
    asked.append((kind, index))
    out[0] = streams[0]
    return 0

table = Table(1, 3, None, (ctypes.c_void_p * 3)(), TABLE.tensor_from_object, ctypes.cast(current, ctypes.c_void_p))

class OnGPU(Tensor):
    __dlpack_c_exchange_api__ = capsule(table)
    def __init__(self):
        self.memory = Array(8, 3)
        super().__init__(self.memory.host, (2, 0))
    @property
    def __cuda_array_interface__(self):
        return self.memory.__cuda_array_interface__
    __array_interface__ = property()

library = ctypes.CDLL(os.environ["NANGUARD_LIBRARY"])
library.ng_repeated.restype = ctypes.c_int64
streams = [device.stream.cuda_stream]
guard = nanguard.Guard(8, sys.argv[1])
x = OnGPU()
for i in range(20):
    guard.check(obs=x)
before = library.ng_repeated()
call("cuStreamBeginCapture_v2", device.stream.cuda_stream, 0)
guard.check(obs=x)
graph = u64()
call("cuStreamEndCapture", device.stream.cuda_stream, ctypes.byref(graph))
captured = made("cuGraphInstantiateWithFlags", graph.value, 0)
streams[0] = None
for i in range(20):
    guard.check(obs=x)
x.array[2, 1] = np.nan
call("cuGraphLaunch", captured, device.stream.cuda_stream)
v = guard.wait()
print(json.dumps([len(asked), asked[0], before, library.ng_repeated() - before, v.env, v.tick]))
guard.close()
"""


def test_the_framework_is_asked_for_its_stream(driver, dumps) -> None:
    """A check is on the stream that is current when it is made, in a capture too."""
    ((asked, whom, before, after, env, tick),) = run(
        driver, f"import os\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n" + ON_GPU, dumps
    )
    assert asked == 40 and whom == [2, 0]
    assert before > 2 and after > 2
    assert (env, tick) == (2, 41)
