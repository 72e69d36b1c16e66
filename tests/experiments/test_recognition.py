"""What the experiments on formal languages share: when a net is right, how far it reaches, how it is stored."""

import json

import pytest
import torch

from fhx.experiments import recognition
from fhx.experiments.recognition import CELLS, load, make, reach, right, train, weights
from fhx.tasks import LANGUAGES, Sequences, formal_language, next_symbols


def counter(limit):
    """Decides a^n b^n rightly while no more than ``limit`` symbols a were read, and accepts nothing beyond."""

    def net(inputs, lengths):
        a, b = inputs.cumsum(0).unbind(-1)
        fault = ((inputs[..., 0] * b) > 0).cumsum(0) > 0
        return ((a == b) & ~fault & (a <= limit)).float()[..., None] - 0.5

    return net


def probes(numbers):
    language = LANGUAGES["a^n b^n"]
    return language.sequences([word for n in numbers for word in language.probes(n)])


@pytest.mark.parametrize("limit", [0, 1, 7, 10, 11, 23, 27, 30, 31])
def test_reach_is_the_last_number_before_the_first_mistake(limit):
    assert reach(counter(limit), probes, 30) == min(limit, 30)
    assert reach(counter(limit), probes, 25) == min(limit, 25)


def test_right_means_every_step_of_a_word_and_no_step_behind_it():
    words = LANGUAGES["a^n b^n"].sequences(["ab", "aaabbb", "ba", "aabbaabb"])
    assert right(counter(9), words).tolist() == [True] * 4
    assert right(counter(2), words).tolist() == [True, False, True, True]
    wrong_behind = Sequences(words.inputs, torch.where(words.mask[..., None], words.targets, 1.0), words.lengths)
    assert right(counter(9), wrong_behind).tolist() == [True] * 4


def test_right_asks_for_all_outputs():
    part = next_symbols("a^n b^n", counts=(1, 2)).train
    perfect = part.targets - 0.5
    assert right(lambda inputs, lengths: perfect, part).all()
    for bit in range(3):
        wrong = perfect.clone()
        wrong[1, 0, bit] *= -1
        assert right(lambda inputs, lengths, wrong=wrong: wrong, part).tolist() == [False, True]


@pytest.mark.parametrize("cell", CELLS)
def test_a_stored_net_is_the_net(cell):
    task = formal_language("parity", sizes=(5, 5, 5))
    net = make(cell, task)
    assert sum(p.numel() for p in net.cell.parameters()) >= 16 * 19
    again = load(cell, task, json.loads(json.dumps(weights(net))))
    torch.testing.assert_close(again(task.test.inputs), net(task.test.inputs))
    assert not again.training


@pytest.mark.usefixtures("unchecked")
def test_the_rate_falls_linearly_to_zero(monkeypatch):
    seen = {}
    monkeypatch.setattr(recognition, "fit", lambda make_model, task, **options: seen.update(options))
    train("GRU", formal_language("parity", sizes=(5, 5, 5)), 0.4, range(2), updates=8)
    assert [seen["learning_rate"](update) for update in range(1, 9)] == pytest.approx(
        [0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05]
    )


def test_the_rate_is_the_one_with_the_lowest_mean_of_the_best_losses():
    task = formal_language("parity", (1, 4), (50, 20, 20))
    rate, means = recognition.chosen_learning_rate("relu", task, (0.001, 0.03), (5, 6), updates=20, batch_size=10)
    for tried in (0.001, 0.03):
        result = train("relu", task, tried, (5, 6), 20, 10)
        assert means[str(tried)] == pytest.approx(result.valid.min(1).mean())
    assert means["0.03"] < means["0.001"]
    assert rate == 0.03
