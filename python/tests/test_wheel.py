"""The wheel: built by pip through our own backend, installed, and used without a checkout."""

import base64
import csv
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import REPO


def pip(*args: str, **env: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", *args]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, library: str) -> Path:
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("no pip in this Python")
    out = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-index", "--no-deps", "-w", str(out), str(REPO / "python"), NANGUARD_LIBRARY=str(Path(library).resolve()))
    (path,) = out.glob("*.whl")
    return path


def test_what_is_in_it(wheel: Path, library: str) -> None:
    with zipfile.ZipFile(wheel) as z:
        names = z.namelist()
        assert {n.split("/")[0] for n in names} == {"nanguard", re.sub(r"-py3.*", ".dist-info", wheel.name)}
        sources = {p.name for p in (REPO / "python" / "nanguard").glob("*.py")}
        assert sources <= {n.split("/")[1] for n in names if n.startswith("nanguard/")}
        assert z.read("nanguard/libnanguard.so") == Path(library).read_bytes()
        assert "nanguard/py.typed" in names
        (record,) = [n for n in names if n.endswith("RECORD")]
        rows = list(csv.reader(z.read(record).decode().splitlines()))
        assert sorted(r[0] for r in rows) == sorted(names)
        for name, digest, size in rows:
            if digest:
                data = z.read(name)
                want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                assert (digest, size) == ("sha256=" + want, str(len(data)))


def test_the_tag_is_what_the_library_needs(wheel: Path, library: str) -> None:
    found = re.search(r"-py3-none-manylinux_(\d+)_(\d+)_\w+\.whl$", wheel.name)
    assert found, wheel.name
    needs = re.findall(rb"GLIBC_(\d+)\.(\d+)", Path(library).read_bytes())
    assert (int(found[1]), int(found[2])) == max((2, 17), *[(int(a), int(b)) for a, b in needs])


def test_auditwheel_agrees(wheel: Path, tmp_path: Path) -> None:
    """The tool of those who define manylinux finds that the library keeps to the tag."""
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(site), "auditwheel"]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("auditwheel could not be installed")
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    found = re.search(r'platform tag:\s+"(\w+)"', done.stdout)
    assert found and f"-{found[1]}.whl" in wheel.name, done.stdout


def test_a_new_venv(library: str, tmp_path: Path) -> None:
    """What `make wheel` does: the wheel works by itself, and its name is told in words."""
    command = [sys.executable, str(REPO / "python" / "build_wheel.py"), "-o", str(tmp_path), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NANGUARD_LIBRARY": str(Path(library).resolve())})
    assert done.returncode == 0, done.stderr
    *_, path, words = done.stdout.splitlines()
    assert Path(path).is_file() and re.search(r"for Python >=3\.9 on Linux, \w+, with glibc 2\.\d+ or newer", words)


def test_installed_and_used(wheel: Path, tmp_path: Path) -> None:
    pip("install", "--no-index", "--no-deps", "--target", str(tmp_path / "site"), str(wheel))
    code = (
        "import nanguard, numpy as np\n"
        "print(nanguard.__file__)\n"
        "with nanguard.Guard(4, 'dumps') as guard:\n"
        "    guard.check(reward=np.array([0, 0, np.nan, 0]))\n"
        "    print(guard.wait().env)\n"
    )
    env = {k: v for k, v in os.environ.items() if k != "NANGUARD_LIBRARY"}
    import numpy

    path = os.pathsep.join([str(tmp_path / "site"), str(Path(numpy.__file__).parents[1])])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env={**env, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    file, env_id = done.stdout.split()
    assert file.startswith(str(tmp_path / "site")) and env_id == "2"


def test_no_library_to_be_had(tmp_path: Path) -> None:
    """Without Go, and without a library that is named, the build says what is missing."""
    code = f"import sys; sys.path.insert(0, {str(REPO / 'python')!r}); import build_wheel; build_wheel.build_wheel({str(tmp_path)!r})"
    env = {k: v for k, v in os.environ.items() if k != "NANGUARD_LIBRARY"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**env, "PATH": str(tmp_path)})
    assert done.returncode != 0 and "go and gcc not found" in done.stderr
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**env, "NANGUARD_LIBRARY": "/nowhere/x.so"})
    assert done.returncode != 0 and "/nowhere/x.so" in done.stderr
