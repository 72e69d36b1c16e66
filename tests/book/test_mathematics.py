"""Formulas are typeset when the book is built, with what stands beside them."""

import re
from html import unescape

import pytest
from docutils import nodes
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st

from mathematics import PIECE, Beside, beside, beside_formula, in_lines, typeset

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


@pytest.mark.parametrize(
    "formula", ["h", "h = 0", r"W_z h + U_z x + b_z = \tanh(W_k h + U_k x + b_k)", "F = (a + b) x"]
)
@pytest.mark.parametrize(("before", "after"), [("", ""), ("(", ""), ("", ","), ("“", "-th,"), ("<", "&")])
def test_nothing_is_lost_and_the_ends_stay_with_what_touches_them(formula, before, after):
    plain = typeset(formula)
    html = beside(plain, before, after)
    rows = html.split('<span class="unbroken">')[1:]
    assert seen(html) == before + seen(plain) + after
    assert spoken(html) == spoken(plain)
    assert html.count("<span") == html.count("</span>")
    assert seen(rows[0]).startswith(before)
    assert seen(rows[-1]).endswith(after)
    assert all(PIECE in row for row in rows)


@pytest.mark.parametrize(
    ("formula", "rows"),
    [
        ("W_f = 0", ["Wf=0"]),
        ("W_z h + U_z x + b_z = c", ["Wzh+", "Uzx+", "bz=", "c"]),
        ("f = F + F(1 - F) C w_f + G", ["f=", "F+", "F(1−F)Cwf+", "G"]),
        (r"u = \lvert a \rvert + b + c + d + e", ["u=", "∣a∣+", "b+", "c+", "d+", "e"]),
    ],
)
def test_long_formulas_break_outside_brackets(formula, rows):
    assert [seen(row) for row in beside(typeset(formula), "", "").split('<span class="unbroken">')[1:]] == rows


def test_equations_and_lines_as_sphinx_has_them():
    assert in_lines("a = b") == "a = b"
    assert in_lines(r"a &= b \\ &= c") == r"\begin{split}a &= b \\ &= c\end{split}"
    assert in_lines("a\n\nb") == r"\begin{gathered}a\\b\end{gathered}"
    typeset(in_lines("a &= b \\\\ &= c\n\nd"), True)


def paragraph_of(parts: list[str]) -> nodes.paragraph:
    """Every second part is a formula."""
    kinds = (nodes.Text, lambda formula: nodes.math("", formula))
    paragraph = nodes.paragraph("", "", *(kinds[number % 2](part) for number, part in enumerate(parts)))
    document = new_document("page")
    document += paragraph
    Beside(document).run()
    return paragraph


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (["the ", "k", "-step net (", "x", ") and ", "y", " alone"], [("", "-step"), ("(", ")"), ("", "")]),
        (["Reading ", "t", ", then ", "x", ", ", "y", ", end"], [("", ","), ("", ","), ("", ",")]),
        (["a norm with\n", "W", "\nas ", "a", ",\n", "b", ""], [("", ""), ("", ","), ("", "")]),
        (["pseudo-norm-", "p", "-" + "very" * 9 + " (see ", "q", ")."], [("", "-"), ("", ").")]),
    ],
)
def test_words_without_a_space_belong_to_the_formula(parts, found):
    paragraph = paragraph_of(parts)
    assert [(node[0], node[2]) for node in paragraph.findall(beside_formula)] == found
    assert paragraph.astext() == "".join(parts)


@given(st.lists(st.text(" ,.(-a\n", max_size=9), min_size=1, max_size=9))
def test_the_words_and_their_order_stay(parts):
    assert paragraph_of(parts).astext() == "".join(parts)
