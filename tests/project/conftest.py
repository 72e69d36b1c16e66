"""Puts the tools of the book, and the helpers beside these tests, on their path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / "book" / "tools"), str(HERE)]
