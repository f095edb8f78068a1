"""Whoever makes a check, the library in C or the guard in Go, what comes of it is the same.

A program of chance runs twice on the driver that plays a GPU on the host. The second time another
guard has the place that checks in C need, so that all of them go through the guard.
"""

import os

import pytest
from fakegpu import run

SEEDS = int(os.environ.get("NANGUARD_TEST_SEEDS", "2"))

PROGRAM = """
import os, random

ENVS = 8
CLOCKS = {"qpos": "substep", "qvel": "substep", "qacc": "substep", "obs.policy": "step", "reward.a": "step"}
library = ctypes.CDLL(os.environ["NANGUARD_LIBRARY"])
library.ng_repeated.restype = ctypes.c_int64
chance = random.Random(SEED)
streams = [0, device.stream, types.SimpleNamespace(cuda_stream=made("cuStreamCreate", 0))]
places = {}  # arrays by name, and the names of their addresses

class Field:
    def __init__(self, name, clock):
        self.name, self.clock, cols = name, clock, chance.randint(1, 5)
        self.arrays = [Array(ENVS, cols) for _ in range(3)]
        for i, a in enumerate(self.arrays):
            places[a.ptr] = f"{name} at {i}"

def told(v):
    return v and [v.field, v.env, v.col, v.clock, v.count, v.tick, v.number, v.done, v.error]

def tried(f, *args, **named):
    try:
        f(*args, **named)
    except nanguard.NanGuardError as e:
        return e.code

def named(x):
    if isinstance(x, dict):
        return {k: named(v) for k, v in x.items()}
    if isinstance(x, list):
        return [named(v) for v in x]
    return places.get(x, x) if isinstance(x, int) else x

others = [nanguard.Guard(ENVS, sys.argv[1]) for _ in range(CROWD)]
guard = nanguard.Guard(
    ENVS, sys.argv[1], ring_bytes=1 << 20, max_dumps=chance.choice([2, 50]), post_frames=chance.choice([0, 2]), max_frames=40
)
fields = [Field(name, clock) for name, clock in CLOCKS.items()]
log, count, stream = [], 0, chance.choice(streams)

def check(kind, given, stream):
    global count
    count += 1
    for f, i in given:
        f.arrays[i].host[:] = np.sin(np.arange(f.arrays[i].host.size).reshape(f.arrays[i].shape) + count)
    kind(given[0][0].clock, {f.name: f.arrays[i] for f, i in given}, stream=stream)

def kinds():
    for _ in range(chance.randint(1, 4)):
        clock = chance.choice(["substep", "substep", "step"])
        given = [f for f in fields if f.clock == clock]
        yield chance.choice([guard.check, guard.check_same]), chance.sample(given, chance.randint(1, len(given)))

def trip():
    global count
    f, a = chance.choice([(f, f.arrays[0]) for f in fields])
    check(guard.check, [(f, 0)], stream)
    a.host[chance.randrange(ENVS), 0] = np.nan
    for _ in range(4):
        guard.check(f.clock, {f.name: a}, stream=stream)
        log.append(told(guard.wait()))
        a.host[:] = 0
    count += 4

def graph():
    s = made("cuStreamCreate", 0)
    call("cuStreamBeginCapture_v2", s, 0)
    code = tried(check, guard.check, [(f, 0) for f in fields if f.clock == "substep"], s)
    made_of = u64()
    call("cuStreamEndCapture", s, ctypes.byref(made_of))
    x = made("cuGraphInstantiateWithFlags", made_of.value, 0)
    for _ in range(3):
        call("cuGraphLaunch", x, s)
    return code

for turn in range(25):
    loop = list(kinds())
    for _ in range(chance.choice([3, 20])):
        for kind, given in loop:
            check(kind, [(f, chance.choice([0, 0, 0, 1, 2])) for f in given], stream)
    what = chance.choice(["trip", "note", "note", "capture", "capture", "dump", "late", "graph", "stream", "poll"])
    f = chance.choice(fields)
    if what == "trip":
        trip()
    elif what == "note":
        guard.note("dr", "friction")
    elif what == "capture":
        guard.note("graph_capture", "g", detail={"graph": "g", "reads": {f.name: chance.choice(f.arrays)}})
    elif what == "dump":
        log.append(tried(guard.dump, "asked"))
    elif what == "late":
        fields.append(Field(f"reward.late{turn}", "step"))
    elif what == "graph":
        log.append(graph())
    elif what == "stream":
        stream = chance.choice(streams)
    else:
        log.append(told(guard.poll()))
log.append(tried(guard.dump, "end"))
guard.close()
for path in sorted(p for p in os.listdir(sys.argv[1]) if "latest" not in p and p.endswith(".npz")):
    with np.load(os.path.join(sys.argv[1], path), allow_pickle=True) as z:
        manifest = json.loads(bytes(z["_nanguard"]))
        del manifest["run"]
        log.append(named(manifest))
        log.append({n: [z[n].shape, z[n].tobytes().hex()] for n in z.files if not n.startswith("_")})
print(json.dumps([library.ng_repeated(), log]))
"""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_same_comes_of_it(driver, dumps, seed) -> None:
    ((repeated, log),) = run(driver, f"SEED, CROWD = {seed}, 0" + PROGRAM, dumps / "fast")
    ((never, want),) = run(driver, f"SEED, CROWD = {seed}, 16" + PROGRAM, dumps / "slow")
    assert repeated > 20 and never == 0
    assert log == want
