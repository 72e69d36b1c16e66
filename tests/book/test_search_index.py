"""What the search reads of a rendered page: its sections, their prose and names, and formulas on one line."""

import json

import pytest
from lxml.html import fragment_fromstring
from sitecheck import SOURCE, read

import search_index
from formula_line import formula_line
from mathematics import typeset
from page_text import Section, read_page
from pdf import read_toc

pytestmark = pytest.mark.full

FORMULA = f'<span class="math">{typeset("h_t = 1")}</span>'
PAGE = f"""<html><body><p>The menu.</p><article class="bd-article"><section class="tex2jax_ignore" id="chapter">
<h1><span class="section-number">7. </span>A chapter<a class="headerlink" href="#chapter">#</a></h1>
<p>Where {FORMULA}, it <em>stops</em>.</p>
<details class="fold fold-run"><summary>Run this chapter</summary><p>Run it in Colab.</p></details>
<section id="first">
<h2><span class="section-number">7.1. </span>The first<a class="headerlink" href="#first">#</a></h2>
<div class="proof theorem admonition"><p class="admonition-title"><span>Theorem 7.2 </span> (Halting)</p>
<section class="theorem-content"><p>It halts.</p></section></div>
<details class="fold fold-proof"><summary>Proof</summary><p>By<br>counting.</p></details>
<div class="cell tag_figure"><div class="cell_output"><figure><img src="a.png" alt="no"><figcaption><p>A curve.</p>
</figcaption></figure></div><details class="fold fold-code"><pre>plot()</pre></details></div>
<div class="cell"><div class="cell_output"><p>It prints this.</p></div></div>
<section id="deeper"><h3>Deeper</h3><p>Three <code>long_<wbr>name</code>.</p></section>
<div class="exercise admonition"><p class="admonition-title">Exercise 7.1 (One step)</p><p>Write it.</p></div>
<div class="solution dropdown admonition"><p class="admonition-title">Solution to Exercise 7.1 (One step)</p>
<p>The answer.</p></div>
<p>After it <span class="eqno">(7.1)</span>{FORMULA}</p>
</section></section></article></body></html>"""
NAMES = """<article><section id="page"><h1>Names</h1>
<dl class="py function"><dt class="sig" id="fhx.step"><span>step</span>(h, x)</dt>
<dd><p>One step.</p><p>Raises nothing.</p><dl class="field-list"><dt>h</dt><dd>a state</dd></dl>
<dl class="py method"><dt class="sig" id="fhx.step.back">back()</dt><dd></dd></dl></dd></dl>
<dl class="simple glossary"><dt id="term-nat">Nat</dt><dd><p>A unit.</p></dd></dl>
<dl><dt id="plain">Plain</dt><dd>list</dd></dl>
<div class="citation" id="id1"><span class="label"><span>[</span>Nerode 1958<span>]</span></span><p>Automata.</p></div>
<table><tbody><tr id="claim-A1"><th><p>A1</p></th><td><p>A statement.</p></td></tr>
<tr><td>no anchor</td></tr></tbody></table>
</section></article>"""


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        (r"h_t \le 10^{-6}", "hₜ ≤ 10⁻⁶"),
        (r"f(h_{t-1},x_t)=\tanh(W h_{t-1}+b)", "f(hₜ₋₁, xₜ) = tanh(Whₜ₋₁ + b)"),
        (r"\frac{1}{T} \log \lVert J \rVert", "1/T log ∥J∥"),
        (r"\frac{a+b}{2}, \sqrt{2}, \sqrt{a+b}", "(a + b)/2, √2, √(a + b)"),
        (r"C e^{(\lambda+1)T}", "Ce^((λ + 1)T)"),
        (r"W_z, h_{t,i}, q_{\mathrm{rej}}", "W_z, h_(t, i), q_rej"),
        (r"W = \begin{pmatrix} 1 & -2 \\ 0 & 3 \end{pmatrix}", "W = (1, −2; 0, 3)"),
        (r"\begin{split} a &= b \\ &= c \end{split}", "a = b = c"),
        (r"x \in \mathbb{R}^d", "x ∈ ℝᵈ"),
        (r"\hat h, J^\top", "h\u0302, Jᵀ"),
        (r"\sum_{t=1}^T x_t", "∑ₜ₌₁ᵀ xₜ"),
        (r"\max_{t \le N} x", "max_(t ≤ N) x"),
    ],
)
def test_a_formula_is_one_line_that_can_be_read(formula, line):
    html = typeset(formula, display=True)
    math = fragment_fromstring(html[html.index("<math") : html.index("</math>") + 7])
    assert formula_line(math) == line


def test_sections_have_their_own_prose_and_captions_and_no_code_output_or_solution():
    page = read_page(PAGE)
    assert (page.title, page.numbered) == ("7. A chapter", True)
    assert page.sections == [
        Section("chapter", "7. A chapter", "Where hₜ = 1, it stops."),
        Section(
            "first",
            "7.1. The first",
            "Theorem 7.2 (Halting) It halts. By counting. A curve. Exercise 7.1 (One step) Write it. "
            "After it (7.1) hₜ = 1",
            "Halting; One step",
        ),
        Section("deeper", "Deeper", "Three long_name."),
    ]


def test_names_of_the_package_terms_works_and_claims_are_found_by_themselves():
    page = read_page(NAMES)
    assert not page.numbered
    assert page.sections == [
        Section("page", "Names", "Plain list no anchor"),
        Section("fhx.step", "fhx.step", "One step."),
        Section("fhx.step.back", "fhx.step.back", ""),
        Section("term-nat", "Nat", "A unit."),
        Section("id1", "Nerode 1958", "Automata."),
        Section("claim-A1", "A1", "A statement."),
    ]


@pytest.mark.parametrize(
    ("html", "culprit"), [("<p>no</p>", "no article"), ("<article><p>no</p></article>", "no heading")]
)
def test_a_page_that_cannot_be_read_is_refused(html, culprit):
    with pytest.raises(ValueError, match=culprit):
        read_page(html)


def test_every_section_of_the_index_is_an_anchor_of_its_page_and_the_file_is_small(html):
    text = (html / search_index.FILE).read_text("utf-8")
    index = json.loads(text.removeprefix("bookSections = ").strip("\n;"))
    pages = [address for address, _, _ in index["pages"]]
    assert sorted(pages) == sorted(f"{file}.html" for _, files in read_toc(SOURCE) for file in files)
    lost = [
        f"{pages[number]}#{anchor}"
        for number, anchor, *_ in index["sections"]
        if anchor not in read(html / pages[number]).anchors
    ]
    assert lost == []
    assert len(text.encode()) < 1_500_000


def test_ranks_and_a_page_that_cannot_be_read():
    chapter = '<article><section id="a"><h1><span class="section-number">1. </span>A</h1><p>x</p></section></article>'
    plain = chapter.replace('<span class="section-number">1. </span>', "")
    pages = {
        "notebooks/01-a.html": chapter,
        "book/api/a.html": plain,
        "book/apiary.html": plain,
        "book/api.html": plain,
    }
    made = search_index.index(pages)
    assert made["pages"] == [
        ["notebooks/01-a.html", "1. A", 0],
        ["book/api/a.html", "A", 2],
        ["book/apiary.html", "A", 1],
        ["book/api.html", "A", 2],
    ]
    assert made["sections"] == [[number, "a", title, "x", ""] for number, title in enumerate(["1. A", "A", "A", "A"])]
    with pytest.raises(ValueError, match=r"^b\.html: the page has no article$"):
        search_index.index({"b.html": "<p>no</p>"})
