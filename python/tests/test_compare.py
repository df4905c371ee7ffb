"""The comparison of two run directories."""

from __future__ import annotations

from pathlib import Path

import pytest

import trackbed


def test_a_longer_delay_is_worse_and_the_same_results_are_not(
    results: trackbed.Results, tmp_path: Path
) -> None:
    same = trackbed.compare(results, results.directory)
    assert not same.is_worse and set(same.cells.verdict) == {"equal"}

    settings = {"protocol": ["quic", "http2"], "tls": "1.3", "handshake": "new", "link.loss": "2%"}
    slow = trackbed.run("vru", set={**settings, "link.delay": "50ms"}, runs=12, out=tmp_path)
    worse = trackbed.compare(results, slow, metric=["rtt_ms", "completion_ms"])
    assert worse.is_worse
    cells = worse.cells
    assert len(cells) == 4 and set(cells.metric) == {"rtt_ms", "completion_ms"}
    for row, cell in zip(cells.to_dict("records"), worse.document["cells"]):
        assert [row["before"], row["after"]] == cell["means"]
        assert [row["low"], row["high"]] == cell["interval"]
        assert row["difference"] == cell["difference"] and row["percent"] == cell["percent"][0]


def test_an_error_has_the_message_of_the_program(results: trackbed.Results, tmp_path: Path) -> None:
    with pytest.raises(trackbed.TrackbedError, match="this is not a run directory"):
        trackbed.compare(results, tmp_path)
