"""The comparison of two run directories."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._binary import call, flags
from ._results import PathLike, Results, _frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """What `trackbed compare` prints about two run directories.

    `document` is its JSON. `is_worse` is true where its exit status is 1: a cell is worse, fails more often,
    is missing, or with `no_worse_than` is not shown to be no worse. `is_undecided` is true where it is 3:
    the runs are too few to decide.
    """

    document: dict[str, Any]
    is_worse: bool
    is_undecided: bool = False

    @property
    def cells(self) -> pd.DataFrame:
        """A row for each comparison: both medians or means, the difference, its interval, the verdicts."""
        rows = []
        for cell in self.document["cells"]:
            row = {**cell["factors"], "metric": cell["metric"]}
            row["before"], row["after"] = cell["means"]
            row["difference"] = cell["difference"]
            row["low"], row["high"] = cell["interval"] or (None, None)
            row["percent"] = (cell["percent"] or [None])[0]
            row.update({key: cell[key] for key in ("p_adjusted", "verdict", "regression")})
            rows.append(row)
        return _frame(rows)


def compare(before: Results | PathLike, after: Results | PathLike, **options: Any) -> Comparison:
    """Compare two run directories as `trackbed compare` does.

    The options are those of the program: `metric="rtt_ms"`, `no_worse_than="3%"`.
    """
    directories = [str(one.directory if isinstance(one, Results) else one) for one in (before, after)]
    words = ["compare", "--json", *flags(options), "--", *directories]
    done = call(words, accepted=(0, 1, 3))
    status = done.returncode
    return Comparison(json.loads(done.stdout), is_worse=status == 1, is_undecided=status == 3)
