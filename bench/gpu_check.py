"""What a check costs on a GPU, ours beside what people do today, in one run.

usage: python bench/gpu_check.py [--out results.json] [--envs 256 4096 16384 65536]      needs torch and a CUDA GPU

The fields are the 14 of a 29-dof humanoid task. For each number of envs it measures the
GPU time of one check (CUDA events over many, so launch gaps count in eager mode) and the
host time (the wall time of the calls alone, enqueued behind a kernel that keeps the GPU
busy, so that nothing can hide in a wait):

    eager       guard.check from Python, with capture into the ring
    graph       the same check inside a torch CUDA graph, replayed
    mjlab       the algorithm of mjlab's guard: clone qpos and qvel, isnan|isinf any over five fields, one bool sync
    isfinite    torch.isfinite(x).all() for each field, no sync
    compiled    torch.compile of isfinite().all() over all fields

A wait is shown directly: the call is made while the GPU sleeps, and must return long before.
"""

import argparse
import datetime
import json
import statistics
import tempfile
import time

import torch

import nanguard

FIELDS = {
    "qpos": 36, "qvel": 35, "qacc": 35, "qacc_warmstart": 35, "sensordata": 60, "ctrl": 29, "obs.policy": 99, "obs.critic": 120,
    "reward": 1, "reward.terms": 16, "log_prob": 1, "policy.mean": 29, "policy.std": 29, "value": 1,
}  # fmt: skip
MJLAB = ("qpos", "qvel", "qacc", "qacc_warmstart", "sensordata")
BUSY = 20_000_000  # cycles of the kernel that keeps the GPU busy, about 10 ms


def arrays(envs):
    return {name: torch.randn(envs, cols, device="cuda") for name, cols in FIELDS.items()}


def gpu_us(call, n=200, rounds=7):
    """Median over rounds of the GPU time of one call, in microseconds."""
    took = []
    for _ in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(n):
            call()
        end.record()
        end.synchronize()
        took.append(start.elapsed_time(end) * 1e3 / n)
    return statistics.median(took)


def host_us(call, n=100, rounds=7, busy=True):
    """Median over rounds of the time that a call takes of the host, in microseconds."""
    took = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        if busy:
            torch.cuda._sleep(BUSY)
        t = time.perf_counter()
        for _ in range(n):
            call()
        took.append((time.perf_counter() - t) * 1e6 / n)
        torch.cuda.synchronize()
    return statistics.median(took)


def waits(call):
    """How long one call takes while the GPU is asleep for longer, in microseconds, and whether it waited."""
    call()
    torch.cuda.synchronize()
    torch.cuda._sleep(20 * BUSY)
    t = time.perf_counter()
    call()
    took = (time.perf_counter() - t) * 1e6
    still_busy = not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    return took, not still_busy


def graph_of(call):
    """A CUDA graph of the call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def contenders(x, guard):
    """The ways to check, by name."""

    def mjlab():
        x["qpos"].clone(), x["qvel"].clone()
        bad = torch.zeros(x["qpos"].shape[0], dtype=torch.bool, device="cuda")
        for name in MJLAB:
            bad |= torch.any(torch.isnan(x[name]) | torch.isinf(x[name]), dim=-1)
        return bool(bad.any())

    def isfinite():
        for v in x.values():
            torch.isfinite(v).all()

    fused = torch.compile(lambda *vs: torch.stack([torch.isfinite(v).all() for v in vs]).all())
    vs = list(x.values())
    return {"eager": lambda: guard.check("substep", x), "mjlab": mjlab, "isfinite": isfinite, "compiled": lambda: fused(*vs)}


def measure(envs, ring):
    x = arrays(envs)
    row = {"envs": envs, "bytes": sum(v.numel() * v.element_size() for v in x.values())}
    with nanguard.Guard(envs, tempfile.mkdtemp(), device="cuda:0", ring_bytes=ring, trace_len=1000) as guard:
        for name, v in x.items():
            guard.bind(name, v, clock="substep", stage="physics" if name == "reward.terms" else None)
        ways = contenders(x, guard)
        for name, call in ways.items():
            for _ in range(20):
                call()
            row[name] = {"gpu_us": gpu_us(call), "host_us": host_us(call, n=20 if name == "mjlab" else 100, busy=name != "mjlab")}
            row[name]["single_us"], row[name]["waits"] = waits(call)
        graph = graph_of(ways["eager"])
        row["graph"] = {"gpu_us": gpu_us(graph.replay, n=1000), "host_us": host_us(graph.replay)}
        row["graph"]["single_us"], row["graph"]["waits"] = waits(graph.replay)
        assert guard.poll() is None, "random numbers are finite"
        moved = 2 * row["bytes"] / (row["graph"]["gpu_us"] * 1e-6) / 1e12
        row["read_write_TB_s"] = moved
        row["plan"] = guard.plan()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--envs", type=int, nargs="+", default=[256, 4096, 16384, 65536])
    parser.add_argument("--ring", type=int, default=4 << 30)
    args = parser.parse_args()
    machine = {"date": datetime.date.today().isoformat(), "gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
               "driver": torch._C._cuda_getDriverVersion() if hasattr(torch._C, "_cuda_getDriverVersion") else None}  # fmt: skip
    rows = [measure(n, args.ring) for n in args.envs]
    for r in rows:
        print(f"{r['envs']} envs, {r['bytes'] / 1e6:.1f} MB; graph moves {r['read_write_TB_s']:.2f} TB/s read + write; {r['plan'][:160]}")
        for name in ("graph", "eager", "mjlab", "isfinite", "compiled"):
            w = r[name]
            print(f"  {name:9} GPU {w['gpu_us']:9.2f} us   host {w['host_us']:9.2f} us   while busy {w['single_us']:10.1f} us, {'WAITS' if w['waits'] else 'returns at once'}")
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"machine": machine, "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
