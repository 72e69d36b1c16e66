"""The names of files of trained nets in the cache of the package."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def file_of(told: Mapping[str, Any]) -> str:
    """The name of the file of a net, by all that it depends on, as JSON can hold it."""
    return f"{hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]}.pt"
