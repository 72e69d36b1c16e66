"""Magic commands and what else runs code: named if they may hide a call, and not if they are harmless."""

import pytest

from fhx.course.grading.notebook import Notebook
from fhx.course.grading.uses import named_in, package_uses, uses_in
from fhx.exercises import EXERCISES

REGEX = "fhx.machines.DFA.from_regex"
CALL = "DFA.from_regex('a', alphabet='ab')"


def named(source):
    return named_in([cell.python for cell in Notebook([f"from fhx.machines import DFA\n{source}"]).cells])


def named_in_cell(source):
    return named_in([cell.python for cell in Notebook(["from fhx.machines import DFA", source]).cells])


@pytest.mark.parametrize(
    "source",
    [
        f"%alias_magic tt time\n%tt d = {CALL}",
        f"get_ipython().run_cell_magic('capture', '', {CALL!r} + '')",
        "get_ipython().run_cell_magic('capture', '', f'{x}')",
        "(get_ipython() or d).run_line_magic('v')",
        "anything.run_line_magic('v', 'x')",
        f"f({CALL}).run_line_magic('matplotlib', 'inline')",
        "%matplotlib {f(DFA)}",
        "%pip install {f(DFA)}",
        "!ls {f(DFA)}",
        "!ls $x",
        "!ls; echo 1 > a.py",
        "!python a.py",
        "!mv a.txt a.py",
        "x = !cat a.txt",
        f"%config InlineBackend.rc = f({CALL})",
        "%config InlineBackend.rc = {x}",
        "%load_ext mine",
        "%time -M.append(DFA.from_regex('a')) or 1",
        "%ls; sh a.sh",
        "%pip install x & sh a.sh",
        "import os\nos.rename('a.txt', 'a.py')",
        "import shutil\nshutil.copy('a.txt', 'a.py')",
        "%time %tt x",
        "%store -r",
        "%pylab",
        "compile('1', '', 'eval')",
        "import types\ntypes.FunctionType(c, {})",
        "from types import FunctionType as F\nF(c, {})",
        "import string\nstring.Formatter().get_field('0.a', (DFA,), {})",
        "DFA.step.__builtins__",
        "import sympy\nsympy.sympify('1')",
        "from sympy import sympify as s\ns('1')",
        "import subprocess\nsubprocess.run(['ls'])",
        "import os\nos.write(os.open('a.py', 1), b'')",
        "from os import open as o\no('a.py', 1)",
        "import os\nos.system('a')",
        "import code\ncode.InteractiveInterpreter({}).runsource('1')",
        "import logging.config\nlogging.config.BaseConfigurator({}).resolve('a')",
        "import inspect\ninspect.signature(f, eval_str=True)",
        "import inspect\ninspect.getsource(f)",
        "getattr(DFA, name)",
    ],
)
def test_what_may_hide_a_call_is_named(source):
    assert named(source)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (f"%%capture\n{CALL}", {REGEX}),
        (f"%%time\n%%capture\n{CALL}", {REGEX}),
        (f"%%timeit x = {CALL}\nx", {REGEX}),
        (f"%%prun -q x = {CALL}\nx", {REGEX}),
        ("%%bash\necho 1 > a.py", {"get_ipython", "run_cell_magic"}),
        ("%%timer\nx", {"get_ipython", "run_cell_magic"}),
        ("%%html\n<b>1</b>", set()),
        ("%%html {f(DFA)}\n<b>1</b>", {"get_ipython", "run_cell_magic"}),
        ("%%time\nx = 1", set()),
        ("%%timeit -n1 -r1\nx = 1", set()),
        ("%%capture out\nx = 1", set()),
    ],
)
def test_cells_of_magic_commands(source, found):
    assert named_in_cell(source) == found


def test_code_of_a_magic_command_that_is_not_python_hides_nothing_else():
    assert REGEX in named(f"%time x = = 1\n{CALL}")
    assert "get_ipython" in named("%time x = = 1")


def test_a_cell_that_is_too_deep_is_not_passed_over():
    with pytest.raises(RecursionError):
        named_in([f"from fhx.machines import DFA\n{CALL}\nx = " + "+".join("1" * 2_000)])


@pytest.mark.parametrize(
    "source",
    [
        "%load_ext autoreload\n%autoreload 2",
        "%matplotlib inline",
        "%config InlineBackend.figure_format = 'retina'",
        "%config InlineBackend.print_figure_kwargs = {'bbox_inches': None}",
        "%timeit -n1 -r1 f(1)",
        "%time x = f(1)",
        "%pip install -q tqdm",
        "from IPython.display import display, Markdown\ndisplay(Markdown('a'))",
        "import IPython.display as d\nd.display(1)",
        "import IPython\nIPython.display.display(1)",
        "import IPython\nprint(IPython.__version__)",
        "display(1)",
        "!pip install 'tqdm>=4'",
        "!ls",
        "files = !ls -l",
        "f?",
        "getattr(DFA, 'accept')",
        "getattr(DFA, 'accept', None)",
        "import inspect\ninspect.signature(f)",
        "from inspect import signature\nsignature(f)",
        "import re\nre.compile('a')",
        "from re import compile\ncompile('a')",
        "import os\nos.path.join('a', 'b')",
        "from pathlib import Path\nPath('a').resolve()",
    ],
)
def test_what_is_harmless_is_not_named(source):
    assert named(source) == set()


def test_getattr_with_a_name_is_an_attribute():
    assert named("getattr(DFA, 'from_regex')('a')") == {REGEX}
    assert package_uses("f", ["def f(x):\n    return getattr(x, 'minimize')()"]) == {".minimize"}
    assert named("getattr(f, '__code__')") == {".__code__"}


@pytest.mark.parametrize(
    "writing",
    [
        [
            f"%%writefile helper.py\nimport fhx.machines as m\ndef g():\n    return m.{CALL}",
            "%%writefile -a helper.py\n1",
        ],
        ["%%bash\necho 1 > helper.py"],
        [f"%%writefile 'helper.py'\nimport fhx.machines as m\ndef g():\n    return m.{CALL}"],
        [f"%%writefile helper.txt\nimport fhx.machines as m\ndef g():\n    return m.{CALL}"],
        ["%%writefile helper.py\nimport fhx.machines as m\ndef g():", f"%%writefile -a helper.py\n    return m.{CALL}"],
    ],
)
def test_what_writes_a_module_is_followed(writing):
    found = Notebook([*writing, "import helper\ndef hats(n):\n    return helper.g()"])
    uses = [uses_in(way.cells, way.expression, EXERCISES["03-hat"]) for way in found.ways("03-hat", "hats")]
    assert uses[-1]
