r"""A tube along the last inputs: how far any past can still move the state that a window makes from zero.

A cell :math:`\tanh(W h + U x + b)` reads :math:`x_1, \dots, x_k` from the zero state, which gives
:math:`\hat h_1, \dots, \hat h_k`. A state with the same last inputs and any past is :math:`\delta_t` away from it, and
:math:`\delta_t = D_t W \delta_{t-1}` with a diagonal of slopes of chords of tanh. Let them lie between
:math:`C_t - R_t` and :math:`C_t + R_t`, and :math:`\Phi_{t,s} = C_t W \cdots C_{s+1} W`. Then

.. math:: \delta_t = \Phi_{t,s}\, \delta_s + \sum_{s < \tau \le t} \Phi_{t,\tau}\, e_\tau, \qquad
   |e_{\tau,j}| \le R_{\tau,j}\, |(W \delta_{\tau-1})_j| .

Every earlier bound of :math:`\delta_s` so gives one of :math:`\delta_t`, and the smallest is taken. What float64 rounds
in a window, in its slopes and in the products is one more error, in the box of each :math:`e_\tau`.
"""

from itertools import product
from math import inf, sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import at_least_zero, non_negative
from fhx.cells import SimpleCell
from fhx.cells.activations import ACTIVATIONS
from fhx.stability.arguments import check_shape, symmetric
from fhx.stability.certificates import check_kind
from fhx.stability.norms import EPS, UP, exact, exact_weights, row_sums

ROOM = 1 + 1e-9  # for norms and sums, whose terms have one sign
MOST = 12  # units, whose corners are tried for the largest norm
SKEWEST = 1e5  # ratio of eigenvalues of P, so that roundings in its norm stay below ``ROOM``
ROUNDS, HALVINGS = 100, 60


def reachable(cell: SimpleCell, input_bound: float = 1.0) -> Float[Tensor, " d"]:
    r"""Bounds K of :math:`|h_j|` over the states of all runs of a tanh cell from zero with :math:`|x|_\infty \le B_x`.

    No step leads out of :math:`|h| \le K_n`, where :math:`K_0 = 1` and
    :math:`K_{n+1} = \tanh(|W| K_n + B_x |U| 1 + |b|)`; this is a late one.

    Args:
        cell: with tanh.
        input_bound: :math:`B_x`, of all inputs; 0 if they are all 0.

    Raises:
        ValueError: the cell is no simple one with tanh, or its class overrides something of the step; the bound is
            negative or not finite; or a weight is not finite.
    """
    check_kind(cell)
    if not isinstance(cell, SimpleCell) or cell.activation is not ACTIVATIONS["tanh"]:
        raise ValueError("the states of simple cells with tanh are bounded here, and of no other")
    W, U, b = exact_weights(cell, "W", "U", "b")
    drive, K = non_negative("input_bound", input_bound) * row_sums(U) + b.abs(), torch.ones_like(b)
    for _ in range(ROUNDS):
        K = torch.tanh((W.abs() @ K + drive) * ROOM).mul(UP).clamp(max=1)
    return K


def largest_norm(P: Float[Tensor, "d d"], K: Float[Tensor, " d"]) -> float:
    r"""An upper bound of :math:`\sqrt{h^\top P h}` over :math:`|h| \le K`, number by number: that at a corner.

    Args:
        P: symmetric and positive definite.
        K: of at most 12 numbers, such as :func:`reachable` gives.

    Raises:
        ValueError: P or K is of another shape or holds a number that is not finite, P is not symmetric, or the largest
            :math:`h^\top P h` is negative.
    """
    check_shape("K", K, "d")
    P, K = symmetric("P", P, _few(len(K))), exact("K", K)
    corners = K * torch.tensor([*product((-1.0, 1.0), repeat=len(K))], dtype=torch.float64)
    square = ((corners @ P) * corners).sum(1).max().item()
    if square < 0:
        raise ValueError("P is not positive definite")
    return sqrt(square) * ROOM


def _few(units: int) -> int:
    """How many units there are, or a ``ValueError`` if there are more than corners are tried for."""
    if units > MOST:
        raise ValueError(f"the corners are tried for at most {MOST} units, got {units}")
    return units


def tube(
    cell: SimpleCell,
    windows: Float[Tensor, "k windows d_in"],
    P: Float[Tensor, "d d"],
    gain: float = inf,
    input_bound: float = 1.0,
) -> Float[Tensor, "k_and_one windows"]:
    r"""How far in the 2-norm the state of any run with the same last inputs can be from that of a window from zero.

    Args:
        cell: with tanh and at most 12 units; the runs start from zero.
        windows: inputs, ``(k, windows, d_in)``: k steps of several windows, side by side.
        P: (d, d), symmetric and positive definite; the norm :math:`\sqrt{h^\top P h}` in which radii are kept: the P
            of ``best_slope_norm(cell.W)``, or the identity.
        gain: of one step in this norm, for all states and inputs: that of
            :func:`~fhx.stability.slope_restricted_gain`, which ``best_slope_norm`` returns beside P. It is trusted;
            inf if none is known.
        input_bound: of all inputs, those before the window too, :math:`|x|_\infty \le B_x`; 0 if they are all 0.

    Returns:
        ``(k + 1, windows)``: row t after t steps, a distance for each window, rounded upwards.

    Raises:
        ValueError: what :func:`reachable` raises, there are more units, ``windows`` or P is of another shape or holds
            a number that is not finite, P is not symmetric and positive definite or has eigenvalues of which one is
            more than 100,000 times another, the gain is negative or nan, or an input is larger than its bound.

    Source: derived here.
    """
    K, (W, U, b) = reachable(cell, input_bound), exact_weights(cell, "W", "U", "b")
    gain = at_least_zero("gain", gain)
    check_shape("windows", windows, "k", "windows", cell.input_size)
    x, P = exact("windows", windows), symmetric("P", P, _few(len(b)))
    if (x.abs() > input_bound).any():
        raise ValueError(f"an input is larger than the bound {input_bound}")
    root, broken = torch.linalg.cholesky_ex(P, upper=True)
    if broken or torch.linalg.cond(P) > SKEWEST:
        raise ValueError(f"P is not positive definite, or one eigenvalue is {SKEWEST:g} times another")
    one, back = torch.eye(len(b), dtype=x.dtype), torch.linalg.inv(root)
    n, reach, size = x.shape[1], (W @ back).norm(dim=1) * ROOM, torch.linalg.matrix_norm(back, 2) * ROOM
    radii, h = x.new_full((n, 1), largest_norm(P, K)), x.new_zeros(n, len(b))
    within = K @ W.abs().mT * ROOM
    moved = (radii * reach).minimum(within)
    maps, errors = one.expand(n, 1, -1, -1), torch.diag(K).expand(n, 1, -1, -1)
    found, boxes = [K.norm().expand(n)], K.expand(n, 1, -1)
    scale = (W.abs() @ K + input_bound * row_sums(U) + b.abs() + 1) * (len(b) + x.shape[-1] + 8) * EPS
    for drive in x @ U.mT + b:
        a = h @ W.mT + drive
        low, high = (a - moved).maximum(drive - within), (a + moved).minimum(drive + within)
        least, most = chord_slopes(a, low - scale, high + scale)
        J = ((least + most) / 2)[:, None, :, None] * W
        sizes = (maps.abs() @ boxes[..., None]).squeeze(-1).amax(1) + errors.abs().sum((1, 3))
        lost = (2 * len(b) + 4) * EPS * (J[:, 0].abs() @ sizes[..., None]).squeeze(-1) + scale
        maps = J @ maps
        errors = torch.cat([J @ errors, torch.diag_embed(((most - least) / 2 * moved + lost) * ROOM)[:, None]], 1)
        pulled = torch.where(radii[:, -1] > 0, radii[:, -1] * gain, 0.0)  # 0 times inf is 0 here
        new = _norm(root, maps @ back, errors, radii).minimum(pulled)
        rows = _rows(one, maps @ back, errors, radii).minimum(new[:, None] * back.norm(dim=1) * ROOM)
        two = _norm(one, maps @ back, errors, radii).minimum(rows.norm(dim=1)).minimum(new * size)
        moved = _rows(W, maps @ back, errors, radii).minimum(new[:, None] * reach)
        maps, radii = torch.cat([maps, one.expand(n, 1, -1, -1)], 1), torch.cat([radii, new[:, None]], 1)
        boxes = torch.cat([boxes, rows[:, None]], 1)
        h = torch.tanh(a)
        found.append(two)
    return torch.stack(found)


def chord_slopes(
    a: Float[Tensor, "*shape"], low: Float[Tensor, "*shape"], high: Float[Tensor, "*shape"]
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    r"""Between which numbers the slopes of the chords of tanh lie that begin at a and end between two numbers.

    For :math:`a \ge 0` the slope of the chord to b grows with b until the chord is a tangent at b, where
    :math:`b \le 0`, and falls from there on. So it is least at an end, and largest at the touching point or as near to
    it as the interval allows; for :math:`a < 0` all is mirrored.

    Args:
        a: the beginning.
        low, high: between which the chord ends; moved to a where a is outside.
    """
    low, high = low.minimum(a), high.maximum(a)
    low, high, a = torch.where(a < 0, -high, low), torch.where(a < 0, -low, high), a.abs()
    left, right = -2 * a - 1, torch.zeros_like(a)  # of the touching point
    for _ in range(HALVINGS):
        middle = (left + right) / 2
        steep = (1 - middle.tanh() ** 2) * (a - middle) >= a.tanh() - middle.tanh()
        left, right = torch.where(steep, left, middle), torch.where(steep, middle, right)
    most = _chord(a, right.maximum(low).minimum(high)) * ROOM
    return _chord(a, low).minimum(_chord(a, high)) / ROOM, most.clamp(max=1)


def _chord(a: Float[Tensor, "*shape"], b: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The slope of tanh's chord from a to b: sinh(b - a) / ((b - a) cosh a cosh b), by exponentials of numbers <= 0."""
    apart = (b - a).abs()
    ratio = torch.where(apart < 1e-9, 2.0, -torch.expm1(-2 * apart) / torch.where(apart == 0, 1.0, apart))
    tails = (1 + torch.exp(-2 * a.abs())) * (1 + torch.exp(-2 * b.abs()))
    return 2 * ratio * torch.exp(apart - a.abs() - b.abs()) / tails


def _after(sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Sums over the errors after each s, and over all with the box at the start; ``sizes`` has the box first."""
    tail = sizes.flip(1).cumsum(1).flip(1)
    return tail[:, 1:], tail[:, 0]


def _norm(A: Tensor, maps: Tensor, errors: Tensor, radii: Tensor) -> Float[Tensor, " windows"]:
    r"""A bound of :math:`|A \delta_t|_2`, from the best s."""
    after, all_of_it = _after((A @ errors).norm(dim=-2).sum(-1))
    return (torch.linalg.matrix_norm(A @ maps, 2) * radii + after).amin(1).minimum(all_of_it) * ROOM


def _rows(A: Tensor, maps: Tensor, errors: Tensor, radii: Tensor) -> Float[Tensor, "windows d"]:
    r"""A bound of each :math:`|(A \delta_t)_j|`, from the best s."""
    after, all_of_it = _after((A @ errors).abs().sum(-1))
    return ((A @ maps).norm(dim=-1) * radii[..., None] + after).amin(1).minimum(all_of_it) * ROOM
