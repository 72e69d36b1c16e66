"""Reach by the longest word shown: what is trained, from where, how it is scored, and what the stored run says."""

import pytest
import torch
from attrs import evolve

from fhx.experiments import counting, shown
from fhx.experiments.protocol import judge
from fhx.experiments.recognition import CELLS
from fhx.experiments.results import stored
from fhx.training.losses import real_steps


@pytest.fixture
def small(monkeypatch):
    few = {"updates": 20, "evaluations": 4, "seeds": range(2), "others": (2,), "decays": (0.0, 0.1)}
    for name, budget in shown.BUDGETS.items():
        monkeypatch.setitem(shown.BUDGETS, name, evolve(budget, rates=(1e-9, 0.02), **few))
    monkeypatch.setattr(shown, "LIMIT", 12)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("cell", CELLS)
def test_a_point_is_scored_by_its_reach(cell):
    result = shown.run({"cell": cell, "start": "open", "shown": 3, "units": 4})
    assert result["rate"] == 0.02, "a rate at which nothing is learned was chosen"
    assert len(result["reach"]) == 2
    assert all(0 <= n <= 12 for n in result["reach"])


@pytest.mark.usefixtures("small")
def test_reach_is_that_of_the_reported_nets_and_zero_where_one_diverged(monkeypatch):
    real = shown.compare

    def diverged(*arguments):
        fit, result = real(*arguments)
        return fit, {**result, "diverged": [7, None]}

    monkeypatch.setattr(shown, "compare", diverged)
    monkeypatch.setattr(shown, "reach", lambda net, part, limit: limit)
    assert shown.run({"cell": "tanh", "start": "open", "shown": 3, "units": 4})["reach"] == [0, 12]


@pytest.mark.parametrize("longest", [10, 100])
def test_gates_start_open_for_the_longest_word(longest):
    torch.manual_seed(0)
    lstm, gru = (shown.make(cell, "open", longest, 4000).cell for cell in ("LSTM", "GRU"))
    assert torch.equal(lstm.b_i, -lstm.b_f)
    for bias in (lstm.b_f, gru.b_z):
        remembered = bias.detach().exp()
        assert 1 <= remembered.min() < 1.1
        assert 0.99 * 2 * longest < remembered.max() <= 2 * longest
        assert remembered.mean() == pytest.approx(longest + 0.5, rel=0.05)  # uniform


def test_a_frozen_net_trains_its_readout_only():
    net = shown.make("GRU", "frozen", 10)
    assert {name for name, p in net.named_parameters() if p.requires_grad} == {"readout.weight", "readout.bias"}


def test_other_widths_have_about_as_many_parameters_as_the_lstm():
    def count(net):
        return sum(p.numel() for p in net.parameters())

    whole = count(shown.make("LSTM", "open", 10))
    for cell, units in shown.EQUAL.items():
        nearest = min(range(1, 60), key=lambda u: abs(count(shown.make(cell, "open", 10, u)) - whole))
        assert units == nearest


def test_the_score_counts_doublings():
    assert shown.score(shown.LIMIT) == 0
    assert shown.score(9) - shown.score(19) == pytest.approx(1)


def test_the_baselines_reach_as_far_as_is_said():
    """A rule for the last symbol alone can be right for n = 1, and not for n = 1 and 2."""
    part = counting.members("a^n b^n", (1, 2))
    real = real_steps(part.lengths, len(part.inputs))
    answers = {}
    for n in (0, 1):
        seen = zip(part.inputs[:, n][real[:, n]].tolist(), part.targets[:, n][real[:, n]].tolist(), strict=True)
        answers[n] = [(tuple(x), tuple(y)) for x, y in seen]
    rule = dict(answers[0])
    assert all(rule[x] == y for x, y in answers[0])
    assert any(dict(answers[1])[x] != y for x, y in answers[1]), "two answers after the same symbol"


def made_up(reach, /, **changes):
    """A stored run in which every point has these reaches, by cell, start and longest n, and all else is in order."""
    points = []
    for point in shown.EXPERIMENT.points:
        name = "frozen" if point["start"] == "frozen" else point["cell"]
        rates = shown.RATES[name]
        result = {
            "test": [0.1] * 8,
            "at": [100, 200, 300],
            "valid": [[1.0, 0.1, 0.1]] * 8,
            "rate": rates[2],
            "decay": 0.0,
            "settings": [[rate, decay, 0.1] for rate in rates for decay in (0.0, 0.01)],
            "item error": 0.0,
            "reach": [reach(name, point["shown"]) + seed % 2 for seed in range(8)],
        }
        points.append({"point": point, "result": result | changes})
    return {"points": points}


def far(name, longest):
    return {"frozen": 1, "LSTM": longest**2 // 2, "GRU": longest + 2}.get(name, longest)


def test_what_holds_and_what_fails_is_said_for_each_longest_word_and_each_cell():
    found = {name: judge(one) for name, one in shown.evidence(made_up(far)).items()}
    assert set(found) == {*(f"n to {n}" for n in shown.SHOWN), *CELLS}
    for verdict in found.values():
        assert verdict.all_rules_hold, str(verdict)
    for longest in shown.SHOWN:
        assert {found[f"n to {longest}"][one] for one in shown.CELL_STATEMENTS} == {"holds"}
    grows = {cell: found[cell][next(iter(found[cell].leads))] for cell in CELLS}
    assert grows["LSTM"] == "holds"
    assert grows["GRU"] == "fails"  # it gains two numbers at any length


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("plateau", {"valid": [[1.0, 0.1, 0.08]] * 8}),
        ("tuning", {"rate": 1e-9, "settings": [[1e-9, 0.0, 0.1], [1.0, 0.01, 0.1]]}),
        ("control", {"reach": [20] * 8}),
    ],
)
def test_a_run_that_breaks_a_rule_decides_nothing(rule, changes):
    for evidence in shown.evidence(made_up(far, **changes)).values():
        verdict = judge(evidence)
        assert rule in verdict.reasons
        assert {verdict[one] for one in evidence.statements} == {"undecided at this budget"}


def test_stored_evidence_is_of_every_longest_word_and_cell_and_the_frozen_net_only_keeps_up_with_the_words_shown():
    run = stored("shown")
    found = shown.evidence(run)
    assert set(found) == {*(f"n to {n}" for n in shown.SHOWN), *CELLS}
    for entry in run["points"]:
        reach = entry["result"]["reach"]
        assert all(0 <= n <= shown.LIMIT for n in reach)
        if entry["point"]["start"] == "frozen":
            assert max(reach) < 2 * entry["point"]["shown"]
    for one in found.values():
        verdict = judge(one)
        for statement in one.statements:
            ahead = verdict.leads[statement].low > statement.by
            assert (verdict[statement] == "holds") is (verdict.all_rules_hold and ahead)
