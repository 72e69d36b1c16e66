"""The last chapter claims nothing itself: every sentence leads to evidence, every number is printed on the page."""

import ast
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHAPTER = ROOT / "notebooks" / "13-the-answer.ipynb"
ANSWERS = ("ans-first", "ans-exists", "ans-found", "ans-second", "ans-built", "ans-measured", "ans-need")
ROLE = re.compile(r"\{(claim|prf:ref|ref|numref|doc)\}`(?:[^`<]*<)?([^`>]+)>?`")
MATHS = re.compile(r"\$[^$]*\$")
LEAD = re.compile(r"^(- )?\*[^*]+\*\.? ?")


@cache
def cells():
    return nbformat.read(CHAPTER, 4).cells


def section(label):
    """The prose under a label, up to the next label."""
    whole = "\n\n".join(cell.source for cell in cells() if cell.cell_type == "markdown")
    found = re.search(rf"^\({label}\)=\n#+ [^\n]*\n(.*?)(?=^\(ans-|\Z)", whole, re.M | re.S)
    assert found, f"no section {label}"
    return found[1].strip()


def sentences(text):
    """Sentences of paragraphs and of list items; what stands in brackets or formulas ends none."""
    for block in re.split(r"\n\s*\n|\n(?=- )", text):
        bare = " ".join(block.split())
        hidden = MATHS.sub(lambda match: match[0].replace(".", "\0"), bare)
        hidden = ROLE.sub(lambda match: match[0].replace(".", "\0"), hidden)
        for part in re.split(r"(?<=[.?!]) (?=[A-Z*])", LEAD.sub("", hidden)):
            if part.strip():
                yield part.replace("\0", ".").strip()


@cache
def labels():
    found = set()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            found |= set(re.findall(r"^\(([\w-]+)\)=$", cell.source, re.M))
            found |= set(re.findall(r"^:label: ([\w-]+)$", cell.source, re.M))
            found.add(cell.metadata.get("mystnb", {}).get("figure", {}).get("name"))
    return found


@pytest.mark.parametrize("label", ANSWERS)
def test_every_sentence_of_the_answers_leads_to_what_supports_it(label):
    found = list(sentences(section(label)))
    assert found
    assert [sentence for sentence in found if not ROLE.search(sentence)] == []


def test_every_item_that_is_open_names_the_place_where_it_was_left_open():
    items = re.findall(r"^- .*$", section("ans-open"), re.M)
    assert len(items) > 8
    assert [item for item in items if not ROLE.search(item)] == []


def test_what_is_referred_to_is_there():
    rows = {row["id"] for row in yaml.safe_load((ROOT / "book" / "claims.yml").read_text(encoding="utf-8"))["claims"]}
    for cell in cells():
        if cell.cell_type == "markdown":
            for role, target in ROLE.findall(cell.source):
                if role == "claim":
                    assert target in rows
                elif role == "doc":
                    assert (ROOT / f"{target.lstrip('/')}.ipynb").exists() or (
                        ROOT / f"{target.lstrip('/')}.md"
                    ).exists()
                else:
                    assert target in labels(), target


@pytest.mark.parametrize("label", ["ans-found", "ans-measured", "ans-need"])
def test_every_number_of_the_answers_is_printed_on_the_page(label):
    printed = "\n".join(
        output.text for cell in cells() if cell.cell_type == "code" for output in cell.outputs if "text" in output
    ).replace(",", "")
    text = ROLE.sub("", section(label))
    text = re.sub(r"\$([\d.]+)\$", r"\1", text)  # a number between dollars is one
    numbers = re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", MATHS.sub("", text))
    assert len(numbers) >= 3
    assert [n for n in numbers if not re.search(rf"(?<![\d.]){re.escape(n.replace(',', ''))}(?![\d])", printed)] == []


def test_the_list_says_what_the_figure_shows():
    (source,) = (cell.source for cell in cells() if "decision_chart(questions" in cell.source)
    given = {
        statement.targets[0].id: ast.literal_eval(statement.value)
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign)
    }
    rows = [*((asks, take) for asks, take, _ in given["questions"]), ("Otherwise", given["otherwise"][0])]
    items = re.findall(r"^\d+\. (.*)$", section("ans-decide"), re.M)
    assert len(items) == len(rows)
    for (asks, take), item in zip(rows, items, strict=True):
        assert item.startswith(f"**{asks}**")
        assert f"*{take}*".lower() in item.lower()
        assert len(ROLE.findall(item)) >= 2
