"""A check whose exercise cannot be read off costs nobody points in silence."""

import pytest
from submitted import chapter

from fhx.course.grading.judge import _Grader
from fhx.course.grading.marks import Task
from fhx.course.grading.notebook import Notebook
from fhx.exercises import EXERCISES

MINE = "def mine(n):\n    return n"
HOLE = "def hats(n):\n    return ..."


class Ready:
    """A launcher that is asked for nothing."""

    def ready(self):
        """It is."""


def mark(*sources):
    return _Grader(Notebook(list(sources)), Task(3, "the seed of a test"), Ready()).mark(EXERCISES["03-hat"])


@pytest.mark.parametrize(
    "asking",
    [
        "for e, f in {'03-hat': mine}.items():\n    check(e, f)",
        "def test(name, f):\n    check(name, f)\ntest('03-hat', mine)",
        "def checks(name):\n    def put(f):\n        check(name, f)\n    return put\nchecks('03-hat')(mine)",
        "def test(f):\n    check('03-hat', f)\ntest(mine)",
        "from functools import partial\npartial(check, '03-hat')(mine)",
        "from fhx.exercises import check as verify\nverify('03-hat', mine)",
        "ask = check\nask('03-hat', mine)",
        "import fhx.exercises as e\ngetattr(e, 'check')('03-hat', mine)",
        "%time check('03-hat', mine)",
        "check(f'{3:02}-hat', mine)",
        "check(*('03-hat', mine))",
        "check(**{'exercise': '03-hat', 'answer': mine})",
        "check(EXERCISES['03-hat'], mine)",
        "check('03-hat', theirs)",
        "check('03-hat', mine\n",
        "%%foo\ncheck('03-hat', mine)",
    ],
)
def test_what_cannot_be_read_off_is_looked_at(asking):
    found = mark(MINE, asking)
    assert (found.status, found.points) == ("look at this", None)
    assert "check" in found.message
    assert "cell that begins with" in found.message


@pytest.mark.parametrize(
    "sources",
    [
        [MINE],
        [MINE, "check('03-other', mine)"],
        [MINE, "help(check)"],
        [MINE, "def test(f):\n    check('03-other', f)"],
        [MINE, "check('03-other', mine\n"],
        ["from fhx.exercises import check", "check('03-hat', hats)"],
        [MINE, "# a check of it\ncheck_all = 3"],
    ],
)
def test_what_is_not_there_is_not_attempted(sources):
    assert mark(*sources).status == "not attempted"


@pytest.mark.parametrize("number", range(1, 14))
def test_nothing_is_unread_in_a_chapter(number):
    notebook = Notebook([cell["source"] for cell in chapter(number) if cell["cell_type"] == "code"])
    for exercise in Task(number, "a seed of a test").exercises:
        assert notebook.unread_check(exercise.id, exercise.function) is None


@pytest.mark.parametrize(
    "asking",
    [
        ["EX = '03-hat'\ncheck(EX, mine)"],
        ["EX = '03-hat'", "check(EX, mine)"],
        ["EX = '03-other'\ncheck(EX, print)", "EX = '03-hat'\ncheck(EX, mine)"],
        ["check(answer=mine, exercise='03-hat')"],
        ["import fhx\nfhx.exercises.check('03-hat', answer=mine)"],
    ],
)
def test_what_is_simple_is_read(asking):
    notebook = Notebook([MINE, *asking])
    (way, *_) = notebook.ways("03-hat", "hats")
    assert (way.expression, [cell.number for cell in way.cells if cell.source]) == ("mine", [0])
    assert notebook.unread_check("03-hat", "hats") is None


def test_checks_have_the_order_of_the_text():
    source = "print(check('03-hat', hats))\ncheck('03-hat', mine)\nif True:\n    print(check('03-hat', his))"
    assert [given for _, given in Notebook([source]).cells[0].asks] == ["hats", "mine", "his"]


@pytest.mark.parametrize(
    "asking",
    [
        ["EX = '03-hat'", "EX = '03-other'", "check(EX, mine)"],
        ["check(EX, mine)\nEX = '03-hat'\nEX = '03-other'"],
        ["for EX in ('03-hat', '03-other'):\n    check(EX, mine)"],
    ],
)
def test_what_is_assigned_twice_is_not_guessed(asking):
    notebook = Notebook([MINE, *asking])
    assert notebook.ways("03-hat", "hats") == []
    assert notebook.unread_check("03-hat", "hats").number == len(asking)
