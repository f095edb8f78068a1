"""Checks that the library makes again without entering Go, on the driver that plays a GPU on the host.

How many there are is not certain: the guard looks around ten times a second, and a check that
comes meanwhile goes through it.
"""

import pytest
from conftest import Dump
from fakegpu import run

LOOP = """
import os, threading

library = ctypes.CDLL(os.environ["NANGUARD_LIBRARY"])
library.ng_repeated.restype = ctypes.c_int64
repeated = library.ng_repeated
a, b, c = Array(8, 3), Array(8, 3), Array(8, 2)

def say(*what):
    print(json.dumps(what))

def told(v):
    return v and [v.field, v.env, v.col, v.clock, v.count, v.tick]
"""


@pytest.mark.parametrize("stream", ["0", "device.stream"])
def test_counts_are_those_of_all_checks(driver, dumps, stream) -> None:
    """Ticks and counts go on whoever makes a check, and so do events, wherever the fields are."""
    (saved, trip, after, path) = run(
        driver,
        LOOP
        + f"stream = {stream}"
        + """
guard = nanguard.Guard(8, sys.argv[1], max_dumps=3)
for i in range(1000):
    guard.check("substep", qvel=(a, b)[i % 2], stream=stream)
    guard.check_same("substep", qacc=c, stream=stream)
    if i % 10 == 9:
        guard.check("step", obs=b, stream=stream)
    if i == 500:
        guard.note("dr", "friction")
say(repeated())
b.host[6, 1] = np.nan
for i in range(2):
    guard.check("substep", qvel=(a, b)[i % 2], stream=stream)
v = guard.wait()
say(*told(v))
b.host[:] = 0
before = repeated()
for i in range(50):
    guard.check("substep", qvel=a, stream=stream)
more = repeated() - before
c.host[3, 0] = -np.inf
guard.check_same("substep", qacc=c, stream=stream)
say(more, *told(guard.wait()))
say(v.path)
guard.close()
""",
        dumps,
    )
    assert saved[0] > 200
    assert trip == ["qvel", 6, 1, "substep", 1002, 2102]
    assert after[0] > 5 and after[1:] == ["qacc", 3, 0, "substep", 1052, 2153]
    d = Dump(path[0])
    assert [e["tick"] for e in d.events("dr")] == [501 * 2 + 50]
    counts = d.field("qvel.count")
    assert len(d.field("qvel")) == 1000 and list(counts) == list(range(3, 1003))


def test_what_is_new_goes_through_the_guard(driver, dumps) -> None:
    """Another shape, field, stream, memory or a freed address is never taken for the check that it resembles."""
    said = run(
        driver,
        LOOP
        + """
guard = nanguard.Guard(8, sys.argv[1])
def checks(n=20, **what):
    before = repeated()
    for _ in range(n):
        guard.check("substep", **what)
    return repeated() - before
say("same", checks(qvel=a))
say("elsewhere", checks(qvel=b))
try: checks(qvel=c)
except nanguard.NanGuardError as e: say("shape", e.code)
say("late field", checks(1, qvel=a, qacc=c), checks(qvel=a, qacc=c))
say("host", checks(qvel=a, ctrl=np.zeros((8, 2), np.float32)))
say("stream", checks(1, qvel=a, stream=0), checks(20, qvel=a, stream=0), checks(1, qvel=a))
before = repeated()
call("cuStreamBeginCapture_v2", device.stream.cuda_stream, 0)
guard.check("substep", qvel=a, stream=device.stream)
call("cuStreamEndCapture", device.stream.cuda_stream, ctypes.byref(u64()))
say("capture", repeated() - before)
a.ptr += 4
say("unaligned", checks(1, qvel=a))
guard.close()
try: checks(qvel=a)
except nanguard.NanGuardError as e: say("closed", e.code)
""",
        dumps,
    )
    got = {name: rest for name, *rest in said}
    assert got["same"][0] > 2 and got["elsewhere"][0] > 2
    assert got["shape"] == ["changed"]
    assert got["late field"][0] == 0 and got["late field"][1] > 2
    assert got["host"] == [0]
    assert got["stream"][0] == got["stream"][2] == 0 and got["stream"][1] > 2
    assert got["capture"] == [0] and got["unaligned"] == [0]
    assert got["closed"] == ["handle"]


def test_a_move_of_what_a_graph_reads_is_seen(driver, dumps) -> None:
    (path,) = run(
        driver,
        LOOP
        + """
guard = nanguard.Guard(8, sys.argv[1])
for _ in range(5):
    guard.check("substep", qvel=a)
guard.note("graph_capture", "step", detail={"graph": "step", "reads": {"qvel": a}})
for i in range(10):
    guard.check("substep", qvel=a if i < 7 else b)
assert repeated() > 2
say(guard.dump())
guard.close()
""",
        dumps,
    )
    (moved,) = Dump(path[0]).events("buffer_moved")
    assert moved["name"] == "qvel" and moved["tick"] == 13


def test_a_field_is_where_its_latest_check_was(driver, dumps) -> None:
    """Two kinds of checks may have the same field at two places; a graph is looked after by where it was last."""
    (path,) = run(
        driver,
        LOOP
        + """
guard = nanguard.Guard(8, sys.argv[1])
for i in range(50):
    if i > 0:
        guard.check("substep", qvel=b, qacc=c)
    guard.check("substep", qvel=a)
    if i == 0:
        guard.check("substep", qvel=b, qacc=c)
assert repeated() > 50
guard.note("graph_capture", "step", detail={"graph": "step", "reads": {"qvel": a}})
guard.check("substep", qvel=b, qacc=c)
say(guard.dump())
guard.close()
""",
        dumps,
    )
    (moved,) = Dump(path[0]).events("buffer_moved")
    assert moved["name"] == "qvel" and moved["tick"] == 101


def test_a_run_goes_on_as_quickly_after_its_last_dump(driver, dumps) -> None:
    (more, v, code) = run(
        driver,
        LOOP
        + """
guard = nanguard.Guard(8, sys.argv[1])
a.host[2, 0] = np.nan
guard.check("substep", qvel=a)
v = guard.wait()
for i in range(100):
    guard.check("substep", qvel=a)
say(repeated())
say(*told(guard.wait()))
try: guard.dump()
except nanguard.NanGuardError as e: say(e.code)
guard.close()
""",
        dumps,
    )
    assert more[0] > 50
    assert v == ["qvel", 2, 0, "substep", 1, 1] and code == ["no_dumps"]


@pytest.mark.parametrize("for_ever", [False, True])
def test_a_mark_that_could_not_be_recorded(driver, dumps, for_ever) -> None:
    """Whoever asks the guard next makes up for it, and when that cannot be, the next check says so."""
    (codes, path) = run(
        driver,
        LOOP
        + f"for_ever = {for_ever}"
        + """
guard = nanguard.Guard(8, sys.argv[1])
for i in range(20):
    guard.check("substep", qvel=a)
codes = []
cu.ng_marks(999)
before = repeated()
while repeated() == before and not codes:
    try: guard.check("substep", qvel=a)
    except nanguard.NanGuardError as e: codes.append(e.code)
if not for_ever: cu.ng_marks(0)
guard.poll()
for i in range(2):
    try: guard.check("substep", qvel=a, stream=0)
    except nanguard.NanGuardError as e: codes.append(e.code)
cu.ng_marks(0)
say(codes)
say(guard.dump())
guard.close()
""",
        dumps,
    )
    assert codes[0] == (["off"] * 2 if for_ever else [])
    assert len(Dump(path[0]).field("qvel")) == (21 if for_ever else 23)


def test_threads_and_guards(driver, dumps) -> None:
    """No check is lost when several threads check, look and note, and guards come and go."""
    said = run(
        driver,
        LOOP
        + """
for turn in range(6):
    guard = nanguard.Guard(8, sys.argv[1] + str(turn), max_dumps=2)
    other = nanguard.Guard(8, sys.argv[1] + str(turn) + "o")
    def work(i):
        call("cuCtxPushCurrent_v2", context)
        for k in range(200):
            guard.check("substep", qvel=a)
            other.check("substep", qvel=b)
            if k % (20 + i) == 0:
                guard.poll()
                guard.note("note", "n")
                other.fact("k", k)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for t in threads: t.start()
    for t in threads: t.join()
    if turn % 3 == 0:
        a.host[1, 1] = np.nan
        for _ in range(2): guard.check("substep", qvel=a)
        say(*told(guard.wait()))
        a.host[:] = 0
    guard.close()
    other.close()
say(repeated())
""",
        dumps,
    )
    assert said[:-1] == [["qvel", 1, 1, "substep", 601, 601]] * 2
    assert said[-1][0] > 200
