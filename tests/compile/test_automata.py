"""Machines to nets, one-hot and on a grid: runs, the commuting square on every pair, sizes, weights, the way back."""

import re

import pytest
from attrs import evolve
from compile_strategies import letters, machine, machines
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import (
    StateExplosionError,
    dfa_to_grid_rnn,
    dfa_to_rnn,
    find_disagreement,
    grid_shape,
    grid_units,
    one_hot_units,
    rnn_to_dfa,
)
from fhx.compile.grid import grid_names, grid_places
from fhx.exact import Matrix, Recognizer, Unit
from fhx.machines import DFA, NAMED, divisible_by, parity

MAKERS = (dfa_to_rnn, lambda dfa: dfa_to_rnn(dfa, "slu"), dfa_to_grid_rnn)
KINDS = pytest.mark.parametrize("make", MAKERS, ids=["relu", "slu", "grid"])


def grid_codes(dfa, recognizer):
    """The net state of each machine state, whether a word leads there or not: what the second layer is then."""
    units, places = recognizer.rnn.unit_names, grid_places(dfa)
    codes = []
    for q in dfa.states:
        row, column = places[q]
        values = {"phase 2": 1}
        values |= {f"row above {k}": row - k for k in range(row)}
        values |= {f"column above {k}": column - k for k in range(column)}
        codes.append({units.index(name): value for name, value in values.items()})
    return codes


@pytest.mark.claim("E1")
@KINDS
@pytest.mark.parametrize("name", NAMED)
def test_named_machines(name, make):
    dfa = NAMED[name]
    net = make(dfa)
    assert find_disagreement(dfa, net) is None
    back = rnn_to_dfa(net)
    assert back.equivalent(dfa)
    assert back.minimize().canonical() == dfa.minimize().canonical()


def test_compiling_takes_as_much_longer_as_the_machine_is_larger(monkeypatch):
    """Counted in units that are hashed, which is most of the work."""
    calls = []
    hashed = Unit.__hash__
    monkeypatch.setattr(Unit, "__hash__", lambda unit: calls.append(1) or hashed(unit))

    def work(states: int) -> int:
        calls.clear()
        dfa_to_rnn(divisible_by(states))
        return len(calls)

    assert work(60) < 2.5 * work(30)


@KINDS
@settings(max_examples=20)
@given(dfa=machines(), length=st.integers(0, 1000), seed=st.integers(0, 2**32))
def test_random_machines_run_alike(make, dfa, length, seed):
    """By the exact run of the net, at the end and at every time, up to a thousand symbols."""
    net, word = make(dfa), letters(dfa, length, seed)
    assert net.rnn.is_integer
    assert net.accepts(word) == dfa.accepts(word)
    assert list(net.outputs(word)) == [int(q in dfa.accept) for q in list(dfa.run(word))[1:]]
    assert net.accepts("") == dfa.accepts("")


@pytest.mark.claim("C3", "E1")
@KINDS
@settings(max_examples=15)
@given(dfa=machines())
def test_the_square_commutes_on_every_state_and_symbol(make, dfa):
    """Unreachable states too; and the machine found back is the minimal one."""
    net = make(dfa)
    also = grid_codes(dfa, net) if net.steps_per_symbol == 2 else ()
    assert find_disagreement(dfa, net, also) is None
    assert rnn_to_dfa(net).minimize().canonical() == dfa.minimize().canonical()


@given(machines())
@settings(max_examples=40)
def test_units_are_as_stated(dfa):
    Q, S = len(dfa.states), len(dfa.alphabet)
    assert dfa_to_rnn(dfa).units == dfa_to_rnn(dfa, "slu").units == one_hot_units(Q, S)
    net = dfa_to_grid_rnn(dfa)
    assert net.units == grid_units(Q, S)
    rows, columns = grid_shape(Q, S)
    assert len(net.decoder.names) == rows + columns
    numbers = [*net.rnn.W.entries.values(), *net.rnn.U.entries.values(), *net.rnn.b, *net.rnn.h0, *net.w, net.c]
    assert max(map(abs, numbers)) <= 2 * rows - 2


def test_the_grid_gives_rows_to_accepting_states_of_their_own():
    for Q in range(1, 40):
        for accepting in range(Q + 1):
            dfa = DFA(range(Q), "ab", {(q, a): q for q in range(Q) for a in "ab"}, 0, range(accepting))
            rows, columns = grid_shape(Q, 2)
            places = grid_places(dfa)
            assert len(set(places.values())) == Q
            assert all(row < rows and column < columns for row, column in places.values())
            assert not {places[q][0] for q in dfa.accept} & {places[q][0] for q in dfa.states if q not in dfa.accept}


def test_weights_of_parity_and_their_names():
    """The state even is entered by even&0 and odd&1, and is where the start stands."""
    net = dfa_to_rnn(parity())
    assert net.rnn.unit_names == ("start", "even&0", "even&1", "odd&0", "odd&1")
    even, odd = (1, 1, 0, 0, 1), (0, 0, 1, 1, 0)
    assert net.rnn.W.dense() == ((0,) * 5, even, even, odd, odd)
    assert net.rnn.U.dense() == ((0, 0), (1, 0), (0, 1), (1, 0), (0, 1))
    assert (net.rnn.b, net.rnn.h0) == ((0, -1, -1, -1, -1), (1, 0, 0, 0, 0))
    assert (net.w, net.c) == (odd, 0)
    assert [net.decode(state) for state in net.run("1")] == [{"even": 1, "odd": 0}, {"even": 0, "odd": 1}]


def test_states_and_symbols_that_read_alike_have_names_of_their_own():
    states, symbols = (1, "1", "row 0", "x=a", ("a", 2)), ("a", "&a", "1&", 1, "1")
    dfa = DFA(states, symbols, {(q, a): states[(i + j) % 5] for i, q in enumerate(states) for j, a in enumerate(symbols)}, "1", [1])  # fmt: skip  # noqa: E501
    for make in MAKERS:
        net = make(dfa)
        assert len(set(net.rnn.unit_names)) == net.units
        assert find_disagreement(dfa, net) is None
        assert rnn_to_dfa(net).equivalent(dfa)
    assert dfa_to_rnn(dfa).decoder.names == ("1", "1#2", "row 0", "x=a", "('a', 2)")
    assert "row 0#2" in dfa_to_grid_rnn(dfa).decoder.names


@pytest.mark.parametrize("accept", [[], [0]])
@pytest.mark.parametrize("alphabet", ["a", "ab"])
def test_one_state(accept, alphabet):
    dfa = DFA([0], alphabet, {(0, a): 0 for a in alphabet}, 0, accept)
    for make in MAKERS:
        assert make(dfa).accepts("aaa") == make(dfa).accepts("") == bool(accept)
        assert find_disagreement(dfa, make(dfa)) is None


@pytest.mark.parametrize("make", MAKERS[::2], ids=["relu", "grid"])
def test_the_square_finds_what_is_wrong(make):
    """One target, the start, or the readout of a machine is not that of the net."""
    dfa = machine(7, 2, seed=5)
    net = make(dfa)
    q, a = next((q, a) for q in dfa.reachable() for a in dfa.alphabet if dfa.step(q, a) != 3)
    assert find_disagreement(evolve(dfa, transitions={**dfa.transitions, (q, a): 3}), net) == (q, a)
    other = next(q for q in dfa.states if q != dfa.start)
    assert find_disagreement(evolve(dfa, start=other), net) == (other, None)
    if make is dfa_to_rnn:
        assert find_disagreement(evolve(dfa, accept=dfa.accept ^ {dfa.start}), net) == (dfa.start, None)


def test_the_square_reaches_states_that_no_word_reaches():
    dfa = DFA("pq", "a", {("p", "a"): "p", ("q", "a"): "q"}, "p", "p")
    wrong = evolve(dfa, transitions={("p", "a"): "p", ("q", "a"): "p"})
    assert dfa.equivalent(wrong)
    assert find_disagreement(wrong, dfa_to_rnn(dfa)) == ("q", "a")
    net = dfa_to_grid_rnn(dfa)
    assert find_disagreement(wrong, net) is None
    assert find_disagreement(wrong, net, also=grid_codes(dfa, net)) == ("q", "a")


@pytest.mark.parametrize("make", MAKERS[::2], ids=["relu", "grid"])
def test_any_changed_weight_that_matters_is_found(make):
    """A net with one recurrent weight changed is refused by the square whenever it accepts other words."""
    dfa = NAMED["abb"]
    net, found = make(dfa), 0
    for place, value in net.rnn.W.entries.items():
        entries = {**net.rnn.W.entries, place: value + 1}
        changed = evolve(net, rnn=evolve(net.rnn, W=Matrix(net.rnn.W.shape, entries)))
        if find_disagreement(dfa, changed, max_states=1000) is None:
            assert rnn_to_dfa(changed).equivalent(dfa)
        else:
            found += 1
    assert found > len(net.rnn.W.entries) // 2


def test_the_square_needs_a_code_of_the_machine():
    dfa = NAMED["abb"]
    net = dfa_to_rnn(dfa)
    with pytest.raises(ValueError, match="the machine reads"):
        find_disagreement(parity(), net)
    with pytest.raises(ValueError, match="no decoder: it was not compiled"):
        find_disagreement(dfa, Recognizer(net.rnn, net.w, net.c, "ab"))
    with pytest.raises(ValueError, match="decodes to other names"):
        find_disagreement(machine(9, 2, 0), net)
    with pytest.raises(StateExplosionError, match="more than 3 states"):
        find_disagreement(dfa, net, max_states=3)


def test_unknown_activation():
    with pytest.raises(ValueError, match="softsign"):
        dfa_to_rnn(parity(), "softsign")


def test_grid_names_are_none_of_the_states():
    dfa = DFA(["row 0", "column 0"], "a", {("row 0", "a"): "row 0", ("column 0", "a"): "row 0"}, "row 0", [])
    assert not set(grid_names(dfa)) & {"row 0", "column 0"}


def test_ten_thousand_states_are_few_units_on_the_grid():
    assert one_hot_units(10_000, 4) == 40_001
    assert grid_units(10_000, 4) == 603


def test_each_unit_of_the_grid_says_what_it_computes():
    names = dfa_to_grid_rnn(divisible_by(50)).rnn.unit_names
    assert names[:3] == ("start", "phase 1", "phase 2")
    what = r"(row|column) (?:after \d+&\w+|above \d+)"
    found = [re.fullmatch(what, name) for name in names[3:]]
    assert None not in found
    assert {match[1] for match in found} == {"row", "column"}
