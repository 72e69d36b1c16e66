"""Functions of the package in an answer are named."""

from dataclasses import replace

import pytest

from fhx.course.grading import uses
from fhx.course.grading.notebook import Notebook
from fhx.course.grading.uses import named_in, package_uses, uses_in
from fhx.exercises import EXERCISES

REGEX = "fhx.machines.DFA.from_regex"


@pytest.mark.parametrize(
    "source",
    [
        "for c in [dfa_to_rnn]:\n    pass\ndef f(x):\n    return c(x)",
        "table = {'c': dfa_to_rnn}\ndef f(x):\n    return table['c'](x)",
        "(c := dfa_to_rnn)\ndef f(x):\n    return c(x)",
        "def f(x, c=dfa_to_rnn):\n    return c(x)",
        "class A:\n    c = dfa_to_rnn\ndef f(x):\n    return A.c(x)",
    ],
)
def test_a_function_by_any_other_name_is_named(source):
    assert named_in(["from fhx.compile import dfa_to_rnn", source]) == {"fhx.compile.dfa_to_rnn"}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import inspect\ninspect.getclosurevars(step)", "inspect"),
        ("import sys\nsys.modules['fhx.compile']", ".modules"),
        ("vars(fhx)", "vars"),
        ("import gc", None),
        ("import gc\ngc.get_objects()", "gc"),
    ],
)
def test_what_looks_into_functions_is_named(source, name):
    assert named_in([source]) == ({name} if name else set())


def test_no_module_of_a_student_is_imported(tmp_path, monkeypatch):
    (tmp_path / "tasks.py").write_text("raise SystemExit('it was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert package_uses("f", ["from tasks import *\ndef f(x):\n    return g(x)"]) == set()


def test_a_call_is_found_in_a_cell_with_magic_commands():
    source = "%matplotlib inline\nfrom fhx.compile import dfa_to_rnn\ndef f(x):\n    return dfa_to_rnn(x)"
    assert package_uses("f", [cell.python for cell in Notebook([source]).cells]) == {"fhx.compile.dfa_to_rnn"}


CALLS = "from fhx.machines import DFA\ndef g():\n    return DFA.from_regex('a', alphabet='ab')"


@pytest.mark.parametrize(
    "importing",
    [
        "import helper\ndef f():\n    return helper.g()",
        "import helper as h\ndef f():\n    return h.g()",
        "from helper import g as f",
        "from helper import *\nf = g",
        "def f():\n    from helper import g\n    return g()",
    ],
)
def test_a_module_that_the_notebook_writes_is_followed(importing):
    notebook = Notebook([f"%%writefile helper.py\n{CALLS}", importing, "check('20-own', f)"])
    exercise = replace(EXERCISES["03-hat"], id="20-own", solution=None)
    for way in notebook.ways("20-own", "f"):
        assert uses_in(way.cells, way.expression, exercise) == {REGEX}
        assert package_uses("f", [importing], way.cells[0].written) == {REGEX}  # whatever the chapter names
    other = Notebook([f"%%writefile other.py\n{CALLS}", importing, "check('20-own', f)"])
    for way in other.ways("20-own", "f"):
        assert uses_in(way.cells, way.expression, exercise) == set()


def test_following_ends(monkeypatch):
    monkeypatch.setattr(uses, "SECONDS", 0.2)
    long = "\n".join(f"def f{n}(x):\n    return f{n + 1}(x)" for n in range(3_000))
    modules = [f"%%writefile m{n}.py\nimport m{n + 1}" for n in range(300)]
    cells = Notebook([*modules, long, "import m0\ndef f(x):\n    return f0(x)"]).slice("f")
    assert uses_in(cells, "f", EXERCISES["03-hat"]) == {"something that cannot be followed (TooSlowError)"}


@pytest.mark.parametrize(
    ("magic", "named"),
    [
        ("%time x = DFA.from_regex('a', alphabet='ab')", {REGEX}),
        ("%timeit -n 1 -r1 x.append(DFA.from_regex('a', alphabet='ab'))", {REGEX}),
        ("%run -i helper.txt", {"get_ipython", "run_line_magic"}),
        ("%matplotlib inline", set()),
        ("%time print(1)", set()),
        ("x = !cat helper.txt", {"get_ipython"}),
    ],
)
def test_magic_commands_that_run_code(magic, named):
    cell = Notebook([f"from fhx.machines import DFA\n{magic}"]).cells[0]
    assert named_in([cell.python]) == named


@pytest.mark.parametrize(
    ("source", "named"),
    [
        (
            "from fhx.compile import dfa_to_rnn as c\ndef f(x):\n    return c(x)",
            {"fhx.compile.dfa_to_rnn"},
        ),
        ("import fhx.exact as e\ndef f(x):\n    return e.separate(x)", {"fhx.exact.separate"}),
        ("import fhx.exact\ndef f(x):\n    return fhx.exact.separate(x)", {"fhx.exact.separate"}),
        ("def f(x):\n    from fhx.exact import separate\n    return separate(x)", {"fhx.exact.separate"}),
        ("def g(x):\n    return x.minimize()\ndef f(x):\n    return g(x)", {".minimize"}),
        ("def g(x):\n    return x.minimize()\ndef f(x):\n    return x", set()),
        ("from fhx.machines import DFA\ndef f(x):\n    return DFA(x)", set()),
        (
            "from fhx.machines import DFA\ndef f(x):\n    return DFA.from_regex(x)",
            {"fhx.machines.DFA.from_regex"},
        ),
        ("from fhx.compile import *\ndef f(x):\n    return dfa_to_rnn(x)", {"fhx.compile.dfa_to_rnn"}),
        (
            "import fhx.exact as e\nif True:\n    def f(x):\n        return e.separate(x)",
            {"fhx.exact.separate"},
        ),
        ("import fhx.exact as e\ndef f(x):\n    return getattr(e, 'separate')(x)", {"fhx.exact.separate"}),
        ("def f(step):\n    return step.__closure__[0].cell_contents", {".__closure__", ".cell_contents"}),
        ("def g():\n    y = x.minimize()\ndef f(x):\n    return y", set()),
        ("from fhx.exact import separate\ndef f(separate):\n    return separate(1)", set()),
        ("def f(x):\n    return x.minimize()\ndef f(x):\n    return ...", {".minimize"}),
        ("import torch\ndef f(x):\n    torch.nn.Linear(1, 1).eval()\n    return torch.relu(x)", set()),
        ("def f(x):\n    match x:\n        case object(from_regex=g):\n            return g('a')", {".from_regex"}),
        ("def f(x):\n    return type.__getattribute__(x, 'a')", {".__getattribute__"}),
        ("def f(x):\n    return get_ipython().ev('a')", {"get_ipython"}),
        ("import inspect as i\ndef f(x):\n    return i.getmembers(x)", {"inspect"}),
        ("from importlib import import_module as g\ndef f(x):\n    return g('a')", {"importlib"}),
        ("def f(x):\n    import operator as o\n    return o.attrgetter('a')(x)", {"attrgetter"}),
    ],
)
def test_uses_are_found(source, named):
    assert package_uses("f", [source]) == named


@pytest.mark.parametrize(
    ("put", "body", "named"),
    [
        ("class T: pass\nT.net = dfa_to_rnn", "T.net(x)", {"fhx.compile.dfa_to_rnn"}),
        ("T = {}\nT['net'] = dfa_to_rnn", "T['net'](x)", {"fhx.compile.dfa_to_rnn"}),
        ("class T: pass\nsetattr(T, 'net', dfa_to_rnn)", "T.net(x)", {"fhx.compile.dfa_to_rnn"}),
        ("class T: pass\nfor T.net in [dfa_to_rnn]: pass", "T.net(x)", {"fhx.compile.dfa_to_rnn"}),
        ("class T: pass\nwith nullcontext(dfa_to_rnn) as T.net: pass", "T.net(x)", {"fhx.compile.dfa_to_rnn"}),
        ("DFA.__matmul__ = lambda one, other: one.equivalent(other)", "x @ x", {".equivalent"}),
        ("class T: pass\nT.net = dfa_to_rnn", "x", set()),
    ],
)
def test_what_is_put_into_an_object_is_followed(put, body, named):
    sources = ["from fhx.compile import dfa_to_rnn\nfrom fhx.machines import DFA", put, f"def f(x):\n    return {body}"]
    assert package_uses("f", sources) == named
