"""Counter machines as ReLU nets: the same configurations at every step, as many units as said, few bits."""

from math import log

import pytest
from counter_machines import counter_machines, plain_run, plainly_accepts, words_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import (
    counter_units,
    counters_to_rnn,
    dfa_to_rnn,
    lstm_gain,
    lstm_units,
    marked_palindromes,
    read_counters,
)
from fhx.compile.counter_cells import pair_cells
from fhx.machines import COUNTER_MACHINES, NAMED, CounterMachine, all_words

UNITS = {
    "a^n b^n": (9, 7),
    "a^n b^n c^n": (18, 12),
    "dyck-1": (7, 5),
    "two dyck-1 shuffled": (15, 9),
    "anagrams": (17, 10),
    "majority": (13, 8),
    "a^n b^m": (10, 8),
    "squares": (26, 14),
}
LONGEST = {1: 100, 2: 9, 3: 6, 4: 5}


@pytest.mark.claim("E25")
@settings(max_examples=60)
@given(counter_machines(), st.data())
def test_the_net_is_in_the_configuration_of_the_machine(machine, data):
    net = counters_to_rnn(machine)
    assert net.rnn.is_integer
    assert net.units == counter_units(machine)
    word = data.draw(words_of(machine, 25))
    largest = 0
    for t, (at, h) in enumerate(zip(plain_run(machine, word), net.run(word), strict=True)):
        found = read_counters(machine, net.decode(h))
        assert found == (at and (at[0], tuple(at[1])))
        largest = max(largest, *h.values(), 0)
        assert largest <= max(1, t - 1)
    verdicts = [plainly_accepts(machine, word[:t]) for t in range(len(word) + 1)]
    assert [net.accepts(""), *net.outputs(word)] == verdicts


@pytest.mark.parametrize("name", COUNTER_MACHINES)
def test_the_nets_of_the_named_machines(name):
    machine = COUNTER_MACHINES[name]
    net = counters_to_rnn(machine)
    assert (net.units, lstm_units(machine)) == UNITS[name]
    words = list(all_words(machine.alphabet, LONGEST[len(machine.alphabet)]))
    assert [w for w in words if net.accepts(w) != machine.accepts(w)] == []


@pytest.mark.claim("E25")
@settings(max_examples=50)
@given(counter_machines())
def test_units_are_linear_in_what_is_written_down(machine):
    k, R = machine.counters, len(machine.transitions)
    assert counter_units(machine) <= 1 + 2 * k + (k + 2) * R
    pairs = {(q, a) for q in machine.states for a in machine.alphabet}
    assert lstm_units(machine) <= 1 + k + sum(2 ** len(machine.tested(*pair)) for pair in pairs)


@pytest.mark.parametrize("name", NAMED)
def test_without_counters_it_is_the_net_of_the_automaton(name):
    dfa = NAMED[name]
    moves = {(q, a, ""): (target, ()) for (q, a), target in dfa.transitions.items()}
    machine = CounterMachine(dfa.states, dfa.alphabet, 0, moves, dfa.start, dfa.accept)
    assert counter_units(machine) == dfa_to_rnn(dfa).units
    net = counters_to_rnn(machine)
    for word in all_words(dfa.alphabet, 3 if len(dfa.alphabet) > 2 else 6):
        assert net.accepts(word) == dfa.accepts(word)


def test_a_long_count_takes_few_bits():
    net = counters_to_rnn(COUNTER_MACHINES["a^n b^n"])
    n = 3000
    word = "a" * n + "b" * n
    assert net.accepts(word)
    assert not net.accepts(word + "b")
    assert max(max(h.values()) for h in net.run(word)) == n
    assert n.bit_length() == 12


def test_only_states_of_the_net_are_read():
    machine = COUNTER_MACHINES["a^n b^n"]
    net = counters_to_rnn(machine)
    *_, last = net.run("aab")
    held = net.decode(last)
    assert read_counters(machine, held) == ("bs", (1,))
    with pytest.raises(ValueError, match="it has no 'c0'"):
        read_counters(machine, {"as": 1, "bs": 0})
    with pytest.raises(ValueError, match="in 2 states at once"):
        read_counters(machine, {**held, "as": 1})
    with pytest.raises(ValueError, match="this is not a state"):
        read_counters(machine, {**held, "as": 2, "bs": 0})


def test_only_counter_machines_are_taken():
    for function in (counters_to_rnn, counter_units, lstm_units, lambda m: lstm_gain(m, 5)):
        with pytest.raises(TypeError, match="needs a CounterMachine"):
            function(NAMED["parity"])
    with pytest.raises(TypeError, match="read_counters"):
        read_counters(NAMED["parity"], {})
    with pytest.raises(ValueError, match="length must be"):
        lstm_gain(COUNTER_MACHINES["dyck-1"], 0)


# The cells of the LSTM


@settings(max_examples=50)
@given(counter_machines(), st.data())
def test_pair_cells_add_up_to_the_move_that_is_made(machine, data):
    """For every configuration that may be: by inclusion and exclusion, state and moves of the one transition."""
    q, a = data.draw(st.sampled_from(machine.states)), data.draw(st.sampled_from(machine.alphabet))
    counts = data.draw(st.lists(st.integers(0, 2), min_size=machine.counters, max_size=machine.counters))
    total = {}
    for cell in pair_cells(machine):
        if (cell.state, cell.symbol) == (q, a) and all(counts[i] == 0 for i in cell.zeros):
            for key, number in cell.reads.items():
                total[key] = total.get(key, 0) + number
    expected = {}
    for rule in machine.rules:
        if (rule.state, rule.symbol) == (q, a) and rule.applies(counts):
            expected = {("state", rule.target): 1}
            expected |= {("up" if m > 0 else "down", i): 1 for i, m in enumerate(rule.moves) if m}
    assert {key: number for key, number in total.items() if number} == expected


@pytest.mark.parametrize("name", COUNTER_MACHINES)
def test_the_gain_grows_as_twice_the_logarithm(name):
    gains = [lstm_gain(COUNTER_MACHINES[name], 10**e) for e in range(13)]
    assert gains == sorted(gains)
    per_decade = (gains[12] - gains[6]) / 6
    assert abs(per_decade - 2 * log(10)) < 0.4


# A stack in one number


def marked(word):
    before, mark, after = word.partition("#")
    return bool(mark) and after == before[::-1]


def test_marked_palindromes_of_all_short_words():
    net = marked_palindromes()
    assert net.units == 20
    words = list(all_words("ab#", 8))
    assert [w for w in words if net.accepts(w) != marked(w)] == []


@given(st.text("ab", max_size=40), st.integers(0, 80), st.sampled_from("ab#"))
def test_marked_palindromes_of_long_words(w, place, letter):
    net = marked_palindromes()
    word = f"{w}#{w[::-1]}"
    assert net.accepts(word)
    near = word[:place] + letter + word[place + 1 :]
    assert net.accepts(near) == marked(near)


@given(st.text("ab", max_size=30))
def test_the_stack_has_two_bits_for_each_letter(w):
    net = marked_palindromes()
    *_, last = net.run(w)
    digits = ["31"[letter == "a"] for letter in w]
    assert net.decode(last)["stack"] * 4 ** len(w) == int("".join(reversed(digits)) or "0", 4)
