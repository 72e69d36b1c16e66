"""Which cells an answer needs is read off the text."""

import json
import time

import pytest
from submitted import chapter

from fhx.course.grading.judge import _Grader
from fhx.course.grading.marks import Task
from fhx.course.grading.notebook import Notebook, read_notebook
from fhx.course.notebooks import NotebookError
from fhx.exercises import EXERCISES


def sliced(sources, name):
    return [cell.number for cell in Notebook(sources).slice(name) if cell.source]


@pytest.mark.parametrize(
    ("sources", "needed"),
    [
        (["x = 1", "y = 2", "def f():\n    return x"], [0, 2]),
        (["def f():\n    return x", "x = 1"], [0, 1]),
        (["x = 1", "x = x + 1", "def f():\n    return x"], [0, 1, 2]),
        (["x = 1", "x = 2", "def f():\n    return x"], [1, 2]),
        (["x = []", "x.append(1)", "def f():\n    return x"], [0, 1, 2]),
        (["x = {}", "x['a'] = 1", "def f():\n    return x"], [0, 1, 2]),
        (["a = 1", "x = 1", "if a:\n    x = 2", "def f():\n    return x"], [0, 1, 2, 3]),
        (["def g():\n    return 1", "def f():\n    return g()"], [0, 1]),
        (["def f():\n    return 1", "def f():\n    return 2"], [1]),
        (["def f():\n    while True: pass", "def f():\n    return 2"], [1]),
        (["x = 1", "def f(x):\n    return x"], [1]),
        (["x = 1", "f = lambda: x"], [0, 1]),
        (["x = 1", "def f():\n    return [x for _ in range(3)]"], [0, 1]),
        (["k = 2", "class A:\n    size = k", "def f():\n    return A().size"], [0, 1, 2]),
        (["def make():\n    global x\n    x = 1", "make()", "def f():\n    return x"], [0, 1, 2]),
        (["while True:\n    pass", "def f():\n    return 1"], [1]),
        (["%%time\nx = 1", "def f():\n    return x"], [0, 1]),
        (["%pip install torch\nx = 1", "def f():\n    return x"], [0, 1]),
        (["def f(:", "def f():\n    return 1"], [1]),
        (["def f():\n    return 1", "def f():\n    return ..."], [0]),
        (["def f():\n    x, y = ..., 2\n    return x", "def f():\n    return ..."], [1]),
        (["def f(a):\n    return a[..., 0]", "x = [1]\nfor f in x:\n    pass", "f = [3]"], [0]),
        (["def g():\n    return 1", "f = g", "f = 3"], [0, 1]),
        (["def f():\n    return ...", "f = g(1)"], [0]),
        (["def f():\n    return 1", "f = f()", "for f in (1, 2):\n    pass"], [0]),
        (["def f():\n    return 1", "from functools import cache\nf = cache(f)"], [0, 1]),
        (["if True:\n    def f():\n        return 1", "def g():\n    f = 2"], [0]),
        (["f = 3", "f = 4"], [1]),
        (["t = {}", "def fill(a):\n    a[0] = 1", "fill(t)", "print(t)", "def f():\n    return t"], [0, 1, 2, 4]),
        (["t = {}", "x = t.setdefault(0, [])", "y = len(t)", "def f():\n    return t"], [0, 1, 3]),
    ],
)
def test_what_an_answer_needs(sources, needed):
    assert sliced(sources, "f") == needed


@pytest.mark.parametrize(
    "statement",
    [
        *("import math", "from math import pi", "torch.set_default_dtype(torch.float64)", "sys.setrecursionlimit(9)"),
        *("torch.manual_seed(3)", "getcontext().prec = 60", "mp.dps = 3", "%%writefile a.py\nx = 1"),
    ],
)
def test_imports_and_settings_are_always_kept(statement):
    source = statement if statement.startswith("%") else f"x = 3\n{statement}\nwhile x:\n    pass"
    cells = Notebook([source, "def f():\n    return 1"]).slice("f")
    assert [(cell.source, cell.basics) for cell in cells] == [("", (statement,)), ("def f():\n    return 1", ())]


@pytest.mark.parametrize("made", ["fig, ax = plt.subplots()", "def ax():\n    pass"])
def test_what_is_set_of_an_object_of_the_notebook_is_no_such_setting(made):
    figure = f"{made}\nax.set_xticks([])\nplt.use('agg')"
    cells = Notebook(["import matplotlib.pyplot as plt", figure, "def f():\n    return 1"]).slice("f")
    assert [cell.basics for cell in cells] == [("import matplotlib.pyplot as plt",), ("plt.use('agg')",), ()]


def test_what_is_set_of_an_object_that_an_answer_needs_is_run_with_it():
    sources = ["import random", "r = random.Random()", "r.seed(3)", "def f():\n    return r.random()"]
    assert sliced(sources, "f") == [0, 1, 2, 3]


@pytest.mark.parametrize("number", range(1, 14))
def test_nothing_but_the_hole_of_a_chapter_is_taken_for_an_answer(number):
    notebook = Notebook([cell["source"] for cell in chapter(number) if cell["cell_type"] == "code"])
    for exercise in Task(number, "a seed of a test").exercises:
        assert not notebook.has_answer(exercise.function)
        assert notebook.definitions(exercise.function)[-1].offers[exercise.function] is False


def test_holes_that_are_filled_in_elsewhere_are_never_run():
    sources = ["def f():\n    return 1", "def f():\n    return ...", "def g():\n    return ...", "x = 1"]
    assert [cell.number for cell in Notebook(sources).to_run] == [0, 2, 3]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # time is up anywhere
@pytest.mark.parametrize(
    "source", ["x = = 1" + "\n" * 30_000, "!true\n" * 600, "x.set_y(" + "1+" * 3_000 + "1)", "\ud800", "\0"]
)
def test_a_cell_that_nobody_can_read_is_one_that_is_left_out(source):
    began = time.process_time()
    notebook = Notebook([source, "def f():\n    return 1"])
    assert notebook.broken("g") is None
    assert [cell.number for cell in notebook.slice("f") if cell.source] == [1]
    assert time.process_time() - began < 12


def test_a_broken_cell_is_found_by_the_name_in_it():
    notebook = Notebook(["x = 1", "def f(:\n    return 1"])
    assert notebook.broken("f").error == "SyntaxError in line 1: invalid syntax"
    assert notebook.broken("g") is None
    assert not notebook.definitions("f")


def ways(*sources):
    return [
        (way.words[:9], way.expression, [cell.number for cell in way.cells if cell.source])
        for way in Notebook(list(sources)).ways("03-hat", "hats")
    ]


def test_what_stands_above_a_check_counts_and_then_the_whole_notebook():
    hats, helper = "def hats(n):\n    return help(n)", "def help(n):\n    return {}"
    found = ways(helper.format(1), hats, 'check("03-hat", hats)', helper.format(2))
    assert found == [
        ("", "hats", [0, 1]),
        ("all cells", "hats", [0, 1, 2]),
        ("the cells", "hats", [0, 1, 3]),
        ("all cells", "hats", [0, 1, 2, 3]),
    ]


def test_the_name_that_is_given_to_check_counts():
    mine, asked = "def mine(n):\n    return 1", "check('03-hat', {})"
    assert ways(mine, "def hats(n):\n    return ...", asked.format("mine"))[0] == ("", "mine", [0])
    assert ways(mine, asked.format("lambda n: mine(n)"))[0] == ("", "lambda n: mine(n)", [0])
    assert ways(mine, asked.format("answer=mine"))[0] == ("", "mine", [0])
    assert ways(mine, asked.format("hats")) == []  # there is none
    assert ways(mine, "check('03-other', mine)") == []


def test_the_last_check_is_tried_first_and_few_of_them():
    found = ways("def hats(n):\n    return 1", *["check('03-hat', hats)\nhats = hats"] * 5)
    assert [cells for words, _, cells in found if not words] == [[0, *range(1, n)] for n in (6, 5, 4)]


@pytest.mark.parametrize(
    ("source", "readable"),
    [
        ("def f():\n    return 1\n\ndef g(:\n    pass", "def f():\n    return 1\n"),
        ("def f():\n    x = 1\n    return (x", ""),
        ("x = 1\n@cache\ndef f():\n    return (", "x = 1"),
        ("x = 1\nif x:\n    y = 2\nelse:\n    y = = 3", "x = 1"),
        ("x = [1,\n2\n]\ny = = 3", "x = [1,\n2\n]"),
        ("x = = 1\ny = 2", ""),
    ],
)
def test_what_stands_above_a_syntax_error_counts(source, readable):
    (cell,) = Notebook([source]).cells
    assert cell.error.startswith("SyntaxError")
    assert cell.readable == cell.to_run == readable
    assert ("f" in cell.makes) == ("def f" in readable)


def test_what_check_said_and_which_python_are_read(tmp_path):
    outputs = [{"data": {"text/plain": ["✓ A title: pas", "sed. It agrees."]}}, {"text": "✗ Other: differs"}, 3, {}]
    cells = [
        {"cell_type": "code", "source": "x", "outputs": outputs},
        {"cell_type": "code", "source": "y", "outputs": 1},
    ]
    metadata = {"kernelspec": {"name": "a"}, "language_info": {"codemirror_mode": {"version": 3}, "version": "3.9.1"}}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": metadata}, ensure_ascii=False))
    notebook = read_notebook(tmp_path / "a.ipynb")
    assert [notebook.was_right(title) for title in ("A title", "title", "Other")] == [True, False, False]
    assert notebook.python == "3.9"


def test_a_notebook_needs_only_its_cells(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [{"cell_type": "code", "source": ["x = 1\n", "y = 2"]}, {"cell_type": "markdown", "source": "x"}, 3, {}]
    path.write_text(json.dumps({"cells": cells}))
    assert [cell.source for cell in read_notebook(path).cells] == ["x = 1\ny = 2"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "empty"),
        ("{", "cut off"),
        ("[]", "no cells"),
        ('{"cells": 3}', "no cells"),
        ("[" * 100_000, "not a notebook"),
        ("\x00\x01", "not a notebook"),
    ],
)
def test_what_is_not_a_notebook_is_refused(tmp_path, content, why):
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    with pytest.raises(NotebookError, match=why):
        read_notebook(path)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "a.ipynb").symlink_to("/etc/passwd")
    with pytest.raises(NotebookError, match="no file"):
        read_notebook(tmp_path / "a.ipynb")


class Ready:
    """A launcher that is asked for nothing."""

    def ready(self):
        """It is."""


def test_what_check_had_called_right_is_looked_at_also_where_nothing_is_found():
    """The name of the function is another one, and the check is called by one that nobody can read off."""
    sources = ["def mine(n):\n    return n", "for id, f in {'03-hat': mine}.items():\n    print(check(id, f))"]
    hat = EXERCISES["03-hat"]
    for outputs, told in [(f"✓ {hat.title}: passed. It", "had called it right"), ("", "cannot be read off")]:
        grader = _Grader(Notebook(sources, outputs), Task(3, "the seed of a test"), Ready())
        mark = grader.mark(hat)
        assert (mark.status, mark.points) == ("look at this", None)
        assert told in mark.message
