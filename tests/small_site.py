"""Sphinx on a small book, as strict as the real build, with extensions of ``book/_ext``."""

import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple


class Built(NamedTuple):
    """How a build ended, and what it complained of."""

    returncode: int
    stderr: str


Build = Callable[[Path, Path], Built]
EXTENSIONS = Path(__file__).resolve().parents[1] / "book" / "_ext"


def configuration(*extensions: str, **settings: object) -> str:
    """The text of a ``conf.py``."""
    lines = ["import sys", f"sys.path.insert(0, {str(EXTENSIONS)!r})", f"extensions = {['myst_nb', *extensions]!r}"]
    settings = {"nb_execution_mode": "off", "html_theme": "basic"} | settings
    return "\n".join([*lines, *(f"{name} = {value!r}" for name, value in settings.items())]) + "\n"


def build(source: Path, out: Path) -> Built:
    """In this process, which has imported already what a new one would import again for each book."""
    from sphinx.cmd.build import build_main  # which rooms of the package have no use for

    said = io.StringIO()
    with warnings.catch_warnings(), redirect_stderr(said), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        status = build_main(["-q", "-W", "-n", "--keep-going", "-b", "html", str(source), str(out)])
    return Built(status, said.getvalue())
