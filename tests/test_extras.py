"""What is there without an extra, what is said where one is missing, and what an import costs."""

import subprocess
import sys

import pytest
from package_rooms import ROOMS

import fhx
from fhx._extras import EXTRAS, MissingExtraError, lazily, needs

BLOCKED = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(%r)
sys.meta_path.insert(0, Block())
"""
WITHOUT = sorted({package for packages in EXTRAS.values() for package in packages})
CORE = ("machines", "exact", "compile")


def run(code, without=()):
    """Run code in a fresh process, in which some packages cannot be imported."""
    command = [sys.executable, "-c", BLOCKED % (list(without),) + code]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_core_needs_no_extra():
    imports = "; ".join(f"import fhx.{room}" for room in CORE)
    done = run(f"{imports}\nprint(fhx.compile.dfa_to_rnn(fhx.machines.parity()).accepts('01'))", WITHOUT)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize(
    ("code", "without", "extra"),
    [
        ("import fhx.cells", "torch", "torch"),
        ("import fhx.cells.base", "torch", "torch"),
        ("from fhx.stability import project", "jaxtyping", "torch"),
        ("import fhx; fhx.precision", "torch", "torch"),
        ("import fhx.figures", "matplotlib", "figures"),
        ("import fhx.figures", "torch", "torch"),
        ("import fhx.exercises", "jinja2", "figures"),
        ("from fhx.exact import TorchRecognizer", "torch", "torch"),
        ("from fhx.compile import *; dfa_to_rnn(__import__('fhx').machines.parity()).to_torch()", "torch", "torch"),
        ("from fhx.machines import learn_dfa; learn_dfa(len, 'ab', [])", "aalpy", "learn"),
        ("from fhx.tasks import digits; digits()", "sklearn", "data"),
        ("import fhx; fhx.device()", "torch", "torch"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(code, without, extra):
    done = run(code, [without])
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        f"fhx._extras.MissingExtraError: this part of fhx needs the package {without!r}, which is missing: "
        f"pip install 'fhx[{extra}]'"
    )


def test_another_missing_module_is_no_matter_of_extras():
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught, needs("torch"):
        import no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingExtraError)


def test_a_room_is_imported_on_first_use_and_no_sooner():
    done = run(
        "import fhx\nprint('torch' in sys.modules, 'numpy' in sys.modules)\n"
        "fhx.machines\nprint(fhx.exact.SimpleRNN.__name__)"
    )
    assert (done.stdout, done.stderr) == ("False False\nSimpleRNN\n", "")
    assert set(ROOMS) <= set(dir(fhx))
    assert set(fhx.ROOMS) == set(ROOMS)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'fhx' has no attribute 'rooms'"):
        fhx.rooms  # noqa: B018
    with pytest.raises(AttributeError, match="module 'm' has no attribute 'a'"):
        lazily("m", {"b": "m.b"})("a")


def test_the_import_is_quick():
    """Under 0.2 s; the processor's time of a fresh process, the start of Python left out, the best of five."""
    code = "import time; began = time.process_time(); import fhx; print(time.process_time() - began)"
    assert min(float(run(code).stdout) for _ in range(5)) < 0.2
