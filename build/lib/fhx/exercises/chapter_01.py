r"""The exercises of chapter 1, the recurrence :math:`h_t = f(h_{t-1}, x_t)`, with their oracles.

An oracle avoids the way a reader would go: loops over numbers for matrix products, decimals of 80 digits for floats,
sets of indices for an argument on paper. Tables and linear nets that a reader designs are decided for all
words; other nets are run, and their outputs compared.
"""

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from fhx.exercises.evaluate import decide_linear, decide_table, run_relu_net, run_table, settled_period
from fhx.exercises.record import Case, Exercise

__all__ = ["EXERCISES"]

Word = Sequence[int]
Table = Sequence[Sequence[int]]


def _words(longest: int) -> tuple[Case, ...]:
    return tuple((word,) for n in range(longest + 1) for word in product((0, 1), repeat=n))


def _word(generator: Generator) -> Case:
    """Of 9 to 2,000 bits, with runs of one bit."""
    size, share = int(2.0 ** generator.uniform(3.2, 11)), generator.choice([0.02, 0.5, 0.98])
    return (tuple((generator.random(size) < share).astype(int).tolist()),)


def _numbers(generator: Generator, *shape: int) -> Tensor:
    return torch.from_numpy(generator.normal(size=shape).round(2))


# One step of the simple cell


def _one_step(W: Tensor, U: Tensor, b: Tensor, h: Tensor, x: Tensor) -> Tensor:
    rows = zip(W.tolist(), U.tolist(), b.tolist(), strict=True)
    sums = (
        sum(w * v for w, v in zip(row, h.tolist(), strict=True))
        + sum(u * v for u, v in zip(ins, x.tolist(), strict=True))
        + bias
        for row, ins, bias in rows
    )
    return torch.tensor([math.tanh(s) for s in sums], dtype=torch.float64)


def _one_step_case(generator: Generator) -> Case:
    d, k = generator.integers(1, 5, size=2)
    return tuple(_numbers(generator, *shape) for shape in ((d, d), (d, k), (d,), (d,), (k,)))


def _matrices(*values: Sequence[object]) -> Case:
    return tuple(torch.tensor(value, dtype=torch.float64) for value in values)


# The source's indexing: h_1 = f(x_1, x_0), h_{t+1} = f(h_t, x_t), y_T = h_T


def _source_output(table: Table, x0: int, word: Word) -> int:
    def h(t: int) -> int:
        return table[word[0]][x0] if t == 1 else table[h(t - 1)][word[t - 2]]

    return h(len(word))


def _source_case(generator: Generator) -> Case:
    m, n = generator.integers(2, 5), generator.integers(1, 7)
    table = generator.integers(0, m, size=(m, m)).tolist()
    return table, int(generator.integers(m)), tuple(generator.integers(0, m, size=n).tolist())


def _inputs_seen(T: int) -> int:
    seen = {1}  # h_1 = f(x_1, x_0)
    for t in range(1, T):
        seen = seen | {t}  # h_{t+1} = f(h_t, x_t)
    return len(seen)


# Realisations to design


def _mod_three(word: Word) -> bool:
    return sum(word) % 3 == 0


def _changes(word: Word) -> list[float]:
    return [float(x != before) for before, x in zip((0, *word), word, strict=False)]


def _moving_sums(xs: Sequence[float]) -> list[float]:
    return [sum(xs[max(0, t - 2) : t + 1]) for t in range(len(xs))]


# The smallest table of a map


def _minimal_states(table: Table, h0: int, readout: Word) -> int:
    reached = {h0}
    while more := {table[h][x] for h in reached for x in (0, 1)} - reached:
        reached |= more
    words = [word for (word,) in _words(len(table) - 1)]  # shorter words than states tell any two apart
    return len({tuple(run_table((table, h, readout), word) for word in words) for h in reached})


def _machine(generator: Generator) -> Case:
    """A random machine, or a chain of which only the last state says 1; each state in one or two copies."""
    n, is_chain = int(generator.integers(1, 6)), bool(generator.integers(2))
    small, answers = generator.integers(0, n, size=(n, 2)), generator.integers(0, 2, size=n)
    if is_chain:
        small[:-1], answers = np.arange(1, n)[:, None], np.arange(n) == n - 1
    names = np.arange(n).repeat(generator.integers(1, 3, size=n))
    table = [[int(generator.choice(np.flatnonzero(names == small[q, x]))) for x in (0, 1)] for q in names]
    return table, 0 if is_chain else int(generator.integers(len(names))), tuple(int(answers[q]) for q in names)


# Gates, gradients, chaos


def _gate_rows(U_f: Tensor, U_i: Tensor, U_o: Tensor, U_z: Tensor) -> Tensor:
    d, k = U_f.shape
    rows = torch.empty(4 * d, k, dtype=U_f.dtype)
    for gate, place in ((U_f, 1), (U_i, 0), (U_o, 3), (U_z, 2)):
        for row in range(d):
            rows[place * d + row] = gate[row]
    return rows


def _gates(generator: Generator) -> Case:
    d, k = generator.integers(1, 4, size=2)
    return tuple(_numbers(generator, d, k) for _ in range(4))


def _truncated_gradient(w: float, xs: Sequence[float], h0: float, y: float, K: int) -> float:
    h, slope = h0, 0.0  # dh_t/dw, started at 0 when K steps are left
    for t, x in enumerate(xs):
        h, slope = w * h + x, (h + w * slope if t >= len(xs) - K else 0.0)
    return (h - y) * slope


def _gradient_case(generator: Generator) -> Case:
    n = int(generator.integers(1, 8))
    w, h0, y = generator.normal(size=3).round(2).tolist()
    return w, generator.normal(size=n).round(2).tolist(), h0, y, int(generator.integers(1, n + 1))


def _gaps(h: float, gap: float) -> list[float]:
    """The distances of two logistic orbits in decimals of 80 digits, up to the first above 0.1."""
    with localcontext() as context:
        context.prec = 80
        a, b = Decimal(h), Decimal(h) + Decimal(gap)
        gaps = [abs(a - b)]
        while gaps[-1] <= Decimal("0.1"):
            a, b = 4 * a * (1 - a), 4 * b * (1 - b)
            gaps.append(abs(a - b))
        return [float(distance) for distance in gaps]


def _steps_apart(h: float, gap: float) -> int:
    return len(_gaps(h, gap)) - 1


def _starts(generator: Generator) -> Case:
    """A start whose orbits do not come so close to 0.1 apart that rounding decides."""
    while True:
        h, gap = float(generator.uniform(0.05, 0.95)), float(10.0 ** -generator.integers(4, 11))
        if all(abs(distance - 0.1) > 1e-3 for distance in _gaps(h, gap)):
            return h, gap


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "01-one-step",
        "One step of the simple cell",
        "one_step(W, U, b, h, x)",
        ("W", "U", "b", "h", "x"),
        cases=(
            _matrices([[0.5]], [[1]], [0], [1], [2]),
            _matrices([[0, 1], [2, 0]], [[1], [0]], [0, -1], [0.5, 1], [0.25]),
        ),
        sample=_one_step_case,
        oracle=_one_step,
    ),
    Exercise(
        "01-source-output",
        "The other indexing",
        "source_output(table, x0, word)",
        ("table", "x0", "word"),
        cases=(
            ([[0, 1], [1, 0]], 0, (1,)),
            ([[0, 1], [1, 0]], 1, (1, 0)),
            ([[1, 2, 0], [2, 2, 1], [0, 1, 0]], 2, (0, 1, 2)),
        ),
        sample=_source_case,
        oracle=_source_output,
    ),
    Exercise(
        "01-inputs-seen",
        "How many inputs an output sees",
        "inputs_seen(T)",
        ("T",),
        cases=((3,), (2,), (1,)),
        sample=lambda generator: (int(generator.integers(1, 2000)),),
        oracle=_inputs_seen,
    ),
    Exercise(
        "01-mod-three",
        "Counting to three",
        "mod_three()",
        ("word",),
        cases=_words(6),
        sample=_word,
        oracle=_mod_three,
        arguments=lambda word: (),
        observe=lambda value, word: decide_table(value, word, (((0, 1), (1, 2), (2, 0)), 0, (1, 0, 0))),
    ),
    Exercise(
        "01-change-net",
        "A net that notices changes",
        "change_net()",
        ("word",),
        cases=_words(8)[1:],
        sample=_word,
        oracle=_changes,
        arguments=lambda word: (),
        observe=run_relu_net,
    ),
    Exercise(
        "01-moving-sum",
        "A linear memory",
        "moving_sum()",
        ("xs",),
        cases=(([1.0],), ([1.0, 2.0],), ([1.0, 2.0, 4.0],), ([1.0, 2.0, 4.0, 8.0, 16.0],)),
        sample=lambda generator: (generator.normal(size=12).round(2).tolist(),),
        oracle=_moving_sums,
        arguments=lambda xs: (),
        observe=lambda value, xs: decide_linear(value, xs, (1, 1, 1)),
    ),
    Exercise(
        "01-minimal-states",
        "The smallest table",
        "minimal_states(table, h0, readout)",
        ("table", "h0", "readout"),
        cases=(
            ([[0, 1], [1, 0]], 0, (0, 1)),
            ([[0, 1], [1, 2], [2, 3], [3, 0]], 0, (0, 1, 0, 1)),
            ([[0, 0], [1, 1]], 0, (0, 1)),
            ([[1, 2], [1, 2], [2, 1]], 0, (0, 0, 0)),
            ([[1, 1], [2, 2], [3, 3], [3, 3]], 0, (0, 0, 0, 1)),
        ),
        sample=_machine,
        oracle=_minimal_states,
    ),
    Exercise(
        "01-gate-rows",
        "Gates in torch's order",
        "gate_rows(U_f, U_i, U_o, U_z)",
        ("U_f", "U_i", "U_o", "U_z"),
        cases=(_matrices([[1]], [[2]], [[3]], [[4]]), _matrices(*([[i, -i], [10 * i, 0]] for i in range(1, 5)))),
        sample=_gates,
        oracle=_gate_rows,
        tolerance=0.0,
    ),
    Exercise(
        "01-truncated-gradient",
        "The last terms of a gradient",
        "truncated_gradient(w, xs, h0, y, K)",
        ("w", "xs", "h0", "y", "K"),
        cases=((0.5, [1.0], 2.0, 0.0, 1), (2.0, [1.0, 1.0, 1.0], 0.0, 0.0, 3), (2.0, [1.0, 1.0, 1.0], 0.0, 0.0, 1)),
        sample=_gradient_case,
        oracle=_truncated_gradient,
    ),
    Exercise(
        "01-steps-apart",
        "How long a forecast lasts",
        "steps_apart(h, gap)",
        ("h", "gap"),
        cases=((0.2, 0.15), (0.3, 1e-3), (0.3, 1e-10)),
        sample=_starts,
        oracle=_steps_apart,
    ),
    Exercise(
        "01-oscillator",
        "A clock without input",
        "oscillator(period)",
        ("period",),
        cases=tuple((period,) for period in (1, 2, 3, 4, 5)),
        sample=lambda generator: (int(generator.integers(6, 13)),),
        oracle=lambda period: period,
        observe=settled_period,
    ),
)
"""The exercises of the chapter, in its order."""
