"""What the tests share: the library, the nanguard binary, dumps opened by numpy."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "python"))

ENVS = 8


def built(out: Path, *flags: str, package: str, cgo: str) -> str:
    """Builds a Go program or library of the checkout."""
    missing = [tool for tool in ("go", "gcc") if shutil.which(tool) is None]
    if missing:
        pytest.exit(f"{' and '.join(missing)} not found: the tests build {package}, or let $NANGUARD_LIBRARY name the library", 2)
    subprocess.run(["go", "build", *flags, "-o", str(out), package], cwd=REPO, check=True, env={**os.environ, "CGO_ENABLED": cgo})
    return str(out)


@pytest.fixture(scope="session", autouse=True)
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of libnanguard.so: $NANGUARD_LIBRARY, else built from the checkout."""
    named = os.environ.get("NANGUARD_LIBRARY")
    if not named:
        out = tmp_path_factory.mktemp("lib") / "libnanguard.so"
        named = built(out, "-buildmode=c-shared", package="./cabi", cgo="1")
        os.environ["NANGUARD_LIBRARY"] = named
    return named


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of the nanguard command: $NANGUARD_BINARY, else built from the checkout."""
    named = os.environ.get("NANGUARD_BINARY")
    if not named and shutil.which("go") is None:
        pytest.skip("no go to build the nanguard command with, and no $NANGUARD_BINARY")
    return named or built(tmp_path_factory.mktemp("bin") / "nanguard", package="./cmd/nanguard", cgo="0")


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a libcuda.so.1 that needs no GPU."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler to build the driver with that plays a GPU")
    folder = tmp_path_factory.mktemp("driver")
    command = [
        "c++",
        "-std=c++17",
        "-O2",
        "-shared",
        "-fPIC",
        "-DNG_HOST",
        "-ffp-contract=off",
        "-w",
        "-I",
        str(REPO / "detect" / "scan" / "kernel"),
    ]
    source = REPO / "internal" / "cuda" / "cudatest" / "fake" / "driver.cc"
    subprocess.run([*command, "-o", str(folder / "libcuda.so.1"), str(source)], check=True)
    return folder


class Dump:
    """A dump as numpy sees it, with its manifest."""

    def __init__(self, path: Any) -> None:
        self.path = str(path)
        with np.load(self.path, allow_pickle=True) as z:
            self.arrays: dict[str, Any] = {name: z[name] for name in z.files}
        self.manifest = json.loads(bytes(self.arrays["_nanguard"]))
        self.metadata = self.arrays["_metadata"].item()

    def field(self, name: str) -> Any:
        return self.arrays["field." + name]

    def spec(self, name: str) -> dict[str, Any]:
        return next(f for f in self.manifest["fields"] if f["name"] == name)

    def events(self, kind: str) -> list:
        return [e for e in self.manifest["events"] if e["kind"] == kind]


@pytest.fixture
def open_dump() -> Any:
    return Dump


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """A folder for dumps that does not exist yet."""
    return tmp_path / "dumps"


def python(code: str, *args: str, timeout: float = 60, **env: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python code in a process of its own."""
    path = os.pathsep.join([str(REPO / "python"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=timeout, env={**os.environ, "PYTHONPATH": path, **env}
    )


def diagnosis(binary: str, path: str) -> dict[str, Any]:
    """Returns what the nanguard command says of a dump; it exits with 3 when it found something."""
    done = subprocess.run([binary, "diagnose", "--json", path], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)
