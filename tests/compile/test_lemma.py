"""Lemma 4.4: compiled nets against the step itself, at every time, the first and the empty word included."""

import pytest
from compile_strategies import INPUTS, expressions, numbers, steps
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import UncompilableError, step_to_rnn
from fhx.compile.names import unique
from fhx.exact import AND, Step, const, if_then_else, maximum, relu, slu, sum_of, variable, variables

h, x, y = map(variable, "hxy")
words = st.lists(st.tuples(numbers, numbers), max_size=6)


def states_of(network, xs):
    """The net's states after each whole input, :math:`h_0` first, by its definition."""
    k, pause = network.steps_per_symbol, (0,) * network.rnn.input_size
    fed = [vector for v in xs for vector in (v, *[pause] * (k - 1))]
    return [network.rnn.h0, *tuple(network.rnn.reference_states(fed))[k - 1 :: k]]


def agree(network, step, outs, xs):
    """Whether states and outputs are the step's own at every time."""
    wanted = list(step.run(xs))
    found = states_of(network, xs)
    assert [network.decode(state) for state in found] == wanted
    assert list(network.outputs(xs)) == [tuple(out.evaluate(state) for out in outs) for state in wanted[1:]]
    empty = [c + sum(network.V.row(i).get(j, 0) * v for j, v in enumerate(found[0])) for i, c in enumerate(network.c)]
    assert empty == [out.evaluate(step.h0) for out in outs]


def assert_silent(network, xs):
    """In the k-th net step of an input only layer k and its phase are not 0: the other runs of the pipeline rest."""
    k, pause = network.steps_per_symbol, (0,) * network.rnn.input_size
    active = [set() for _ in range(k)]
    for t, state in enumerate(network.rnn.reference_states([vector for v in xs for vector in (v, *[pause] * (k - 1))])):
        active[t % k] |= {j for j, value in enumerate(state) if value}
    assert sum(map(len, active)) == len(set().union(*active))
    assert 0 not in set().union(*active)
    assert network.rnn.b == (0,) * network.units or k == 1


@pytest.mark.claim("C4")
@given(st.data(), steps(1), words)
def test_one_layer_is_exact_in_real_time(data, step, xs):
    outs = data.draw(st.lists(expressions(list(step.state), 0), min_size=1, max_size=2))
    network = step_to_rnn(step, outs)
    assert network.steps_per_symbol == 1
    agree(network, step, outs, xs)


@settings(max_examples=50)
@given(st.data(), steps(3), st.integers(0, 2), words)
def test_more_layers_are_exact_with_as_many_net_steps(data, step, spare, xs):
    """Also with more steps than layers."""
    outs = data.draw(st.lists(expressions(list(step.state), 0), min_size=1, max_size=2))
    layers = max(step.depth, 1) + spare
    network = step_to_rnn(step, outs, steps_per_symbol=layers)
    agree(network, step, outs, xs)
    assert_silent(network, xs)


@settings(max_examples=50)
@given(st.data(), st.integers(1, 3), words)
def test_slu_nets_are_exact(data, layers, xs):
    """Each layer an SLU of sums of the one before; the start outside of [0, 1]."""

    def vector(atoms):
        sums = (sum_of(data.draw(numbers) * atom for atom in atoms) + data.draw(numbers) for _ in range(2))
        return slu(tuple(sums))

    v = vector((h, variable("g"), x, y))
    for _ in range(layers - 1):
        v = vector(v)
    step = Step({"h": v[0], "g": 3 * v[1] - 1}, INPUTS, {"h": data.draw(numbers), "g": data.draw(numbers)})
    for steps_per_symbol in (layers, layers + 1):
        network = step_to_rnn(step, h, steps_per_symbol, "slu")
        assert network.rnn.activation == "slu"
        agree(network, step, [h], xs)


def test_the_maximum_of_three_is_refused_and_compiled_with_two_steps():
    x1, x2 = variables("x", 2)
    step = Step({"m": maximum(0, x1, x2)}, ("x1", "x2"), {"m": 7})
    with pytest.raises(UncompilableError, match=r"the next 'm' needs 2 hidden layers and not 1") as caught:
        step_to_rnn(step, variable("m"))
    assert "relu(x2 - relu(x1)) holds relu(x1)" in caught.value.reasons[0]
    network = step_to_rnn(step, variable("m"), steps_per_symbol=2)
    inputs = [(a, b) for a in (-1, 0, 2) for b in (-2, 1, 3)]
    assert [value for (value,) in network.outputs(inputs)] == [max(0, a, b) for a, b in inputs]
    assert network.units == 1 + 2 + 3 + 2


def test_the_other_runs_of_the_pipeline_rest():
    """Left alone they would double for ever."""
    step = Step({"m": maximum(variable("m") * 2, x, y + 1) + 1}, INPUTS, {"m": -5})
    network, xs = step_to_rnn(step, variable("m"), 3), [(1, 2), (-7, 0), (5, 100), (0, 0), (-1, -1)]
    agree(network, step, [variable("m")], xs)
    assert_silent(network, xs)


def test_sizes_are_as_stated():
    """A start; two units for an SLU or for what passes through; a phase to each of several steps; equal units once."""
    assert step_to_rnn(Step({"h": relu(h + x)}, ["x"], {"h": 0}), h).units == 1 + 1
    assert step_to_rnn(Step({"h": slu(h + x)}, ["x"], {"h": 0}), h).units == 1 + 2
    assert step_to_rnn(Step({"h": h + x}, ["x"], {"h": 0}), h).units == 1 + 2
    assert step_to_rnn(Step({"h": slu(h + x)}, ["x"], {"h": 0}), h, activation="slu").units == 1 + 1
    assert step_to_rnn(Step({"h": const(3)}, ["x"], {"h": 0}), h).units == 1
    both = Step({"h": relu(h + x), "g": relu(x + h) + 2 * relu(h)}, ["x"], {"h": 0, "g": 0})
    assert step_to_rnn(both, h).units == 1 + 2
    assert step_to_rnn(Step({"h": relu(h + x)}, ["x"], {"h": 0}), h, 3).units == 1 + 3 + 1 + 1 + 1
    assert step_to_rnn(Step({"h": relu(h + x)}, ["x"], {"h": 0}), h, 2, order=[h]).units == 1 + 2 + 1 + 1


def test_weights_of_parity_are_those_of_the_proof():
    """h' = (h and not x) or (x and not h): units r_1 = relu(h - x), r_2 = relu(x - h), h = r_1 + r_2, s = 1."""
    step = Step({"h": relu(h - x, "r1") + relu(x - h, "r2")}, ["x"], {"h": 1})
    network = step_to_rnn(step, 2 * h - 1)
    assert network.rnn.unit_names == ("start", "r1", "r2")
    assert network.rnn.W.dense() == ((0, 0, 0), (1, 1, 1), (-1, -1, -1))
    assert network.rnn.U.dense() == ((0,), (-1,), (1,))
    assert (network.rnn.b, network.rnn.h0) == ((0, 0, 0), (1, 0, 0))
    assert (network.V.dense(), network.c) == (((2, 2, 2),), (-1,))
    assert (network.decoder.D.dense(), network.decoder.d) == (((1, 1, 1),), (0,))


def test_bias_of_the_second_layer_moves_into_bias_start_and_readout():
    """h = r + 5 with h_0 = 2: bias 1 + 3 * 5, start column 3 * (2 - 5), readout bias 5."""
    network = step_to_rnn(Step({"h": relu(3 * h + x + 1, "r") + 5}, ["x"], {"h": 2}), h)
    assert network.rnn.W.dense() == ((0, 0), (-9, 3))
    assert network.rnn.b == (0, 16)
    assert (network.V.dense(), network.c) == (((-3, 1),), (5,))


def test_numbered_names_are_unique_too():
    assert unique(["a", "a", "a#2", "a", 1, "1"], taken=["1"]) == ("a", "a#2", "a#2#2", "a#3", "1#2", "1#3")


def test_names_are_unique_and_avoid_those_of_the_step():
    start = variable("start")
    step = Step({"start": relu(start, "a") + relu(x, "a") + relu(x - 1, "start")}, ["x"], {"start": 1})
    network = step_to_rnn(step, start)
    assert network.rnn.unit_names == ("start#2", "a", "a#2", "start")
    long = Step({"h": relu(sum_of(variable(f"x{i}") for i in range(30)))}, [f"x{i}" for i in range(30)], {"h": 1})
    assert step_to_rnn(long, h).rnn.unit_names == ("start", "unit 1")
    net = step_to_rnn(Step({"h": slu(h + x, "s")}, ["x"], {"h": 1}), h, 2)
    assert net.rnn.unit_names[3:] == ("s", "s-1", "s'", "s-1'")


def test_units_come_in_the_order_asked_for():
    a, b = relu(h, "a"), relu(x, "b")
    step = Step({"h": a + b + relu(x + h, "c")}, ["x"], {"h": 1})
    assert step_to_rnn(step, h).rnn.unit_names == ("start", "a", "b", "c")
    assert step_to_rnn(step, h, order=[b, relu(y)]).rnn.unit_names == ("start", "b", "a", "c")


def test_all_reasons_are_told_at_once():
    step = Step(
        {"h": relu(relu(x) - 1), "g": slu(relu(h) + relu(relu(y))) + 1, "i": relu(x)}, INPUTS, dict.fromkeys("hgi", 0)
    )
    with pytest.raises(UncompilableError) as caught:
        step_to_rnn(step, [h, relu(h), x + h])
    assert len(caught.value.reasons) == 4
    needed = ["the next 'h' needs 2", "the next 'g' needs 3", "output 1 is not affine", "output 2 reads 'x'"]
    for reason, told in zip(needed, caught.value.reasons, strict=True):
        assert reason in told
        assert told in str(caught.value)
    with pytest.raises(UncompilableError) as caught:
        step_to_rnn(step, h, steps_per_symbol=2)
    assert [reason[:17] for reason in caught.value.reasons] == ["the next 'g' need"]


def test_slu_nets_refuse_relus_and_what_passes_through():
    step = Step({"h": slu(h) + x, "g": slu(slu(x) + h), "i": relu(x)}, INPUTS, dict.fromkeys("hgi", 0))
    with pytest.raises(UncompilableError) as caught:
        step_to_rnn(step, h, 2, "slu")
    told = "\n".join(caught.value.reasons)
    assert len(caught.value.reasons) == 3
    assert "the unit relu(x) is a ReLU" in told
    assert "the next 'h' needs 'x' without a unit" in told
    assert "the unit slu(slu(x) + h) needs 'h' without a unit" in told
    assert step_to_rnn(Step({"h": AND(h, x, layer=slu)}, ["x"], {"h": 1}), h, activation="slu").rnn.is_integer


def test_many_reasons_are_counted_but_kept():
    step = Step({f"h{i}": relu(relu(x) + i) for i in range(25)}, ["x"], {f"h{i}": 0 for i in range(25)})
    with pytest.raises(UncompilableError, match="and 15 more") as caught:
        step_to_rnn(step, const(0))
    assert len(caught.value.reasons) == 25


def test_the_refusal_is_syntactic():
    """relu(relu(x)) is relu(x), but is written with two layers."""
    with pytest.raises(UncompilableError):
        step_to_rnn(Step({"h": relu(relu(x))}, ["x"], {"h": 0}), h)


def test_choice_of_the_notes_compiles_in_one_layer():
    step = Step({"h": if_then_else(x, y, h)}, INPUTS, {"h": 1})
    agree(step_to_rnn(step, h), step, [h], [(1, 0), (0, 1), (1, 1), (0, 0), (0, 0)])
    agree(step_to_rnn(step, h, activation="slu"), step, [h], [(1, 0), (0, 1), (1, 1), (0, 0), (0, 0)])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"steps_per_symbol": 0}, "steps_per_symbol"),
        ({"steps_per_symbol": 1.0}, "1.0"),
        ({"activation": "tanh"}, "tanh"),
    ],
)
def test_bad_options_are_named(options, told):
    with pytest.raises(ValueError, match=told):
        step_to_rnn(Step({"h": h}, ["x"], {"h": 0}), h, **options)
