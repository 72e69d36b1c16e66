r"""The exercises of chapter 2, imitating an arbitrary f, with their oracles.

Nets that a reader designed are run on whole numbers. Weights are compared with the step applied to unit vectors, error
bounds with exact sums, kernels with sums over multisets, counts of units with singular values, tests by signs.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement
from math import prod
from typing import Any

import numpy as np
from numpy.random import Generator

from fhx.exact import SimpleRNN
from fhx.exact.numbers import Number
from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import parts_of
from fhx.exercises.evaluate_leads import by_all_signs, curves, exact_reversal, leads
from fhx.exercises.record import Case, Exercise

__all__ = ["EXERCISES"]

Matrix = Sequence[Sequence[int]]
Rows = list[list[int]]
Layer = tuple[Matrix, Sequence[int]]


def _numbers(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """A design's part as an array of Python's whole numbers.

    Raises:
        ValueError: it has another shape, or holds something else.
    """
    try:
        array = np.array(value, dtype=object)
    except ValueError:
        array = np.array(None)
    if array.shape != shape or any(type(entry) is not int for entry in array.flat):
        wanted = "a whole number" if not shape else f"whole numbers of shape {shape}"
        raise MalformedError(f"{wanted} as {name}", value)
    return array


# A net by folding


def _largest_so_far(value: Any, xs: Sequence[int]) -> list[Number]:
    """The outputs at times 0, 1, ..., of a net with at most two ReLU units and one input."""
    W, U, b, h0, w, c = parts_of(value, "W", "U", "b", "h0", "w", "c")
    if not isinstance(W, list | tuple) or len(W) not in (1, 2):
        raise MalformedError("one or two rows in W, one per unit", W)
    units = len(W)
    shapes = {"W": (units, units), "U": (units, 1), "b": (units,), "h0": (units,), "w": (units,), "c": ()}
    W, U, b, h0, w, c = (
        _numbers(part, shape, name) for (name, shape), part in zip(shapes.items(), (W, U, b, h0, w, c), strict=True)
    )
    net = SimpleRNN(W.tolist(), U.tolist(), b.tolist(), h0.tolist(), "relu")
    states = [h0.tolist(), *net.reference_states([(x,) for x in xs])]
    return [int(sum(v * h for v, h in zip(w, state, strict=True)) + c.item()) for state in states]


def _inputs(generator: Generator) -> Case:
    most, size = (int(10 ** generator.uniform(1, exponent)) for exponent in (6, 2.5))
    return ([int(x) for x in generator.integers(-most, most + 1, size=size)],)


# What a step may be off by


def _exact_share(error: float, lipschitz: float, steps: int) -> float:
    return float(Fraction(error) / sum(Fraction(lipschitz) ** k for k in range(steps)))


def _tolerance(generator: Generator) -> Case:
    lipschitz = float(generator.choice([0.5, 1.0, 1.25, 2.0, 4.0]))
    return float(2.0 ** -generator.integers(0, 12)), lipschitz, int(generator.integers(1, 30))


# A spike


def _spike_value(value: Any, delta: float, h: float) -> float:
    """The sum of v relu(w h + c) at one h."""
    if not isinstance(value, list | tuple) or not all(isinstance(u, list | tuple) and len(u) == 3 for u in value):
        raise MalformedError("a list of units, each a list or tuple (v, w, c) of numbers", value)
    if len(value) > 4:
        raise ValueError(f"there are {len(value)} units, and at most 4 are asked for")
    return float(sum(v * max(0.0, w * h + c) for v, w, c in value))


def _place(generator: Generator) -> Case:
    delta = float(10 ** generator.uniform(-2, 0))
    reach = 3 * delta if generator.random() < 0.7 else 10.0
    return delta, float(generator.uniform(-reach, reach))


# A slower clock


def _by_unit_vectors(W: Matrix, U: Matrix, b: Sequence[int], upper: Sequence[Layer]) -> tuple[Rows, Rows, list[int]]:
    """Weights from the equations: what the step, without its activation, makes of each unit vector."""
    d, layers = len(W), 1 + len(upper)

    def before(z: Sequence[int], x: Sequence[int], constant: int) -> list[int]:
        blocks = [z[d * k : d * (k + 1)] for k in range(layers)]
        first = np.array(W) @ blocks[-1] + np.array(U) @ x + constant * np.array(b)
        rest = [np.array(V) @ below + constant * np.array(c) for (V, c), below in zip(upper, blocks, strict=False)]
        return np.concatenate([first, *rest]).tolist()

    size, width = d * layers, len(U[0])
    none, still = [0] * size, [0] * width
    columns = [before(np.eye(size, dtype=int)[j].tolist(), still, 0) for j in range(size)]
    inputs = [before(none, np.eye(width, dtype=int)[j].tolist(), 0) for j in range(width)]
    return np.array(columns).T.tolist(), np.array(inputs).T.tolist(), before(none, still, 1)


def _deep_cell(generator: Generator) -> Case:
    d, width, layers = (int(generator.integers(1, 4)) for _ in range(3))

    def draw(*shape: int) -> Any:
        return generator.integers(-3, 4, size=shape).tolist()

    return draw(d, d), draw(d, width), draw(d), [(draw(d, d), draw(d)) for _ in range(layers - 1)]


# One number that counts


def _counted(value: Any, p: int, bits: Sequence[int]) -> list[int]:
    """The states of h' = relu(v . relu(w h + u x + b) + c) with two hidden units, from 0."""
    shapes = {"w": (2,), "u": (2,), "b": (2,), "v": (2,), "c": ()}
    parts = parts_of(value, "w", "u", "b", "v", "c")
    w, u, b, v, c = (_numbers(part, shape, name) for part, (name, shape) in zip(parts, shapes.items(), strict=True))

    def step(h: int, x: int) -> int:
        return max(0, int(v @ np.maximum(0, w * h + u * x + b)) + int(c))

    return list(accumulate(bits, step, initial=0))


def _modulus_and_bits(generator: Generator) -> Case:
    """A modulus, and bits with at least as many ones: they lead to all states with both bits, which decides for all."""
    p = int(generator.integers(2, 40))
    return p, [bit for _ in range(p) for bit in (*[0] * int(generator.integers(1, 3)), 1)] + generator.integers(
        0, 2, size=30
    ).tolist()


# A tower of linear units


def _by_multisets(weights: Sequence[int], steps: int) -> list[int]:
    """At time t the sum of all products of t of the weights, with repetition: an impulse waits t times on its way."""
    return [sum(map(prod, combinations_with_replacement(weights, t))) for t in range(steps)]


def _weights(generator: Generator) -> Case:
    return [int(w) for w in generator.integers(-2, 3, size=generator.integers(1, 5))], int(generator.integers(1, 8))


# Units for a kernel


def _singular_values_above(kernel: Sequence[float], error: float) -> int:
    n = (len(kernel) + 1) // 2
    H = np.array([[kernel[i + j] for j in range(n)] for i in range(n)])
    return int((np.linalg.svd(H, compute_uv=False) > error).sum())


def _kernel(generator: Generator) -> Case:
    n, terms = int(generator.integers(3, 15)), int(generator.integers(1, 4))
    z, c = generator.uniform(-0.9, 0.9, terms), generator.uniform(-2, 2, terms)
    kernel = [float((c * z**s).sum()) for s in range(2 * n - 1)]
    return kernel, float(generator.choice([0.3, 0.01, 0.0003]))


# A sign test


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "02-running-maximum",
        "The largest so far",
        "largest_so_far()",
        ("xs",),
        cases=(([3],), ([-2],), ([1, 3, 2],), ([2, 5, -4, 5, 9, 0],), ([0, 0, 1, -1],)),
        sample=_inputs,
        oracle=lambda xs: list(accumulate(xs, max, initial=0)),
        arguments=lambda xs: (),
        observe=_largest_so_far,
    ),
    Exercise(
        "02-step-error",
        "How exact a step must be",
        "step_error(error, lipschitz, steps)",
        ("error", "lipschitz", "steps"),
        cases=((0.5, 2.0, 1), (0.5, 2.0, 2), (1.0, 1.0, 10), (0.25, 4.0, 20), (0.5, 0.5, 50)),
        sample=_tolerance,
        oracle=_exact_share,
        tolerance=1e-12,
    ),
    Exercise(
        "02-spike",
        "A spike that a norm overlooks",
        "spike(delta)",
        ("delta", "h"),
        cases=(
            *((0.5, 0.0), (0.5, 0.25), (0.5, -0.25), (0.5, 0.5), (0.5, -9.0), (0.5, 9.0)),
            *((0.1, -4.0), (0.1, 4.0), (0.01, 0.005), (0.01, -4.0), (0.01, 4.0)),
        ),
        sample=_place,
        oracle=lambda delta, h: max(0.0, 1 - abs(h) / delta),
        arguments=lambda delta, h: (delta,),
        observe=_spike_value,
    ),
    Exercise(
        "02-slow-clock",
        "A deep cell on a slower clock",
        "slow_clock(W, U, b, upper)",
        ("W", "U", "b", "upper"),
        cases=(
            ([[2]], [[1]], [3], []),
            ([[2]], [[1]], [3], [([[5]], [7])]),
            ([[1, 2], [3, 4]], [[5], [6]], [0, 1], [([[0, 1], [1, 0]], [2, 3])]),
            ([[2]], [[1, -1]], [0], [([[3]], [1]), ([[4]], [-1])]),
        ),
        sample=_deep_cell,
        oracle=_by_unit_vectors,
    ),
    Exercise(
        "02-counter",
        "One number that counts",
        "counter(p)",
        ("p", "bits"),
        cases=((2, [1, 0, 1, 1]), (3, [1] * 7), (5, [1] * 12), (3, [0, 0, 1, 0, 1, 1, 1])),
        sample=_modulus_and_bits,
        oracle=lambda p, bits: [n % p for n in accumulate(bits, initial=0)],
        arguments=lambda p, bits: (p,),
        observe=_counted,
    ),
    Exercise(
        "02-tower-kernel",
        "The kernel of a tower",
        "tower_kernel(weights, steps)",
        ("weights", "steps"),
        cases=(([2], 4), ([1, 1], 5), ([2, -1], 4), ([0, 0], 3), ([1, 1, 1], 5)),
        sample=_weights,
        oracle=_by_multisets,
    ),
    Exercise(
        "02-units",
        "Units that a kernel takes",
        "units_needed(kernel, error)",
        ("kernel", "error"),
        cases=(
            ([1.0, 0.5, 0.25, 0.125, 0.0625], 0.01),
            ([0.0, 0.0, 1.0, 0.0, 0.0], 0.5),
            ([1 / (1 + s) for s in range(21)], 0.01),
            ([0.0, 0.0, 0.0], 0.1),
        ),
        sample=_kernel,
        oracle=_singular_values_above,
    ),
    Exercise(
        "02-sign-test",
        "What five seeds can say",
        "sign_test(leads)",
        ("leads",),
        cases=(
            ([0.25, 0.5, 0.125, 0.25, 0.5],),
            ([-0.25, -0.5, -0.125, -0.25, -0.5],),
            ([0.25, 0.5, -0.125, 0.25, 0.5, 0.25],),
            ([0.25, -0.5, 0.125, -0.25],),
            ([0.25, 0.0, 0.5, 0.0],),
            ([0.0],),
        ),
        sample=leads,
        oracle=by_all_signs,
        tolerance=1e-12,
    ),
    Exercise(
        "02-last-reversal",
        "A budget that reverses a result",
        "last_reversal(updates, one, other)",
        ("updates", "one", "other"),
        cases=(
            ([0, 100, 200], [[0.5, 0.75, 0.75]], [[0.25, 0.5, 1.0]]),
            ([0, 100, 200, 300], [[0.5, 0.25, 0.75, 0.5]], [[0.25, 0.5, 0.5, 1.0]]),
            ([0, 50, 100], [[0.25, 0.5, 1.0]], [[0.0, 0.25, 0.5]]),
            ([0, 50, 100], [[0.0, 0.5, 0.75], [0.0, 0.0, 0.75]], [[0.25, 0.375, 0.5], [0.25, 0.375, 0.5]]),
            ([0, 50, 100, 150], [[0.5, 0.5, 0.5, 0.75]], [[0.25, 0.5, 0.5, 0.5]]),
            ([0, 50, 100, 150], [[0.5, 0.5, 0.5, 0.5]], [[0.25, 0.5, 0.75, 0.5]]),
        ),
        sample=curves,
        oracle=exact_reversal,
    ),
)
"""The exercises of the chapter, in its order."""
