"""Files that are written all at once: whoever looks finds the old content or the new one, never half of it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["replacing", "write_atomically"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path``, which takes its place when the block ends, and goes when the block raises.

    A file that is replaced passes its permissions on.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.incomplete")
    try:
        yield temporary
        with suppress(FileNotFoundError):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, and the folders that it lies in, all at once."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
