"""libnanguard.so through ctypes: finding it, its structs, its functions.

The library is loaded when the first guard is made, not when the package is
imported: what is imported in a data-loader worker should not start a Go
runtime there.
"""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING, Any

#: NG_ABI of nanguard.h, to which all of the following belongs.
ABI = 3

OK, TRIPPED, UNLIKE = 0, 1, 2

#: What the negative codes of nanguard.h are called.
CODES = {
    -1: "argument",
    -2: "handle",
    -3: "fork",
    -4: "changed",
    -5: "off",
    -6: "no_dumps",
    -7: "write",
    -8: "buffer",
    -9: "internal",
    -10: "unsupported",
    -11: "graph",
    -12: "nothing_new",
}

#: Clocks by their number in nanguard.h.
CLOCKS = {"substep": 1, "step": 2, "minibatch": 3, "update": 4}

#: Classes of a bad value by their number in nanguard.h.
CLASSES = {1: "nan", 2: "posinf", 3: "neginf", 4: "limit", 5: "growth"}

#: Element types by their number in nanguard.h, and their size in bytes.
DTYPES = {
    "float16": (1, 2),
    "bfloat16": (2, 2),
    "float32": (3, 4),
    "float64": (4, 8),
    "int8": (5, 1),
    "int16": (6, 2),
    "int32": (7, 4),
    "int64": (8, 8),
    "uint8": (9, 1),
    "uint16": (10, 2),
    "uint32": (11, 4),
    "uint64": (12, 8),
    "bool": (13, 1),
}

HOST, CUDA = 0, 1
DEVICE_AUTO, DEVICE_HOST = -2, -1


class NanGuardError(RuntimeError):
    """A call that the library refused, with the library's message.

    ``code`` says what kind of trouble it is: ``"argument"``, ``"handle"`` (the
    guard is closed), ``"fork"``, ``"changed"`` (another shape, dtype or memory
    than at binding), ``"off"`` (reading a field faulted, or the GPU was lost),
    ``"unsupported"`` (no CUDA here), ``"graph"`` (checks are part of a CUDA graph),
    ``"no_dumps"``, ``"nothing_new"``, ``"write"``, ``"buffer"``, ``"internal"`` or,
    before the library was reached, ``"library"``.
    """

    def __init__(self, message: str, code: str = "argument") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self):  # type: ignore[no-untyped-def]  # so that it survives a process pool
        return type(self), (str(self), self.code)


class Config(ctypes.Structure):
    """ng_config."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("device", c_int32),
        ("num_envs", c_int64),
        ("ring_bytes", c_int64),
        ("dir", c_char_p),
        ("model", c_char_p),
        ("run_json", c_char_p),
        ("max_frames", c_int32),
        ("trace_len", c_int32),
        ("post_frames", c_int32),
        ("max_envs", c_int32),
        ("control_envs", c_int32),
        ("max_dumps", c_int32),
        ("state_spec", c_int32),
        ("reserved", c_uint32),
        ("cooldown_s", c_double),
    ]


class Field(ctypes.Structure):
    """ng_field."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("shared", c_uint32),
        ("name", c_char_p),
        ("stage", c_char_p),
        ("unit", c_char_p),
        ("cols", ctypes.POINTER(c_char_p)),
        ("n_cols", c_int64),
        ("order", c_double),
        ("clock", c_int32),
        ("growth_frames", c_int32),
        ("limit", c_double),
        ("growth_factor", c_double),
        ("growth_floor", c_double),
    ]


class Ref(ctypes.Structure):
    """ng_ref."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("field", c_int32),
        ("address", c_void_p),
        ("rows", c_int64),
        ("cols", c_int64),
        ("row_stride", c_int64),
        ("col_stride", c_int64),
        ("dtype", c_int32),
        ("memory", c_int32),
        ("device", c_int32),
        ("reserved", c_uint32),
    ]


class Event(ctypes.Structure):
    """ng_event."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("kind", c_char_p),
        ("name", c_char_p),
        ("envs", ctypes.POINTER(c_int64)),
        ("n_envs", c_int64),
        ("count", c_int64),
        ("detail_json", c_char_p),
    ]


class VerdictStruct(ctypes.Structure):
    """ng_verdict."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("done", c_int32),
        ("tick", c_int64),
        ("count", c_int64),
        ("env", c_int64),
        ("col", c_int64),
        ("clock", c_int32),
        ("value_class", c_int32),
        ("field", c_char * 256),
        ("path", c_char * 4096),
        ("error", c_char * 1024),
        ("number", c_int64),
    ]


class Summary(ctypes.Structure):
    """ng_summary."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("first_class", c_int32),
        ("first_row", c_int64),
        ("first_col", c_int64),
        ("bad_rows", c_int64),
        ("nan", c_int64),
        ("posinf", c_int64),
        ("neginf", c_int64),
        ("absmax_row", c_int64),
        ("absmax", c_double),
        ("min", c_double),
        ("max", c_double),
        ("mean", c_double),
    ]


class Known(ctypes.Structure):
    """ng_known."""

    _fields_ = [
        ("guard", c_uint64),
        ("clock", c_int32),
        ("advance", c_int32),
        ("n", c_uint32),
        ("busy", c_uint32),
        ("clock_name", c_void_p),
        ("names", c_void_p),
        ("sources", c_void_p),
        ("refs", c_void_p),
    ]


class KnownChecks(ctypes.Structure):
    """ng_known_checks."""

    _fields_ = [
        ("type_at", c_size_t),
        ("count", c_uint32),
        ("reserved", c_uint32),
        ("known", ctypes.POINTER(Known)),
    ]


STRUCTS = {
    "ng_config": Config,
    "ng_field": Field,
    "ng_ref": Ref,
    "ng_event": Event,
    "ng_verdict": VerdictStruct,
    "ng_summary": Summary,
    "ng_known": Known,
    "ng_known_checks": KnownChecks,
}

_guard, _text, _size = c_uint64, c_char_p, c_size_t
_PROTOTYPES = {
    "ng_config_init": (ctypes.POINTER(Config),),
    "ng_guard_new": (ctypes.POINTER(Config), ctypes.POINTER(c_uint64)),
    "ng_bind": (_guard, ctypes.POINTER(Field), ctypes.POINTER(Ref), ctypes.POINTER(c_int32)),
    "ng_check": (_guard, c_int32, c_void_p, c_uint32, c_void_p),
    "ng_check_same": (_guard, c_int32, c_void_p, c_uint32, c_void_p),
    "ng_poll": (_guard, ctypes.POINTER(VerdictStruct)),
    "ng_wait": (_guard, ctypes.POINTER(VerdictStruct)),
    "ng_dump": (_guard, _text, ctypes.POINTER(c_int64), c_int64, c_void_p, _size),
    "ng_note": (_guard, ctypes.POINTER(Event)),
    "ng_fact": (_guard, _text, _text),
    "ng_plan": (_guard, c_void_p, _size),
    "ng_scan": (ctypes.POINTER(Ref), ctypes.POINTER(Summary)),
    "ng_close": (_guard,),
    "ng_last_error": (c_void_p, _size),
    "ng_version": (c_void_p, _size),
}


class Library:
    """The loaded library: its functions as attributes, errors as exceptions."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            dll = ctypes.CDLL(path)
        except OSError as e:
            raise NanGuardError(f"{path} cannot be loaded: {e}", "library") from e
        _compare_abi(path, dll)
        for name, args in _PROTOTYPES.items():
            function = getattr(dll, name)
            function.argtypes, function.restype = args, c_int
            setattr(self, name, function)
        # It runs code of the interpreter's, so it must be called with its lock.
        holding = ctypes.PyDLL(path)
        self.ng_refs_from_objects = holding.ng_refs_from_objects
        self.ng_refs_from_objects.argtypes = (c_void_p, c_void_p, c_uint32, c_size_t, c_void_p)
        self.ng_refs_from_objects.restype = c_uint32
        self.ng_python_method = dll.ng_python_method
        self.ng_python_method.argtypes, self.ng_python_method.restype = (c_int32,), c_void_p
        dll.ng_sizeof.argtypes, dll.ng_sizeof.restype = (c_char_p,), c_size_t
        for name, struct in STRUCTS.items():
            theirs = dll.ng_sizeof(name.encode())
            if theirs != ctypes.sizeof(struct):
                raise NanGuardError(
                    f"{path}: {name} has {theirs} bytes there and {ctypes.sizeof(struct)} here: "
                    "the library is of another version than this package",
                    "library",
                )

    def ok(self, code: int) -> int:
        """Returns a code that is no error; raises the library's message otherwise."""
        if code < 0:
            raise self.error(code)
        return code

    def error(self, code: int) -> NanGuardError:
        """Returns the exception for a negative code of the call just made."""
        buffer = ctypes.create_string_buffer(4096)
        self.ng_last_error(buffer, len(buffer))
        message = buffer.value.decode("utf-8", "replace")
        return NanGuardError(message or f"the library returned {code}", CODES.get(code, str(code)))

    def version(self) -> str:
        """Returns the version of the library."""
        buffer = ctypes.create_string_buffer(256)
        self.ok(self.ng_version(buffer, len(buffer)))
        return buffer.value.decode("utf-8", "replace")


def _compare_abi(path: str, dll: Any) -> None:
    """Refuses a library of another ABI, whose functions could not be called without harm."""
    ask = getattr(dll, "ng_abi", None)
    if ask is None:
        theirs, age = "none (it is older than that number)", "older"
    else:
        ask.argtypes, ask.restype = (), c_uint32
        n = ask()
        if n == ABI:
            return
        theirs, age = str(n), "older" if n < ABI else "newer"
    named = os.environ.get("NANGUARD_LIBRARY")
    raise NanGuardError(
        f"{path} is {age} than this Python package: its ABI is {theirs}, the package in {Path(__file__).parent} needs {ABI}. "
        "Both must come from one checkout: there, `pip install ./python` builds and installs both"
        + (
            "; or build the library that $NANGUARD_LIBRARY names with `CGO_ENABLED=1 go build -buildmode=c-shared -o "
            f"{named} ./cabi`, or unset that variable to use the package's own"
            if named
            else ""
        ),
        "library",
    )


_loaded: Library | None = None
_loading = threading.Lock()


def load() -> Library:
    """Returns the library, which is loaded once per process."""
    global _loaded
    with _loading:
        if _loaded is None:
            _loaded = Library(find())
        return _loaded


def find() -> str:
    """Returns the path of the library: $NANGUARD_LIBRARY, else the one in the package."""
    named = os.environ.get("NANGUARD_LIBRARY")
    places: list[Path] = [Path(named)] if named else [Path(__file__).parent / "libnanguard.so"]
    for place in places:
        if place.is_file():
            return str(place.resolve())
    raise NanGuardError(
        f"no libnanguard.so at {places[0]}"
        + (" (from $NANGUARD_LIBRARY)" if named else "")
        + ": install the package with `pip install ./python` from a checkout of nanguard, which builds it, or build it with "
        "`CGO_ENABLED=1 go build -buildmode=c-shared -o libnanguard.so ./cabi` and let $NANGUARD_LIBRARY name it",
        "library",
    )
