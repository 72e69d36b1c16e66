"""A recurrence to be imitated: a random deep net is the teacher, and its state is never shown."""

import torch
from torch import nn

from fhx._checks import positive, positive_number
from fhx._modules import undrawn
from fhx.cells import DeepCell, gaussian_
from fhx.dynamics import Realization
from fhx.tasks.arguments import checked_sizes, floating
from fhx.tasks.sequences import Sequences, Task

__all__ = ["teacher", "teacher_recurrence"]


def teacher(
    depth: int,
    state_size: int = 8,
    input_size: int = 2,
    gain: float = 2.0,
    seed: int = 0,
    *,
    output_size: int = 1,
    bias_std: float = 0.0,
) -> Realization:
    r"""A random realisation whose step is a tanh net of :math:`L` layers, in float64.

    .. math::

       a_1 = \tanh(W h + U x + b), \qquad a_l = \tanh(W_l a_{l-1} + b_l), \quad l = 2, \dots, L, \qquad f(h, x) = a_L,
       \qquad g(h) = C h, \qquad h_0 = 0.

    All entries are independent and normal: of :math:`W` and :math:`W_l` with variance :math:`\sigma_w^2 / d`, of
    :math:`U` with :math:`1 / d_{in}`, of :math:`C` with :math:`1 / d`, of the biases with :math:`\sigma_b^2`. Nothing
    in it is trained. Without biases it is odd, :math:`f(-h, -x) = -f(h, x)`.

    Args:
        depth: :math:`L`, layers of the step, each of ``state_size`` units.
        state_size: :math:`d`.
        input_size: :math:`d_{in}`.
        gain: :math:`\sigma_w`. About 1 and below, the step is nearly linear and soon forgets; from about 2.5 on, many
            draws are chaotic, and no other state finds its way to the teacher's.
        seed: a seed.
        output_size: rows of :math:`C`.
        bias_std: :math:`\sigma_b`.

    Raises:
        ValueError: ``depth`` or a width is below 1, ``gain`` is not positive or ``bias_std`` is negative.
    """
    generator = torch.Generator().manual_seed(seed)
    return _drawn(generator, depth, state_size, input_size, gain, output_size, bias_std)


def _drawn(
    generator: torch.Generator,
    depth: int,
    state_size: int,
    input_size: int,
    gain: float,
    output_size: int,
    bias_std: float,
) -> Realization:
    positive_number("gain", gain)
    cell = DeepCell(input_size, state_size, depth, generator=generator, dtype=torch.float64)
    gaussian_(cell, gain, bias_std, generator)
    rows = positive("output_size", output_size)
    readout = undrawn(nn.Linear, state_size, rows, bias=False, dtype=torch.float64)
    with torch.no_grad():
        for matrix in (cell.U, readout.weight):
            entries = torch.randn(matrix.shape, generator=generator, dtype=torch.float64)
            matrix.copy_(entries / matrix.shape[1] ** 0.5)
    return Realization(cell, readout).requires_grad_(False)


def teacher_recurrence(
    depth: int,
    steps: int = 100,
    state_size: int = 8,
    input_size: int = 2,
    gain: float = 2.0,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int = 0,
    *,
    output_size: int = 1,
    bias_std: float = 0.0,
    test_steps: int | None = None,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""Imitate a :func:`teacher` of known depth from its inputs and outputs only.

    .. math:: h_t = f(h_{t-1}, x_t), \qquad y_t = (C h_t - \mu) / s, \qquad h_0 = 0, \qquad x_t \sim N(0, I).

    Inputs ``(steps, N, input_size)``, targets ``(steps, N, output_size)``; :math:`\mu` and :math:`s` give each output
    mean 0 and variance 1 over all steps of the training set. There is no washout: every sequence starts from
    :math:`h_0 = 0` at its first step, so that a learner of the teacher's own form can have loss 0.

    Always answering 0 costs 1 on the training set. :func:`linear_delay_r2` measures how close the map is to a linear
    one; it differs much from seed to seed. Over 10 seeds at the default sizes of the net, a filter of 20 inputs
    explains these shares of the variance (medians):

    ====== ======== ======== ======== ========
    gain   depth 1  depth 2  depth 4  depth 8
    ====== ======== ======== ======== ========
    0.5    0.88     0.90     0.90     0.92
    1      0.80     0.83     0.76     0.83
    1.5    0.73     0.63     0.52     0.38
    2      0.64     0.37     0.32     0.17
    3      0.40     0.22     0.13     0.08
    4      0.21     0.15     0.04     0.04
    ====== ======== ======== ======== ========

    Args:
        depth, state_size, input_size, gain, output_size, bias_std: see :func:`teacher`.
        steps: length :math:`T` of the sequences to train on and to choose by.
        sizes: number of sequences for training, validation and test.
        seed: a seed. The teacher is drawn before its inputs, so it is the same for all lengths and sizes, and
            ``teacher`` gives it for the same seed.
        test_steps: length of the test sequences; None: ``steps``.
        dtype: of inputs and targets, which are computed in float64; None: torch's default.

    Raises:
        ValueError: a length, a size, ``depth`` or a width is below 1, ``gain`` is not positive, ``bias_std`` is
            negative or ``dtype`` is not floating.
    """
    steps, generator, dtype = positive("steps", steps), torch.Generator().manual_seed(seed), floating(dtype)
    lengths = (steps, steps, steps if test_steps is None else positive("test_steps", test_steps))
    sizes = checked_sizes(sizes)
    net = _drawn(generator, depth, state_size, input_size, gain, output_size, bias_std)
    inputs = [
        torch.randn(t, n, input_size, generator=generator, dtype=torch.float64)
        for t, n in zip(lengths, sizes, strict=True)
    ]
    outputs = [net(x) for x in inputs]
    spread, mean = torch.std_mean(outputs[0], (0, 1), correction=0)
    train, valid, test = (
        Sequences(x.to(dtype), ((y - mean) / spread).to(dtype)) for x, y in zip(inputs, outputs, strict=True)
    )
    return Task(f"teacher of depth {depth}", train, valid, test, input_size, output_size, kind="value per step")
