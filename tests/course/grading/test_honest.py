"""What ``check`` gives at home, when a notebook is run from the top, the grader gives too."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submitted import code, solutions, text

from fhx.course.grading.judge import grade_file
from fhx.course.grading.marks import Task
from fhx.exercises import check

HAT = "03-hat"
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
    with Task(3, "a seed of a test").launcher() as made:
        yield made


@pytest.mark.full
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sources=notebooks())
def test_nobody_loses_or_wins_a_point(launcher, tmp_path, sources):
    path = tmp_path / "a.ipynb"
    path.write_text(text([code(source) for source in sources]))
    (mark,) = grade_file(path, Task(3, "a seed of a test", only=(HAT,), random_inputs=2), launcher)
    home = at_home(sources, tmp_path)
    if home:
        assert (mark.status, mark.points) == ("ok", mark.most), mark
    elif mark.status == "ok":
        assert "these were run" in mark.remarks[0], mark  # a cell below the check mended it, and that is said
