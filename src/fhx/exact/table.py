"""A net whose states are one-hot as a table lookup: what a one-hot input and a one-hot state select."""

from collections import deque
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Integer
from torch import Tensor, nn

from fhx.exact.batch import last, padded
from fhx.exact.numbers import Number
from fhx.exact.traced import table_reads
from fhx.exact.word_reader import Word, WordReader


class TableRecognizer(nn.Module):
    r"""A recognizer that follows a table instead of multiplying by W.

    If :math:`h = e_j` and :math:`x = e_a` then :math:`W h + U x + b` is column j of W, column a of U, and b. Where its
    activation is one-hot again, the place of its one is ``next[j, a]``, so that the table holds all of the step; it is
    derived from the weights, and ``read[j]`` is the decision :math:`w_j + c`. With k steps per symbol the table is that
    of k steps, and only the last state need be one-hot. If :math:`h_0` is not one-hot it is one row more.

    ``torch.export``, ``torch.onnx.export(..., dynamo=True)`` and ``torch.compile(..., fullgraph=True)`` take the module
    with any number of words and any length; what comes out does not look whether an id is in the alphabet.

    Attributes:
        next: the table, (unit, symbol); -1 where no word leads to the unit.
        read: the decisions, (unit).
        start: the row of :math:`h_0`.

    Args:
        recognizer: the net, a ``Recognizer``.

    Raises:
        ValueError: a word leads out of the one-hot states, or to an output that is neither 1 nor 0: the first such
            state, breadth first.
    """

    next: Tensor
    read: Tensor

    def __init__(self, recognizer: WordReader) -> None:
        super().__init__()
        self.recognizer = recognizer
        rnn = recognizer.rnn
        h0 = {j: value for j, value in enumerate(rnn.h0) if value}
        one_hot = list(h0.values()) == [1]
        self.start = next(iter(h0)) if one_hot else rnn.units
        table = torch.full((rnn.units + (not one_hot), rnn.input_size), -1)
        read = torch.zeros(len(table), dtype=torch.bool)
        found, queue = {self.start}, deque([(self.start, h0)])
        while queue:
            row, state = queue.popleft()
            read[row] = self._read(state)
            after = [self._next(state, column) for column in range(rnn.input_size)]
            table[row] = torch.tensor(after, dtype=torch.int64)
            new = [unit for unit in dict.fromkeys(after) if unit not in found]
            found.update(new)
            queue.extend((unit, {unit: 1}) for unit in new)
        self.register_buffer("next", table)
        self.register_buffer("read", read)

    def extra_repr(self) -> str:
        """What the net is a table of."""
        return repr(self.recognizer)

    def forward(self, ids: Integer[Tensor, "batch time"]) -> Bool[Tensor, "batch time"]:
        """The decision after each symbol.

        Args:
            ids: the symbols' places in the alphabet.

        Raises:
            ValueError: an id is outside the alphabet.
        """
        symbols = self.next.shape[1]
        if torch.compiler.is_compiling():  # what depends on values is left out
            return table_reads(self.next, self.read, self.start, ids)
        smallest, largest = map(int, ids.aminmax()) if ids.numel() else (0, 0)
        if not 0 <= smallest <= largest < symbols:
            raise ValueError(f"ids must lie in 0..{symbols - 1}, got {smallest}..{largest}")
        # A state is the place where its row of the flat table begins: a step is one sum and one lookup, which writes
        # the state over the symbol that led there.
        flat = (self.next * symbols).to(torch.int32).flatten()
        states = torch.empty(ids.T.shape, dtype=torch.int32, device=ids.device).copy_(ids.T)
        state = states.new_full((len(ids),), self.start * symbols)
        place = torch.empty_like(state)
        for column in states.unbind():
            torch.add(state, column, out=place)
            state = torch.index_select(flat, 0, place, out=column)
        return self.read.repeat_interleave(symbols).index_select(0, states.flatten()).reshape(states.shape).T

    def accepts(self, words: Sequence[Word]) -> Bool[Tensor, " word"]:
        """Whether each word is accepted; words may have any lengths.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        ids, lengths = (tensor.to(self.next.device) for tensor in padded(self.recognizer, list(words)))
        return last(self.read[self.start], self.forward(ids.clamp(min=0)), lengths)

    def _next(self, state: dict[int, Number], column: int) -> int:
        """The one of the state after a symbol and its pauses."""
        rnn, before = self.recognizer.rnn, state
        for symbol in (column, *[None] * (self.recognizer.steps_per_symbol - 1)):
            state = rnn.step(state, symbol)
        if list(state.values()) != [1]:
            raise ValueError(
                f"the symbol {self.recognizer.alphabet[column]!r} leads from {self._named(before)} to "
                f"{self._named(state)}, which is not one-hot"
            )
        return next(iter(state))

    def _read(self, state: dict[int, Number]) -> bool:
        """The decision at a state."""
        output = sum((self.recognizer.w[j] * value for j, value in state.items()), self.recognizer.c)
        if output not in (0, 1):
            raise ValueError(f"the output at {self._named(state)} is {output}: neither 1 (accept) nor 0 (reject)")
        return output == 1

    def _named(self, state: dict[int, Number]) -> str:
        """A state for an error, by its units' names."""
        units = self.recognizer.rnn.unit_names
        return "the state {" + ", ".join(f"{units[j]}: {value}" for j, value in sorted(state.items())) + "}"
