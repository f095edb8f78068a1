"""The library and this package must mean the same by every number and struct."""

import ctypes
import pickle
import re
import shutil
import subprocess

import pytest
from conftest import REPO, python

import nanguard
from nanguard import _library

HEADER = REPO / "cabi" / "nanguard.h"


def header() -> str:
    if not HEADER.is_file():
        pytest.skip(f"no {HEADER}: the tests do not run in a checkout")
    return HEADER.read_text()


def number(name: str) -> int:
    return int(re.search(rf"\b{name} = (-?\d+)", header())[1])


@pytest.mark.parametrize("name,value", [("NG_OK", _library.OK), ("NG_TRIPPED", _library.TRIPPED), ("NG_HOST", 0), ("NG_CUDA", 1)])
def test_numbers(name: str, value: int) -> None:
    assert number(name) == value


def test_codes() -> None:
    theirs = {int(n): name.lower() for name, n in re.findall(r"NG_ERR_(\w+) = (-\d+)", header())}
    assert theirs == _library.CODES


def test_dtypes() -> None:
    text = header().split("/* Element types.")[1].split("};")[0]
    theirs = {name.lower(): int(n) for name, n in re.findall(r"NG_(\w+) = (\d+)", text)}
    assert theirs == {name: n for name, (n, _) in _library.DTYPES.items()}


def test_clocks_classes_devices() -> None:
    assert {c: number("NG_" + c.upper()) for c in _library.CLOCKS} == _library.CLOCKS
    assert {number("NG_" + c.upper()): c for c in _library.CLASSES.values()} == _library.CLASSES
    assert number("NG_DEVICE_AUTO") == _library.DEVICE_AUTO
    assert number("NG_DEVICE_HOST") == _library.DEVICE_HOST


@pytest.mark.parametrize("name", _library.STRUCTS)
def test_struct_members(name: str) -> None:
    """Same members in the same order; sizes are compared whenever the library is loaded."""
    body = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", header(), re.S)[1]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    theirs = [re.search(r"(\w+)(\[\w+\])?$", line.strip())[1] for line in body.split(";") if line.strip()]
    assert theirs == [field[0] for field in _library.STRUCTS[name]._fields_]


def test_sizes_are_compared(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    class Longer(_library.Ref):
        _fields_ = [("more", ctypes.c_int64)]

    monkeypatch.setitem(_library.STRUCTS, "ng_ref", Longer)
    with pytest.raises(nanguard.NanGuardError, match="ng_ref has 64 bytes there and 72 here") as e:
        _library.Library(library)
    assert e.value.code == "library"


def test_the_abi_is_one_number() -> None:
    theirs = int(re.search(r"^#define NG_ABI (\d+)$", header(), re.M)[1])
    go = int(re.search(r"^const abi = (\d+)$", (HEADER.parent / "layout.go").read_text(), re.M)[1])
    assert theirs == go == _library.ABI == ctypes.CDLL(_library.find()).ng_abi()


@pytest.mark.parametrize(
    "source,said",
    [
        ("int ng_check(void) { return 0; }", r"is older than this Python package: its ABI is none .* needs {abi}\."),
        ("unsigned ng_abi(void) { return 1; }", r"is older than this Python package: its ABI is 1, .* needs {abi}\."),
        ("unsigned ng_abi(void) { return 4000000000u; }", r"is newer than this Python package: its ABI is 4000000000, .* needs {abi}\."),
    ],
)
def test_a_library_of_another_build_is_refused(tmp_path, source: str, said: str) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on the PATH to build such a library with")
    path = tmp_path / "libnanguard.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)], input=source, text=True, check=True)
    done = python(
        "import nanguard\ntry: nanguard.Guard(4)\nexcept nanguard.NanGuardError as e: print(e.code, e)", NANGUARD_LIBRARY=str(path)
    )
    assert done.stdout.startswith(f"library {path} "), done
    assert re.search(said.format(abi=_library.ABI), done.stdout), done.stdout
    assert "pip install" in done.stdout and "$NANGUARD_LIBRARY" in done.stdout


def test_a_file_that_is_no_library_is_told(tmp_path) -> None:
    path = tmp_path / "libnanguard.so"
    path.write_text("not a library")
    with pytest.raises(nanguard.NanGuardError, match="cannot be loaded") as e:
        _library.Library(str(path))
    assert e.value.code == "library"


def test_defaults_are_the_library_s() -> None:
    import inspect

    config = _library.Config()
    _library.load().ok(_library.load().ng_config_init(ctypes.byref(config)))
    ours = {name: p.default for name, p in inspect.signature(nanguard.Guard).parameters.items()}
    for name in ("ring_bytes", "max_frames", "trace_len", "post_frames", "max_envs", "control_envs", "max_dumps"):
        assert ours[name] == getattr(config, name), name


def test_importing_loads_nothing() -> None:
    done = python("import nanguard, sys; print(nanguard._library._loaded, 'torch' in sys.modules, 'numpy' in sys.modules)")
    assert done.stdout.split() == ["None", "False", "False"], done.stderr


def test_a_missing_library_is_told() -> None:
    done = python(
        "import nanguard\ntry: nanguard.Guard(4)\nexcept nanguard.NanGuardError as e: print(e.code, e)", NANGUARD_LIBRARY="/nowhere/lib.so"
    )
    assert done.stdout.startswith("library no libnanguard.so at /nowhere/lib.so (from $NANGUARD_LIBRARY)"), done
    assert "pip install" in done.stdout


def test_errors_survive_a_pickle() -> None:
    e = pickle.loads(pickle.dumps(nanguard.NanGuardError("x", "write")))
    assert (str(e), e.code) == ("x", "write")
    v = nanguard.Verdict("qvel", 3, 1, "nan", "step", 6, 7, "", "", False)
    assert pickle.loads(pickle.dumps(nanguard.Tripped(v))).verdict == v


def test_version() -> None:
    assert nanguard.library_version()
