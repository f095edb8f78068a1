"""The guard on a GPU, from torch, CuPy and JAX. All of it is skipped where there is none."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import Dump

import nanguard

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

ENVS = 512
NAN = float("nan")


def zeros(*shape: int, **options) -> "torch.Tensor":
    return torch.zeros(*shape, device="cuda", **options)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_first_bad_value(dumps, dtype) -> None:
    x, reward = zeros(ENVS, 7, dtype=getattr(torch, dtype)), zeros(ENVS)
    with nanguard.Guard(ENVS, dumps, device="cuda:0") as guard:
        for i in range(5):
            x.fill_(i)
            guard.check(obs=x, reward=reward)
        x[400, 3] = -float("inf")
        guard.check(obs=x, reward=reward)
        v = guard.wait()
    assert (v.field, v.env, v.col, v.value, v.tick, v.count) == ("obs", 400, 3, "neginf", 6, 6)
    d = Dump(v.path)
    assert d.manifest["env_ids"][0] == 400
    frames = d.field("obs")[:, -1, 0]
    if dtype == "bfloat16":
        frames = (frames.astype(np.uint32) << 16).view(np.float32)
    assert list(frames) == [0, 1, 2, 3, 4, 4]


def test_views_fresh_tensors_and_numbers_of_the_host(dumps) -> None:
    base = torch.full((2 * ENVS, 9), NAN, device="cuda")
    rows = base[::2, 1:8:3]
    rows.zero_()
    cube = zeros(ENVS, 4, 6)[:, :3, ::2]
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(20):
            guard.check("step", {"obs.rows": rows, "obs.fresh": zeros(ENVS, 3) + i, "obs.cube": cube, "obs.wide": zeros(5, ENVS).t()})
            guard.log(value_loss=zeros(()) + i, policy_loss=float(i), kl=zeros(1)[0], lr=1e-3)
        assert guard.wait() is None
        guard.log(value_loss=zeros(()), policy_loss=NAN, kl=zeros(()), lr=1e-3)
        v = guard.wait()
    assert (v.field, v.env) == ("loss.policy", None)
    d = Dump(v.path)
    assert (d.field("obs.fresh")[:, 0, 0] == np.arange(20 - len(d.field("obs.fresh")), 20)).all()
    assert list(d.field("loss.value")[-3:, 0]) == [18, 19, 0]


def test_nobody_waits_for_a_check(dumps) -> None:
    """Checks behind a second of work return at once, and see what that work made."""
    x, poison = zeros(ENVS, 4), zeros(ENVS, 4)
    x += poison  # the first launch of a kernel loads it, for which CUDA waits
    torch.cuda._sleep(1000)
    poison[3, 2] = NAN
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=x)
        guard.check(obs=x)
        torch.cuda.synchronize()
        torch.cuda._sleep(2_000_000_000)
        x += poison
        t = time.perf_counter()
        for _ in range(10):
            guard.check(obs=x)
        took = time.perf_counter() - t
        busy = not torch.cuda.current_stream().query()
        assert busy and guard.poll() is None
        assert took < 0.02
        assert (guard.wait().env, guard.wait().tick) == (3, 3)


def test_the_stream_of_torch_is_followed(dumps) -> None:
    side = torch.cuda.Stream()
    x = zeros(ENVS, 4)
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=x)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(200_000_000)
            x[7, 1] = NAN
            guard.check(obs=x)
        v = guard.wait()
    assert (v.env, v.col, v.tick) == (7, 1, 2)


def test_in_a_graph(dumps) -> None:
    x, step = zeros(ENVS, 4), zeros(())
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check("substep", qvel=x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step += 1
            x[9, 2] = torch.where(step > 50, NAN, step)
            guard.check("substep", qvel=x)
        for _ in range(100):
            graph.replay()
        v = guard.wait()
        del graph
    assert (v.field, v.env, v.col, v.count) == ("qvel", 9, 2, 52)
    d = Dump(v.path)
    assert list(d.field("qvel")[-4:-1, 0, 2]) == [48, 49, 50]
    assert d.events("graph_capture")


def test_in_a_graph_of_warp(dumps) -> None:
    """As mjlab captures its physics: on Warp's own stream, and anew when arrays were replaced, with torch beside it."""
    wp = pytest.importorskip("warp", reason="Warp is not installed")
    with nanguard.Guard(ENVS, dumps) as guard, wp.ScopedDevice("cuda:0"):
        ahead = wp.zeros((ENVS, 4), dtype=wp.float32)

        def captured(x):
            guard.check_same("substep", qvel=x)
            with wp.ScopedCapture() as capture:
                wp.copy(x, ahead)
                guard.check("substep", qvel=x)
            return capture.graph

        x = wp.zeros((ENVS, 4), dtype=wp.float32)
        graph = captured(x)
        for i in range(1, 61):
            if i == 25:
                old, x = x, wp.zeros((ENVS, 4), dtype=wp.float32)
                graph = captured(x)
                old.fill_(NAN)
            ahead.fill_(NAN if i == 50 else float(i))
            wp.capture_launch(graph)
            if i % 4 == 0:
                guard.check(reward=zeros(ENVS) + i)
        v = guard.wait()
        wp.synchronize()
        del graph
    assert (v.field, v.env, v.col, v.clock, v.count) == ("qvel", 0, 0, "substep", 50)
    d = Dump(v.path)
    assert list(d.field("qvel")[-11:-1, 0, 0]) == list(range(40, 50))
    assert list(d.field("reward")[-3:, 0, 0]) == [40, 44, 48]


def test_tensors_freed_right_behind_the_check(dumps) -> None:
    """Memory that goes back to torch's allocator is used again in stream order only."""
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=zeros(ENVS, 1024))
        for _ in range(300):
            guard.check(obs=zeros(ENVS, 1024))
            torch.full((ENVS, 1024), NAN, device="cuda")
        assert guard.wait() is None


def test_cupy(dumps) -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    x = cupy.zeros((ENVS, 4), cupy.float32)
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=x)
        x[5, 1] = NAN
        guard.check(obs=x)
        assert (guard.wait().env, guard.wait().col) == (5, 1)


def test_jax(dumps) -> None:
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    with nanguard.Guard(ENVS, dumps) as guard:
        x = jnp.zeros((ENVS, 4), jnp.bfloat16)
        if "cuda" not in str(x.devices()).lower():
            pytest.skip(f"JAX is on {x.devices()}")
        guard.check(obs=x)
        y = x.at[6, 3].set(NAN)
        guard.check(obs=y)
        assert (guard.wait().env, guard.wait().col) == (6, 3)


def test_the_layers_of_a_module(dumps) -> None:
    policy = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ELU(), torch.nn.Linear(8, 2)).cuda()
    with nanguard.Guard(ENVS, dumps) as guard:
        watch = guard.watch_module(policy)
        for i in range(4):
            if i == 3:
                with torch.no_grad():
                    policy[2].bias[1] = float("inf")
            policy(torch.ones(ENVS, 4, device="cuda"))
            guard.check(obs=zeros(ENVS, 4))
        v = guard.wait()
        guard.check(obs=zeros(ENVS, 4))
    assert (v.field, v.label) == ("policy.layers.out", "2 Linear")
    assert watch.first_bad.layer == "2 Linear" and 0 < watch.first_bad.input_absmax < 100


def test_an_exception_leaves_a_dump(dumps) -> None:
    with pytest.raises(RuntimeError):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(obs=zeros(ENVS, 4))
            raise RuntimeError("out of luck")
    (path,) = dumps.glob("nan_dump_2*.npz")
    assert Dump(path).field("obs").shape[0] == 1


def test_a_host_s_array_is_another_field_than_a_gpu_s(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=zeros(ENVS, 4))
        with pytest.raises(nanguard.NanGuardError) as e:
            guard.check(obs=torch.zeros(ENVS, 4))
        assert e.value.code == "changed"
        guard.check(obs=zeros(ENVS, 4))
        assert guard.wait() is None


def test_the_cost(dumps, capsys) -> None:
    """14 fields of a humanoid task at 4,096 envs: host time of a check, printed and bounded."""
    widths = {"qpos": 36, "qvel": 35, "qacc": 35, "qacc_warmstart": 35, "sensordata": 60, "ctrl": 29, "obs.policy": 99, "obs.critic": 120}
    widths.update({"reward": 1, "reward.terms": 16, "log_prob": 1, "policy.mean": 29, "policy.std": 29, "value": 1})
    with nanguard.Guard(4096, dumps) as guard:
        fields = {name: zeros(4096, n) for name, n in widths.items()}
        guard.check("step", fields)
        torch.cuda.synchronize()
        best = float("inf")
        for _ in range(30):
            t = time.perf_counter()
            for _ in range(20):
                guard.check("step", fields)
            best = min(best, (time.perf_counter() - t) / 20)
            torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(500):
            guard.check("step", fields)
        end.record()
        torch.cuda.synchronize()
    together = start.elapsed_time(end) * 2
    with capsys.disabled():
        print(f"\n{torch.cuda.get_device_name()}: 14 fields x 4096 envs: {best * 1e6:.1f} us of host, {together:.1f} us back to back")
    assert best < 50e-6


def test_many_checks(dumps, capsys) -> None:
    """No memory, no handle more, and not one check lost, through graphs, streams and fresh tensors; $NANGUARD_TEST_CHECKS says how many."""
    n = int(os.environ.get("NANGUARD_TEST_CHECKS", "20000")) // 2
    side = torch.cuda.Stream()
    x, big = zeros(ENVS, 3), zeros(4096, 12)

    def use() -> "tuple[int, int, int]":
        torch.cuda.synchronize()
        status = Path("/proc/self/status").read_text()
        rss = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
        return rss, len(os.listdir("/proc/self/fd")), torch.cuda.mem_get_info()[0]

    with nanguard.Guard(ENVS, dumps, ring_bytes=64 << 20) as guard:

        def turn(i: int) -> None:
            guard.check(obs=x, reward=zeros(ENVS) if i % 100 == 0 else big[0:1, 0].expand(ENVS))
            if i % 5000 == 0:
                with torch.cuda.stream(side):
                    guard.check_same(obs=x)
            else:
                guard.check_same(obs=x)

        for i in range(n // 10):
            turn(i)
        before, began = use(), time.perf_counter()
        for i in range(n // 10, n):
            turn(i)
        took, after = time.perf_counter() - began, use()
        x[7, 2] = NAN
        guard.check(obs=x)
        v = guard.wait()
    assert (v.field, v.env, v.tick, v.count) == ("obs", 7, 2 * n + 1, n + 1)
    assert after[0] - before[0] < 2000 and after[1] == before[1] and before[2] - after[2] < 4 << 20
    with capsys.disabled():
        grown = f"{after[0] - before[0]:+} kB, {after[1] - before[1]:+} handles"
        print(f"\n{2 * n} checks: {took / (1.8 * n) * 1e6:.1f} us each; {grown}")
