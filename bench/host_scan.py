"""How fast the host scanner is, beside numpy in the same process.

usage: python bench/host_scan.py [--out FILE.json] [--seconds 2]      needs numpy and libnanguard.so ($NANGUARD_LIBRARY)

For frames of 4,096 x 36 (qpos of a humanoid), 4,096 x 120 (a critic's observation) and 64 MB, of each float type:

    numpy       np.isfinite(x).all(); for bfloat16 the same with ml_dtypes where that is installed
    torch       torch.isfinite(x).all() on one thread, where torch is installed
    ours        ng_scan(ref, NULL), the same question through the C ABI
    python      nanguard.all_finite(x), with the array asked for its address each time
    facts       what ng_scan's summary says, in numpy: isfinite, min, max, mean, the row of the largest absolute value
    summary     ng_scan(ref, &summary): all of that, also the counts and the first bad index, in one pass

All run by turns, and the shortest time of each is kept: on a machine with other work the mean says little. All values are
finite, as in a run that is well; first every side must agree on arrays with a bad value. GB/s are of bytes read.
"""

import argparse
import ctypes
import datetime
import importlib
import json
import os
import platform
import time
from pathlib import Path

import numpy as np

import nanguard
from nanguard import _library, _scan

SHAPES = {"4,096 x 36": (4096, 36), "4,096 x 120": (4096, 120), "64 MB": None}
DTYPES = ("float32", "float64", "float16", "bfloat16")


def optional(name):
    """Returns a module, None when it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


torch, ml_dtypes = optional("torch"), optional("ml_dtypes")


class Typed:
    """The bits of bfloat16 values with the interface of an array of them, for machines without ml_dtypes."""

    def __init__(self, bits):
        self.bits, self.dtype = bits, type("bfloat16", (), {"name": "bfloat16"})
        self.__array_interface__ = {**bits.__array_interface__, "typestr": "<V2", "descr": [("", "<V2")]}


def array(dtype, shape):
    """Returns normal values, as numpy (None when it has no such type), as torch (or None), and as nanguard takes them."""
    if shape is None:
        shape = ((64 << 20) // (2 if "16" in dtype else int(dtype[-2:]) // 8) // 64, 64)
    x = np.random.default_rng(1).standard_normal(shape, np.float32)
    if dtype != "bfloat16":
        x = x.astype(dtype)
        return x, torch.from_numpy(x) if torch else None, x
    bits = (x.view(np.uint32) >> 16).astype(np.uint16)
    with_type = bits.view(ml_dtypes.bfloat16) if ml_dtypes else None
    return with_type, torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16) if torch else None, Typed(bits)


def facts(x):
    """Returns of finite values what the summary says of them, in float64 like it."""
    finite = bool(np.isfinite(x).all())
    x = x if x.itemsize > 2 else x.astype(np.float32)  # in which numpy is a hundred times quicker
    low, high = x.argmin(), x.argmax()
    row = min(low, high) if x.flat[low] == -x.flat[high] else low if -x.flat[low] > x.flat[high] else high
    return finite, x.flat[low], x.flat[high], x.mean(dtype=np.float64), row // x.shape[1]


def contenders(dtype, shape):
    """Returns what is timed by name, and the bytes of the array."""
    x, t, ours = array(dtype, shape)
    lib = _library.load()
    ref, _shape, keep = _scan._ref_of(ours)
    summary = _library.Summary(struct_size=ctypes.sizeof(_library.Summary))
    where, to = ctypes.byref(ref), ctypes.byref(summary)
    ways = {
        "ours": lambda: lib.ng_scan(where, None) == 0,
        "python": lambda: nanguard.all_finite(ours),
        "summary": lambda: lib.ng_scan(where, to) == 0,
    }
    if x is not None:
        ways["numpy"] = lambda: bool(np.isfinite(x).all())
        ways["facts"] = lambda: facts(x)[0]
    if t is not None:
        ways["torch"] = lambda: bool(torch.isfinite(t).all())
    agree(ways, ours, x)
    return ways, ref.rows * ref.cols * _library.DTYPES[dtype][1], (ours, x, t, keep)


def agree(ways, ours, x):
    """Ends the run when the sides differ: a wrong answer's time means nothing."""
    bits = ours.bits if isinstance(ours, Typed) else ours.view(f"u{ours.dtype.itemsize}")
    flat = bits.reshape(-1)
    assert all(way() for way in ways.values()), "not finite"
    if x is not None:
        s, (_, low, high, mean, row) = nanguard.scan(ours), facts(x)
        assert (s.min, s.max, s.absmax_row) == (low, high, row) and abs(s.mean - mean) < 1e-9, (s, low, high, mean, row)
    for at in (0, 12345, flat.size - 1):
        was = flat[at]
        flat[at] = ~np.zeros((), flat.dtype)  # a NaN
        assert not any(way() for name, way in ways.items() if name != "facts"), f"the NaN at {at} was not seen by all"
        flat[at] = was


def best(ways, seconds):
    """Returns the shortest time of each, in seconds, all measured by turns."""
    shortest = dict.fromkeys(ways, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, way in ways.items():
            for _ in range(3):
                start = time.perf_counter()
                way()
                shortest[name] = min(shortest[name], time.perf_counter() - start)
    return shortest


def machine():
    """Returns what the numbers depend on."""
    info = {"date": datetime.date.today().isoformat(), "cpu": platform.processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    try:
        with open("/proc/cpuinfo") as f:
            lines = dict(line.split(":", 1) for line in f.read().split("\n\n")[0].splitlines() if ":" in line)
        lines = {k.strip(): v.strip() for k, v in lines.items()}
        flags = lines.get("flags", "").split()
        info["cpu"] = f"{lines.get('model name')} (family {lines.get('cpu family')}, model {lines.get('model')})"
        info["simd"] = [f for f in ("avx2", "f16c", "avx512f") if f in flags]
    except OSError:
        pass
    info["caches"] = caches()
    info |= {"numpy": np.__version__, "torch": torch and torch.__version__, "ml_dtypes": ml_dtypes and ml_dtypes.__version__}
    return info | {"python": platform.python_version(), "nanguard": nanguard.library_version()}


def caches():
    """Returns the sizes of the caches of the first core, such as {"L2": "512K"}."""
    found = {}
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((cache / name).read_text().strip() for name in ("type", "level", "size"))
        if kind != "Instruction":
            found["L" + level] = size
    return found


def table(rows):
    """Returns the rows as a table in Markdown."""
    text = "| type | frame | numpy | torch | ours | times numpy | from Python | numpy, same facts | summary | times the facts |\n"
    text += "|---|---|" + "---:|" * 8 + "\n"
    for r in rows:
        g = r["GB_per_s"]
        cells = [f"{g[name]:.1f}" if name in g else "–" for name in ("numpy", "torch", "ours")]
        cells += [f"**{g['ours'] / g['numpy']:.1f}**" if "numpy" in g else "–", f"{g['python']:.1f}"]
        cells += [f"{g['facts']:.2f}" if "facts" in g else "–", f"{g['summary']:.1f}"]
        cells.append(f"**{g['summary'] / g['facts']:.1f}**" if "facts" in g else "–")
        text += f"| {r['dtype']} | {r['frame']} | " + " | ".join(cells) + " |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--seconds", type=float, default=2, help="for each row")
    args = parser.parse_args()
    if torch:
        torch.set_num_threads(1)
    m = machine()
    print(", ".join(f"{k}: {v}" for k, v in m.items() if v) + "\n")
    rows = []
    for dtype in DTYPES:
        for frame, shape in SHAPES.items():
            ways, size, _keep = contenders(dtype, shape)
            took = best(ways, args.seconds)
            speeds = {name: round(size / t / 1e9, 3) for name, t in took.items()}
            rows.append({"dtype": dtype, "frame": frame, "bytes": size, "us": {k: round(t * 1e6, 2) for k, t in took.items()}, "GB_per_s": speeds})
    print(table(rows))
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"machine": m, "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
