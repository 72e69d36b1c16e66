"""Nets one after another: each by its own seed, put back where it has to be, stopped when nothing is gained."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from attrs import evolve
from torch import nn

from fhx.cells import LSTMCell, SimpleCell
from fhx.dynamics import Realization, unroll
from fhx.experiments import one_by_one as module
from fhx.experiments.comparison import Budget, compare, kind, side_by_side
from fhx.experiments.loops import TorchLoop
from fhx.experiments.one_by_one import _batches, one_by_one
from fhx.experiments.seeding import per_seed
from fhx.tasks import running_parity
from fhx.training import OBJECTIVES, evaluate

BUDGET = Budget(
    rates=(1e-4, 0.01, 0.03),
    decays=(0.0, 0.1),
    dropouts=(0.3,),
    seeds=range(3),
    others=(5,),
    updates=60,
    batch_size=16,
    evaluations=6,
)
TASK = running_parity(4, sizes=(200, 60, 80))
SETTINGS = [(0.01, 0.0, 0.0), (0.03, 0.1, 0.0), (0.03, 0.0, 0.3)]


class Net(Realization):
    """A simple net with dropout, whose largest recurrent weight may be kept below a bound."""

    def __init__(self, dropout=0.0, bound=None):
        super().__init__(SimpleCell(1, 6), nn.Sequential(nn.Dropout(dropout), nn.Linear(6, 2)))
        self.bound, self.seen = bound, []


class Bounded(Net):
    """It says how large its weights were before they were bounded."""

    @torch.no_grad()
    def constrain(self):
        self.seen.append(self.cell.W.abs().max().item())
        self.cell.W.clamp_(-self.bound, self.bound)


class Broken(Net):
    """Its outputs are infinite from the 26th update on."""

    def forward(self, inputs, lengths=None):
        outputs = super().forward(inputs, lengths)
        self.seen += [1] * self.training
        return outputs / 0 if self.training and len(self.seen) > 25 else outputs


def test_each_net_is_that_of_its_own_setting_and_seed():
    together = one_by_one(Net, TASK, SETTINGS, [3, 4, 5], BUDGET)
    for i, (setting, seed) in enumerate(zip(SETTINGS, [3, 4, 5], strict=True)):
        alone = one_by_one(Net, TASK, [setting], [seed], BUDGET)
        assert together.test[i] == alone.test[0]
        assert together.valid[i].tolist() == alone.valid[0].tolist()
        assert together.train_loss[i].tolist() == alone.train_loss[0].tolist()
    assert len({tuple(curve) for curve in together.valid}) == 3
    assert together.updates.tolist() == [0, 10, 20, 30, 40, 50, 60]


def test_batches_are_permutations_that_follow_the_seed():
    orders = []
    for seed in (1, 1, 2):
        drawn = _batches(TASK.train, 50, seed)
        one, other = (torch.cat([next(drawn).inputs for _ in range(4)], 1)[..., 0] for _ in range(2))
        for each in (one, other):
            assert sorted(each.T.tolist()) == sorted(TASK.train.inputs[..., 0].T.tolist())
        assert not torch.equal(one, other)
        orders.append(one)
    assert torch.equal(orders[0], orders[1])
    assert not torch.equal(orders[0], orders[2])


def test_a_net_is_judged_with_the_weights_of_its_best_validation():
    fit = one_by_one(Net, TASK, [(0.3, 0.0, 0.0)] * 3, [3, 4, 5], BUDGET)
    assert min(fit.best_update) < 60, "one of them was better before its end"
    for i, net in enumerate(fit.models):
        assert not net.training
        assert evaluate(net, TASK, "valid") == pytest.approx(max(fit.valid[i]))
        assert evaluate(net, TASK, "test") == pytest.approx(fit.test[i])
        assert fit.valid[i][fit.updates.tolist().index(fit.best_update[i])] == max(fit.valid[i])


def test_it_learns_what_nets_side_by_side_learn():
    """Batches differ, so only the size of the loss is the same."""
    one = one_by_one(Net, TASK, SETTINGS[:1] * 3, [0, 1, 2], evolve(BUDGET, updates=300))
    other = side_by_side(Net, TASK, [(0.01, 0.0)] * 3, [0, 1, 2], evolve(BUDGET, updates=300))
    assert one.train_loss[:, -1].mean() == pytest.approx(other.train_loss[:, -1].mean(), abs=0.15)
    assert one.train_loss[:, -1].mean() < 0.8 * one.train_loss[:, 0].mean()


def test_a_constrained_net_is_so_at_every_validation():
    budget = evolve(BUDGET, updates=60, evaluations=3)
    fit = one_by_one(lambda dropout: Bounded(dropout, 0.2), TASK, SETTINGS[:1], [1], budget)
    (net,) = fit.models
    assert len(net.seen) == 5  # after 20, 25, 40, 50 and 60 updates
    assert max(net.seen[1:]) > 0.2 >= net.cell.W.abs().max()


def test_a_net_stops_when_nothing_is_gained():
    budget = evolve(BUDGET, updates=200, evaluations=20, patience=3)
    fit = one_by_one(Net, TASK, [(1e-9, 0.0, 0.0), (0.03, 0.0, 0.0)], [1, 2], budget)
    assert fit.stopped[1] == 30
    assert fit.valid.shape == (2, len(fit.updates))
    assert fit.updates[-1] == max(fit.stopped.get(2, 200), 30)
    assert set(fit.valid[0][4:]) == {max(fit.valid[0])}


def test_a_net_that_diverges_keeps_its_best_weights():
    fit = one_by_one(Broken, TASK, [SETTINGS[0], SETTINGS[0]], [1, 2], evolve(BUDGET, updates=50, evaluations=5))
    assert fit.diverged == {1: 26, 2: 26}
    assert fit.updates.tolist() == [0, 10, 20]
    assert np.isfinite(fit.test).all()


def test_a_comparison_with_dropout():
    trained, result = compare(Net, TASK, BUDGET, trained=one_by_one)
    assert json.loads(json.dumps(result)) == result
    assert [tuple(setting) for *setting, _ in result["settings"]] == BUDGET.settings
    assert len(BUDGET.settings) == 9
    best = max(result["settings"], key=lambda s: s[-1])
    assert [result["rate"], result["decay"], result["dropout"]] == best[:3]
    found = kind(result)
    assert found.regularizers == {"weight decay", "dropout"}
    assert found.settings == 9
    assert trained.models[0].readout[0].p == result["dropout"]


@pytest.mark.parametrize("make", [SimpleCell, LSTMCell])
def test_torchs_loop_has_the_states_and_gradients_of_the_cell(make):
    (cell,) = per_seed(lambda: make(3, 4), [0])
    loop, found = TorchLoop(cell), []
    x, start = (
        torch.randn(shape, generator=torch.Generator().manual_seed(1)) for shape in ((6, 2, 3), (2, cell.state_width))
    )

    def by_unroll(h):
        states = unroll(cell, x, h)
        return cell.hidden(states), states[-1]

    for h in (start, None):
        for run in (lambda h: loop(cell, x, h), by_unroll):
            cell.zero_grad()
            shown, last = run(h)
            (shown.square().sum() + last.pow(3).sum()).backward()
            found.append([shown, last, *(p.grad.clone() for p in cell.parameters())])
    for one, other in zip([*found[0], *found[2]], [*found[1], *found[3]], strict=True):
        torch.testing.assert_close(one, other)


def test_the_loss_is_that_of_the_objective():
    objective = OBJECTIVES["class per step"].by_loss("nats")
    fit = one_by_one(Net, TASK, SETTINGS[:1], [1], BUDGET, objective)
    assert fit.test[0] == pytest.approx(evaluate(fit.models[0], TASK, "test", objective=objective))
    assert fit.valid[0].argmin() == [*fit.updates].index(fit.best_update[0])


def test_nets_that_are_reported_may_be_trained_otherwise():
    calls = []

    def watched(make, task, settings, seeds, budget, objective):
        calls.append((budget.updates, budget.patience))
        return one_by_one(make, task, settings, seeds, budget, objective)

    stopping = evolve(BUDGET, rates=(1e-9,), decays=(0.0,), dropouts=(), updates=100, evaluations=20, patience=3)
    for reported, last in (({}, 15), ({"patience": None}, 100), ({"updates": 10, "evaluations": 2}, 10)):
        _, result = compare(lambda: Net(0.0), TASK, evolve(stopping, reported=reported), trained=watched)
        assert result["at"][-1] == last
    assert calls == [(100, 3), (100, 3), (100, 3), (100, None), (100, 3), (10, 3)]
    assert evolve(stopping, reported=reported).as_json["reported"] == reported


@pytest.fixture
def trained(monkeypatch, tmp_path):
    """A cache of its own, and the seeds whose nets were trained."""
    monkeypatch.setenv("FHX_CACHE", str(tmp_path))
    seeds, one = [], module._one

    def noted(make, task, setting, seed, *others):
        if seed == 13:
            raise KeyboardInterrupt
        seeds.append(seed)
        return one(make, task, setting, seed, *others)

    monkeypatch.setattr(module, "_one", noted)
    return seeds


def test_a_run_that_was_stopped_goes_on_with_the_first_net_that_is_not_kept(trained):
    settings = [*SETTINGS, SETTINGS[0]]
    with pytest.raises(KeyboardInterrupt):
        one_by_one(Net, TASK, settings, [3, 4, 13, 5], BUDGET, kept={"net": "mine"})
    assert trained == [3, 4]
    found = one_by_one(Net, TASK, settings, [3, 4, 14, 5], BUDGET, kept={"net": "mine"})
    assert trained == [3, 4, 14, 5]
    fresh = one_by_one(Net, TASK, settings, [3, 4, 14, 5], BUDGET)
    for name in ("updates", "train_loss", "valid", "test", "best_update"):
        np.testing.assert_array_equal(getattr(found, name), getattr(fresh, name))
    for name in ("task", "objective", "seeds", "diverged", "stopped", "reached"):
        assert getattr(found, name) == getattr(fresh, name)
    for net, other in zip(found.models, fresh.models, strict=True):
        assert not net.training
        torch.testing.assert_close(net.state_dict(), other.state_dict(), rtol=0, atol=0)
    assert found.seconds > 0


def test_a_kept_net_that_stopped_or_diverged_is_known_to_have(trained):
    budget = evolve(BUDGET, updates=3000, evaluations=300, patience=2)
    for make, setting in ((Net, (1e-9, 0.0, 0.0)), (Broken, SETTINGS[0])):
        fits = [one_by_one(make, TASK, [setting], [1], budget, kept={"net": make.__name__}) for _ in range(2)]
        assert fits[0].stopped | fits[0].diverged
        assert (fits[0].stopped, fits[0].diverged) == (fits[1].stopped, fits[1].diverged)
    assert trained == [1, 1]


@pytest.mark.parametrize(
    "changed",
    [
        {"kept": {"net": "other"}},
        {"settings": SETTINGS[1:2]},
        {"seeds": [4]},
        {"objective": replace(OBJECTIVES[TASK.kind], unit="other")},
        {"task": running_parity(4, sizes=(200, 61, 80))},
        *({"budget": evolve(BUDGET, **other)} for other in ({"updates": 50, "evaluations": 5}, {"batch_size": 8})),
        *({"budget": evolve(BUDGET, **other)} for other in ({"evaluations": 3}, {"patience": 3}, {"clip": 0.5})),
    ],
)
def test_what_a_net_depends_on_is_told(trained, changed):
    told = {"task": TASK, "settings": SETTINGS[:1], "seeds": [3], "budget": BUDGET, "kept": {"net": "mine"}}
    for _ in range(2):
        one_by_one(Net, **told)
    one_by_one(Net, **{**told, **changed})
    assert len(trained) == 2
