"""Puts the strategies that draw machines on the path of these tests."""

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

# The room needs neither AALpy nor torch, but what these tests are about does.
NEEDED = {"test_exchange.py": "aalpy", "test_learning.py": "aalpy", "test_named.py": "aalpy", "test_names.py": "torch"}
collect_ignore = [test for test, package in NEEDED.items() if not find_spec(package)]
