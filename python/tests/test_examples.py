"""The examples, run as a user would, and what the nanguard command says of their dumps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPO, diagnosis

pytest.importorskip("torch", reason="torch is not installed")

CAUSES = {"stiff": "contact-divergence", "reward": "reward-overflow", "std": "policy-std"}


def run(script: str, *args: str, out: Path) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PYTHONPATH": str(REPO / "python"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(REPO / "examples" / script), "--device", "cpu", "--out", str(out), *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)


@pytest.mark.parametrize("fault", CAUSES)
def test_ppo_torch(dumps: Path, binary: str, fault: str) -> None:
    done = run("ppo_torch.py", "--fault", fault, out=dumps)
    assert done.returncode != 0
    assert diagnosis(binary, str(dumps / "nan_dump_latest.npz"))["verdict"] == CAUSES[fault], done.stderr


def test_ppo_torch_clean(dumps: Path) -> None:
    done = run("ppo_torch.py", "--iterations", "20", out=dumps)
    assert done.returncode == 0 and not dumps.exists(), done.stderr


long = pytest.mark.skipif(not os.environ.get("NANGUARD_LONG"), reason="a minute or more: asked for by $NANGUARD_LONG")


RUNS = [("stiff", "--graph"), ("reward", "--no-graph"), ("stiff", "--no-graph"), ("reward", "--graph"), ("std", "--no-graph")]


@pytest.mark.parametrize("fault,graph", [*RUNS[:2], *(pytest.param(*run, marks=long) for run in RUNS[2:])])
def test_mjlab_plain(dumps: Path, binary: str, fault: str, graph: str) -> None:
    """With --graph the functions are hooked that mjlab captures on a GPU; here they run as they are."""
    pytest.importorskip("mjlab", reason="mjlab is not installed")
    done = run("mjlab_plain.py", "--fault", fault, graph, out=dumps)
    assert diagnosis(binary, str(dumps / "nan_dump_latest.npz"))["verdict"] == CAUSES[fault], done.stderr


def test_mjlab_plain_clean(dumps: Path) -> None:
    pytest.importorskip("mjlab", reason="mjlab is not installed")
    done = run("mjlab_plain.py", "--iterations", "2", "--graph", out=dumps)
    assert done.returncode == 0 and not dumps.exists(), done.stderr
