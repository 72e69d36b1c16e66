r"""Definite memory: machines whose answer depends on the last k symbols only, and contractive nets that are such.

A machine is **definite of order k** if any two words of at least k symbols with the same last k of them are both
accepted or both rejected. A contraction whose output keeps a margin is one
(:func:`~fhx.stability.window_for_margin`), and every such machine has a contraction
(:func:`~fhx.stability.definite_net`). PARITY is definite of no order.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import inf, log

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from fhx._checks import check_kind, non_negative, positive_number
from fhx._modules import undrawn
from fhx.cells import LinearCell
from fhx.dynamics import unroll
from fhx.machines import DFA, all_words
from fhx.stability.contraction import check_rate
from fhx.stability.norms import EPS, UP

MOST_CODES = 2**16


def definite_order(dfa: DFA) -> int | None:
    r"""The least k for which the last k symbols decide; None if there is no such k.

    Of the minimal machine, let :math:`p \sim_k q` say that every word of k symbols leads p and q to one state:

    .. math:: p \sim_0 q \iff p = q, \qquad p \sim_{k+1} q \iff \delta(p, a) \sim_k \delta(q, a) \text{ for all } a.

    The classes only grow; the order is the first k with a single class, and there is none if they stop growing before.
    So the order of a machine with n states is at most :math:`n - 1`.

    Args:
        dfa: any machine; it is minimised first.

    Raises:
        TypeError: ``dfa`` is not a DFA.

    Source: Perles, Rabin and Shamir (1963), "The theory of definite automata".
    """
    check_kind(dfa, DFA, "definite_order")
    machine = dfa.minimize()
    merged = {q: number for number, q in enumerate(machine.states)}
    count, order = len(merged), 0
    while count > 1:
        rows = {q: tuple(merged[machine.transitions[q, a]] for a in machine.alphabet) for q in machine.states}
        number = {row: i for i, row in enumerate(dict.fromkeys(rows.values()))}
        if len(number) == count:
            return None
        merged = {q: number[row] for q, row in rows.items()}
        count, order = len(number), order + 1
    return order


def window_for_margin(rate: float, diameter: float, lipschitz: float, margin: float) -> int:
    r"""How many of the last symbols decide what a contraction with a margin answers: the least :math:`k \ge 0` with

    .. math:: L \lambda^k \operatorname{diam} K < 2 \mu .

    Two words with the same last k symbols lead the states that they had before, both in K, to states at most
    :math:`\lambda^k \operatorname{diam} K` apart, and their outputs are at most L times that apart. Outputs on two
    sides of the threshold are at least :math:`2 \mu` apart. One more where rounding hides which.

    Args:
        rate: :math:`\lambda < 1`, of the step on K.
        diameter: of K, a set of states that no run leaves, in the norm of the rate.
        lipschitz: L, of the output g on K, in that norm.
        margin: :math:`\mu > 0`, with :math:`|g(h_T) - \theta| \ge \mu` after every word, for the threshold
            :math:`\theta`.

    Raises:
        ValueError: ``rate`` is outside 0 to 1, the margin is not positive, or another number is negative or infinite.

    Source: Hammer and Tino (2003), "Recurrent neural networks with small weights implement definite memory machines".
    """
    check_rate(rate)
    reach = lipschitz * diameter
    for name, value in (("diameter", diameter), ("lipschitz", lipschitz), ("lipschitz * diameter", reach)):
        non_negative(name, value)
    positive_number("margin", margin)

    def decides(k: int) -> bool:
        return reach * rate**k * UP < 2 * margin

    if decides(0):
        return 0
    if rate == 0:
        return 1
    k = max(1, int((log(reach) - log(2 * margin)) / -log(rate)))
    while not decides(k):  # the logarithms are rounded
        k += 1
    while decides(k - 1):
        k -= 1
    return k


@dataclass(frozen=True, eq=False)
class DefiniteNet:
    r"""A linear net that contracts and recognises a definite language: a shift register and a readout with a margin.

    .. math:: h_t = \lambda S h_{t-1} + U x_t, \qquad y_t = g(h_t), \qquad \text{accepted} \iff y_T > 0.

    The state has k blocks of :math:`|\Sigma|` numbers; S shifts every block to the next one, and U writes the one-hot
    vector of the symbol into the first. So block i (from 0) is :math:`\lambda^i x_{t-i}`, and 0 before the start: every
    word has a code, which its last k symbols decide. With :math:`d_A, d_R` the distances, in the max norm, to the
    nearest code of an accepted and of a rejected word,

    .. math:: g(h) = \max(-\mu, \min(\mu, \tfrac12 (d_R - d_A))), \qquad \mu = \tfrac12 \lambda^{k-1},

    which has the Lipschitz constant 1 and is :math:`\pm \mu` at every code, since two codes are at least
    :math:`\lambda^{k-1}` apart.

    Args:
        cell: :math:`(h, x) \mapsto \lambda S h + U x`, in float64.
        alphabet: the symbols, in the order of the input's coordinates.
        order: k, the order of the machine; for k = 0 there is one block, which nothing looks at.
        margin: :math:`\mu`, also for k = 0.
        codes: of all words of at most k symbols.
        accepted: which of them are accepted.
    """

    cell: LinearCell
    alphabet: tuple[Hashable, ...]
    order: int
    margin: float
    codes: Float[Tensor, "words width"]
    accepted: Bool[Tensor, " words"]

    @property
    def rate(self) -> float:
        r""":math:`\lambda`, the gain of every step in the 2-norm and in the max norm; 0 if there is one block only."""
        return self.cell.W.abs().max().item()

    @property
    def window(self) -> int:
        """What :func:`window_for_margin` gives for this net, on states between 0 and 1: the order itself."""
        return window_for_margin(self.rate, 1.0, 1.0, self.margin)

    def encode(self, word: Iterable[Hashable]) -> Float[Tensor, "time 1 symbols"]:
        """The word as one-hot vectors, time first, in a batch of one.

        Raises:
            ValueError: a symbol outside the alphabet.
        """
        word = list(word)
        inputs = self.cell.W.new_zeros(len(word), 1, len(self.alphabet))
        places = {symbol: place for place, symbol in enumerate(self.alphabet)}
        for t, symbol in enumerate(word):
            try:
                inputs[t, 0, places[symbol]] = 1
            except (KeyError, TypeError):
                raise ValueError(f"symbol {symbol!r} is outside the alphabet {self.alphabet}") from None
        return inputs

    def output(self, h: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch"]:
        r""":math:`g(h)`, from :math:`-\mu` to :math:`\mu`."""
        apart = (h[..., None, :] - self.codes).abs().amax(-1)
        to_accepted = apart.masked_fill(~self.accepted, inf).amin(-1)
        to_rejected = apart.masked_fill(self.accepted, inf).amin(-1)
        return ((to_rejected - to_accepted) / 2).clamp(-self.margin, self.margin)

    def accepts(self, word: Iterable[Hashable]) -> bool:
        """Whether the output after the word is positive; a ValueError for a symbol outside the alphabet."""
        with torch.no_grad():
            start = self.cell.initial_state(1)
            return self.output(torch.cat([start[None], unroll(self.cell, self.encode(word))])[-1]).item() > 0


def definite_net(dfa: DFA, rate: float) -> DefiniteNet:
    r"""A net with a contractive cell of this rate, or a few roundings less, that accepts what a definite machine does.

    Args:
        dfa: definite of some order k, with :math:`|\Sigma|^k` at most 65536: the readout has a table of words.
        rate: above 0 and below 1. However small it is, the net is right; what falls with it is the margin
            :math:`\frac12 \lambda^{k-1}`, and one below all floats is refused.

    Raises:
        ValueError: the machine is definite of no order, the rate is not in this range, the table is too large, or the
            margin is not a normal float.

    Source: Hammer and Tino (2003), who have one tanh unit and a code in a Cantor set.
    """
    if not 0 < rate < 1:
        raise ValueError(f"a definite net needs a rate above 0 and below 1, got {rate!r}")
    order = definite_order(dfa)
    if order is None:
        raise ValueError("the machine is definite of no order: a contraction with a margin forgets what it needs")
    symbols = len(dfa.alphabet)
    if symbols**order > MOST_CODES:
        raise ValueError(f"the readout's table has {symbols}^{order} words, more than {MOST_CODES}")
    blocks = max(order, 1)
    weight = rate * (1 - 4 * (symbols * blocks + 16) * EPS)  # so that the certificate, rounded upwards, is the rate
    margin = weight ** (order - 1) / 2 if order else 1 / (2 * weight)
    if not torch.finfo(torch.float64).tiny <= margin < inf:
        raise ValueError(f"the margin {rate}^{order - 1} / 2 is beyond the range of floats")
    cell = undrawn(LinearCell, symbols, symbols * blocks, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        cell.U[:symbols] = torch.eye(symbols)
        cell.W.diagonal(-symbols).fill_(weight)
    words = list(all_words(dfa.alphabet, order))
    places = {symbol: place for place, symbol in enumerate(dfa.alphabet)}
    codes = torch.zeros(len(words), blocks, symbols, dtype=torch.float64)
    for row, word in enumerate(words):
        for i, symbol in enumerate(reversed(word)):
            codes[row, i, places[symbol]] = weight**i
    accepted = torch.tensor([dfa.accepts(word) for word in words])
    return DefiniteNet(cell, dfa.alphabet, order, margin, codes.flatten(1), accepted)
