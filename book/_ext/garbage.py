"""The build looks for garbage seldom: the trees of the pages are alive, and to walk them every few hundred new nodes
took more than a third of its time. For that it needs 1.6 GB in place of 1.2."""

from __future__ import annotations

import gc

from sphinx.application import Sphinx

NODES = 2_000_000
"""So many new objects are awaited before the youngest are looked through; Python's own number is 700."""


def setup(app: Sphinx) -> dict[str, bool]:
    gc.set_threshold(NODES, 10, 10)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
