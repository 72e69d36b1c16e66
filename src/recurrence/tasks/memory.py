"""Tasks that ask for nothing but memory: one symbol through noise, a word copied, two marked numbers added."""

import torch
from torch.nn import functional as F

from recurrence.tasks.drawing import checked_sizes, checked_steps, floating, generator_of
from recurrence.tasks.sequences import Sequences, Task

__all__ = ["recall"]


def recall(
    steps: int,
    symbols: int = 4,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int | torch.Generator = 0,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""One of :math:`k` symbols comes first, then noise; at the end the symbol is to be named.

    .. math:: x_1 = e_s, \qquad x_t = z_t\, e_{k+1} \quad (1 < t \le T), \qquad y = s,

    with :math:`s` uniform on :math:`0, \dots, k - 1` and :math:`z_t \sim N(0, 1)`, all independent. Inputs
    ``(steps, N, symbols + 1)`` hold the symbol in one of the first ``symbols`` columns, counted from 0, and the noise
    in the last; targets ``(N,)`` are the classes :math:`s`.

    Without memory of the first input no answer is better than a guess: cross-entropy :math:`\ln k` nats, accuracy
    :math:`1/k`. The state must carry :math:`\log_2 k` bits over :math:`T - 1` steps of noise.

    Args:
        steps: length :math:`T` of a sequence.
        symbols: :math:`k`, at least 2.
        sizes: number of sequences for training, validation and test.
        seed: a seed, or a generator to draw from.
        dtype: of the inputs; None: torch's default.

    Raises:
        ValueError: ``steps`` < 1, ``symbols`` < 2, a size is below 1 or ``dtype`` is not floating.

    Source: a form of the latch problem of Bengio, Simard and Frasconi (1994), with :math:`k` classes.
    """
    steps, symbols = checked_steps("steps", steps), checked_steps("symbols", symbols, least=2)
    generator, dtype = generator_of(seed), floating(dtype)

    def draw(size: int) -> Sequences:
        told = torch.randint(symbols, (size,), generator=generator, device=generator.device)
        noise = torch.randn(steps - 1, size, 1, generator=generator, device=generator.device, dtype=dtype)
        first = F.pad(F.one_hot(told, symbols).to(dtype), (0, 1))[None]
        return Sequences(torch.cat([first, F.pad(noise, (symbols, 0))]), told)

    parts = [draw(size) for size in checked_sizes(sizes)]
    return Task("recall", *parts, input_size=symbols + 1, output_size=symbols, kind="class at end")
