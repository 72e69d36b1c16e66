"""Nets that read a word, go on after its end, and answer once."""

import pickle
from itertools import islice

import pytest

from fhx.exact import EOS, Answer, HaltingNet, SimpleRNN


def after_pause(pause, value=1, steps_per_symbol=1):
    """A net over "ab" that answers when it has read so many end marks: a chain of units."""
    d = pause
    W = [[int(i == j + 1) for j in range(d)] for i in range(d)]
    U = [[0, 0, int(i == 0)] for i in range(d)]
    W = [[w - (i == 0) for w in row] for i, row in enumerate(W)]  # one end mark starts the chain, and only one
    rnn = SimpleRNN(W, U, [0] * d, [0] * d, "relu")
    return HaltingNet(rnn, [0] * (d - 1) + [value], 0, "ab", steps_per_symbol)


@pytest.mark.parametrize("word", ["", "a", "abba"])
@pytest.mark.parametrize(("pause", "value"), [(1, 1), (2, -1), (3, 1)])
def test_the_answer_is_the_first_output_after_the_word_that_is_not_0(word, pause, value):
    net = after_pause(pause, value)
    outputs = list(islice(net.outputs(word), len(word) + pause))
    assert outputs == [0] * (len(word) + pause - 1) + [value]
    assert net.answer(word, pause) == Answer(value, pause)
    assert net.answer(word, pause - 1) is None
    assert net.units == pause


def test_steps_per_symbol_are_pauses_and_count_once():
    assert after_pause(3, steps_per_symbol=3).answer("ab", 5) == Answer(1, 1)
    assert after_pause(6, steps_per_symbol=3).answer("ab", 5) == Answer(1, 2)


def test_the_run_begins_at_the_start_and_has_no_end():
    states = list(islice(after_pause(2).run("ab"), 100))
    assert states[:5] == [{}, {}, {}, {0: 1}, {1: 1}]
    assert len(states) == 100


def test_the_end_mark_is_one_thing_and_no_symbol():
    assert pickle.loads(pickle.dumps(EOS)) is EOS
    assert repr(EOS) == "EOS"
    net = after_pause(1)
    with pytest.raises(ValueError, match="EOS at position 1"):
        net.answer(["a", EOS], 3)
    with pytest.raises(ValueError, match="'c' at position 1 is outside"):
        net.answer("ac", 3)
    with pytest.raises(ValueError, match="max_steps must be an integer of at least 0, got -1"):
        net.answer("a", -1)
    with pytest.raises(ValueError, match=r"max_steps must be an integer of at least 0, got 2\.5"):
        net.answer("a", 2.5)
    with pytest.raises(ValueError, match="has no decoder"):
        net.decode({})


def test_sizes_must_fit_with_one_column_more_than_symbols():
    rnn = SimpleRNN([[0]], [[0, 0]], [0], [0], "relu")
    with pytest.raises(ValueError, match="has 3 symbols, but U has 2 columns"):
        HaltingNet(rnn, [1], 0, "ab")
    with pytest.raises(TypeError, match="no order"):
        HaltingNet(rnn, [1], 0, {"a"})
    with pytest.raises(ValueError, match=r"^the symbol 'b' comes twice in the alphabet$"):
        HaltingNet(SimpleRNN([[0]], [[0, 0, 0]], [0], [0], "relu"), [1], 0, "abb")


@pytest.mark.parametrize("collect", [list, tuple, sorted, lambda outputs: [*outputs]])
def test_what_goes_on_for_ever_is_not_collected(collect):
    net = after_pause(2)
    for endless in (net.outputs("aa"), net.run("aa"), net.input_columns("aa")):
        with pytest.raises(OverflowError, match="goes on for ever: take a part of it"):
            collect(endless)
        assert len(list(islice(endless, 5))) == 5
