"""Real-time counter machines as LSTMs with saturated gates, in PyTorch's own form."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from fhx._checks import check_kind, positive_number
from fhx._modules import undrawn
from fhx.compile.counter_cells import SCALE, ZERO_WEIGHT, pair_cells
from fhx.machines import CounterConfiguration, CounterMachine
from fhx.machines.words import Word, refuse_one_string

__all__ = ["CounterLSTM", "counters_to_lstm"]


class CounterLSTM(nn.Module):
    r"""An LSTM that runs a counter machine: :func:`fhx.compile.counters_to_lstm` makes it, and has the equations.

    A vector of zeros stands before every word, as in the tasks of ``fhx.tasks``; the states start at 0. So
    :class:`fhx.tasks.Acceptor` can ask it, and ``fhx.cells.from_torch(net.lstm)`` is a cell of it.

    Attributes:
        machine, gain: what it was made from.
        lstm: ``torch.nn.LSTM`` of one layer, time first.
        readout: from :math:`h_t` to the one output, which is positive where the word so far is accepted.
        read: what decodes :math:`h_t`: a row for each state, and one for the last move of each counter.
    """

    def __init__(self, machine: CounterMachine, gain: float, lstm: nn.LSTM, readout: nn.Linear, read: Tensor) -> None:
        super().__init__()
        self.machine, self.gain, self.lstm, self.readout = machine, gain, lstm, readout
        self.register_buffer("read", read)
        self.read: Tensor

    @property
    def units(self) -> int:
        """How many cells the LSTM has."""
        return self.lstm.hidden_size

    def forward(
        self, inputs: Float[Tensor, "time N symbols"], lengths: Tensor | None = None
    ) -> Float[Tensor, "time N 1"]:
        """The output after each input: one-hot vectors with zeros before; ``lengths`` are of no use to it."""
        return self.readout(self.lstm(inputs)[0])

    @torch.no_grad()
    def accepts(self, words: Sequence[Word]) -> Bool[Tensor, " word"]:
        """Whether each word is accepted, as one batch.

        Raises:
            TypeError: the words are one string.
            ValueError: a symbol is outside the alphabet.
        """
        refuse_one_string(words)
        if not words:
            return torch.zeros(0, dtype=torch.bool)
        inputs, ends = self._encoded(words), torch.tensor([len(word) for word in words])
        return self.forward(inputs)[ends, torch.arange(len(ends)), 0] > 0

    @torch.no_grad()
    def run(self, word: Word) -> Iterator[CounterConfiguration | None]:
        """The configurations that the states hold, the first one before the first symbol; None after a stop.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        state = None
        for x in self._encoded([word]):
            _, state = self.lstm(x[None], state)
            yield self.decode(state[0][0, 0], state[1][0, 0])

    def decode(self, h: Float[Tensor, " d"], c: Float[Tensor, " d"]) -> CounterConfiguration | None:
        """The configuration that a state (h, c) holds; None if the machine has stopped."""
        machine, k = self.machine, self.machine.counters
        states, moves = (self.read @ h).split([len(machine.states), k])
        if states.max() < 0.5:
            return None
        counts = (c[self.units - k :] + moves).round().long().tolist()
        return CounterConfiguration(machine.states[int(states.argmax())], tuple(counts))

    def _encoded(self, words: Sequence[Word]) -> Float[Tensor, "time N symbols"]:
        alphabet, like = self.machine.alphabet, self.read
        place = {symbol: i for i, symbol in enumerate(alphabet)}
        inputs = like.new_zeros(1 + max(map(len, words)), len(words), len(alphabet))
        for n, word in enumerate(words):
            for t, symbol in enumerate(word, start=1):
                if symbol not in place:
                    raise ValueError(f"symbol {symbol!r} is outside the alphabet {alphabet}")
                inputs[t, n, place[symbol]] = 1
        return inputs


def counters_to_lstm(machine: CounterMachine, gain: float = 2048.0, dtype: torch.dtype | None = None) -> CounterLSTM:
    r"""An LSTM that recognises a counter machine's language, one step for each symbol.

    **Cells.** With :math:`\tau = \tanh 1`: a cell ``start``; a **pair cell** for each state q, symbol a and set S of
    counters that some transition from q on a tests, to be 1 if the state was q, a was read and the counters of S were
    0; and a **counter cell** for each counter, which holds what the counter was *one step before*. All show
    themselves, :math:`o = 1`. What the machine did last is read off the pair cells: by inclusion and exclusion

    .. math:: P[q, a, Z] = \sum_{S \supseteq Z} (-1)^{|S \setminus Z|} N[q, a, S]

    says that exactly the counters of Z were 0, and so which transition, if any, was taken. Three sums of them, divided
    by :math:`\tau`, are the present state :math:`H_q`, to which ``start`` belongs as well, the last move :math:`D_i` of
    a counter, and :math:`A_i = |D_i|`. A present counter is 0 if and only if

    .. math:: V_i = \tanh(c_i) / \tau + D_i

    is, and else :math:`V_i \ge \tanh 2 / \tanh 1 - 1 = 0.26\dots`: that is where the counter was 2 and moved down.

    **Weights.** With gain K and all further weights 0,

    .. math::

       \begin{array}{lccc}
         & i & f & z \\
       \text{start} & K(\tfrac12 - \sum_a x_a) & -K & K \\
       \text{pair} & K(H_q + x_a - \tfrac32 - 4 \sum_{i \in S} V_i) & -K & K \\
       \text{counter} & K(A_i - \tfrac12) & K & K D_i
       \end{array}

    and the output is :math:`\sum_{q \in F} H_q - \frac12`, less :math:`4 \sum_i V_i` with ``at_zero``. Where the cells
    hold what they should, each input gate is driven by at least K/2 or at most -K/2, and the output is at least 1/2 or
    at most -1/2.

    **Saturated.** In float64 and float32 the logistic function is exactly 1 from 37 and 17 on and exactly 0 below -746
    and -104, and tanh is exactly 1 from 20 and 10 on. So with a gain of 1500, or 210 in float32, memories are exactly
    0, 1 and whole counts, up to :math:`2^{53}` and :math:`2^{24}`; only :math:`\tanh` and the sums that drive the
    gates are rounded, far within their margin. **Finite gain.** With real gates :func:`fhx.compile.lstm_gain` says
    which gain is enough for all words of a length, about twice its logarithm.

    Args:
        machine: any counter machine.
        gain: K.
        dtype: a floating-point type of torch; None: ``torch.float64``.

    Raises:
        TypeError: ``machine`` is not a counter machine, or ``dtype`` is not a floating-point type.
        ValueError: ``gain`` is not a positive number.

    Source: Gers and Schmidhuber (2001) trained LSTMs that count; Weiss, Goldberg and Yahav (2018) gave counter cells
    by hand, and Merrill (2019) the limit of a large gain. The construction and the margins are derived here.
    """
    check_kind(machine, CounterMachine, "counters_to_lstm")
    K, dtype = positive_number("gain", gain), torch.float64 if dtype is None else dtype
    if not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype must be a floating-point type of torch, got {dtype}")
    pairs, k, symbols = pair_cells(machine), machine.counters, len(machine.alphabet)
    d = 1 + len(pairs) + k
    start, pair, counter = 0, slice(1, d - k), range(d - k, d)

    H, D, A, V = (torch.zeros(size, d, dtype=torch.float64) for size in (len(machine.states), k, k, k))
    H[machine.states.index(machine.start), start] = 1
    for j, cell in enumerate(pairs, start=1):
        for (what, which), number in cell.reads.items():
            if what == "state":
                H[machine.states.index(which), j] += number
            elif isinstance(which, int):
                D[which, j] += number if what == "up" else -number
                A[which, j] += number
    for i, j in enumerate(counter):
        V[i, j] = 1
    V += D

    W, U, b = torch.zeros(4, d, d).double(), torch.zeros(4, d, symbols).double(), torch.zeros(4, d).double()
    i, f, z, o = range(4)
    b[f], b[z], b[o] = -1, 1, 1
    U[i, start], b[i, start] = -1, 1 / 2
    b[i, pair] = -3 / 2
    for j, cell in enumerate(pairs, start=1):
        W[i, j] = (H[machine.states.index(cell.state)] - ZERO_WEIGHT * V[list(cell.zeros)].sum(0)) / SCALE
        U[i, j, machine.alphabet.index(cell.symbol)] = 1
    for n, j in enumerate(counter):
        W[i, j], b[i, j] = A[n] / SCALE, -1 / 2
        W[z, j], b[z, j] = D[n] / SCALE, 0
        b[f, j] = 1

    w = H[[machine.states.index(q) for q in machine.states if q in machine.accept]].sum(0)
    w -= ZERO_WEIGHT * V.sum(0) * machine.at_zero
    lstm = undrawn(nn.LSTM, symbols, d, dtype=dtype)
    readout = undrawn(nn.Linear, d, 1, dtype=dtype)
    values = {"weight_hh_l0": K * W, "weight_ih_l0": K * U, "bias_ih_l0": K * b, "bias_hh_l0": 0 * b}
    with torch.no_grad():
        for name, value in values.items():
            getattr(lstm, name).copy_(value.flatten(0, 1))
        readout.weight.copy_(w / SCALE)
        readout.bias.fill_(-0.5)
    return CounterLSTM(machine, K, lstm, readout, (torch.cat([H, D]) / SCALE).to(dtype))
