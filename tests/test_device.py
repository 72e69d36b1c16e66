import subprocess
import sys

import pytest
import torch

import fhx


def test_the_default_is_cuda_where_there_is_one(monkeypatch):
    monkeypatch.delenv("FHX_DEVICE", raising=False)
    assert fhx.device().type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_the_environment_overrides(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("FHX_DEVICE", "cpu")
    assert fhx.device() == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda:99", "abacus", "cpu:x"])
def test_a_device_that_is_not_here_is_named(monkeypatch, name):
    monkeypatch.setenv("FHX_DEVICE", name)
    with pytest.raises(ValueError, match=f"FHX_DEVICE='{name}'"):
        fhx.device()


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_imports_no_room_and_nothing_heavy():
    loaded = loaded_by("import fhx")
    assert {name for name in loaded if name.startswith("fhx.")} == {"fhx._device", "fhx._extras", "fhx._version"}
    assert not loaded & {"torch", "numpy", "scipy", "matplotlib", "automata", "aalpy"}


def test_machines_need_no_tensors_and_no_pictures():
    assert not loaded_by("from fhx.machines import DFA") & {"torch", "scipy", "matplotlib"}


@pytest.mark.parametrize(
    "statement", ["from fhx.exercises import check", "import fhx.figures, fhx.training, fhx.dynamics"]
)
def test_the_slow_parts_of_scipy_wait_until_they_are_needed(statement):
    assert not loaded_by(statement) & {"scipy.stats", "scipy.optimize", "scipy.spatial", "scipy.cluster"}
