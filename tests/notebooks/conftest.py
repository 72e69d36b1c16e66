"""Puts the notebook tools and the house rules on the path of these tests."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / "book" / "tools"), str(HERE)]

import nbval_run  # noqa: E402


@pytest.fixture(scope="session")
def nbval() -> nbval_run.Nbval:
    """``nbval(folder, ...)`` runs the notebooks of a folder."""
    return nbval_run.nbval
