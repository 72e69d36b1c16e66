"""Cascades of automata as stacks of two layers: their states are those of the machines, after all words."""

from itertools import product
from random import Random

import pytest

from fhx.compile import cascade_to_rnns
from fhx.machines import DFA


def machine(states, letters, step):
    return DFA(states, letters, {(q, x): step(q, x) for q in states for x in letters}, states[0], {states[0]})


FIRST = machine("pq", "abc", lambda q, x: q if x == "a" else "pq"[q == "p"])
SECOND = machine([0, 1, 2], "+-", lambda n, c: (n + (1 if c == "+" else 2)) % 3)
LINK = {(q, x): "+-"[(q == "p") ^ (x == "c")] for q in "pq" for x in "abc"}
NET = cascade_to_rnns(FIRST, SECOND, LINK)


def expected(word):
    q, n = "p", 0
    for x in word:
        n, q = SECOND.step(n, LINK[q, x]), FIRST.step(q, x)
        yield q, n


def test_states_are_those_of_the_machines_after_every_word():
    words = [*product("abc", repeat=4), Random(0).choices("abc", k=200)]
    assert all([*NET.states(word)] == [*expected(word)] for word in words)


def test_every_reachable_state_of_the_net_goes_where_the_machines_go():
    """There are finitely many, so this is a proof for words of any length."""
    seen, rest = {NET.start: NET.read(NET.start)}, [NET.start]
    while rest:
        h = rest.pop()
        q, n = seen[h]
        for x in "abc":
            after = NET.step(h, x)
            read = FIRST.step(q, x), SECOND.step(n, LINK[q, x])
            assert NET.read(after) == read
            if after not in seen:
                seen[after] = read
                rest.append(after)
    assert {*seen.values()} == {*product("pq", [0, 1, 2])}


def test_the_second_layer_reads_the_first_alone():
    first, second = NET.layers
    assert second.input_size == first.units
    assert NET.units == 2 * 3 + 3 * 2 + 2
    assert all(weight in (0, 1) for row in second.U.dense() for weight in row)


def test_the_decoders_know_the_start():
    for layer, decoder, wanted in zip(NET.layers, NET.decoders, ([1, 0], [1, 0, 0]), strict=True):
        assert [*(decoder @ layer.h0)] == wanted


def test_bad_input():
    with pytest.raises(ValueError, match=r"\('q', 'c'\) to no letter"):
        cascade_to_rnns(FIRST, SECOND, {pair: c for pair, c in LINK.items() if pair != ("q", "c")})
    with pytest.raises(ValueError, match="to no letter"):
        cascade_to_rnns(FIRST, SECOND, {**LINK, ("p", "a"): "0"})
    with pytest.raises(ValueError, match="'d' is not a letter"):
        NET.step(NET.start, "d")
    with pytest.raises(TypeError, match="cascade_to_rnns"):
        cascade_to_rnns(FIRST, "second", LINK)
