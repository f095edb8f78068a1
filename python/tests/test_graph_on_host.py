"""Checks inside of CUDA graphs, from Python, on the driver that plays a GPU on the host."""

from conftest import Dump
from fakegpu import run


def test_a_step_captured_twice(driver, dumps) -> None:
    """Replays are checked without Python, also of a graph made anew over arrays that moved; other fields join late."""
    (v,) = run(
        driver,
        """
sim = Sim(8)
guard = nanguard.Guard(8, sys.argv[1])
guard.check_same("substep", qpos=sim.data.qpos, qvel=sim.data.qvel)
after(engine, "step", lambda data: guard.check("substep", qpos=data.qpos, qvel=data.qvel))
sim.create_graph()
for i in range(1, 30):
    if i == 10:  # as expand_model_fields does it
        sim.data.qvel.host[:] = np.nan  # which nobody reads any more
        sim.data.qvel = Array(8, 3)
        sim.create_graph()
    sim.data.next[:] = i
    if i == 21:
        sim.data.next[5, 2] = np.nan
    sim.step()
    if i % 4 == 0:
        guard.check(reward=np.full(8, i, np.float32))
v = guard.wait()
print(json.dumps([v.field, v.env, v.col, v.clock, v.count, v.path]))
guard.close()
""",
        dumps,
    )
    assert v[:5] == ["qvel", 5, 2, "substep", 21]
    d = Dump(v[5])
    for name in ("qpos", "qvel"):
        assert list(d.field(name)[:, 0, 0]) == list(range(22)), name
    assert list(d.field("reward")[:, 0, 0]) == [4, 8, 12, 16, 20]
    assert len(d.events("graph_capture")) >= 2


def test_what_was_not_seen_before_cannot_be_captured(driver, dumps) -> None:
    said, env = run(
        driver,
        """
sim = Sim(8)
guard = nanguard.Guard(8, sys.argv[1])
after(engine, "step", lambda data: guard.check("substep", qpos=data.qpos, qvel=data.qvel))
guard.check_same("substep", qpos=sim.data.qpos)
call("cuStreamBeginCapture_v2", device.stream.cuda_stream, 0)
try: engine.step(sim.data)
except nanguard.NanGuardError as e: print(json.dumps([e.code, str(e)]))
call("cuStreamEndCapture", device.stream.cuda_stream, ctypes.byref(u64()))
guard.check_same("substep", qpos=sim.data.qpos, qvel=sim.data.qvel)
sim.create_graph()
sim.data.next[4] = np.nan
sim.step()
print(json.dumps(guard.wait().env))
guard.close()
""",
        dumps,
    )
    assert said[0] == "graph" and "qvel" in said[1]
    assert env == 4


def test_what_jax_lends_is_held_while_it_is_read(driver, dumps) -> None:
    """An array of JAX, through DLPack: held by an event of the driver's, and given back."""
    (held,) = run(
        driver,
        """
import gc, weakref

class Lent(Array):
    __module__ = "jaxlib.fake"
    __cuda_array_interface__ = property()
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, stream=None):
        assert stream == 1
        t = (ctypes.c_uint64 * 8)(self.ptr, 2, 2 | 2 << 32 | 32 << 40 | 1 << 48, 0, 0, 0)
        self.dims = (ctypes.c_int64 * 2)(*self.shape)
        t[3], t[4], t[5] = ctypes.addressof(self.dims), 0, 0
        kept.append(t)
        new = ctypes.pythonapi.PyCapsule_New
        new.argtypes, new.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p), ctypes.py_object
        return new(ctypes.addressof(t), b"dltensor", None)

kept = []
guard = nanguard.Guard(8, sys.argv[1])
for i in range(50):
    x = Lent(8, 3)
    x.host[:] = i
    guard.check(obs=x)
(plan,) = guard._plans.values()
print(json.dumps([len(plan._loans), len(kept), bool(plan._loans._held[0][0]), guard.dump()]))
guard.close()
""",
        dumps,
    )
    assert held[0] <= 2 and held[1] >= 50 and held[2] is True
    assert list(Dump(held[3]).field("obs")[:, 0, 0]) == list(range(50))
