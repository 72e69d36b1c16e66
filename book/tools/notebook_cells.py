r"""What a stored notebook looks like: its two standard cells, its metadata, its hash.

The standard cells are written here and nowhere else, and every address in them derives from ``repository`` in
``_config.yml``. The hash kept with a notebook, ``fhx.code_sha256``, is that of its code cells when they last
ran. Ids that an author chose are kept; random ones are replaced by a hash of the cell, and times, versions and widget
states are dropped, so that a second run with the same outputs gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from fhx.course.notebooks import NotebookError, is_code, is_markdown, tags

ROOT = Path(__file__).resolve().parents[2]
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
KEPT_IN_NOTEBOOK = {"mystnb", "myst", "fhx"}
DROPPED_FROM_CELLS = {"execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "outputId", "id", "colab"}
RANDOM_ID = re.compile(r"c-[0-9a-f]{8}(-\d+)?|[0-9a-f]{8}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TITLE = re.compile(r"\A(?P<label>\([\w:-]+\)=\n+)?(?P<title># [^\n]+)")

LAUNCH = "{label}{title}\n\nRun it in [Colab]({colab}), on [Binder]({binder}), or see its [source]({source})."
SETUP = """\
import platform
import subprocess
import sys
from importlib import metadata

REVISION = "{branch}"
try:  # this version, or a clone of the reader's
    origin = metadata.distribution("fhx").read_text("direct_url.json") or ""
    is_there = REVISION in ("{branch}", "v" + metadata.version("fhx")) or REVISION in origin or '"editable"' in origin
except metadata.PackageNotFoundError:  # on Colab, say
    is_there = False
if not is_there:
    source = f"fhx[chapters] @ git+{url}@{{REVISION}}"
    pip = subprocess.run([sys.executable, "-m", "pip", "install", "-qq", source], capture_output=True, text=True)
    if pip.returncode or "fhx" in dir():
        raise RuntimeError(f"fhx at {{REVISION}} is not here: {{pip.stderr.strip()[-500:] or 'restart the kernel'}}")

import torch
import fhx
from fhx.figures import use_style

torch.set_num_threads(1)
use_style()
device = fhx.device()
print(f"Python {{platform.python_version()}}, torch {{torch.__version__}}, fhx {{fhx.__version__}}, on {{device}}")"""
PLAIN_BRANCH = "plain"
"""The branch of the repository that holds the chapters as plain notebooks, which every notebook program shows."""
SETUP_METADATA = {
    "tags": ["hide-input"],
    "mystnb": {"code_prompt_show": "Show the set-up", "code_prompt_hide": "Hide the set-up"},
}


def config(root: Path = ROOT) -> dict:
    """``_config.yml`` as a dictionary."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))


def links(file: str, settings: dict) -> dict[str, str]:
    """The links of a notebook, given by its path from the root: its plain form in ``colab`` and on ``binder``, and its
    ``source``."""
    url, branch = settings["repository"]["url"], settings["repository"]["branch"]
    launch, slug = settings["launch_buttons"], url.removeprefix("https://github.com/")
    return {
        "colab": f"{launch['colab_url']}/github/{slug}/blob/{PLAIN_BRANCH}/{file}",
        "binder": f"{launch['binderhub_url']}/v2/gh/{slug}/{PLAIN_BRANCH}?urlpath=lab/tree/{file}",
        "source": f"{url}/blob/{branch}/{file}",
    }


def standard_cells(notebook: NotebookNode, name: str, settings: dict) -> tuple[NotebookNode, NotebookNode]:
    """The two cells that ``notebooks/<name>`` begins with; only the title, and a label before it, are its own.

    Raises:
        NotebookError: when the first cell does not begin with a title.
    """
    cells = notebook.cells
    found = TITLE.match(cells[0].source) if cells and is_markdown(cells[0]) else None
    if found is None:
        raise NotebookError(f"{name}: the first cell must be Markdown and begin with '# ' and the chapter's title")
    text = LAUNCH.format(label=found["label"] or "", title=found["title"], **links(f"notebooks/{name}", settings))
    code = SETUP.format(url=settings["repository"]["url"], branch=settings["repository"]["branch"])
    return new_markdown_cell(text, id="launch"), new_code_cell(code, id="setup", metadata=SETUP_METADATA)


def stamp(notebook: NotebookNode, name: str, settings: dict) -> None:
    """Put the standard cells in place. Text that followed the title is kept, in a cell of its own."""
    launch, setup = standard_cells(notebook, name, settings)
    first, *rest = notebook.cells
    after_title = first.source[TITLE.match(first.source).end() :]
    kept = re.sub(r"\A\s*Run it in \[Colab\][^\n]*", "", after_title).strip()
    if rest and is_code(rest[0]) and rest[0].get("id") == setup.id:
        old, *rest = rest
        setup.update(outputs=old.outputs, execution_count=old.execution_count)
    notebook.cells = [launch, setup, *([new_markdown_cell(kept)] if kept else []), *rest]


def tidy(notebook: NotebookNode) -> None:
    """Drop from the metadata all that changes from run to run, and fold the solutions."""
    kept = {key: value for key, value in notebook.metadata.items() if key in KEPT_IN_NOTEBOOK}
    notebook.metadata = NotebookNode(kept, kernelspec=KERNELSPEC, language_info=LANGUAGE)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    taken: set[str] = set()
    for cell in notebook.cells:
        for key in DROPPED_FROM_CELLS & cell.metadata.keys():
            del cell.metadata[key]
        if is_code(cell) and "solution" in tags(cell):
            cell.metadata.update(jupyter={"source_hidden": True}, cellView="form")
        if not cell.get("id") or RANDOM_ID.fullmatch(cell.id):
            cell.id = "c-" + hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        stem, repeat = cell.id, 1
        while cell.id in taken:
            cell.id = f"{stem}-{(repeat := repeat + 1)}"
        taken.add(cell.id)


def code_sha256(notebook: NotebookNode) -> str:
    """The hash of the sources of all code cells, in order."""
    sources = [cell.source for cell in notebook.cells if is_code(cell)]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def is_stale(notebook: NotebookNode) -> bool:
    """Whether the stored outputs come from other code than the stored code."""
    return notebook.metadata.get("fhx", {}).get("code_sha256") != code_sha256(notebook)
