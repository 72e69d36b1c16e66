"""Figures in the page: words are words, formulas stay drawn, and ids are apart."""

import io
import re
from xml.etree import ElementTree as XML

import matplotlib.pyplot as plt
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG

from drawings import SVG, inlined
from fhx.figures import use_style


@pytest.fixture
def drawing() -> str:
    with plt.rc_context():
        use_style()
        fig, ax = plt.subplots()
        ax.plot([0, 1], label="a < b & c--d")
        ax.set(xlabel="steps", ylabel="gain $x_t$", xticks=[0], yticks=[], title="Strong")
        ax.title.set_fontweight("bold")
        ax.text(0.2, 0.5, "a < b & c--d")
        file = io.StringIO()
        FigureCanvasSVG(fig).print_svg(file, metadata={"Date": None})
        plt.close(fig)
    return file.getvalue()


def test_words_are_words_and_formulas_are_drawn(drawing):
    (root,) = XML.fromstring(inlined(drawing, "one", "a line"))
    words = {text.text: text for text in root.iter(f"{{{SVG}}}text")}
    assert set(words) == {"steps", "0", "Strong", "a < b & c--d"}
    assert words["Strong"].get("class") == "strong"
    assert words["steps"].get("class") is None
    assert re.search(r"font-size: 12\.5px", words["steps"].get("style"))
    assert root.get("aria-label") == "a line"
    assert len(list(root.iter(f"{{{SVG}}}use"))) >= len("gain xt")


def test_every_id_that_is_used_is_there_and_has_the_name_before_it(drawing):
    made = inlined(drawing, "one", "a line")
    there = set(re.findall(r'\bid="([^"]+)"', made))
    used = set(re.findall(r'href="#([^"]+)"', made)) | set(re.findall(r"url\(#([^)]+)\)", made))
    assert used
    assert used <= there
    assert all(name.startswith("one-") for name in there)


def test_the_ground_is_the_page(drawing):
    assert "fill: #ffffff" in drawing
    assert inlined(drawing, "one", "a line").count("fill: #ffffff") == drawing.count("fill: #ffffff") - 1


def test_words_do_not_shrink_below_what_can_be_read(drawing):
    (root,) = XML.fromstring(inlined(drawing, "one", "a line"))
    least = min(
        float(re.search(r"font-size: ([\d.]+)px", text.get("style"))[1]) for text in root.iter(f"{{{SVG}}}text")
    )
    width = float(root.get("viewBox").split()[2])
    assert least * float(re.search(r"min-width: (\d+)px", root.get("style"))[1]) / width >= 9.5
