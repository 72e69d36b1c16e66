"""The page "Bring your own net": its code prints what stands below it, and its picture shows what that code makes."""

import re
from html import escape

import pytest

import own_net

pytestmark = pytest.mark.full
PAGE = own_net.PAGE.read_text("utf-8")


def test_every_block_of_code_is_run():
    assert len(own_net.BLOCK.findall(PAGE)) == PAGE.count("```python") == PAGE.count("```text") > 0


def test_the_page_prints_what_it_says_and_its_picture_and_the_words_for_it_show_these_nets():
    """One test, since the nets are trained for it, and tests of a module may be shared out among processes."""
    text, names = own_net.played(PAGE)
    assert text == PAGE, "to write it anew: python book/tools/own_net.py"
    assert escape(own_net.shown(names), quote=False) in own_net.PICTURE.read_text("utf-8")
    (alt,) = re.findall(r"^:alt: (.*)$", PAGE, re.M)
    short, long = own_net.shares(names)
    assert set(short[:2]) == {int(n) for n in re.findall(r"at (\d+) percent for one and two", alt)}
    assert set(short[2:]) == {100}
    assert [(str(min(long)), str(max(long)))] == re.findall(r"between (\d+) and (\d+) percent", alt)
    states = [len(dfa.states) for dfa in names["learned"].values()]
    assert states == [4, 2]
    assert alt.endswith("with four states and with two.")
