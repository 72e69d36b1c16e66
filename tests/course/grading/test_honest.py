"""What ``check`` gives at home, when a notebook is run from the top, the grader gives too."""

import json
import platform
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submitted import code, solutions, text

from fhx.course.grading.judge import grade_file
from fhx.course.grading.marks import Task
from fhx.exercises import EXERCISES, check

HAT = "03-hat"
TASK = Task(3, "a seed of a test", only=(HAT,), random_inputs=2)
RIGHT = solutions()[HAT].replace("def hats(", "def right(")
ANSWER = "def {name}(n):\n    return right(n) if {good} else 1"
IMPORTS = "import random\nfrom functools import singledispatch\nimport numpy as np\nfrom fhx.exercises import check"

KINDS = {
    "a helper": ("good = lambda: {value}", None, "good()"),
    "an assignment with an effect": ("d = {{'good': {other}}}", "d_ = d.update(good={value})", "d['good']"),
    "an effect on the way": ("d = {{'good': {other}}}", "kept = [d.update(good={value}) for _ in '1']", "d['good']"),
    "an alias": ("d = [{other}]", "e = d\ne[0] = {value}", "d[0]"),
    "an element put": ("a = np.array([{other}])", "_ = np.put(a, 0, {value})", "bool(a[0])"),
    "a shuffle": ("a = [{value}, {value}]", "s = random.shuffle(a)", "a[0]"),
    "a condition": (
        "d = set()\ndef add(x):\n    d.add(x)\n    return True",
        "if add({value}):\n    pass",
        "True in d",
    ),
    "a decorator": (
        "known = []\ndef kept(f):\n    known.append(f)\n    return f",
        "@kept\ndef later():\n    return {value}",
        "bool(known) and known[0]()",
    ),
    "a single dispatch": (
        "@singledispatch\ndef good(x):\n    return {other}",
        "@good.register\ndef _(x: int):\n    return {value}",
        "good(1)",
    ),
    "a subclass": (
        "class Base:\n    known = []\n    def __init_subclass__(cls):\n        Base.known.append(cls)",
        "class Child(Base):\n    value = {value}",
        "bool(Base.known) and Base.known[0].value",
    ),
    "a written module": ("%%writefile {name}_told.py\nvalue = {value}", "import {name}_told", "{name}_told.value"),
}


@st.composite
def notebooks(draw):
    """The sources of a notebook with one exercise, whose check may come before or after what spoils it or mends it."""
    first, second, good = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    name = draw(st.sampled_from(["hats", "my_hats"]))
    value = draw(st.booleans())
    words: dict[str, Any] = {"value": value, "other": not value, "name": name}
    cells = [part.format(**words) for part in (first, second) if part]
    answer = ANSWER.format(name=name, good=good.format(**words))
    given_ = draw(st.sampled_from([name, f"lambda n: {name}(n)"]))
    asked = f"check({HAT!r}, {given_})"
    cells += [f"{answer}\n\n{asked}"] if draw(st.booleans()) else [answer, asked]
    below = [
        answer.replace("right(n) if", "right(n) if not"),
        "right = None",
        first.format(**(words | {"value": not value})),
    ]
    cells += draw(st.lists(st.sampled_from(below), max_size=2))
    return [IMPORTS, RIGHT, *cells]


def at_home(sources: list[str], folder) -> bool:
    """What check says about the exercise when all cells are run from the top."""
    said: list[bool] = []

    def asked(exercise: str, answer: Any) -> None:
        said.append(bool(check(exercise, answer)))

    names: dict[str, Any] = {"__name__": "__main__"}
    for source in sources:
        first, _, rest = source.partition("\n")
        if first.startswith("%%writefile"):
            module = first.split()[1].removesuffix(".py")
            names[module] = type(module, (), {})
            exec(rest, written := {})
            names[module].value = written["value"]
            continue
        exec(
            compile(source.replace("import hats_told", "").replace("import my_hats_told", ""), "<cell>", "exec"), names
        )
        names["check"] = asked
    return said[-1]


@pytest.fixture(scope="module")
def launcher(isolated):
    with TASK.launcher() as made:
        yield made


def graded(launcher, folder, *sources, task=TASK, outputs=(), python=None):
    """The mark of the hat in a notebook of these cells; the last one shows the outputs."""
    cells = [code(source) for source in (IMPORTS, RIGHT, *sources)]
    cells[-1]["outputs"] = list(outputs)
    notebook = json.loads(text(cells))
    notebook["metadata"] = {"language_info": {"version": python}} if python else {}
    (folder / "a.ipynb").write_text(json.dumps(notebook))
    (mark,) = grade_file(folder / "a.ipynb", task, launcher)
    return mark


HATS, ASKED = "def hats(n):\n    return {}", f"check({HAT!r}, hats)"
SAID = [{"data": {"text/plain": f"✓ {EXERCISES[HAT].title}: passed. It agrees."}}]


@pytest.mark.full
def test_a_helper_that_is_defined_again_below_does_not_count(launcher, tmp_path):
    helper = "def helper(n):\n    return {}"
    above = [helper.format("right(n)"), HATS.format("helper(n)"), ASKED]
    assert graded(launcher, tmp_path, *above, helper.format(1), "right = None").status == "ok"
    mended = graded(launcher, tmp_path, helper.format(1), HATS.format("helper(n)"), ASKED, helper.format("right(n)"))
    assert mended.status == "ok"
    assert mended.remarks == ("To get this, these were run: the cells that it depends on at the end of the notebook.",)


@pytest.mark.full
def test_what_check_had_called_right_is_never_lost_in_silence(launcher, tmp_path):
    by_table = "right(n) if n < 7 else 1"
    mark = graded(launcher, tmp_path, HATS.format(by_table), ASKED, outputs=SAID)
    assert (mark.status, mark.points) == ("look at this", None)
    assert mark.message.startswith("In the file check had called it right, and the grader does not")
    mark = graded(launcher, tmp_path, HATS.format(by_table), ASKED)
    assert (mark.status, mark.points) == ("wrong", 0)
    assert mark.message.endswith("the value is of another type or shape than what is asked for.")


@pytest.mark.full
@pytest.mark.parametrize(
    ("sources", "cause"),
    [
        ([f"assert 2 < 1, 'a slip'\n{HATS.format('right(n)')}"], "stopped with an error: AssertionError: a slip"),
        ([f"x = input('n? ')\n{HATS.format('right(n)')}"], "nobody is there when answers are graded"),
        (["size = 1 / 0", HATS.format("right(n) if size else 0")], "stopped with an error: ZeroDivisionError"),
    ],
)
def test_the_cause_is_named_and_is_not_mathematics(launcher, tmp_path, sources, cause):
    mark = graded(launcher, tmp_path, *sources, ASKED)
    assert mark.status == "wrong"
    assert cause in " ".join(mark.remarks)
    assert not mark.is_hinted


@pytest.mark.full
def test_who_asks_for_input_in_a_function_is_told(launcher, tmp_path):
    mark = graded(launcher, tmp_path, HATS.format("int(input())"), ASKED)
    assert "nobody is there when answers are graded" in dict(mark.lines)["yours"]
    assert not mark.is_hinted
    assert graded(launcher, tmp_path, HATS.format("1"), ASKED).is_hinted


@pytest.mark.full
def test_a_syntax_error_costs_nothing_that_stands_above_it(launcher, tmp_path):
    assert graded(launcher, tmp_path, f"{HATS.format('right(n)')}\n\ndef other(:\n    pass").status == "ok"
    mark = graded(launcher, tmp_path, f"{HATS.format('1')}\n\ndef other(:\n    pass")
    assert "is not Python (SyntaxError in line 4: invalid syntax); what stands above" in mark.remarks[0]


@pytest.mark.full
def test_a_broken_cell_does_not_cost_what_check_was_given(launcher, tmp_path):
    mine = "def mine(n):\n    return right(n)"
    assert graded(launcher, tmp_path, "def hats(n:\n    return 1", mine, f"check({HAT!r}, mine)").status == "ok"
    blank = graded(launcher, tmp_path, HATS.format("..."), ASKED)
    assert (blank.status, blank.points) == ("not attempted", 0)


@pytest.mark.full
@pytest.mark.parametrize("importing", ["from mine import *", "from mine import hats", "import mine\nhats = mine.hats"])
def test_an_answer_in_a_module_that_the_notebook_writes(launcher, tmp_path, importing):
    for value, status in (("right(n)", "ok"), ("1", "wrong")):
        written = f"%%writefile mine.py\n{RIGHT}\n\n{HATS.format(value)}"
        assert graded(launcher, tmp_path, written, importing, ASKED).status == status


@pytest.mark.full
def test_another_python_is_named(launcher, tmp_path):
    mark = graded(launcher, tmp_path, HATS.format("1"), ASKED, python="2.7.18")
    assert mark.remarks[-1].startswith("The notebook ran with Python 2.7, and Python 3.")
    assert not graded(launcher, tmp_path, HATS.format("1"), ASKED, python=platform.python_version()).remarks


@pytest.mark.full
def test_nothing_of_a_hidden_case_is_there_for_another_answer(launcher, tmp_path):
    """What an answer hides anywhere in its world is gone with its kernel."""
    hidden = replace(TASK, private={HAT: [[7]]}, only=(HAT, "03-second-last"))
    keep = "import builtins, os, pathlib\nfor place in ('/tmp', '/dev/shm', os.path.expanduser('~')):\n"
    keep += "    pathlib.Path(place, 'kept').write_text(str(n))\nbuiltins.kept = n"
    told = "import builtins, os\nfound = [place for place in ('/tmp', '/dev/shm', os.path.expanduser('~'), '/run/k')"
    told += " if os.path.exists(place + '/kept')]\nraise ValueError(f'seen {found} {hasattr(builtins, \"kept\")}')"
    spies = [
        "def hats(n):\n    " + keep.replace("\n", "\n    ") + "\n    return right(n)",
        "def second_last():\n    " + told.replace("\n", "\n    "),
    ]
    (tmp_path / "a.ipynb").write_text(text([code(source) for source in (IMPORTS, RIGHT, *spies)]))
    marks = {mark.exercise: mark for mark in grade_file(tmp_path / "a.ipynb", hidden, launcher)}
    assert marks[HAT].points == marks[HAT].most
    assert "seen [] False" in dict(marks["03-second-last"].lines)["yours"]


@pytest.mark.full
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sources=notebooks())
def test_nobody_loses_or_wins_a_point(launcher, tmp_path, sources):
    path = tmp_path / "a.ipynb"
    path.write_text(text([code(source) for source in sources]))
    (mark,) = grade_file(path, TASK, launcher)
    home = at_home(sources, tmp_path)
    if home:
        assert (mark.status, mark.points) == ("ok", mark.most), mark
    elif mark.status == "ok":
        assert "these were run" in mark.remarks[0], mark  # a cell below the check mended it, and that is said
