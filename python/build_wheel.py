"""Builds the wheel of nanguard, with libnanguard.so inside; also the package's PEP 517 backend.

usage: python build_wheel.py [-o DIR] [--check]

The library is built by Go from ../cabi, or copied from where $NANGUARD_LIBRARY
says. The wheel is for every Python 3 and carries the manylinux tag of the oldest
glibc that the library runs on, read from the library itself: manylinux_2_34_x86_64
installs on 64-bit Linux of Intel and AMD with glibc 2.34 or newer (Debian 12,
Ubuntu 22.04, RHEL 9), and not on musl. --check installs it into a new venv and
has a guard there see a NaN.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent

# Zip entries are dated so that the same sources make the same wheel.
EPOCH = (2020, 1, 1, 0, 0, 0)


def library() -> bytes:
    """Returns libnanguard.so."""
    named = os.environ.get("NANGUARD_LIBRARY")
    if named:
        return Path(named).read_bytes()
    if not (REPO / "cabi" / "nanguard.h").is_file():
        raise SystemExit(
            f"nanguard: no Go sources at {REPO / 'cabi'}: install from a checkout (pip 21.3 or newer builds in place), "
            "or let $NANGUARD_LIBRARY name a libnanguard.so"
        )
    missing = [tool for tool in ("go", "gcc") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(
            f"nanguard: {' and '.join(missing)} not found, and the package holds a library built by Go 1.26 and gcc: "
            "install them, or let $NANGUARD_LIBRARY name a libnanguard.so"
        )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "libnanguard.so"
        env = {**os.environ, "CGO_ENABLED": "1"}
        flags = f"-s -w -X github.com/nanguard/nanguard/internal/version.stamp={version()}"
        subprocess.run(
            ["go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags", flags, "-o", str(out), "./cabi"], cwd=REPO, env=env, check=True
        )
        return out.read_bytes()


def project(key: str) -> str:
    """Returns a text of pyproject.toml's [project]; Python 3.9 has no parser for it."""
    found = re.search(rf'^{key} = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.M)
    assert found, key
    return found[1]


def version() -> str:
    """Returns the version of the package."""
    return project("version")


def tag(so: bytes) -> str:
    """Returns the platform tag of a library: the newest symbol version that it asks of glibc."""
    machine = platform.machine()
    needs = [(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", so)]
    if sys.platform != "linux" or not needs:
        raise SystemExit(f"nanguard: the library is not one of glibc (platform {sys.platform}): wheels are for Linux")
    major, minor = max([(2, 17), *needs])
    return f"manylinux_{major}_{minor}_{machine}"


def metadata() -> str:
    """Returns the METADATA file."""
    classifiers = re.findall(r'^    "(.*::.*)",$', (HERE / "pyproject.toml").read_text(), re.M)
    head = [
        "Metadata-Version: 2.1",
        f"Name: {project('name')}",
        f"Version: {version()}",
        f"Summary: {project('description')}",
        "License: Apache-2.0",
        f"Requires-Python: {project('requires-python')}",
        "Requires-Dist: numpy",
        *[f"Classifier: {c}" for c in classifiers],
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + (HERE / "README.md").read_text()


def write(folder: str, files: dict[str, bytes], platform_tag: str) -> str:
    """Writes a wheel of some files and returns its name."""
    info = f"nanguard-{version()}.dist-info"
    full = f"py3-none-{platform_tag}"
    files = {
        **files,
        f"{info}/METADATA": metadata().encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: nanguard\nRoot-Is-Purelib: false\nTag: {full}\n".encode(),
        f"{info}/licenses/LICENSE": license_text(),
    }
    record: list[str] = []
    name = f"nanguard-{version()}-{full}.whl"
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
            add(wheel, path, data)
        record.append(f"{info}/RECORD,,")
        add(wheel, f"{info}/RECORD", ("\n".join(record) + "\n").encode())
    return name


def add(wheel: zipfile.ZipFile, path: str, data: bytes) -> None:
    """Adds a file that everybody may read and, if it is a library, map."""
    entry = zipfile.ZipInfo(path, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
    wheel.writestr(entry, data)


def license_text() -> bytes:
    """Returns the licence: the repository's."""
    path = REPO / "LICENSE"
    return path.read_bytes() if path.is_file() else b"See the repository.\n"


def sources() -> dict[str, bytes]:
    """Returns the files of the package, without what is built."""
    return {
        f"nanguard/{p.relative_to(HERE / 'nanguard').as_posix()}": p.read_bytes()
        for p in sorted((HERE / "nanguard").rglob("*"))
        if p.is_file() and (p.suffix == ".py" or p.name == "py.typed")
    }


# PEP 517 and 660.


def build_wheel(wheel_directory: str, config_settings: dict[str, str] | None = None, metadata_directory: str | None = None) -> str:
    """Builds the wheel that pip asks for."""
    so = library()
    return write(wheel_directory, {**sources(), "nanguard/libnanguard.so": so}, tag(so))


def build_editable(wheel_directory: str, config_settings: dict[str, str] | None = None, metadata_directory: str | None = None) -> str:
    """Builds a wheel that points here; the library is put beside the sources."""
    so = library()
    (HERE / "nanguard" / "libnanguard.so").write_bytes(so)
    return write(wheel_directory, {"nanguard.pth": f"{HERE}\n".encode()}, tag(so))


def build_sdist(sdist_directory: str, config_settings: dict[str, str] | None = None) -> str:
    """Refuses: a source distribution of the Python part alone could not be installed."""
    raise SystemExit("nanguard: there is no source distribution; build a wheel from a checkout")


# It needs no package, so that it can be installed without an index.
TRIAL = """
import os, sys, tempfile, nanguard
assert os.path.dirname(nanguard.__file__).startswith(sys.prefix), nanguard.__file__
with nanguard.Guard(4, tempfile.mkdtemp()) as guard:
    guard.log(loss=float("nan"))
    assert guard.wait().field == "loss.total"
print("nanguard", nanguard.library_version(), "in Python", sys.version.split()[0])
"""


def check(wheel: str) -> None:
    """Installs a wheel into a new venv and uses it there."""
    env = {k: v for k, v in os.environ.items() if k not in ("NANGUARD_LIBRARY", "PYTHONPATH")}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = os.path.join(folder, "bin", "python")
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps", wheel]
        subprocess.run(pip, check=True, env=env)
        subprocess.run([python, "-c", TRIAL], check=True, env=env, cwd=folder)


def main(args: tuple[str, ...]) -> None:
    """Builds a wheel from the command line."""
    parser = argparse.ArgumentParser(description="builds the wheel of nanguard")
    parser.add_argument("-o", "--out", default=str(HERE / "dist"), help="folder of the wheel (default: dist beside this file)")
    parser.add_argument("--check", action="store_true", help="install it into a new venv and use it there")
    given = parser.parse_args(args)
    wheel = os.path.abspath(os.path.join(given.out, build_wheel(given.out)))
    if given.check:
        check(wheel)
    found = re.search(r"manylinux_(\d+)_(\d+)_(\w+)\.whl$", wheel)
    assert found, wheel
    print(f"{wheel}\nfor Python {project('requires-python')} on Linux, {found[3]}, with glibc {found[1]}.{found[2]} or newer")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
