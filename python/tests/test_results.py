"""What data frames contain, compared with the files and with `trackbed export`."""

from __future__ import annotations

import io
import json
import math
import sys
from pathlib import Path

import pandas as pd
import pytest

import trackbed
from trackbed._binary import call


def exported(results: trackbed.Results, table: str) -> pd.DataFrame:
    text = call(["export", str(results.directory), "--table", table]).stdout
    return pd.read_csv(io.StringIO(text), dtype={"tls": str})


@pytest.mark.parametrize("table", ["cells", "runs", "samples", "differences"])
def test_a_frame_has_what_export_writes(results: trackbed.Results, table: str) -> None:
    ours, theirs = getattr(results, table), exported(results, table)
    common = [name for name in ours.columns if name in theirs.columns]
    assert common == list(theirs.columns)
    assert len(ours) > 0
    ours = ours[common].where(ours[common].notna(), math.nan)
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, rtol=1e-12)


def test_values_are_those_of_the_document(results: trackbed.Results) -> None:
    document = json.loads((results.directory / "run.json").read_text())
    assert results.document == document
    assert results.answer == document["answer"][0]["text"]
    assert results.metric == document["answer"][0]["metric"] == "completion_ms"
    assert results.labels == ["quic", "http2"] and set(results.metrics) == set(
        document["cells"][0]["metrics"]
    )
    cells = results.cells
    for number, cell in enumerate(document["cells"]):
        row = cells[(cells.cell == number) & (cells.metric == "completion_ms")].iloc[0]
        summary = cell["metrics"]["completion_ms"]
        assert [row["p50"], row["mean"]] == [summary["p50"], summary["mean"]]
        assert [row["p50_ci95_low"], row["p50_ci95_high"]] == summary["p50_ci95"]
    for number, difference in enumerate(document["differences"]):
        row = results.differences.iloc[number]
        assert [row["mean"], row["verdict"]] == [difference["mean"], difference["verdict"]]
        if difference["metric"] == "completion_ms":
            assert row["median"] == difference["median"]["value"]
            assert row["median_verdict"] == difference["median"]["verdict"]
    assert results.checks.empty and list(results.checks.columns) == ["name", "pass", "detail"]
    assert "2 cells, 12 runs each" in repr(results)


def test_timelines_are_those_of_the_files(tmp_path: Path) -> None:
    results = trackbed.run("streaming", part="pieces by reconnections", quick=True, runs=1, out=tmp_path)
    files = sorted((results.directory / "timelines").iterdir())
    lines = [line for file in files for line in file.read_text().splitlines()[1:]]
    timelines = results.timelines
    assert len(timelines) == len(lines) > 0
    at, change, value = files[0].read_text().splitlines()[1].split(",")
    assert timelines.iloc[0].to_dict() == {
        "cell": int(files[0].stem.split("-")[1]),
        "run": 0,
        "at": pd.Timedelta(at),
        "change": change,
        "value": value,
    }


def test_where_nothing_changes_timelines_are_empty(results: trackbed.Results) -> None:
    assert list(results.timelines.columns) == ["cell", "run", "at", "change", "value"]
    assert results.timelines.empty


def test_the_figure_shows_medians_and_intervals(results: trackbed.Results) -> None:
    pytest.importorskip("matplotlib").use("agg")
    axes = results.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == results.labels
    summaries = [cell["metrics"]["completion_ms"] for cell in results.document["cells"]]
    medians = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]  # type: ignore[index]
    assert medians == [summary["p50"] for summary in summaries]
    bars = [bar.get_segments()[0][:, 0].tolist() for bar in axes.collections]  # type: ignore[attr-defined]
    for summary in summaries:
        assert summary["p50_ci95"] in bars and [summary["min"], summary["max"]] in bars
    file = io.BytesIO()
    axes.figure.savefig(file, format="pdf")  # type: ignore[union-attr]
    assert b"/CIDFontType2" in file.getvalue() and b"/Type3" not in file.getvalue()
    with pytest.raises(trackbed.TrackbedError, match=r"no cell has the metric speed; there are .*rtt_ms"):
        results.plot("speed")


def test_a_directory_without_results_is_refused(tmp_path: Path) -> None:
    refused = "this is not a run directory; `trackbed run SCENARIO --out DIR` creates one"
    with pytest.raises(trackbed.TrackbedError, match=refused):
        trackbed.load(tmp_path)
    (tmp_path / "about.json").write_text("{}")
    with pytest.raises(trackbed.TrackbedError, match="has no summary yet"):
        trackbed.load(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(trackbed.TrackbedError, match=r"run\.json is damaged"):
        trackbed.load(tmp_path)
    (tmp_path / "run.json").write_text('{"schema": 2}')
    with pytest.raises(trackbed.TrackbedError, match="has format 2, but this package reads"):
        trackbed.load(tmp_path)


@pytest.mark.parametrize("module, extra", [("pandas", "pandas"), ("matplotlib.pyplot", "plot")])
def test_a_missing_package_is_named_with_its_remedy(
    results: trackbed.Results, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    loaded = trackbed.load(results.directory)
    assert loaded.answer
    with pytest.raises(trackbed.TrackbedError) as refused:
        _ = loaded.cells if extra == "pandas" else loaded.plot()
    package = module.split(".")[0]
    assert str(refused.value) == f"{package} is not installed; run: pip install 'trackbed[{extra}]'"
