"""The program `trackbed`: where it is, its arguments, its errors."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class TrackbedError(Exception):
    """What went wrong, and what to do. An error of the program has the program's own message."""


def find() -> str:
    """Return the path of the program.

    It is the one in TRACKBED_BIN, or else beside this Python, or else on PATH.
    """
    named = os.environ.get("TRACKBED_BIN")
    scripts = sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")
    folders = [Path(sys.executable).parent, *scripts, os.environ.get("PATH", os.defpath)]
    found = shutil.which(named or "trackbed", path=None if named else os.pathsep.join(map(str, folders)))
    if found:
        return str(Path(found).absolute())
    if named:
        raise TrackbedError(
            f"TRACKBED_BIN is {named}, which is not a program; "
            "set it to the path of the program trackbed, or unset it"
        )
    raise TrackbedError(
        "the program trackbed is not installed; run: pip install trackbed "
        "(or put it on PATH, or set TRACKBED_BIN to its path)"
    )


def flags(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of the command line: `keep_invalid=True` as `--keep-invalid`.

    A list gives its option once for each item. None and False give nothing.
    """
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is True:
                words.append(flag)
            elif item is not None and item is not False:
                words.append(f"{flag}={item}")
    return words


def settings(flag: str, values: Mapping[str, Any] | None) -> list[str]:
    """Return settings of a scenario, one word each; a list becomes a sweep."""
    return [f"{flag}={key}={_setting(value)}" for key, value in (values or {}).items()]


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(_setting(item) for item in value)
    return str(value)


def call(words: Iterable[str], accepted: Iterable[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Run the program and return its output.

    Raises TrackbedError if its exit status is none of `accepted`.
    """
    done = subprocess.run(
        [find(), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode not in accepted:
        raise TrackbedError(message(done.returncode, done.stderr))
    return done


def message(status: int, stderr: str) -> str:
    """Return the program's error message, without the notes before it."""
    start = max(stderr.find("error: "), 0)
    text = stderr[start:].strip()
    return text[len("error: ") :] if text.startswith("error: ") else text or f"trackbed: exit status {status}"


def package(module: str, extra: str = "pandas") -> Any:
    """Import a module that users install only if they want it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        remedy = f"pip install 'trackbed[{extra}]'"
        raise TrackbedError(f"{name} is not installed; run: {remedy}") from None
