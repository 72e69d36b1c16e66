r"""Affine recurrences, all steps at once.

Affine maps compose to affine maps, :math:`(A_2, b_2) \circ (A_1, b_1) = (A_2 A_1, A_2 b_1 + b_2)`, and composition is
associative. So the steps of :math:`h_t = A_t h_{t-1} + b_t` may be taken together in any grouping: chunks of :math:`L`
successive steps are composed, all chunks side by side; the states at the chunks' ends are the same problem
with :math:`T / L` steps; and from them the states inside are filled in, side by side again. That is two
passes over the data, so :math:`O(T)` work, and :math:`O(L \log_L T)` operations one after the other.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from jaxtyping import Float, Inexact
from torch import Tensor

from fhx.cells import DiagonalCell, LinearCell, LRUCell
from fhx.cells.kinds import check_inherited, refuse_torch_net
from fhx.dynamics.unrolling import initial

SHORTEST = 8  # steps that a chunk has at least
ENOUGH = defaultdict(lambda: 2**20, cpu=2**14)  # numbers that one operation works on before more chunks are of no use


def affine_scan(
    A: Inexact[Tensor, "..."],
    b: Inexact[Tensor, "time batch d"],
    h0: Inexact[Tensor, "batch d"] | None = None,
    reverse: bool = False,
) -> Inexact[Tensor, "time batch d"]:
    r"""The states :math:`h_t = A_t h_{t-1} + b_t` for :math:`t = 1, \dots, T`, without a step for each :math:`t`.

    The work is a small multiple of the loop's, at most about :math:`2 L \log_L T` operations follow one another, and
    memory is :math:`O(T d)` beside :math:`A`. Differentiable, any number of times: with
    :math:`g_t = \partial \ell / \partial h_t` the way back is the scan :math:`\lambda_t = g_t + A_{t+1}^\top
    \lambda_{t+1}` in reverse, :math:`\partial \ell / \partial b_t = \lambda_t` and
    :math:`\partial \ell / \partial A_t = \lambda_t h_{t-1}^\top`.

    Args:
        A: the matrices, ``(time, batch, d, d)``, or their diagonals alone, ``(time, batch, d)``. A first or second
            dimension of 1 stands for all times or the whole batch.
        b: ``(time, batch, d)``, real or complex.
        h0: :math:`h_0`, zero if None.
        reverse: from the end, :math:`h_t = A_t h_{t+1} + b_t` with :math:`h_{T+1}` = ``h0``.

    Raises:
        ValueError: shapes or dtypes that do not fit.

    Source: Blelloch (1990), "Prefix sums and their applications"; Martin & Cundy (2018), "Parallelizing linear
    recurrent neural nets over sequence length".
    """
    _check(A, b, h0)
    h0 = b.new_zeros(b.shape[1:]) if h0 is None else h0
    return scan(A, b, h0, reverse)


def linear_states(
    cell: LinearCell,
    inputs: Inexact[Tensor, "time batch d_in"],
    h0: Inexact[Tensor, "*state"] | None = None,
    compiled: bool = False,
) -> Inexact[Tensor, "time batch d"]:
    r"""The states of a linear cell, :math:`h_t = W h_{t-1} + U x_t + b`, by one scan.

    They are those of ``unroll`` up to rounding, gradients included. A diagonal ``W`` costs :math:`O(d)` a step instead
    of :math:`O(d^2)`.

    Args:
        cell, inputs, h0: as for ``unroll``.
        compiled: let ``torch.compile`` make each pass of the scan one kernel. The first call takes a minute or so, for
            which it saves some multiple of the eager time in every later one; the derivatives are compiled too.

    Raises:
        TypeError: another kind of cell.
        ValueError: what ``unroll`` raises, or the cell is of a subclass with another step.
        RuntimeError: ``compiled`` on a machine where ``torch.compile`` finds no compiler.

    Source: Martin & Cundy (2018).
    """
    refuse_torch_net(cell)
    if not isinstance(cell, LinearCell):
        raise TypeError(f"one scan makes the states of a LinearCell only, got {type(cell).__name__}; use unroll")
    check_inherited(cell, LinearCell, "one scan makes the states of that class only; use unroll")
    h = initial(cell, inputs, h0)
    return scan(cell.W[None, None], cell.drive(inputs), h, False, compiled)


def diagonal_states(
    cell: DiagonalCell,
    inputs: Float[Tensor, "time batch d_in"],
    h0: Float[Tensor, "*state"] | None = None,
) -> Float[Tensor, "time batch d"]:
    r"""The states of a cell :math:`h_t = a(x_t) \circ h_{t-1} + b(x_t)`, by one scan.

    They are those of ``unroll`` up to rounding, gradients included; see :func:`affine_scan`.

    Args:
        cell, inputs, h0: as for ``unroll``.

    Raises:
        TypeError: another kind of cell.
        ValueError: what ``unroll`` raises, or the cell's class has another step.
    """
    refuse_torch_net(cell)
    if not isinstance(cell, DiagonalCell):
        raise TypeError(f"one scan makes the states of a DiagonalCell, got {type(cell).__name__}; use unroll")
    if type(cell).step not in (DiagonalCell.step, LRUCell.step):
        raise ValueError(f"{type(cell).__name__} has a step of its own, which no scan knows; use unroll")
    h = initial(cell, inputs, h0)
    a, b = cell.factors(inputs)
    if not b.is_complex():
        return scan(a, b, h)
    states = scan(a, b, torch.complex(*h.chunk(2, -1)))
    return torch.cat((states.real, states.imag), -1)


def _check(A: Tensor, b: Tensor, h0: Tensor | None) -> None:
    if b.ndim != 3:
        raise ValueError(f"b must have shape (time, batch, d), got {tuple(b.shape)}")
    time, batch, d = b.shape
    fits = A.ndim in (3, 4) and A.shape[2:] in ((d,), (d, d)) and A.shape[0] in (1, time) and A.shape[1] in (1, batch)
    if not fits:
        raise ValueError(
            f"A must have shape (time, batch, d, d) or, diagonal, (time, batch, d), with (time, batch, d) = "
            f"{(time, batch, d)} as in b, got {tuple(A.shape)}"
        )
    if h0 is not None and h0.shape != (batch, d):
        raise ValueError(f"h0 must have shape (batch, d) = {(batch, d)}, got {tuple(h0.shape)}")
    for name, value in (("A", A), ("h0", h0)):
        if value is not None and value.dtype != b.dtype:
            raise ValueError(f"{name} must have the dtype of b, {b.dtype}, got {value.dtype}")


def scan(A: Tensor, b: Tensor, h0: Tensor, reverse: bool = False, compiled: bool = False) -> Tensor:
    """``affine_scan``, unchecked."""
    if reverse:
        return _Scan.apply(A.flip(0), b.flip(0), h0, compiled).flip(0)
    return _Scan.apply(A, b, h0, compiled)


class _Scan(torch.autograd.Function):
    """The scan, whose derivative is a scan in reverse."""

    generate_vmap_rule = True

    @staticmethod
    def forward(A: Tensor, b: Tensor, h0: Tensor, compiled: bool) -> Tensor:
        return _solve(_diagonal(A.detach()), b.detach(), h0.detach(), compiled)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        A, _, h0, compiled = inputs
        ctx.save_for_backward(A, h0, output)
        ctx.compiled = compiled

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        A, h0, states = ctx.saved_tensors
        if not len(states):
            return torch.zeros_like(A), gradient, torch.zeros_like(h0), None
        full = A.ndim == 4
        back = A.mH if full else A.conj()
        later = back if len(A) == 1 else back[1:]
        adjoint = torch.cat([scan(later, gradient[:-1], gradient[-1], True, ctx.compiled), gradient[-1:]])
        by_A = None
        if ctx.needs_input_grad[0]:
            before = torch.cat([h0[None], states[:-1]]).conj()
            if A.shape[:2] == (1, 1) and full:
                by_A = (adjoint.flatten(0, 1).mT @ before.flatten(0, 1))[None, None]
            else:
                product = adjoint[..., None] * before[..., None, :] if full else adjoint * before
                by_A = product.sum_to_size(A.shape)
        by_h0 = _advance(back[0], adjoint[0], torch.zeros_like(h0))
        return by_A, adjoint, by_h0, None


def _diagonal(A: Tensor) -> Tensor:
    """The diagonals, where the matrices are one by one, or are one matrix for all steps and it is diagonal."""
    if A.ndim == 4:
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        if A.shape[-1] == 1 or (A.shape[:2] == (1, 1) and torch.equal(A, diagonal.diag_embed())):
            return diagonal
    return A


def _solve(A: Tensor, b: Tensor, h0: Tensor, compiled: bool) -> Tensor:
    time = len(b)
    length = max(SHORTEST, -(-b.numel() // ENOUGH[b.device.type]))
    if compiled:
        length = SHORTEST
    chunks = time // length
    if chunks < 2:
        return _loop(A, b, h0)
    cut = chunks * length
    A_steps, b_steps = _side_by_side(A, chunks, length), _side_by_side(b, chunks, length)
    fold, fill = _compiled() if compiled else (_fold, _fill)
    ends = _solve(*fold(A_steps, b_steps), h0, compiled)
    inside = fill(A_steps, b_steps, torch.cat([h0[None], ends[:-1]]))
    return torch.cat([inside, _loop(A if len(A) == 1 else A[cut:], b[cut:], ends[-1])])


def _loop(A: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """The few steps that are taken one after the other."""
    states = []
    for t, drive in enumerate(b.unbind()):
        h = _advance(A[0 if len(A) == 1 else t], h, drive)
        states.append(h)
    return torch.stack(states) if states else torch.empty_like(b)


def _side_by_side(x: Tensor, chunks: int, length: int) -> Tensor:
    """``(chunks, length, ...)``, or ``(1, 1, ...)`` for what is the same at all times."""
    return x[None] if len(x) == 1 else x[: chunks * length].unflatten(0, (chunks, length))


def _fold(A: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The steps of each chunk composed to one."""
    matrix, vector = A[:, 0], b[:, 0]
    for t in range(1, b.shape[1]):
        step = A[:, t % A.shape[1]]
        matrix = step * matrix if A.ndim == b.ndim else step @ matrix
        vector = _advance(step, vector, b[:, t])
    return matrix, vector


def _fill(A: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """All states, from the state before each chunk."""
    states = []
    for t in range(b.shape[1]):
        h = _advance(A[:, t % A.shape[1]], h, b[:, t])
        states.append(h)
    return torch.stack(states, 1).flatten(0, 1)


def _advance(A: Tensor, h: Tensor, b: Tensor) -> Tensor:
    """The next states, of any batch shape."""
    if A.ndim == b.ndim:
        return torch.addcmul(b, A, h)
    if A.shape[:-2].numel() == 1:
        return b + h @ A.reshape(A.shape[-2:]).mT
    return b + (A @ h[..., None])[..., 0]


@cache
def _compiled() -> tuple[Callable[..., tuple[Tensor, Tensor]], Callable[..., Tensor]]:
    """``_fold`` and ``_fill``, each one kernel, for any number of chunks."""
    from torch._dynamo.exc import TorchDynamoException  # slow to import, and of no use otherwise

    def or_say_why(compiled: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Tensor) -> Any:
            try:
                return compiled(*arguments)
            except TorchDynamoException as error:
                law = "compiled=True needs torch.compile and a C++ compiler that it finds on this machine"
                raise RuntimeError(f"{law}; leave it out, or see the error above") from error

        return call

    fold, fill = (or_say_why(torch.compile(f, dynamic=True)) for f in (_fold, _fill))
    return fold, fill
