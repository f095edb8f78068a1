"""A failing and a clean run of real mjlab training, from the first env step to the diagnosis: one JSON.

usage: PYTHONPATH=SITE:python python bench/mjlab_end_to_end.py [--envs 4096] [--device cuda:0] [--out results.json]

$NANGUARD_BINARY names the nanguard command (default: the one on the PATH). Each run is
examples/mjlab_plain.py in a process of its own:

    stiff, in graphs        the fault of the contacts, physics checked inside of mjlab's CUDA graphs
    stiff, captured anew    the same, with the graphs made again as expand_model_fields does it
    stiff, without graphs   the same, with a check after each substep from Python
    clean                   --clean iterations without a fault: no trip, and what memory and handles do

On a CPU there are no graphs, and the first two go through the same hooks in Python.
"""

import argparse
import datetime
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
WARM = 5  # iterations before the memory is looked at first
RUNS = {
    "stiff, in graphs": ["--fault", "stiff", "--graph"],
    "stiff, captured anew": ["--fault", "stiff", "--graph", "--anew"],
    "stiff, without graphs": ["--fault", "stiff", "--no-graph"],
    "clean": ["--fault", "none", "--graph"],
}


class Times(logging.Handler):
    """What the guard's log said, and when."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.said = []

    def emit(self, record):
        self.said.append((time.time(), record.levelname, record.getMessage()))

    def first(self, words):
        return next((t for t, _, text in self.said if words in text), None)


def memory(device):
    """What this process holds now."""
    import torch

    with open("/proc/self/statm") as f:
        rss = int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    now = {"rss_mb": rss / 1e6, "handles": len(os.listdir("/proc/self/fd")), "threads": len(os.listdir("/proc/self/task"))}
    if device != "cpu":
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        now.update(gpu_used_mb=(total - free) / 1e6, torch_reserved_mb=torch.cuda.memory_reserved() / 1e6)
    return now


def child(args):
    """One run of the example; writes what was seen to args.report."""
    sys.path.insert(0, os.path.join(HERE, "..", "examples"))
    import mjlab_plain

    times, seen = Times(), {"iteration": 0, "memory": []}
    logging.getLogger("nanguard").addHandler(times)
    logging.getLogger("nanguard").setLevel(logging.INFO)
    watch = mjlab_plain.watch

    def watched(guard, env, runner, graph):
        watch(guard, env, runner, graph)
        seen["graph"] = bool(graph and env.sim.step_graph is not None)
        if args.anew:
            env.sim.create_graph()

        def updated(_):
            seen["iteration"] += 1
            if seen["iteration"] in (WARM, args.iterations):
                seen["memory"].append(memory(args.device))

        mjlab_plain.after(runner.alg, "update", updated)
        seen["began"], seen["sim"], seen["guard"] = time.time(), env.sim, guard

    mjlab_plain.watch = watched
    graph = "--graph" if args.graph else "--no-graph"
    sys.argv = ["mjlab_plain.py", "--fault", args.fault, graph, "--device", args.device, "--out", args.dumps]
    sys.argv += ["--envs", str(args.envs), "--iterations", str(args.iterations)]
    ended = "without an exception"
    try:
        mjlab_plain.main()
    except Exception as e:
        traceback.print_exc()
        ended = f"{type(e).__name__}: {e}"
    report = {"ended": ended, "iterations_done": seen["iteration"], "graph": seen.get("graph"), "seconds": time.time() - seen.get("began", time.time())}
    report["log"] = [f"{level}: {text}" for _, level, text in times.said if not text.startswith("ring")]
    report["plan"] = next((text for _, _, text in times.said if text.startswith("ring")), None)
    if args.fault == "none":
        report["memory_after_iterations"] = dict(zip((WARM, args.iterations), seen["memory"]))
    tripped = times.first("tripped")
    if tripped:
        report.update(bad_envs_now=bad_envs(seen["sim"]), trip_seen_after_s=tripped - seen["began"])
        latest = os.path.join(args.dumps, "nan_dump_latest.npz")
        if os.path.exists(latest):
            file = os.stat(latest)
            report.update(trip_to_file_s=file.st_mtime - tripped, bytes=file.st_size)
    with open(args.report, "w") as f:
        json.dump(report, f)


def bad_envs(sim):
    """The envs whose state is not finite now, as the simulation itself has it; the first 20."""
    import torch

    bad = ~(torch.isfinite(sim.data.qpos[:]).all(-1) & torch.isfinite(sim.data.qvel[:]).all(-1))
    return bad.nonzero().flatten().tolist()[:20]


def diagnosis(dumps):
    """What the nanguard command says of the latest dump."""
    latest = os.path.join(dumps, "nan_dump_latest.npz")
    if not os.path.exists(latest):
        return None
    binary = os.environ.get("NANGUARD_BINARY") or shutil.which("nanguard")
    if not binary:
        return {"error": "no nanguard command: let $NANGUARD_BINARY name it"}
    done = subprocess.run([binary, "diagnose", "--json", latest], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return {"error": done.stderr.strip()}
    d = json.loads(done.stdout)
    cause = d["causes"][0]
    keep = ("field", "env", "column", "tick", "clock", "count", "class")
    return {
        "verdict": d["verdict"],
        "probability": cause["probability"],
        "coverage": d["coverage"],
        "first_bad": {k: (d.get("first_bad") or {}).get(k) for k in keep},
        "root": {k: (d.get("root") or {}).get(k) for k in keep},
        "evidence": [e["text"] for e in cause["evidence"]],
    }


def play(name, flags, args):
    """Returns what came of one run."""
    folder = tempfile.mkdtemp(prefix="nanguard-end-to-end-")
    dumps, report = os.path.join(folder, "dumps"), os.path.join(folder, "report.json")
    iterations = args.clean if name == "clean" else args.iterations
    command = [sys.executable, os.path.abspath(__file__), "--child", *flags, "--device", args.device, "--envs", str(args.envs)]
    command += ["--iterations", str(iterations), "--dumps", dumps, "--report", report]
    t = time.time()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = {"wall_s": time.time() - t, "exit": done.returncode}
    if not os.path.exists(report):
        return {**out, "error": done.stdout[-3000:]}
    with open(report) as f:
        out.update(json.load(f))
    out["diagnosis"] = diagnosis(dumps)
    if name == "clean":
        out["dumps"] = os.listdir(dumps) if os.path.exists(dumps) else []
        words = ("error", "warning", "traceback", "nanguard")
        lines = [line for line in done.stdout.splitlines() if any(w in line.lower() for w in words)]
        out["lines_with_such_words"] = list(dict.fromkeys(lines))[:20]
    shutil.rmtree(folder, ignore_errors=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--iterations", type=int, default=10, help="of a failing run, at most")
    parser.add_argument("--clean", type=int, default=200, help="iterations of the clean run")
    parser.add_argument("--only", nargs="+", choices=list(RUNS), default=list(RUNS))
    parser.add_argument("--out")
    for name in ("--child", "--anew", "--graph"):
        parser.add_argument(name, action="store_true", help=argparse.SUPPRESS)
    for name in ("--no-graph", "--fault", "--dumps", "--report"):
        parser.add_argument(name, help=argparse.SUPPRESS, **({"dest": "graph", "action": "store_false"} if name == "--no-graph" else {}))
    args = parser.parse_args()
    if args.child:
        child(args)
        return
    result = {"date": datetime.date.today().isoformat(), "device": args.device, "envs": args.envs, "runs": {}}
    for name in args.only:
        result["runs"][name] = play(name, RUNS[name], args)
        print(f"{name}: {result['runs'][name].get('diagnosis')}", file=sys.stderr, flush=True)
    print(json.dumps(result, indent=1))
    if args.out:
        with open(args.out, "w") as f:
            json.dump(result, f, indent=1)


if __name__ == "__main__":
    main()
