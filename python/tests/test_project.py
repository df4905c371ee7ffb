"""The notebooks, the page of the book, types and style."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_committed_without_outputs(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()
    outputs = [output for cell in cells for output in cell.outputs]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "how-to" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    tests = [block for block in blocks if "def test_" in block]
    code = "\n".join(block for block in blocks if block not in tests)
    backend = "import matplotlib\nmatplotlib.use('agg')\n"
    subprocess.run([sys.executable, "-c", backend + code], cwd=tmp_path, check=True, timeout=120)
    assert len(blocks) > 1 and len(tests) == 1


PATHS = "--config pyproject.toml . ../examples/notebooks"


@pytest.mark.parametrize("words", ["mypy", f"ruff check {PATHS}", f"ruff format --check {PATHS}"])
def test_types_and_style(words: str) -> None:
    tool = words.split()[0]
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    command = [sys.executable, "-m", *words.split()]
    done = subprocess.run(command, cwd=REPOSITORY / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_version_is_that_of_the_workspace() -> None:
    ours, theirs = (
        re.search(r'^version = "(.*?)"', (REPOSITORY / path).read_text(), re.MULTILINE)
        for path in ("python/pyproject.toml", "Cargo.toml")
    )
    assert ours and theirs and ours[1] == theirs[1]
