"""The net of a recognizer as ``torch.nn.RNN``, with the range in which its floats are exact."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from fhx._modules import undrawn
from fhx.exact.batch import last, padded
from fhx.exact.float_range import exact_ranges, two_relus
from fhx.exact.matrix import Matrix
from fhx.exact.torch_weights import fill, fill_rnn
from fhx.exact.traced import relu_states
from fhx.exact.word_reader import Word, WordReader, decision
from fhx.machines.words import refuse_one_string


class TorchRecognizer(nn.Module):
    r"""A recognizer's net as ``torch.nn.RNN(nonlinearity="relu", batch_first=True)`` and a linear readout.

    **Exactness.** A float type with p bits holds every integer up to :math:`L = 2^p` (float64 :math:`2^{53}`, float32
    :math:`2^{24}`, float16 :math:`2^{11}`, bfloat16 :math:`2^8`), so a sum of integers whose partial sums all stay
    within L is exact in any order; this covers torch's, which adds the input's and the state's part separately.
    From the weights follows ``largest``, the H up to which a state is stepped and read within L. If no unit of
    :math:`h_0, \dots, h_{t-1}` exceeds H then by induction :math:`h_t` is exact, so the first state beyond H is seen as
    what it is; ``forward`` looks for one and raises. What it returns is therefore exact. Off the CPU, where float32
    products may be taken in TensorFloat-32, states and weights of float32 nets must also stay within :math:`2^{11}`. On
    the CPU this holds with torch's default precision of products.

    **Export.** ``torch.export`` and ``torch.onnx.export(..., dynamo=True)`` take the module with any number of words
    and any length (``dynamic_shapes=({0: Dim("word"), 1: Dim("time")},)``), and so does
    ``torch.compile(..., fullgraph=True)``, where ``torch._dynamo.config.allow_rnn`` is true. What comes out checks
    nothing: it is exact while no unit exceeds ``largest`` and inputs are one-hot.

    With ``exact=False`` weights are rounded, nothing is checked, and the parameters can be trained.

    Args:
        recognizer: the net, a ``Recognizer``; an SLU unit becomes two ReLU units, see ``two_relus``.
        dtype: a floating-point type of torch; None: ``torch.float64``.
        exact: see above; the parameters are then fixed.

    Raises:
        TypeError: ``dtype`` is not a floating-point type.
        ValueError: ``exact`` and the net cannot be: all reasons.
    """

    h0: Tensor

    def __init__(self, recognizer: WordReader, dtype: torch.dtype | None = None, exact: bool = True) -> None:
        super().__init__()
        dtype = torch.float64 if dtype is None else dtype
        if not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
            raise TypeError(f"dtype must be a floating-point type of torch, got {dtype}")
        relu = two_relus(recognizer)
        self.recognizer, self.dtype, self.exact = recognizer, dtype, exact
        self.largest: int | None = None
        self.largest_in_tensor_float: int | None = None
        if exact:
            self.largest, self.largest_in_tensor_float = exact_ranges(relu, dtype)
        rnn = relu.rnn
        self.rnn = undrawn(nn.RNN, rnn.input_size, rnn.units, nonlinearity="relu", batch_first=True, dtype=dtype)
        self.readout = undrawn(nn.Linear, rnn.units, 1, dtype=dtype)
        self.register_buffer("h0", torch.tensor([float(value) for value in rnn.h0], dtype=dtype))
        w = Matrix((1, rnn.units), {(0, j): value for j, value in enumerate(relu.w)})
        with torch.no_grad():
            fill_rnn(self.rnn, rnn.W, rnn.U, rnn.b)
            fill(self.readout.weight, w)
            self.readout.bias.fill_(float(relu.c))
        self.requires_grad_(not exact)

    def forward(
        self, inputs: Float[Tensor, "batch time symbol"], lengths: Int64[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "batch time"]:
        """The output after each symbol.

        Args:
            inputs: one-hot vectors, or zero vectors.
            lengths: of the words; states after a word's end are not looked at. None: all are full.

        Raises:
            ValueError: exact, and an input is neither a one-hot nor the zero vector, or the module was cast to another
                type than it was made for.
            OverflowError: exact, and a unit is beyond the range in which the floats are exact.
        """
        batch, time = inputs.shape[:2]
        if torch.compiler.is_compiling():
            return self._traced(inputs)
        if self.exact and self.h0.dtype != self.dtype:
            raise ValueError(f"this net is exact in {self.dtype} and was cast to {self.h0.dtype}: make one by to_torch")
        if self.exact and not (((inputs == 0) | (inputs == 1)).all() and (inputs.sum(-1) <= 1).all()):
            raise ValueError("an input is neither a one-hot vector nor the zero vector")
        if batch == 0 or time == 0:
            return inputs.new_zeros(batch, time)
        k = self.recognizer.steps_per_symbol
        states, _ = self.rnn(_with_pauses(inputs, k), self.h0.expand(1, batch, -1).contiguous())
        if self.exact:
            self._check(states, lengths)
        return self.readout(states[:, k - 1 :: k])[..., 0]

    def _traced(self, inputs: Float[Tensor, "batch time symbol"]) -> Float[Tensor, "batch time"]:
        """What ``forward`` returns, as a graph for any length and without its checks, which depend on values."""
        k = self.recognizer.steps_per_symbol
        return self.readout(relu_states(self.rnn, self.h0, _with_pauses(inputs, k))[:, k - 1 :: k])[..., 0]

    def accepts(self, words: Sequence[Word], batch_size: int = 256) -> Bool[Tensor, " word"]:
        """Whether each word is accepted, the empty one by the output at :math:`h_0`.

        Args:
            words: of any lengths.
            batch_size: how many of them run side by side; the memory grows with it.

        Raises:
            TypeError: the words are one string.
            ValueError: a symbol is outside the alphabet, or an output is neither 1 nor 0.
            OverflowError: see ``forward``.
        """
        refuse_one_string(words)
        words = list(words)
        decisions: list[bool] = []
        for first in range(0, len(words), batch_size):
            decisions += self._decide(words[first : first + batch_size])
        return torch.tensor(decisions, dtype=torch.bool, device=self.h0.device)

    def _decide(self, words: list[Word]) -> Iterator[bool]:
        ids, lengths = (tensor.to(self.h0.device) for tensor in padded(self.recognizer, words))
        symbols = torch.arange(len(self.recognizer.alphabet), device=ids.device)
        outputs = self.forward((ids[..., None] == symbols).to(self.h0.dtype), lengths)
        ends = last(self.readout(self.h0)[0], outputs, lengths).tolist()
        return (decision(int(end) if end.is_integer() else end, word) for end, word in zip(ends, words, strict=True))

    def _check(self, states: Float[Tensor, "batch step unit"], lengths: Int64[Tensor, " batch"] | None) -> None:
        largest = states.amax((0, 2)) if lengths is None else self._largest(states, lengths)
        tensor_float = states.dtype == torch.float32 and states.device.type != "cpu"
        range_ = self.largest_in_tensor_float if tensor_float else self.largest
        if range_ is None:
            return
        beyond = largest > range_
        if beyond.any():
            step = int(beyond.nonzero()[0, 0])
            raise OverflowError(
                f"after net step {step + 1} a unit is {largest[step].item():.0f}, but with these weights "
                f"{states.dtype} on {states.device} is exact only while no unit exceeds {range_}"
            )

    def _largest(
        self, states: Float[Tensor, "batch step unit"], lengths: Int64[Tensor, " batch"]
    ) -> Float[Tensor, " step"]:
        """The largest unit after each step, of the words that have not ended by then."""
        steps = torch.arange(states.shape[1], device=states.device)
        ended = steps >= self.recognizer.steps_per_symbol * lengths[:, None]
        return states.amax(2).masked_fill(ended, 0).amax(0)


def _with_pauses(inputs: Float[Tensor, "batch time symbol"], k: int) -> Float[Tensor, "batch step symbol"]:
    """The inputs, each with k - 1 zero vectors behind it."""
    if k == 1:
        return inputs
    return nn.functional.pad(inputs[:, :, None], (0, 0, 0, k - 1)).flatten(1, 2)
