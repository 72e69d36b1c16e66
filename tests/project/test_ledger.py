"""The claims ledger: the book's own rows keep its laws, and every law, when broken, is named."""

from __future__ import annotations

import copy
import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from small_site import EXTENSIONS, configuration

ROOT = Path(__file__).resolve().parents[2]


def _load(name: str):
    spec = importlib.util.spec_from_file_location(name, EXTENSIONS / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


claims = _load("claims")

NOTEBOOK = {
    "cells": [
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": ["# The recurrence\n", "\n", "(unrolling)=\n", "## Unrolling\n", "\n", "(two-ways)=\n"],
        },
        {"cell_type": "code", "metadata": {}, "source": ["1 + 1\n"], "outputs": [], "execution_count": None},
        {
            "cell_type": "code",
            "metadata": {"mystnb": {"figure": {"name": "drawn", "caption": "A figure"}}},
            "source": ["2\n"],
            "outputs": [],
            "execution_count": None,
        },
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
TESTS = """
@pytest.mark.claim("A1")
def helper(): ...

@pytest.mark.claim("A1")
def test_two_ways(): ...

class TestUnroll:
    @pytest.mark.parametrize("length", [1, 2])
    @pytest.mark.claim("A1", "E3")
    def test_lengths(self, length): ...

def test_not_marked(): ...
"""
CELL = "01-the-recurrence#two-ways"
TEST = "tests/dynamics/test_unroll.py::test_two_ways"
FOUND = ["*One step*: it is read.", "*Two steps*: $x_1$ is not."]
CORRECTION = {
    "says": "The last input is read, $y_T = x_T$.",
    "truth": "It is not.",
    "example": "Two steps, $T = 2$.",
    "cell": CELL,
}


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """A small book: one notebook with a label and a named figure, one test file, the real ledger with A1 settled."""
    root = tmp_path_factory.mktemp("book")
    (root / "notebooks").mkdir()
    (root / "notebooks" / "01-the-recurrence.ipynb").write_text(json.dumps(NOTEBOOK))
    (root / "tests" / "dynamics").mkdir(parents=True)
    (root / "tests" / "dynamics" / "test_unroll.py").write_text(TESTS)
    (root / "book").mkdir()
    (root / "book" / "claims.yml").write_text(yaml.safe_dump(settled(), sort_keys=False, allow_unicode=True))
    return root


def settled() -> dict:
    """The real ledger, every row open except A1, which is corrected and complete."""
    raw = yaml.safe_load((ROOT / claims.PATH).read_text(encoding="utf-8"))
    for entry in raw["claims"]:
        entry |= {"verdict": "open", "cells": []}
        entry.pop("corrections", None)
    seen = {"verdict": "corrected", "found": FOUND, "cells": [CELL], "corrections": [dict(CORRECTION)]}
    raw["claims"][0] |= seen
    return raw


def test_the_books_own_ledger_keeps_its_laws():
    ledger = claims.load(ROOT)
    assert [claim.id for claim in ledger.claims] == list(claims.IDS)


def test_every_reference_is_in_the_bibliography():
    keys = set(re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "book/references.bib").read_text("utf-8"), flags=re.MULTILINE))
    cited = {key for claim in claims.load(ROOT).claims for key in claim.references}
    assert cited <= keys


def test_statements_are_typeset_with_balanced_mathematics():
    for claim in claims.load(ROOT).claims:
        for text in (claim.statement, *claim.found):
            assert text.count("$") % 2 == 0, claim.id
            assert text.count("{") == text.count("}"), claim.id


def test_a_complete_row_of_every_verdict_is_accepted(book):
    for verdict in claims.VERDICTS:
        raw = settled()
        raw["claims"][0] |= {"verdict": verdict}
        assert claims.check(raw, book) == []


def test_the_name_of_a_figure_counts_as_evidence(book):
    raw = settled()
    raw["claims"][0] |= {"cells": ["01-the-recurrence#drawn"]}
    assert claims.check(raw, book) == []


# Marks: a test says which claims it settles.


def test_what_is_marked_is_a_test_or_a_method(book):
    file = "tests/dynamics/test_unroll.py"
    found = claims.marked_tests(book)
    assert found == {"A1": [TEST, f"{file}::TestUnroll::test_lengths"], "E3": [f"{file}::TestUnroll::test_lengths"]}
    assert claims.load(book).claims[0].tests == tuple(found["A1"])


def test_a_mark_that_names_no_claim_is_told(book, tmp_path):
    root = shutil.copytree(book, tmp_path / "book")
    (root / "tests" / "test_new.py").write_text(TESTS.replace('"E3"', '"E99"'))
    assert claims.check(settled(), root) == [
        "E99: no such claim, but tests/test_new.py::TestUnroll::test_lengths is marked with it"
    ]


def test_every_test_of_the_folder_claims_settles_one():
    """What settles none is of the room whose code it tests."""
    marked = {test for tests in claims.marked_tests(ROOT).values() for test in tests}
    defined = {
        f"tests/claims/{path.name}::{name}"
        for path in (ROOT / "tests" / "claims").glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), flags=re.MULTILINE)
    }
    assert defined - marked == set()


def test_the_ledger_finds_every_mark_that_pytest_does(request):
    """It reads marks without importing the tests; one on a class or a module would escape it."""
    found = {(test, name) for name, tests in claims.marked_tests(ROOT).items() for test in tests}
    for item in request.session.items:
        names = {name for mark in item.iter_markers("claim") for name in mark.args}
        assert {(item.nodeid.partition("[")[0], name) for name in names} <= found, item.nodeid


def test_a_label_is_named_by_the_heading_it_stands_before_or_under(book):
    labels = claims.notebook_labels(book / "notebooks" / "01-the-recurrence.ipynb")
    assert labels == {"unrolling": "Unrolling", "two-ways": "Unrolling", "drawn": "Unrolling"}
    assert claims.load(book).titles == {CELL: "The recurrence: Unrolling"}


def _set(**fields):
    return lambda rows: rows[0].update(fields)


def _correction(**fields):
    return lambda rows: rows[0]["corrections"][0].update(fields)


BREACHES = {
    "unknown verdict": (_set(verdict="settled"), "A1: unknown verdict 'settled'"),
    "missing field": (lambda rows: rows[0].pop("statement"), "A1: field 'statement' is missing"),
    "empty field": (_set(place=""), "A1: field 'place' is missing"),
    "unknown field": (_set(note="x"), "A1: field 'note' is unknown"),
    "wrong type": (_set(cells=CELL), "A1: field 'cells' is a str, expected a list"),
    "wrong entry": (_set(cells=[CELL, 3]), "A1: entry 2 of field 'cells' is a int, expected a str"),
    "nothing": (_set(chapters=None), "A1: field 'chapters' is missing"),
    "corrections of another kind": (_set(corrections={}), "A1: field 'corrections' is a dict, expected a list"),
    "unknown field of a correction": (_correction(note="x"), "A1, correction 1: field 'note' is unknown"),
    "not a row": (lambda rows: rows.__setitem__(1, "A2"), "row 2: expected the fields"),
    "duplicate id": (lambda rows: rows.append(copy.deepcopy(rows[0])), "A1: 2 rows have this id"),
    "missing row": (lambda rows: rows.pop(3), "A4: the row is missing"),
    "foreign row": (lambda rows: rows.append(rows[1] | {"id": "F1"}), "F1: no such claim"),
    "order": (lambda rows: rows.reverse(), "the rows are out of order"),
    "no cell": (_set(cells=[]), "A1: corrected, but without a cell"),
    "no test": (lambda rows: rows[1].update(verdict="proved", cells=[CELL]), "A2: proved, but without a test"),
    "no correction": (_set(corrections=[]), "A1: corrected, but without a correction"),
    "a statement that is too long": (_set(statement="word " * 91), "A1: the statement has 91 words, more than 90"),
    "found of another kind": (_set(found="x"), "A1: field 'found' is a str, expected a list"),
    "no chapter": (_set(chapters=[]), "A1: no chapter settles it"),
    "unknown chapter": (_set(chapters=[14]), "A1: there is no chapter 14"),
    "cell without label": (_set(cells=["01-the-recurrence"]), "is not of the form 01-notebook#label"),
    "cell of no chapter": (_set(cells=["the-recurrence#two-ways"]), "is not of the form 01-notebook#label"),
    "unknown notebook": (_set(cells=["99-nowhere#two-ways"]), "there is no notebook notebooks/99-nowhere.ipynb"),
    "unknown label": (_set(cells=["01-the-recurrence#three-ways"]), "the notebook has no such label"),
    "correction field": (_correction(truth=""), "A1, correction 1: field 'truth' is missing"),
    "correction cell": (_correction(cell="01-the-recurrence#nowhere"), "the notebook has no such label"),
}


@pytest.mark.parametrize("law", BREACHES)
def test_a_broken_law_is_named(law, book):
    break_it, message = BREACHES[law]
    raw = settled()
    break_it(raw["claims"])
    breaches = claims.check(raw, book)
    assert any(message in line for line in breaches), breaches


def test_all_breaches_are_reported_at_once(book, tmp_path):
    raw = settled()
    raw["claims"][0] |= {"verdict": "true", "cells": ["01-the-recurrence#nowhere"]}
    raw["claims"][1] |= {"verdict": "proved"}
    del raw["sources"]["E"]
    root = shutil.copytree(book, tmp_path / "book")
    (root / claims.PATH).write_text(yaml.safe_dump(raw))
    with pytest.raises(claims.LedgerError) as error:
        claims.load(root)
    for part in ("unknown verdict 'true'", "no such label", "A2: proved, but without a cell", "the sources are"):
        assert part in str(error.value)


def test_a_file_that_is_no_ledger_is_refused(book):
    assert claims.check(None, book) == ["the ledger: expected the fields chapters, sources, claims, found NoneType"]
    assert claims.check({"claims": []}, book) == [
        "the ledger: field 'chapters' is missing",
        "the ledger: field 'sources' is missing",
    ]


# The pages: a small book built by Sphinx as the real one is.

CONF = configuration(
    "sphinxcontrib.bibtex",
    "ledger",
    bibtex_bibfiles=[str(ROOT / "book" / "references.bib")],
    myst_enable_extensions=["dollarmath", "deflist"],
)
PAGES = {
    "index.md": "# Book\n\nSee {claim}`A1` and {claim}`the second <A2>`.\n\n```{toctree}\nledger\nerrata\n"
    "bibliography\nnotebooks/01-the-recurrence\n```\n",
    "ledger.md": "# Ledger\n\n```{claims-summary}\n```\n\n```{claims-sources}\n```\n\n```{claims-ledger}\n```\n",
    "errata.md": "# Errata\n\n```{errata}\n```\n",
    "bibliography.md": "# Bibliography\n\n```{bibliography}\n```\n",
}


@pytest.fixture(scope="module")
def source(book) -> Path:
    (book / "conf.py").write_text(CONF)
    for name, text in PAGES.items():
        (book / name).write_text(text)
    return book


@pytest.fixture(scope="module")
def site(sphinx, source, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = sphinx(source, out)
    assert done.returncode == 0, done.stderr
    return out


def test_the_ledger_page_has_one_card_per_claim(site):
    html = (site / "ledger.html").read_text("utf-8")
    assert re.findall(r'<details[^>]* id="claim-([A-E]\d+)"', html) == list(claims.IDS)
    row = re.search(r'<details[^>]*id="claim-A1".*?(?=<details[^>]*id="claim-A2")', html, flags=re.DOTALL).group()
    assert "verdict-corrected" in row
    assert "source-a" in row
    assert 'href="notebooks/01-the-recurrence.html#two-ways"' in row
    assert 'href="errata.html#erratum-A1"' in row
    assert TEST in row.replace("<wbr>", "")
    assert re.search(r"Checked by (\d+) tests?<", row)[1] == str(row.count("test-id"))
    assert "It is not." in row  # what is true
    found = re.search(r"<dt>Found</dt><dd><ul[^>]*>(.*?)</ul>", row.replace("\n", ""))[1].split("</li>")[:-1]
    assert [re.sub("<.*?>", "", line) for line in found] == ["One step: it is read.", r"Two steps: \(x_1\) is not."]
    assert html.count("<dt>Found") == 1 + sum(bool(claim.found) for claim in claims.load(ROOT).claims[1:])
    bar = re.search(r'<div class="verdict-bar".*?</div>', html).group()
    assert sum(map(int, re.findall(r"flex-grow: (\d+)", bar))) == len(claims.IDS)
    assert "Of 75 claims, 1 is settled." in html
    assert 'id="two-ways"' in (site / "notebooks" / "01-the-recurrence.html").read_text("utf-8")


def test_the_filter_is_labelled_and_names_every_source_and_verdict(site):
    form = re.search(r"<form.*?</form>", (site / "ledger.html").read_text("utf-8"), flags=re.DOTALL).group()
    assert re.findall(r'<option value="(\w)">', form) == list("ABCDE")
    assert '<label for="ledger-verdict">Verdict</label><select id="ledger-verdict"' in form
    assert '<option value="corrected">corrected (1)</option>' in form
    assert 'role="status"' in form


def test_the_role_links_to_a_row_from_anywhere(site):
    html = (site / "index.html").read_text("utf-8")
    assert re.search(r'href="ledger.html#claim-A1"><span[^>]*>A1<', html)
    assert re.search(r'href="ledger.html#claim-A2"><span[^>]*>the second<', html)


def test_the_errata_page_lists_each_correction_under_its_source(site):
    html = (site / "errata.html").read_text("utf-8")
    assert "Examined so far: 1 of 75 claims, 1 mistake found." in html
    assert 'id="errata-A"' in html
    assert 'id="errata-B"' not in html
    entry = re.search(r'id="erratum-A1".*', html, flags=re.DOTALL).group()
    for part in ("The source says", "What is true", "It is not.", "Smallest example", "recurrence.html#two-ways"):
        assert part in entry


def test_only_pages_with_the_ledger_load_its_script(site):
    assert "ledger.js" in (site / "ledger.html").read_text("utf-8")
    assert "ledger.js" not in (site / "index.html").read_text("utf-8")


def test_a_change_of_the_ledger_alone_rebuilds_its_pages(sphinx, source, tmp_path):
    root = shutil.copytree(source, tmp_path / "book")
    assert sphinx(root, tmp_path / "out").returncode == 0
    text = (root / claims.PATH).read_text("utf-8").replace("truth: It is not.", "truth: Not at all.")
    (root / claims.PATH).write_text(text)
    assert sphinx(root, tmp_path / "out").returncode == 0
    assert "Not at all." in (tmp_path / "out" / "errata.html").read_text("utf-8")


def test_an_unknown_claim_in_a_chapter_fails_the_build(sphinx, source, tmp_path):
    root = shutil.copytree(source, tmp_path / "book")
    (root / "index.md").write_text(PAGES["index.md"].replace("`A1`", "`A99`"))
    done = sphinx(root, tmp_path / "out")
    assert done.returncode != 0
    assert "claim-a99" in done.stderr


def test_a_broken_ledger_stops_the_build_and_says_everything(sphinx, source, tmp_path):
    root = shutil.copytree(source, tmp_path / "book")
    text = (root / claims.PATH).read_text("utf-8")
    (root / claims.PATH).write_text(text.replace("#two-ways", "#nowhere"))
    (root / "tests" / "dynamics" / "test_unroll.py").write_text(TESTS.replace('"A1"', '"E3"'))
    done = sphinx(root, tmp_path / "out")
    assert done.returncode != 0
    assert "the notebook has no such label" in done.stderr
    assert "A1: corrected, but without a test" in done.stderr
