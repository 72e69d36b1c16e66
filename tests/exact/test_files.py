"""Exact nets in files of safetensors: what comes back is what was saved, and bad files are told what is wrong."""

import json
from fractions import Fraction

import numpy as np
import pytest
from exact_nets import machines, net, rnns
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from fhx.compile import turing_to_rnn
from fhx.exact import HaltingNet, Recognizer, SimpleRNN, load_net, save_net
from fhx.exact.files import DENOMINATORS
from fhx.machines import palindromes

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.fractions(-1000, 1000, max_denominator=2**40)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("nets") / "net.safetensors"


@settings(max_examples=60)
@given(st.data())
def test_a_recognizer_comes_back(path, data):
    rnn = data.draw(rnns())
    weights = data.draw(st.lists(NUMBERS, min_size=rnn.units, max_size=rnn.units))
    symbols = st.one_of(st.text(max_size=3), st.integers())
    alphabet = data.draw(st.lists(symbols, min_size=rnn.input_size, max_size=rnn.input_size, unique=True))
    saved = Recognizer(rnn, weights, data.draw(NUMBERS), alphabet, data.draw(st.integers(1, 3)))
    save_net(saved, path)
    assert load_net(path) == saved


@settings(max_examples=20)
@given(machines(), st.integers(0, 2))
def test_what_it_decides_is_the_same(path, machine, pause):
    save_net(net(machine, pause), path)
    word = machine.letters * 3
    assert load_net(path).accepts(word) == machine.accepts(word)


def test_the_net_of_a_machine_comes_back_as_a_halting_net(path):
    saved = turing_to_rnn(palindromes())
    save_net(saved, path)
    found = load_net(path)
    assert type(found) is HaltingNet
    assert (found.rnn, found.w, found.c, found.alphabet) == (saved.rnn, saved.w, saved.c, saved.alphabet)
    assert found.answer("abba", 100) == saved.answer("abba", 100)


def test_other_programs_find_plain_integers_and_the_alphabet(path):
    saved = Recognizer(SimpleRNN([[1, -2], [0, 3]], [[1], [0]], [0, -1], [0, 0], "relu"), [1, Fraction(1, 3)], 2, "a")
    save_net(saved, path)
    tensors = load_file(path)
    assert tensors["W"].tolist() == [[1, -2], [0, 3]]
    assert tensors["w"].tolist() == [1, 1]
    assert tensors["w" + DENOMINATORS].tolist() == [1, 3]
    assert {name for name in tensors if name.endswith(DENOMINATORS)} == {"w" + DENOMINATORS}
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    assert json.loads(metadata["alphabet"]) == ["a"]
    assert (metadata["kind"], metadata["activation"], metadata["steps_per_symbol"]) == ("Recognizer", "relu", "1")


SMALL = Recognizer(SimpleRNN([[1]], [[1]], [0], [0], "relu"), [1], 0, "a")


@pytest.mark.parametrize(
    ("saved", "error", "why"),
    [
        (SMALL.rnn, TypeError, "save_net"),
        (Recognizer(SMALL.rnn, [2**63], 0, "a"), ValueError, "w holds a number of 64 bits"),
        (Recognizer(SMALL.rnn, [1], 0, [("a", 1)]), ValueError, r"the symbol \('a', 1\) is neither"),
        (Recognizer(SMALL.rnn, [1], 0, [True]), ValueError, "the symbol True is neither"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_and_the_old_file_stays(tmp_path, saved, error, why):
    path = tmp_path / "net.safetensors"
    save_net(SMALL, path)
    with pytest.raises(error, match=why):
        save_net(saved, path)
    assert load_net(path) == SMALL
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("tensors", "metadata", "why"),
    [
        ({"W": None}, {}, "it lacks 'W'"),
        ({}, {"alphabet": None}, "it lacks 'alphabet'"),
        ({}, {"format": "other"}, "its format is 'other', and 'fhx-net-1' is read here"),
        ({}, {"kind": "Transformer"}, "its kind is 'Transformer', and there are Recognizer, HaltingNet"),
        ({}, {"alphabet": '["a", "b"]'}, "the alphabet has 2 symbols, but U has 1 columns"),
        ({}, {"alphabet": "["}, "Expecting value"),
        ({}, {"steps_per_symbol": "two"}, "invalid literal"),
        ({"W": np.array([[0.5]])}, {}, "W is of float64, and exact numbers are of int64"),
        ({"b": np.array([[1]])}, {}, r"b has the shape \(1, 1\)"),
        ({"b.denominators": np.array([0])}, {}, r"Fraction\(0, 0\)"),
        ({"b.denominators": np.array([1, 1])}, {}, "b and b.denominators have the shapes"),
        ({"c": np.array([1, 1])}, {}, "too many values"),
    ],
)
def test_a_file_that_holds_no_net_is_told_why(tmp_path, tensors, metadata, why):
    path = tmp_path / "net.safetensors"
    save_net(SMALL, path)
    with safe_open(path, "numpy") as file:
        changed = file.metadata() | metadata
    kept = {name: tensor for name, tensor in (load_file(path) | tensors).items() if tensor is not None}
    save_file(kept, path, {name: value for name, value in changed.items() if value is not None})
    with pytest.raises(ValueError, match=f"net.safetensors holds no net of fhx: .*{why}"):
        load_net(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a zip", b"\xff" * 100, b"\x02\x00\x00\x00\x00\x00\x00\x00[]"])
def test_what_is_not_safetensors_is_told(tmp_path, content):
    path = tmp_path / "net.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"net.safetensors is not a file of safetensors: "):
        load_net(path)
    with pytest.raises(FileNotFoundError):
        load_net(tmp_path / "none")
