r"""What a reader made of a deep cell: initialised it for a gradient, or froze it as a control."""

from typing import Any

import torch
from torch import nn

from fhx.cells import DeepCell, ResidualCell
from fhx.dynamics import Realization, jacobians, product_norms
from fhx.exercises.compare import MalformedError

__all__ = ["deep_cell", "holds", "is_controlled", "residual_net"]

DEPTH, UNITS, STEPS, SEQUENCES = 16, 32, 50, 8
LIMIT, NORMS = 10.0, (0.5, 3.0)


def deep_cell() -> DeepCell:
    """Sixteen tanh layers of 32 units, with weights as a cell starts with them."""
    generator = torch.Generator().manual_seed(0)
    return DeepCell(1, UNITS, DEPTH, generator=generator, dtype=torch.float64)


def holds(value: Any) -> bool:
    r"""True if :math:`|\log \lVert \partial h_{50} / \partial h_0 \rVert| \le 10` on all sequences.

    Args:
        value: a :func:`deep_cell` with other matrices, and biases of 0.

    Raises:
        ValueError: not such a cell, a bias that is not 0, a matrix whose norm is not between 0.5 and 3, two equal
            matrices, or a gradient that does not hold, with its logarithm.
    """
    if not isinstance(value, DeepCell) or (value.depth, value.state_size, value.W.shape[0]) != (DEPTH, UNITS, UNITS):
        raise MalformedError("the cell that the function was given, a DeepCell(1, 32, 16)", value)
    if value.activation is not torch.tanh or value.norms is not None:
        raise ValueError("the cell must stay a plain tanh cell")
    with torch.no_grad():
        for l, (W, b) in enumerate(zip(value.layer_matrices(), value.layer_biases(), strict=True), start=1):
            if b.any() or not b.isfinite().all():
                raise ValueError(f"the bias of layer {l} is not 0")
            norm = torch.linalg.matrix_norm(W, 2).item() if W.isfinite().all() else float("nan")
            if not NORMS[0] <= norm <= NORMS[1]:
                raise ValueError(f"the matrix of layer {l} has the norm {norm:.3g}, and it must be between 0.5 and 3")
        for l, W in enumerate(value.layer_matrices()):
            for k, other in enumerate(value.layer_matrices()[:l]):
                if torch.equal(W, other):
                    raise ValueError(f"the matrices of layers {k + 1} and {l + 1} are equal")
        generator = torch.Generator().manual_seed(1)
        x = 0.1 * torch.randn(STEPS, SEQUENCES, 1, generator=generator, dtype=torch.float64)
        h0 = 2 * torch.rand(SEQUENCES, UNITS, generator=generator, dtype=torch.float64) - 1
        logs = product_norms(jacobians(value.double(), x, h0))[0]
    worst = logs[logs.abs().argmax()].item()
    if not abs(worst) <= LIMIT:
        raise ValueError(f"on one sequence the logarithm of the gradient's norm changes by {worst:.1f}")
    return True


def residual_net() -> Realization:
    """Four residual layers of eight units with a linear readout of random weights."""
    generator = torch.Generator().manual_seed(0)
    readout = nn.utils.skip_init(nn.Linear, 8, 3)
    with torch.no_grad():
        for p in readout.parameters():
            p.uniform_(-1, 1, generator=generator)
    return Realization(ResidualCell(2, 8, 4, scale=0.25, generator=generator), readout)


def is_controlled(value: Any) -> bool:
    """True if training moves the one net's cell and readout, the other one's readout alone, and neither the other.

    Args:
        value: two nets with the weights of a :func:`residual_net`: one to train as a whole, and its control.

    Raises:
        ValueError: not two such nets, or a part that training moves and should not, or does not and should.
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise MalformedError("two nets, the one to train as a whole and its control", value)
    names = ("the net to train as a whole", "the control")
    expected = residual_net()
    before = {name: p.detach().clone() for name, p in expected.named_parameters()}
    for name, net in zip(names, value, strict=True):
        if not isinstance(net, Realization) or {n for n, _ in net.named_parameters()} != before.keys():
            raise MalformedError(f"a net like the given one for {name}", net)
        if not all(torch.equal(p, before[n]) for n, p in net.named_parameters()):
            raise ValueError(f"{name} does not start with the weights of the given one")
    whole, control = value
    if wrong := _moved(control, before) ^ {"readout"}:
        part = min(wrong)
        what = "changes the cell" if part == "cell" else "does not change the readout"
        raise ValueError(f"training {what} of {names[1]}")
    if any(not torch.equal(p, before[n]) for n, p in whole.named_parameters()):
        raise ValueError(f"training {names[1]} changes {names[0]}: they share weights")
    if missing := {"cell", "readout"} - _moved(whole, before):
        raise ValueError(f"training does not change the {min(missing)} of {names[0]}")
    return True


def _moved(net: Realization, before: dict[str, torch.Tensor]) -> set[str]:
    """Which parts three updates of gradient descent change, "cell" and "readout"."""
    x = torch.randn(5, 4, 2, generator=torch.Generator().manual_seed(1))
    learning = [p for p in net.parameters() if p.requires_grad]
    for _ in range(3 if learning else 0):
        outputs = net(x)
        if not outputs.requires_grad:
            break
        gradients = torch.autograd.grad(outputs.square().mean(), learning, allow_unused=True)
        with torch.no_grad():
            for p, gradient in zip(learning, gradients, strict=True):
                if gradient is not None:
                    p.sub_(gradient, alpha=0.1)
    return {n.split(".")[0] for n, p in net.named_parameters() if not torch.equal(p, before[n])}
