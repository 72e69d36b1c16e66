"""Running what a reader designed in exact numbers: automata, thresholds, codes and nets with integer weights.

Each function takes the reader's value first and raises a ValueError that says what was expected of it.
"""

import random
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import chain, cycle, islice
from typing import Any

from fhx.exact import Recognizer, SimpleRNN
from fhx.exact.numbers import Activation, Number, dot, vector
from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import PARTS, parts_of
from fhx.exercises.evaluate_turing import short
from fhx.machines import DFA, all_words

__all__ = [
    "decide_machine",
    "describe_word",
    "layers_by_jumps",
    "net_outputs",
    "right_hats",
    "right_layers",
    "right_net",
    "right_start",
    "threshold_side",
]

Word = Sequence[Hashable]
MACHINE_PARTS = "states, alphabet, transitions, start, accept"


def decide_machine(value: Any, wanted: DFA) -> bool:
    """True if a DFA, or its five parts, accepts the wanted language; this is decided, not sampled.

    Raises:
        ValueError: not a machine, or a wrong one, with a shortest word on which it is wrong.
    """
    if isinstance(value, list | tuple) and len(value) == 5:
        value = _machine(value)
    if not isinstance(value, DFA):
        raise MalformedError(f"DFA({MACHINE_PARTS}) or these five in a tuple", value)
    word = value.equivalent(wanted).word
    if word is None:
        return True
    says, should = ("accepts", "reject") if value.accepts(word) else ("rejects", "accept")
    raise ValueError(f"the machine {says} {word!r} and should {should} it; no shorter word shows a mistake")


def _machine(parts: Sequence[Any]) -> DFA:
    try:
        return DFA(*parts)
    except (TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise MalformedError(f"DFA({MACHINE_PARTS})", why=f"but {error}") from error


def threshold_side(value: Any, x: Sequence[int]) -> bool:
    """On which side of the hyperplane (w1, ..., wn, b) the point x lies: w . x + b >= 1, or <= -1."""
    names = [*(f"w{i}" for i in range(1, len(x) + 1)), "b"]
    *w, b = _integers(parts_of(value, *names, what="integers"), "the answer")
    side = dot(w, x) + b
    if side == 0:
        raise ValueError(f"w . x + b is 0 at x = {x}, neither at least 1 nor at most -1")
    return side > 0


def net_outputs(value: Any, word: Word, alphabet: Sequence[Hashable], max_units: int | None = None) -> list[Number]:
    r"""The outputs :math:`y_0, \dots, y_T` of a ReLU net (W, U, b, h0, w, c) with integer weights on a word.

    Args:
        value: W and U as lists of rows, one row per unit, and one column of U per symbol.
        word: symbols of the alphabet.
        alphabet: the symbols.
        max_units: how many units the net may have.
    """
    return _outputs(_net(value, alphabet, max_units), word)


def right_net(value: Any, wanted: DFA, max_units: int | None = None, activation: Activation = "relu") -> bool:
    """True if a net as in ``net_outputs`` puts out 1 on the words of a machine and 0 on all others.

    The pairs of a state of the net and one of the machine are searched breadth first, so this is decided. Only from a
    net that is in more than 2,000 pairs with the machine words are tried: those of the pairs found, and long ones, of
    which some are drawn and have 3,000 letters.

    Args:
        value: the net.
        wanted: the machine, over letters.
        max_units: how many units the net may have.
        activation: "relu" or "slu".

    Raises:
        ValueError: not a net, or a wrong one, with a word on which it is wrong; a shortest one unless there were too
            many pairs.
    """
    word, is_shortest, output, should = _mistake(_net(value, wanted.alphabet, max_units, activation), wanted)
    if word is None:
        return True
    name = repr(word) if is_shortest and word else short(word)
    least = "; no shorter word shows a mistake" if is_shortest else ""
    raise ValueError(f"the output after {name} is {output} and should be {should}{least}")


def _mistake(net: Recognizer, wanted: DFA) -> tuple[str | None, bool, Number, int]:
    """A word with a wrong output, or None; whether no shorter one has; the output; and what it should be."""
    start = (frozenset((j, value) for j, value in enumerate(net.rnn.h0) if value), wanted.start)
    letters = "".join(map(str, wanted.alphabet))
    words = {start: ""}
    queue = [start]
    for h, q in queue:  # grows while it is read
        word, output = words[h, q], net.c + sum(net.w[j] * value for j, value in h)
        if output != (q in wanted.accept):
            return word, True, output, int(q in wanted.accept)
        for column, letter in enumerate(letters):
            pair = frozenset(net.rnn.step(dict(h), column).items()), wanted.transitions[q, letter]
            if pair not in words and len(queue) <= MOST_PAIRS:
                words[pair] = word + letter
                queue.append(pair)
    if len(queue) > MOST_PAIRS:
        draw = random.Random(0)
        words_of = (cycle(period) for period in filter(None, all_words(letters, 4)))
        drawn = (draw.choices(letters, k=MOST_LETTERS) for _ in range(3))
        for word in map("".join, chain((islice(letters_of, LONG) for letters_of in words_of), drawn)):
            for t, (output, q) in enumerate(zip(_outputs(net, word), wanted.run(word), strict=True)):
                if output != (q in wanted.accept):
                    return word[:t], False, output, int(q in wanted.accept)
    return None, True, 0, 0


MOST_PAIRS = 2_000
LONG, MOST_LETTERS = 200, 3_000


def _net(
    value: Any, alphabet: Sequence[Hashable], max_units: int | None, activation: Activation = "relu"
) -> Recognizer:
    W, U, b, h0, w, c = parts_of(value, *PARTS)
    for name, part in zip(PARTS[:-1], value, strict=False):
        rows = name in "WU"
        if _length(part) is None or (rows and None in map(_length, part)):
            raise MalformedError(f"{name} as a list of {'rows, one' if rows else 'numbers, one'} per unit", part)
    try:
        net = Recognizer(SimpleRNN(W, U, b, h0, activation), w, c, alphabet)
    except (TypeError, ValueError) as error:
        raise MalformedError("a net", why=f"but {error}") from error
    if max_units is not None and net.units > max_units:
        raise ValueError(f"the net has {net.units} units, and at most {max_units} are asked for")
    if not net.rnn.is_integer:
        raise MalformedError("weights and a start in integers", why="got fractions among them")
    _integers((*net.w, net.c), "the readout")
    return net


def _outputs(net: Recognizer, word: Word) -> list[Number]:
    return [dot(net.w, net.rnn.h0) + net.c, *net.outputs(word)]


FUNCTIONS: tuple[Callable[[int, int], int], ...] = (
    lambda u, v: min(u, v),
    lambda u, v: max(0, min(u, v)),
    lambda u, v: sorted([0, u, v])[1],
    lambda u, v: max(0, u, v) - min(0, u, v),
    lambda u, v: abs(u - abs(v)),
    lambda u, v: abs(abs(u) - abs(v)),
)
"""The six functions of which some have one hidden layer; linear along rays, with creases on axes and diagonals."""


def layers_by_jumps() -> tuple[bool, ...]:
    """Which of the six have one hidden layer: those that bend alike on both halves of each line of creases.

    One hidden layer has constant jumps. The other way round, if the jumps of one of the six are constant, a sum of
    ReLUs has the same ones; the difference has no crease, so it is linear.
    """

    def bend(f: Callable[[int, int], int], u: int, v: int) -> int:
        return f(10 * u - v, 10 * v + u) + f(10 * u + v, 10 * v - u) - 2 * f(10 * u, 10 * v)

    lines = ((1, 0), (0, 1), (1, 1), (1, -1))
    return tuple(all(bend(f, u, v) == bend(f, -u, -v) for u, v in lines) for f in FUNCTIONS)


def right_layers(value: Any) -> tuple[bool, ...]:
    """The answers on the six functions if all are right; a ValueError says how many are, and not which."""
    if not isinstance(value, list | tuple) or [type(answer) for answer in value] != [bool] * len(FUNCTIONS):
        raise MalformedError(f"a tuple of {len(FUNCTIONS)} values True or False", value)
    right = sum(mine == answer for mine, answer in zip(value, layers_by_jumps(), strict=True))
    if right < len(FUNCTIONS):
        raise ValueError(f"{right} of the {len(FUNCTIONS)} answers are right")
    return tuple(value)


def right_hats(value: Any, n: int) -> bool:
    r"""True if (H, c) makes one-hot vectors of the numbers :math:`v = 0, \dots, n - 1`: entry k of the v-th is
    :math:`c_k + \sum_j H_{kj}\, \mathrm{relu}(v - j)`. A ValueError names the first one that is wrong.
    """
    expected = f"(H, c) with {n} rows of {n - 1} integers and {n} integers, for n = {n}"
    shape = [_length(part) for part in value] if _length(value) == 2 else []
    if shape != [n, n] or any(_length(row) != n - 1 for row in value[0]):
        raise MalformedError(expected, value)
    H, c = [_integers(row, f"H[{k}]") for k, row in enumerate(value[0])], _integers(value[1], "c")
    for v in range(n):
        for k, (row, bias) in enumerate(zip(H, c, strict=True)):
            entry = bias + sum(a * max(0, v - j) for j, a in enumerate(row))
            if entry != (v == k):
                raise ValueError(f"at v = {v} your function for k = {k} is {entry}, and it should be {int(v == k)}")
    return True


def describe_word(word: Any, left: DFA, right: DFA) -> str:
    """A word that one of two machines accepts and the other rejects, by its length; None is described too."""
    if word is None:
        return "None: no word tells the two apart"
    if not isinstance(word, str) or not set(word) <= set(left.alphabet):
        raise MalformedError(f"a string over {''.join(map(str, left.alphabet))!r}, or None", word)
    if left.accepts(word) == right.accepts(word):
        both = "accept" if left.accepts(word) else "reject"
        raise ValueError(f"both machines {both} {short(word)}, which does not tell them apart")
    return f"a word of length {len(word)} on which they differ"


def right_start(value: Any, first: Sequence[int], again: Sequence[int]) -> bool:
    r"""True if the start :math:`z_0` gives the bits ``first`` and then ``again`` for ever.

    The net is the one with :math:`v_t = \mathrm{slu}(3 z_t - 1)` and :math:`z_{t+1} = \mathrm{slu}(3 z_t - 2 v_t)`.

    Raises:
        ValueError: not an exact number in [0, 1]; or the outputs are not ``first`` and twice ``again``; or they are,
            but after ``first`` and after ``again`` the net is not in the same state, so that it does not go on so.
    """
    if type(value) not in (int, Fraction):
        raise MalformedError("an exact number, a Fraction or int", value)
    if not 0 <= value <= 1:
        raise ValueError(f"the start lies between 0 and 1, and {value} does not")
    wanted = [*first, *again, *again]
    h0 = [value, min(max(0, 3 * value - 1), 1)]
    net = SimpleRNN([[3, -2], [9, -6]], [[0], [0]], [0, -1], h0, "slu")
    states = [(h.get(0, 0), h.get(1, 0)) for h in net.run([0] * (len(wanted) - 1))]
    bits = [v for _, v in states]
    if bits != wanted:
        name = "bits" if set(bits) <= {0, 1} else "outputs"
        raise ValueError(f"its {name} are [{', '.join(map(str, bits))}] and should be {wanted}")
    if states[len(first)] != states[len(first) + len(again)]:
        raise ValueError(f"the first {len(wanted)} bits are right, but they do not go on so for ever")
    return True


def _length(value: Any) -> int | None:
    """How many items a value has, None if it has none to count."""
    try:
        return len(value)
    except TypeError:
        return None


def _integers(values: Any, name: str) -> list[int]:
    """Whole numbers; a ValueError names one that is not."""
    try:
        numbers = vector(values, name)
    except TypeError as error:
        other = [value for value in values if type(value) not in (int, Fraction)] if _length(values) else [values]
        raise MalformedError(f"integers in {name}", *other[:1]) from error
    if fractions := [value for value in numbers if not isinstance(value, int)]:
        raise MalformedError(f"integers in {name}", fractions[0])
    return [value for value in numbers if isinstance(value, int)]
