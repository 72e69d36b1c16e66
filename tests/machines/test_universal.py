"""Rogozhin's machine: at every production its tape is the tag system's word, and it is at home on a one-sided tape."""

import copy
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.machines import TagSystem, UniversalProgram, Verdict, collatz, odd_part, rogozhin_form, universal

UNIVERSAL = universal()
STEPS = 7_000
PUBLISHED = {
    "1": "<L1 0R2 1R3 0R4",
    "b": ">R1 >L3 <R4 cL2",
    ">": "bL1 <R2 bR3 <R4",
    "<": "0R1 >L2 halt halt",
    "0": "<L1 1L2 cR1 cL2",
    "c": "0R4 bR2 1R1 bR4",
}
RULES = {
    (f"q{i}", symbol): (f"q{rule[2]}", rule[0], rule[1])
    for symbol, row in PUBLISHED.items()
    for i, rule in enumerate(row.split(), 1)
    if rule != "halt"
}
SMALLEST = UniversalProgram(TagSystem({"a": "aa"}))
ODD_PART = UniversalProgram(rogozhin_form(odd_part()))


@st.composite
def programs_and_words(draw):
    """Small systems of the form, and words for them that soon come to the halting letter or never."""
    letters = draw(st.sampled_from(["a", "a", "ab"]))
    endings = {a: draw(st.text(letters + "NH", max_size=2)) for a in letters}
    system = TagSystem({a: "NN" + ending for a, ending in endings.items()} | {"N": "NN"})
    word = draw(st.text(letters + "N", min_size=2, max_size=2)) + draw(st.sampled_from(["", "H", "Ha", "aH", "aaH"]))
    return UniversalProgram(system), word


def test_the_published_table():
    """Ours is that table, the rules that the two halting pairs have now, and nothing else."""
    ours = dict(UNIVERSAL.transitions)
    assert ours.pop(("q3", "<"))[0] == UNIVERSAL.accept
    assert ours.pop((UNIVERSAL.start, "<")) == ("q3", "<", "R")
    assert ours == RULES
    assert (len(UNIVERSAL.states), len(UNIVERSAL.tape_alphabet), UNIVERSAL.blank) == (4, 6, "0")


def test_the_published_start():
    """The system a -> aa on aaH from q1 on the word, on a tape infinite both ways: 517 steps, as is known of it.

    The head is left of the second cell at no moment but the last.
    """
    tape = SMALLEST.text + "1c1c11111"
    cells, state, head, steps, visited = dict(enumerate(tape)), "q1", len(SMALLEST.text), 0, []
    while (state, cells.get(head, "0")) in RULES and steps < 1_000:
        state, cells[head], move = RULES[state, cells.get(head, "0")]
        head += {"L": -1, "R": 1}[move]
        visited.append(head)
        steps += 1
    assert SMALLEST.text == "<bb1b1bbb"
    assert (state, head, steps) == ("q3", 0, 517)
    assert min(visited[:-1]) == 1
    assert "".join(cells[i] for i in sorted(cells)).endswith("1c1c11111")


def test_codes_and_program_by_hand():
    """P(a) = NNbH, P(b) = NNa: a counts 1 mark, b 9, N 15, H 19."""
    assert dict(ODD_PART.codes) == {"a": 1, "b": 9, "N": 15, "H": 19}
    ones = {letter: "1" * n for letter, n in ODD_PART.codes.items()}
    rows = [
        f"b1b{ones['N']}bb",
        f"b1b{ones['a']}bb{ones['N']}bb" + 6 * "1",
        f"b1b{ones['H']}bb{ones['b']}bb{ones['N']}bb" + 14 * "1",
    ]
    assert ODD_PART.text == "<b" + "".join(rows) + "b"
    assert ODD_PART.encode("abN") == ODD_PART.text.replace("b", ">") + "c1c" + ones["b"] + "c" + ones["N"]
    marks = [i for i, symbol in enumerate(ODD_PART.text) if symbol == "b"]
    for letter, row in zip("HNba", ["<b", *rows], strict=True):
        assert ODD_PART.text[: marks[-ODD_PART.codes[letter]]].endswith(row)
    assert marks[-19] == 2


@settings(max_examples=40)
@given(programs_and_words())
def test_every_word_of_the_tag_system_in_order_and_no_other(drawn):
    """And the head is on the first cell at the first moment and the last ones only."""
    program, word = drawn
    configurations = list(islice(UNIVERSAL.run(program.encode(word)), STEPS))
    found, last = list(program.words(configurations)), configurations[-1]
    words = list(islice(program.system.run(word), len(found) + 1))
    assert found == words[: len(found)]
    assert found[0] == tuple(word)
    at_home = ["q4", "q3", "accept"] if last.state == "accept" else ["q4"]
    assert [c.state for c in configurations if c.head == 0] == at_home
    assert configurations[0].state == "q4"
    if last.state == "accept":
        assert words == found
        assert found[-1][0] == "H"
        assert program.output(last) == found[-1][2:]
    else:
        assert len(configurations) == STEPS
        assert program.output(last) is None


@pytest.mark.parametrize(("n", "steps"), [(2, 240_327), (3, 60_063), (6, 982_911), (7, 143_895)])
def test_the_odd_part_of_a_number(n, steps):
    """The last word without the neutral letters is H(bH)^k, of as many letters as the odd part of n."""
    assert UNIVERSAL.decide(ODD_PART.encode("a" * n), 10**6) == Verdict(accepted=True, steps=steps)
    *_, last = ODD_PART.system.run("a" * n)
    letters = "".join(last).replace("N", "")
    odd = n
    while odd % 2 == 0:
        odd //= 2
    assert letters == "H" + "bH" * ((odd - 1) // 2)


def test_the_words_of_a_long_run():
    """One run of 60,063 steps looked at in every configuration."""
    *configurations, last = islice(UNIVERSAL.run(ODD_PART.encode("aaa")), 10**5)
    assert list(ODD_PART.words(configurations)) == list(ODD_PART.system.run("aaa"))
    assert "".join(ODD_PART.output(last)).replace("N", "") == "bH"


@pytest.mark.parametrize("word", ["HH", "HN", "Ha", "HabN"])
def test_a_word_that_halts_at_once(word):
    *configurations, last = islice(UNIVERSAL.run(ODD_PART.encode(word)), 30_000)
    assert list(ODD_PART.words(configurations)) == [tuple(word)]
    assert ODD_PART.output(last) == tuple(word[2:])


def test_collatz_in_the_universal_machine():
    program = UniversalProgram(rogozhin_form(collatz()))
    words = program.words(islice(UNIVERSAL.run(program.encode("aaa")), 100_000))
    found = ["".join(word).replace("N", "") for word in words if word[0] != "N"]
    plain = ["".join(word) for word in islice(collatz().run("aaa"), len(found))]
    assert found == plain
    assert found[:3] == ["aaa", "abc", "cbc"]


def test_programs_are_values():
    other = copy.deepcopy(ODD_PART)
    assert (other, hash(other)) == (ODD_PART, hash(ODD_PART))
    assert len({ODD_PART, SMALLEST, UniversalProgram(TagSystem({"a": "aa"}), halt="b")}) == 3


@pytest.mark.parametrize(
    ("productions", "told"),
    [
        ({}, "it has no productions"),
        ({"a": "bb", "b": "bbb"}, "the production of the last letter 'b' goes on"),
        ({"a": "b", "b": "bb"}, "the production of 'a' does not begin with the last letter 'b' twice"),
        ({"a": "bbc", "b": "bb"}, r"it halts on \['c'\], and the halting letter is 'H'"),
        ({"H": "bb", "b": "bb"}, "the halting letter 'H' has a production"),
        ({"a": "aab", "b": "cc"}, "of 'a' does not .*; .* of 'b' does not .*; it halts on"),
    ],
)
def test_systems_of_another_form(productions, told):
    with pytest.raises(ValueError, match=f"not a tag system of Rogozhin's form: .*{told}"):
        UniversalProgram(TagSystem(productions))


@pytest.mark.parametrize(
    ("word", "told"), [("", "at least two letters"), ("a", "at least two letters"), ("axa", "letter 'x' is outside")]
)
def test_words_that_cannot_be_run(word, told):
    with pytest.raises(ValueError, match=told):
        ODD_PART.encode(word)
