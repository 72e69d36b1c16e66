import subprocess
import sys

import pytest
import torch

import recurrence


def test_the_default_is_cuda_where_there_is_one(monkeypatch):
    monkeypatch.delenv("RECURRENCE_DEVICE", raising=False)
    assert recurrence.device().type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_the_environment_overrides(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("RECURRENCE_DEVICE", "cpu")
    assert recurrence.device() == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda:99", "abacus", "cpu:x"])
def test_a_device_that_is_not_here_is_named(monkeypatch, name):
    monkeypatch.setenv("RECURRENCE_DEVICE", name)
    with pytest.raises(ValueError, match=f"RECURRENCE_DEVICE='{name}'"):
        recurrence.device()


def test_importing_the_package_imports_no_room():
    code = "import sys, recurrence; print(*(m for m in sys.modules if m.startswith('recurrence.')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["recurrence._device"]
