"""Every exercise of chapter 11: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from itertools import product
from math import exp, log, prod, tanh

import numpy as np
import pytest
import torch
from exercise_laws import ExerciseLaws
from scipy.stats import permutation_test

from fhx.cells import LinearCell
from fhx.exercises import chapter_11, check
from fhx.stability import truncated_states

EXERCISES = {exercise.id: exercise for exercise in chapter_11.EXERCISES}


def whole_perplexity(probabilities, unknown, rare):
    nats = [-log(p) + (log(rare) if u else 0) for p, u in zip(probabilities, unknown, strict=True)]
    return exp(sum(nats) / len(nats))


def mean_inputs(T, k):
    whole, rest = divmod(T, k)
    trained = whole * k * (k + 1) // 2 + rest * (rest + 1) // 2
    first = min(T, k)
    return Fraction(trained, T), Fraction(first * (first + 1) // 2 + (T - first) * k, T)


def cut_states(a, x, k):
    return [sum(a**j * x[t - j] for j in range(min(k, t + 1))) for t in range(len(x))]


def rates(w, x, slope=lambda w, h: abs(w * (1 - h**2))):
    h, total = 0.0, 0.0
    for u in x:
        h = tanh(w * h + u)
        total += log(slope(w, h))
    return log(abs(w)), total / len(x)


def sign_test(differences):
    seen = abs(sum(differences))
    signs = product((1, -1), repeat=len(differences))
    extreme = sum(abs(sum(s * d for s, d in zip(row, differences, strict=True))) >= seen for row in signs)
    return Fraction(extreme, 2 ** len(differences))


def cosine(one, other, apart):
    return (one**2 + other**2 - apart**2) / (2 * one * other)


RIGHT = [whole_perplexity, mean_inputs, cut_states, rates, sign_test, cosine]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))

WRONG = {
    "11-perplexity": [
        lambda p, unknown, rare: 1 / prod(q / rare if u else q for q, u in zip(p, unknown, strict=True)),
        lambda p, unknown, rare: -log(prod(q / rare if u else q for q, u in zip(p, unknown, strict=True))) / len(p),
        lambda p, unknown, rare: 2 ** -(sum(map(log, p)) / len(p)),
    ],
    "11-window": [
        lambda T, k: (mean_inputs(T, k)[0], Fraction(min(T, k))),
        lambda T, k: mean_inputs(T, k)[::-1],
        lambda T, k: mean_inputs(T, k)[0],
    ],
    "11-cut": [
        lambda a, x, k: cut_states(a, x, len(x)),
        lambda a, x, k: [sum(a**j * x[t - j] for j in range(k)) for t in range(len(x))],
        lambda a, x, k: cut_states(a, x[::-1], k),
    ],
    "11-reading": [
        lambda w, x: rates(w, x)[::-1],
        lambda w, x: (abs(w), rates(w, x)[1]),
        lambda w, x: (log(abs(w)), log(abs(w))),
        lambda w, x: (log(abs(w)), len(x) * rates(w, x)[1]),
    ],
    "11-signs": [
        lambda d: Fraction(1, 2 ** len(d)),
        lambda d: sign_test(d) / 2,
        lambda d: 1 - sign_test(d),
        lambda d: float(sign_test(d)) + 1e-3,
    ],
    "11-moves": [
        lambda one, other, apart: 1 - apart / max(one, other),
        lambda one, other, apart: (one + other - apart) / (2 * (one * other) ** 0.5),
        lambda one, other, apart: -cosine(one, other, apart),
    ],
}


class TestChapter11(ExerciseLaws):
    exercises, answers, wrong = chapter_11.EXERCISES, ANSWERS, WRONG


# What the texts say about these exercises holds


def test_cut_states_are_those_of_the_package():
    generator = torch.Generator().manual_seed(0)
    cell = LinearCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.W.fill_(-0.75)
        cell.U.fill_(1)
        cell.b.zero_()
    x = torch.randn(9, generator=generator, dtype=torch.float64)
    ours = truncated_states(cell, x.view(-1, 1, 1), 4).flatten().tolist()
    assert cut_states(-0.75, x.tolist(), 4) == pytest.approx(ours)


def test_the_test_of_signs_is_that_of_scipy():
    differences = [3, 1, -2, 5, 4]
    pairs = np.array(differences), np.zeros(5)
    found = permutation_test(pairs, lambda a, b: abs(np.sum(a - b)), permutation_type="samples", alternative="greater")
    assert float(sign_test(differences)) == pytest.approx(found.pvalue)


@pytest.mark.parametrize(("seeds", "least"), [(3, Fraction(1, 4)), (5, Fraction(1, 16))])
def test_few_seeds_have_a_least_share(seeds, least):
    assert sign_test([7] * seeds) == least
    assert min(sign_test(list(row)) for row in product((-3, 1, 2), repeat=seeds)) == least


def test_a_uniform_guess_among_the_rare_words_is_what_the_exercise_counts():
    full = [0.25, *[0.5 / 4] * 4]  # a model of one frequent word and four rare ones, with 0.25 for an end
    assert whole_perplexity([0.25, 0.5], [False, True], 4) == pytest.approx(1 / np.sqrt(full[0] * full[1]))


def test_a_whole_number_is_a_fraction():
    assert check("11-window", lambda T, k: tuple(int(v) if v.denominator == 1 else v for v in mean_inputs(T, k)))
