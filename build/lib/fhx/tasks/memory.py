"""Tasks that ask for nothing but memory: a symbol kept through noise, a word copied, two marked numbers added."""

import torch
from torch.nn import functional as F

from fhx._checks import at_least, positive
from fhx.tasks.arguments import checked_sizes, floating
from fhx.tasks.sequences import Sequences, Task

__all__ = ["adding", "copy_memory", "recall"]


def recall(
    steps: int,
    symbols: int = 4,
    noise: float = 1.0,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int = 0,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""One of :math:`k` symbols comes first, then noise; at the end the symbol has to be named.

    .. math:: x_1 = e_s, \qquad x_t = z_t\, e_{k+1} \quad (1 < t \le T), \qquad y = s,

    with :math:`s` uniform on :math:`0, \dots, k - 1` and :math:`z_t \sim N(0, \text{noise}^2)`, all independent. Inputs
    ``(steps, N, symbols + 1)`` hold the symbol in one of the first ``symbols`` columns, counted from 0, and the noise
    in the last; targets ``(N,)`` are the classes :math:`s`.

    Without memory of the first input no answer is better than a guess: cross-entropy :math:`\ln k` nats, accuracy
    :math:`1/k`. The state must carry :math:`\log_2 k` bits over :math:`T - 1` steps of noise.

    Args:
        steps: length :math:`T` of a sequence.
        symbols: :math:`k`, at least 2.
        noise: standard deviation of the later inputs, at least 0.
        sizes: number of sequences for training, validation and test.
        seed: a seed.
        dtype: of the inputs; None: torch's default.

    Raises:
        ValueError: ``steps`` < 1, ``symbols`` < 2, ``noise`` < 0, a size is below 1 or ``dtype`` is not floating.

    Source: a form of the latch problem of Bengio, Simard and Frasconi (1994), with :math:`k` classes.
    """
    steps, symbols = positive("steps", steps), at_least("symbols", symbols, 2)
    if not noise >= 0:
        raise ValueError(f"noise must be a standard deviation of at least 0, not {noise!r}")
    generator, dtype = torch.Generator().manual_seed(seed), floating(dtype)

    def draw(size: int) -> Sequences:
        told = torch.randint(symbols, (size,), generator=generator)
        later = noise * torch.randn(steps - 1, size, 1, generator=generator, dtype=dtype)
        first = F.pad(F.one_hot(told, symbols).to(dtype), (0, 1))[None]
        return Sequences(torch.cat([first, F.pad(later, (symbols, 0))]), told)

    train, valid, test = (draw(size) for size in checked_sizes(sizes))
    return Task("recall", train, valid, test, symbols + 1, symbols, kind="class at end")


def copy_memory(
    delay: int,
    symbols: int = 8,
    length: int = 10,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int = 0,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""A word of :math:`S` symbols, blanks, a signal; after the signal the word has to be repeated.

    With :math:`s_1, \dots, s_S` uniform on :math:`0, \dots, k - 1`, a blank :math:`k` and a signal :math:`k + 1`, the
    inputs over :math:`T + 2S` steps, :math:`T` the ``delay``, and the answers are

    .. math::

       &s_1, \dots, s_S, \; \underbrace{k, \dots, k}_{T - 1}, \; k + 1, \; \underbrace{k, \dots, k}_{S}, \\
       &\underbrace{k, \dots, k}_{T + S}, \; s_1, \dots, s_S.

    Inputs ``(delay + 2 length, N, symbols + 2)`` are one-hot, targets ``(delay + 2 length, N)`` are classes of which
    the last, number ``symbols``, is the blank. Each symbol is asked for :math:`T + S` steps after it was read.

    Without memory of the word the best is to answer blank until the signal and to guess after it: cross-entropy
    :math:`S \ln k / (T + 2S)` nats per step, accuracy :math:`(T + S + S/k) / (T + 2S)`.

    Args:
        delay: :math:`T`, steps from the end of the word to the signal.
        symbols: :math:`k`, at least 2.
        length: :math:`S`, symbols of a word.
        sizes: number of sequences for training, validation and test.
        seed: a seed.
        dtype: of the inputs; None: torch's default.

    Raises:
        ValueError: ``delay`` < 1, ``symbols`` < 2, ``length`` < 1, a size is below 1 or ``dtype`` is not floating.

    Source: Hochreiter and Schmidhuber (1997), in the form of Arjovsky, Shah and Bengio (2016).
    """
    delay, symbols = positive("delay", delay), at_least("symbols", symbols, 2)
    length = positive("length", length)
    generator, dtype = torch.Generator().manual_seed(seed), floating(dtype)

    def draw(size: int) -> Sequences:
        word = torch.randint(symbols, (length, size), generator=generator)
        blanks, signal = torch.full_like(word[:1], symbols), torch.full_like(word[:1], symbols + 1)
        ids = torch.cat([word, blanks.expand(delay - 1, size), signal, blanks.expand(length, size)])
        return Sequences(F.one_hot(ids, symbols + 2).to(dtype), torch.cat([blanks.expand(delay + length, size), word]))

    train, valid, test = (draw(size) for size in checked_sizes(sizes))
    return Task("copy memory", train, valid, test, symbols + 2, symbols + 1, kind="class per step")


def adding(
    steps: int,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int = 0,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""Random numbers, two of them marked; at the end their sum is asked for.

    .. math:: x_t = (v_t, m_t), \qquad y = \sum_{t=1}^{T} m_t v_t, \qquad v_t \sim U[0, 1), \; m_t \in \{0, 1\}.

    One mark is uniform on the first :math:`\lfloor T/2 \rfloor` steps, the other on the rest. Inputs ``(steps, N, 2)``,
    targets ``(N,)``, one value at the end.

    Without memory the best is always to answer 1, with a mean squared error of :math:`1/6`, the variance of the sum of
    two uniform numbers; remembering only the second number gives :math:`1/12`.

    Args:
        steps: length :math:`T` of a sequence, at least 2.
        sizes: number of sequences for training, validation and test.
        seed: a seed.
        dtype: of inputs and targets; None: torch's default.

    Raises:
        ValueError: ``steps`` < 2, a size is below 1 or ``dtype`` is not floating.

    Source: Hochreiter and Schmidhuber (1997), in the form of Arjovsky, Shah and Bengio (2016) and of Le, Jaitly and
    Hinton (2015).
    """
    steps, generator, dtype = at_least("steps", steps, 2), torch.Generator().manual_seed(seed), floating(dtype)
    half = steps // 2

    def draw(size: int) -> Sequences:
        values = torch.rand(steps, size, generator=generator, dtype=dtype)
        early = torch.randint(half, (size,), generator=generator)
        marked = torch.stack([early, torch.randint(half, steps, (size,), generator=generator)])
        marks = torch.zeros_like(values).scatter(0, marked, 1.0)
        return Sequences(torch.stack([values, marks], -1), values.gather(0, marked).sum(0))

    train, valid, test = (draw(size) for size in checked_sizes(sizes))
    return Task("adding", train, valid, test, input_size=2, output_size=1, kind="value at end")
