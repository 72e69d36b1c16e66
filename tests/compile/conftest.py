"""Puts the strategies of these tests on their path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
