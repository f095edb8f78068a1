"""The examples, run as a user would, and what the nanguard command says of their dumps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPO, diagnosis

pytest.importorskip("torch", reason="torch is not installed")


def run(script: str, *args: str, out: Path) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PYTHONPATH": str(REPO / "python"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(REPO / "examples" / script), "--device", "cpu", "--out", str(out), *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)


CAUSES = {"stiff": "contact-divergence", "reward": "reward-overflow", "std": "policy-std"}


@pytest.mark.parametrize("fault", CAUSES)
def test_ppo_torch(dumps: Path, binary: str, fault: str) -> None:
    done = run("ppo_torch.py", "--fault", fault, out=dumps)
    assert done.returncode != 0
    assert diagnosis(binary, str(dumps / "nan_dump_latest.npz"))["verdict"] == CAUSES[fault], done.stderr


def test_ppo_torch_clean(dumps: Path) -> None:
    done = run("ppo_torch.py", "--iterations", "20", out=dumps)
    assert done.returncode == 0 and not dumps.exists(), done.stderr


@pytest.mark.skipif(not os.environ.get("NANGUARD_LONG"), reason="a minute each: asked for by $NANGUARD_LONG")
@pytest.mark.parametrize("fault", ["none", *CAUSES])
def test_mjlab_plain(dumps: Path, binary: str, fault: str) -> None:
    pytest.importorskip("mjlab", reason="mjlab is not installed")
    done = run("mjlab_plain.py", "--fault", fault, out=dumps)
    if fault == "none":
        assert done.returncode == 0 and not dumps.exists(), done.stderr
        return
    assert diagnosis(binary, str(dumps / "nan_dump_latest.npz"))["verdict"] == CAUSES[fault], done.stderr
