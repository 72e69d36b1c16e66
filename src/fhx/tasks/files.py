"""Finding a data file: in the folder that ``FHX_DATA`` names, else in the cache, else where it is published.

A file is taken only if its content has a known hash. A download is written to a temporary file and moved to its
place when it is complete and right, so an interrupted, truncated or wrong one leaves nothing behind.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from fhx._checks import positive
from fhx._extras import needs
from fhx._files import replacing
from fhx.tasks.registry import FILES, DataFile

TIMEOUT = (10, 60)
"""Seconds to wait for a connection, and for the next bytes."""


class DataNotFoundError(FileNotFoundError):
    """A data file cannot be found; the message says where it was looked for and how to get it."""


class DataCorruptError(ValueError):
    """A data file does not have the content that it is known by; the message names the file and the hashes."""


def data_folder() -> Path | None:
    """The folder that the environment variable ``FHX_DATA`` names, or None."""
    value = os.environ.get("FHX_DATA")
    return Path(value).expanduser() if value else None


def cache_folder() -> Path:
    """The folder that ``FHX_CACHE`` names, else the operating system's cache folder for this book."""
    if value := os.environ.get("FHX_CACHE"):
        return Path(value).expanduser()
    with needs("data"):
        import pooch  # whoever downloads nothing needs it not
    return Path(pooch.os_cache("fhx"))


def fingerprint(content: bytes, scheme: str) -> str:
    """``scheme:hex`` of the content; ``gitblob`` is the id that git gives it.

    That is SHA-1 over ``blob <length>``, a zero byte and the content.

    Raises:
        ValueError: the scheme is neither ``sha256`` nor ``gitblob``.
    """
    if scheme == "sha256":
        return f"sha256:{hashlib.sha256(content).hexdigest()}"
    if scheme == "gitblob":
        header = b"blob %d\0" % len(content)
        return f"gitblob:{hashlib.sha1(header + content, usedforsecurity=False).hexdigest()}"
    raise ValueError(f"unknown hash scheme {scheme!r}; known are 'sha256' and 'gitblob'")


def verify(path: Path, file: DataFile) -> Path:
    """Return ``path`` if its content is that of ``file``.

    Raises:
        DataCorruptError: it is not; the message names the file, the expected and the found hashes.
    """
    content = path.read_bytes()
    found = {hash_: fingerprint(content, hash_.partition(":")[0]) for hash_ in file.hashes}
    if any(hash_ == value for hash_, value in found.items()):
        return path
    schemes = dict.fromkeys(found.values())
    raise DataCorruptError(
        f"{path} ({len(content):,} bytes) is not the {file.name} this book knows: "
        f"expected {' or '.join(file.hashes)}, found {' and '.join(schemes)}. "
        f"Delete it, or put the file from {file.urls[0]} in its place."
    )


def locate(name: str | DataFile, cache: Path | str | None = None, attempts: int = 3, pause: float = 0.5) -> Path:
    """The path of a data file with the right content, downloaded if need be.

    It is looked for in the folder that the environment variable ``FHX_DATA`` names, then in the cache, then
    where it is published. An interrupted, truncated or wrong download leaves nothing behind.

    Args:
        name: a key of ``FILES``, or a description of some other file.
        cache: folder for downloads; None: the one that ``FHX_CACHE`` names, else the system's cache folder.
        attempts: how often every address is tried.
        pause: seconds between the first two rounds of attempts; it doubles each time.

    Raises:
        ValueError: no file of this name is known, or ``attempts`` < 1.
        DataCorruptError: the file is there with the wrong content.
        DataNotFoundError: the file is not there and cannot be downloaded.
    """
    if isinstance(name, str) and name not in FILES:
        raise ValueError(f"no data file {name!r} is known; known are {', '.join(FILES)}")
    positive("attempts", attempts)
    file = FILES[name] if isinstance(name, str) else name
    folder, target = data_folder(), (cache_folder() if cache is None else Path(cache)) / file.name
    local = [target] if folder is None else [folder / file.name, target]
    for path in local:
        if path.is_file():
            return verify(path, file)
    reasons: dict[str, str] = {}
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        for url in file.urls:
            try:
                return download(url, file, target)
            # The errors of requests are OSErrors, and so are a full disk and a folder without permission.
            except (OSError, DataCorruptError) as error:
                reasons[url] = _reason(error)
    raise DataNotFoundError("\n".join(_where_and_how(file, folder, target, reasons)))


def download(url: str, file: DataFile, target: Path) -> Path:
    """Fetch ``file`` from ``url`` once, with a progress bar, and move it to ``target`` when complete and right."""
    with needs("data"):
        import pooch  # whoever downloads nothing needs it not
    with replacing(target) as temporary:
        # A bar without a total is false as a condition; the downloader sets the real one.
        with tqdm(desc=file.name, total=1, unit="B", unit_scale=True, leave=False) as bar:
            pooch.HTTPDownloader(progressbar=bar, chunk_size=2**16, timeout=TIMEOUT)(url, str(temporary), None)
        verify(temporary, file)
    return target


def _reason(error: Exception) -> str:
    if isinstance(error, DataCorruptError):
        return "the download has the wrong hash: " + str(error).partition(": ")[2].partition(". Delete")[0]
    cause = getattr(error.args[0], "reason", None) if error.args else None  # what lies under a failed connection
    return f"{type(error).__name__}: {cause or error}"


def _where_and_how(file: DataFile, folder: Path | None, target: Path, reasons: dict[str, str]) -> Iterator[str]:
    yield f"the data file {file.name} cannot be found. It was looked for in"
    missing = "" if folder is None or folder.is_dir() else ", the folder does not exist"
    yield "- FHX_DATA: " + ("not set" if folder is None else f"no file {folder / file.name}{missing}")
    yield f"- the cache: no file {target}"
    yield from (f"- {url}: {reason}" for url, reason in reasons.items())
    yield f"To get it by hand, download {file.urls[0]}"
    yield f"({' or '.join(file.hashes)}) and save it as {target},"
    yield f"or as {file.name} in a folder that the environment variable FHX_DATA names."
