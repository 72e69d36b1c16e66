"""``pyproject.toml``, ``constraints.txt`` and ``environment.yml`` tell one story."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from fhx._extras import EXTRAS as EXTRAS_BY_MODULE

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA_NAMES = {"pytorch-cpu": "torch", "pytorch": "torch", "matplotlib-base": "matplotlib"}


def requirements(lines: list[str]) -> dict[str, Requirement]:
    """The requirements by canonical name, the project's own extras left out."""
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(one.name): one for one in found if one.name != PROJECT["name"]}


CORE = requirements(PROJECT["dependencies"])
IMPORT_NAMES = {
    "automata-lib": "automata",
    "scikit-learn": "sklearn",
    "ipython": "IPython",
    "pyyaml": "yaml",
    "pyzmq": "zmq",
}
LARGE = {"matplotlib", "numpy", "scipy", "sklearn", "torch"}  # to compile one takes seconds


def with_extras(*names: str) -> dict[str, Requirement]:
    """What these extras install, with those that they name."""
    found: dict[str, Requirement] = {}
    for name in names:
        inner = [extra for line in EXTRAS[name] for extra in Requirement(line).extras if line.startswith("fhx[")]
        found |= requirements(EXTRAS[name]) | with_extras(*inner)
    return found


RUNTIME = CORE | with_extras("chapters")
DIRECT = CORE | {name: one for lines in EXTRAS.values() for name, one in requirements(lines).items()}
PINS = requirements(
    [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
)


def lower_bound(specifier: SpecifierSet) -> str | None:
    """The version after ``>=``."""
    return next((clause.version for clause in specifier if clause.operator == ">="), None)


def conda() -> tuple[dict, dict[str, SpecifierSet], list[str]]:
    """``environment.yml``: the file, its conda packages under their PyPI names, and its pip lines."""
    file = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    packages, pip = {}, []
    for entry in file["dependencies"]:
        if isinstance(entry, dict):
            pip += entry["pip"]
        else:
            name, bounds = re.fullmatch(r"([A-Za-z0-9_.-]+)\s*(.*)", entry).groups()
            bounds = re.sub(r"^=(?!=)", "==", bounds)
            packages[canonicalize_name(CONDA_NAMES.get(name, name))] = SpecifierSet(bounds.replace(" ", ""))
    return file, packages, pip


@pytest.mark.parametrize("name", DIRECT)
def test_project_gives_lower_bounds_only(name: str) -> None:
    """A pin here would replace the packages of a reader's machine, on Colab for one; ``<`` is for the book's engine."""
    operators = {clause.operator for clause in DIRECT[name].specifier}
    assert ">=" in operators
    assert operators <= ({">="} if name in RUNTIME else {">=", "<"})


@pytest.mark.parametrize("name", DIRECT)
def test_every_direct_dependency_is_pinned_within_its_bounds(name: str) -> None:
    pin = PINS[name]
    (clause,) = pin.specifier
    assert clause.operator == "=="
    assert clause.version in DIRECT[name].specifier


def test_nothing_is_pinned_but_exactly() -> None:
    assert [str(pin) for pin in PINS.values() if not re.fullmatch(r"==[^*]+", str(pin.specifier))] == []


def test_environment_has_every_dependency_with_the_same_lower_bound() -> None:
    _, packages, pip = conda()
    from_pip = requirements([line for line in pip if not line.startswith("-")])
    bounds = {name: lower_bound(specifier) for name, specifier in packages.items()}
    bounds |= {name: lower_bound(one.specifier) for name, one in from_pip.items()}
    assert {name: bounds.get(name) for name in RUNTIME} == {
        name: lower_bound(one.specifier) for name, one in RUNTIME.items()
    }
    shared = bounds.keys() & DIRECT.keys()
    assert {name: bounds[name] for name in shared} == {name: lower_bound(DIRECT[name].specifier) for name in shared}


def test_environment_takes_torch_for_the_processor_from_conda_forge() -> None:
    file, packages, _ = conda()
    named = [re.match(r"[\w.-]+", entry)[0] for entry in file["dependencies"] if isinstance(entry, str)]
    assert file["channels"] == ["conda-forge"]
    assert "pytorch-cpu" in named
    (python,) = packages["python"]
    assert re.fullmatch(r"=3\.\d+", f"{python.operator.strip('=')}={python.version}")  # Binder reads no other form
    assert f"Programming Language :: Python :: {python.version}" in PROJECT["classifiers"]


def test_environment_installs_the_package() -> None:
    """Binder installs nothing but this file."""
    assert any(re.fullmatch(r"(-e )?\.(\[\w+(,\w+)*\])?", line) for line in conda()[2])


def test_what_is_said_of_a_missing_package_is_what_the_extras_install():
    """``fhx._extras`` names them by their modules; matplotlib_inline and markupsafe come with others too."""
    for extra, modules in EXTRAS_BY_MODULE.items():
        named = {IMPORT_NAMES.get(name, name.replace("-", "_")) for name in requirements(EXTRAS[extra])}
        assert set(modules) == named, extra
    assert set(EXTRAS) - {"chapters", "lab", "book", "test", "mutants"} == set(EXTRAS_BY_MODULE)


def test_the_core_is_small():
    assert set(CORE) == {"numpy", "scipy", "automata-lib", "attrs", "frozendict", "tqdm"}


def test_classifiers_name_every_python_that_ci_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (matrix,) = [job["strategy"]["matrix"] for job in workflow["jobs"].values() if "strategy" in job]
    prefix = "Programming Language :: Python :: 3."
    named = [line.removeprefix(prefix) for line in PROJECT["classifiers"] if line.startswith(prefix)]
    assert [f"3.{minor}" for minor in named] == matrix["python"]


@pytest.mark.parametrize("name", sorted({IMPORT_NAMES.get(name, name.replace("-", "_")) for name in RUNTIME} - LARGE))
def test_a_package_that_is_first_imported_by_a_test_compiles(name):
    """pip does not compile, and warnings are errors here: on a fresh clone a warning of the compiler would be one."""
    spec, tests = find_spec(name), {"tests", "testing"}
    paths = [path for place in spec.submodule_search_locations or () for path in Path(place).rglob("*.py")]
    warned = []
    for path in (path for path in paths if not tests & set(path.parts[:-1])):
        try:
            compile(path.read_bytes(), path, "exec")
        except SyntaxError as warning:
            warned.append(f"{path}: {warning}")
    assert warned == []
