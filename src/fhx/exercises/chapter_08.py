r"""The exercises of chapter 8, deep cells, with their oracles.

Formulas are compared with exact numbers, roots and counting; the Jacobian of a stack with autograd; a cell that a
reader initialised is run, and a control that a reader made is trained.
"""

from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from scipy.special import expit

from fhx._roots import root
from fhx.dynamics import MeanField
from fhx.exercises.evaluate_deep import deep_cell, holds, is_controlled, residual_net
from fhx.exercises.record import Case, Exercise

__all__ = ["EXERCISES"]


def _log_of_exact(weights: list[float], T: int) -> float:
    """From the exact product of the weights."""
    product = Fraction(1)
    for w in weights:
        product *= abs(Fraction(w))
    return T * (log(product.numerator) - log(product.denominator))


def _weights(generator: Generator) -> Case:
    size = int(generator.integers(1, 9))
    signs = generator.choice([-1.0, 1.0], size=size)
    return (signs * generator.uniform(0.05, 4, size=size)).tolist(), int(generator.integers(1, 20_000))


def _on_the_border(L: int, T: int) -> float:
    """Where six depth scales of mean-field theory are as long as the run."""
    return root(lambda gain: 6 * MeanField("tanh", gain).depth_scale / (L * T) - 1, 1e-3, 1 - 1e-9, xtol=1e-14)


def _by_root(L: int, T: int) -> float:
    return root(lambda beta: L * T * np.log(expit(beta)) + 1, -5, 40, xtol=1e-13)


def _by_table(L: int, T: int) -> tuple[int, int]:
    """Paths and lengths to every place, from those to the places before it."""
    paths = [1] * T
    for _ in range(L - 1):
        for t in range(1, T):
            paths[t] += paths[t - 1]
    return paths[-1], len([*range(1, T), *range(1, L)])


def _depth_and_steps(generator: Generator) -> Case:
    return int(generator.integers(1, 9)), int(generator.integers(1, 60))


def _by_autograd(W1: np.ndarray, W2: np.ndarray, U2: np.ndarray) -> np.ndarray:
    A, B, C = (torch.as_tensor(part, dtype=torch.float64) for part in (W1, W2, U2))

    def step(state: torch.Tensor) -> torch.Tensor:
        low, high = state.split([len(A), len(B)])
        low = A @ low
        return torch.cat([low, B @ high + C @ low])

    return torch.autograd.functional.jacobian(step, torch.zeros(len(A) + len(B), dtype=torch.float64)).numpy()


def _two_layers(generator: Generator) -> Case:
    m, n = (int(size) for size in generator.integers(1, 4, size=2))
    shapes = ((m, m), (n, n), (n, m))
    return tuple(generator.integers(-3, 4, size=shape).astype(float) for shape in shapes)


def _as_array(value: Any, *case: Any) -> Any:
    """A tensor as an array, anything else as it is."""
    return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "08-log-gain",
        "The logarithm of a long product",
        "log_gain(weights, T)",
        ("weights", "T"),
        cases=(([2.0, 0.25], 3), ([0.5], 1), ([-2.0, 3.0], 2), ([0.5, 0.5], 10_000), ([3.0, 3.0, -3.0], 10_000)),
        sample=_weights,
        oracle=_log_of_exact,
    ),
    Exercise(
        "08-border",
        "The gain that a run needs",
        "smallest_gain(L, T)",
        ("L", "T"),
        cases=((1, 10), (4, 10), (1, 1), (10, 4), (16, 300)),
        sample=_depth_and_steps,
        oracle=_on_the_border,
    ),
    Exercise(
        "08-carry",
        "The carry that holds",
        "carry_bias(L, T)",
        ("L", "T"),
        cases=((1, 1), (1, 10), (10, 1), (8, 100), (16, 10_000)),
        sample=_depth_and_steps,
        oracle=_by_root,
    ),
    Exercise(
        "08-control",
        "Was the cell trained?",
        "arms(net)",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        arguments=lambda: (residual_net(),),
        observe=is_controlled,
    ),
    Exercise(
        "08-paths",
        "Paths in a grid",
        "count_paths(L, T)",
        ("L", "T"),
        cases=((2, 3), (1, 1), (1, 5), (5, 1), (3, 3), (8, 100)),
        sample=_depth_and_steps,
        oracle=_by_table,
    ),
    Exercise(
        "08-stack",
        "The Jacobian of a stack",
        "stack_jacobian(W1, W2, U2)",
        ("W1", "W2", "U2"),
        cases=(
            (np.array([[2.0]]), np.array([[3.0]]), np.array([[5.0]])),
            (np.diag([2.0, 0.5]), np.array([[3.0]]), np.array([[1.0, 0.0]])),
        ),
        sample=_two_layers,
        oracle=_by_autograd,
        observe=_as_array,
    ),
    Exercise(
        "08-hold",
        "Hold a gradient over eight hundred layers",
        "hold(cell)",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        arguments=lambda: (deep_cell(),),
        observe=holds,
        seconds=20.0,
    ),
)
"""The exercises of the chapter, in its order."""
