"""What guarding costs a real mjlab training run: off, mjlab's own guard and ours, in one process.

usage: PYTHONPATH=SITE:python python bench/mjlab_cost.py [--seconds 240] [--out results.json]      needs mjlab 1.6 and a CUDA GPU

Velocity-Flat-Unitree-Go1, 4,096 envs, PPO. The work changes as the policy learns, so each
block starts from the same snapshot: parameters, optimizer, normalizer, seeds, and an env
that was reset with the seed. Blocks of the three sides follow each other in a rotating order
and are compared with the block of "off" of the same round. Beside that, the guard's own
time: GPU time between CUDA events around its calls, and host time of the calls, summed over
a run, as a share of it.
"""

import argparse
import contextlib
import copy
import datetime
import io
import json
import math
import os
import statistics as st
import sys
import tempfile
import time
from dataclasses import asdict

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

TASK, BLOCK = "Mjlab-Velocity-Flat-Unitree-Go1", 6


class Switch:
    """A guard that can be turned off, and that measures itself when asked to."""

    def __init__(self, guard):
        self.guard, self.on, self.timing = guard, False, False
        self.host, self.calls, self.events = 0.0, 0, []

    def _call(self, method, *args, **kwargs):
        if not self.on:
            return
        if not self.timing:
            method(*args, **kwargs)
            return
        if not torch.cuda.is_available():
            t = time.perf_counter()
            method(*args, **kwargs)
            self.host, self.calls = self.host + time.perf_counter() - t, self.calls + 1
            return
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        t = time.perf_counter()
        method(*args, **kwargs)
        self.host += time.perf_counter() - t
        end.record()
        self.calls += 1
        self.events.append((start, end))

    def bind(self, *args, **kwargs):
        self.guard.bind(*args, **kwargs)

    def check(self, *args, **kwargs):
        self._call(self.guard.check, *args, **kwargs)

    def check_same(self, *args, **kwargs):
        self._call(self.guard.check_same, *args, **kwargs)

    def log(self, *args, **kwargs):
        self._call(self.guard.log, *args, **kwargs)

    def gpu(self):
        synchronize()
        return sum(a.elapsed_time(b) for a, b in self.events) / 1e3


def snapshot(runner):
    return copy.deepcopy({"actor": runner.alg.actor.state_dict(), "critic": runner.alg.critic.state_dict(), "opt": runner.alg.optimizer.state_dict()})


def restore(runner, env, saved):
    torch.manual_seed(7)
    with torch.inference_mode():  # where the normalizer's and the env's buffers were made
        runner.alg.actor.load_state_dict(saved["actor"])
        runner.alg.critic.load_state_dict(saved["critic"])
        env.reset(seed=7)
    runner.alg.optimizer.load_state_dict(copy.deepcopy(saved["opt"]))


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds(runner, iterations):
    synchronize()
    t = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        runner.learn(iterations)
    synchronize()
    return (time.perf_counter() - t) / iterations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out")
    args = parser.parse_args()
    cfg, rl = load_env_cfg(TASK), load_rl_cfg(TASK)
    cfg.scene.num_envs = args.envs
    cfg.sim.nan_guard.enabled = True
    cfg.sim.nan_guard.output_dir = tempfile.mkdtemp()
    env = ManagerBasedRlEnv(cfg, device=args.device)
    runner = MjlabOnPolicyRunner(RslRlVecEnvWrapper(env, clip_actions=rl.clip_actions), asdict(rl), None, args.device)
    own = env.sim.nan_guard
    with nanguard.Guard(args.envs, tempfile.mkdtemp(), device=args.device) as guard:
        ours = Switch(guard)
        mjlab_plain.watch(ours, env, runner)
        own.enabled, ours.on = True, True
        seconds(runner, 2)
        own.enabled, ours.on = False, False
        seconds(runner, 8)  # warm up
        saved = snapshot(runner)
        sides = {"off": (False, False), "mjlab": (True, False), "nanguard": (False, True)}
        took, order = {name: [] for name in sides}, list(sides)
        end = time.time() + args.seconds
        while time.time() < end:
            for name in order:
                own.enabled, ours.on = sides[name]
                restore(runner, env, saved)
                took[name].append(seconds(runner, BLOCK))
            order = order[1:] + order[:1]
        own.enabled, ours.on, ours.timing = False, True, True
        restore(runner, env, saved)
        run = seconds(runner, BLOCK) * BLOCK
        result = {
            "date": datetime.date.today().isoformat(), "gpu": torch.cuda.get_device_name(0) if "cuda" in args.device else "cpu", "torch": torch.__version__,
            "task": TASK, "envs": args.envs, "iterations_a_block": BLOCK, "rounds": len(took["off"]),
            "iteration_s": {name: st.median(t) for name, t in took.items()},
            "plan": guard.plan(), "tripped": str(guard.poll()),
            "share": {"run_s": run, "calls": ours.calls, "gpu_s": ours.gpu(), "host_s": ours.host,
                      "gpu_share": ours.gpu() / run, "host_share": ours.host / run, "host_us_a_call": ours.host / max(1, ours.calls) * 1e6},
        }  # fmt: skip
        for name in ("mjlab", "nanguard"):
            slow = [b / a - 1 for a, b in zip(took["off"], took[name])]
            result[f"slowdown_{name}"] = {"mean": st.mean(slow), "standard_error": st.pstdev(slow) / math.sqrt(len(slow)), "median": st.median(slow)}
    print(json.dumps(result, indent=1))
    if args.out:
        with open(args.out, "w") as f:
            json.dump(result, f, indent=1)


if __name__ == "__main__":
    main()
