"""Formulas are typeset when the book is built, with what stands beside them."""

import re
from html import unescape

import pytest
from docutils import nodes
from docutils.utils import new_document

from mathematics import BASE, Beside, beside, in_lines, typeset

pytestmark = pytest.mark.full


def seen(html: str) -> str:
    """The text that one sees."""
    return unescape(re.sub(r"<math.*?</math>|<[^>]*>|​", "", html))


def spoken(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", "".join(re.findall(r"<math.*?</math>", html))))


def test_a_formula_is_seen_once_and_spoken_once():
    html = typeset(r"h_t = \tanh(W h_{t-1})")
    assert seen(html) == "ht=tanh(Wht−1)"
    assert spoken(html).replace("⁡", "") == "ht=tanh(Wht−1)"
    assert "katex-display" not in html
    assert "katex-display" in typeset("h_t", True)


@pytest.mark.parametrize("formula", [r"\nosuchmacro h", r"\frac{h}", "h^t^s", "é"])
def test_what_cannot_be_set_is_an_error(formula):
    with pytest.raises(ValueError, match=r"KaTeX|LaTeX"):
        typeset(formula)


@pytest.mark.parametrize("formula", ["h", "h = 0", r"W_z h + U_z x + b_z = \tanh(W_k h + U_k x + b_k)"])
@pytest.mark.parametrize(("before", "after"), [("", ""), ("(", ""), ("", ","), ("“", "-th,"), ("<", "&")])
def test_nothing_is_lost_and_the_end_stays_with_what_comes_after(formula, before, after):
    plain = typeset(formula)
    html = beside(plain, before, after)
    assert seen(html) == before + seen(plain) + after
    assert spoken(html) == spoken(plain)
    assert html.count("<span") == html.count("</span>")
    unbroken = html.partition('class="unbroken"')[2]
    if after:
        assert unbroken.count(BASE) >= 1
        assert seen(f"<span {unbroken}").endswith(after)
    assert (html.count(BASE) > unbroken.count(BASE)) == (plain.count(BASE) > 1 and len(seen(plain)) > 12)


def test_equations_and_lines_as_sphinx_has_them():
    assert in_lines("a = b") == "a = b"
    assert in_lines(r"a &= b \\ &= c") == r"\begin{split}a &= b \\ &= c\end{split}"
    assert in_lines("a\n\nb") == r"\begin{gathered}a\\b\end{gathered}"
    typeset(in_lines("a &= b \\\\ &= c\n\nd"), True)


def test_words_without_a_space_belong_to_the_formula():
    texts = ["the ", "-step net (", ") and ", " alone"]
    paragraph = nodes.paragraph("", "", nodes.Text(texts[0]))
    for text in texts[1:]:
        paragraph += [nodes.math("", "k"), nodes.Text(text)]
    document = new_document("page")
    document += paragraph
    Beside(document).run()
    assert [(node.get("before"), node.get("after")) for node in document.findall(nodes.math)] == [
        (None, "-step"),
        ("(", ")"),
        (None, None),
    ]
    assert paragraph.astext().replace("k", "") == "the  net  and  alone"
