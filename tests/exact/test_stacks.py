"""Stacks in one vector: codes against a digit sum, operations against lists, margins, and why base 2 fails."""

from fractions import Fraction
from itertools import islice, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fhx.exact import gradient_jump, relu, slu, variable
from fhx.exact.stacks import check_base, decode, encode, margin, pack, pop, push, sharpened, top, unpack

bases = st.integers(3, 10)
ALPHABET = "abc"
words = st.lists(st.sampled_from([*ALPHABET, None]), max_size=12).map(tuple)
z, bit = variable("z"), variable("bit")


def digit_sum(word, base, alphabet=ALPHABET):
    """The code by its digits, for any base: component j has the digit B - 1 where the word has the symbol j."""
    return tuple(sum(Fraction(base - 1, base**t) for t, s in enumerate(word, 1) if s == a) for a in alphabet)


def trimmed(word):
    """Without blanks at the bottom, which have no code."""
    word = list(word)
    while word and word[-1] is None:
        word.pop()
    return tuple(word)


def all_words(length, alphabet=ALPHABET):
    return (word for n in range(length + 1) for word in product(alphabet, repeat=n))


@pytest.mark.claim("C6")
@given(words, bases)
def test_a_code_is_the_sum_of_its_digits_and_is_read_back(word, base):
    code = encode(word, ALPHABET, base)
    assert code == digit_sum(word, base)
    assert decode(code, ALPHABET, base) == trimmed(word)


@pytest.mark.claim("C6")
@given(words, bases, st.sampled_from(ALPHABET))
def test_push_top_and_pop_are_those_of_a_list(word, base, symbol):
    code = encode(word, ALPHABET, base)
    tops = [top(z, base).evaluate({"z": v}) for v in code]
    assert tops == [int(word[:1] == (a,)) for a in ALPHABET]
    pushed = [
        push(z, bit, base).evaluate({"z": v, "bit": int(a == symbol)}) for a, v in zip(ALPHABET, code, strict=True)
    ]
    assert tuple(pushed) == encode((symbol, *word), ALPHABET, base)
    popped = [pop(z, bit, base).evaluate({"z": v, "bit": t}) for v, t in zip(code, tops, strict=True)]
    assert tuple(popped) == encode(word[1:], ALPHABET, base)
    assert all(0 <= v <= 1 for v in (*code, *pushed, *popped))


@given(words, bases)
def test_the_bottom_of_the_gap_and_its_top_are_never_crossed(word, base):
    """A component is at most 1 / B or at least (B - 1) / B; between lies the margin."""
    for a, v in zip(ALPHABET, encode(word, ALPHABET, base), strict=True):
        sharp = sharpened(z, base).evaluate({"z": v})
        if word[:1] == (a,):
            assert v >= Fraction(base - 1, base)
            assert 1 <= sharp <= Fraction(base - 1, base - 2)
        else:
            assert v < Fraction(1, base)
            assert Fraction(-1, base - 2) <= sharp < 0


@pytest.mark.parametrize("base", range(3, 11))
def test_the_margin_is_the_limit_of_the_gap_and_tight(base):
    """Between the least stack with a on top and those with all but the top an a, the gap comes as near as one likes."""
    least = encode("a", "a", base)[0]
    gaps = [least - encode([None, *"a" * n], "a", base)[0] for n in range(1, 8)]
    assert margin(base) == Fraction(base - 2, base)
    assert all(g > h > margin(base) for g, h in pairwise(gaps))
    assert gaps[-1] - margin(base) == Fraction(1, base**8)


@pytest.mark.parametrize("base", range(3, 11))
def test_different_stacks_have_different_codes_and_tops_shrink_with_depth(base):
    """Two stacks that agree on their first n symbols and not on the next differ by at least (B - 2) / B^(n + 1)."""
    codes = {word: encode(word, "ab", base) for word in all_words(5, "ab")}
    assert len(set(codes.values())) == len(codes)
    for u, v in islice(product(codes, repeat=2), 0, None, 7):
        if u != v:
            n = next(i for i in range(6) if u[i : i + 1] != v[i : i + 1])
            distance = max(abs(x - y) for x, y in zip(codes[u], codes[v], strict=True))
            assert distance > margin(base) / base**n


def test_in_base_2_an_endless_stack_without_the_top_has_the_code_of_one_with_it():
    """0.0111... = 0.1 in binary: the gap between the stacks a and (no a) a^n is 2^-(n+1), and there is no margin."""
    for n in range(1, 12):
        with_a, without = digit_sum("a", 2, "a")[0], digit_sum([None, *"a" * n], 2, "a")[0]
        assert with_a - without == Fraction(1, 2 ** (n + 1))


@given(st.integers(1, 10**6), st.fractions(-10, 10, max_denominator=100))
def test_in_base_2_no_slope_is_steep_enough_for_the_top(slope, shift):
    """slu(slope z + shift) is 1 on the stack a only if it is not 0 on some stack whose top is not a."""
    n = slope.bit_length() + 1
    seen = slu(slope * z + shift)
    with_a, without = ({"z": digit_sum(word, 2, "a")[0]} for word in ("a", [None, *"a" * n]))
    assert (seen.evaluate(with_a), seen.evaluate(without)) != (1, 0)


def test_three_is_the_base_unless_told_otherwise():
    code = encode("ab", "ab")
    assert code == (Fraction(2, 3), Fraction(2, 9))
    assert decode(code, "ab") == ("a", "b")
    assert [f(z, bit) for f in (push, pop)] == [f(z, bit, 3) for f in (push, pop)]
    assert [f(z) for f in (top, sharpened)] == [f(z, 3) for f in (top, sharpened)]
    assert margin() == Fraction(1, 3)


@pytest.mark.parametrize("wrong", [lambda: margin(2), lambda: top(z, 2), lambda: encode("a", "a", 2)])
def test_base_2_is_refused(wrong):
    with pytest.raises(ValueError, match="the base must be an integer of at least 3, got 2"):
        wrong()


@pytest.mark.parametrize("base", range(3, 11))
def test_the_empty_stack_is_zero_and_stays_so(base):
    assert encode("", ALPHABET, base) == (0, 0, 0)
    assert decode([0, 0, 0], ALPHABET, base) == ()
    assert top(z, base).evaluate({"z": 0}) == pop(z, bit, base).evaluate({"z": 0, "bit": 0}) == 0


def test_the_cantor_set_has_numbers_that_are_no_finite_stack():
    """1/3 = 0.0222..., 1/4 = 0.0202... and 1 = 0.222... in base 3 belong to it, and to endless stacks."""
    for value in (Fraction(1, 3), Fraction(1, 4), 1):
        with pytest.raises(ValueError, match="does not encode a finite stack in base 3"):
            decode([value], "a", 3)


@pytest.mark.parametrize(
    ("numbers", "base"),
    [
        ([Fraction(2, 3), Fraction(2, 3)], 3),  # two symbols in one place
        ([Fraction(1, 9), 0], 3),  # a digit that is neither 0 nor B - 1
        ([Fraction(1, 2), 0], 3),  # no finite expansion
        ([-Fraction(2, 3), 0], 3),
        ([2, 0], 3),
        ([Fraction(2, 3), 0], 4),
    ],
)
def test_what_is_no_stack_is_not_read(numbers, base):
    with pytest.raises(ValueError, match="does not encode a finite stack"):
        decode(numbers, "ab", base)


def test_bad_symbols_numbers_and_bases_are_refused():
    with pytest.raises(ValueError, match="symbol 'd' is outside"):
        encode("ad", ALPHABET)
    with pytest.raises(TypeError):
        decode([0.5, 0, 0], ALPHABET)
    with pytest.raises(ValueError, match="the stack has 2"):
        decode([0, 0], ALPHABET)
    for base in (2, 1, 0, -3, 3.0, True, None):
        with pytest.raises(ValueError, match="the base must be an integer of at least 3"):
            check_base(base)


def test_the_printed_pop_makes_one_of_the_stack_a_and_not_zero():
    """(4.26) takes SLU(3z - 1) off once: 2/3 becomes 1, which has an a on top for ever."""
    printed = 3 * z - slu(3 * z - 1)
    assert printed.evaluate({"z": Fraction(2, 3)}) == 1
    assert pop(z, top(z)).evaluate({"z": Fraction(2, 3)}) == 0
    values = [Fraction(2, 3)]
    for _ in range(4):
        values.append(printed.evaluate({"z": values[-1]}))
    assert values[1:] == [1, 2, 5, 14]


@given(words, bases)
def test_the_right_weight_of_the_top_is_the_base_less_one(word, base):
    """And no other: B v - k is a stack without its top only for k = B - 1."""
    code = encode(("a", *word), ALPHABET, base)[0]
    rest = encode(word, ALPHABET, base)[0]
    assert [k for k in range(-3, 13) if base * code - k == rest] == [base - 1]


@pytest.mark.claim("C9")
def test_a_gated_top_is_no_map_of_one_hidden_layer():
    """relu(slu(3z - 1) + q - 1) has a crease along 3z + q = 2 for z in [1/3, 2/3] only."""
    q = variable("q")
    gated = relu(slu(3 * z - 1) + q - 1)
    across = {"z": 3, "q": 1}
    assert gradient_jump(gated, {"z": Fraction(1, 2), "q": Fraction(1, 2)}, across) == {"z": 3, "q": 1}
    assert gradient_jump(gated, {"z": 1, "q": -1}, across) == {"z": 0, "q": 0}


@given(words, st.integers(7, 12))
def test_one_number_holds_the_digits_and_is_read_back(word, base):
    number = pack(word, ALPHABET, base)
    digits = [2 * (ALPHABET.index(s) + 1) if s else 0 for s in word]
    assert number == sum(Fraction(digit, base**t) for t, digit in enumerate(digits, 1))
    assert unpack(number, ALPHABET, base) == trimmed(word)
    for j in range(1, len(ALPHABET) + 1):
        over = base * number - (2 * j - 1)
        assert over >= 1 if digits and digits[0] >= 2 * j else over <= 0


@pytest.mark.parametrize("value", [Fraction(1, 7), Fraction(1, 2), Fraction(-2, 7), 1, Fraction(9, 7)])
def test_other_numbers_are_no_stacks(value):
    with pytest.raises(ValueError, match="does not encode a finite stack of 3 symbols in base 7"):
        unpack(value, ALPHABET, 7)


def test_one_number_needs_two_digits_a_symbol():
    for function, value in ((pack, "abc"), (unpack, 0)):
        with pytest.raises(ValueError, match="the base must be an integer of at least 7, got 6"):
            function(value, ALPHABET, 6)
    with pytest.raises(ValueError, match="symbol 'd' is outside the alphabet"):
        pack("ad", ALPHABET, 7)
    with pytest.raises(TypeError):
        unpack(0.5, ALPHABET, 7)
