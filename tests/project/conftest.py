"""Puts the tools of the book on the path of these tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "tools"))
