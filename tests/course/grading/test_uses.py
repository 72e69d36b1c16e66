"""Functions of the package in an answer are named."""

import pytest

from fhx.course.grading.notebook import Notebook
from fhx.course.grading.uses import named_in, package_uses

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


@pytest.mark.parametrize(
    ("source", "uses"),
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
        ("import fhx.exact as e\ndef f(x):\n    return getattr(e, 'separate')(x)", {"getattr"}),
        ("def f(step):\n    return step.__closure__[0].cell_contents", {".__closure__", ".cell_contents"}),
        ("def g():\n    y = x.minimize()\ndef f(x):\n    return y", set()),
        ("from fhx.exact import separate\ndef f(separate):\n    return separate(1)", set()),
        ("def f(x):\n    return x.minimize()\ndef f(x):\n    return ...", {".minimize"}),
        ("import torch\ndef f(x):\n    return torch.relu(x)", set()),
    ],
)
def test_uses_are_found(source, uses):
    assert package_uses("f", [source]) == uses
