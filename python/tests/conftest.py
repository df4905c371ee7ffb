"""What the tests share: the program as built, and results of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import trackbed

pytest_plugins = ["pytester", "trackbed.pytest_plugin"]

REPOSITORY = Path(__file__).parents[2]


def pytest_configure() -> None:
    if "TRACKBED_BIN" not in os.environ:
        built = [REPOSITORY / "target" / profile / "trackbed" for profile in ("release", "checked")]
        for program in filter(Path.is_file, built):
            os.environ.setdefault("TRACKBED_BIN", str(program))
    # For kernels of notebooks and other programs that tests start.
    os.environ["PYTHONPATH"] = str(REPOSITORY / "python" / "src")


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> trackbed.Results:
    """Two protocols on a link that loses packets."""
    settings = {"protocol": ["quic", "http2"], "tls": "1.3", "handshake": "new", "link.loss": "2%"}
    return trackbed.run("vru", set=settings, runs=12, out=tmp_path_factory.mktemp("of") / "results")
