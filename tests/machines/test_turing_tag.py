"""Tag systems: their values and runs, the form with a neutral pair, and Turing machines as tag systems."""

import copy
import pickle
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tape_strategies import both_ways, turing_machines

from fhx.machines import TagSystem, TuringMachine, TuringTag, busy_beaver, collatz, odd_part, rogozhin_form

LETTERS = "abc"
systems = st.dictionaries(
    st.sampled_from(LETTERS), st.text(LETTERS + "h", max_size=4), min_size=1, max_size=len(LETTERS)
).map(TagSystem)


def plain_run(productions, word):
    """A tag system on strings, by slices."""
    seen = [word]
    while len(word) > 1 and word[0] in productions and len(seen) < 60:
        word = word[2:] + "".join(productions[word[0]])
        seen.append(word)
    return seen


def of_one_letter(words, letter):
    return [len(word) for word in words if set(word) == {letter}]


# Values


def test_a_value():
    system = TagSystem({"a": "bc", "b": ()})
    assert system.productions["a"] == ("b", "c")
    assert system.halting_letters == ("c",)
    for other in (copy.deepcopy(system), pickle.loads(pickle.dumps(system)), eval(repr(system))):
        assert (other, hash(other)) == (system, hash(system))
    others = [TagSystem({"b": (), "a": "bc"}), TagSystem({"a": "bc"}), TagSystem({"a": "bb", "b": ()})]
    assert len({system, *others}) == 4
    assert system != {"a": ("b", "c"), "b": ()}
    with pytest.raises(TypeError, match="item assignment"):
        system.productions["a"] = ()


@pytest.mark.parametrize(
    ("productions", "told"),
    [
        ([("a", "b")], r"^productions is a mapping \{letter: word\}, not list$"),
        ({"a": 3}, "the letters of the production of 'a' must be several"),
        ({"a": [[]]}, "the letters of the production of 'a' must be several hashable"),
    ],
)
def test_no_tag_system(productions, told):
    with pytest.raises(TypeError, match=told):
        TagSystem(productions)


# Runs


@given(systems, st.text(LETTERS + "h", max_size=8))
def test_runs(system, word):
    words = ["".join(letters) for letters in islice(system.run(word), 60)]
    assert words == plain_run(system.productions, word)


def test_collatz():
    for n in range(2, 25):
        values = [n]
        while values[-1] != 1:
            values.append(values[-1] // 2 if values[-1] % 2 == 0 else (3 * values[-1] + 1) // 2)
        assert of_one_letter(collatz().run("a" * n), "a") == values


def test_odd_part():
    for n in range(2, 65):
        *_, before, last = odd_part().run("a" * n)
        odd = n
        while odd % 2 == 0:
            odd //= 2
        if odd == 1:
            assert (before, last) == (("b", "c"), ("a",))
        else:
            assert last == ("c", *"bc" * ((odd - 1) // 2))
            assert len(last) == odd


@settings(max_examples=200)
@given(systems, st.text(LETTERS, min_size=2, max_size=8))
def test_a_neutral_pair_is_neutral(system, word):
    """At each letter read but the pair's, the rest of the word is the word of the system itself; it halts as that does.

    From a word of one letter on the two differ.
    """
    form = rogozhin_form(system)
    assert set(form.halting_letters) <= {"H"}
    words = plain_run(system.productions, word)
    if len(words[-1]) < 2:
        words.pop()
    seen = (tuple(a for a in w if a != "N") for w in islice(form.run(word), 3000) if w[0] != "N")
    seen = ["".join(letters) for letters in islice(seen, len(words))]
    ends = str.maketrans(dict.fromkeys(system.halting_letters, "H"))
    assert [w.translate(ends) for w in seen] == [w.translate(ends) for w in words][: len(seen)]
    assert len(seen) == len(words)


def test_letters_of_the_form_are_new():
    for names in ({"pair": "a"}, {"halt": "b"}, {"pair": "c"}, {"pair": "H"}):
        with pytest.raises(ValueError, match="must be new and different"):
            rogozhin_form(odd_part(), **names)
    assert rogozhin_form(odd_part(), halt="c") == TagSystem({"a": "NNbc", "b": "NNa", "N": "NN"})


# Turing machines as tag systems


def beside_the_head(state, cells, head):
    return state, {i - head: a for i, a in cells.items()}


@settings(max_examples=80)
@given(st.data())
def test_a_turing_machine_as_a_tag_system(data):
    """Every word that stands for a configuration, in order, against the run with numbered cells."""
    tm = data.draw(turing_machines(max_symbols=2))
    word = data.draw(st.lists(st.sampled_from(tm.input_alphabet), max_size=3))
    tag = TuringTag(tm)
    plain = [beside_the_head(*configuration) for configuration in islice(both_ways(tm, word), 9)]
    decoded = (tag.decode(letters) for letters in tag.system.run(tag.encode(word)))
    found = list(islice((c for c in decoded if c is not None), 9))
    assert [(c.state, {c.first + i: a for i, a in enumerate(c.tape) if a != tm.blank}) for c in found] == plain
    assert {c.head for c in found} == {0}


def test_a_busy_beaver_as_a_tag_system():
    tag = TuringTag(busy_beaver(3))
    words = list(tag.system.run(tag.encode("")))
    found = [c for c in map(tag.decode, words) if c]
    assert len(found) == 21 + 1
    assert found[0] == (tag.machine.start, (), 0, 0)
    assert found[-1] == ("accept", ("1",) * 5, -2, 0)
    assert found[-1] == tag.decode(words[-1])


@pytest.mark.parametrize("ones", range(7))
def test_digits_are_taken_from_the_right_one_by_one(ones):
    """A machine that erases ones on its way to the right: the number on that side is halved at each step."""
    tag = TuringTag(TuringMachine({("q", "1"): ("q", "0", "R")}, "q", "yes", "no", "0", "1"))
    words = tag.system.run(tag.encode("1" * ones))
    left = [c.tape for c in map(tag.decode, words) if c]
    assert left == [("1",) * n for n in range(ones, -1, -1)]


def test_words_that_stand_for_nothing():
    tag = TuringTag(busy_beaver(1))
    assert tag.decode(()) is None
    assert tag.decode(("x", "x")) is None
    assert tag.decode((("C", "A", "0"), "x")) is None


def test_two_symbols_and_no_more():
    with pytest.raises(ValueError, match="must have two symbols"):
        TuringTag(TuringMachine({("q", "a"): ("q", "b", "R")}, "q", "yes", "no", "_", "a"))
    with pytest.raises(ValueError, match="symbol '2' is outside"):
        TuringTag(busy_beaver(1)).encode("2")
