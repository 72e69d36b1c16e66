"""The house rules hold in every chapter, and each of them can fail."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
from house_rules import RULES, Rule
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_cells import code_sha256, config, stamp, tidy

from fhx.course.notebooks import read

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAME = "07-a-title.ipynb"
FENCE = "```"
PNG = "iVBORw0KGgo="
SHORT = ":::{admonition} In short\n:class: in-short\n- It turns.\n:::\n\n**Before this chapter**: nothing."
FIGURE = {"figure": {"name": "fig-orbit", "caption": "An orbit."}, "image": {"alt": "A spiral towards the origin."}}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_keeps_the_house_rules(path: Path, rule: Rule) -> None:
    problems = rule(read(path), path.name)
    assert not problems, "\n".join(problems)


def test_chapters_have_numbers_and_figure_names_of_their_own() -> None:
    numbers = [path.name[:2] for path in CHAPTERS]
    figures = [
        cell.metadata["mystnb"]["figure"]["name"]
        for path in CHAPTERS
        for cell in read(path).cells
        if "figure" in cell.metadata.get("mystnb", {})
    ]
    assert len(numbers) == len(set(numbers)) > 0
    assert len(figures) == len(set(figures))


def test_every_chapter_is_in_the_table_of_contents() -> None:
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert [path.stem for path in CHAPTERS if f"file: notebooks/{path.stem}\n" not in toc] == []


def directive(name: str, *lines: str) -> str:
    return "\n".join([f"{FENCE}{{{name[: name.find(' ')]}}}{name[name.find(' ') :]}", *lines, FENCE])


def code(source: str, *tags: str, text: str = "", **metadata: object) -> NotebookNode:
    outputs = [new_output("stream", text=text)] if text else []
    return new_code_cell(source, metadata={"tags": list(tags), **metadata} if tags else metadata, outputs=outputs)


def exercise(number: int) -> list[NotebookNode]:
    label = f"ex-{number}"
    return [
        new_markdown_cell(directive("exercise Parity of a word", f":label: {label}", "Fill it in.")),
        code(f"def parity_{number}(bits):\n    return ...\n\ncheck('parity', parity_{number})", "hole", text="open\n"),
        new_markdown_cell(
            directive(f"solution-start {label}", f":label: sol-{number}", ":class: dropdown") + "\n\nAdd modulo 2."
        ),
        code(
            f"def solution_{number}(bits):\n    return sum(bits) % 2\n\ncheck('parity', solution_{number})",
            "solution",
            "nbval-check-output",
            text="right\n",
        ),
        new_markdown_cell(f"{FENCE}{{solution-end}}\n{FENCE}"),
    ]


def finish(notebook: NotebookNode) -> NotebookNode:
    """Number the code cells and keep their hash, as a run would."""
    for count, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), start=1):
        cell.execution_count = count
    notebook.metadata["fhx"] = {"code_sha256": code_sha256(notebook)}
    return notebook


@pytest.fixture
def chapter() -> NotebookNode:
    """A miniature that keeps every rule."""
    drawn = code("draw()", "figure", mystnb=copy.deepcopy(FIGURE))
    drawn.outputs = [new_output("display_data", {"image/png": PNG, "text/plain": "<Figure size 640x480>"})]
    cells = [
        new_markdown_cell("(a-title)=\n# A title"),
        new_markdown_cell("An orbit is a run. Does it turn?"),
        code("import math", "imports"),
        drawn,
        new_markdown_cell(SHORT),
        new_markdown_cell("## The Jacobian of an LSTM in PyTorch"),
        new_markdown_cell(directive("prf:theorem Elman's map", ":label: thm-a", "It turns.", "# not a heading")),
        code("print(1 + 1)", "check", "nbval-check-output", text="2\n"),
        new_markdown_cell("## What it means\n\n**Found.** It turns.\n\n**Open.** When.\n\n**Where to go.** On."),
        new_markdown_cell("## Exercises"),
        *(cell for number in range(5) for cell in exercise(number)),
        new_markdown_cell("## References"),
    ]
    notebook = new_notebook(cells=cells)
    stamp(notebook, NAME, config())
    tidy(notebook)
    return finish(notebook)


def at(notebook: NotebookNode, text: str) -> NotebookNode:
    """The first cell whose source contains a text."""
    return next(cell for cell in notebook.cells if text in cell.source)


def replaced(text: str, old: str, new: str) -> Callable[[NotebookNode], None]:
    """A mutation: in the cell that contains ``text``, write ``new`` for ``old``."""

    def mutate(notebook: NotebookNode) -> None:
        cell = at(notebook, text)
        assert old in cell.source
        cell.source = cell.source.replace(old, new)

    return mutate


def printing(text: str, **output: str) -> Callable[[NotebookNode], None]:
    """A mutation: the checked cell has put out something else."""
    return lambda notebook: at(notebook, "print(1").outputs.append(new_output("stream", text=text, **output))


def untagged(text: str, tag: str) -> Callable[[NotebookNode], None]:
    """A mutation: a cell has lost a tag."""
    return lambda notebook: at(notebook, text).metadata.tags.remove(tag)


def heading(text: str) -> Callable[[NotebookNode], None]:
    """A mutation: another heading of the first section."""
    return replaced("## The Jacobian", "## The Jacobian of an LSTM in PyTorch", text)


def picture(**settings: object) -> Callable[[NotebookNode], None]:
    """A mutation: other figure settings."""
    return lambda notebook: at(notebook, "draw").metadata.mystnb.update(settings)


def twice(notebook: NotebookNode) -> None:
    """A mutation: the drawing cell puts out two images."""
    at(notebook, "draw").outputs *= 2


MUTATIONS: list[tuple[str, str, Callable[[NotebookNode], object]]] = [
    ("begins_with_the_standard_cells", "cell 0", replaced("Run it in", "blob/main", "blob/dev")),
    ("begins_with_the_standard_cells", "cell 1", replaced("REVISION", '"main"', '"dev"')),
    ("begins_with_the_standard_cells", "cell 1", lambda notebook: notebook.cells[1].metadata.pop("tags")),
    ("begins_with_the_standard_cells", "title", replaced("# A title", "# A title", "A title")),
    ("names_the_kernel", "kernelspec", lambda notebook: notebook.metadata.kernelspec.update(name="conda-env")),
    ("names_the_kernel", "widget", lambda notebook: notebook.metadata.update(widgets={})),
    ("was_run_in_order", "not 3", lambda notebook: at(notebook, "draw").update(execution_count=9)),
    ("was_run_in_order", "None", lambda notebook: at(notebook, "print(1").update(execution_count=None)),
    ("is_fresh", "older", replaced("print(1", "1 + 1", "2 + 1")),
    ("is_fresh", "older", lambda notebook: notebook.metadata.pop("fhx")),
    ("has_no_error", "error", lambda notebook: at(notebook, "draw").outputs.append(new_output("error"))),
    ("has_no_error", "stream", printing("UserWarning: oh", name="stderr")),
    ("is_the_same_elsewhere", "0x7f0011", printing("<Cell at 0x7f0011>")),
    ("is_the_same_elsewhere", "/home", printing("read /home/me/data.mat")),
    ("is_the_same_elsewhere", "rounded", printing("0.30000000000000004")),
    ("is_small", "bytes", printing("x" * 1_000_000)),
    ("has_short_cells", "26 lines", replaced("draw()", "draw()", "draw()\n" * 26)),
    ("has_short_cells", "0 lines", replaced("draw()", "draw()", "")),
    ("describes_its_figures", "no name", picture(figure={"caption": "An orbit."})),
    ("describes_its_figures", "no caption", picture(figure={"name": "fig-orbit"})),
    ("describes_its_figures", "not described", picture(image={"alt": "../_images/spiral-orbit.png"})),
    ("describes_its_figures", "not described", picture(image={"alt": " "})),
    ("describes_its_figures", "not described", picture(image={})),
    ("describes_its_figures", "not described", replaced("Does it turn", "Does it", "![](a.png) Does it")),
    ("describes_its_figures", "not described", replaced("## The J", "## The J", "```{image} a.png\n```\n\n## The J")),
    (
        "describes_its_figures",
        "2 images",
        lambda notebook: at(notebook, "draw").outputs.extend(at(notebook, "draw").outputs),
    ),
    ("has_plain_headings", "mathematics", heading("## The map $f$")),
    ("has_headings_in_sentence_case", "The Hidden", heading("## The Hidden State")),
    ("has_headings_in_sentence_case", "the hidden", heading("## the hidden state")),
    ("has_headings_in_sentence_case", "Of A", replaced("{exercise}", "Parity of a", "Parity Of A")),
    ("has_levels_in_order", "level 4", replaced("Does it turn", "?", "?\n\n#### Deep")),
    ("has_levels_in_order", "one title", replaced("## References", "## References", "# References")),
    ("defines_nothing_that_the_package_has", "unroll", replaced("draw()", "draw()", "def unroll(cell):\n    pass")),
    ("defines_nothing_that_the_package_has", "LSTMCell", replaced("draw()", "draw()", "class LSTMCell:\n    pass")),
    ("uses_plain_tqdm", "tqdm.auto", replaced("draw()", "draw()", "from tqdm.auto import tqdm")),
    ("checks_its_results", "states a result", untagged("print(1", "nbval-check-output")),
    ("checks_its_results", "puts out nothing", lambda notebook: at(notebook, "print(1").update(outputs=[])),
    ("says_what_its_code_is_for", "not one of", untagged("print(1", "check")),
    (
        "says_what_its_code_is_for",
        "shows a picture",
        lambda notebook: at(notebook, "draw").metadata.update(tags=["show"]),
    ),
    (
        "says_what_its_code_is_for",
        "does not show",
        lambda notebook: at(notebook, "print(1").metadata.tags.append("figure"),
    ),
    (
        "says_what_its_code_is_for",
        "13 cells are open",
        lambda notebook: notebook.cells.extend([code("1", "show")] * 13),
    ),
    ("shows_its_tables", "something follows", replaced("print(1", "print(1 + 1)", "results(\n    [1],\n)\nassert 1")),
    (
        "opens_with_question_and_picture",
        "cell 2 is not the question",
        replaced("Does it", "Does it turn?", "It turns."),
    ),
    ("opens_with_question_and_picture", "cell 2 is not the question", replaced("An orbit", "An", "One. Two. An")),
    ("opens_with_question_and_picture", "cell 3 is not the imports", untagged("import math", "imports")),
    ("opens_with_question_and_picture", "cell 4 is not a figure", untagged("draw", "figure")),
    ("opens_with_question_and_picture", "cell 5 is not", replaced("In short", "**Before this chapter**", "Before it")),
    ("ends_with_what_was_found", "no **Open.**", replaced("**Found.**", "**Open.**", "Open")),
    ("has_whole_exercises", "4 exercises", replaced("ex-2\n", "{exercise}", "{note}")),
    ("has_whole_exercises", "title", replaced("{exercise}", "ex-0", "parity")),
    ("has_whole_exercises", "title", replaced("{exercise}", " Parity of a word", "")),
    ("has_whole_exercises", "no cell tagged hole", untagged("def parity_3", "hole")),
    ("has_whole_exercises", "no '...'", replaced("def parity_3", "...", "0")),
    ("has_whole_exercises", "ex-3 calls no check", replaced("def parity_3", "check(", "print(")),
    ("has_whole_exercises", "one solution-start", lambda notebook: notebook.cells.remove(at(notebook, "sol-1"))),
    ("has_whole_exercises", "one solution-start", lambda notebook: notebook.cells.remove(at(notebook, "solution-end"))),
    ("has_whole_exercises", "must begin", replaced("sol-1", "ex-1", "ex-2")),
    ("has_whole_exercises", "must begin", replaced("sol-1", "dropdown", "open")),
    ("has_whole_exercises", "each tagged", untagged("def solution_3", "solution")),
    ("has_whole_exercises", "each tagged", lambda notebook: notebook.cells.remove(at(notebook, "def solution_3"))),
    ("has_whole_exercises", "calls no check in a cell", untagged("def solution_3", "nbval-check-output")),
    ("has_whole_exercises", "calls no check in a cell", replaced("def solution_3", "check(", "print(")),
    ("has_whole_exercises", "defines parity_3 again", replaced("def solution_3", "solution_3", "parity_3")),
    ("has_whole_exercises", "belongs to no exercise", lambda notebook: notebook.cells.append(code("1", "hole"))),
    ("speaks_of_its_subject", "TODO", replaced("Does it turn", "Does it", "TODO: does it")),
    ("reads_as_english", "is no stack", replaced("Does it turn", "Does it turn?", "What is no\nstack turns.")),
    ("reads_as_english", "one to a unit", replaced("Does it turn", "Does it turn?", "Rows turn, one to a unit.")),
    (
        "reads_as_english",
        "held against",
        picture(figure={"name": "fig-orbit", "caption": "It is held against a line."}),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_miniature_keeps_the_house_rules(chapter: NotebookNode, rule: Rule) -> None:
    assert rule(chapter, NAME) == []


@pytest.mark.parametrize(("name", "culprit", "mutate"), MUTATIONS)
def test_broken_miniature_breaks_the_rule(
    chapter: NotebookNode, name: str, culprit: str, mutate: Callable[[NotebookNode], object]
) -> None:
    rule = next(rule for rule in RULES if rule.__name__ == name)
    broken = copy.deepcopy(chapter)
    mutate(broken)
    assert any(culprit in problem for problem in rule(broken, NAME))


@pytest.mark.parametrize("name", ["1-short.ipynb", "07_under.ipynb", "07-Capital.ipynb", "title.ipynb", "07-a-.ipynb"])
def test_bad_file_name_is_found(chapter: NotebookNode, name: str) -> None:
    rule = next(rule for rule in RULES if rule.__name__ == "is_named_by_number")
    assert rule(chapter, name)


def test_every_rule_has_been_seen_to_fail() -> None:
    assert {rule.__name__ for rule in RULES} == {name for name, _, _ in MUTATIONS} | {"is_named_by_number"}
