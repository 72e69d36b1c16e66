"""Theorem 4.7: every language by one net whose start is real, and how many digits of it a run sees."""

from fractions import Fraction
from itertools import count, islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import (
    TABLE_ALPHABET,
    copy_words,
    digit_bound,
    halting_words,
    language_to_rnn,
    prime_words,
    step_bound,
    table_halts,
    table_machine,
)
from fhx.exact import HaltingNet, LazyReal
from fhx.exact.stacks import decode, encode
from fhx.machines import Verdict
from fhx.machines.words import all_words


def searched(word, listed):
    """The search, as a loop over strings: the answer, and how many symbols of the list it read."""
    read = 0
    for other in listed:
        read += min(len(word), len(other)) + 1
        if len(other) > len(word):
            return -1, read
        if other == word:
            return 1, read
    return -1, read + 1


@st.composite
def languages(draw, letters="abc", longest=4, most=8):
    """An alphabet and a finite language in order."""
    alphabet = letters[: draw(st.integers(1, len(letters)))]
    words = draw(st.sets(st.text(alphabet=alphabet, max_size=longest), max_size=most))
    return alphabet, sorted(words, key=lambda word: (len(word), word))


def agree(net, word, listed):
    """Answer, time and digits of one word, and the bounds on them."""
    bound = step_bound(len(word), sum(len(other) <= len(word) for other in listed))
    value, steps, digits = net.look_up(word, bound)
    wanted, read = searched(word, listed)
    assert (value, steps) == (wanted, read + 2)
    assert digits == digit_bound(steps) == read
    return steps


@pytest.mark.claim("C11")
@settings(max_examples=40, deadline=None)
@given(languages(), st.integers(3, 5), st.data())
def test_finite_languages(language, base, data):
    alphabet, words = language
    net = language_to_rnn(alphabet, words, base)
    for word in [*words, *data.draw(st.lists(st.text(alphabet=alphabet, max_size=6), min_size=4, max_size=8))]:
        agree(net, word, words)
        assert net.decide(word).accepted == (word in words)


@settings(max_examples=20, deadline=None)
@given(languages(longest=3, most=5), st.integers(3, 4), st.data())
def test_every_state_is_that_of_the_rational_net(language, base, data):
    """Against the dense definition, on a list that ends: tail for tail the same numbers."""
    alphabet, words = language
    net = language_to_rnn(alphabet, words, base)
    word = data.draw(st.text(alphabet=alphabet, max_size=4))
    steps = len(word) + net.look_up(word).steps + 3
    listed = [symbol for other in words for symbol in (*other, "#")]
    rational = net.truncated(len(listed)).rnn
    columns = [alphabet.index(symbol) for symbol in word] + [len(alphabet)] * (steps - len(word))
    one_hot = [[int(j == column) for j in range(len(alphabet) + 1)] for column in columns]
    wanted = [rational.h0, *rational.reference_states(one_hot)]
    components = dict(zip(net.reals, range(len(alphabet) + 1), strict=True))
    for state, values in zip(net.run(word), wanted, strict=False):
        for unit, value in enumerate(values):
            held = state.get(unit, 0)
            if isinstance(held, LazyReal):
                held = held.at(encode(listed[held.place :], (*alphabet, "#"), base)[components[_real_of(held, net)]])
            assert held == value


def _real_of(value, net):
    return next(unit for unit, stream in net.reals.items() if value.seen.stream is stream)


@settings(max_examples=40, deadline=None)
@given(languages(longest=3, most=5), st.integers(3, 4), st.data())
def test_the_state_by_name_is_the_search(language, base, data):
    """At each step: what was read of the list, what is still to be compared, and whether there was a difference."""
    alphabet, words = language
    net = language_to_rnn(alphabet, words, base)
    word = data.draw(st.text(alphabet=alphabet, max_size=4))
    listed, symbols = "".join(f"{other}#" for other in words), (*alphabet, "#")
    states = map(net.decode, net.run(word))
    for t, state in zip(range(len(word) + 1), states, strict=False):
        assert (state["load"], state["searching"]) == (1, 0)
        assert decode([state[f"copy[{a}]"] for a in alphabet], alphabet, base) == tuple(word[:t])
        assert state["gap"] == Fraction(1, base ** (t + 1))
    left, equal = "", False
    steps = net.look_up(word).steps
    for t, mark in enumerate(("#" + listed + " ")[: steps - 1]):
        state = next(states)
        read = "".join(c for c in symbols if state[f"read[{c}]"])
        assert read == mark.strip()
        assert (state["load"], state["gap"], state["searching"], state["equal"]) == (0, 0, 1, int(equal))
        assert "".join(a for a in alphabet if state[f"letter[{a}]"]) == left[:1]
        assert decode([state[f"rest[{a}]"] for a in alphabet], alphabet, base) == tuple(left[1:])
        for c in symbols:
            tail = state[f"list[{c}]"]
            assert (tail.slope, tail.offset, tail.place) == (1, 0, t)
        left, equal = (word, True) if mark == "#" else (left[1:], equal and left[:1] == mark)


@pytest.mark.claim("E4")
@pytest.mark.parametrize("word", ["", "a", "abab", "abba", "bbbbb"])
def test_one_answer_and_zeros_around_it(word):
    net = language_to_rnn("ab", copy_words)
    value, steps, digits = net.look_up(word)
    assert net.truncated(digits).answer(word, steps) == (value, steps)
    outputs = list(islice(net.outputs(word), len(word) + steps + 60))
    assert outputs == [0] * (len(word) + steps - 1) + [value] + [0] * 60
    run = net.run(word)
    looked = [run.digits for _ in islice(run, len(word) + steps + 60)]
    assert looked == [min(digit_bound(t + 1 - len(word)), steps - 1) for t in range(len(word) + steps + 60)]
    run = net.run(word)
    looked = [run.digits for _ in islice(run.read_out(net.empty.w), len(word) + steps)]
    assert looked == [digit_bound(t - len(word)) for t in range(len(word) + steps)]
    answered, later = (net.decode(state) for state in islice(net.run(word), len(word) + steps, len(word) + steps + 2))
    assert answered["accept"] - answered["reject"] == value
    for state in (answered, later):
        assert state["searching"] == state["equal"] == state["load"] == state["gap"] == 0


def test_copies_and_primes_against_membership():
    net = language_to_rnn("ab", copy_words)
    for word in all_words("ab", 6):
        half = len(word) // 2
        assert net.decide(word).accepted == (word[:half] * 2 == word)
    unary = language_to_rnn("1", prime_words)
    for n in range(45):
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        assert unary.decide("1" * n).accepted == (len(divisors) == 2)
    steps = agree(unary, "1" * 97, list(islice(prime_words(), 30)))
    assert steps == 2 + sum(p + 1 for p in range(2, 98) if all(p % d for d in range(2, p)))


def test_small_languages():
    """The empty language, the empty word, and words longer than all of the language."""
    for words, yes, no in (([], [], ["", "a", "ab"]), ([""], [""], ["a", "ba"]), (["", "b"], ["", "b"], ["a", "bb"])):
        net = language_to_rnn("ab", words)
        assert all(net.decide(word).accepted is True for word in yes)
        assert all(net.decide(word).accepted is False for word in no)
        assert net.words.ended
    assert language_to_rnn("ab", []).decide("") == Verdict(False, 3)
    assert step_bound(0, 0) == 3


def test_all_of_a_language_is_in_its_start():
    """Same weights, same readout for all languages; they are rational, and so is the start but for the list."""
    nets = [language_to_rnn("ab", words) for words in (copy_words, [], ["a", "bb"])]
    assert len({(net.empty.rnn.W, net.empty.rnn.U, net.empty.rnn.b, net.empty.w, net.empty.c) for net in nets}) == 1
    assert nets[0].empty.c == 0
    assert not any(nets[0].truncated(0).rnn.h0[unit] for unit in nets[0].reals)
    assert [net.h0[unit].truncated(6) for net, unit in zip(nets, nets[0].reals, strict=False)] == [
        encode("#aa#bb", "ab#")[0],
        0,
        encode("a#bb#", "ab#")[2],
    ]
    assert sum(isinstance(value, int) for value in nets[0].h0) == nets[0].units - 3


@pytest.mark.parametrize("letters", ["a", "ab", "abcdef", ("left", 1, "#", "1")])
def test_units(letters):
    net = language_to_rnn(letters, [(letters[0],), tuple(letters[-1:] * 2)])
    assert net.units == 13 * len(letters) + 13 == net.empty.rnn.units
    assert (net.alphabet, len(net.reals)) == (tuple(letters), len(letters) + 1)
    assert net.decide(letters[-1:] * 2).accepted
    assert net.decide(()).accepted is False
    assert len(set(net.empty.rnn.unit_names)) == net.units


def test_names_of_units():
    assert language_to_rnn("a", []).empty.rnn.unit_names == (
        *("start", "load", "gap", "searching", "accept", "word over", "list over", "again", "equal a"),
        *("copy[a]", "append a", "first a", "first a-1", "next a", "next a-1", "reload a", "rest[a]"),
        *("read a", "read a-1", "hold list[a]", "list[a]", "read #", "read #-1", "begin", "hold list[#]", "list[#]"),
    )


@settings(max_examples=40, deadline=None)
@given(languages(longest=3), st.integers(3, 4), st.data())
def test_a_run_sees_no_digit_beyond_its_bound(language, base, data):
    """Whatever stands behind T - 2 digits, the outputs up to T are the same, and all bits up to T - 1."""
    alphabet, words = language
    net = language_to_rnn(alphabet, words, base)
    word = data.draw(st.text(alphabet=alphabet, max_size=4))
    steps = net.look_up(word).steps
    listed = [symbol for other in words for symbol in (*other, "#")]
    behind = data.draw(st.lists(st.sampled_from((*alphabet, "#", None)), max_size=6))
    symbols = [*listed, *[None] * steps][: digit_bound(steps)] + behind
    start = list(net.empty.rnn.h0)
    for unit, value in zip(net.reals, encode(symbols, (*alphabet, "#"), base), strict=True):
        start[unit] = value
    other = _with_start(net.empty, start)
    outputs = list(islice(other.outputs(word), len(word) + steps + 12))
    assert outputs == list(islice(net.outputs(word), len(outputs)))
    bits = [f"{kind}[{c}]" for kind in ("read", "letter") for c in alphabet] + ["read[#]", "equal", "searching"]
    for ours, theirs in islice(zip(net.run(word), other.run(word), strict=False), len(word) + steps):
        assert {bit: net.decode(ours)[bit] for bit in bits} == {bit: other.decode(theirs)[bit] for bit in bits}


def _with_start(net, start):
    rnn = type(net.rnn)(net.rnn.W, net.rnn.U, net.rnn.b, start, "relu", net.rnn.unit_names)
    return HaltingNet(rnn, net.w, net.c, net.alphabet, decoder=net.decoder)


@pytest.mark.claim("C12", "E4")
@pytest.mark.parametrize("word", ["", "a", "ab", "abab", "bbab"])
def test_the_truncated_net_is_right_until_then_and_one_digit_less_is_too_few(word):
    """The last digit seen is the # behind the word, and without it the list seems to end there."""
    net = language_to_rnn("ab", all_words("ab", 4))
    value, steps, digits = net.look_up(word)
    assert (value, digits) == (1, digit_bound(steps))
    assert net.truncated(digits).answer(word, steps) == (1, steps)
    assert net.truncated(digits - 1).answer(word, steps) == (-1, steps)


def test_the_step_bound_is_met():
    """N words as long as ours, none of them ours, and then a longer one."""
    for n in range(1, 5):
        words = [*map("".join, product("ab", repeat=n)), "a" * (n + 1)]
        assert language_to_rnn("abc", words).decide("c" * n).steps == step_bound(n, 2**n)


def test_no_more_words_are_read_than_needed():
    net = language_to_rnn("a", ("a" * n for n in count()))
    assert net.words.count == 0
    assert net.decide("aa") == Verdict(True, 8)
    assert net.words.count == 3
    assert net.decide("a") == Verdict(True, 5)
    assert net.words.count == 3


def test_an_answer_may_be_cut_off():
    net = language_to_rnn("ab", copy_words)
    steps = net.decide("abab").steps
    assert net.decide("abab", steps - 1) == Verdict(None, steps - 1)
    assert net.decide("abab", steps) == Verdict(True, steps)
    assert net.look_up("abab", 0) == (0, 0, 0)


def simulated(word, steps):
    """A machine of the table on a tape of its own: after how many steps it halts, the halting one included, or None."""
    rows = {"A": word[:2], "B": word[2:]}
    tape, head, state = [0] * (2 * steps + 1), steps, "A"
    for t in range(1, steps + 1):
        place = TABLE_ALPHABET.index(rows[state][tape[head]])
        if place == 0:
            return t
        place -= 1
        tape[head], head, state = place // 4, head + (1 if place // 2 % 2 else -1), "AB"[place % 2]
    return None


def test_the_halting_table_is_right():
    """S(2) = 6 is reached, and no machine that runs for longer halts within 60 steps."""
    times = {word: simulated(word, 60) for word in map("".join, product(TABLE_ALPHABET, repeat=4))}
    halting = [word for word, steps in times.items() if steps]
    assert list(halting_words()) == halting
    assert len(halting) == 1165
    assert max(times[word] for word in halting) == 6
    assert sum(times[word] == 6 for word in halting) == sum(table_halts(w) and not table_halts(w, 5) for w in halting)
    assert table_machine("h.ce") == {("A", 0): (1, "R", "B"), ("B", 0): (0, "R", "A"), ("B", 1): (1, "L", "A")}


def test_a_net_decides_the_halting_problem_of_its_table():
    net = language_to_rnn(TABLE_ALPHABET, halting_words)
    for word in ("....", ".aaa", ".hca", "cccc"):
        assert net.decide(word).accepted == (simulated(word, 60) is not None)
    assert net.decide("hh").accepted is False
    assert net.units == 130


def test_bad_words():
    def faulty(*words):
        return language_to_rnn("ab", words).decide("bbbb")

    with pytest.raises(ValueError, match="strict length-then-alphabet order, but 'b' stands before 'a'"):
        faulty("b", "a")
    with pytest.raises(ValueError, match="but 'aa' stands before 'b'"):
        faulty("", "aa", "b")
    with pytest.raises(ValueError, match="but 'a' stands before 'a'"):
        faulty("a", "a")
    with pytest.raises(ValueError, match="the symbol 'c' of the listed word 'ac' is outside the alphabet"):
        faulty("a", "ac")
    with pytest.raises(TypeError, match="word 2 of the language is 5, which is not a sequence of symbols"):
        faulty("a", 5)
    with pytest.raises(ValueError, match=r"the symbol \[\] of the listed word"):
        faulty([[]])


def test_a_fault_is_told_again():
    """A list that broke does not count as one that ended."""

    def broken():
        yield "a"
        raise RuntimeError("no more")

    net = language_to_rnn("ab", broken)
    for _ in range(2):
        assert net.decide("a").accepted
        with pytest.raises(RuntimeError, match="no more"):
            net.decide("bb")


def test_bad_input():
    with pytest.raises(TypeError, match="the words are the one string 'ab'"):
        language_to_rnn("ab", "ab")
    with pytest.raises(TypeError, match="the words are a set, which has no order"):
        language_to_rnn("ab", {"a"})
    with pytest.raises(TypeError, match="must be an iterable, not the int 5"):
        language_to_rnn("ab", 5)
    with pytest.raises(TypeError, match="must have an order"):
        language_to_rnn({"a"}, [])
    with pytest.raises(ValueError, match="the alphabet is empty"):
        language_to_rnn("", [])
    with pytest.raises(ValueError, match="'a' comes twice"):
        language_to_rnn("aa", [])
    with pytest.raises(ValueError, match="base must be an integer of at least 3"):
        language_to_rnn("ab", [], base=2)
    net = language_to_rnn("ab", ["a"])
    with pytest.raises(ValueError, match="'c' at position 1 is outside the alphabet"):
        net.decide("ac")
    with pytest.raises(ValueError, match="max_steps must be an integer of at least 0, got -1"):
        net.decide("a", -1)
    with pytest.raises(ValueError, match="unit 99"):
        net.decode({99: 1})
    with pytest.raises(ValueError, match=r"four letters of \.abcdefgh, got 'hhhi'"):
        table_machine("hhhi")
