"""The fixture `trackbed_link`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from trackbed import TrackbedError
from trackbed.pytest_plugin import Link

# Prints how long a request took, in milliseconds.
CLIENT = """
import sys, time, urllib.request
start = time.monotonic()
print(urllib.request.urlopen(sys.argv[1]).read().decode(), 1000 * (time.monotonic() - start))
"""


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        pass


def test_a_program_reaches_a_server_of_the_test_over_the_link(trackbed_link: Link) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://{trackbed_link.host}:{server.server_port}"
        done = trackbed_link.run(
            [sys.executable, "-c", CLIENT, address], delay="100ms", down={"rate": "5mbit"}
        )
        server.shutdown()
    text, duration_ms = done.stdout.split()
    # The connection and the request take a round trip each.
    assert text == "hello" and float(duration_ms) >= 400


def test_failures_of_the_command_and_of_the_link_differ(trackbed_link: Link) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        trackbed_link.run(["false"])
    assert trackbed_link.run(["false"], check=False).returncode == 1
    with pytest.raises(TrackbedError, match="los"):
        trackbed_link.run(["true"], set={"los": "1%"})


def test_without_namespaces_the_test_is_skipped(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "trackbed"
    program.write_text("#!/bin/sh\necho 'error: no user namespaces here' >&2\nexit 125\n")
    program.chmod(0o755)
    monkeypatch.setenv("TRACKBED_BIN", os.fspath(program))
    pytester.makeconftest('pytest_plugins = ["trackbed.pytest_plugin"]')
    pytester.makepyfile("def test_it(trackbed_link): assert False")
    ran = pytester.runpytest("-rs")
    ran.assert_outcomes(skipped=1)
    ran.stdout.fnmatch_lines(["*trackbed link does not work on this machine: no user namespaces*"])
