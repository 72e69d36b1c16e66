"""The table of a net with one-hot states."""

import re
from fractions import Fraction

import pytest
import torch
from exact_nets import ABB, PARITY, machines, net, words
from hypothesis import given, settings
from hypothesis import strategies as st

import fhx
from fhx.exact import Recognizer, SimpleRNN


def moved(recognizer):
    return recognizer.to_table().to(fhx.device())


def changed(recognizer, **changes):
    """The recognizer with other parts of its SimpleRNN."""
    rnn = recognizer.rnn
    fields = {name: getattr(rnn, name) for name in ("W", "U", "b", "h0", "activation", "unit_names")} | changes
    return Recognizer(SimpleRNN(**fields), recognizer.w, recognizer.c, recognizer.alphabet, recognizer.steps_per_symbol)


@settings(max_examples=60)
@given(st.data(), machines())
def test_decisions_are_the_machine_s(data, machine):
    batch = data.draw(st.lists(words(machine.letters), max_size=6))
    assert moved(net(machine)).accepts(batch).tolist() == [machine.accepts(word) for word in batch]


@settings(max_examples=40)
@given(st.data(), machines(), st.integers(0, 20))
def test_decisions_at_every_step(data, machine, time):
    batch = data.draw(st.lists(st.text(machine.letters, min_size=time, max_size=time), max_size=4))
    ids = torch.tensor([[machine.letters.index(letter) for letter in word] for word in batch], dtype=torch.int64)
    decisions = moved(net(machine))(ids.reshape(len(batch), time).to(fhx.device()))
    assert decisions.dtype == torch.bool
    assert decisions.tolist() == [[q in machine.accept for q in machine.after(word)[1:]] for word in batch]


def test_the_table_is_read_off_the_weights():
    recognizer = net(ABB)
    table, rnn = recognizer.to_table(), recognizer.rnn
    for j in range(rnn.units):
        for a in range(2):
            sums = [rnn.W.column(j).get(i, 0) + rnn.U.column(a).get(i, 0) + rnn.b[i] for i in range(rnn.units)]
            assert [int(value > 0) for value in sums] == [int(i == table.next[j, a]) for i in range(rnn.units)]
    assert table.read.tolist() == [bool(value) for value in recognizer.w]
    assert rnn.unit_names[table.start] == "start"


def test_units_where_no_word_leads():
    """They may do anything: the table has no row for them."""
    rnn = SimpleRNN([[1, 7], [0, 7]], [[0], [0]], [0, 0], [1, 0], "relu", ["here", "never"])
    table = Recognizer(rnn, [1, 5], 0, "a").to_table()
    assert table.next.tolist() == [[0], [-1]]
    assert table.accepts(["", "aaa"]).tolist() == [True, True]


def test_other_weights_give_another_table():
    """Swap where the two units q0&1 and q1&1 lead, and the language is another."""
    recognizer = net(PARITY)
    W = [list(row) for row in recognizer.rnn.W.dense()]
    for row in W:
        row[1], row[3] = row[3], row[1]
    other = changed(recognizer, W=W)
    assert (
        other.to_table().accepts(["1", "11", "0"]).tolist() != recognizer.to_table().accepts(["1", "11", "0"]).tolist()
    )
    assert other.to_table().accepts(["1", "11", "0"]).tolist() == [other.accepts(word) for word in ("1", "11", "0")]


@pytest.mark.parametrize("pause", [1, 2])
def test_steps_between_symbols(pause):
    """Only the states that are read need be one-hot; here the machine's states hold through the pauses."""
    given_words = ["", "abb", "aabb", "ba", "abbb"]
    assert net(ABB, pause).to_table().accepts(given_words).tolist() == [ABB.accepts(word) for word in given_words]


def test_a_start_that_is_not_one_hot():
    """Units that show the last symbol, and a start that is none of them: its row comes after the units'."""
    rnn = SimpleRNN([[0, 0], [0, 0]], [[1, 0], [0, 1]], [0, 0], [Fraction(1, 2), Fraction(1, 2)], "relu", ["a", "b"])
    with pytest.raises(ValueError, match=re.escape("the output at the state {a: 1/2, b: 1/2} is 1/2: neither")):
        Recognizer(rnn, [1, 0], 0, "ab").to_table()
    with pytest.raises(ValueError, match=re.escape("the output at the state {b: 1} is -1: neither")):
        Recognizer(rnn, [1, -1], 0, "ab").to_table()
    rnn = SimpleRNN([[0, 0], [0, 0]], [[1, 0], [0, 1]], [0, 0], [-1, 1], "relu", ["a", "b"])
    table = Recognizer(rnn, [1, 1], 0, "ab").to_table()
    assert (table.start, table.next.tolist()) == (2, [[0, 1]] * 3)
    assert table.accepts(["", "a", "ab"]).tolist() == [False, True, True]


def test_the_first_step_that_leaves_the_one_hot_states():
    rnn = SimpleRNN([[0, 1], [1, 1]], [[0, 0], [0, -1]], [0, 0], [1, 0], "relu", ["p", "q"])
    with pytest.raises(
        ValueError, match=re.escape("the symbol 'b' leads from the state {p: 1} to the state {}, which")
    ):
        Recognizer(rnn, [0, 1], 0, "ab").to_table()
    rnn = SimpleRNN([[0, 1], [1, 1]], [[0, 0], [0, 0]], [0, 0], [1, 0], "relu", ["p", "q"])
    with pytest.raises(
        ValueError, match=re.escape("the symbol 'a' leads from the state {q: 1} to the state {p: 1, q: 1}")
    ):
        Recognizer(rnn, [0, 1], 0, "ab").to_table()
    rnn = SimpleRNN([[2]], [[0]], [0], [1], "relu", ["p"])
    with pytest.raises(ValueError, match=re.escape("to the state {p: 2}, which is not one-hot")):
        Recognizer(rnn, [1], 0, "a").to_table()


def test_an_output_that_decides_nothing():
    recognizer = net(PARITY)
    with pytest.raises(ValueError, match=re.escape("the output at the state {q0&0: 1} is 2: neither 1 (accept) nor 0")):
        Recognizer(recognizer.rnn, [2, 0, 0, 0, 0], 0, "01").to_table()


def test_a_readout_with_a_bias():
    recognizer = net(ABB)
    complement = Recognizer(recognizer.rnn, [-value for value in recognizer.w], 1, "ab")
    assert complement.to_table().accepts(["", "abb", "ab"]).tolist() == [True, False, True]


def test_ids_and_symbols_outside_the_alphabet():
    table = net(ABB).to_table()
    for wrong in (2, -1):
        with pytest.raises(ValueError, match=re.escape("ids must lie in 0..1")):
            table(torch.tensor([[0, 1, wrong]]))
    with pytest.raises(ValueError, match=re.escape("the symbol 'c' at position 1 is outside the alphabet")):
        table.accepts(["a", "bc"])


def test_small_integers_will_do():
    table = net(ABB).to_table()
    assert table(torch.tensor([[0, 1, 1]], dtype=torch.uint8)).tolist() == [[False, False, True]]


def test_it_is_shown_in_a_line():
    rnn = "SimpleRNN(units=1, input_size=1, activation='relu')"
    table = Recognizer(SimpleRNN([[1]], [[0]], [0], [1], "relu"), [1], 0, "a").to_table()
    assert repr(table) == f"TableRecognizer(Recognizer({rnn}, alphabet=('a',)))"
