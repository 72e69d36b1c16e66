"""Puts the helpers that make stable cells on the path of these tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]
