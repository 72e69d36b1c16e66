"""Every exercise of chapter 12: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, inf, isfinite, log, log2

import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.exercises import chapter_12
from fhx.exercises.checking import check_exercise
from fhx.exercises.evaluate_sweep import Part, sweep_arguments

EXERCISES = {exercise.id: exercise for exercise in chapter_12.EXERCISES}


def check(name, answer, cases=20):
    return check_exercise(EXERCISES[name], answer, 0, cases)


def compose(first, second):
    (a, b), (c, d) = first, second
    return c * a, c * b + d


def prefixes(items, join):
    found, reach = list(items), 1
    while reach < len(found):
        found = found[:reach] + [join(a, b) for a, b in zip(found, found[reach:], strict=False)]
        reach *= 2
    return found


def sweeps_needed(step, start, word):
    states, sweeps = [start] * len(word), 0
    while (after := [step[h, x] for h, x in zip([start, *states], word, strict=False)]) != states:
        states, sweeps = after, sweeps + 1
    return sweeps


def processors(rate, size, eps, T):
    sweeps, left = 1, rate * size
    while left > eps and sweeps < T:
        sweeps, left = sweeps + 1, rate * left
    each = (T - 1) // sweeps
    return ceil(Fraction(T, each)) if each else None


def newton_sweep(guess, inputs, h0):
    after, h, before = [], h0, h0
    for now, x in zip(guess, inputs, strict=True):
        h = before**2 / 4 + x + before / 2 * (h - before)
        before = now
        after.append(h)
    return after


def adjoints(J, own):
    found = [own[-1]]
    for t in reversed(range(len(own) - 1)):
        found.append(own[t] + J[t + 1].T @ found[-1])
    return torch.stack(found[::-1])


def layers_needed(kernel, base, context):
    if context <= kernel:
        return int(context > 1)
    if base > kernel:
        return None
    layers, seen = 0, 1
    while seen < context:
        seen += (kernel - 1) * base**layers
        layers += 1
    return layers


def numbers_kept(T, d, k):
    k = min(k, T)
    return {
        "recurrence": T * d,
        "windows": d * (k * (k + 1) // 2 + (T - k) * k),
        "window": k * d,
        "newton": T * d + T * d * d,
        "diagonal": 2 * T * d,
    }


def logistic_run(h):
    states = []
    for _ in range(40):
        h = max(1 - 2 * h**2, -9.0)  # outside [-1, 1] it would leave the floats too
        states.append(h)
    return states


def misleading(h0):
    return logistic_run(h0 - 1e-7 if h0 > 0 else h0 + 1e-7)


def plain_newton(guess, f, slope):
    after, change = [], 0.0
    for h, value, s in zip(guess, f, slope, strict=True):
        after.append(value + s * change)
        change = after[-1] - h
    return after


def safe_sweep(guess, f, slope):
    after = plain_newton(guess, f, slope)
    return [max(-1.0, min(1.0, new)) if new == new else value for new, value in zip(after, f, strict=True)]


RIGHT = [
    compose,
    prefixes,
    sweeps_needed,
    processors,
    newton_sweep,
    adjoints,
    layers_needed,
    numbers_kept,
    misleading,
    safe_sweep,
]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def up_and_down(items, join):
    """Work-efficient, and in more rounds: pairs, their scan, and what lies between."""
    if len(items) == 1:
        return items
    pairs = up_and_down([join(a, b) for a, b in zip(items[::2], items[1::2], strict=False)], join)
    return [
        items[0] if t == 0 else pairs[t // 2] if t % 2 else join(pairs[t // 2 - 1], items[t]) for t in range(len(items))
    ]


def until_the_last_is_right(step, start, word):
    truth = list(accumulate(word, lambda h, x: step[h, x], initial=start))[1:]
    states, sweeps = [start] * len(word), 0
    while states[-1] != truth[-1]:
        states, sweeps = [step[h, x] for h, x in zip([start, *states], word, strict=False)], sweeps + 1
    return sweeps


def run(guess, inputs, h0):
    return list(accumulate(inputs, lambda h, x: h**2 / 4 + x, initial=h0))[1:]


def clamped(guess, f, slope):
    return torch.tensor(plain_newton(guess, f, slope), dtype=torch.float64).clamp(-1, 1)  # leaves a nan


def damped(guess, f, slope):
    return safe_sweep(guess, f, [0.9 * s for s in slope])


def clipped_where_steep(guess, f, slope):
    return (safe_sweep if max(map(abs, slope)) > 0.95 else plain_newton)(guess, f, slope)


def by_a_logarithm(kernel, base, context):
    """Rounded up at (5, 5, 125), whose logarithm is not the whole number that it should be."""
    if not 1 < base <= kernel < context:
        return layers_needed(kernel, base, context)
    return ceil(log((context - 1) * (base - 1) / (kernel - 1) + 1, base))


WRONG = {
    "12-compose": [
        lambda first, second: (first[0] + second[0], second[0] * first[1] + second[1]),
        lambda first, second: tuple(map(float, compose(first, second))),
        lambda first, second: compose(first, second)[0],
    ],
    "12-rounds": [
        up_and_down,
        lambda items, join: prefixes(items, join)[-1:],
        lambda items, join: items,
        lambda items, join: [Part("abc"[: t + 1], 1) for t in range(len(items))],
        lambda items, join: len(items),
    ],
    "12-automaton": [
        until_the_last_is_right,
        lambda step, start, word: len(word),
        lambda step, start, word: sweeps_needed(step, start, word[:-1]),
        lambda step, start, word: len(set(word)),
    ],
    "12-processors": [
        lambda rate, size, eps, T: processors(rate, size, eps, T) or T,
        lambda rate, size, eps, T: (processors(rate, size, eps, T) or 2) - 1,
        lambda rate, size, eps, T: processors(rate, size, eps, T + 1),
        lambda rate, size, eps, T: float(processors(rate, size, eps, T) or 0),
        lambda rate, size, eps, T: 1 if size <= eps and T > 1 else processors(rate, size, eps, T),  # no sweep at all
    ],
    "12-newton": [
        lambda guess, inputs, h0: newton_sweep(guess, inputs, Fraction(0)),
        lambda guess, inputs, h0: [float(h) for h in newton_sweep(guess, inputs, h0)],
        lambda guess, inputs, h0: newton_sweep(guess, inputs, h0)[-1],
    ],
    "12-adjoint": [
        lambda J, own: torch.flip(adjoints(J.flip(0), own.flip(0)), (0,)),
        lambda J, own: adjoints(J.mT, own) if J.shape[-1] > 1 else 2 * own,
        lambda J, own: own,
        lambda J, own: adjoints(J, own)[0],
        lambda J, own: adjoints(J, own).flip(0),
    ],
    "12-context": [
        lambda kernel, base, context: ceil(log2(context)),
        lambda kernel, base, context: next(n for n in range(99) if kernel**n >= context),
        lambda kernel, base, context: layers_needed(kernel, base, context + 1),
        lambda kernel, base, context: None if base >= kernel else layers_needed(kernel, base, context),
        by_a_logarithm,
    ],
    "12-memory": [
        lambda T, d, k: {**numbers_kept(T, d, k), "newton": T * d * d},
        lambda T, d, k: {**numbers_kept(T, d, k), "diagonal": T * d},
        lambda T, d, k: {**numbers_kept(T, d, k), "recurrence": d},
        lambda T, d, k: list(numbers_kept(T, d, k).values()),
    ],
    "12-misleading": [
        lambda h0: misleading(h0 + 1e-3),
        lambda h0: logistic_run(h0 + 1e-7),  # leaves [-1, 1] near 1
        lambda h0: logistic_run(h0 - 1e-7),
        lambda h0: logistic_run(h0 * (1 - 1e-7)),  # the true run from 0
        lambda h0: misleading(h0)[:-1],
        lambda h0: [h + 1 for h in misleading(h0)],
        lambda h0: [float("nan")] * 40,
        lambda h0: 40,
    ],
    "12-safe": [
        plain_newton,
        clamped,
        damped,
        clipped_where_steep,
        lambda guess, f, slope: guess,
        lambda guess, f, slope: safe_sweep(guess, f, slope)[:-1],
    ],
}


class TestChapter12(ExerciseLaws):
    exercises, answers, wrong = chapter_12.EXERCISES, ANSWERS, WRONG


MALFORMED = [
    (
        "12-rounds",
        lambda items, join: 1,
        "On example 1 of 5: expected a list of 2 of the items, joined by join, got the int 1.",
    ),
    ("12-misleading", lambda h0: 40, "On example 1 of 6: expected a list of 40 numbers, got the int 40."),
    ("12-misleading", lambda h0: [0.5], "On example 1 of 6: expected a list of 40 numbers, got a list of 1."),
    (
        "12-misleading",
        logistic_run,
        "On example 1 of 6: no state is off by more than 1; the largest error is 0.0000317.",
    ),
    (
        "12-misleading",
        lambda h0: misleading(h0 + 1e-3),
        "On example 1 of 6: the residual at step 1 is 0.001202, above 1e-06.",
    ),
    (
        "12-misleading",
        lambda h0: [1.0000004, *misleading(h0)[1:]],
        "On example 1 of 6: expected numbers in [-1, 1], got 1.0000004 as state 1.",
    ),
    (
        "12-misleading",
        lambda h0: [1 - 2 * h0**2 + 1.0000004e-6, *misleading(h0)[1:]],
        "On example 1 of 6: the residual at step 1 is 1.0000004e-06, above 1e-06.",
    ),
    ("12-safe", plain_newton, "On example 4 of 7: expected numbers in [-1, 1], got 1.174 as state 2."),
    (
        "12-safe",
        lambda guess, f, slope: f,
        "On random input 6: a guess with the error 0.0001 became one with 3e-05, more than 1e-06.",
    ),
    (
        "12-safe",
        lambda guess, f, slope: guess,
        "On example 4 of 7: the first 0 states of the guess are right, and state 1 of yours is off by 1, "
        "more than 1e-09.",
    ),
]


@pytest.mark.parametrize(("name", "answer", "words"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(name, answer, words):
    assert check(name, answer).message == words


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_returned_is_named(name):
    result = check(name, lambda *case: None)
    may_be_none = name in ("12-processors", "12-context")  # on other inputs
    assert result.status == ("differs" if may_be_none else "malformed")
    assert "None" in result.message


# Other right answers pass


def by_halves(items, join):
    if len(items) == 1:
        return items
    half = 2 ** (len(items) - 1).bit_length() // 2
    left, right = by_halves(items[:half], join), by_halves(items[half:], join)
    return left + [join(left[-1], part) for part in right]


def by_the_inverse(J, own):
    T, d = own.shape
    whole = torch.eye(T * d, dtype=own.dtype)
    for t in range(1, T):
        whole[t * d : (t + 1) * d, (t - 1) * d : t * d] = -J[t]
    return torch.linalg.solve(whole.T, own.flatten()).view(T, d)


def clipped_on_the_way(guess, f, slope):
    after, change = [], 0.0
    for h, value, s in zip(guess, f, slope, strict=True):
        after.append(max(-1.0, min(1.0, value + s * change)))
        change = after[-1] - h
    return after


def test_other_right_answers_pass_too():
    assert check("12-compose", lambda first, second: [*compose(first, second)])
    assert check("12-rounds", by_halves)
    assert check("12-rounds", lambda items, join: tuple(by_halves(items, join)))
    assert check("12-adjoint", by_the_inverse)
    assert check("12-misleading", lambda h0: torch.tensor(logistic_run(h0 * (1 - 1e-7) or 1e-7), dtype=torch.float64))
    assert check("12-safe", clipped_on_the_way)
    assert check("12-safe", lambda guess, f, slope: torch.tensor(safe_sweep(guess, f, slope), dtype=torch.float64))


# What the texts say about these exercises holds


def test_sweeps_over_an_automaton_are_as_many_as_it_looks_back():
    assert [EXERCISES["12-automaton"].oracle(*case) for case in EXERCISES["12-automaton"].cases] == [4, 1, 0, 1, 5, 8]


def test_more_than_sweeps_processors_win():
    for case in EXERCISES["12-processors"].cases:
        sweeps = next((k for k in range(1, case[3]) if case[0] ** k * case[1] <= case[2]), case[3])
        needed = EXERCISES["12-processors"].oracle(*case)
        assert needed is None or needed > sweeps


def test_the_digits_of_newton_double():
    inputs, guess = [Fraction(1, 2)] * 6, [Fraction(0)] * 6
    truth, errors = run(guess, inputs, Fraction(0)), []
    for _ in range(4):
        guess = newton_sweep(guess, inputs, Fraction(0))
        errors.append(max(abs(h - true) for h, true in zip(guess, truth, strict=True)))
    assert all(after <= before**2 for before, after in pairwise(errors))
    assert 1e-9 > errors[3] > 0


def settled(sweep, w, inputs):
    truth, guess, sweeps = chapter_12.tanh_guess(w, inputs, len(inputs), 0.0)[2], [0.0] * len(inputs), 0
    while not max(abs(h - true) for h, true in zip(guess, truth, strict=True)) <= 1e-10:
        guess, sweeps = sweep(*sweep_arguments(w, inputs, guess)), sweeps + 1
        if sweeps > len(inputs) or not all(map(isfinite, guess)):
            return inf
    return sweeps


def test_the_clipped_sweep_settles_where_the_plain_one_overflows():
    inputs = [0.01] * 400
    assert settled(plain_newton, 8.0, inputs) == inf
    assert settled(safe_sweep, 8.0, inputs) < 10
    assert settled(plain_newton, 0.9, inputs) == settled(safe_sweep, 0.9, inputs) < 10


def test_clipping_on_the_way_is_slower_where_slopes_are_steep():
    noise = torch.randn(400, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert settled(safe_sweep, 8.0, noise.tolist()) < 10 < 100 < settled(clipped_on_the_way, 8.0, noise.tolist())


def test_a_saturated_unit_has_no_slope_at_all():
    (*_, case) = EXERCISES["12-safe"].cases
    assert 0.0 in sweep_arguments(*case)[2]
    assert any(new != new for new in plain_newton(*sweep_arguments(*case)))


def test_clipped_affine_maps_compose_to_one():
    def clipped(a, b, low, high):
        return lambda h: max(low, min(high, a * h + b))

    for seed in range(50):
        a, b, c, d = (4 * torch.rand(4, generator=torch.Generator().manual_seed(seed)) - 2).tolist()
        ends = sorted((-c + d, c + d))
        low, high = (max(-1.0, min(1.0, end)) for end in ends)
        both, one = clipped(c * a, c * b + d, low, high), clipped(a, b, -1, 1)
        for h in torch.linspace(-3, 3, 61).tolist():
            assert both(h) == pytest.approx(clipped(c, d, -1, 1)(one(h)), abs=1e-12)
