"""Which version this is, which setuptools-scm makes of the last tag when the package is built, and what it carries."""

import json
import os
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

__all__ = ["COMMAND_SECONDS", "commit_of_package", "installed", "release_of", "revision", "shipped"]

COMMAND_SECONDS = 10


def installed() -> str:
    """The version of the distribution; ``0`` where the sources are only on the path."""
    try:
        return distribution("fhx").version
    except PackageNotFoundError:
        return "0"


def shipped() -> Path:
    """The folder of results that the package carries: its own, or that of the clone that it runs from."""
    package = Path(os.path.abspath(__file__)).parent
    inside = package / "results"
    return inside if inside.is_dir() else package.parents[1] / "results"


def release_of(version: str) -> str:
    """What comes before the marks of a commit: ``0.2`` of ``0.2.dev7+g1a2b3c4``."""
    return version.partition("+")[0].partition(".dev")[0]


def revision(folder: Path) -> str | None:
    """What git calls the state of a clone: the tag of a release, such as ``v0.2.0``, else the whole name of the commit.

    None if the folder is not in a clone, or there is no git.
    """
    tags = _git(folder, "tag", "--points-at", "HEAD", "--list", "v[0-9]*", "--sort=-version:refname")
    return tags.split("\n")[0] if tags else _git(folder, "rev-parse", "HEAD")


@cache
def commit_of_package() -> str | None:
    """The commit of the code that runs, with ``+`` behind it if the files were changed since; None where nobody knows.

    A clone is asked, or what pip has noted when it installed from a repository.
    """
    here = Path(__file__).parent
    if _git(here, "ls-files", "--error-unmatch", Path(__file__).name):
        commit = _git(here, "rev-parse", "HEAD")
        return commit and commit + ("+" if _git(here, "status", "--porcelain", "--", ".") else "")
    try:
        noted = json.loads(distribution("fhx").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return None
    return noted.get("vcs_info", {}).get("commit_id")


def _git(folder: Path, *words: str) -> str | None:
    """What a command says; None if it fails or says nothing."""
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
