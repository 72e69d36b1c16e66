"""The Turing machines of the book against plain Python, on all short words."""

import pytest

from fhx.machines import (
    TURING_MACHINES,
    Verdict,
    all_words,
    busy_beaver,
    fold_tape,
    fold_word,
    unfold_tape,
)

ENOUGH = 10_000
DECIDED = {
    "palindromes": (lambda word: word == word[::-1], 10),
    "equal-blocks": (lambda word: word == "a" * word.count("a") + "b" * word.count("a") + "c" * word.count("a"), 7),
    "repeated": (lambda word: len(word) % 2 == 0 and word == 2 * word[: len(word) // 2], 10),
}


def final(tm, word):
    assert tm.decide(word, ENOUGH).accepted is not None, word
    *_, last = tm.run(word)
    return last.state, "".join(last.tape)


@pytest.mark.parametrize("name", DECIDED)
def test_deciders(name):
    predicate, length = DECIDED[name]
    tm = TURING_MACHINES[name]
    for word in all_words(tm.input_alphabet, length):
        assert tm.decide(word, ENOUGH).accepted is predicate(word), word


@pytest.mark.parametrize(("name", "word"), [("equal-blocks", "a" * 9 + "b" * 9 + "c" * 9), ("repeated", "abbab" * 6)])
def test_longer_words(name, word):
    tm = TURING_MACHINES[name]
    assert tm.decide(word, ENOUGH).accepted
    for i, symbol in enumerate(word):
        other = "b" if symbol == "a" else "a"
        assert tm.decide(word[:i] + other + word[i + 1 :], ENOUGH).accepted is False


def test_time_of_palindromes():
    tm = TURING_MACHINES["palindromes"]
    for word in all_words("ab", 9):
        verdict, most = tm.decide(word, ENOUGH), (len(word) + 1) * (len(word) + 2) // 2
        assert verdict.steps == most if verdict.accepted else verdict.steps < most


def value(digits):
    """The number of a binary numeral, the least significant digit first."""
    return sum(2**i for i, digit in enumerate(digits) if digit == "1")


def test_increment():
    tm = TURING_MACHINES["increment"]
    for word in all_words("01", 9):
        state, tape = final(tm, word)
        carries = len(word) - len(word.lstrip("1"))
        assert (state, value(tape)) == ("accept", value(word) + 1)
        assert tm.decide(word, ENOUGH).steps == carries + 1
    assert final(tm, "11") == ("accept", "001")


def test_addition():
    tm = TURING_MACHINES["addition"]
    for word in all_words("01+", 8):
        state, tape = final(tm, word)
        if word.count("+") != 1:
            assert state != "accept", word
            continue
        first, second = word.split("+")
        crossed, total = tape.split("+")
        assert state == "accept", word
        assert crossed == "x" * len(first)
        assert set(total) <= {"0", "1"}
        assert value(total) == value(first) + value(second), word
    assert final(tm, "11+01") == ("accept", "xx+101")


def test_copying():
    tm = TURING_MACHINES["copying"]
    for word in all_words("ab", 8):
        assert final(tm, word) == ("accept", f"{word}#{word}")


@pytest.mark.parametrize("word", ["", "a", "aaaa"])
def test_machines_that_never_halt(word):
    marching, bouncing = TURING_MACHINES["marching"], TURING_MACHINES["bouncing"]
    for tm in (marching, bouncing):
        assert tm.decide(word, ENOUGH) == Verdict(None, ENOUGH)
    for t, (march, bounce) in enumerate(zip(marching.run(word), bouncing.run(word), strict=False)):
        assert march == ("march", ("a",) * max(t, len(word)), t)
        assert bounce == (("right", "left")[t % 2], tuple(word), t % 2)
        if t == 50:
            break


@pytest.mark.parametrize(("n", "steps", "ones"), [(1, 1, 1), (2, 6, 4), (3, 21, 5), (4, 107, 13)])
def test_busy_beavers(n, steps, ones):
    beaver = busy_beaver(n)
    tm = TURING_MACHINES[f"busy-beaver-{n}"]
    word = fold_word(beaver, "")
    assert tm == fold_tape(beaver)
    assert len(beaver.states) == n
    assert tm.decide(word, ENOUGH) == Verdict(accepted=True, steps=steps)
    *_, last = tm.run(word)
    assert unfold_tape(beaver, last).tape.count("1") == ones


@pytest.mark.parametrize("n", [0, 5, "1"])
def test_busy_beavers_of_the_book(n):
    with pytest.raises(ValueError, match=f"there is none of {n!r}"):
        busy_beaver(n)


@pytest.mark.parametrize("name", TURING_MACHINES)
def test_machines_halt_in_states_of_one_name(name):
    tm = TURING_MACHINES[name]
    assert (tm.accept, tm.reject) == ("accept", "reject")
    assert tm.blank == (("0", "0") if name.startswith("busy-beaver") else "_")


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_busy_beavers_start_on_zeros(n):
    beaver = busy_beaver(n)
    assert (beaver.start, beaver.accept, beaver.reject, beaver.blank) == ("A", "accept", "reject", "0")
    assert tuple(beaver.input_alphabet) == ("1",)
