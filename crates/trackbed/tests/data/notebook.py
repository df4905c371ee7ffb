"""Executes a notebook in a kernel of its own, as Jupyter does, and fails where a cell does.

usage: notebook.py NOTEBOOK. Prints what its cells print, and says how many figures they made.
"""

import sys
import warnings

# Older kernels warn of what newer ones will do.
warnings.filterwarnings("ignore", category=DeprecationWarning)

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
for cell in notebook.cells:
    if cell.cell_type == "code":
        assert not cell.outputs and cell.execution_count is None, "commit it without outputs"
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
figures = 0
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            print(output.text, end="")
        figures += "image/png" in output.get("data", {})
print(f"figures: {figures}")
