#!/usr/bin/env python3
"""Compiles scan.cu to scan.ptx with NVRTC. Needs no GPU and no toolkit:

    pip install nvidia-cuda-nvrtc-cu12==12.0.76
    python generate.py            writes scan.ptx
    python generate.py --check    fails when scan.ptx is not what scan.cu gives

The version is pinned because it sets the version of the PTX, and so the oldest
driver that can load it: CUDA 12.0 gives PTX 8.0, which drivers from 525 on
(December 2022) take. compute_70 is Volta, the oldest architecture that it runs
on.
"""

import ctypes
import glob
import hashlib
import os
import sys
import sysconfig

VERSION = (12, 0)
OPTIONS = [b"--gpu-architecture=compute_70", b"--std=c++17"]
HERE = os.path.dirname(os.path.abspath(__file__))


def load():
    folder = os.path.join(sysconfig.get_path("purelib"), "nvidia", "cuda_nvrtc", "lib")
    for name in ("libnvrtc-builtins.so.*", "libnvrtc.so.*"):
        found = glob.glob(os.path.join(folder, name))
        if not found:
            sys.exit("no NVRTC here: pip install nvidia-cuda-nvrtc-cu12==12.0.76")
        lib = ctypes.CDLL(found[0], mode=ctypes.RTLD_GLOBAL)
    major, minor = ctypes.c_int(), ctypes.c_int()
    lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if (major.value, minor.value) != VERSION:
        sys.exit(f"NVRTC {major.value}.{minor.value} is here, {VERSION[0]}.{VERSION[1]} is wanted")
    lib.nvrtcGetErrorString.restype = ctypes.c_char_p
    return lib


def text(lib, program, what):
    size = ctypes.c_size_t()
    getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value)
    getattr(lib, f"nvrtcGet{what}")(program, out)
    return out.value.decode()


def compile_ptx(source):
    lib, program = load(), ctypes.c_void_p()
    lib.nvrtcCreateProgram(ctypes.byref(program), source, b"scan.cu", 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*OPTIONS)
    code = lib.nvrtcCompileProgram(program, len(OPTIONS), options)
    log = text(lib, program, "ProgramLog").strip()
    if code != 0 or log:
        sys.exit(f"{lib.nvrtcGetErrorString(code).decode()}\n{log}")
    return text(lib, program, "PTX")


def main():
    with open(os.path.join(HERE, "scan.cu"), "rb") as f:
        source = f.read()
    ptx = f"// scan.cu sha256 {hashlib.sha256(source).hexdigest()}\n" + compile_ptx(source)
    target = os.path.join(HERE, "scan.ptx")
    if sys.argv[1:] == ["--check"]:
        with open(target) as f:
            if f.read() != ptx:
                sys.exit("scan.ptx is not what scan.cu compiles to: run generate.py")
        return
    with open(target, "w") as f:
        f.write(ptx)


if __name__ == "__main__":
    main()
