"""What a dump says of the run: member ``run`` of its manifest."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from typing import Any


def describe(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns what is known of this process, with what the caller says on top."""
    run: dict[str, Any] = {
        "command": [sys.executable and os.path.basename(sys.executable), *sys.argv],
        "host": platform.node(),
        "pid": os.getpid(),
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }
    for key, variable in (("rank", "RANK"), ("world_size", "WORLD_SIZE")):  # of torchrun and its kind
        if os.environ.get(variable, "").isdigit():
            run[key] = int(os.environ[variable])
    gpu = _gpu()
    if gpu:
        run["gpu"] = gpu
    run.update(given or {})
    if "git" not in run:
        git = _git(os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv and sys.argv[0] else os.getcwd())
        if git:
            run["git"] = git
    return run


def _gpu() -> str:
    """Returns the name of torch's GPU when torch uses one already; asking does not start CUDA."""
    torch = sys.modules.get("torch")
    try:
        if torch is not None and torch.cuda.is_initialized():
            return str(torch.cuda.get_device_name())
    except Exception:
        pass
    return ""


def _git(folder: str) -> dict[str, Any] | None:
    """Returns commit, branch and dirt of the work tree that the running script is in, None outside of one."""
    commit = _git_says(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    changes = _git_says(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "branch": _git_says(folder, "rev-parse", "--abbrev-ref", "HEAD") or "", "dirty": bool(changes)}


def _git_says(folder: str, *args: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", folder, *args], capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
