"""Sets of words: equivalence with a shortest word, set operations, regular expressions, automata-lib."""

import operator
import random
import re
import time
from collections import deque

import pytest
from automata.fa.dfa import DFA as LibraryDFA
from automata.fa.nfa import NFA as LibraryNFA
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from machine_strategies import dfas, plainly_accepts

from fhx.machines import DFA, Comparison, all_words

ABB = DFA.from_regex("(a|b)*abb", alphabet="ab")


# Equivalence


def shortest_difference(left, right):
    """The length of a shortest word that tells two machines apart, by visiting every pair of states; None if none."""
    depth = {(left.start, right.start): 0}
    queue = deque(depth)
    while queue:
        p, q = queue.popleft()
        if (p in left.accept) != (q in right.accept):
            return depth[p, q]
        for x in left.alphabet:
            pair = left.transitions[p, x], right.transitions[q, x]
            if pair not in depth:
                depth[pair] = depth[p, q] + 1
                queue.append(pair)
    return None


@settings(max_examples=60)
@given(dfas(max_states=3, alphabet="ab"), dfas(max_states=3, alphabet="ba"))
def test_equivalent_against_all_words(left, right):
    words = all_words("ab", len(left.states) + len(right.states))
    differing = [len(word) for word in words if plainly_accepts(left, word) != plainly_accepts(right, word)]
    found = left.equivalent(right)
    assert bool(found) == (not differing) == (left.to_automata_lib() == right.to_automata_lib())
    if differing:
        assert len(found.word) == min(differing)
        assert plainly_accepts(left, found.word) != plainly_accepts(right, found.word)
    else:
        assert found.word is None


@settings(max_examples=60)
@given(st.data())
def test_equivalent_against_all_pairs_of_states(data):
    """One transition or one accepting state moved: the two machines are close, and differ late or not at all."""
    left = data.draw(dfas())
    pair = data.draw(st.sampled_from(list(left.transitions)))
    moved = dict(left.transitions) | {pair: data.draw(st.sampled_from(left.states))}
    flipped = left.accept ^ {data.draw(st.sampled_from(left.states))} if data.draw(st.booleans()) else left.accept
    right = DFA(left.states, left.alphabet, moved, left.start, flipped)
    found, length = left.equivalent(right), shortest_difference(left, right)
    assert (len(found.word) if found.word is not None else None) == length
    assert bool(found) == (length is None) == (left.to_automata_lib() == right.to_automata_lib())
    if found.word is not None:
        assert plainly_accepts(left, found.word) != plainly_accepts(right, found.word)


@settings(max_examples=30)
@given(dfas())
def test_a_machine_is_equivalent_to_all_its_forms(dfa):
    for other in (dfa, dfa.minimize(), dfa.canonical(), DFA.from_automata_lib(dfa.to_automata_lib(), dfa.alphabet)):
        assert dfa.equivalent(other) == Comparison(None)


def test_a_shortest_word_may_be_as_long_as_both_machines():
    """At least 31 and at least 32 symbols: they differ on 31. Multiples of 7 and of 11 symbols: on 7."""
    above = [DFA(range(n + 1), "a", {(q, "a"): min(q + 1, n) for q in range(n + 1)}, 0, [n]) for n in (31, 32)]
    assert above[0].equivalent(above[1]).word == "a" * 31
    divisible = [DFA(range(n), "a", {(q, "a"): (q + 1) % n for q in range(n)}, 0, [0]) for n in (7, 11)]
    assert divisible[0].equivalent(divisible[1]).word == "a" * 7


@pytest.mark.parametrize(
    ("alphabet", "word"),
    [("ab", "ba"), (["go", "stop"], ("stop", "go")), ((0, 1), (1, 0)), (["a", 1], (1, "a")), (["", "a"], ("a", ""))],
)
def test_a_word_is_a_string_if_symbols_are_characters(alphabet, word):
    first, second = alphabet
    after = {0: {first: 0, second: 1}, 1: {first: 2, second: 1}, 2: {first: 2, second: 2}}
    machine = DFA(range(3), alphabet, {(q, x): after[q][x] for q in after for x in alphabet}, 0, [2])
    nothing = DFA([0], alphabet, {(0, x): 0 for x in alphabet}, 0, [])
    assert machine.equivalent(nothing) == Comparison(word)
    assert machine.accepts(word)


def test_the_empty_word_is_a_difference_too():
    assert ABB.equivalent(~ABB).word == ""


@pytest.mark.parametrize("compare", [DFA.equivalent, operator.and_, operator.or_, operator.sub, operator.xor])
def test_alphabets_must_agree(compare):
    with pytest.raises(ValueError, match=r"\('a', 'b'\) and \('a', 'c'\)"):
        compare(ABB, DFA.from_regex("a", "ac"))


# Set operations

OPERATIONS = {
    operator.and_: lambda p, q: p and q,
    operator.or_: lambda p, q: p or q,
    operator.sub: lambda p, q: p and not q,
    operator.xor: lambda p, q: p != q,
}


def product_machine(left, right, decide):
    """The machine of pairs of states, all of them."""
    pairs = [(p, q) for p in left.states for q in right.states]
    return DFA(
        pairs,
        left.alphabet,
        {((p, q), x): (left.transitions[p, x], right.transitions[q, x]) for p, q in pairs for x in left.alphabet},
        (left.start, right.start),
        [(p, q) for p, q in pairs if decide(p in left.accept, q in right.accept)],
    )


@settings(max_examples=40)
@given(st.sampled_from([("ab", "ba"), ((2, 0, 1), (0, 1, 2)), (["x1", "x2"], ["x2", "x1"])]), st.data())
def test_set_operations_are_the_products(alphabets, data):
    left, right = (data.draw(dfas(max_states=8, alphabet=alphabet)) for alphabet in alphabets)
    for operation, decide in OPERATIONS.items():
        assert operation(left, right) == product_machine(left, right, decide).minimize().canonical()


@settings(max_examples=30)
@given(dfas(max_states=10, alphabet="ab"), dfas(max_states=10, alphabet="ab"))
def test_de_morgan(left, right):
    assert (~(left & right)).equivalent(~left | ~right)
    assert (left ^ right).equivalent((left - right) | (right - left))
    assert ~~left == left
    assert not left.equivalent(~left)


def test_only_machines_are_combined():
    with pytest.raises(TypeError, match="unsupported operand"):
        ABB & "ab"


# Regular expressions

expressions = st.recursive(
    st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", "()"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda both: f"({both[0]}|{both[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(lambda both: f"({both[0]}){both[1]}"),
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(expressions)
def test_from_regex_against_re(expression):
    dfa = DFA.from_regex(expression, alphabet="abc")
    assert dfa.minimize().canonical() == dfa
    for word in all_words("abc", 4):
        assert dfa.accepts(word) == bool(re.fullmatch(expression, word)), word


def test_the_empty_expression_is_the_empty_word():
    assert [word for word in all_words("ab", 3) if DFA.from_regex("", "ab").accepts(word)] == [""]


def test_signs_can_be_symbols():
    brackets = DFA.from_regex(r"(\(\))*", alphabet="()")
    assert [word for word in all_words("()", 4) if brackets.accepts(word)] == ["", "()", "()()"]


@pytest.mark.parametrize("expression", ["(a", "a)", "a|", "|a", "*", "a**|", "a{2,1}", "[]", "[^]", "(|)", "a&"])
def test_an_expression_that_cannot_be_read(expression):
    with pytest.raises(ValueError, match="cannot be read") as caught:
        DFA.from_regex(expression, alphabet="ab")
    assert repr(expression) in str(caught.value)


@pytest.mark.parametrize("expression", ["c", "a b", "[ac]", "[^c]", r"\d", r"\c", "{", "\\", "[a"])
def test_an_expression_that_leaves_the_alphabet(expression):
    with pytest.raises(ValueError, match=r"outside the alphabet \('a', 'b'\)"):
        DFA.from_regex(expression, alphabet="ab")


@settings(max_examples=200)
@given(st.text("ab()|*+?.&^{}[]-,12\\ s", max_size=8))
def test_any_text_gives_a_machine_or_a_value_error(expression):
    assume(not re.search(r"\d{2}", expression))
    try:
        dfa = DFA.from_regex(expression, alphabet="ab")
    except ValueError as error:
        told = str(error)
        assert repr(expression) in told
    else:
        assert dfa.alphabet == ("a", "b")


def test_symbols_of_an_expression_are_characters():
    with pytest.raises(ValueError, match="single characters"):
        DFA.from_regex("", alphabet=["go", "stop"])
    with pytest.raises(TypeError, match="order"):
        DFA.from_regex("a", alphabet={"a", "b"})


# automata-lib


@settings(max_examples=30)
@given(dfas(max_states=20))
def test_there_and_back(dfa):
    back = DFA.from_automata_lib(dfa.to_automata_lib(), dfa.alphabet)
    assert back.states == dfa.reachable()
    assert back.canonical() == dfa.canonical()


def test_symbols_that_are_no_characters_become_private_ones_in_order():
    table = {(0, "go"): 1, (0, "stop"): 0, (1, "go"): 1, (1, "stop"): 1}
    machine = DFA([0, 1], ["stop", "go"], table, 0, [1]).to_automata_lib()
    assert machine.input_symbols == {"\U000f0000", "\U000f0001"}
    assert machine.accepts_input("\U000f0000\U000f0001")
    assert not machine.accepts_input("\U000f0000")


def test_partial_machines_are_made_total():
    partial = LibraryDFA(
        states={"p", "q", "alone"},
        input_symbols={"a", "b"},
        transitions={"p": {"a": "q"}, "q": {}, "alone": {}},
        initial_state="p",
        final_states={"q", "alone"},
        allow_partial=True,
    )
    dfa = DFA.from_automata_lib(partial, "ab")
    assert dfa.states[:2] == ("p", "q")
    assert len(dfa.states) == 3
    assert [word for word in all_words("ab", 3) if dfa.accepts(word)] == ["a"]


def test_another_alphabet_is_refused():
    with pytest.raises(ValueError, match=r"reads \['a', 'b'\], and the alphabet is \('a', 'c'\)"):
        DFA.from_automata_lib(ABB.to_automata_lib(), "ac")


def test_another_kind_of_machine_is_refused():
    with pytest.raises(TypeError, match="NFA"):
        DFA.from_automata_lib(LibraryNFA.from_regex("a", input_symbols={"a"}), "a")


# Size


def test_a_thousand_states_take_no_time():
    """Construction, minimisation and comparison of 1,000 states over 4 symbols: 50 ms in all on a quiet core."""
    generator = random.Random(0)
    started = time.process_time()
    table = {(q, x): generator.randrange(1000) for q in range(1000) for x in "abcd"}
    dfa = DFA(range(1000), "abcd", table, 0, [q for q in range(1000) if generator.random() < 0.5])
    smallest = dfa.minimize()
    assert smallest.equivalent(dfa)
    assert len(smallest.states) > 900
    assert time.process_time() - started < 5
