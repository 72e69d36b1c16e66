"""Puts the notebook tools and the house rules on the path of these tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "book" / "tools"), str(Path(__file__).parent)]
