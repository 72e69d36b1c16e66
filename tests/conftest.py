"""What every test runs under: one thread, checked shapes, repeatable properties."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import aalpy  # noqa: F401  under the hook below it would be compiled again, and its warnings are errors here
import pytest
import torch
from hypothesis import Phase, settings
from jaxtyping import config, install_import_hook

# Rooms whose annotations state shapes. They are checked in tests only, by beartype.
TYPED = [
    *(
        f"fhx.approximation.{module}"
        for module in ("box", "exponentials", "fitting", "imitation", "interpolant", "linear", "rollout", "shallow")
    ),
    "fhx.cells",
    "fhx.dynamics",
    *(f"fhx.exact.{module}" for module in ("batch", "gather", "torch_halting", "torch_recognizer")),
    *(
        f"fhx.stability.{module}"
        for module in ("conjugate", "constants", "contraction", "definite", "descent", "fixed", "gates", "gru", "lstm")
    ),
    *(f"fhx.stability.{module}" for module in ("lstm_constants", "lyapunov", "norms", "plain", "projection")),
    *(f"fhx.stability.{module}" for module in ("rows", "truncation")),
]
if "FHX_UNCHECKED" not in os.environ:  # set where the package is imported anew for each test, by make mutants
    install_import_hook(TYPED, "beartype.beartype")
sys.path.insert(0, str(Path(__file__).parent))  # helpers that several rooms use

torch.set_num_threads(1)
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("mutants", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate))
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Annotations go unchecked, as for a reader: what is tested is the package's own answer to bad input."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", before)
