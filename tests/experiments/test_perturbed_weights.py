"""Compiled weights in a trained cell's place: they are right before any noise, and the noise is what is said."""

from itertools import product
from pathlib import Path

import pytest
import torch

from fhx.experiments import perturbed_weights
from fhx.experiments.perturbed_weights import NETS, compiled, depth, language, loaded, machine, new, perturbed
from fhx.experiments.results import read
from fhx.machines import parity
from fhx.tasks import LANGUAGES, formal_language
from fhx.tasks.languages import encode

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize("name", NETS)
def test_compiled_nets_are_right_and_their_logits_are_plus_or_minus_five(name):
    net, dfa = loaded(compiled(name)), machine(name)
    assert depth(net, dfa, 10) == 10
    words = LANGUAGES[language(name)].words(20, (1, 60), 0)
    inputs, lengths = encode(words, "".join(dfa.alphabet), empty=False)
    with torch.no_grad():
        logits = net(inputs, lengths)[-1, :, 0].tolist()
    assert logits == [5.0 if dfa.accepts(word) else -5.0 for word in words]
    with torch.no_grad():
        assert net.readout(net.h0).item() == (5.0 if dfa.accepts("") else -5.0)


def test_the_nets_have_the_units_of_their_proofs():
    assert [compiled(name).units for name in NETS] == [2, 2 * 2 + 1, 4 * 2 + 1, 4 * 2 + 1]


def test_depth_is_the_length_before_the_shortest_wrong_word():
    dfa = parity()
    net = loaded(compiled("parity, on paper"))
    for seed in range(12):
        torch.manual_seed(seed)
        noisy = perturbed(compiled("parity, on paper"), 0.05)
        wrong = []
        for length in range(1, 8):
            words = ["".join(word) for word in product("01", repeat=length)]
            inputs, lengths = encode(words, "01", empty=False)
            with torch.no_grad():
                answers = (noisy(inputs, lengths)[-1, :, 0] > 0).tolist()
            wrong += [word for word, answer in zip(words, answers, strict=True) if answer != dfa.accepts(word)]
        assert depth(noisy, dfa, 7) == (len(wrong[0]) - 1 if wrong else 7)
    with torch.no_grad():
        net.readout.bias += 100
    assert depth(net, dfa, 7) == 0


def test_noise_is_relative_to_the_largest_number_of_each_parameter():
    recognizer = compiled("(a|b)*abb")
    torch.manual_seed(0)
    exact = dict(loaded(recognizer).named_parameters())
    nets = [dict(perturbed(recognizer, 0.1).named_parameters()) for _ in range(300)]
    for name, value in exact.items():
        noise = torch.stack([net[name] for net in nets]) - value
        assert noise.mean().item() == pytest.approx(0, abs=0.1 * value.abs().max().item() * 0.25)
        assert noise.std().item() == pytest.approx(0.1 * value.abs().max().item(), rel=0.15)
    assert torch.equal(perturbed(recognizer, 0.1).h0, loaded(recognizer).h0)
    assert new(recognizer).h0.abs().max() == 0


def test_perturbed_weights_run_one_point(monkeypatch):
    monkeypatch.setattr(perturbed_weights, "SEEDS", range(3))
    monkeypatch.setattr(perturbed_weights, "UPDATES", 4)
    words = formal_language("parity", (1, 6), (40, 20, 20), empty=False)
    monkeypatch.setattr(perturbed_weights, "task", lambda name: words)
    state = torch.get_rng_state()
    point = {"net": "parity, on paper", "noise": 1e-6}
    result = perturbed_weights.run(point)
    assert torch.equal(torch.get_rng_state(), state)
    assert result == {
        "before": {"depth": [20] * 3, "long": [True] * 3},
        "after": {"depth": [20] * 3, "long": [True] * 3},
        "diverged": 0,
    }
    noisy = perturbed_weights.run({**point, "noise": 0.03})["before"]
    torch.manual_seed(123)
    assert perturbed_weights.run({**point, "noise": 0.03})["before"] == noisy  # the noise follows the seeds alone
    assert len(set(noisy["depth"])) > 1
    fresh = perturbed_weights.run({**point, "noise": None})
    assert max(fresh["before"]["depth"]) < 20
    assert not any(fresh["before"]["long"])


def test_stored_noise_hurts_more_the_larger_it_is():
    for name in NETS:
        entries = [e for e in read(RESULTS / "perturbed_weights.json")["points"] if e["point"]["net"] == name]
        depths = [sum(entry["result"]["before"]["depth"]) for entry in entries if entry["point"]["noise"] is not None]
        assert len(depths) == len(perturbed_weights.NOISE)
        assert depths[0] == max(depths)
        assert depths[0] > depths[-1]
