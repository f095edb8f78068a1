"""What guarding costs a real mjlab training run: off, mjlab's own guard and ours, in one process.

usage: PYTHONPATH=SITE:python python bench/mjlab_cost.py [--seconds 230] [--out results.json]      needs mjlab 1.6 and a CUDA GPU

Velocity-Flat-Unitree-Go1, 4,096 envs, PPO. The work changes as the policy learns, so each
block of --iterations starts from the same snapshot: parameters, optimizer, normalizer,
seeds, and an env that was reset with the seed. A round of a side is off, side, side, off,
which cancels a drift, and gives one number: how much longer its two blocks took.

    graph   examples/mjlab_plain.py as it is: physics checked inside of mjlab's CUDA graphs
    eager   the same with --no-graph: Python makes a check after each substep
    mjlab   mjlab's own guard

"off" is the run without a trace of the others: their hooks are taken out, the graphs are
those without checks. Beside the blocks, for one iteration of a side of ours: the time of
the guard's own kernels by the profiler's records, and the host time of its calls (those of
the steps also by themselves: physics, observations, rewards and policy; the others are of
the learner), of all that the example's hooks do, and in blocks of their own of a small launch
of torch's right before each call, as a share of an iteration.
"""

import argparse
import contextlib
import copy
import datetime
import gc
import io
import json
import math
import os
import statistics as st
import sys
import tempfile
import time
from dataclasses import asdict

BEGAN = time.time()
os.environ.setdefault("MUJOCO_GL", "disable")

import torch
import warp as wp

wp.config.quiet = True
import mjlab.tasks  # noqa: F401  registers the tasks
from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl import MjlabOnPolicyRunner, RslRlVecEnvWrapper
from mjlab.tasks.registry import load_env_cfg, load_rl_cfg

import nanguard

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import mjlab_plain

TASK = "Mjlab-Velocity-Flat-Unitree-Go1"
RARE = 5  # a side other than the first has a round in so many
KERNELS = ("ng_check", "ng_control", "ng_flush")  # of detect/scan/kernel/scan.cu
CALLS = ("check", "check_same", "log")  # of the guard
GRAPHS = ("step_graph", "forward_graph", "reset_graph", "sense_graph")


class Off:
    """A side that changes nothing. A side is put in and taken out again."""

    def put_in(self, timed=False):
        pass

    def take_out(self):
        pass


class Mjlabs(Off):
    """mjlab's own guard."""

    def __init__(self, env):
        self.own = env.sim.nan_guard
        self.own.enabled = False

    def put_in(self, timed=False):
        self.own.enabled = True

    def take_out(self):
        self.own.enabled = False


class Stopwatch:
    """The seconds that calls took, one by one, by method and clock; or those of a launch in their places."""

    def __init__(self, launch):
        self.launch, self.instead = launch, False
        self.seconds, self.launches = {}, []

    def around(self, name, call):
        def timed(*args, **kwargs):
            if self.instead:
                t = time.perf_counter()
                self.launch()
                self.launches.append(time.perf_counter() - t)
                return call(*args, **kwargs)
            of = " ".join([name, *(x for x in args[:1] if isinstance(x, str)), *(["deferred"] if kwargs.get("defer") else [])])
            t = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self.seconds.setdefault(of, []).append(time.perf_counter() - t)

        return timed


class Ours(Off):
    """What the example's watch() does to a run, to be done and undone."""

    def __init__(self, guard, env, runner, graph):
        self.guard, self.sim, self.terms = guard, env.sim, env.reward_manager._term_cfgs
        small = torch.zeros(1, device=env.device)
        self.calls, self.hooks = Stopwatch(lambda: small.add_(1)), Stopwatch(None)
        self.patches = []  # owner, name, what stands in its own dict, what is to stand there, the same with a stopwatch
        before, self.funcs = self.graphs(), [[t.func for t in self.terms]]
        self.bind, self.check, self.check_same, self.log = guard.bind, guard.check, guard.check_same, guard.log
        mjlab_plain.after = self.after
        mjlab_plain.watch(self, env, runner, graph)
        self.funcs.append([t.func for t in self.terms])
        self.plain, self.captured = before, self.graphs()
        self.take_out()

    def after(self, owner, name, seen):
        """mjlab_plain.after, remembered."""
        own = vars(owner).get(name)
        method = getattr(owner, name)

        def wrapper(seen):
            def wrapped(*args, **kwargs):
                result = method(*args, **kwargs)
                seen(result, *args)
                return result

            return wrapped

        self.patches.append((owner, name, own, wrapper(seen), wrapper(self.hooks.around(name, seen))))
        setattr(owner, name, self.patches[-1][3])

    def graphs(self):
        return {name: getattr(self.sim, name) for name in GRAPHS}

    def put_in(self, timed=False):
        for owner, name, _, wrapped, clocked in self.patches:
            setattr(owner, name, clocked if timed else wrapped)
        self.exchange(self.captured, self.funcs[1])
        for name in CALLS:
            call = getattr(self.guard, name)
            setattr(self, name, self.calls.around(name, call) if timed else call)

    def take_out(self):
        for owner, name, own, *_ in reversed(self.patches):
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)
        self.exchange(self.plain, self.funcs[0])

    def exchange(self, graphs, funcs):
        for name, graph in graphs.items():
            setattr(self.sim, name, graph)
        for term, func in zip(self.terms, funcs):
            term.func = func


class Run:
    """The training run, from its snapshot."""

    def __init__(self, args):
        self.cuda, self.iterations = "cuda" in args.device, args.iterations
        cfg, rl = load_env_cfg(TASK), load_rl_cfg(TASK)
        cfg.scene.num_envs = args.envs
        cfg.sim.nan_guard.enabled = True
        cfg.sim.nan_guard.output_dir = tempfile.mkdtemp()
        self.env = ManagerBasedRlEnv(cfg, device=args.device)
        self.runner = MjlabOnPolicyRunner(RslRlVecEnvWrapper(self.env, clip_actions=rl.clip_actions), asdict(rl), None, args.device)

    def snapshot(self):
        alg = self.runner.alg
        self.saved = copy.deepcopy({"actor": alg.actor.state_dict(), "critic": alg.critic.state_dict(), "opt": alg.optimizer.state_dict()})

    def restore(self):
        alg = self.runner.alg
        torch.manual_seed(7)
        with torch.inference_mode():  # where the normalizer's and the env's buffers were made
            alg.actor.load_state_dict(self.saved["actor"])
            alg.critic.load_state_dict(self.saved["critic"])
            with contextlib.redirect_stdout(io.StringIO()):
                self.env.reset(seed=7)
        alg.optimizer.load_state_dict(copy.deepcopy(self.saved["opt"]))

    def synchronize(self):
        if self.cuda:
            torch.cuda.synchronize()

    def learn(self, iterations):
        """Returns the seconds that some iterations took."""
        gc.collect()
        self.synchronize()
        t = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            self.runner.learn(iterations)
        self.synchronize()
        return time.perf_counter() - t

    def block(self, side, timed=False):
        """Returns the seconds of an iteration in a block of a side."""
        side.put_in(timed)
        try:
            self.restore()
            return self.learn(self.iterations) / self.iterations
        finally:
            side.take_out()


def rounds(run, sides, end):
    """Plays rounds until the time is up; returns for each side the seconds (off, side, side, off) of its rounds."""
    took = {name: [] for name in sides}
    off, n, longest = Off(), 0, 0.0
    while True:
        for i, (name, side) in enumerate(sides.items()):
            if i and n % RARE:
                continue
            t = time.time()
            if t + longest > end and took[name]:
                return took
            took[name].append([run.block(s) for s in (off, side, side, off)])
            longest = max(longest, time.time() - t)
        n += 1


def tail(z):
    """Returns how likely a normal number is to be as far from 0 as z."""
    return math.erfc(abs(z) / math.sqrt(2))


def compared(quartets):
    """Returns how much longer a side took than off: one number a round, and what they say together."""
    slow = sorted((b + c) / (a + d) - 1 for a, b, c, d in quartets)
    n = len(slow)
    out = {"rounds": n, "mean": st.mean(slow), "median": st.median(slow)}
    if n < 5:
        return out
    se = st.stdev(slow) / math.sqrt(n)
    k = max(0, int(n / 2 - 0.98 * math.sqrt(n)))  # the median lies between these two with about 95 %
    ranks = sorted(range(n), key=lambda i: abs(slow[i]))
    positive = sum(r + 1 for r, i in enumerate(ranks) if slow[i] > 0)
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    out.update(
        standard_error=se, median_from=slow[k], median_to=slow[n - 1 - k], t=st.mean(slow) / se if se else 0.0,
        wilcoxon_p=tail((positive - n * (n + 1) / 4) / spread), slower_in=sum(s > 0 for s in slow), all=slow,
    )  # fmt: skip
    return out


def kernels(run, side):
    """Returns time and number of the guard's kernels in one block, by the profiler's records."""
    from torch.profiler import ProfilerActivity, profile

    side.put_in()
    try:
        run.restore()
        run.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as p:
            run.learn(run.iterations)
        found, total, seconds = {}, 0, 0.0
        for e in p.profiler.kineto_results.events():
            if "cuda" not in str(e.device_type()).lower():
                continue
            total, seconds = total + 1, seconds + e.duration_ns() * 1e-9
            name = next((k for k in KERNELS if k in e.name()), None)
            if name:
                count, ns = found.get(name, (0, 0))
                found[name] = (count + 1, ns + e.duration_ns())
        of_guard = {name: {"count": count, "us": ns / 1e3, "us_each": ns / 1e3 / count} for name, (count, ns) in found.items()}
        return {"kernels": of_guard, "gpu_s": sum(ns for _, ns in found.values()) * 1e-9, "records": total, "records_s": seconds}
    except Exception as e:  # a machine without CUPTI: the rest counts all the same
        return {"error": f"{type(e).__name__}: {e}"}
    finally:
        side.take_out()


def shares(run, side, iteration):
    """Returns what a side of ours takes of the host for itself, per iteration and as a share of one.

    "launch" is torch adding 1 to one number right before each call, in blocks of its own,
    for it leaves the driver's code in the caches.
    """
    blocks = 4 * run.iterations
    run.block(side, timed=True)
    for watch in (side.calls, side.hooks):
        watch.seconds.clear()
    took = [run.block(side, timed=True) for _ in range(4)]

    def of(seconds):
        us = sorted(s * 1e6 for s in seconds)
        return {
            "count": len(us) / blocks, "us_each": st.mean(us), "us_median": st.median(us), "us_worst": us[-3:],
            "host_share": sum(us) / 1e6 / blocks / iteration,
        }  # fmt: skip

    calls = {name: of(s) for name, s in side.calls.seconds.items()}
    every = [s for of_one in side.calls.seconds.values() for s in of_one]
    stepped = [s for name, of_one in side.calls.seconds.items() for s in of_one if "step" in name]
    hooks = [s for of_one in side.hooks.seconds.values() for s in of_one]
    side.calls.instead = True
    for _ in range(4):
        run.block(side, timed=True)
    side.calls.instead = False
    return {
        "timed_iteration_s": st.median(took), "calls": calls, "all_calls": of(every), "calls_of_steps": of(stepped),
        "hooks": of(hooks), "launch": of(side.calls.launches),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=230, help="wall time of it all")
    parser.add_argument("--reserve", type=float, default=45, help="of these, for the guard's own time")
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--iterations", type=int, default=1, help="of a block")
    parser.add_argument("--sides", nargs="+", default=["graph", "eager", "mjlab"], help=f"the first in each round, the others in every {RARE}th")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out")
    args = parser.parse_args()
    run = Run(args)
    with contextlib.ExitStack() as stack:

        def ours(graph):
            guard = stack.enter_context(nanguard.Guard(args.envs, tempfile.mkdtemp(), device=args.device))
            return Ours(guard, run.env, run.runner, graph)

        known = {"graph": lambda: ours(True), "eager": lambda: ours(False), "mjlab": lambda: Mjlabs(run.env)}
        run.env.sim.nan_guard.enabled = False
        sides = {name: known[name]() for name in args.sides}
        run.learn(8)
        run.snapshot()
        for side in sides.values():  # warm up
            run.block(side)
        ready = time.time() - BEGAN
        took = rounds(run, sides, BEGAN + args.seconds - args.reserve)
        off = st.median(s for quartets in took.values() for q in quartets for s in (q[0], q[3]))
        ours_of = {n: s for n, s in sides.items() if isinstance(s, Ours)}
        result = {
            "date": datetime.date.today().isoformat(), "gpu": torch.cuda.get_device_name(0) if run.cuda else "cpu", "torch": torch.__version__,
            "task": TASK, "envs": args.envs, "iterations_a_block": args.iterations, "start_up_s": ready,
            "iteration_s": {"off": off, **{n: st.median(s for q in took[n] for s in q[1:3]) for n in sides}},
            "slower": {n: compared(took[n]) for n in sides},
            "own": {n: shares(run, s, off) for n, s in ours_of.items()},
            "plan": {n: s.guard.plan() for n, s in ours_of.items()},
            "tripped": {n: str(s.guard.poll()) for n, s in ours_of.items()},
        }  # fmt: skip
        save(result, args.out)
        for name, side in ours_of.items() if run.cuda else ():  # last: a profiler may take the process along
            of_gpu = kernels(run, side)
            if "gpu_s" in of_gpu:
                of_gpu["gpu_share"] = of_gpu["gpu_s"] / run.iterations / off
            result["own"][name]["profiler"] = of_gpu
        result["wall_s"] = time.time() - BEGAN
        save(result, args.out)
        print(json.dumps(result, indent=1))


def save(result, path):
    if path:
        with open(path, "w") as f:
            json.dump(result, f, indent=1)


if __name__ == "__main__":
    main()
