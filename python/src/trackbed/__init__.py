"""Run Trackbed's scenarios, and read their results as pandas data frames.

>>> results = trackbed.run("vru", set={"link.loss": "1%"})
>>> results.plot()
"""

from ._binary import TrackbedError
from ._compare import Comparison, compare
from ._results import Results, load
from ._run import TrackbedWarning, run

__all__ = ["Comparison", "Results", "TrackbedError", "TrackbedWarning", "compare", "load", "run"]
