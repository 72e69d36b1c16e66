r"""Run, stamp and check the chapters in ``notebooks/``.

``run [--only 03]``
    executes the notebooks two at a time and stores their outputs. A notebook is replaced in one move and only when all
    its cells ran; a failing cell leaves the stored file as it was.
``stamp [--only 03]``
    rewrites the two standard cells and tidies the metadata, running nothing.
``check [--only 03]``
    fails when a standard cell differs from its template or when a stored output is older than its code.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from tqdm import tqdm

from fhx.course.notebooks import NotebookError, is_code, read, write
from notebook_cells import ROOT, code_sha256, config, is_stale, stamp, standard_cells, tidy

CELL_TIMEOUT = 180  # seconds
QUIET = {
    "TQDM_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}
# A plain kernel whatever the machine's own settings are: Colab's, for one, waits for a browser.
PLAIN_KERNEL = [
    "--IPKernelApp.kernel_class=ipykernel.ipkernel.IPythonKernel",
    "--IPKernelApp.log_level=40",
    "--InteractiveShellApp.extensions=[]",
]


def prepare(path: Path, settings: dict) -> NotebookNode:
    """The notebook with its standard cells in place, ready to run."""
    notebook = read(path)
    stamp(notebook, path.name, settings)
    tidy(notebook)
    return notebook


async def execute(path: Path, notebook: NotebookNode, bar: tqdm, store: bool, timeout: int) -> str | None:
    """Run one notebook in a fresh kernel and store it; return None, or what went wrong."""
    running = 0

    def started(cell: NotebookNode, cell_index: int) -> None:
        nonlocal running
        running = cell_index

    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=timeout,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=PLAIN_KERNEL,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=started,
        on_cell_executed=lambda cell, cell_index, execute_reply: bar.update(),
    )
    try:
        await client.async_execute(env={**os.environ, **QUIET})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return f"{path.name}: cell {running} (id {notebook.cells[running].id}) failed; nothing was stored\n{error}"
    tidy(notebook)
    notebook.metadata["fhx"] = {"code_sha256": code_sha256(notebook)}
    if store:
        write(notebook, path)
    return None


async def run(paths: Sequence[Path], settings: dict, jobs: int, store: bool, timeout: int) -> list[str]:
    """Run the notebooks, ``jobs`` at a time, and return one message for each that failed."""
    slots = asyncio.Semaphore(jobs)
    prepared = [(path, prepare(path, settings)) for path in paths]
    cells = sum(is_code(cell) for _, notebook in prepared for cell in notebook.cells)
    with tqdm(total=cells, unit="cell", desc="notebooks") as bar:

        async def one(path: Path, notebook: NotebookNode) -> str | None:
            async with slots:
                bar.set_postfix_str(path.stem)
                return await execute(path, notebook, bar, store, timeout)

        answers = await asyncio.gather(*(one(path, notebook) for path, notebook in prepared))
    return [answer for answer in answers if answer]


def problems(path: Path, settings: dict) -> list[str]:
    """What is wrong with a stored notebook's standard cells and hash."""
    try:
        notebook = read(path)
        expected = standard_cells(notebook, path.name, settings)
    except NotebookError as error:
        return [str(error)]
    found = []
    for place, standard in enumerate(expected):
        cell = notebook.cells[place] if place < len(notebook.cells) else None
        if cell is None or any(cell.get(key) != standard[key] for key in ("cell_type", "source", "metadata")):
            found.append(f"{path.name}: cell {place} is not the standard {standard.id} cell; run 'make notebooks'")
    if is_stale(notebook):
        found.append(f"{path.name}: the stored outputs are older than the code; run 'make notebooks'")
    return found


def select(folder: Path, only: str | None) -> list[Path]:
    """The notebooks of a folder, in order, or those whose names begin with ``only``."""
    paths = sorted(path for path in folder.glob("*.ipynb") if path.name.startswith(only or ""))
    if not paths:
        raise NotebookError(f"no notebook in {folder.name}/ begins with '{only or ''}'")
    return paths


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("command", choices=("run", "stamp", "check"))
    parser.add_argument("--only", metavar="NN", help="only notebooks whose names begin so")
    parser.add_argument("--folder", type=Path, default=ROOT / "notebooks", help="where they lie (notebooks/)")
    parser.add_argument("--jobs", type=int, default=2, help="how many to run at a time (2)")
    parser.add_argument("--timeout", type=int, default=CELL_TIMEOUT, help=f"seconds a cell may take ({CELL_TIMEOUT})")
    parser.add_argument("--dry", action="store_true", help="run, but store nothing")
    options = parser.parse_args(arguments)
    settings, failures = config(), []
    try:
        paths = select(options.folder, options.only)
        if options.command == "run":
            failures = asyncio.run(run(paths, settings, options.jobs, not options.dry, options.timeout))
        elif options.command == "stamp":
            for path in paths:
                write(prepare(path, settings), path)
        else:
            failures = [problem for path in paths for problem in problems(path, settings)]
    except NotebookError as error:
        failures = [str(error)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
