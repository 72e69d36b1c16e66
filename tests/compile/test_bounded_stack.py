"""Brackets of bounded depth as nets: every state and symbol, long words, few units, no rounding in floats."""

from itertools import accumulate, chain
from math import log2

import pytest
from bracket_words import walk
from hypothesis import given
from hypothesis import strategies as st

from fhx.compile import (
    DyckLayout,
    dfa_to_grid_rnn,
    dfa_to_rnn,
    dyck_to_rnn,
    dyck_units,
    grid_units,
    one_hot_units,
    rnn_to_dfa,
)
from fhx.exact import SimpleRNN
from fhx.machines import bracket_pairs, dyck, dyck_states, well_nested

SIZES = [(1, 1), (1, 2), (1, 5), (2, 1), (2, 2), (2, 4), (3, 1), (3, 3), (4, 2), (5, 2), (9, 1)]


def stacks(word, k, m):
    """The stack after each prefix, the bottom first; None from the first fault on."""

    def read(stack, symbol):
        opening = {closing: opening for opening, closing in bracket_pairs(k)}.get(symbol)
        if stack is None:
            return None
        if opening is None:
            return (*stack, symbol) if len(stack) < m else None
        return stack[:-1] if stack and stack[-1] == opening else None

    return accumulate(word, read, initial=())


def stepped(net, state, symbol):
    """One step from a dense state."""
    rnn, column = net.rnn, net.alphabet.index(symbol)
    W, U = rnn.W.dense(), rnn.U.dense()
    sums = [sum(w * h for w, h in zip(W[i], state, strict=True)) + U[i][column] + rnn.b[i] for i in range(rnn.units)]
    return [min(max(value, 0), 1) for value in sums]


@pytest.mark.claim("E22")
@pytest.mark.parametrize(("k", "m"), SIZES)
def test_every_state_and_symbol(k, m):
    net, layout, dfa = dyck_to_rnn(k, m), DyckLayout(k, m), dyck(k, m)
    kept = {"empty": ()} | {"".join(stack): stack for stack in every_stack(k, m)}
    assert {*kept, "wrong"} == set(dfa.states)
    for name, stack in kept.items():
        bits = layout.encode(stack)
        assert layout.decode(bits) == stack
        for symbol in dfa.alphabet:
            after = layout.decode(net.decode(stepped(net, [*bits.values()], symbol)))
            assert after == kept.get(dfa.step(name, symbol))


def every_stack(k, m):
    found = [()]
    for stack in found:
        if len(stack) < m:
            found += [(*stack, opening) for opening, _ in bracket_pairs(k)]
    return found[1:]


@pytest.mark.claim("E22")
@pytest.mark.parametrize(("k", "m"), SIZES)
def test_all_words(k, m):
    """The net is a finite automaton, also after faults, and equal to the minimal one."""
    net = dyck_to_rnn(k, m)
    assert rnn_to_dfa(net).equivalent(dyck(k, m))
    assert net.rnn.is_integer
    assert net.rnn.activation == "slu"


@given(
    st.integers(1, 20), st.integers(1, 9), st.integers(0, 60), st.sampled_from([0, 0.01, 0.1]), st.integers(0, 2**32)
)
def test_long_words(k, m, length, faults, seed):
    word = walk(k, m, length, faults, seed)
    net, layout = dyck_to_rnn(k, m), DyckLayout(k, m)
    for h, stack in zip(net.run(word), stacks(word, k, m), strict=True):
        assert set(h.values()) <= {1}
        assert layout.decode(net.decode(h)) == stack
    for t, out in enumerate(net.outputs(word), start=1):
        assert out == well_nested(word[:t], k, m)


@pytest.mark.claim("E22")
@pytest.mark.parametrize(("k", "m"), [*SIZES, (16, 10), (100, 7)])
def test_units_and_weights(k, m):
    net, b = dyck_to_rnn(k, m), (k - 1).bit_length()
    assert net.units == dyck_units(k, m) == len(DyckLayout(k, m).names) == (m + 2 if k == 1 else m * (b + 1) + 3)
    assert dyck_units(k, m) >= log2(dyck_states(k, m))
    if k > 1:
        assert dyck_units(k, m) <= 2 * log2(dyck_states(k, m)) + 3
    weights = [*net.rnn.W.entries.values(), *net.rnn.U.entries.values(), *net.rnn.b, *net.w, net.c]
    assert max(map(abs, weights)) <= max(2**b + 1, 4, 2 ** max(m - 2, 0))


def test_other_nets_grow_with_the_number_of_stacks():
    for k, m in [(2, 2), (2, 4), (4, 2)]:
        dfa = dyck(k, m)
        assert dfa_to_rnn(dfa).units == one_hot_units(dyck_states(k, m), 2 * k) > dyck_units(k, m)
        assert dfa_to_grid_rnn(dfa).units == grid_units(dyck_states(k, m), 2 * k) > dyck_units(k, m)
    table = {
        (k, m): (one_hot_units(S := dyck_states(k, m), 2 * k), grid_units(S, 2 * k), dyck_units(k, m), log2(S))
        for k, m in [(2, 3), (2, 10), (4, 5), (5, 10)]
    }
    assert {key: (*row[:3], round(row[3], 1)) for key, row in table.items()} == {
        (2, 3): (65, 23, 9, 4.0),
        (2, 10): (8193, 274, 23, 11.0),
        (4, 5): (10929, 307, 18, 10.4),
        (5, 10): (122070321, 32024, 43, 23.5),
    }


@pytest.mark.parametrize(("k", "m"), [(1, 3), (2, 1), (2, 3), (3, 3), (5, 4)])
def test_fewer_units_predict_what_may_follow(k, m):
    net, layout, pairs = dyck_to_rnn(k, m), DyckLayout(k, m), bracket_pairs(k)
    kept = [i for i, name in enumerate(layout.names) if name not in (layout.depth[-1], layout.above, layout.wrong)]
    W = [[net.rnn.W.dense()[i][j] for j in kept] for i in kept]
    U = [[*net.rnn.U.dense()[i]] for i in kept]
    W[0] = [int(j == 1 and m > 1) for j in range(len(kept))]
    U[0] = [int(a in dict(pairs)) for a in net.alphabet]
    small = SimpleRNN(W, U, [net.rnn.b[i] * (i > 0) for i in kept], [0] * len(kept), "slu")
    assert small.units == m * (layout.bits + 1)
    word = walk(k, m, 500, 0, seed=1)
    for h, stack in zip(small.run(map(net.alphabet.index, word)), stacks(word, k, m), strict=True):
        bits = dict.fromkeys(layout.names, 0) | {layout.names[kept[i]]: value for i, value in h.items()}
        assert layout.decode(bits) == stack
        for kind, (opening, _) in enumerate(pairs):
            assert (bits[layout.depth[m - 1]] == 0) == (len(stack) < m)
            code = [kind >> j & 1 for j in range(layout.bits)]
            agree = sum((2 * c - 1) * bits[T] for c, T in zip(code, layout.top, strict=True)) - sum(code)
            assert (bits[layout.depth[0]] + agree >= 1) == (stack[-1:] == (opening,))


def test_floats_do_not_round_it():
    torch = pytest.importorskip("torch")
    k, m = 3, 4
    words = [walk(k, m, 3000, faults, seed) for faults in (0, 0.0003) for seed in range(4)]
    words += [word[: word_end(word, k, m)] for word in words]
    right = [well_nested(word, k, m) for word in words]
    assert {*right} == {True, False}
    for dtype in (torch.float16, torch.float32):
        assert dyck_to_rnn(k, m).to_torch(dtype).accepts(words).tolist() == right


def word_end(word, k, m):
    """Where the stack is empty last."""
    return max(t for t, stack in enumerate(stacks(word, k, m)) if stack == ())


def test_faults_are_named():
    with pytest.raises(ValueError, match="k must be"):
        dyck_to_rnn(0, 1)
    with pytest.raises(ValueError, match="m must be"):
        DyckLayout(1, True)
    with pytest.raises(ValueError, match="at most 2 of the brackets"):
        DyckLayout(2, 2).encode("(((")
    with pytest.raises(ValueError, match="at most 2 of the brackets"):
        DyckLayout(2, 2).encode("(]")
    with pytest.raises(ValueError, match="outside the alphabet"):
        dyck_to_rnn(2, 2).accepts("a")


def test_alphabet_is_that_of_the_machine():
    for k in (1, 4, 5):
        assert dyck_to_rnn(k, 2).alphabet == dyck(k, 2).alphabet == tuple(chain(*bracket_pairs(k)))
