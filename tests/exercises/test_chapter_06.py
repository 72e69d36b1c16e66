"""Every exercise of chapter 6: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from itertools import islice
from math import log

import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.compile import language_to_rnn
from fhx.exact.stacks import encode
from fhx.exercises import chapter_06, check
from fhx.exercises.chapter_06 import mirrored
from fhx.machines import all_words
from fhx.precision import lossy_length, significand_bits

EXERCISES = {exercise.id: exercise for exercise in chapter_06.EXERCISES}
THIRD = Fraction(1, 3)


def list_numbers(words, alphabet):
    ordered = sorted(words, key=lambda w: (len(w), [alphabet.index(x) for x in w]))
    return encode("".join(w + "#" for w in ordered), alphabet + "#")


def search_time(words, word):
    if word in words:
        return 2 + sum(len(v) + 1 for v in words[: words.index(word) + 1])
    read = sum(len(v) + 1 for v in words if len(v) <= len(word))
    longer = any(len(v) > len(word) for v in words)
    return 2 + read + (len(word) + 1 if longer else 1)


def digits_enough(words, n):
    return sum(len(w) + 1 for w in words if len(w) <= n)


def is_member(z, n):
    for _ in range(n):
        z = 3 * z - 2 * (z >= 2 * THIRD)
    return z >= 2 * THIRD


def letters_held(base, bits):
    n = 0
    while base ** (n + 1) < 2 ** (bits + 1):
        n += 1
    return n


def mirror():
    """load, a, b, p before the m; A, B, q and z behind it, where A and B are 1 for ever after a fault."""
    W = [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [1, THIRD, 0, 0, 0, 0, 0, 0],
        [1, 0, THIRD, 0, 0, 0, 0, 0],
        [0, 0, 0, Fraction(1, 2), 0, 0, 0, 0],
        [-1, 1, 0, 0, 3, 0, 0, 0],
        [-1, 0, 1, 0, 0, 3, 0, 0],
        [-1, 0, 0, 1, 0, 0, 2, -2],
        [-2, 0, 0, 2, 0, 0, 4, -3],
    ]
    U = [
        [0, 0, -1],
        [2 * THIRD, 0, -1],
        [0, 2 * THIRD, -1],
        [0, 0, -1],
        [-2, 0, 1],
        [0, -2, 1],
        [0, 0, 1],
        [0, 0, 2],
    ]
    b, h0 = [0, -1, -1, 0, 0, 0, 0, -1], [1, 0, 0, 1, 0, 0, 0, 0]
    return W, U, b, h0, [0, 0, 0, 0, -1, -1, 0, 1], 0


def counts_letters():
    """Five units that accept u m v if v has as many a and as many b as u, in any order."""
    a, b, half = Fraction(1, 10**6), Fraction(1, 2000), Fraction(1, 2)
    steep = 1 / a
    W = [
        [1, 0, 0, 0, 0],  # load
        [1, 1, 0, 0, 0],  # 1/2 + a and b counted before the m
        [-1, 1, 1, 0, 0],  # and counted off again behind it
        [-steep, steep, steep, 0, 0],  # whether that is above 1/2
        [steep, -steep, -steep, 0, 0],  # and below
    ]
    U = [[0, 0, -1], [a, b, -1], [-a, -b, 1], [-1, -b * steep, steep], [1, b * steep, -steep]]
    bias, h0 = [0, -1, 0, -half * steep, half * steep], [1, half, 0, 0, 1]
    return W, U, bias, h0, [-1, 0, 0, -1, -1], half


def count_classes(contains, alphabet, n, h):
    """Rows are merged one by one."""
    ends = [z for z in all_words(alphabet, h)]
    classes = []
    for u in (w for w in all_words(alphabet, n) if len(w) == n):
        if not any(all(contains(u + z) == contains(v + z) for z in ends) for v in classes):
            classes.append(u)
    return len(classes)


RIGHT = [list_numbers, search_time, digits_enough, is_member, letters_held, mirror, count_classes]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def mirror_with(part, row, column, value):
    """The net with one number changed."""

    def net():
        parts = [list(map(list, mirror()[0])), list(map(list, mirror()[1])), *mirror()[2:]]
        parts[part][row][column] = value
        return tuple(parts)

    return net


WRONG = {
    "06-list": [
        lambda words, alphabet: encode("".join(w + "#" for w in words), alphabet + "#"),
        lambda words, alphabet: list_numbers(words, "".join(sorted(alphabet))),
        lambda words, alphabet: encode("".join(w + "#" for w in sorted(words)), alphabet + "#"),
        lambda words, alphabet: encode("#".join(sorted(words, key=lambda w: (len(w), w))), alphabet + "#"),
        lambda words, alphabet: [float(v) for v in list_numbers(words, alphabet)],
        lambda words, alphabet: list_numbers(words, alphabet)[:-1],
    ],
    "06-time": [
        lambda words, word: (len(words) + 1) * (len(word) + 1) + 2,
        lambda words, word: search_time(words, word) - 1,
        lambda words, word: 2 + sum(len(v) + 1 for v in words if len(v) <= len(word)) + len(word) + 1,
        lambda words, word: 2 + sum(len(v) + 1 for v in words),
        lambda words, word: (
            search_time(words, word) if word in words else 3 + sum(len(v) + 1 for v in words if len(v) <= len(word))
        ),
    ],
    "06-enough": [
        lambda words, n: max(digits_enough(words, n) - 1, 0),
        lambda words, n: digits_enough(words, n) + n + 1,
        lambda words, n: digits_enough(words, n - 1),
    ],
    "06-advice": [
        lambda z, n: not is_member(z, n),
        lambda z, n: int(is_member(z, n)),
        lambda z, n: is_member(z, min(n, 20)),
    ],
    "06-held": [
        lambda base, bits: letters_held(base, bits) + 1,
        lambda base, bits: letters_held(base, bits - 1),
        lambda base, bits: letters_held(base, 53),
        lambda base, bits: float(letters_held(base, bits)),
    ],
    "06-mirror": [
        mirror_with(0, 6, 7, 0),
        mirror_with(0, 7, 7, 0),
        mirror_with(0, 4, 4, 1),
        mirror_with(0, 5, 5, 2),
        mirror_with(1, 4, 0, 0),
        mirror_with(1, 5, 2, 0),
        mirror_with(0, 1, 0, 0),
        mirror_with(1, 0, 2, 0),
        lambda: (*mirror()[:4], [0] * 7 + [1], 0),
        lambda: mirror()[:5],
        lambda: ([[0] * 13] * 13, [[0] * 3] * 13, [0] * 13, [0] * 13, [0] * 13, 1),
        lambda: (*mirror()[:5], 0.5),
        lambda: (mirror()[0], None, *mirror()[2:]),
        lambda: ([0] * 8, *mirror()[1:]),
        lambda: (*mirror()[:2], None, *mirror()[3:]),
        counts_letters,
    ],
}


class TestChapter06(ExerciseLaws):
    exercises, answers, wrong = chapter_06.EXERCISES, ANSWERS, WRONG


MALFORMED = {
    ("06-list", 5): "On example 1 of 6, expected 3 items, got 2.",
    ("06-mirror", 9): "On example 1 of 126: expected (W, U, b, h0, w, c), 6 values, got a tuple of 5 items.",
    ("06-mirror", 10): "On example 1 of 126: the net has 13 units, and at most 12 are asked for.",
    ("06-mirror", 12): "On example 1 of 126: expected U as a list of rows, got None; is a return missing?",
    ("06-mirror", 13): "On example 1 of 126: expected W as a list of rows, got the list [0, 0, 0, 0, 0, 0, 0, 0].",
    ("06-mirror", 14): "On example 1 of 126: expected b as a list of numbers, got None; is a return missing?",
    ("06-mirror", 15): "On example 122 of 126, at ['abmab']: the values differ: 'positive' instead of 'not'.",
}


@pytest.mark.parametrize(("name", "number"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(name, number):
    assert check(name, WRONG[name][number]).message == MALFORMED[name, number]


def test_the_list_is_the_start_of_the_language_net():
    for words, alphabet in EXERCISES["06-list"].all_cases(2, 10):
        ordered = [w for w in all_words(alphabet, 4) if w in words]
        net, length = language_to_rnn(alphabet, ordered), sum(len(w) + 1 for w in words)
        start = tuple(stream.truncated(length + 5) for stream in net.reals.values())
        assert start == tuple(EXERCISES["06-list"].oracle(words, alphabet))


def test_digits_enough_are_enough_for_ever_after():
    """What the text says: from there on every further digit changes nothing, for words up to the length."""
    words, n = ["", "ba", "aaa"], 2
    k = digits_enough(words, n)
    net = language_to_rnn("ab", words)
    for word in all_words("ab", n):
        T = net.look_up(word).steps
        whole = list(islice(net.outputs(word), len(word) + T))
        answers = {net.truncated(digits).answer(word, 50).value for digits in range(k, k + 6)}
        assert answers == {whole[-1]}


def test_members_are_the_bits_that_were_written():
    bits = [1, 0, 0, 1, 1, 0, 1]
    for first, again in ((bits, [0]), (bits, [1]), ([], bits), (bits, bits[:3])):
        z = chapter_06._number(first, again)
        written = [*first, *again * 5]
        assert [EXERCISES["06-advice"].oracle(z, n) for n in range(len(written))] == list(map(bool, written))


def test_letters_held_in_the_types_of_torch():
    """One letter more is 1, by torch's own rounding where float64 holds the number, and the package's bound is met."""
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
        for base in (3, 4, 8, 10):
            n = letters_held(base, significand_bits(dtype))
            assert n < lossy_length(base, dtype)
            for letters, rounds in ((n, False), (n + 1, True)):
                if 2 * letters * log(base) < 52 * log(2) or dtype is torch.float64:
                    number = torch.tensor(float(1 - Fraction(1, base**letters)), dtype=torch.float64).to(dtype)
                    assert (number.item() == 1) == rounds


def test_mirrored_words():
    for word in all_words("abm", 5):
        u, _, v = word.partition("m")
        assert mirrored(word) == ("m" in word and "m" not in v and v == u[::-1])


def test_samples_hold_both_answers():
    advice, mirrors, times = (EXERCISES[f"06-{name}"] for name in ("advice", "mirror", "time"))
    assert {advice.oracle(*case) for case in advice.all_cases(0, 20)} == {True, False}
    assert {list(mirrors.oracle(*case).values())[-1] for case in mirrors.all_cases(0, 20)} == {"positive", "not"}
    assert {word in words for words, word in times.all_cases(0, 20)} == {True, False}
