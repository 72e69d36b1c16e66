r"""Nets whose weights grow without bound: gates and tanh units become steps, and states can be counted."""

from collections.abc import Iterator, Sequence

import torch
from attrs import field, frozen
from jaxtyping import Float
from torch import Tensor, nn

from fhx._checks import at_least
from fhx.machines.words import Symbol, Word

__all__ = ["SaturatedNet"]

State = tuple[float, ...]


def _one_layer(net: nn.RNNBase) -> nn.RNNBase:
    if not isinstance(net, nn.RNN | nn.GRU | nn.LSTM):
        raise TypeError(f"a saturated net is made from torch's RNN, GRU or LSTM, not {type(net).__name__}")
    if net.num_layers != 1 or net.bidirectional or not net.bias or net.proj_size:
        raise ValueError(f"a saturated net is made from a net of one layer in one direction with biases, not {net}")
    return net


@frozen(eq=False, repr=False)
class SaturatedNet:
    r"""What a recurrent net does in the limit of a large gain: all weights are multiplied by g, :math:`g \to \infty`.

    On every word its states converge to those of the net with the activations

    .. math:: \tanh \to \mathrm{sign}, \qquad \sigma \to \tfrac12 (1 + \mathrm{sign}), \qquad \mathrm{sign}(0) = 0,

    for tanh nets, GRUs and LSTMs, whose :math:`h = o \circ \tanh(c)` has no weight and keeps its tanh. For a number
    that is driven by something other than 0 is off by an exponentially small amount, and so, by induction, is
    whatever drives the numbers of the next step; a number driven by exactly 0 in the limit is the activation of g times
    something exponentially small. A ReLU net stays as it is: its activation has no limit, and a gain does no more than
    scale.

    **How many states.** A tanh net of d units is in one of :math:`3^d` after the first symbol. So is a GRU that starts
    in one of these **if no update gate is driven by exactly 0**: each unit is then kept or replaced by a sign. With
    such a gate a unit is halved at each step, and one is enough for :math:`2^n` states. An LSTM that starts at integers
    and has no input and no forget gate at 1/2 has integer memories, of which n symbols change none by more than n, or
    set it to at most n: at most :math:`(3 (2 n + 1))^d` states, if it starts at 0. A ReLU net may have as many as there
    are words.

    Args:
        net: ``torch.nn.RNN``, ``GRU`` or ``LSTM`` of one layer. Whether a sum is exactly 0 is decided in its floats.
        readout: ``torch.nn.Linear`` with one output, of h; a word is accepted where it is positive.
        alphabet: the symbols, in the order of the inputs.
        h0: the state before the first symbol, for an LSTM (h, c) side by side; None: zeros.

    Raises:
        TypeError: ``net`` is none of these.
        ValueError: it has several layers, two directions, a projection or no bias.

    Source: Merrill (2019), "Sequential neural networks as automata"; Merrill et al. (2020), "A formal hierarchy of RNN
    architectures". The condition on the update gate is needed: see :func:`fhx.compile.halving_gru`.
    """

    net: nn.RNNBase = field(converter=_one_layer)
    readout: nn.Linear
    alphabet: Sequence[Symbol]
    h0: Tensor | None = None

    def __repr__(self) -> str:
        return f"SaturatedNet({self.net!r}, {self.alphabet!r})"

    @property
    def first(self) -> State:
        """The state before the first symbol."""
        width = self.net.hidden_size * (2 if isinstance(self.net, nn.LSTM) else 1)
        return (0.0,) * width if self.h0 is None else tuple(self.h0.tolist())

    def step(self, state: State, symbol: Symbol) -> State:
        """The next state, as a tuple of numbers.

        Raises:
            ValueError: the symbol is outside the alphabet.
        """
        if symbol not in self.alphabet:
            raise ValueError(f"symbol {symbol!r} is outside the alphabet {self.alphabet}")
        x = self._one_hot[[self.alphabet.index(symbol)]]
        return tuple(self.next_states(self._tensor([state]), x)[0].tolist())

    def accepting(self, state: State) -> bool:
        """Whether a word that leads to this state is accepted."""
        return bool(self._verdicts(self._tensor([state]))[0])

    def accepts(self, word: Word) -> bool:
        """Whether a word is accepted; a ValueError for a symbol outside the alphabet."""
        state = self.first
        for symbol in word:
            state = self.step(state, symbol)
        return self.accepting(state)

    def verdicts(self, length: int) -> Iterator[bool]:
        r"""Whether each word of at most n symbols is accepted, n the ``length``, in the order of ``all_words``.

        Raises:
            ValueError: ``length`` is not an integer of at least 0.
        """
        for states in self._levels(at_least("length", length, 0), merged=False):
            yield from self._verdicts(states).tolist()

    def state_counts(self, length: int) -> list[int]:
        r"""How many states the words of t symbols lead to, for :math:`t = 0, \dots, n`, with n the ``length``.

        Raises:
            ValueError: ``length`` is not an integer of at least 0.
        """
        return [len(states) for states in self._levels(at_least("length", length, 0), merged=True)]

    @torch.no_grad()
    def next_states(
        self, states: Float[Tensor, "N width"], inputs: Float[Tensor, "N symbols"]
    ) -> Float[Tensor, "N width"]:
        """The states after these states and inputs, one by one."""
        net, d = self.net, self.net.hidden_size
        W, U, b, b_h = (getattr(net, f"{name}_l0") for name in ("weight_hh", "weight_ih", "bias_ih", "bias_hh"))
        h, drive = states[:, :d], inputs @ U.T + b
        recurrent = h @ W.T + b_h
        if isinstance(net, nn.RNN):
            pre = drive + recurrent
            return pre.relu() if net.nonlinearity == "relu" else pre.sign() + 0.0  # no -0
        if isinstance(net, nn.GRU):
            r, z = _gates((drive + recurrent)[:, : 2 * d]).chunk(2, -1)
            n = (drive[:, 2 * d :] + r * recurrent[:, 2 * d :]).sign()
            return (1 - z) * n + z * h + 0.0
        i, f, candidate, o = (drive + recurrent).chunk(4, -1)
        c = _gates(i) * candidate.sign() + _gates(f) * states[:, d:]
        return torch.cat([_gates(o) * c.tanh(), c], -1) + 0.0

    def _levels(self, length: int, merged: bool) -> Iterator[Tensor]:
        """The states after all words of each length, or the different ones of them."""
        states, x = self._tensor([self.first]), self._one_hot
        yield states
        for _ in range(length):
            states = self.next_states(states.repeat_interleave(len(x), 0), x.repeat(len(states), 1))
            states = states.unique(dim=0) if merged else states
            yield states

    @torch.no_grad()
    def _verdicts(self, states: Tensor) -> Tensor:
        verdicts: Tensor = self.readout(states[:, : self.net.hidden_size])[:, 0] > 0
        return verdicts

    def _tensor(self, states: Sequence[State]) -> Tensor:
        return torch.tensor(states, dtype=self.readout.weight.dtype)

    @property
    def _one_hot(self) -> Tensor:
        return torch.eye(len(self.alphabet), dtype=self.readout.weight.dtype)


def _gates(pre: Tensor) -> Tensor:
    return (1 + pre.sign()) / 2
