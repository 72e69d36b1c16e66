r"""The hierarchy of cells as a table that runs: how many states, what they compute, where they must fail."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import torch
from attrs import frozen
from torch import Tensor, nn

from fhx._checks import at_least, one_of, positive_number
from fhx._modules import undrawn
from fhx.compile.automata import dfa_to_rnn
from fhx.compile.counters import counters_to_rnn
from fhx.compile.counters_lstm import CounterLSTM, counters_to_lstm
from fhx.compile.palindrome_net import marked_palindromes
from fhx.compile.saturated import SaturatedNet
from fhx.exact import Recognizer
from fhx.machines import COUNTER_MACHINES, DFA, CounterMachine, all_words, equal_blocks_mistake, palindrome_mistake
from fhx.machines.words import State, Symbol, Word

__all__ = ["HierarchyRow", "halving_gru", "hierarchy", "saturated_automaton", "saturated_counters"]

Kind = Literal["tanh", "GRU"]
RANDOM_UNITS = 8
KINDS: tuple[Kind, ...] = ("tanh", "GRU")
NETS: Mapping[str, Callable[..., nn.RNNBase]] = {"tanh": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}


def saturated_automaton(dfa: DFA, kind: Kind = "tanh") -> SaturatedNet:
    r"""A finite automaton as a saturated tanh net of :math:`|Q||\Sigma| + 1` units, or as a GRU of as many.

    The tanh net is that of :class:`fhx.compile.NoiseProofNet`. A GRU with :math:`z = 0` and :math:`r = 1` is a tanh
    net, so it needs no other.

    Args:
        dfa: any machine, over an alphabet of any kind.
        kind: "tanh" or "GRU".

    Raises:
        ValueError: the kind is unknown.
    """
    one_of("kind", kind, KINDS)
    found = dfa_to_rnn(dfa, "tanh")
    W, U, b, h0, w = (torch.from_numpy(part) for part in (found.W, found.U, found.b, found.h0, found.w))
    if kind == "GRU":
        gates = torch.ones_like(b), -torch.ones_like(b)
        W, U, b = torch.cat([0 * W, 0 * W, W]), torch.cat([0 * U, 0 * U, U]), torch.cat([*gates, b])
    return SaturatedNet(_net(NETS[kind], W, U, b), _readout(w, found.c), dfa.alphabet, h0)


def saturated_counters(net: CounterLSTM) -> SaturatedNet:
    """The limit of an LSTM that runs a counter machine.

    Args:
        net: the LSTM. The limit's first state is the one after the vector of zeros that stands before a word.
    """
    alphabet, like = net.machine.alphabet, net.readout.weight
    empty = SaturatedNet(net.lstm, net.readout, alphabet)
    zeros = like.new_zeros(1, 2 * net.units), like.new_zeros(1, len(alphabet))
    return SaturatedNet(net.lstm, net.readout, alphabet, empty.next_states(*zeros)[0])


def halving_gru(gain: float = 1.0) -> SaturatedNet:
    r"""A GRU of six units that counts: it accepts the words with as many a as b, by gates that stand at exactly 1/2.

    Units A and B start at 1, and have the candidate 0. The update gate of A is driven by :math:`g (1 - x_a)`, so an a
    halves it, at any gain, and with :math:`g \to \infty` nothing else changes it; B is the same for b. So they are
    :math:`2^{-\#a}` and :math:`2^{-\#b}`. The four other units forget, :math:`z = 0`, and compare the new A and B,

    .. math::

       \begin{aligned}
       & \tanh g (\tfrac12 A - \tfrac34 B - 2 + 2 x_a), && \tanh g (B - \tfrac38 A - 2 + 2 x_a), \\
       & \tanh g (A - \tfrac38 B - 2 + 2 x_b), && \tanh g (\tfrac12 B - \tfrac34 A - 2 + 2 x_b).
       \end{aligned}

    The two for the letter that is not read are -1. Of the other two both are 1 if A and B are equal, whereas one of
    them is -1 if not, since then one is at least twice the other. The output is the sum of the four, and 1.

    So the bound of :math:`3^d` states for saturated GRUs needs its condition. But A and B have to be seen: after n of
    both letters they are :math:`2^{-n}`, and the output, about :math:`2 \tanh(g 2^{-n} / 4) - 1`, is positive from a
    gain of :math:`2.2 \cdot 2^n` on. An LSTM does with :math:`2 \ln n` or so: :func:`fhx.compile.lstm_gain`.

    Args:
        gain: g, by which all weights are multiplied; in the limit it does not matter.

    Raises:
        ValueError: ``gain`` is not a positive number.
    """
    g = positive_number("gain", gain)
    W, U, b = (torch.zeros(18, *shape).double() for shape in ((6,), (2,), ()))
    z, n = slice(6, 8), slice(14, 18)  # the update gates of A and B, the candidates of the others
    b[:8], b[8:12], b[n] = 1, -1, -2
    U[z] = -torch.eye(2).double()
    U[n] = torch.tensor([[2, 0], [2, 0], [0, 2], [0, 2]]).double()
    W[n, :2] = torch.tensor([[1 / 2, -3 / 4], [-3 / 8, 1], [1, -3 / 8], [-3 / 4, 1 / 2]]).double()
    w, h0 = torch.tensor([0, 0, 1, 1, 1, 1]).double(), torch.tensor([1, 1, 1, 1, -1, -1]).double()
    return SaturatedNet(_net(nn.GRU, g * W, g * U, g * b), _readout(w, 1.0), "ab", h0)


@frozen
class HierarchyRow:
    """One net of the table.

    Attributes:
        cell: its kind.
        language: what it recognises, or how its weights were made.
        units: how many it has.
        counts: how many states the words of each asked length lead to.
        words: so many short words were tried, and all verdicts are right; 0 where nothing is recognised.
        mistake: a word on which the net is wrong about a language that so few states rule out, found from the net, and
            that language; None where none is looked for.
    """

    cell: str
    language: str
    units: int
    counts: tuple[int, ...]
    words: int
    mistake: tuple[Word, str] | None


def hierarchy(lengths: Sequence[int] = (4, 8, 16), seed: int = 0) -> list[HierarchyRow]:
    r"""The table of saturated nets: numbers of states, a language that each recognises, and a word that it cannot.

    Tanh nets and GRUs have finitely many states, so :func:`fhx.machines.equal_blocks_mistake` catches them. LSTMs have
    polynomially many, and recognise what counter machines do; :func:`fhx.machines.palindrome_mistake` catches them.
    ReLU nets, whose number of states is exponential, recognise the marked palindromes too.

    Args:
        lengths: of the words after which states are counted. They take time and memory, where there are many.
        seed: of the nets with random weights.

    Raises:
        ValueError: a length is not an integer of at least 0.
        RuntimeError: a verdict of a net is wrong.
    """
    lengths = [at_least("lengths", length, 0) for length in lengths]
    blocks = _equal_blocks_up_to(3)
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for kind in KINDS:
        net = saturated_automaton(blocks, kind)
        wrong = _found(equal_blocks_mistake(net, 3**net.net.hidden_size), "a^n b^n")
        rows.append(_row(kind, "a^n b^n, n up to 3", net, lengths, blocks.accepts, 10, wrong))
        rows.append(_row(kind, "random weights", _random(kind, RANDOM_UNITS, generator), lengths))
    rows.append(_row("GRU, two gates at 1/2", "as many a as b", halving_gru(), lengths, _balanced, 10))
    compiled: dict[str, Callable[[CounterMachine], SaturatedNet]] = {
        "LSTM": lambda machine: saturated_counters(counters_to_lstm(machine)),
        "ReLU": lambda machine: _relu(counters_to_rnn(machine)),
    }
    for cell, compile_ in compiled.items():
        for name, longest in (("a^n b^n", 10), ("anagrams", 7)):
            machine = COUNTER_MACHINES[name]
            net = compile_(machine)
            wrong = _found(palindrome_mistake(net, 100), "marked palindromes") if "#" in machine.alphabet else None
            rows.append(_row(cell, name, net, lengths, machine.accepts, longest, wrong))
        if cell == "LSTM":
            rows.append(_row(cell, "random weights", _random(cell, RANDOM_UNITS, generator), lengths))
    rows.append(_row("ReLU", "marked palindromes", _relu(marked_palindromes()), lengths, _marked, 7))
    return rows


def _found(word: Word | None, language: str) -> tuple[Word, str] | None:
    return None if word is None else (word, language)


def _row(
    cell: str,
    language: str,
    net: SaturatedNet,
    lengths: Sequence[int],
    contains: Callable[[str], bool] | None = None,
    longest: int = 0,
    mistake: tuple[Word, str] | None = None,
) -> HierarchyRow:
    counts = net.state_counts(max(lengths, default=0))
    words = list(all_words("".join(map(str, net.alphabet)), longest)) if contains else []
    for word, verdict in zip(words, net.verdicts(longest), strict=False):
        if contains and verdict != contains(word):
            raise RuntimeError(f"the {cell} for {language} is wrong about {word!r}")
    return HierarchyRow(cell, language, net.net.hidden_size, tuple(counts[n] for n in lengths), len(words), mistake)


def _random(kind: str, units: int, generator: torch.Generator) -> SaturatedNet:
    """Gaussian weights, over the letters a and b; no sum of them is 0."""
    rows = units * {"tanh": 1, "GRU": 3, "LSTM": 4}[kind]
    W, U, b, w = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((rows, units), (rows, 2), (rows,), (units,))
    )
    return SaturatedNet(_net(NETS[kind], W, U, b), _readout(w, 0.0), "ab")


def _relu(recognizer: Recognizer) -> SaturatedNet:
    net = recognizer.to_torch(exact=False)
    return SaturatedNet(net.rnn, net.readout, recognizer.alphabet, net.h0)


def _net(make: Callable[..., nn.RNNBase], W: Tensor, U: Tensor, b: Tensor) -> nn.RNNBase:
    net = undrawn(make, U.shape[1], W.shape[1], dtype=W.dtype)
    values = {"weight_hh_l0": W, "weight_ih_l0": U, "bias_ih_l0": b, "bias_hh_l0": 0 * b}
    with torch.no_grad():
        for name, value in values.items():
            getattr(net, name).copy_(value)
    return net


def _readout(w: Tensor, c: float) -> nn.Linear:
    readout = undrawn(nn.Linear, len(w), 1, dtype=w.dtype)
    with torch.no_grad():
        readout.weight[0].copy_(w)
        readout.bias.fill_(c)
    return readout


def _equal_blocks_up_to(n: int) -> DFA:
    """The words :math:`a^m b^m` with m at most n."""
    states = [*(("a", m) for m in range(n + 1)), *(("b", m) for m in range(n)), "none"]
    moves: dict[tuple[State, Symbol], State] = {(q, x): "none" for q in states for x in "ab"}
    moves |= {(("a", m), "a"): ("a", m + 1) for m in range(n)}
    moves |= {(("a", m), "b"): ("b", m - 1) for m in range(1, n + 1)}
    moves |= {(("b", m), "b"): ("b", m - 1) for m in range(1, n)}
    return DFA(states, "ab", moves, ("a", 0), [("a", 0), ("b", 0)])


def _balanced(word: str) -> bool:
    return word.count("a") == word.count("b")


def _marked(word: str) -> bool:
    before, mark, after = word.partition("#")
    return mark == "#" and after == before[::-1]
