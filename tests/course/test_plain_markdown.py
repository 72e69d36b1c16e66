"""From the book's Markdown to plain Markdown: each directive and role, with and without an address of the book."""

import pytest

from fhx.course import CourseError
from fhx.course.book import Book
from fhx.course.plain_markdown import PlainMarkdown, quoted

PAGE = "notebooks/02-second"
ROLES = {
    "{prf:ref}`one-def`": "Definition 1.1",
    "{prf:ref}`the state <one-def>`": "the state",
    "{eq}`one-eq`": "(1.1)",
    "{numref}`one-fig`": "Fig. 1.1",
    "{ref}`ex-one`": "Exercise 1.1",
    "{ref}`sol-one`": "Exercise 1.1",
    "{ref}`one-states`": "“What a state is”, chapter 1",
    "{ref}`letters`": "“Letters”",
    "{ref}`two\nlines <one-states>`": "two lines",
    "[above](one-states)": "above",
    "{doc}`/notebooks/01-first`": "“The first”",
    "{doc}`the first </notebooks/01-first>`": "the first",
    "{claim}`A1`": "A1",
    "{term}`gain`": "gain",
    "{py:func}`fhx.exercises.check`": "`fhx.exercises.check`",
    "{cite:t}`elman1990`": "[Elman (1990)](https://doi.org/10.1/a%28b%29c)",
    "{cite:p}`bai2018,neumann1947`": "([Bai et al., 2018](https://arxiv.org/abs/1.2); von Neumann and Hénon, 1947)",
    "{cite:t}`bai2018,neumann1947`": "[Bai et al. (2018)](https://arxiv.org/abs/1.2) and von Neumann and Hénon (1947)",
}
TEXTS = {
    "(here)=\n## A section": "## A section",
    "$$\nh = 1\n$$": "$$\nh = 1\n$$",
    "$$\nh = 1\n$$ (one-eq)": "$$\nh = 1 \\tag{1.1}\n$$",
    "$$h = 1$$ (one-eq)": "$$h = 1 \\tag{1.1}$$",
    "`{ref}` and ``a ` b``": "`{ref}` and ``a ` b``",
    "```python\n(x)=\n$$ {ref}`y`\n```": "```python\n(x)=\n$$ {ref}`y`\n```",
    "<b>raw</b> [out](https://example.org)": "<b>raw</b> [out](https://example.org)",
    "```{prf:proof}\nIt is\nso.\n```": "> **Proof.**\n>\n> It is so. ∎",
    ":::{note}\nMind this.\n:::": "> **Note.**\n>\n> Mind this.",
    "```{prf:definition} State\n:label: one-def\n\n$$\na\n$$ (one-eq)\nand\n\n1. one\n   more\n2. two\n```": (
        "> **Definition 1.1** (State)\n>\n> $$ a \\tag{1.1} $$\n> and\n>\n> 1. one more\n> 2. two"
    ),
    "````{prf:proof}\n```python\nx = 1\ny = 2\n```\n````": (
        "> **Proof.**\n>\n> ```python\n> x = 1\n> y = 2\n> ```\n>\n> ∎"
    ),
    "```{exercise} One step\n:label: ex-one\n\nDo {eq}`one-eq`.\n```": (
        "### Exercise 1.1. One step\n\n*2 points*\n\nDo (1.1)."
    ),
    "```{solution-start} ex-one\n:label: sol-one\n:class: dropdown\n```\n\nSo.": "#### Solution of exercise 1.1\n\nSo.",
    "```{solution-end}\n```": "",
}


@pytest.fixture
def plain(clone):
    return PlainMarkdown(Book(clone / "notebooks"), PAGE, {"ex-one": "*2 points*"})


@pytest.mark.parametrize("role", ROLES)
def test_roles_become_words(plain, role):
    assert plain(f"See {role}.") == f"See {ROLES[role]}."


@pytest.mark.parametrize("text", TEXTS)
def test_directives_labels_and_formulas(plain, text):
    assert plain(f"Before.\n\n{text}\n\nAfter.") == "\n\n".join(
        part for part in ("Before.", TEXTS[text], "After.") if part
    )


def test_links_lead_to_the_rendered_book_where_it_has_an_address(clone):
    (clone / "_config.yml").write_text("html: {baseurl: https://example.org/read/}\nrepository: {url: u}\n")
    book = Book(clone / "notebooks")
    plain = PlainMarkdown(book, PAGE)
    first = "https://example.org/read/notebooks/01-first.html"
    assert plain("{prf:ref}`one-def`") == f"[Definition 1.1]({first}#one-def)"
    assert plain("{eq}`one-eq`") == f"[(1.1)]({first}#equation-one-eq)"
    assert plain("{ref}`one-states`") == f"[“What a state is”]({first}#one-states), chapter 1"
    assert plain("{doc}`it </notebooks/01-first>`") == f"[it]({first})"
    assert plain("{claim}`A1`") == "[A1](https://example.org/read/book/claims.html#claim-A1)"
    assert book.home == "https://example.org/read/"


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("```{figure} a.png\n```", "{figure}"),
        ("{download}`a.py`", "{download}"),
        ("{ref}`nowhere`", "'nowhere'"),
        ("{cite:t}`nobody`", "'nobody'"),
        ("{doc}`/book/none`", "'/book/none'"),
    ],
)
def test_what_has_no_plain_form_is_refused(plain, text, culprit):
    with pytest.raises(CourseError, match=f"{PAGE}.*{culprit}"):
        plain(text)


def test_a_quote_has_each_formula_on_one_line():
    assert quoted("a $x\n= y$ b\n\n$$\nx\n+ y\n$$\n\n| a | b |\n|---|---|") == (
        "> a $x = y$ b\n>\n> $$ x + y $$\n>\n> | a | b |\n> |---|---|"
    )
