"""Puts the nets of these tests on the path."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]
