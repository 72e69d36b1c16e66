"""The claims that chapter 1 settles: each correction's smallest example, and what is true instead."""

from itertools import product

import torch

from recurrence.cells import LinearCell, LSTMCell, SimpleCell
from recurrence.dynamics import unroll

BITS = (0, 1)
STEPS = [dict(zip(product(BITS, BITS), values, strict=True)) for values in product(BITS, repeat=4)]
READOUTS = list(product(BITS, repeat=2))


def words(longest: int, shortest: int = 0) -> list[tuple[int, ...]]:
    return [w for T in range(shortest, longest + 1) for w in product(BITS, repeat=T)]


def run(f, h, word):
    for x in word:
        h = f[h, x]
    return h


def test_a1_with_the_sources_indices_no_system_reads_its_last_input():
    for f, x0 in product(STEPS, BITS):
        for w in words(5, shortest=2):
            read, flipped = (run(f, f[v[0], x0], v[:-1]) for v in (w, (*w[:-1], 1 - w[-1])))
            assert read == flipped


def test_a1_with_bits_as_states_parity_has_a_realisation_and_thirds_have_none():
    def realisations(target):
        return sum(all(g[run(f, h0, w)] == target(w) for w in words(5)) for f, g, h0 in product(STEPS, READOUTS, BITS))

    assert realisations(lambda w: sum(w) % 2) == 2
    assert realisations(lambda w: int(sum(w) % 3 == 0)) == 0


def test_a2_the_identity_gives_a_sum_over_past_inputs():
    cell = LinearCell(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = torch.randn(6, 1, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    terms = [torch.linalg.matrix_power(cell.W, 5 - t) @ (cell.U @ x[t, 0] + cell.b) for t in range(6)]
    torch.testing.assert_close(unroll(cell, x)[-1, 0], sum(terms), rtol=0, atol=1e-12)


def test_a14_a_readout_of_a_count_needs_every_one_of_its_kinks():
    def readout(n, kinks):
        return n + 2 * sum((-1) ** j * max(0, n - j) for j in kinks)

    for T in range(2, 9):
        kinks = range(1, T)  # one ReLU unit each: T - 1 of them
        assert [readout(n, kinks) for n in range(T + 1)] == [n % 2 for n in range(T + 1)]
        for missing in kinks:
            fewer = [j for j in kinks if j != missing]
            assert [readout(n, fewer) for n in range(T + 1)] != [n % 2 for n in range(T + 1)]


def test_b1_without_a_bias_silence_stays_silence():
    for kind in (SimpleCell, LinearCell, LSTMCell):
        cell = kind(1, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        with torch.no_grad():
            cell.b.zero_()
        assert not unroll(cell, torch.zeros(5, 1, 1, dtype=torch.float64)).any()


def test_b1_the_lstm_needs_its_cell_state_in_the_state():
    cell = LSTMCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
    states = torch.tensor([[0.2, 1.0], [0.2, 2.0]], dtype=torch.float64)  # (h, c): the same h
    after = cell.hidden(cell(states, torch.zeros(2, 1, dtype=torch.float64)))
    torch.testing.assert_close(after[:, 0], 0.5 * torch.tanh(torch.tensor([0.5, 1.0], dtype=torch.float64)))


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


def test_b2_the_truncated_run_of_one_t_does_not_continue_that_of_the_last():
    cell, x, k = scalar_cell(1.0), [1.0, 1.0, 1.0], 2
    at_3, at_2 = last_state(cell, x[3 - k : 3]), last_state(cell, x[2 - k : 2])
    assert at_3.item() == k
    assert cell(at_2, torch.ones(1, 1, dtype=torch.float64)).item() == k + 1


def immediate_terms(w: float, inputs) -> list[float]:
    """The terms j = 0, ..., T - 1 of d h_T / d w: w^j times h_{T-j-1}."""
    cell, T = scalar_cell(w), len(inputs)
    states = [0.0] + [last_state(cell, inputs[:t]).item() for t in range(1, T + 1)]
    return [w**j * states[T - j - 1] for j in range(T)]


def total(w: float, inputs) -> float:
    cell = scalar_cell(w)
    return torch.autograd.grad(last_state(cell, inputs).sum(), cell.W)[0].item()


def test_b3_the_gradient_has_a_term_for_each_step_with_immediate_derivatives():
    w, x = 3.0, [1.0, 0.0, 0.0]
    assert sum(immediate_terms(w, x)) == total(w, x) == 2 * w
    assert sum(w**j * total(w, x[: 3 - j]) for j in range(3)) == 3 * w  # total derivatives count the past again


def test_b3_a_sum_from_0_to_k_has_one_term_more_than_k():
    w, x = 3.0, [1.0, 0.0, 0.0]
    terms = immediate_terms(w, x)
    assert [sum(terms[: K + 1]) for K in (0, 1)] == [w, total(w, x)]


def test_b3_state_carried_is_not_state_reset():
    w, x = 3.0, [1.0, 0.0, 0.0]
    assert immediate_terms(w, x)[0] == w
    assert total(w, x[-1:]) == 0
