"""Faults that a guard must survive without taking the run along."""

import gc
import os
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest
from conftest import ENVS, REPO, Dump

import nanguard

NAN = float("nan")


def resident_kb() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def test_an_array_freed_between_checks(dumps) -> None:
    """The guard keeps no array alive, and never reads one that it was not just given."""
    with nanguard.Guard(ENVS, dumps) as guard:
        x = np.zeros((ENVS, 4))
        guard.check(obs=x)
        gone = weakref.ref(x)
        del x
        gc.collect()
        assert gone() is None
        for _i in range(50):  # other arrays take the place
            guard.check(obs=np.zeros((ENVS, 4)))
            guard.check(obs=np.zeros((4, ENVS)).T)
        assert guard.poll() is None


def test_memory_that_its_owner_gave_back(dumps, tmp_path, open_dump) -> None:
    """A mapped file that became shorter: reading it is SIGBUS, and the run must go on."""
    path = tmp_path / "mapped"
    path.write_bytes(bytes(1 << 20))
    x = np.memmap(path, np.float32, "r+", shape=(ENVS, (1 << 18) // ENVS))
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=x, reward=np.zeros(ENVS))
        os.truncate(path, 0)
        with pytest.raises(nanguard.NanGuardError, match="the guard is off") as e:
            guard.check(obs=x, reward=np.zeros(ENVS))
        assert e.value.code == "off"
        with pytest.raises(nanguard.NanGuardError, match="the guard is off"):
            guard.check(reward=np.zeros(ENVS))
        d = open_dump(guard.dump("what is left"))
    assert d.field("reward").shape[0] == 1
    assert "the guard is off" in d.events("warning")[0]["detail"]


def test_trips_while_dumping(dumps) -> None:
    """Checks go on while a dump is written, bad ones too, and the next dump is whole."""
    x, bad = np.random.default_rng(1).normal(size=(2, 64, 2000))
    bad[7, 3] = NAN
    with nanguard.Guard(64, dumps, max_dumps=3, ring_bytes=64 << 20) as guard:
        for _ in range(60):
            guard.check(obs=x)
        t = time.monotonic()
        n = 0
        guard.check(obs=bad)
        while not guard.poll().done and time.monotonic() - t < 30:
            guard.check(obs=bad)
            n += 1
        assert guard.poll().done and not guard.poll().error
        for _ in range(3):
            guard.check(obs=bad)
            guard.wait()
    assert n > 0, "the dump was written before a check could be made"
    written = sorted(dumps.glob("nan_dump_2*.npz"))
    assert len(written) == 3
    for path in written:
        assert Dump(path).manifest["trip"]["env"] == 7


def test_a_full_disk(tmp_path) -> None:
    """A file system of a few blocks: the verdict says so, nothing half-written stays, the run goes on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("only root can mount a small file system")
    try:
        noise = np.random.default_rng(1)
        guard = nanguard.Guard(ENVS, disk / "dumps", max_dumps=1)
        for _ in range(50):
            x = noise.normal(size=(ENVS, 500))
            guard.check(obs=x)
        x[0, 0] = NAN
        guard.check(obs=x)
        v = guard.wait()
        assert v.done and not v.path and "no space left" in v.error
        assert list((disk / "dumps").iterdir()) == []
        for _ in range(5):
            guard.check(obs=x)
        with pytest.raises(nanguard.NanGuardError, match="no space left") as e:
            guard.dump("again")
        assert e.value.code == "write"
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert Dump(guard.dump("there is room now")).manifest["trip"]["col"] == 0
        guard.close()
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def test_a_folder_that_cannot_be_made(tmp_path) -> None:
    (tmp_path / "file").write_text("in the way")
    guard = nanguard.Guard(ENVS, tmp_path / "file" / "dumps")
    guard.check(reward=np.full(ENVS, NAN))
    assert "not a directory" in guard.wait().error
    with pytest.raises(nanguard.NanGuardError, match="not a directory"):
        guard.close()
    guard.close()  # closed all the same


def test_the_block_s_own_result_counts_more_than_the_dump(tmp_path, caplog) -> None:
    (tmp_path / "file").write_text("in the way")
    with nanguard.Guard(ENVS, tmp_path / "file" / "dumps") as guard:
        guard.check(reward=np.full(ENVS, NAN))
    assert "not a directory" in caplog.text


def test_a_folder_removed_under_way(dumps) -> None:
    x = np.zeros(ENVS)
    with nanguard.Guard(ENVS, dumps, max_dumps=2) as guard:
        guard.check(reward=x)
        guard.dump("first")
        for path in dumps.iterdir():
            path.unlink()
        dumps.rmdir()
        x[1] = NAN
        guard.check(reward=x)
        assert Dump(guard.wait().path).manifest["trip"]["env"] == 1


KILLED = """
import sys, os, numpy as np, nanguard
x = np.random.default_rng(1).normal(size=(64, 4000))
guard = nanguard.Guard(64, sys.argv[1], max_envs=20)
for _ in range(100): guard.check(obs=x)
x[3, 1] = float("nan")
guard.check(obs=x)
print("dumping", flush=True)
guard.wait()
print("done", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("after_ms", [0, 5, 20, 60, 150, 400, None])
def test_killed_during_the_dump(dumps, after_ms) -> None:
    """Whatever the moment: a whole file or none."""
    env = {**os.environ, "PYTHONPATH": str(REPO / "python")}
    with subprocess.Popen([sys.executable, "-c", KILLED, str(dumps)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as p:
        assert p.stdout.readline() == b"dumping\n"
        if after_ms is None:
            assert p.stdout.readline() == b"done\n"
        else:
            time.sleep(after_ms / 1000)
        p.kill()
    found = list(dumps.glob("nan_dump_*.npz")) if dumps.exists() else []
    for path in found:
        d = Dump(path)
        assert d.field("obs").shape[0] >= 90 and d.manifest["trip"]["env"] == 3
    if after_ms is None:
        assert len(found) == 2  # the dump and the link to it


def test_many_checks_take_no_more_memory(dumps) -> None:
    kept = np.zeros((ENVS, 3), np.float32)
    with nanguard.Guard(ENVS, dumps, ring_bytes=1 << 16, trace_len=100) as guard:

        def some(n: int) -> None:
            for _ in range(n):
                guard.check(
                    "step", {"obs": kept, "reward": np.zeros(ENVS, np.float32), "reward.part": np.zeros((ENVS, 2), np.float32)[:, 0]}
                )
                guard.log(kl=0.1, value_loss=2)
                guard.poll()

        some(3000)
        gc.collect()
        before = resident_kb()
        some(30_000)
        gc.collect()
        assert resident_kb() - before < 3000
        assert len(guard._plans) == 2


def test_guards_that_come_and_go_take_no_more_memory(tmp_path) -> None:
    def some(n: int) -> None:
        for _ in range(n):
            guard = nanguard.Guard(ENVS, tmp_path, ring_bytes=1 << 20, run={"git": {"commit": "", "branch": "", "dirty": False}})
            guard.check(reward=np.zeros(ENVS))
            del guard

    some(50)
    gc.collect()
    before = resident_kb()
    some(300)
    gc.collect()
    assert resident_kb() - before < 8000
