"""Nets that are kept stable: one start for all, what holds after every update, the penalty's gradient, one point."""

import json
from pathlib import Path

import pytest
import torch
from small_tasks import drawn, small_tasks

from fhx.experiments import real_data, staying_stable
from fhx.experiments.delay_line import Window
from fhx.experiments.results import read
from fhx.experiments.staying_stable import make, nets
from fhx.experiments.staying_stable.nets import KINDS, MU, UNLIMITED, WINDOW, KeptRows, measured
from fhx.stability import contraction_rate, diagonal_rate
from fhx.stability.construction import INSIDE
from fhx.training import fit

RATE = 0.9
BOUND = {"projected": contraction_rate, "constructed": diagonal_rate, "constructed, P = I": contraction_rate}


@pytest.fixture(autouse=True)
def problems(monkeypatch):
    """A small problem under both names, few seeds and updates."""
    made = small_tasks(20, 12, 9)
    made["folk tunes"] = made["chorales"]
    monkeypatch.setattr(real_data, "task", made.get)
    for name in staying_stable.TASKS:
        monkeypatch.setitem(staying_stable.BUDGETS, name, {"updates": 20, "batch_size": 5})
        monkeypatch.setitem(nets.RUNS, name, (8, 3))
        monkeypatch.setitem(WINDOW, name, 3)
    monkeypatch.setattr(nets, "UNITS", 4)
    monkeypatch.setattr(staying_stable, "SEEDS", range(2))
    monkeypatch.setattr(staying_stable, "OTHER_SEEDS", range(5, 6))
    monkeypatch.setattr(staying_stable, "TIMED", {"updates": 4, "rounds": 1})
    return made


def new(kind, name="folk tunes"):
    torch.manual_seed(0)
    return make(name, kind, None if kind in UNLIMITED else RATE)


@pytest.mark.parametrize("name", staying_stable.TASKS)
def test_all_nets_start_from_the_same_weights(name):
    free = new("free", name)
    for kind in KINDS[1:-1]:
        net = new(kind, name)
        for one, other in zip(net.readout.parameters(), free.readout.parameters(), strict=True):
            assert torch.equal(one, other)
        assert torch.equal(net.cell.U, free.cell.U)
        share = {"without recurrence": 0, "projected": RATE}.get(kind, RATE * INSIDE if kind in BOUND else 1)
        torch.testing.assert_close(net.cell.W, share * free.cell.W, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(free.cell.W @ free.cell.W.mT, torch.eye(4), rtol=0, atol=1e-5)


def test_a_window_reads_the_last_inputs():
    net, x = Window(2, 3, 4), drawn(9, 5, 2)
    past = torch.cat([torch.zeros(3, 5, 2), x])
    by_hand = [net.readout(past[t : t + 4].permute(1, 2, 0).flatten(1)) for t in range(9)]
    torch.testing.assert_close(net(x), torch.stack(by_hand))


@pytest.mark.parametrize("kind", KINDS)
def test_training_keeps_what_the_kind_says(kind):
    result = staying_stable.fitted("folk tunes", kind, None if kind in UNLIMITED else RATE, [0, 1], [0.05, 0.02], 10)
    for seed, net in enumerate(result.models):
        torch.manual_seed(seed)
        start = make("folk tunes", kind, None if kind in UNLIMITED else RATE)
        if kind in BOUND:
            assert BOUND[kind](net.cell) <= RATE
        if kind in ("without recurrence", "frozen"):
            assert torch.equal(net.cell.W, start.cell.W)
        elif kind != "window":
            assert (net.cell.W - start.cell.W).norm() > 1e-2
        assert (net.readout.weight - start.readout.weight).norm() > 1e-2


def test_every_update_is_projected():
    seen = []

    class Watched(KeptRows):
        def step(self, closure=None):
            super().step(closure)
            seen.extend(torch.linalg.matrix_norm(self.W.double(), 2).tolist())

    fit(
        lambda: new("projected"),
        real_data.task("folk tunes"),
        seeds=range(2),
        updates=6,
        batch_size=5,
        learning_rate=1.0,
        optimizer=lambda parameters, lr: Watched(parameters, lr, [0.1, 0.5], new("projected"), RATE, None),
        progress=False,
    )
    assert len(seen) == 12
    assert RATE * 0.99 < max(seen) <= RATE


def test_the_penalty_adds_its_gradient_and_clips_again():
    net, mu = new("penalty"), 3.0
    W = (2 * net.cell.W.detach()).requires_grad_()
    penalty = mu * (torch.linalg.matrix_norm(W + torch.diag(torch.arange(4.0)) / 9, 2) - RATE).clamp(min=0) ** 2
    (slope,) = torch.autograd.grad(penalty, W)
    stacked = [p.detach()[None].repeat(2, *[1] * p.ndim).requires_grad_() for p in net.parameters()]
    steps = KeptRows(stacked, 1.0, [0.0, 0.0], net, RATE, mu)
    with torch.no_grad():
        steps.W.copy_(W + torch.diag(torch.arange(4.0)) / 9)
        steps.W[1] *= 0.1  # inside the ball: no penalty
    for p in stacked:
        p.grad = torch.full_like(p, 1e-3)
    steps.step()
    together = [p.grad[0] for p in stacked]
    total = torch.cat([g.flatten() for g in together]).norm()
    torch.testing.assert_close(total, torch.tensor(1.0))
    expected = slope + 1e-3
    torch.testing.assert_close(
        steps.W.grad[0] / steps.W.grad[0].norm(), expected / expected.norm(), rtol=1e-3, atol=1e-4
    )
    assert all((p.grad[1] == 1e-3).all() for p in stacked)


@pytest.mark.parametrize(("goal", "added"), [(0.4, [0.405, 1.215]), (0.002, [0.005 / 3, 0.005 / 9])])
def test_a_grid_grows_while_its_best_is_at_an_edge(monkeypatch, goal, added):
    tried = []

    class Found:
        def __init__(self, values):
            self.best_valid = torch.tensor(values)

    def fitted(name, kind, rate, seeds, rates, updates):
        tried.append(rates)
        return Found([abs(r - goal) for r in rates])

    monkeypatch.setattr(staying_stable, "fitted", fitted)
    best, means, inside = staying_stable.chosen("folk tunes", "free", None, 20)
    assert best == pytest.approx(added[0])
    assert inside
    assert tried[1:] == [pytest.approx([rate]) for rate in added]
    assert len(means) == 6


@pytest.mark.parametrize("kind", ["free", "projected", "constructed"])
def test_measures_bound_the_exponent(kind):
    found = measured(new(kind), "folk tunes")
    tops = [found[norm] for norm in ("2-norm", "weighted", "own", "diagonal")]
    assert found["exponent"] <= torch.tensor(min(tops)).log().item() + 1e-5
    assert found["radius"] <= min(tops) + 1e-6
    assert found["spread"] >= 1


@pytest.mark.full
@pytest.mark.parametrize("point", [*staying_stable.EXPERIMENT.points], ids=lambda p: "-".join(map(str, p.values())))
def test_a_point_runs(point):
    result = staying_stable.run(point)
    assert json.loads(json.dumps(result)) == result
    if point["part"] == "train":
        assert len(result["test"]) == len(result["valid"]) == len(result["last gain"]) == 2
        assert len(result["certificate"]) == (0 if point["cell"] == "window" else 2)
    elif point["part"] == "seconds":
        assert set(result) == set(KINDS)


def test_every_net_has_its_points_once():
    points = staying_stable.EXPERIMENT.points
    trained = [tuple(p.values()) for p in points if p["part"] == "train"]
    assert len(trained) == len(set(trained)) == 2 * (len(KINDS) + len(KINDS) - len(UNLIMITED))


def entries():
    results = read(RESULT)["points"]
    return [(entry["point"], entry["result"]) for entry in results if entry["point"]["part"] == "train"]


RESULT = Path(__file__).parents[2] / "results" / "staying_stable.json"


def test_stored_nets_that_are_to_be_stable_are():
    for point, result in entries():
        norm = {"projected": "2-norm", "constructed": "own", "constructed, P = I": "2-norm"}.get(point["cell"])
        if norm is not None:
            assert len(result["certificate"]) == 5
            assert max(found[norm] for found in result["certificate"]) <= point["rate"] * (1 + 1e-5)
    assert {point["cell"] for point, _ in entries()} == set(KINDS) >= set(MU)


def test_stored_rates_are_the_best_of_their_grids():
    for point, result in entries():
        best = (min if point["task"] == "folk tunes" else max)(result["rates"].values())
        assert result["rates"][str(result["rate"])] == best
        rates = [float(rate) for rate in result["rates"]]
        assert result["inside"] is (min(rates) < result["rate"] < max(rates))
