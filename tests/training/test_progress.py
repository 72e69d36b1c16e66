"""The progress bar in a real notebook kernel: one line of plain text, silent when asked."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

SETUP = """
import torch
from fhx.cells import SimpleCell
from fhx.dynamics import Realization
from fhx.tasks import running_parity
from fhx.training import fit
torch.set_num_threads(1)

def train(**options):
    fit(lambda: Realization(SimpleCell(1, 3), torch.nn.Linear(3, 2)), running_parity(steps=4, sizes=(32, 8, 8)),
        seeds=[0, 1], updates=30, batch_size=8, learning_rate=0.01, device="cpu", **options)
"""


@pytest.mark.full
def test_in_a_notebook_the_bar_is_one_updating_line_and_can_be_left_out(monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, "train()", "train(progress=False)")]
    NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300, kernel_name="python3").execute()
    _, loud, quiet = (cell.outputs for cell in cells)
    assert {(output.output_type, output.get("name")) for output in loud} == {("stream", "stderr")}
    text = "".join(output.text for output in loud)
    assert text.startswith("\r")
    assert "parity" in text
    assert "/30" in text
    assert "\n" not in text
    assert quiet == []


@pytest.mark.full
def test_the_environment_silences_it():
    done = subprocess.run(
        [sys.executable, "-c", f"{SETUP}\ntrain()"],
        env={**os.environ, "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
