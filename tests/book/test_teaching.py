"""The page for those who teach: its numbers are those of notebooks and records, and its tracks can be taught."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from html import unescape
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sitecheck import ROOT

sys.path.extend([str(ROOT / "book" / "_ext")])

from small_site import Build, configuration

from chapter_text import ReadingError, read_chapter, word_count
from fhx.exercises import EXERCISES

PAGE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
CHAPTERS = [read_chapter(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
TRACKS = [yaml.load(body, yaml.BaseLoader) for body in re.findall(r"```\{course-weeks\}\n(.*?)```", PAGE, re.DOTALL)]


def test_every_exercise_of_the_package_is_found_in_its_chapter_in_the_order_of_the_book() -> None:
    assert [name for chapter in CHAPTERS for _, name in chapter.exercises] == list(EXERCISES)


def test_there_are_tracks_of_4_8_and_13_weeks() -> None:
    assert [len(track) for track in TRACKS] == [4, 8, 13]


@pytest.mark.parametrize("track", TRACKS, ids=lambda track: f"{len(track)} weeks")
def test_what_is_assigned_is_of_a_chapter_that_has_been_read(track: list[dict[str, str]]) -> None:
    read: set[str] = set()
    for week in track:
        read |= {part.strip()[:2] for part in week["read"].split(",")}
        assert {name[:2] for name in week["assign"].split()} <= read


@pytest.mark.parametrize("track", TRACKS, ids=lambda track: f"{len(track)} weeks")
def test_a_week_is_no_more_than_five_hours(track: list[dict[str, str]]) -> None:
    chapters = {chapter.number: chapter for chapter in CHAPTERS}
    for week in track:
        minutes = sum(EXERCISES[name].notes.minutes for name in week["assign"].split())
        for part in week["read"].split(","):
            number, *words = part.split()
            limits = dict(zip(words[::2], words[1::2], strict=True))
            minutes += chapters[number].words_between(limits.get("from"), limits.get("to")) / 60
        assert 120 <= minutes <= 300, week


@pytest.mark.parametrize("track", TRACKS, ids=lambda track: f"{len(track)} weeks")
def test_an_exercise_that_names_a_statement_comes_when_it_has_been_read(track: list[dict[str, str]]) -> None:
    read: set[str] = set()
    for week in track:
        read = read.union(*(labels_in(part.split()) for part in week["read"].split(",")))
        for name in week["assign"].split():
            assert statements_named_by(name) <= read, name


@cache
def markdown_of(number: str) -> list[str]:
    (path,) = (ROOT / "notebooks").glob(f"{number}-*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def labels_in(part: list[str]) -> set[str]:
    """The labels in a part of a chapter, found in the text from heading to heading."""
    text = "\n\n".join(markdown_of(part[0]))
    limits = dict(zip(part[1::2], part[2::2], strict=True))
    if "from" in limits:
        text = text[text.index(f"({limits['from']})=") :]
    if "to" in limits:
        heading = re.compile(r"^(#+) ", re.M).search(text, text.index(f"({limits['to']})="))
        after = re.compile(rf"^#{{1,{len(heading[1])}}} ", re.M).search(text, heading.end())
        text = text[: after.start()]
    return set(re.findall(r"(?:^:label: *|^\$\$ *\(|^\()([\w-]+)", text, re.M))


def statements_named_by(name: str) -> set[str]:
    label = next(label for chapter in CHAPTERS for label, other in chapter.exercises if other == name)
    source = next(text for text in markdown_of(name[:2]) if f":label: {label}\n" in text)
    exercise = source[source.index("{exercise}") :]
    own = re.findall(r"^:label: *([\w-]+)", exercise, re.M)
    return set(re.findall(r"\{(?:prf:ref|eq)\}`(?:[^`<]*<)?([\w-]+)", exercise)).difference(own)


def test_each_project_has_its_five_parts_and_begins_with_an_exercise() -> None:
    labels = {label for chapter in CHAPTERS for label, _ in chapter.exercises}
    begins = re.findall(r"^:Begins with: (.*)$", PAGE, re.M)
    assert 4 <= len(begins) <= 6
    for line in begins:
        assert set(re.findall(r"\{ref\}`(ex-[\w-]+)`", line)) & labels
    assert PAGE.count(":Open: ") == PAGE.count(":Data: ") == PAGE.count(":A good answer: ") == len(begins)


# What is read from a notebook


def notebook(title: str, *exercises: str) -> nbformat.NotebookNode:
    """A chapter of three sections of five words each, with these exercises."""
    part = f"(sec-{title.lower()})=\n## Part\n\nOne two three four five"
    cells = [new_markdown_cell(f"# {title}\n\nOne two three four five $x + y$.\n\n{part}")]
    cells.append(new_markdown_cell("### Below\n\n$$a\nb$$\n\nOne two three four five\n\n## Exercises\n\nMany words."))
    for name in exercises:
        task = f"```{{exercise}} {EXERCISES[name].title}\n:label: ex-{name}\n\nDo it.\n```"
        cells += [new_markdown_cell(task), new_code_cell(f"f = ...\n\n\ncheck('{name}', f)")]
        cells += [new_markdown_cell("A solution."), new_code_cell(f"check('{name}', g)")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def written(path: Path, *exercises: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    nbformat.write(notebook(path.stem[3:].title(), *exercises), path)
    return path


def test_a_chapter_is_read_from_its_notebook(tmp_path: Path) -> None:
    chapter = read_chapter(written(tmp_path / "01-first.ipynb", "01-one-step", "01-mod-three"))
    assert [(section.label, section.level, section.words) for section in chapter.sections] == [
        ("", 1, 5),
        ("sec-first", 2, 5),
        ("", 3, 5),
    ]
    assert chapter.exercises == (("ex-01-one-step", "01-one-step"), ("ex-01-mod-three", "01-mod-three"))
    assert chapter.words == chapter.words_between(None, "sec-first") == 15
    assert chapter.words_between("sec-first", None) == 10


def test_words_are_counted_without_formulas_marks_and_addresses() -> None:
    prose = "It's [a link](https://a.b/c) to {ref}`the part <sec-a>`, $a$ and {eq}`e`."
    markdown = f":::{{note}}\n{prose}\n\n$$b$$ (eq-b)\n:::\n| a |\n|---|\n"
    assert word_count(markdown) == len(["note", "It's", "a", "link", "to", "the", "part", "and", "a"])


@pytest.mark.parametrize(
    ("limits", "says"),
    [(("sec-x", None), "no section of 01-first has the label sec-x"), (("below", "sec-first"), "no section")],
)
def test_a_part_that_is_not_there_is_refused(limits: tuple[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match=says):
        read_chapter(written(tmp_path / "01-first.ipynb")).words_between(*limits)


def test_an_end_before_its_start_is_refused() -> None:
    with pytest.raises(ReadingError, match="aut-xor comes before aut-compiler"):
        CHAPTERS[2].words_between("aut-compiler", "aut-xor")


def test_an_exercise_without_a_check_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "01-first.ipynb", "01-one-step", "01-mod-three")
    book = nbformat.read(path, as_version=4)
    del book.cells[3:6:2]
    nbformat.write(book, path)
    with pytest.raises(ReadingError, match="01-first: the exercise ex-01-one-step has no check"):
        read_chapter(path)


# The page that is made of it

TEACHING = """# Teaching

```{course-overview}
```

```{course-weeks}
- read: 01 to sec-first, 02 from sec-second
  assign: 01-mod-three 02-spike
- read: 01
  assign: 01-one-step
```

```{course-chapters}
- chapter: 01
  needs: "*Nothing*."
  teaches: Much.
- chapter: 02
  needs: The first.
  teaches: More.
```
"""
WRONG = {
    "```{course-weeks}\n- read: 01\n  assign: 01-one-stop\n```": "01-one-stop: no exercise",
    "```{course-weeks}\n- read: 01\n  assign: 01-one-step 02-spike 01-one-step\n```": "assigned twice",
    "```{course-weeks}\n- read: 01 up to sec-first\n  assign: 02-spike\n```": "'01 up to sec-first' is not a part",
    "```{course-weeks}\n- read: 03\n  assign: 02-spike\n```": "'03' is not a part of a chapter",
    "```{course-weeks}\n- read: 02 to sec-first\n  assign: 02-spike\n```": "no section of 02-second has the label",
    "```{course-weeks}\n- reads: 01\n  assign: 02-spike\n```": "expected a list of entries with the fields",
    "```{course-chapters}\n- {chapter: 01, needs: a, teaches: b}\n```": "expected the chapters 01, 02, once",
}


def small_book(root: Path, page: str) -> Path:
    root.mkdir()
    settings = {"numfig": True, "suppress_warnings": ["config.cache"], "exclude_patterns": [], "numfig_secnum_depth": 1}
    (root / "conf.py").write_text(configuration("sphinx_exercise", "solutions", "statements", "teaching", **settings))
    written(root / "notebooks" / "01-first.ipynb", "01-one-step", "01-mod-three")
    written(root / "notebooks" / "02-second.ipynb", "02-spike")
    toc = "# Book\n\n```{toctree}\n:numbered:\n:glob:\nnotebooks/*\n```\n\n```{toctree}\nteaching\n```\n"
    (root / "index.md").write_text(toc)
    (root / "teaching.md").write_text(page)
    return root


@pytest.fixture(scope="module")
def pages(sphinx: Build, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The page in a book with solutions, "1", and in one without, "0"."""
    made = {}
    for wanted in ("1", "0"):
        root = small_book(tmp_path_factory.mktemp("teaching") / "source", TEACHING)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SOLUTIONS", wanted)
            done = sphinx(root, root.parent / "out")
        assert done.returncode == 0, done.stderr
        made[wanted] = (root.parent / "out" / "teaching.html").read_text(encoding="utf-8")
    return made


def rows(page: str) -> list[str]:
    cells = [re.sub(r"</t[hd]>", " | ", row) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.DOTALL)]
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split()).removesuffix(" |") for row in cells]


def asked(*names: str) -> tuple[int, str]:
    notes = [EXERCISES[name].notes for name in names]
    return sum(one.points for one in notes), f"{sum(one.minutes for one in notes) / 60:.1f}"


def test_the_overview_has_the_sums_of_the_records(pages: dict[str, str]) -> None:
    (first, hours), (second, more) = asked("01-one-step", "01-mod-three"), asked("02-spike")
    together = f"{float(hours) + float(more):.1f}"
    assert rows(pages["1"])[1:4] == [
        f"First | 2 | {first} | 0.0 | {hours}",
        f"Second | 1 | {second} | 0.0 | {more}",
        f"Together | 3 | {first + second} | 0.0 | {together}",
    ]


def test_a_track_has_parts_exercises_and_sums(pages: dict[str, str]) -> None:
    (one, hours), (two, more) = asked("01-mod-three", "02-spike"), asked("01-one-step")
    found = rows(pages["1"])[5:8]
    assert found[0] == f"Week 1 First , to Part Second , from Part 01-mod-three 02-spike | {one} | 0.0 | {hours}"
    assert found[1] == f"Week 2 First 01-one-step | {two} | 0.0 | {more}"
    assert found[2].startswith(f"All, with 3 exercises | {one + two} | 0.0 | ")
    assert 'href="notebooks/02-second.html#ex-02-spike"' in pages["1"]
    assert 'href="notebooks/02-second.html#sec-second"' in pages["1"]


def test_each_exercise_has_number_title_id_points_and_minutes(pages: dict[str, str]) -> None:
    found = rows(pages["1"])[8:]
    assert found[0] == found[3] == "Exercise | Points | Minutes"
    for row, (number, name) in zip(
        found[1:3] + found[4:], {"1.1": "01-one-step", "1.2": "01-mod-three", "2.1": "02-spike"}.items(), strict=True
    ):
        record = EXERCISES[name]
        notes = record.notes
        assert row.startswith(f"{number} {record.title} {name} , {notes.difficulty}")
        assert row.endswith(f"{notes.teaches} | {notes.points} | {notes.minutes}")


def test_what_a_chapter_needs_is_markdown(pages: dict[str, str]) -> None:
    assert "<em>Nothing</em>" in pages["1"]


def test_a_book_without_solutions_does_not_say_what_an_exercise_teaches(pages: dict[str, str]) -> None:
    taught = [EXERCISES[name].notes.teaches[:30] for name in ("01-one-step", "01-mod-three", "02-spike")]
    assert all(one in unescape(pages["1"]) for one in taught)
    assert not any(one in unescape(pages["0"]) for one in taught)
    assert len(rows(pages["0"])) == len(rows(pages["1"]))


def test_what_cannot_be_taught_stops_the_build_and_says_why(sphinx: Build, tmp_path: Path) -> None:
    root = small_book(tmp_path / "source", "# Teaching\n\n" + "\n\n".join(WRONG))
    done = sphinx(root, tmp_path / "out")
    assert done.returncode != 0
    assert [message for message in WRONG.values() if message not in done.stderr] == []
