"""Puts the nets of these tests on their path."""

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# What is about torch is passed over where it is missing: the room itself needs it not.
OF_TORCH = ("test_table.py", "test_torch_halting.py", "test_torch_recognizer.py")
collect_ignore = [] if find_spec("torch") else [*OF_TORCH]
