"""Answers that are alike are listed whatever their names, and what everyone has is not."""

import ast
import csv
import io
import itertools
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from submitted import answered, chapter, code, solutions, text

from fhx.course.grading import form_reader, similar
from fhx.course.grading.form_reader import forms_in, read_forms
from fhx.course.grading.forms import Form, form_of
from fhx.course.grading.marks import Mark
from fhx.course.grading.notebook import Notebook
from fhx.course.grading.records import Graded
from fhx.course.grading.similar import (
    NEAR,
    SHORTEST_NEAR,
    likeness,
    near_pairs,
    similar_answers,
    similar_csv,
    similar_page,
    tokens,
)
from fhx.exercises import EXERCISES

alone = pytest.mark.alone

HATS = {"03-hat": "hats"}
ONE = '''
import numpy as np
def helper(a, b: int = 0x10):
    """What it does."""
    return np.sum(a) * b * 1e3  # a comment
def hats(n: int) -> int:
    total: float = 0
    for i in range(n):
        total += helper(i, b=2)
        if total > 100 and i % 3 == 1:
            total -= [k * k for k in range(i)][-1]
    return {"a": total, "b": (total, n)}
'''
OTHER = """
from numpy import linalg
import numpy
def hats(size):
    s = 0.0
    for sum in range(size):
        s += g(sum, factor=2)
        if s > 100 and sum % 3 == 1:
            s -= [x * x for x in range(sum)][-1]
    return {'a': s, 'b': (s, size)}
s = 5
def g(p, factor=16): return numpy.sum(p) * factor * 1000
def unused(): pass
"""


def forms(**sources):
    return {student: {"03-hat": form_of("hats", [source])} for student, source in sources.items()}


def alike(**sources):
    found = similar_answers(forms(**sources), ["03-hat"])
    return [(one.students, round(one.likeness, 2)) for one in found]


def test_names_comments_and_order_do_not_matter():
    assert form_of("hats", [ONE]) == form_of("hats", OTHER.split("s = 5"))
    assert alike(ana=ONE, ben=OTHER) == [(("ana", "ben"), 1)]


@pytest.mark.parametrize(
    ("old", "new"),
    [("np.sum", "np.prod"), ("1e3", "1e4"), ("range(n)", "range(n, 2)"), ("+=", "-="), ("return np", "yield np")],
)
def test_what_is_computed_does_matter(old, new):
    assert form_of("hats", [ONE]) != form_of("hats", [ONE.replace(old, new)])


@given(st.permutations(["total", "i", "n", "k", "helper", "a", "b"]))
def test_any_other_names_give_the_same_form(names):
    pairs = dict(zip(["total", "i", "n", "k", "helper", "a", "b"], names, strict=True))
    changed = re.sub(r"(?<!\")\b(total|i|n|k|helper|a|b)\b(?!\")", lambda found: f"{pairs[found[0]]}_", ONE)
    assert form_of("hats", [changed]) == form_of("hats", [ONE])


def test_a_change_in_one_place_is_nearly_the_same():
    changed = OTHER.replace("return {", "s = abs(s)\n    return {")
    ((students, share),) = alike(ana=ONE, ben=changed)
    assert students == ("ana", "ben")
    assert NEAR <= share < 1


def test_short_answers_and_holes_are_not_listed():
    assert alike(ana="def hats(n): return n + 1", ben="def hats(m): return m + 1") == []
    hole = "def hats(n):\n    'What it does.'\n    ..."
    assert forms_in(Notebook([hole]), HATS) == {}
    assert forms_in(Notebook([hole, ONE]), HATS).keys() == {"03-hat"}


def test_what_most_have_is_what_the_exercise_asks_for():
    others = {f"s{number}": ONE.replace("range(n)", f"range({'n + ' * number}n)") for number in range(1, 4)}
    assert alike(a=ONE, b=OTHER, c=ONE, **dict.fromkeys("xy", "def hats(n): return 1")) == []
    assert alike(a=ONE, b=OTHER, **dict.fromkeys("xy", "def hats(n): return 1")) == [(("a", "b"), 1)]
    assert (("a", "b"), 1) in alike(a=ONE, b=OTHER, **others)


def test_a_function_that_was_handed_out_does_not_count():
    given = ONE.partition("def hats")[0] + "\n" + "\n".join(f"    # {n}" for n in range(3))
    helper = given.replace("return", "" + "a = [a] * len(str(a)) + [b for b in range(int(b))]\n    " * 3 + "return")
    short = ("return helper(n)", "return 2 * helper(n, n)", "return helper(1, n)", "return helper(n) + 1")
    answers = [f"{helper}\ndef hats(n):\n    {line}\n" for line in short]
    assert alike(**dict(zip("abcd", answers, strict=True))) == []
    assert len(form_of("hats", answers).parts) == 2


def test_the_books_own_solution_is_not_listed():
    for name, answer in solutions().items():
        form = form_of(EXERCISES[name].function, [answer])
        assert similar_answers({"ana": {name: form}, "ben": {name: form}}, [name]) == []


def test_solutions_of_different_exercises_are_not_nearly_the_same():
    found = {}
    for number in range(1, 14):
        for name, answer in solutions(number).items():
            if (form := form_of(EXERCISES[name].function, [answer])) is not None:
                found[name] = (tokens("\n\n".join(form.parts)), sum(form.size))
    assert len(found) > 80
    texts = [words for words, _ in found.values()]
    assert list(near_pairs(texts)) == []
    long = [words for words, size in found.values() if size >= SHORTEST_NEAR]
    assert len(long) > 40
    assert max(likeness(one, other) for one, other in itertools.combinations(long, 2)) < 0.8


WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=40)


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 39)), max_size=4))
def test_no_pair_is_ruled_out_that_is_near(texts, changes):
    for which, place in changes:
        own = list(texts[which % len(texts)])
        own[place % len(own)] = "d"
        texts.append(own)
    pairs = itertools.combinations(range(len(texts)), 2)
    near = {pair for pair in pairs if likeness(texts[pair[1]], texts[pair[0]]) >= NEAR}
    assert {(one, other) for one, other, _ in near_pairs(texts)} == near


def test_a_large_class_takes_seconds():
    generator = random.Random(0)
    statements = ast.parse(ONE).body[-1].body * 3
    answers = {}
    for number in range(300):
        body = "\n".join(ast.unparse(generator.choice(statements)) for _ in range(8))
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        answers[f"s{number}"] = {"03-hat": form_of("hats", [f"def hats(n):\n    total = 0\n{lines}"])}
    began = time.process_time()
    similar_answers(answers, ["03-hat"])
    assert time.process_time() - began < 20


def test_a_group_is_a_row_and_a_section():
    made = [Graded(name, "", "k", 1.0, (Mark("03-hat", "ok", 3, 3),)) for name in ("=ana", "<ben>")]
    groups = similar_answers(forms(**{"=ana": ONE, "<ben>": OTHER}), ["03-hat"])
    assert list(csv.reader(io.StringIO(similar_csv(groups).decode())))[1:] == [["03-hat", "1.00", "<ben>", "'=ana"]]
    page = similar_page(groups, made, "Chapter 3")
    assert "&lt;ben&gt;</a>, <a" in page
    assert "students/%3Cben%3E/feedback.html" in page
    assert "There are none." in similar_page([], made, "Chapter 3")


@alone
def test_files_are_read_in_another_process_and_once(tmp_path, monkeypatch):
    (tmp_path / "ana.ipynb").write_text(text(answered({"03-hat": ONE}, chapter())))
    (tmp_path / "ben.ipynb").write_text(text([code(OTHER), code("(" * 5000), code("hats = hats")]))
    (tmp_path / "cleo.ipynb").write_text('{"cells":')
    paths = {path.stem: path for path in tmp_path.glob("*.ipynb")}
    made = [Graded(name, "", f"k-{name}", 1.0, (Mark("03-hat", "ok", 3, 3),)) for name in ("ana", "ben", "cleo", "dan")]
    found = read_forms(made, paths, HATS, tmp_path / "out")
    assert found.keys() == {"ana", "ben", "cleo"}
    assert found["ana"]["03-hat"] == form_of("hats", [ONE])
    assert found["cleo"] == {}
    monkeypatch.setattr(form_reader, "_read_in_one", lambda *_: pytest.fail("it was read again"))
    assert read_forms(made, paths, HATS, tmp_path / "out") | {"dan": {}} == found | {"dan": {}}


def test_a_file_that_ends_its_reader_costs_only_itself(monkeypatch, tmp_path):
    def read(paths, functions):
        for path in paths:
            if path.name == "bad":
                return
            yield {"03-hat": [[path.name], [1]]}

    monkeypatch.setattr(form_reader, "_read_in_one", read)
    names = ["bad", "a", "bad2", "b"]
    made = [Graded(name, "", name, 1.0, (Mark("03-hat", "ok", 3, 3),)) for name in names]
    paths = {name: tmp_path / name.rstrip("2") for name in names}
    found = read_forms(made, paths, HATS, tmp_path / "out")
    assert found == {name: {"03-hat": Form((name,), (1,))} if name in "ab" else {} for name in names}


@alone
def test_a_reader_that_stays_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(form_reader, "SECONDS", 0.05)
    made = [Graded("ana", "", "k", 1.0, (Mark("03-hat", "ok", 3, 3),))]
    assert read_forms(made, {"ana": tmp_path / "ana.ipynb"}, HATS, tmp_path / "out") == {"ana": {}}


def test_the_thresholds_are_in_order():
    assert similar.SHORTEST <= SHORTEST_NEAR < similar.LONGEST


def test_an_answer_under_another_name_is_compared_too():
    body = "(n):\n    found = [n]\n    for k in range(n):\n        found.append(found[-1] * k + n)\n    return found"
    asked = "check('03-hat', {})"
    named = forms_in(Notebook([f"def hats{body}", asked.format("hats")]), {"03-hat": "hats"})
    other = forms_in(Notebook([f"def mine{body}", asked.format("mine")]), {"03-hat": "hats"})
    assert named["03-hat"] == other["03-hat"]
    wrapped = forms_in(Notebook([f"def mine{body}", asked.format("lambda n: mine(n)")]), {"03-hat": "hats"})
    assert named["03-hat"].parts[0].partition("(")[2] == wrapped["03-hat"].parts[1].partition("(")[2]
