"""Theorem 4.7 as a compiler: rational weights, and a start that holds any language as a real number."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction

from fhx.compile.language_net import LanguageNet
from fhx.compile.lemma import step_to_rnn
from fhx.compile.names import unique
from fhx.compile.word_list import WordList
from fhx.exact import DigitStream, Expression, HaltingNet, Step, relu, slu, sum_of, variable
from fhx.exact.numbers import Number
from fhx.exact.stacks import check_base, sharpened
from fhx.machines.validation import in_order

__all__ = ["digit_bound", "language_to_rnn", "step_bound"]

FLAGS = ("load", "gap", "searching", "equal", "accept", "reject")


def language_to_rnn(
    alphabet: Sequence[Hashable],
    words: Iterable[Iterable[Hashable]] | Callable[[], Iterable[Iterable[Hashable]]],
    base: int = 3,
) -> LanguageNet:
    r"""A simple ReLU RNN with rational W, U, b and a real start that decides a language, any language.

    The words of L in order, each followed by #, make a string :math:`\langle L \rangle`, infinite if L is. The start
    holds it as a stack: one number per symbol and one for #,

    .. math:: \mathrm{list} = \sum_{t \ge 1} \frac{B-1}{B^t} e_{\langle L \rangle(t)},

    a real number each, and rational if L is finite. The net **reads one symbol of the list per step** and never goes
    back: it keeps a copy of the word, compares with a second one, which is used up, and takes a new one at each #. Its
    state, where bits are 0 or 1 and all stacks are vectors of numbers in [0, 1]:

    - *load*, a bit: the word is being read; *gap*, the weight of the next symbol in *copy*, which holds the word;
    - *letter*, bits: the next letter of the word to be compared, none at its end; *rest*, the stack of those after it;
    - *read*, bits: the symbol of the list read last, none past its end; *list*, the stack of those after it;
    - *searching*, a bit; *equal*, a bit: no difference since the last #; *accept* and *reject*, bits: the answer.

    In the step after the word the search begins with a # that is not in the list. In each of the following ones

    - at #: *accept* if the word is at its end too, and *equal*; else *letter* and *rest* become top and rest of *copy*;
    - at a symbol: *reject* if the word is at its end, since all words further on are longer than it; else compare;
    - past the end of the list: *reject*.

    A condition on bits is one ReLU: their sum less one than they are. A stack moves on by :math:`B z - (B-1)\,
    \mathrm{top}(z)`, which is linear in ReLUs that depend on the stack alone: two make the top, and one is :math:`B z`.
    A gate for all three is a bit in their sums, :math:`\mathrm{relu}(B (z + \mathrm{gate} - 1))`. So one hidden layer
    is enough, and a step of the search is a step of the net. How long a search takes is bounded by :func:`step_bound`,
    and how many digits it looks at by :func:`digit_bound`; there are :math:`13 |\Sigma| + 13` units.

    Args:
        alphabet: the symbols, ordered; a string is its characters.
        words: L, its words in strict length-then-alphabet order; or a function without arguments that gives them. They
            are read once, and no further than runs ask for; what was read is kept. They may go on for ever, but a
            generator that searches for ever for a next word that does not exist makes runs wait for ever.
        base: B of the stacks, at least 3.

    Raises:
        TypeError: the alphabet or the words are a set, which has no order, or the words are a string or not iterable.
        ValueError: the alphabet is empty or has a symbol twice, or the base is below 3. When the words are read: two
            are not in order, or one has a symbol outside the alphabet.

    Source: Theorem 4.7 of the lecture notes, whose machine is this one without an end of the list, which finite
    languages have; Siegelmann and Sontag (1994), Analog computation via neural networks.
    """
    base = check_base(base)
    symbols = in_order(alphabet, "symbols of the alphabet")
    if not symbols:
        raise ValueError("the alphabet is empty")
    listed = WordList(symbols, words)
    step, out = _search(symbols, base)
    network = step_to_rnn(step, out)
    row = network.V.row(0)
    empty = HaltingNet(network.rnn, [row.get(j, 0) for j in range(network.units)], 0, symbols, decoder=network.decoder)
    units = [network.rnn.unit_names.index(f"hold list[{c}]") for c in _names(symbols)]
    reals = {unit: _component(listed, c, base) for c, unit in enumerate(units)}
    return LanguageNet(empty, reals, listed)


def digit_bound(steps: int) -> int:
    r"""How many digits of each real the outputs up to the T-th end mark depend on: at most :math:`\max(T - 2, 0)`.

    Proof. While the word is read, and with the first end mark, *searching* is 0, and all units that depend on *list*
    are closed but for the one that holds it. With each further end mark, as long as *searching* is 1, the tops of
    *list* become the bits *read*: this takes one digit of each component, and then all ReLUs are open or closed
    whatever follows. Afterwards, *searching* is 0 again. So the bits at time T come from the first T - 1 digits, and
    the output from the bits at time T - 1.

    A run that answers after T end marks looks at exactly T - 2 digits of each real, and one less is too few where the
    last symbol read is the # behind the word: in its place, the end of the list makes the answer -1.

    Args:
        steps: T.
    """
    return max(steps - 2, 0)


def step_bound(length: int, words: int) -> int:
    r"""End marks within which a word of length n is answered: :math:`(N + 1)(n + 1) + 2`, where N words of L have
    length n or less.

    Proof. One end mark to start, one for the first #, then one for each symbol of the list that is read. No more than N
    words are read to their #, each with at most n + 1 symbols; of the next, which is longer, n + 1 symbols.
    """
    return (words + 1) * (length + 1) + 2


def _search(alphabet: Sequence[Hashable], base: int) -> tuple[Step, Expression]:
    """The step of the search with an empty list, and its output."""
    letters = _names(alphabet)[:-1]
    load, gap, searching, equal, accept, reject, end = map(variable, [*FLAGS, "EOS"])
    copy, letter, rest, x = ({a: variable(f"{kind}[{a}]") for a in letters} for kind in ("copy", "letter", "rest", "x"))
    read, listed = ({c: variable(f"{kind}[{c}]") for c in _names(alphabet)} for kind in ("read", "list"))
    mark = read[_names(alphabet)[-1]]
    more = sum_of(letter.values())

    begin = relu(load + end - 1, "begin")
    accepts = relu(equal + mark - more - 1, "accept")
    rejects = relu(searching - mark - more, "word over")
    rejects += relu(searching + more - sum_of(read.values()) - 1, "list over")
    state = {
        "load": relu(load - end, "load"),
        "gap": Fraction(1, base) * relu(gap - end, "gap"),
        "searching": relu(searching + load + end - 1, "searching") - accepts - rejects,
        "equal": relu(searching + mark - 1, "again") - accepts,
        "accept": accepts,
        "reject": rejects,
    }
    for a in letters:
        state["equal"] += relu(equal + letter[a] + read[a] - 2, f"equal {a}")
        state[f"copy[{a}]"] = relu(copy[a], f"copy[{a}]") + (base - 1) * relu(gap + x[a] - 1, f"append {a}")
        top = _gated_top(copy[a], mark, base, f"first {a}") + _gated_top(rest[a], 1 - mark, base, f"next {a}")
        state[f"letter[{a}]"] = top
        opened = relu(base * (copy[a] + mark - 1), f"reload {a}") + relu(base * (rest[a] - mark), f"rest[{a}]")
        state[f"rest[{a}]"] = opened - (base - 1) * top
    for c in listed:
        top = _gated_top(listed[c], searching, base, f"read {c}")
        state[f"read[{c}]"] = top + begin if read[c] is mark else top
        opened = relu(base * (listed[c] + searching - 1), f"list[{c}]")
        state[f"list[{c}]"] = relu(listed[c] - searching, f"hold list[{c}]") + opened - (base - 1) * top

    h0: dict[str, Number] = {**dict.fromkeys(state, 0), "load": 1, "gap": Fraction(1, base)}
    inputs = (*(f"x[{a}]" for a in letters), "EOS")
    return Step(state, inputs, h0), accept - reject


def _names(alphabet: Sequence[Hashable]) -> tuple[str, ...]:
    """What the symbols are called in the names of units, # last."""
    return unique((*alphabet, "#"))


def _gated_top(z: Expression, gate: Expression, base: int, name: str) -> Expression:
    """The top of a stack if the gate is 1, else 0."""
    largest = Fraction(base - 1, base - 2)
    return slu(sharpened(z, base) + largest * (gate - 1), name)


def _component(listed: WordList, c: int, base: int) -> DigitStream:
    """The real number of the list that has the digit B - 1 where the symbol is c."""
    return DigitStream(lambda t: (base - 1) * (listed.symbol(t) == c), base)
