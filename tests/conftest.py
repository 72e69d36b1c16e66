"""What every test runs under: one thread, checked shapes, repeatable properties."""

import gc
import os
import sys
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

sys.path.insert(0, str(Path(__file__).parent))  # helpers that several rooms use

from small_site import Build, build

(PACKAGE,) = map(Path, find_spec("fhx").submodule_search_locations)
# The modules whose annotations state shapes. They are checked in tests only, by beartype.
TYPED = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if "jaxtyping" in path.read_text(encoding="utf-8")
]
if find_spec("torch"):  # the rooms without tensors are tested without it too
    import jaxtyping
    import shapes
    import torch
    from jaxtyping import config, install_import_hook

    torch.set_num_threads(1)
    if "FHX_UNCHECKED" not in os.environ:  # set where the package is imported anew for each test, by make mutants
        jaxtyping.jaxtyped = shapes.jaxtyped
        install_import_hook(TYPED, "shapes.checked")

# How many examples a property gets, as a multiple of what it asks for. In the gate they are the same each time, so half
# of them are left to the weekly run, which draws others; but all of those are made of which that run makes none.
EXAMPLES = {"gate": 0.5, "weekly": 10, "thorough": 50}
FEWEST = 10  # unless it asks for fewer
PROFILE = os.environ.get("FHX_EXAMPLES", "gate")
settings.register_profile(
    "random", deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("gate", settings.get_profile("random"), derandomize=True)
settings.register_profile("mutants", settings.get_profile("gate"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("gate" if PROFILE == "gate" else "random")

# What is more than the package: fixtures, and folders of tests. They are left out of `make check`, like what is `full`.
OUTSIDE = {"html", "browse", "browser", "sphinx", "nbval"}
OF_THE_BOOK = {"benchmarks", "claims"}  # folders
NOT_WEEKLY = {"full", "alone", "slow"}  # marks


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays: looking for garbage in it took a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in OF_THE_BOOK or OUTSIDE & set(getattr(item, "fixturenames", ())):
            item.add_marker("full")
    tests = {getattr(item.obj, "__func__", item.obj): item for item in items if isinstance(item, pytest.Function)}
    for test, item in tests.items():
        if not getattr(test, "is_hypothesis_test", False):
            continue
        asked, share = test._hypothesis_internal_use_settings, EXAMPLES[PROFILE]
        if any(map(item.get_closest_marker, NOT_WEEKLY)):
            share = max(1, share)
        count = max(min(FEWEST, asked.max_examples), round(share * asked.max_examples))
        test._hypothesis_internal_use_settings = settings(asked, max_examples=count)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Annotations go unchecked, as for a reader: what is tested is the package's own answer to bad input."""
    if not find_spec("torch"):
        yield
        return
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", before)


@pytest.fixture(scope="session")
def sphinx() -> Build:
    """``sphinx(source, out)`` builds a small book."""
    return build
