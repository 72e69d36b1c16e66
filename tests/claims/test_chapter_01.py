"""The claims that chapter 1 settles: each correction's smallest example, and what is true instead."""

from fractions import Fraction
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fhx.cells import LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.stability import truncated_states

BITS = (0, 1)
STEPS = [dict(zip(product(BITS, BITS), values, strict=True)) for values in product(BITS, repeat=4)]
READOUTS = list(product(BITS, repeat=2))


def words(longest: int, shortest: int = 0) -> list[tuple[int, ...]]:
    return [w for T in range(shortest, longest + 1) for w in product(BITS, repeat=T)]


def run(f, h, word):
    for x in word:
        h = f[h, x]
    return h


@pytest.mark.claim("A1")
def test_a1_with_the_sources_indices_no_system_reads_its_last_input():
    def states(f, x0, word):
        """h_1, ..., h_{T+1} of the source, by t."""
        x, h = dict(enumerate(word, 1)), {1: f[word[0], x0]}
        for t in x:
            h[t + 1] = f[h[t], x[t]]
        return h

    seen = {"h_T": False, "h_T+1": False}
    for f, x0, w in product(STEPS, BITS, words(5, shortest=2)):
        one, other = states(f, x0, w), states(f, x0, (*w[:-1], 1 - w[-1]))
        seen["h_T"] |= one[len(w)] != other[len(w)]
        seen["h_T+1"] |= one[len(w) + 1] != other[len(w) + 1]
    assert seen == {"h_T": False, "h_T+1": True}


@pytest.mark.claim("A1")
def test_a1_with_bits_as_states_parity_has_a_realisation_and_thirds_have_none():
    def realizations(target):
        return sum(all(g[run(f, h0, w)] == target(w) for w in words(5)) for f, g, h0 in product(STEPS, READOUTS, BITS))

    assert realizations(lambda w: sum(w) % 2) == 2
    assert realizations(lambda w: int(sum(w) % 3 == 0)) == 0


@pytest.mark.claim("A2")
def test_a2_the_identity_gives_a_sum_over_past_inputs():
    cell = LinearCell(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = torch.randn(6, 1, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    terms = [torch.linalg.matrix_power(cell.W, 5 - t) @ (cell.U @ x[t, 0] + cell.b) for t in range(6)]
    torch.testing.assert_close(unroll(cell, x)[-1, 0], sum(terms), rtol=0, atol=1e-12)


@pytest.mark.claim("A14")
@given(
    net=st.lists(st.tuples(*[st.floats(-10, 10, allow_subnormal=False)] * 3), min_size=1, max_size=9),
    T=st.integers(1, 20),
)
def test_a14_turns_need_units(net, T):
    """On whole numbers a net of n ReLU units turns at most n times, so PARITY of a count needs T - 1 of them."""
    exact = [tuple(map(Fraction, unit)) for unit in net]
    values = [sum(v * max(0, w * s + c) for v, w, c in exact) for s in range(T + 1)]
    rises = [after - before for before, after in pairwise(values)]
    turns = sum(a * b < 0 for a, b in pairwise(rises))
    assert turns <= len(net)


@pytest.mark.claim("A14")
def test_a14_one_unit_above_the_bound_is_enough():
    for T in range(2, 9):
        zigzag = [n + 2 * sum((-1) ** j * max(0, n - j) for j in range(1, T)) for n in range(T + 1)]
        assert zigzag == [n % 2 for n in range(T + 1)]  # n is relu(n + 1) - 1: T units in all


@pytest.mark.claim("A14")
def test_a14_with_depth_a_few_units_are_enough():
    for layers in range(1, 8):
        for count in range(2**layers + 1):
            folded = count
            for c in (2**k for k in reversed(range(layers))):
                folded = max(0, folded - c) + max(0, c - folded)
            assert 1 - folded == count % 2


@pytest.mark.claim("B1")
def test_b1_without_a_bias_silence_stays_silence():
    for kind in (SimpleCell, LinearCell, LSTMCell):
        cell = kind(1, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        with torch.no_grad():
            cell.b.zero_()
        assert not unroll(cell, torch.zeros(5, 1, 1, dtype=torch.float64)).any()


@pytest.mark.claim("B1")
@given(x=st.floats(0.1, 1), y=st.floats(1.5, 3))
def test_b1_the_lstm_needs_its_cell_state_in_the_state(x, y):
    """Two first inputs with one h_1 and two c_1, both reached from the zero state; then a zero in both runs."""
    cell = LSTMCell(2, 1, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        cell.U_z[0, 0] = cell.U_o[0, 1] = 1
    c = torch.tensor([x, y], dtype=torch.float64).tanh() / 2
    shown = c.tanh().min() / 2
    first = torch.stack([torch.tensor([x, y], dtype=torch.float64), torch.logit(shown / c.tanh())], dim=1)
    h = cell.hidden(unroll(cell, torch.stack([first, torch.zeros_like(first)])))[..., 0]
    torch.testing.assert_close(h[0, 0], h[0, 1], rtol=0, atol=1e-12)
    assert (h[1, 0] - h[1, 1]).abs() > 1e-3


def scalar_cell(w: float) -> LinearCell:
    """The step f(h, x) = w h + x."""
    cell = LinearCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.W.fill_(w)
        cell.U.fill_(1)
        cell.b.zero_()
    return cell


def last_state(cell, inputs, h0=None) -> torch.Tensor:
    x = torch.tensor(inputs, dtype=torch.float64)[:, None, None]
    return unroll(cell, x, h0)[-1]


@pytest.mark.claim("B2")
def test_b2_the_truncated_run_of_one_t_does_not_continue_that_of_the_last():
    cell, x, k = scalar_cell(1.0), [1.0, 1.0, 1.0], 2
    at_3, at_2 = last_state(cell, x[3 - k : 3]), last_state(cell, x[2 - k : 2])
    assert at_3.item() == k
    assert cell(at_2, torch.ones(1, 1, dtype=torch.float64)).item() == k + 1


@pytest.mark.claim("B2")
def test_b2_a_run_over_three_letters_is_three_steps_in_a_row_and_no_longer_run_is():
    cell = scalar_cell(1.0)
    h = cell.initial_state(1)
    for _ in range(3):
        h = cell(h, torch.ones(1, 1, dtype=torch.float64))
    ones = torch.ones(4, 1, 1, dtype=torch.float64)
    full, cut = unroll(cell, ones).flatten().tolist(), truncated_states(cell, ones, 3).flatten().tolist()
    assert full == [1, 2, 3, 4]
    assert cut == [1, 2, h.item(), h.item()] == [1, 2, 3, 3]


def immediate_terms(w: float, inputs) -> list[float]:
    """The terms j = 0, ..., T - 1 of d h_T / d w: w^j times h_{T-j-1}."""
    cell, T = scalar_cell(w), len(inputs)
    states = [0.0] + [last_state(cell, inputs[:t]).item() for t in range(1, T + 1)]
    return [w**j * states[T - j - 1] for j in range(T)]


def total(w: float, inputs) -> float:
    cell = scalar_cell(w)
    return torch.autograd.grad(last_state(cell, inputs).sum(), cell.W)[0].item()


@pytest.mark.claim("B3")
def test_b3_the_gradient_has_a_term_for_each_step_with_immediate_derivatives():
    w, x = 3.0, [1.0, 0.0, 0.0]
    assert sum(immediate_terms(w, x)) == total(w, x) == 2 * w
    assert sum(w**j * total(w, x[: 3 - j]) for j in range(3)) == 3 * w  # total derivatives count the past again


@pytest.mark.claim("B3")
@given(st.lists(st.integers(1, 9), min_size=2, max_size=7), st.integers(2, 9))
def test_b3_a_shorter_sum_is_the_gradient_only_when_nothing_is_left_out(inputs, w):
    """Positive weight and inputs: each term up to that of step 2 counts, and step 1 multiplies h_0 = 0."""
    terms, T = immediate_terms(float(w), [float(x) for x in inputs]), len(inputs)
    right = [sum(terms[:K]) == total(float(w), [float(x) for x in inputs]) for K in range(1, T + 1)]
    assert right == [False] * (T - 2) + [True] * 2


@pytest.mark.claim("B3")
def test_b3_the_first_term_of_the_smallest_case_is_half_of_its_gradient():
    w, x = 3.0, [1.0, 0.0, 0.0]
    assert [sum(immediate_terms(w, x)[:K]) for K in (1, 2, 3)] == [w, 2 * w, 2 * w]
    assert total(w, x) == 2 * w


@pytest.mark.claim("B3")
def test_b3_state_carried_is_not_state_reset():
    w, x = 3.0, [1.0, 0.0, 0.0]
    assert immediate_terms(w, x)[0] == w
    assert total(w, x[-1:]) == 0
