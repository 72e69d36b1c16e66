"""Tasks that are made, not measured: parity of a bit word, and the logistic map."""

import torch
from torch import Tensor

from recurrence.tasks.drawing import checked_sizes, generator_of
from recurrence.tasks.physical import logistic_step
from recurrence.tasks.sequences import Sequences, Task


def parity(
    steps: int = 20,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int | torch.Generator = 0,
    test_steps: int | None = None,
) -> Task:
    r"""Random bit words; after each bit the parity so far.

    .. math:: y_t = x_1 \oplus x_2 \oplus \dots \oplus x_t, \qquad x_t \in \{0, 1\}.

    Inputs ``(steps, N, 1)`` are fair, independent bits; targets ``(steps, N)`` are the classes 0 (even) and 1 (odd).

    Args:
        steps: length :math:`T` of the words to train on and to choose by.
        sizes: number of words for training, validation and test. They are drawn independently, so short words recur.
        seed: a seed, or a generator to draw from.
        test_steps: length of the test words; None: ``steps``.

    Raises:
        ValueError: a length or a size is below 1.
    """
    generator = generator_of(seed)
    lengths = (steps, steps, steps if test_steps is None else test_steps)
    if min(lengths) < 1:
        raise ValueError(f"a word needs at least 1 step, not {min(lengths)}")
    parts = []
    for length, size in zip(lengths, checked_sizes(sizes), strict=True):
        bits = torch.randint(2, (length, size), generator=generator, device=generator.device)
        parts.append(Sequences(bits[..., None].to(torch.get_default_dtype()), bits.cumsum(0) % 2))
    return Task("parity", *parts, input_size=1, output_size=2, kind="class per step", labels=("even", "odd"))


def logistic_orbit(start: Tensor | float, r: float = 4.0, steps: int = 50) -> Tensor:
    r"""The states :math:`x_0, x_1, \dots, x_{\text{steps}}` of the logistic map, the time first.

    .. math:: x_{t+1} = r\, x_t (1 - x_t), \qquad 0 \le r \le 4, \quad 0 \le x_0 \le 1.

    For :math:`r = 4` two orbits part by a factor 2 a step on average (Lyapunov exponent :math:`\ln 2`), so after about
    52 steps in float64 an orbit has nothing to do any more with that of the real number it started from.

    Args:
        start: :math:`x_0`, of any shape; a number is taken in float64.
        r: growth rate.
        steps: how often the map is applied.

    Returns:
        A tensor of shape ``(steps + 1, *start.shape)``.

    Raises:
        ValueError: ``r``, some start or ``steps`` is out of range.
    """
    if not 0 <= r <= 4:
        raise ValueError(f"r must lie between 0 and 4, else orbits leave [0, 1]; got {r}")
    if steps < 1:
        raise ValueError(f"an orbit needs at least 1 step, not {steps}")
    x = start if isinstance(start, Tensor) else torch.tensor(start, dtype=torch.float64)
    if not x.is_floating_point() or not bool(((x >= 0) & (x <= 1)).all()):
        raise ValueError("every start must be a floating number between 0 and 1")
    orbit = [x]
    for _ in range(steps):
        orbit.append(logistic_step(orbit[-1], None, r))
    return torch.stack(orbit)


def logistic_map(
    r: float = 4.0,
    steps: int = 50,
    sizes: tuple[int, int, int] = (200, 50, 50),
    seed: int | torch.Generator = 0,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""Orbits of the logistic map from random starts; at each step the next value.

    Inputs ``(steps, N, 1)`` are :math:`x_0, \dots, x_{T-1}`, targets :math:`x_1, \dots, x_T` with
    :math:`x_{t+1} = r x_t (1 - x_t)` and :math:`x_0` uniform in [0, 1). Orbits are computed in float64.

    Args:
        r: growth rate, from 0 to 4.
        steps: length :math:`T` of a sequence.
        sizes: number of orbits for training, validation and test.
        seed: a seed, or a generator to draw from.
        dtype: of the result; None: torch's default.

    Raises:
        ValueError: ``r``, ``steps`` or a size is out of range.
    """
    generator = generator_of(seed)
    parts = []
    for size in checked_sizes(sizes):
        start = torch.rand(size, 1, generator=generator, device=generator.device, dtype=torch.float64)
        orbit = logistic_orbit(start, r, steps).to(dtype or torch.get_default_dtype())
        parts.append(Sequences(orbit[:-1], orbit[1:]))
    return Task("logistic map", *parts, input_size=1, output_size=1, kind="value per step")
