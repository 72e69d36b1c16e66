"""nbval on a folder of small notebooks, called as ``make nbval`` calls it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

Nbval = Callable[..., CompletedProcess[str]]
ROOT = Path(__file__).parents[2]


def write(folder: Path, name: str, *cells: tuple[str, str, dict]) -> None:
    """A notebook of code cells, each given by its source, its stored output and its metadata."""
    made = [
        new_code_cell(source, metadata=meta, outputs=[new_output("stream", text=out)] if out else [], execution_count=1)
        for source, out, meta in cells
    ]
    nbformat.write(new_notebook(cells=made), folder / f"{name}.ipynb")


def nbval(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run it; the outer run's workers leave variables that would make the inner run think it is one of them."""
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", f"--rootdir={ROOT}", "-p", "no:cacheprovider"]
    command += ["@tests/notebooks/nbval.args", *options, str(folder)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment |= {"TQDM_DISABLE": "1", "PYTHONPATH": "tests/notebooks"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
