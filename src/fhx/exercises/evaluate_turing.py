"""Running the machines and nets that a reader designed: Turing machines through their nets, and nets with rationals.

Each function takes the reader's value first and raises a ValueError that says what was expected of it.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import accumulate, chain, islice
from typing import Any

from fhx.compile import turing_to_rnn
from fhx.exact import HaltingNet, Recognizer, SimpleRNN
from fhx.exact.matrix import Matrix
from fhx.exact.numbers import Number, dot, vector
from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import PARTS, parts_of
from fhx.machines import TuringMachine

__all__ = [
    "SCALED_STEPS",
    "by_prefix",
    "decide_turing",
    "first_states",
    "halting_net",
    "long_brackets",
    "long_powers",
    "right_answers",
    "right_signs",
    "scaled_states",
    "tells_tops",
    "value_of_pop",
]


SCALED_STEPS = 8
"""Steps for which a net without fractions is run."""


def scaled_states(value: Any, W: list[list[Fraction]], b: list[Fraction], h0: list[Fraction]) -> list[list[Fraction]]:
    """The first states of a net without inputs that holds them times its last unit.

    Raises:
        ValueError: not a square matrix and a vector of whole numbers with one more unit, or the last unit is not
            positive.
    """
    wanted = f"(A, H0), {len(h0) + 1} rows of {len(h0) + 1} whole numbers, and {len(h0) + 1} whole numbers"
    try:
        A, H = value
        rows = [list(row) for row in A]
        H = list(H)
    except (TypeError, ValueError) as error:
        raise MalformedError(wanted, value) from error
    if {len(row) for row in [*rows, rows, H]} != {len(h0) + 1}:
        raise MalformedError(wanted, value)
    for x in [*chain(*rows), *H]:
        if type(x) not in (int, Fraction) or x.denominator != 1:
            raise MalformedError("whole numbers in A and H0", x)
    found: list[list[Fraction]] = []
    for t in range(SCALED_STEPS + 1):
        *now, scale = H
        if scale <= 0:
            raise ValueError(f"the last unit is {scale} at time {t}, and should be positive")
        found.append([Fraction(x, scale) for x in now])
        H = [max(sum(a * x for a, x in zip(row, H, strict=True)), 0) for row in rows]
    return found


def first_states(W: list[list[Fraction]], b: list[Fraction], h0: list[Fraction]) -> list[list[Fraction]]:
    """The first states of a net without inputs, by sparse rows."""
    net = SimpleRNN(W, [[0] for _ in b], b, h0, "relu")
    return [[Fraction(h.get(j, 0)) for j in range(len(b))] for h in net.run([None] * SCALED_STEPS)]


def decide_turing(
    value: Any,
    alphabet: str,
    wanted: Callable[[str], bool],
    words: Iterable[str],
    beyond: Callable[[int], Iterable[str]],
    steps: Callable[[int], int],
) -> bool:
    """True if a Turing machine accepts the wanted words and rejects the others.

    Its net runs on the short words. On the long ones the machine runs itself, which does what its net does in far less
    time.

    Args:
        value: the machine.
        alphabet: of its words.
        wanted: whether a word belongs to the language.
        words: short ones.
        beyond: from the number of rules to words so long that no table with as many entries holds them.
        steps: from the length of a word to how many steps the machine may take.

    Raises:
        ValueError: not a machine, another alphabet, or a word on which it is wrong or silent.
    """
    if not isinstance(value, TuringMachine):
        raise MalformedError("TuringMachine(rules, start, accept, reject, blank, input_alphabet)", value)
    if set(value.input_alphabet) != set(alphabet):
        raise ValueError(
            f"the input alphabet is {''.join(map(str, value.input_alphabet))!r} and should be {alphabet!r}"
        )
    net = turing_to_rnn(value)
    runs = chain(
        ((word, net.decide) for word in words), ((word, value.decide) for word in beyond(len(value.transitions)))
    )
    for word, decide in runs:
        accepted, _ = decide(word, steps(len(word)))
        if accepted is None:
            raise ValueError(f"on {short(word)} there is no answer within {steps(len(word)):,} steps")
        if accepted != wanted(word):
            says, should = ("accepts", "reject") if accepted else ("rejects", "accept")
            raise ValueError(f"the machine {says} {short(word)} and should {should} it")
    return True


def long_brackets(size: int) -> Iterator[str]:
    """Words of brackets, a opens and b closes, that are deeper than a size: no table with so many entries holds them.

    A machine that reads a word once and has at most so many states is wrong on some: after some a's it is where it was
    d a's before, for a d up to the size, and then it accepts too many a's with the right ones, or neither.
    """
    draw = random.Random(size)
    n = max(size, 40) + draw.randint(1, 20)
    yield "a" * n + "b" * n
    for d in _few(draw, range(1, size + 1)):
        yield "a" * (n + d) + "b" * n
        yield "a" * n + "b" * (n + d)
    for _ in _few(draw, range(size))[:3]:
        word = _balanced(draw, n)
        i = draw.randrange(2 * n)
        yield from (word, word[:i] + "ab"[word[i] == "a"] + word[i + 1 :], word[:i] + word[i + 1 :])


def long_powers(size: int) -> Iterator[str]:
    """Words of a power of two letters above a size, and of up to as many more.

    A machine that reads a word once and has at most so many states is wrong on some: a length above the size may be
    longer by one that is at most the size, and the machine does not see it.
    """
    draw = random.Random(size)
    power = 2 ** max(size.bit_length(), 8)
    yield from ("a" * n for n in (power, power + power // 2, 2 * power))
    yield from ("a" * (power + d) for d in _few(draw, range(1, size + 1)))
    yield from ("a" * draw.randrange(power + 1, 2 * power) for _ in range(3))


def _few(draw: random.Random, numbers: range) -> list[int]:
    """All of up to 24 numbers, some of more at random, and the fewer the more there are; in their order."""
    return sorted(draw.sample(numbers, min(len(numbers), 24, 1 + 3000 // len(numbers))))


def _balanced(draw: random.Random, n: int) -> str:
    """A balanced word of n pairs: a random word with as many a as b, begun where it is least deep (the cycle lemma)."""
    letters = ["a"] * n + ["b"] * n
    draw.shuffle(letters)
    depths = list(accumulate(1 if letter == "a" else -1 for letter in letters))
    least = depths.index(min(depths)) + 1
    return "".join(letters[least:] + letters[:least])


def value_of_pop(value: Any, v: Fraction) -> Number:
    r""":math:`\alpha v - \beta\, \mathrm{slu}(\gamma v - \delta)` for a reader's four numbers."""
    alpha, beta, gamma, delta = _numbers(value, "alpha", "beta", "gamma", "delta")
    return alpha * v - beta * _saturated(gamma * v - delta)


def _saturated(u: Number) -> Number:
    return 0 if u < 0 else 1 if u > 1 else u


def tells_tops(value: Any, base: int, error: Fraction) -> str:
    r"""``a line`` if :math:`\mathrm{slu}(\alpha v - \beta)` is the top for all stacks, also where v has an error;
    ``None`` for None, which says that there is no such line.

    The function is monotone, so the ends of the two intervals decide.
    """
    if value is None:
        return "None"
    alpha, beta = _numbers(value, "alpha", "beta")
    for v, on_top in ((Fraction(1, base) + error, 0), (Fraction(base - 1, base) - error, 1)):
        read = _saturated(alpha * v - beta)
        if read != on_top:
            raise ValueError(f"at v = {v}, error included, you read {read}, and stacks come as near as you like to it")
    return "a line"


def right_signs(value: Any, word: str, alphabet: str, max_units: int) -> dict[str, str]:
    """After which prefixes of a word the output of a net of saturated units is positive, as :func:`by_prefix`."""
    W, U, b, h0, w, c = _parts(value)
    net = _built(lambda: Recognizer(SimpleRNN(W, U, b, h0, "slu"), w, c, alphabet), max_units)
    start = dot(net.w, net.rnn.h0) + net.c
    return by_prefix(word, (y > 0 for y in (start, *net.outputs(word))))


def by_prefix(word: str, positive: Iterable[bool]) -> dict[str, str]:
    """To each prefix of a word, the empty one first, whether the output is positive, in words for the reader."""
    return {_prefix(word, t): "positive" if sign else "not" for t, sign in enumerate(positive)}


def halting_net(value: Any, alphabet: str, max_units: int) -> HaltingNet:
    """A reader's net of ReLUs that reads words and then EOS."""
    W, U, b, h0, w, c = _parts(value)
    return _built(lambda: HaltingNet(SimpleRNN(W, U, b, h0, "relu"), w, c, alphabet), max_units)


def right_answers(
    value: Any,
    alphabet: str,
    max_units: int,
    wanted: Callable[[str], bool],
    words: Iterable[str],
    beyond: Callable[[int], Iterable[str]],
) -> bool:
    """True if the first output of a net after each word that is not 0 is 1 or -1, as wanted, within 4 |w| + 20 EOS.

    Args:
        value: the net.
        alphabet: of its words.
        max_units: how many units it may have.
        wanted: whether a word belongs to the language.
        words: short ones.
        beyond: from the size of the net, its largest number, but at least 400 and at most 1,500, to long words.
    """
    net = halting_net(value, alphabet, max_units)
    size = min(max(LEAST_SIZE, largest_number(net)), MOST_SIZE)
    for word in chain(words, beyond(size)):
        marks = 4 * len(word) + 20
        after = islice(net.outputs(word), len(word), len(word) + marks)
        answer = next(filter(None, after), None)
        should = 1 if wanted(word) else -1
        if answer is None:
            raise ValueError(f"after {short(word)} all outputs are 0 for {marks} EOS, and should come to {should}")
        if answer != should:
            raise ValueError(f"after {short(word)} the answer is {answer} and should be {should}")
    return True


LEAST_SIZE, MOST_SIZE = 400, 1_500


def largest_number(net: HaltingNet) -> int:
    """The largest numerator or denominator of a net: a threshold up to which it may count stands there."""
    rnn = net.rnn
    numbers = [*rnn.W.entries.values(), *rnn.U.entries.values(), *rnn.b, *rnn.h0, *net.w, net.c]
    return max(max(abs(n.numerator), n.denominator) for n in numbers)


def short(word: str) -> str:
    """A word in quotes, by its runs of letters if it is long."""
    if not word:
        return "the empty word ''"
    return repr(word) if len(word) <= 24 else f"{word[:10]!r}...{word[-10:]!r}, {len(word)} letters"


def _prefix(word: str, t: int) -> str:
    return word[:t] if t <= 24 else f"{word[:10]}...{word[t - 10 : t]}, {t} letters"


def _parts(value: Any) -> tuple[Any, ...]:
    parts = parts_of(value, *PARTS)
    for name, part in zip(PARTS[:5], parts, strict=False):
        rows = part if name in "WU" and isinstance(part, Iterable) else ()
        if not isinstance(part, Iterable | Matrix) or not all(isinstance(row, Iterable) for row in rows):
            kind = "list of rows" if name in "WU" else "list of numbers"
            raise MalformedError(f"{name} as a {kind}", part)
    return parts


def _built(build: Callable[[], Any], max_units: int) -> Any:
    try:
        net = build()
    except (TypeError, ValueError) as error:
        raise MalformedError("a net", why=f"but {error}") from error
    if net.rnn.units > max_units:
        raise ValueError(f"the net has {net.rnn.units} units, and at most {max_units} are asked for")
    return net


def _numbers(value: Any, *names: str) -> tuple[Number, ...]:
    parts = parts_of(value, *names, what="numbers")
    try:
        return vector(parts, "the answer")
    except TypeError as error:
        other = next(part for part in parts if type(part) not in (int, Fraction))
        raise MalformedError("exact numbers, int or Fraction", other) from error
