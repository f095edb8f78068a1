"""What a check costs in Python: the marshalling apart from the library's call. Needs torch, no GPU.

usage: NANGUARD_LIBRARY=... PYTHONPATH=python python bench/python_call.py [--out results.json]

Each check is given tensors that it never saw, as a training loop makes them, of 8 envs, so
that the scan of their elements counts little. In microseconds of this thread's time on the
CPU, which a busy machine disturbs less than time by the clock; the smallest of many rounds:

    whole     guard.check(...)
    marshal   finding out where the arrays are, and writing it down for the library
    library   the call into the library through ctypes, with scan, ring and trace
    rest      whole less these: the plan for these names, the lock, the arguments

marshal + rest is what Python costs. Where the framework has DLPack's C exchange for all of
them, whole makes one call of the other two, and rest can be less than nothing. On
a GPU the library's part is a launch instead of a scan.

A loop that works for a while between two calls finds the call's code and data out of the
caches: "after_work" is the median time by the clock of a check of one field, and of a call of
C that does nothing (getpid), each after so many milliseconds of other work in Python.
"""

import argparse
import ctypes
import datetime
import json
import platform
import statistics
import tempfile
import time

import numpy as np
import torch

import nanguard

ENVS, SETS = 8, 64


class StandIn:
    """A tensor behind another object, as mjlab's TorchArray is one."""

    def __init__(self):
        self._tensor = torch.zeros(ENVS, 3)

    def __getattr__(self, name):
        return getattr(self._tensor, name)


def fresh(n):
    return lambda: {f"obs.x{i}": torch.zeros(ENVS, 3) for i in range(n)}


def mixed():
    """17 arrays of a loop: fresh tensors, stand-ins and numpy arrays that stay, numbers."""
    stay = {f"obs.s{i}": StandIn() for i in range(4)}
    stay.update({f"obs.n{i}": np.zeros((ENVS, 3), np.float32) for i in range(2)})
    return lambda: {**fresh(9)(), **stay, "lr": 1e-3, "kl": 0.01}


def best(call, rounds):
    """The smallest time of a call over rounds, in microseconds."""
    took = []
    for _ in range(rounds):
        t = time.thread_time()
        call()
        took.append(time.thread_time() - t)
    return min(took) / SETS * 1e6


def measure(make, rounds):
    with nanguard.Guard(ENVS, tempfile.mkdtemp(), ring_bytes=1 << 20, trace_len=100) as guard:
        sets = [make() for _ in range(SETS)]
        for arrays in sets[:5]:
            guard.check("step", arrays)
        (plan,) = guard._plans.values()
        given, call = [tuple(arrays.values()) for arrays in sets], guard._lib.ng_check

        def whole():
            for arrays in sets:
                guard.check("step", arrays)

        def marshal():
            for arrays in given:
                plan.fill(arrays)

        def library():
            for _ in sets:
                call(*plan.args, None)

        us = {f.__name__: best(f, rounds) for f in (whole, marshal, library)}
    return {**us, "rest": us["whole"] - us["marshal"] - us["library"]}


def after_work(ms, n=150):
    """Median times by the clock of a check and of getpid after so many milliseconds of other work, in microseconds."""
    x, big, nothing = np.zeros((ENVS, 4), np.float32), np.zeros(1 << 20), ctypes.CDLL(None).getpid
    with nanguard.Guard(ENVS, tempfile.mkdtemp()) as guard:
        took = {"check": [], "getpid": []}
        for _ in range(n):
            for name, call in (("check", lambda: guard.check("step", {"obs.x": x})), ("getpid", nothing)):
                end = time.perf_counter() + ms / 1e3
                while time.perf_counter() < end:
                    big.sum()
                    json.loads(json.dumps({"a": [1, 2, 3] * 30}))
                t = time.perf_counter()
                call()
                took[name].append(time.perf_counter() - t)
    return {name: statistics.median(t) * 1e6 for name, t in took.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--out")
    args = parser.parse_args()
    torch.set_num_threads(1)
    cases = {"14 fresh tensors": fresh(14), "17 fresh tensors": fresh(17), "17 of several kinds": mixed()}
    result = {
        "date": datetime.date.today().isoformat(), "machine": f"{platform.machine()}, {cpu()}", "python": platform.python_version(),
        "torch": torch.__version__, "exchange": hasattr(torch.Tensor, "__dlpack_c_exchange_api__"),
        "us": {name: measure(make, args.rounds) for name, make in cases.items()},
        "after_work_us": {f"{ms} ms": after_work(ms) for ms in (0, 1, 10)},
    }  # fmt: skip
    print(json.dumps(result, indent=1))
    if args.out:
        with open(args.out, "w") as f:
            json.dump(result, f, indent=1)


def cpu():
    with open("/proc/cpuinfo") as f:
        return next((line.split(":")[1].strip() for line in f if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
