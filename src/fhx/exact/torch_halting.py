"""The net of a machine in floating-point numbers: ``torch.nn.RNN`` with rounded weights and rounded states."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fhx._checks import at_least
from fhx.exact.batch import PADDING, padded
from fhx.exact.endless import Answer
from fhx.exact.torch_recognizer import TorchRecognizer
from fhx.exact.word_reader import Word, WordReader

STEPS_AT_ONCE = 64


class TorchHaltingNet(nn.Module):
    r"""A net that reads a word, then EOS for ever, as ``torch.nn.RNN(nonlinearity="relu", batch_first=True)`` and a
    linear readout.

    Weights are rounded to the type, and so is every state: nothing is promised here. Which steps are right all the
    same is what :func:`fhx.precision.certified_steps` proves and what
    :func:`fhx.precision.first_wrong_step` sees. An output of at least 1/2 in size is an answer.

    The order in which torch adds a row's products depends on its version, the machine and the size of the batch, and so
    may the last bits of what comes out. A word alone, symbol by symbol, is always the same batch.

    Args:
        net: the net, a ``HaltingNet``; an SLU unit becomes two ReLU units.
        dtype: a floating-point type of torch; None: ``torch.float64``.

    Attributes:
        inner: the same net as a :class:`TorchRecognizer`, with its ``rnn``, ``readout`` and ``h0``.

    Raises:
        TypeError: ``dtype`` is not a floating-point type.
    """

    def __init__(self, net: WordReader, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.net = net
        self.inner = TorchRecognizer(net, dtype, exact=False).requires_grad_(False)

    @property
    def dtype(self) -> torch.dtype:
        """The type of weights and states."""
        return self.inner.h0.dtype

    def forward(self, inputs: Float[Tensor, "batch time symbol"]) -> Float[Tensor, "batch time"]:
        """The output after each input; the last column of the inputs is EOS."""
        return self.inner(inputs)

    def one_hot(self, words: Sequence[Word], after: int) -> Float[Tensor, "word time symbol"]:
        """The words as one-hot vectors, each followed by EOS to the end of the longest, and then ``after`` times.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        ids, _ = padded(self.net, words)
        eos = len(self.net.alphabet)
        ids = nn.functional.pad(ids.where(ids != PADDING, eos), (0, after), value=eos)
        return nn.functional.one_hot(ids, eos + 1).to(self.inner.h0)

    def states(self, words: Sequence[Word], after: int) -> Float[Tensor, "word time_and_start unit"]:
        """The states of the net on what ``one_hot`` gives, :math:`h_0` first.

        Raises:
            ValueError: a symbol is outside the alphabet, or the net takes several steps per symbol.
        """
        if self.net.steps_per_symbol > 1:
            raise ValueError(
                f"only nets with one step per symbol have states here, and this one has {self.net.steps_per_symbol}"
            )
        start, inputs = self.inner.h0.expand(len(words), 1, -1), self.one_hot(words, after)
        if not inputs.shape[0] or not inputs.shape[1]:
            return start
        run, _ = self.inner.rnn(inputs, start.transpose(0, 1).contiguous())
        return torch.cat([start, run], dim=1)

    def step(self, state: Float[Tensor, " unit"], column: int) -> Float[Tensor, " unit"]:
        """The state after a state and one symbol, given by its column of U; EOS is the last one, -1 too."""
        x = torch.zeros(1, 1, len(self.net.alphabet) + 1, dtype=state.dtype, device=state.device)
        x[0, 0, column] = 1
        return self.inner.rnn(x, state[None, None])[0][0, 0]

    def answers(self, words: Sequence[Word], max_steps: int) -> list[Answer | None]:
        """The net's answer to each word: its first output of at least 1/2 in size after the word, if it comes within
        ``max_steps`` end marks; 1 or -1 by its sign.

        Raises:
            ValueError: a symbol is outside the alphabet, ``max_steps`` is not an integer of at least 0, or the net
                takes several steps per symbol.
        """
        max_steps = at_least("max_steps", max_steps, 0)
        return [self._answer(list(word), max_steps) for word in words]

    def _answer(self, word: Word, max_steps: int) -> Answer | None:
        outputs = self._after(word, max_steps)
        found = ((value, T) for T, value in enumerate(outputs, start=1) if abs(value) >= 0.5)
        return next((Answer(1 if value > 0 else -1, T) for value, T in found), None)

    def _after(self, word: Word, max_steps: int) -> Iterator[float]:
        """The outputs after the end marks."""
        state = self.states([word], 0)[:, -1:]
        eos = self.one_hot([()], STEPS_AT_ONCE)
        for first in range(0, max_steps, STEPS_AT_ONCE):
            run, state = self.inner.rnn(eos[:, : max_steps - first], state)
            yield from self.inner.readout(run)[0, :, 0].tolist()
