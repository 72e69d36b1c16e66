"""Sphinx on a small book, as strict as the real build, with extensions of ``book/_ext``."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

Build = Callable[[Path, Path], CompletedProcess[str]]
EXTENSIONS = Path(__file__).resolve().parents[1] / "book" / "_ext"


def configuration(*extensions: str, **settings: object) -> str:
    """The text of a ``conf.py``."""
    lines = ["import sys", f"sys.path.insert(0, {str(EXTENSIONS)!r})", f"extensions = {['myst_nb', *extensions]!r}"]
    settings = {"nb_execution_mode": "off", "html_theme": "basic"} | settings
    return "\n".join([*lines, *(f"{name} = {value!r}" for name, value in settings.items())]) + "\n"


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "-b", "html", str(source), str(out)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}, check=False)
