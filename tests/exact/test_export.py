"""Compiled nets outside of Python: recorded for any length by torch.export and torch.compile, run by ONNX Runtime."""

import subprocess
import sys

import pytest
import torch
from exact_nets import machines, net, words
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.export import Dim, export

from fhx.compile import dfa_to_grid_rnn, dfa_to_rnn, turing_to_rnn
from fhx.machines import DFA, divisible_by, palindromes

pytestmark = pytest.mark.full
SHAPES = ({0: Dim("word"), 1: Dim("time")},)
MACHINES = {"relu": DFA.from_regex("(a|b)*abb", alphabet="ab"), "grid": divisible_by(7), "slu": divisible_by(3)}
NETS = {
    "relu": dfa_to_rnn(MACHINES["relu"]),
    "grid": dfa_to_grid_rnn(MACHINES["grid"]),  # two steps for each symbol
    "slu": dfa_to_rnn(MACHINES["slu"], "slu"),
}


def one_hot(ids, net):
    return nn.functional.one_hot(torch.tensor(ids), len(net.alphabet)).double()


def batch_of(net, size=2, length=3):
    return [[(word + place) % len(net.alphabet) for place in range(length)] for word in range(size)]


@st.composite
def batches(draw, symbols):
    """Words of one length, as ids."""
    length = draw(st.integers(1, 30))
    word = st.lists(st.integers(0, symbols - 1), min_size=length, max_size=length)
    return draw(st.lists(word, min_size=1, max_size=5))


def decided(machine, ids):
    """What the machine says after each symbol."""
    letters = [[machine.alphabet[place] for place in word] for word in ids]
    return [[machine.accepts(word[: t + 1]) for t in range(len(word))] for word in letters]


@pytest.fixture(scope="module", params=NETS)
def exported(request):
    """A machine and its net, recorded from one example."""
    net = NETS[request.param]
    program = export(net.to_torch(), (one_hot(batch_of(net), net),), dynamic_shapes=SHAPES)
    return MACHINES[request.param], net, program.module()


@settings(max_examples=30)
@given(st.data())
def test_an_exported_net_decides_words_of_any_length(exported, data):
    machine, net, module = exported
    ids = data.draw(batches(len(net.alphabet)))
    assert (module(one_hot(ids, net)) == 1).tolist() == decided(machine, ids)


@settings(max_examples=6)
@given(machines(max_states=5), st.data())
def test_an_exported_net_of_any_machine(machine, data):
    recognizer = net(machine, pause=data.draw(st.integers(0, 2)))
    module = export(recognizer.to_torch(), (one_hot(batch_of(recognizer), recognizer),), dynamic_shapes=SHAPES).module()
    word = data.draw(words(machine.letters).filter(len))
    outputs = module(one_hot([[machine.letters.index(letter) for letter in word]], recognizer))
    assert outputs.tolist() == [[float(machine.accepts(word[: t + 1])) for t in range(len(word))]]


@pytest.fixture(scope="module")
def tabled():
    net = NETS["relu"]
    return net, export(net.to_table(), (torch.tensor(batch_of(net)),), dynamic_shapes=SHAPES).module()


@settings(max_examples=30)
@given(batches(2))
def test_an_exported_table_decides_words_of_any_length(tabled, ids):
    _, module = tabled
    assert module(torch.tensor(ids)).tolist() == decided(MACHINES["relu"], ids)


def test_a_machine_of_turing_is_exported():
    turing = turing_to_rnn(palindromes()).to_torch()
    example, longer = turing.one_hot(["ab", "ba"], 3), turing.one_hot(["abba", "abab", "b"], 60)
    module = export(turing, (example,), dynamic_shapes=SHAPES).module()
    assert torch.allclose(module(longer), turing(longer), rtol=0, atol=1e-9)
    assert module(longer).abs().amax(1).tolist() == pytest.approx([1, 1, 1])


@pytest.fixture(scope="module", params=["net", "table"])
def session(request, tmp_path_factory):
    """A net in ONNX Runtime."""
    import onnxruntime

    net, path = NETS["relu"], tmp_path_factory.mktemp("onnx") / "net.onnx"
    module, example = net.to_torch(), one_hot(batch_of(net), net)
    if request.param == "table":
        module, example = net.to_table(), torch.tensor(batch_of(net))
    with pytest.warns():  # of what torch's exporter uses of its own and will not have for ever
        torch.onnx.export(module, (example,), path, dynamo=True, dynamic_shapes=SHAPES, verbose=False)
    return request.param, onnxruntime.InferenceSession(path)


@settings(max_examples=30)
@given(batches(2))
def test_onnx_runtime_has_the_same_numbers(session, ids):
    kind, run = session
    inputs = torch.tensor(ids) if kind == "table" else one_hot(ids, NETS["relu"])
    (outputs,) = run.run(None, {run.get_inputs()[0].name: inputs.numpy()})
    assert (outputs == 1).tolist() == decided(MACHINES["relu"], ids)
    if kind == "net":
        assert outputs.tolist() == NETS["relu"].to_torch()(inputs).tolist()


COMPILE = """
import torch
from fhx.compile import dfa_to_rnn
from fhx.machines import DFA

torch._dynamo.config.allow_rnn = True
net = dfa_to_rnn(DFA.from_regex("(a|b)*abb", alphabet="ab"))
for module, inputs in ((net.to_torch(), lambda ids: torch.eye(2).double()[ids]), (net.to_table(), lambda ids: ids)):
    graphs = []
    keep = lambda graph, _: graphs.append(graph) or graph
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend=keep)
    for size, length in ((3, 5), (4, 50), (7, 9)):
        ids = torch.randint(2, (size, length), generator=torch.Generator().manual_seed(size))
        assert torch.equal(compiled(inputs(ids)), module(inputs(ids)))
    print(len(graphs))
"""


def test_one_graph_is_compiled_for_all_lengths():
    """In a process of its own, since the tests' checks of shapes are no code to compile."""
    done = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True)
    assert (done.stdout.split(), done.returncode) == (["1", "1"], 0), done.stderr
