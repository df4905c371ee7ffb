"""The main figure of the report, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._binary import TrackbedError, package
from ._results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The report shows no interval of fewer runs.
RUNS_MIN = 6


def plot(results: Results, metric: str, ax: Axes | None) -> Axes:
    """Draw a row for each cell that has the metric."""
    cells = zip(results.labels, results.document["cells"])
    rows = [(label, cell["metrics"][metric]) for label, cell in cells if metric in cell["metrics"]]
    if not rows:
        raise TrackbedError(f"no cell has the metric {metric}; there are {', '.join(results.metrics)}")
    if ax is None:
        size = (8, 1.5 + 0.35 * len(rows))
        # Publishers refuse matplotlib's default, Type 3.
        package("matplotlib", "plot").rcParams["pdf.fonttype"] = 42
        _, ax = package("matplotlib.pyplot", "plot").subplots(figsize=size, layout="constrained")
    for place, (_, summary) in enumerate(rows):
        _draw(ax, place, summary, metric.endswith("_ms"))
    ax.set_yticks(range(len(rows)), [label for label, _ in rows])
    ax.grid(axis="x", alpha=0.3)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set(xlabel=metric, title=results.document["scenario"])
    least = min(summary["min"] for _, summary in rows)
    if 0 < 50 * least < max(summary["max"] for _, summary in rows):
        ax.set_xscale("log")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def _draw(ax: Axes, place: int, summary: dict[str, Any], by_median: bool) -> None:
    """Draw the range of a cell, its median or mean with the interval, and two quantiles."""
    key, name = ("p50", "median") if by_median else ("mean", "mean")
    interval = summary.get("p50_ci95") if by_median else summary["ci95"]
    # One entry of the legend for all cells.
    shown = "" if place == 0 else "_"
    ax.hlines(place, summary["min"], summary["max"], color="0.8", label=f"{shown}all samples")
    if interval and summary["n"] >= RUNS_MIN:
        label = f"{shown}95 % interval"
        ax.hlines(place, *interval, color="tab:blue", linewidth=6, alpha=0.5, label=label)
    ax.plot(summary[key], place, "o", color="tab:blue", label=f"{shown}{name}")
    ax.plot(summary["p95"], place, "|", color="0.3", label=f"{shown}p95")
    ax.plot(summary["p99"], place, "x", color="0.3", label=f"{shown}p99")
