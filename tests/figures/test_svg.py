"""A figure in fewer bytes is the same figure."""

import io
import json
import re
from xml.etree import ElementTree as XML

import matplotlib.pyplot as plt
import numpy as np
import pytest

from fhx.figures.svg import smaller

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def printed(fig, file, **kwargs):
    fig.canvas.print_figure(file, format="svg", bbox_inches="tight", metadata={"Date": None}, **kwargs)
    return file.getvalue()


@pytest.fixture
def pair(styled):
    fig, ax = plt.subplots()
    ax.plot(np.linspace(0, 1, 50), np.random.default_rng(0).random(50), "o-")
    ax.set(xlabel="two  words", title="gain $\\sigma_w$ < 1")
    plain = printed(fig, io.StringIO())
    return plain, printed(fig, io.BytesIO(), backend="module://fhx.figures.svg").decode()


def test_a_notebook_keeps_it_in_far_fewer_bytes(pair):
    plain, small = (len(json.dumps(text.splitlines(keepends=True), indent=8)) for text in pair)
    assert small < 0.75 * plain


def test_every_element_is_there_and_no_place_moves_by_more_than_a_hundredth(pair):
    plain, small = (list(XML.fromstring(text).iter()) for text in pair)
    assert [one.tag for one in plain] == [one.tag for one in small]
    for before, after in zip(plain, small, strict=True):
        assert before.attrib.keys() == after.attrib.keys()
        for key in before.attrib:
            old, new = (NUMBER.findall(one.get(key)) for one in (before, after))
            if key in {"d", "x", "y", "transform"}:
                assert np.allclose([*map(float, old)], [*map(float, new)], rtol=0, atol=0.01)
            else:
                assert before.get(key) == after.get(key)


def test_words_keep_their_spaces():
    assert "<!-- two  words -->" in smaller("<g>\n  <!-- two  words -->\n  <g/>\n</g>")
    assert smaller('<path\n d="M 1.23456 2\nL 3 4.999999 "/>') == '<path\n d="M 1.23 2 L 3 4.99 "/>\n'
    assert "scale(0.125 -0.125)" in smaller('<g transform="translate(1.234567 2) scale(0.125 -0.125)"/>')
