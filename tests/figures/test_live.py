"""The live form in a real kernel: values set there reach compute, and the new picture reaches the Output widget."""

import json

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.full

SETUP = """
from fhx.figures import Choice, Explorer, Slider

def line(slope, shift=0, kind="up"):
    if slope > 8:
        raise ValueError(f"slope {slope} is too steep")
    series = [{"label": kind, "x": [0, 1], "y": [shift, shift + slope]}]
    return {"series": series, "readout": f"{kind}: {slope} {shift}"}

explorer = Explorer("line", line, [Slider("slope", "Slope", [0.0, 0.5, 1.0]), Choice("kind", "Kind", ["up", "down"])],
                    title="Line", alt="A line.")
panel = explorer.live(Slider("slope", "Slope", min=-10.0, max=10.0, step=0.5, default=1.0),
                      Slider("shift", "Shift", min=0, max=5, step=1))
slope, kind, shift, output = panel.children
panel
"""
PLOT = """
from fhx.figures import use_style
import matplotlib.pyplot as plt
use_style()
fig, ax = plt.subplots()
ax.plot([0, 1], [0, 1]);
"""
REPORT = """
import json
print(json.dumps([dict(part) for part in output.outputs]))
"""


@pytest.fixture(scope="module")
def notebook():
    changes = [
        "",
        "slope.value = 0.123",
        "kind.value = 'down'",
        "shift.value = 4",
        "slope.value = 9.0",
        "slope.value = -7",
    ]
    sources = [SETUP, *(f"{change}\n{REPORT}" for change in changes), PLOT, PLOT]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    return book


def shown(notebook, cell):
    (part,) = json.loads(notebook.cells[cell].outputs[0].text)
    return part


def test_a_change_in_the_kernel_redraws(notebook):
    readouts = []
    for cell in (1, 2, 3, 4, 6):
        part = shown(notebook, cell)
        assert part["output_type"] == "display_data"
        html = part["data"]["text/html"]
        readouts.append(html.split('role="status">')[1].split("<")[0])
        assert "export function render" in html
        assert "<input" not in html
    # off the page's grid, beyond its ends, and a parameter that the page does not vary
    assert readouts == ["up: 1.0 0", "up: 0.123 0", "down: 0.123 0", "down: 0.123 4", "down: -7.0 4"]


def test_an_error_of_compute_is_shown_in_the_place_of_the_picture(notebook):
    part = shown(notebook, 5)
    assert (part["output_type"], part["ename"], part["evalue"]) == ("error", "ValueError", "slope 9.0 is too steep")


def test_the_front_end_receives_the_picture(notebook):
    states = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    (output,) = [state for state in states if state["model_name"] == "OutputModel"]
    assert "down: -7.0 4" in output["state"]["outputs"][0]["data"]["text/html"]
    assert len(output["state"]["outputs"]) == 1


def test_the_live_picture_runs_in_a_browser(notebook, site):
    page = site.open(shown(notebook, 6)["data"]["text/html"])
    assert page.get_by_role("status").text_content() == "down: -7.0 4"
    assert page.locator("path[data-series='0']").count() == 1


def test_an_inline_figure_is_an_svg_that_two_runs_draw_alike(notebook):
    first, second = (cell.outputs[0].data for cell in notebook.cells[-2:])
    assert first["image/svg+xml"] == second["image/svg+xml"]
    assert "image/png" not in first
