"""Puts the helpers of these tests, and the random machines of the compilers' tests, on the path."""

import sys
from pathlib import Path

here = Path(__file__).parent
sys.path[:0] = [str(here), str(here.parent / "compile")]
