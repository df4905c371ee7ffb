"""Compiles crates/verifier/src/gpu/p256.cu to the p256.ptx beside it, by NVIDIA's NVRTC from PyPI.

    pip install nvidia-cuda-nvrtc-cu12==12.0.140
    python3 contrib/gpu/compile.py            # writes p256.ptx
    python3 contrib/gpu/compile.py --check    # fails if it would change

This version's PTX 8.0 is for drivers from 525 on; compute capability 7.5 is the oldest that runs it.
"""

import ctypes
import hashlib
import importlib.util
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parents[2] / "crates/verifier/src/gpu"
VERSION = "12.0.140"


def check(code, what):
    if code != 0:
        sys.exit(f"error: {what} failed with code {code}")


def compile_to_ptx(source):
    if not importlib.util.find_spec("nvidia") or not (found := importlib.util.find_spec("nvidia.cuda_nvrtc")):
        sys.exit(f"error: NVRTC is missing; run: pip install nvidia-cuda-nvrtc-cu12=={VERSION}")
    nvrtc = ctypes.CDLL(str(pathlib.Path(found.submodule_search_locations[0]) / "lib/libnvrtc.so.12"))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    created = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"p256.cu", 0, None, None)
    check(created, "nvrtcCreateProgram")
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_75")
    code = nvrtc.nvrtcCompileProgram(program, 1, options)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if code != 0:
        sys.exit(log.value.decode())
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)), "nvrtcGetPTXSize")
    text = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, text), "nvrtcGetPTX")
    return text.value.decode()


def main():
    source = (FOLDER / "p256.cu").read_bytes()
    ptx = compile_to_ptx(source)
    if f"V{VERSION}" not in ptx:
        sys.exit(f"error: this NVRTC is not version {VERSION}")
    # A test of the workspace compares it with the source: no compiler is needed to see that they differ.
    ptx = f"// Made by contrib/gpu/compile.py. SHA-256 of p256.cu: {hashlib.sha256(source).hexdigest()}\n{ptx}"
    target = FOLDER / "p256.ptx"
    if sys.argv[1:] != ["--check"]:
        target.write_text(ptx)
    elif target.read_text() != ptx:
        sys.exit("error: p256.ptx is not what p256.cu compiles to; run contrib/gpu/compile.py")


main()
