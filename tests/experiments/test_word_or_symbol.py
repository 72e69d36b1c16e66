"""One verdict a word or one a symbol: what is shown, what is scored, and what the stored run says."""

import pytest
import torch
from attrs import evolve

from fhx.experiments import word_or_symbol
from fhx.experiments.protocol import judge


@pytest.mark.parametrize("lengths", word_or_symbol.LENGTHS)
def test_both_tasks_have_the_same_words_and_the_last_verdicts_agree(lengths):
    word, symbol = (word_or_symbol.task(verdict, lengths) for verdict in ("word", "symbol"))
    for part in ("train", "valid", "test"):
        one, each = getattr(word, part), getattr(symbol, part)
        assert torch.equal(one.inputs, each.inputs)
        assert torch.equal(one.targets, (one.inputs[..., 1].sum(0) % 2).to(one.targets.dtype))
        last = each.targets[each.lengths - 1, torch.arange(len(each)), 0]
        assert torch.equal(one.targets, last)
    bits = word.train.lengths - 1  # a vector of zeros comes first
    assert (bits.min(), bits.max()) == lengths
    assert (word.test.lengths.max() - 1, len(word.test)) == (100, 500)


@pytest.mark.parametrize("verdict", word_or_symbol.VERDICTS)
def test_a_point_is_scored_by_the_last_verdict(monkeypatch, verdict):
    few = {"updates": 6, "evaluations": 3, "seeds": range(3), "others": (3,), "rates": (1e-9, 0.02)}
    for name, budget in word_or_symbol.BUDGETS.items():
        monkeypatch.setitem(word_or_symbol.BUDGETS, name, evolve(budget, **few))
    result = word_or_symbol.run({"cell": "LSTM", "start": "open", "verdict": verdict, "lengths": [1, 20]})
    assert len(result["wrong"]) == 3
    assert all(0 < share < 1 for share in result["wrong"])
    by_chance = (0.25 / 500) ** 0.5
    assert 0 < result["item error"] < 1.1 * by_chance


def test_a_wrong_verdict_has_the_wrong_sign():
    outputs, targets = torch.tensor([[0.1], [-0.1], [2.0], [-3.0]]), torch.tensor([1.0, 1.0, 0.0, 0.0])
    assert word_or_symbol.WRONG.metric(outputs, targets).tolist() == [0, 1, 1, 0]
    each = word_or_symbol.OBJECTIVES["word"].loss(outputs, targets)
    assert each.tolist() == pytest.approx([(1 + torch.exp(torch.tensor(-z))).log().item() for z in (0.1, -0.1, -2, 3)])


def made_up(wrong):
    """A stored run with these shares of wrong verdicts by name of the kind, in which all else is in order."""
    points = []
    for point in word_or_symbol.EXPERIMENT.points:
        rates = word_or_symbol.RATES["frozen" if point["start"] == "frozen" else point["cell"]]
        result = {
            "test": [0.1] * 8,
            "at": [100, 200, 300],
            "valid": [[1.0, 0.1, 0.1]] * 8,
            "rate": rates[2],
            "decay": 0.0,
            "settings": [[rate, decay, 0.1] for rate in rates for decay in (0.0, 0.01)],
            "item error": 0.01,
            "wrong": [wrong(word_or_symbol.label(point)) + 0.01 * (seed % 2) for seed in range(8)],
        }
        points.append({"point": point, "result": result})
    return {"points": points}


def test_what_is_judged_is_the_hint_and_the_short_words():
    by_words = {"one a word, 20 bits": 0.49, "frozen, one a symbol, 1 to 20 bits": 0.6}
    for evidence in word_or_symbol.evidence(made_up(lambda name: by_words.get(name, 0.0))).values():
        verdict = judge(evidence)
        assert verdict.all_rules_hold, str(verdict)
        assert {verdict[one] for one in word_or_symbol.STATEMENTS} == {"holds"}
    for evidence in word_or_symbol.evidence(made_up(lambda name: 0.5)).values():
        assert set(judge(evidence).reasons) == {"control"}
