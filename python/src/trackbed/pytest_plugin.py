"""The pytest fixture `trackbed_link`: programs behind an emulated link.

def test_upload(trackbed_link):
    done = trackbed_link.run(["./upload", trackbed_link.host], rate="5mbit", loss="2%")
    assert "complete" in done.stdout
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ._binary import TrackbedError, find, flags, message, settings

# The exit status of `trackbed link` if the link failed.
LINK_FAILED = 125


class Link:
    """Starts programs behind a link: see `trackbed link --help`."""

    host = "100.64.0.1"
    """This machine as the program sees it: a server on 127.0.0.1 has this address."""

    def __init__(self, program: str) -> None:
        self.program = program

    def command(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        set: Mapping[str, Any] | None = None,
        up: Mapping[str, Any] | None = None,
        down: Mapping[str, Any] | None = None,
        **link: Any,
    ) -> list[str]:
        """Return the words that run a command behind a link, for subprocess.Popen.

        `link` has the options of `trackbed link`: `rate="10mbit", delay="20ms", loss="1%",
        queue="codel", seed=2`. `set`, `up` and `down` have other keys of the link, for both
        directions or one: `down={"rate": "50mbit"}`.
        """
        words = settings("--set", set) + settings("--up", up) + settings("--down", down)
        return [self.program, "link", *flags(link), *words, "--", *(os.fspath(word) for word in command)]

    def run(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        check: bool = True,
        timeout: float | None = 60,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        **link: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command behind a link, as subprocess.run does, and return its output as text.

        `link` is as for `command`. Raises TrackbedError if the link fails, and, with `check`,
        CalledProcessError if the command does.
        """
        done = subprocess.run(
            self.command(command, **link),
            timeout=timeout,
            input=input,
            env=env,
            cwd=cwd,
            capture_output=True,
            text=True,
        )
        if done.returncode == LINK_FAILED:
            raise TrackbedError(message(done.returncode, done.stderr))
        if check:
            done.check_returncode()
        return done


@pytest.fixture(scope="session")
def trackbed_link() -> Link:
    """Programs behind an emulated link; skips where this machine allows no namespaces."""
    link = Link(find())
    try:
        link.run(["true"])
    except TrackbedError as why:
        pytest.skip(f"trackbed link does not work on this machine: {why}")
    return link
