r"""The house rules of a chapter, each a function from a notebook and its file name to a list of problems.

Cell 0 is the title and the launch line, cell 1 the set-up, both written by ``book/tools/notebooks.py``; then come the
question, the imports, a figure, what is found and needed, and sections, each under a heading of the second level. The
shape of an exercise is in ``exercise_rules.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from exercise_rules import has_whole_exercises
from nbformat import NotebookNode
from notebook_cells import KERNELSPEC, config, is_stale, standard_cells
from notebook_parts import (
    CHECKED,
    FENCE,
    begins_section,
    code_cells,
    defined,
    headings,
    prose_cells,
    public_names,
    texts,
)

from fhx.course.notebooks import NotebookError, tags

Rule = Callable[[NotebookNode, str], list[str]]

MAX_BYTES, MAX_LINES, MIN_ALT, MAX_OPEN = 1_000_000, 25, 15, 12
PURPOSES = {"imports", "figure", "work", "check", "show"}
IMAGES = ("image/png", "image/svg+xml", "image/jpeg")
RESULT = re.compile(r"\{prf:(theorem|lemma|proposition|corollary)\}")
TITLED = re.compile(r"^(?:`{3,}|:{3,})\{(?:exercise|prf:\w+)\}[ \t]+(?P<title>[^\n]+)$", re.M)
VOLATILE = re.compile(r"\bat 0x[0-9a-f]{6,}|(?<![\w./])/(?:home|root|tmp|work|Users|usr|opt|var)/\S*")
MAKING_OF = re.compile(r"\b(as an AI|AI assistant|chatgpt|claude|(this|last) session|TODO|FIXME|lorem ipsum)\b", re.I)
UN_ENGLISH = re.compile(
    r"(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|better|larger|smaller|faster|shorter|clear"
    r"|contradiction|difficulty|guarantee|obstacle|protection|sign|surprise)\w+"
    r"|\bheld against\b|\bone to an? \w+|\b(?:an?|one) (?:row|column|point|place) to (?:each|every|a)\b"
    r"|\b(?:one|two) (?:step|row|column|place|point|net|unit)s? an? \w+",
    re.I,
)
PROPER = frozenset(Path(__file__).with_name("proper_names.txt").read_text(encoding="utf-8").split())


def is_named_by_number(notebook: NotebookNode, name: str) -> list[str]:
    """NN-title.ipynb."""
    good = re.fullmatch(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*\.ipynb", name)
    return [] if good else [f"{name}: a chapter's file is named NN-title.ipynb"]


def begins_with_the_standard_cells(notebook: NotebookNode, name: str) -> list[str]:
    """Title and launch line, then the set-up, as in the templates."""
    try:
        expected = standard_cells(notebook, name, config())
    except NotebookError as error:
        return [str(error)]
    keys = ("cell_type", "id", "source", "metadata")
    same = [[cell.get(key) for key in keys] for cell in notebook.cells[:2]]
    wanted = [[cell[key] for key in keys] for cell in expected]
    return [f"cell {i} differs from the standard one" for i in (0, 1) if i >= len(same) or same[i] != wanted[i]]


def names_the_kernel(notebook: NotebookNode, name: str) -> list[str]:
    """The kernelspec is python3, and no widget state is stored."""
    found = [] if notebook.metadata.get("kernelspec") == KERNELSPEC else [f"the kernelspec is not {KERNELSPEC}"]
    return found + (["widget state is stored"] if "widgets" in notebook.metadata else [])


def was_run_in_order(notebook: NotebookNode, name: str) -> list[str]:
    """Every code cell was executed, from top to bottom, in a fresh kernel."""
    return [
        f"cell {place} was run as number {cell.execution_count}, not {count}"
        for count, (place, cell) in enumerate(code_cells(notebook), start=1)
        if cell.execution_count != count
    ]


def is_fresh(notebook: NotebookNode, name: str) -> list[str]:
    """The stored outputs come from the stored code."""
    return ["the outputs are older than the code: run 'make notebooks'"] if is_stale(notebook) else []


def has_no_error(notebook: NotebookNode, name: str) -> list[str]:
    """No stored error and nothing on the error stream, so no warning either."""
    return [
        f"cell {place} has {'an error' if output.output_type == 'error' else 'text on the error stream'} in its output"
        for place, cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def is_the_same_elsewhere(notebook: NotebookNode, name: str) -> list[str]:
    """No memory address and no path of a machine in an output; no endless decimals where the output is compared."""
    found = []
    for place, cell in code_cells(notebook):
        for text in texts(cell):
            found += [f"cell {place} puts out {match[0]!r}" for match in [VOLATILE.search(text)] if match]
            if CHECKED in tags(cell) and (match := re.search(r"\d\.\d{7,}", text)):
                found.append(f"cell {place} is compared but not rounded: {match[0]}")
    return found


def is_small(notebook: NotebookNode, name: str) -> list[str]:
    """Less than 1 MB."""
    size = len(json.dumps(notebook, ensure_ascii=False, indent=1).encode())
    return [f"{size} bytes, more than {MAX_BYTES}"] if size >= MAX_BYTES else []


def has_short_cells(notebook: NotebookNode, name: str) -> list[str]:
    """At most 25 lines of code to a cell, and at least one."""
    return [
        f"cell {place} has {lines} lines of code"
        for place, cell in code_cells(notebook)
        if not 1 <= (lines := len(cell.source.splitlines())) <= MAX_LINES
    ]


def describes_its_figures(notebook: NotebookNode, name: str) -> list[str]:
    """One image to a cell, with name, caption and a description that says more than a file name."""
    found = []
    for place, cell in code_cells(notebook):
        images = [output for output in cell.outputs if any(kind in output.get("data", {}) for kind in IMAGES)]
        if not images:
            continue
        settings = cell.metadata.get("mystnb", {})
        figure, alt = settings.get("figure", {}), settings.get("image", {}).get("alt", "").strip()
        found += [f"cell {place} puts out {len(images)} images"] * (len(images) > 1)
        found += [f"the figure of cell {place} has no {key}" for key in ("name", "caption") if not figure.get(key)]
        if len(alt) < MIN_ALT or re.search(r"\.(png|svg|jpe?g)\b", alt) or alt in figure.values():
            found.append(f"the figure of cell {place} is not described: {alt!r}")
    for place, cell in prose_cells(notebook):
        found += [f"an image of cell {place} is not described"] * len(re.findall(r"!\[\s*\]\(", cell.source))
        for fence in FENCE.finditer(cell.source):
            if re.match(r"\{(figure|image)\}", fence["head"]) and not re.search(r"^:alt:\s*\S", fence["body"], re.M):
                found.append(f"a figure of cell {place} is not described")
    return found


def has_plain_headings(notebook: NotebookNode, name: str) -> list[str]:
    """No mathematics in a heading."""
    return [
        f"mathematics in the heading {text!r}"
        for _, cell in prose_cells(notebook)
        for _, text in headings(cell)
        if re.search(r"\$|\\\(|\{math\}", text)
    ]


def has_headings_in_sentence_case(notebook: NotebookNode, name: str) -> list[str]:
    """A capital begins a heading or the title of a block; other words have one only if they are names."""
    found = []
    for _, cell in prose_cells(notebook):
        titles = [text for _, text in headings(cell)] + TITLED.findall(cell.source)
        for title in titles:
            bare = re.sub(r"\{[\w:]+\}`[^`]*`|`[^`]*`|\$[^$]*\$", " ", title)
            words = [word.removesuffix("'s").removesuffix("’s") for word in re.findall(r"[^\W\d_][\w'’]*", bare)]
            names = {word for word in words[1:] if word[0].isupper() and not word.isupper() and word not in PROPER}
            if names or (bare.strip() == title and words and words[0][0].islower() and title[0].isalpha()):
                found.append(f"not in sentence case: {title!r}")
    return found


def has_levels_in_order(notebook: NotebookNode, name: str) -> list[str]:
    """One title, and no level of headings skipped."""
    levels = [level for cell in notebook.cells for level, _ in headings(cell)]
    found = [] if levels.count(1) == 1 and levels[:1] == [1] else ["a chapter has one title, and it comes first"]
    return found + [
        f"a heading of level {low} follows one of level {high}" for high, low in pairwise(levels) if low > high + 1
    ]


def defines_nothing_that_the_package_has(notebook: NotebookNode, name: str) -> list[str]:
    """The package's functions are imported, never written again; only exercises write functions of their own kind."""
    return [
        f"cell {place} defines {twin}, which the package has"
        for place, cell in code_cells(notebook)
        if not {"hole", "solution"} & set(tags(cell))
        for twin in sorted(defined(cell) & public_names())
    ]


def uses_plain_tqdm(notebook: NotebookNode, name: str) -> list[str]:
    """TQDM_DISABLE silences plain tqdm only."""
    pattern = re.compile(r"tqdm\.(auto|notebook|autonotebook)")
    used = [(place, pattern.search(cell.source)) for place, cell in code_cells(notebook)]
    return [f"cell {place} uses {match[0]}" for place, match in used if match]


def checks_its_results(notebook: NotebookNode, name: str) -> list[str]:
    """A section with a theorem, lemma, proposition or corollary has a checked output; a checked cell has an output."""
    sections: list[list[NotebookNode]] = [[]]
    for cell in notebook.cells:
        if begins_section(cell):
            sections.append([])
        sections[-1].append(cell)
    found = [
        f"cell {place} is tagged {CHECKED} and puts out nothing"
        for place, cell in code_cells(notebook)
        if CHECKED in tags(cell) and not cell.outputs
    ]
    for section in sections:
        states = any(RESULT.search(cell.source) for cell in section if cell.cell_type == "markdown")
        checked = any(CHECKED in tags(cell) for cell in section if cell.cell_type == "code")
        if states and not checked:
            title = next((text for cell in section for _, text in headings(cell)), "before the first heading")
            found.append(f"the section {title!r} states a result and checks none (tag {CHECKED})")
    return found


def says_what_its_code_is_for(notebook: NotebookNode, name: str) -> list[str]:
    """Each cell of code has one tag by which the page folds it; few are open, and figures are where pictures are."""
    found, is_open = [], 0
    for place, cell in code_cells(notebook)[1:]:
        own = PURPOSES & set(tags(cell))
        if {"hole", "solution"} & set(tags(cell)):
            continue
        is_open += own == {"show"}
        if len(own) != 1:
            found.append(f"cell {place} is tagged {sorted(own)}, and not one of {', '.join(sorted(PURPOSES))}")
        pictures = any({*IMAGES, "text/html"} & set(output.get("data", ())) for output in cell.outputs)
        if pictures != ("figure" in own):
            found.append(
                f"cell {place} {'shows' if pictures else 'does not show'} a picture and is tagged {sorted(own)}"
            )
    return found + ([f"{is_open} cells are open, over {MAX_OPEN}"] if is_open > MAX_OPEN else [])


def opens_with_question_and_picture(notebook: NotebookNode, name: str) -> list[str]:
    """After the set-up: a question of at most two sentences, the imports, a figure, then results and what is needed."""
    question, imports, hook, results = (notebook.cells[2:6] + [NotebookNode(cell_type="", source="")] * 4)[:4]
    sentences = [*re.finditer(r"[.?!](?=\s|$)", re.sub(r"\$[^$]*\$|\{[\w:]+\}`[^`]*`", "x", question.source))]
    wants = {
        "the question, one or two sentences that end in a question mark": question.cell_type == "markdown"
        and len(sentences) in (1, 2)
        and question.source.rstrip().endswith("?"),
        "the imports": imports.cell_type == "code" and "imports" in tags(imports),
        "a figure": hook.cell_type == "code" and "figure" in tags(hook),
        'the box "In short" and "**Before this chapter**"': ":class: in-short" in results.source
        and "**Before this chapter**:" in results.source,
    }
    return [f"cell {place} is not {what}" for place, (what, holds) in enumerate(wants.items(), start=2) if not holds]


def shows_its_tables(notebook: NotebookNode, name: str) -> list[str]:
    """A table is shown where it is the last of its cell, and lost where something follows."""
    return [
        f"cell {place} shows no table: something follows it"
        for place, cell in code_cells(notebook)
        if re.search(r"^results\(", cell.source, re.M)
        and not re.search(r"^results\([^\n]*(\n[ )].*)*\Z", cell.source, re.M)
    ]


def ends_with_what_was_found(notebook: NotebookNode, name: str) -> list[str]:
    """Before the exercises stands what was found, what is open, and where to go."""
    prose = "\n\n".join(cell.source for _, cell in prose_cells(notebook))
    before = re.split(r"^## Exercises", prose, flags=re.M)[0]
    last = re.split(r"^## ", before, flags=re.M)[-1]
    return [
        f"the last section has no {part}"
        for part in ("**Found.**", "**Open.**", "**Where to go.**")
        if part not in last
    ]


def speaks_of_its_subject(notebook: NotebookNode, name: str) -> list[str]:
    """No word about how the book was made, and no note to self."""
    return [
        f"cell {place} says {match[0]!r}"
        for place, cell in enumerate(notebook.cells)
        if (match := MAKING_OF.search(cell.source))
    ]


def reads_as_english(notebook: NotebookNode, name: str) -> list[str]:
    """It is not a stack, one row per unit, compared with: and not no stack, one to a unit, held against."""
    captions = [(place, str(cell.metadata.get("mystnb", ""))) for place, cell in code_cells(notebook)]
    prose = [(place, " ".join(cell.source.split())) for place, cell in prose_cells(notebook)]
    return [
        f"cell {place} says {match[0]!r}" for place, text in prose + captions for match in UN_ENGLISH.finditer(text)
    ]


RULES: tuple[Rule, ...] = (
    is_named_by_number,
    begins_with_the_standard_cells,
    names_the_kernel,
    was_run_in_order,
    is_fresh,
    has_no_error,
    is_the_same_elsewhere,
    is_small,
    has_short_cells,
    describes_its_figures,
    has_plain_headings,
    has_headings_in_sentence_case,
    has_levels_in_order,
    defines_nothing_that_the_package_has,
    uses_plain_tqdm,
    checks_its_results,
    says_what_its_code_is_for,
    shows_its_tables,
    opens_with_question_and_picture,
    ends_with_what_was_found,
    has_whole_exercises,
    speaks_of_its_subject,
    reads_as_english,
)
