"""A simulation on the driver that plays a GPU on the host, for tests that run in a process of their own.

It is built as mjlab's is: a module with a function step, captured by create_graph(),
which is called again when arrays were replaced.
"""

import json
from pathlib import Path

from conftest import python

SIM = '''
import ctypes, json, sys, types
import numpy as np
import nanguard

cu = ctypes.CDLL("libcuda.so.1")
u64 = ctypes.c_uint64

def call(name, *args):
    code = getattr(cu, name)(*[u64(a) if isinstance(a, int) else a for a in args])
    assert code == 0, (name, code)

def made(name, *args):
    out = u64()
    call(name, ctypes.byref(out), *args)
    return out.value

call("cuInit", 0)
context = made("cuDevicePrimaryCtxRetain", 0)
call("cuCtxPushCurrent_v2", context)

class Device:
    ordinal = 0
    class stream:
        cuda_stream = made("cuStreamCreate", 0)

device = Device()
warp = types.ModuleType("warp")
warp.get_stream = lambda d: d.stream
sys.modules["warp"] = warp

class Array:
    """An array as Warp has it; .host is its memory."""
    __module__ = "warp"
    dtype = np.float32

    def __init__(self, *shape):
        self.shape, self.device = shape, device
        self.host = np.zeros(shape, np.float32)
        self.strides, self.bytes = self.host.strides, self.host.nbytes
        self.ptr = made("cuMemAlloc_v2", self.bytes)
        self.host = np.ctypeslib.as_array((ctypes.c_float * self.host.size).from_address(self.ptr)).reshape(shape)
        self.host[:] = 0

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.ptr, False), "shape": self.shape, "strides": self.strides, "typestr": "<f4", "version": 2}

class Engine:
    """The module with the physics: a step copies what comes next."""
    def step(self, data):
        call("cuMemcpyHtoDAsync_v2", data.qpos.ptr, data.next.ctypes.data, data.qpos.bytes, device.stream.cuda_stream)
        call("cuMemcpyHtoDAsync_v2", data.qvel.ptr, data.next.ctypes.data, data.qvel.bytes, device.stream.cuda_stream)

engine = Engine()

class Sim:
    def __init__(self, envs):
        self.data = types.SimpleNamespace(qpos=Array(envs, 3), qvel=Array(envs, 3), next=np.zeros((envs, 3), np.float32))
        self.create_graph()

    def create_graph(self):
        call("cuStreamBeginCapture_v2", device.stream.cuda_stream, 0)
        engine.step(self.data)
        graph = u64()
        call("cuStreamEndCapture", device.stream.cuda_stream, ctypes.byref(graph))
        self.graph = made("cuGraphInstantiateWithFlags", graph.value, 0)

    def step(self):
        call("cuGraphLaunch", self.graph, device.stream.cuda_stream)

def after(owner, name, seen):
    method = getattr(owner, name)
    def wrapped(*args):
        method(*args)
        seen(*args)
    setattr(owner, name, wrapped)
'''


def run(driver: Path, code: str, dumps: Path) -> list:
    done = python(SIM + code, str(dumps), LD_LIBRARY_PATH=str(driver))
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
