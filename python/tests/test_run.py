"""Running scenarios: settings, errors, progress, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import trackbed
from trackbed._binary import find, flags, settings

ONE_CELL = {"protocol": "quic", "handshake": "new"}


def test_settings_and_options_reach_the_program(tmp_path: Path) -> None:
    loss = ["0%", "1%"]
    results = trackbed.run("vru", set={**ONE_CELL, "link.loss": loss}, runs=3, seed=7, out=tmp_path)
    assert [cell["factors"]["loss"] for cell in results.document["cells"]] == [0, 0.01]
    assert [check["pass"] for check in results.document["checks"]] == list(results.checks["pass"]) != []
    assert results.document["runs"] == 3 and results.document["seed"] == 7
    assert flags({"keep_invalid": True, "json": False, "part": ["a", "b"], "until": None}) == [
        "--keep-invalid",
        "--part=a",
        "--part=b",
    ]
    assert settings("--set", {"a.b": [1, 2.5], "c": True}) == ["--set=a.b=1,2.5", "--set=c=true"]


def test_each_run_without_out_has_its_own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = (trackbed.run("vru", set=ONE_CELL, runs=1) for _ in range(2))
    assert [str(one.directory) for one in (first, second)] == [
        "trackbed-out/vru-1",
        "trackbed-out/vru-2",
    ]
    with pytest.raises(trackbed.TrackbedError):
        trackbed.run("vru", set={"no.such.key": 1})
    assert sorted(path.name for path in Path("trackbed-out").iterdir()) == ["vru-1", "vru-2"]


def test_an_unknown_key_has_the_message_of_the_program(tmp_path: Path) -> None:
    words = [find(), "run", "vru", "--set", "link.los=1%", "--out", str(tmp_path)]
    message = subprocess.run(words, capture_output=True, text=True).stderr.strip()
    with pytest.raises(trackbed.TrackbedError) as refused:
        trackbed.run("vru", set={"link.los": "1%"}, out=tmp_path)
    assert "error: " + str(refused.value) == message
    assert 'did you mean "loss"?' in str(refused.value)


def test_failed_runs_are_a_warning(tmp_path: Path) -> None:
    with pytest.warns(trackbed.TrackbedWarning, match="2 runs failed"):
        results = trackbed.run("vru", set={**ONE_CELL, "link.loss": "100%"}, runs=2, out=tmp_path)
    assert list(results.runs.outcome) == ["failed", "failed"]
    assert all(results.runs.reason)


def test_progress_counts_the_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trackbed.run("vru", runs=50, out=tmp_path, progress=True)
    assert capsys.readouterr().err.endswith("\r550 of 550 runs\n")


SCRIPT = """
import sys, warnings, trackbed
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = trackbed.run("vru", runs=100000, out=sys.argv[1], progress=True)
print(len(results.runs), results.document["cells"][0]["metrics"]["rtt_ms"]["n"] > 0)
print(caught[0].message)
"""


def test_ctrl_c_keeps_the_finished_runs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", SCRIPT, str(out)]
    # As from a terminal: Ctrl-C reaches the whole process group.
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (out / "run.json").is_file():
        assert child.poll() is None
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)
    stdout, stderr = child.communicate(timeout=60)
    assert child.returncode == 0, stderr
    counts, warning = stdout.splitlines()
    count, has_samples = counts.split()
    assert 0 < int(count) < 11 * 100000 and has_samples == "True"
    assert warning.startswith("interrupted: these are the finished runs; out=")
    assert " of 1100000 runs" in stderr


def test_a_missing_program_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = find()
    monkeypatch.setenv("TRACKBED_BIN", str(tmp_path / "absent"))
    with pytest.raises(trackbed.TrackbedError, match=r"TRACKBED_BIN is .*absent"):
        trackbed.run("vru")
    monkeypatch.delenv("TRACKBED_BIN")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(tmp_path / "scripts"))
    monkeypatch.setenv("PATH", str(tmp_path / "on-path"))
    with pytest.raises(trackbed.TrackbedError, match="is not installed; run: pip install trackbed"):
        trackbed.run("vru")
    # The nearest one is used: on PATH, then beside Python.
    for folder in ("on-path", "scripts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "trackbed").symlink_to(built)
        assert find() == str(tmp_path / folder / "trackbed")


def test_shards_and_object_stores_are_refused() -> None:
    with pytest.raises(trackbed.TrackbedError, match="need the command line"):
        trackbed.run("vru", shard="1/2")
    with pytest.raises(trackbed.TrackbedError, match="need the command line"):
        trackbed.run("vru", out="s3://bucket/folder")
