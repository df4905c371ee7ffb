"""Runs a scenario, shows the progress, and keeps the results after Ctrl-C."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._binary import TrackbedError, find, flags, message, settings
from ._results import PathLike, Results

# The exit statuses of a campaign that has written its results.
COMPLETE, CHECK_FAILED, INTERRUPTED = 0, 1, 130


class TrackbedWarning(UserWarning):
    """Results exist, but some runs or checks failed or are missing."""


def run(
    scenario: PathLike,
    *,
    set: Mapping[str, Any] | None = None,
    quick: bool = False,
    out: PathLike | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """Run a scenario and return its results.

    `scenario` is a built-in one, or the path of a scenario file. `set` has its settings:
    `{"link.loss": "1%"}`; a list becomes a sweep. `out` is the run directory. If it contains
    results of the same command, only missing runs are executed. The default is a new directory:
    trackbed-out/SCENARIO-1, then -2 and so on.

    All other options are those of the program: `runs=30`, `seed=2`, `substrate="emulated"`,
    `until="completion_ms 2%"`, `keep_invalid=True`, `unset=["link.up"]`.

    `progress` shows a line with the finished runs; by default, in terminals and notebooks.

    Ctrl-C finishes the runs in progress and returns the results so far, with a warning. A second
    one ends the program at once.

    Raises TrackbedError with the program's message if it fails.
    """
    if options.get("shard") or "://" in str(out or ""):
        remedy = "load the directory of `trackbed merge` or `trackbed fetch`"
        raise TrackbedError(f"shards and object stores need the command line; {remedy}")
    program = find()
    directory = Path(out) if out is not None else _fresh(Path(scenario).stem)
    words = [*settings("--set", set), *flags({"quick": quick, "out": str(directory), **options})]
    shown = (sys.stderr.isatty() or _is_in_notebook()) if progress is None else progress
    campaign = _Campaign([program, "run", "--watch", *words, "--", str(scenario)], directory)
    status = campaign.wait(shown)
    if out is None:
        # It stays if it contains something.
        with contextlib.suppress(OSError):
            directory.rmdir()
    if campaign.is_interrupted and not (directory / "run.json").is_file():
        raise KeyboardInterrupt
    if status not in (COMPLETE, CHECK_FAILED, INTERRUPTED):
        raise TrackbedError(message(status, "".join(campaign.lines)))
    results = Results(directory)
    doubt = _doubt(results, status, campaign.lines)
    if doubt:
        warnings.warn(doubt, TrackbedWarning, stacklevel=2)
    return results


class _Campaign:
    """The program, running."""

    def __init__(self, command: list[str], directory: Path) -> None:
        self.runs = directory / "runs.jsonl"
        self.total = ""
        self.done = 0
        self.counted = 0
        self.inode = 0
        self.lines: list[str] = []
        self.is_interrupted = False
        null = subprocess.DEVNULL
        # A terminal sends Ctrl-C to both. The program inherits the mask, so only Python gets it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.child = subprocess.Popen(
                command, stdin=null, stdout=null, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def wait(self, shown: bool) -> int:
        """Wait until it ends, and return its exit status."""
        try:
            try:
                return self._wait(shown)
            except KeyboardInterrupt:
                self.is_interrupted = True
                self.child.terminate()
                return self._wait(shown)
        except BaseException:
            self.child.kill()
            self.child.wait()
            raise
        finally:
            self.reader.join(timeout=1)

    def _wait(self, shown: bool) -> int:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.child.wait(timeout=0.2)
                # Its last lines are read before the last count is shown.
                self.reader.join(timeout=1)
                self._show(shown, end="\n")
                return status
            self._show(shown)

    def _show(self, shown: bool, end: str = "") -> None:
        if shown and self.total:
            self._count()
            # Notebooks show standard error in red.
            file = sys.stdout if _is_in_notebook() else sys.stderr
            print(f"\r{self.done} of {self.total} runs", end=end, file=file, flush=True)

    def _count(self) -> None:
        """Count the runs that the file has received since the last call."""
        if self.runs.is_file():
            with self.runs.open("rb") as file:
                # The program replaces the file when it sorts it.
                inode = os.fstat(file.fileno()).st_ino
                if inode != self.inode:
                    self.inode, self.counted, self.done = inode, 0, 0
                file.seek(self.counted)
                new = file.read()
            self.done += new.count(b"\n")
            self.counted += len(new)

    def _read(self) -> None:
        for line in self.child.stderr or ():
            found = re.match(r"\d+ of (\d+) runs, ", line)
            if found:
                self.total = found[1]
            else:
                self.lines.append(line)


def _fresh(name: str) -> Path:
    """Create the directory for a call without `out`."""
    for number in itertools.count(1):
        directory = Path("trackbed-out") / f"{name}-{number}"
        with contextlib.suppress(FileExistsError):
            directory.mkdir(parents=True)
            return directory
    raise AssertionError("the numbers do not end")


def _is_in_notebook() -> bool:
    return type(sys.stderr).__module__.startswith("ipykernel.")


def _doubt(results: Results, status: int, lines: list[str]) -> str | None:
    """Return what a user of the results should know."""
    failed = sum(cell["failed"] for cell in results.document["cells"])
    checks = sum(not check["pass"] for check in results.document["checks"])
    if status == INTERRUPTED:
        return f"interrupted: these are the finished runs; out={str(results.directory)!r} continues them"
    if failed:
        return f"{failed} runs failed, and are in no metric; see the column reason of runs"
    if checks:
        return f"{checks} checks failed; see checks"
    if status == CHECK_FAILED:
        told = [line.strip() for line in lines if not line.startswith(("note: ", "results: "))]
        return " ".join(filter(None, told))
    return None
