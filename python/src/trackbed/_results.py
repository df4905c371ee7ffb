"""A run directory, read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ._binary import TrackbedError, package

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PathLike = Union[str, "os.PathLike[str]"]

# The version of run.json that this package reads.
SCHEMA = 1

QUANTILE_INTERVALS = ("p50_ci95", "p95_ci95", "p99_ci95")


def load(directory: PathLike) -> Results:
    """Read the run directory that `trackbed run --out DIRECTORY` wrote.

    Raises TrackbedError if it is not a run directory.
    """
    return Results(directory)


class Results:
    """The results of a run directory.

    `document` is run.json. The data frames have the columns of `trackbed export` (docs/files.md) and are
    read when you ask for them.
    """

    directory: Path
    document: dict[str, Any]

    def __init__(self, directory: PathLike) -> None:
        self.directory = Path(directory)
        self.document = _read_document(self.directory)

    @property
    def answer(self) -> str:
        """The sentence that the runs support, one line for each part; empty for a single cell."""
        answers = self.document.get("answer", [])
        parts = [f"{answer['part']}: " if answer.get("part") else "" for answer in answers]
        return "\n".join(part + answer["text"] for part, answer in zip(parts, answers))

    @property
    def metrics(self) -> list[str]:
        """The names of all metrics."""
        return sorted({name for cell in self.document["cells"] for name in cell["metrics"]})

    @property
    def metric(self) -> str:
        """The metric of the answer; without an answer, the completion time or the first metric."""
        answers = [answer["metric"] for answer in self.document.get("answer", []) if answer.get("metric")]
        names: list[str] = [
            name for name in (*answers, "completion_ms", *self.metrics) if name in self.metrics
        ]
        if not names:
            raise TrackbedError(f"{self.directory}: no run has results; `runs` has the reasons")
        return names[0]

    @property
    def factors(self) -> list[str]:
        """The names of the factors, in the order of the scenario."""
        return list(dict.fromkeys(name for cell in self.document["cells"] for name in cell["factors"]))

    @property
    def labels(self) -> list[str]:
        """A name for each cell, of the factors that vary: `quic early`."""
        cells = [cell["factors"] for cell in self.document["cells"]]
        varied = [name for name in self.factors if len({repr(cell.get(name)) for cell in cells}) > 1]
        return [_label(cell, varied or self.factors) for cell in cells]

    @property
    def cells(self) -> pd.DataFrame:
        """A row for each metric of each cell: mean, interval, quantiles, counts."""
        rows = []
        for number, cell in enumerate(self.document["cells"]):
            counts = {"failed": cell["failed"], "invalid": cell.get("invalid", 0)}
            for metric, summary in cell["metrics"].items():
                # Few samples give no interval of a quantile; its columns are there all the same.
                intervals = {name: summary.get(name) for name in QUANTILE_INTERVALS}
                row = {**self._names(number), "metric": metric, **_split(summary), **counts}
                rows.append({**row, **_split(intervals)})
        return _frame(rows)

    @property
    def runs(self) -> pd.DataFrame:
        """A row for each run: `outcome` (ok, failed, invalid), `reason`, and its mean of each metric."""
        rows = []
        for line in _read(self.directory / "runs.jsonl").splitlines():
            run = json.loads(line)
            samples = run["outcome"].get("samples")
            is_invalid = (run.get("certificate") or {}).get("verdict") == "invalid"
            row = {**self._names(run["cell"]), "run": run["run"]}
            row["outcome"] = "failed" if samples is None else "invalid" if is_invalid else "ok"
            row["reason"] = run["outcome"].get("failed")
            row.update((name, sum(of) / len(of)) for name, of in (samples or {}).items() if of)
            rows.append(row)
        return _frame(sorted(rows, key=lambda row: (row["cell"], row["run"])))

    @property
    def samples(self) -> pd.DataFrame:
        """A row for each sample of each run."""
        path = self.directory / "samples.csv"
        columns = ["cell", "run", "metric", "sample", "value", "phone", "message", "due_ms"]
        try:
            # Earlier versions wrote no messages.
            table = package("pandas").read_csv(path, usecols=lambda name: name in columns)
            samples: pd.DataFrame = table.reindex(columns=columns)
        except (OSError, ValueError) as why:
            raise TrackbedError(f"{path} cannot be read ({why})") from None
        # The document has the factors with their types; a CSV does not.
        names = {number: self._names(number) for number in samples["cell"].unique()}
        for place, factor in enumerate(self.factors):
            values = {number: of[factor] for number, of in names.items()}
            samples.insert(1 + place, factor, samples["cell"].map(values))
        return samples

    @property
    def differences(self) -> pd.DataFrame:
        """A row for each comparison with the best cell, paired by run."""
        rows = []
        for difference in self.document["differences"]:
            median = _split(difference.get("median") or {})
            row = _split({key: value for key, value in difference.items() if key != "median"})
            row.update(("median" if key == "value" else f"median_{key}", of) for key, of in median.items())
            rows.append(row)
        return _frame(rows, "metric cell against mean ci95_low ci95_high percent n verdict")

    @property
    def checks(self) -> pd.DataFrame:
        """A row for each comparison with arithmetic: `name`, `pass`, `detail`."""
        return _frame(self.document["checks"], "name pass detail")

    @property
    def timelines(self) -> pd.DataFrame:
        """A row for each change of the environment, in all runs. It is empty if nothing changes.

        `at` counts from the start of the run. `cell` is the first cell with this environment.
        """
        pandas = package("pandas")
        tables = [pandas.DataFrame(columns=["cell", "run", "at", "change", "value"])]
        for path in self.directory.glob("timelines/cell-*-run-*.csv"):
            _, cell, _, run = path.stem.split("-")
            table = pandas.read_csv(path, dtype=str).assign(cell=int(cell), run=int(run))
            tables.append(table.assign(at=pandas.to_timedelta(table["at"]))[tables[0].columns])
        timelines: pd.DataFrame = pandas.concat(tables[1:] or tables)
        return timelines.sort_values(["cell", "run", "at"], kind="stable", ignore_index=True)

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the distribution of a metric in each cell, with its median and interval.

        The default is the metric by which the cells are ranked. Returns matplotlib's axes.
        """
        from ._plot import plot

        return plot(self, metric or self.metric, ax)

    def __repr__(self) -> str:
        name, runs, cells = (self.document[key] for key in ("scenario", "runs", "cells"))
        return f"<Results of {name}: {len(cells)} cells, {runs} runs each, in {self.directory}>"

    def _names(self, cell: int) -> dict[str, Any]:
        """Return the number and the factors of a cell."""
        factors = self.document["cells"][cell]["factors"]
        return {"cell": cell, **{name: factors.get(name) for name in self.factors}}


def _read_document(directory: Path) -> dict[str, Any]:
    path = directory / "run.json"
    if not (directory / "about.json").is_file():
        remedy = "`trackbed run SCENARIO --out DIR` creates one"
        raise TrackbedError(f"{directory}: this is not a run directory; {remedy}")
    if not path.is_file():
        remedy = "continue it with the command that created it"
        raise TrackbedError(f"{directory}: it has no summary yet; {remedy}")
    try:
        document: dict[str, Any] = json.loads(_read(path))
        schema = document.get("schema", 1)
    except (ValueError, AttributeError) as why:
        raise TrackbedError(f"{path} is damaged ({why})") from None
    if schema > SCHEMA:
        remedy = "run: pip install --upgrade trackbed"
        raise TrackbedError(
            f"{path} has format {schema}, but this package reads formats up to {SCHEMA}; {remedy}"
        )
    return document


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as why:
        raise TrackbedError(f"{path} cannot be read ({why})") from None


def _split(values: dict[str, Any]) -> dict[str, Any]:
    """Split each interval into two columns."""
    row = {}
    for key, value in values.items():
        if key.endswith("ci95"):
            row[f"{key}_low"], row[f"{key}_high"] = value or (None, None)
        else:
            row[key] = value
    return row


def _label(factors: dict[str, Any], names: list[str]) -> str:
    values = {name: factors[name] for name in names if factors.get(name) is not None}
    words = [of if isinstance(of, str) else f"{name} {of}" for name, of in values.items()]
    return " ".join(words) or "all runs"


def _frame(rows: list[dict[str, Any]], columns: str = "") -> pd.DataFrame:
    """Make a table of rows, with these columns if there are none."""
    frame: pd.DataFrame = package("pandas").DataFrame(rows, columns=None if rows else columns.split())
    return frame
