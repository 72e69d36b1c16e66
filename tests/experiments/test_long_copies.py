"""A word over a long delay: what the kinds are, and what is stored of them."""

from math import log

import pytest
import torch
from torch.nn.utils import parametrize

from fhx.experiments import long_copies, stored
from fhx.experiments.comparison import Budget
from fhx.experiments.long_copies import (
    BUDGET,
    DELAY,
    KINDS,
    LENGTH,
    RATES,
    SHORT,
    ModReLU,
    guess,
    make,
    share_right,
    stretch,
    task,
)
from fhx.experiments.protocol import judge
from fhx.training import fit


@pytest.fixture
def small(monkeypatch):
    """Three letters over ten steps, and a budget of seconds."""
    budget = Budget(
        rates=(0.003, 0.01, 0.03),
        decays=(0.0, 0.1),
        seeds=(0, 1),
        others=(5,),
        updates=4,
        batch_size=4,
        evaluations=2,
    )
    for name, value in (("DELAY", 10), ("SIZES", (40, 10, 20)), ("BUDGET", budget), ("RATES", {})):
        monkeypatch.setattr(long_copies, name, value)
    task.cache_clear()
    yield
    task.cache_clear()


def test_modrelu_is_the_identity_at_first_and_moves_a_size_not_a_sign():
    a = torch.tensor([-2.0, -0.5, 0.0, 0.5, 2.0])
    each = ModReLU(5)
    assert torch.equal(each(a), a)
    each.c.data.fill_(-1.0)
    assert each(a).tolist() == [-1.0, 0.0, 0.0, 0.0, 1.0]
    each.c.data.fill_(1.0)
    assert each(a).tolist() == [-3.0, -1.5, 0.0, 1.5, 3.0]


def test_the_guess_is_what_answering_blank_and_then_guessing_costs(small):
    part, steps = task(3).test, 10 + 2 * 3
    sure = torch.zeros(steps, len(part), 9, dtype=torch.float64)
    sure[:-3, :, 8], sure[-3:, :, 8] = 50.0, -50.0
    loss = torch.nn.functional.cross_entropy(sure.movedim(-1, 1), part.targets)
    assert guess(3) == pytest.approx(3 * log(8) / steps) == pytest.approx(loss.item())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "LSTM"])
def test_all_matrices_start_orthogonal(small, kind):
    torch.manual_seed(3)
    low, high = stretch(make(kind, 3))
    assert abs(low - 1) < 1e-5 > abs(high - 1)


@pytest.mark.parametrize(("kind", "stays"), [("orthogonal", True), ("free", False), ("simple", False)])
def test_only_the_orthogonal_one_stays_so(small, kind, stays):
    def trained(updates):
        (net,) = fit(
            lambda: make(kind, 3),
            task(3),
            seeds=(4,),
            updates=updates,
            batch_size=8,
            learning_rate=0.01,
            progress=False,
        ).models
        return net

    before, after = trained(1), trained(20)
    low, high = stretch(after)
    assert (abs(low - 1) < 1e-5 > abs(high - 1)) == stays
    assert (before.cell.W - after.cell.W).abs().max() > 0.01


def test_a_frozen_one_has_a_readout_to_train_and_no_more(small):
    net = make("frozen", 3)
    assert {name.split(".")[0] for name, p in net.named_parameters() if p.requires_grad} == {"readout"}
    assert parametrize.is_parametrized(net.cell, "W")


def test_an_lstms_gates_are_open_for_times_up_to_the_whole_run(small):
    cell = make("LSTM", 3).cell
    assert cell.b_f.exp().min() >= 1
    assert cell.b_f.exp().max() <= 15
    assert torch.equal(cell.b_i, -cell.b_f)


def test_trained_ones_have_about_as_many_numbers():
    sizes = {kind: sum(p.numel() for p in make(kind, LENGTH).parameters() if p.requires_grad) for kind in KINDS}
    assert max(sizes.values()) < 1.1 * min(size for kind, size in sizes.items() if kind != "frozen")


def test_the_share_of_right_symbols_counts_the_word_alone(small):
    part = task(3).test

    class Blank(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.one_hot(torch.full(x.shape[:2], 8), 9).double()

    class Right(torch.nn.Module):
        def forward(self, x):
            wrong = part.targets.clone()
            wrong[-1] = (wrong[-1] + 1) % 8
            return torch.nn.functional.one_hot(wrong, 9).double()

    assert share_right(Blank(), 3) == 0
    assert share_right(Right(), 3) == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_has_a_number_for_every_net(small, kind):
    result = long_copies.run({"kind": kind, "length": 3})
    assert len(result["test"]) == len(result["right"]) == 2
    assert ("stretch" in result) == (kind != "LSTM")
    assert all(0 <= share <= 1 for share in result["right"])
    assert len(result["settings"]) == 6


def test_settings_are_those_that_the_text_names():
    assert (DELAY, LENGTH, SHORT, len(BUDGET.seeds), len(BUDGET.decays)) == (50, 10, 5, 5, 2)


def test_every_kind_stands_against_the_orthogonal_one_with_frozen_cells_as_the_control():
    found = long_copies.evidence(stored("long_copies"))
    others = [kind for kind in KINDS if kind != "orthogonal"]
    assert list(found) == [f"orthogonal and {kind}" for kind in others]
    for kind, one in zip(others, found.values(), strict=True):
        assert set(one.kinds) == {"orthogonal", kind, "frozen"}
        assert (one.control, one.shown) == ("frozen", len(others))
        assert one.baselines["guess"] == pytest.approx(10 * log(8) / 70)
        verdict, (statement,) = judge(one), one.statements
        if not verdict.all_rules_hold:
            assert verdict[statement] == "undecided at this budget"


def test_stored_nets_have_the_best_settings_and_the_matrices_of_their_kinds():
    for entry in stored("long_copies")["points"]:
        kind, result = entry["point"]["kind"], entry["result"]
        means = {(rate, decay): mean for rate, decay, mean in result["settings"] if mean is not None}
        assert means[result["rate"], result["decay"]] == min(means.values())
        assert sorted({rate for rate, _, _ in result["settings"]}) == sorted(RATES.get(kind, BUDGET.rates))
        if kind in ("frozen", "orthogonal"):
            assert all(abs(value - 1) < 1e-4 for pair in result["stretch"] for value in pair)
        elif "stretch" in result:
            assert all(high > 1.01 for _, high in result["stretch"])
