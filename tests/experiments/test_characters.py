"""Depth on text: pieces and their targets, counted models against another count, equal sizes, evidence."""

import json
from collections import Counter
from math import exp, log

import numpy as np
import pytest
import torch
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.experiments import characters
from fhx.experiments.characters import BUDGET, COMMON, KINDS, LONGEST, PARAMETERS, STEPS, evidence, make, task
from fhx.experiments.protocol import judge
from fhx.experiments.results import stored


def texts_of(seed, alphabet):
    """Three texts whose characters depend on those before them."""
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, alphabet, size=800)
    drawn[2:] = np.where(generator.random(798) < 0.7, (drawn[1:-1] + drawn[:-2]) % alphabet, drawn[2:])
    return drawn[:500], drawn[500:600], drawn[600:]


@pytest.fixture
def small(monkeypatch):
    """Few characters, pieces and updates; nobody's files."""
    yield lambda seed, alphabet: _use(monkeypatch, seed, alphabet)
    task.cache_clear()
    characters.counted.cache_clear()


def _use(monkeypatch, seed, alphabet):
    texts = texts_of(seed, alphabet)
    budget = evolve(BUDGET, rates=(0.01, 0.03), seeds=range(2), others=(2,), updates=4, evaluations=2)
    changed = {"texts": lambda: texts, "SIZES": (40, 10, 20), "BUDGET": budget}
    for name, value in changed.items():
        monkeypatch.setattr(characters, name, value)
    task.cache_clear()
    characters.counted.cache_clear()
    return texts


def test_targets_are_the_next_characters_of_the_text(small):
    train, valid, _ = small(0, 5)
    for text, part in ((train, task().train), (valid, task().valid)):
        read = part.inputs.argmax(-1)
        assert part.inputs.sum(-1).eq(1).all()
        torch.testing.assert_close(part.targets[:-1], read[1:])
        assert read[:, 0].tolist() == text[:STEPS].tolist()
        assert part.targets[:, -1].tolist() == text[-STEPS:].tolist()


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_what_is_counted_agrees_with_a_count_word_by_word(seed, alphabet):
    with pytest.MonkeyPatch.context() as patch:
        train, _, _ = _use(patch, seed, alphabet)
        counts = [Counter(tuple(train[i : i + n]) for i in range(len(train) - n + 1)) for n in range(1, LONGEST + 2)]

        def probability(context, a):
            if not context:
                return counts[0][(a,)] / len(train)
            followers = [counts[len(context)][(*context, b)] for b in range(COMMON + 1)]
            n, k = sum(followers), sum(f > 0 for f in followers)
            shorter = probability(context[1:], a)
            return (followers[a] + k * shorter) / (n + k) if n else shorter

        test = task().test
        read = torch.cat([test.inputs.argmax(-1)[:1], test.targets]).T.tolist()
        for context in range(LONGEST + 1):
            losses = [
                -log(probability(tuple(piece[max(0, t - context) : t]), piece[t]))
                for piece in read
                for t in range(1, STEPS + 1)
            ]
            assert characters.counted(context) == pytest.approx(np.mean(losses), rel=1e-9)
    task.cache_clear()
    characters.counted.cache_clear()


def test_nets_have_about_as_many_parameters(small):
    small(0, 5)
    sizes = {name: sum(p.numel() for p in make(name).parameters()) for name in KINDS}
    assert max(sizes.values()) <= PARAMETERS
    assert min(sizes.values()) > 0.93 * PARAMETERS


@pytest.mark.parametrize("name", ["highway, 1", "highway, 4"])
def test_a_highways_direct_path_keeps_about_a_third_of_a_number_over_a_piece(small, name):
    small(0, 5)
    cell = make(name).cell
    d, depth = cell.state_size, KINDS[name][1]
    for b in (cell.b, *cell.b_upper):
        kept = torch.sigmoid(-b[d:])  # what the gate does not take
        assert (kept ** (depth * STEPS)).mean().item() == pytest.approx(exp(-1), rel=0.02)


def test_there_is_no_such_kind():
    with pytest.raises(ValueError, match="there is no kind 'deep, 9'; there are simple"):
        make("deep, 9")


@pytest.mark.parametrize("name", ["simple", "highway, 1", "frozen"])
def test_a_point_has_a_number_for_every_net(small, name):
    small(1, 6)
    found = characters.run({"kind": name})
    assert json.loads(json.dumps(found)) == found
    assert len(found["test"]) == 2
    assert len(found["settings"]) == 4
    assert (found["parameters"] < PARAMETERS / 5) is (name == "frozen")


def test_the_stored_verdict_follows_from_what_is_stored():
    result = stored("characters")
    (one,) = evidence(result).values()
    verdict = judge(one)
    for statement in one.statements:
        clear = one.lead(statement.one, statement.other).low > 0
        assert (verdict[statement] == "holds") is (verdict.all_rules_hold and clear)
    assert set(one.kinds) == set(KINDS)
    by_counting = list(one.baselines.values())
    assert by_counting == sorted(by_counting, reverse=True)
    assert min(min(kind.scores) for kind in one.kinds.values()) < by_counting[1]
