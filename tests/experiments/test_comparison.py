"""Kinds trained alike: the best setting of the grid is taken, a frozen part stays, errors are those of a bootstrap."""

import json
from functools import partial

import numpy as np
import pytest
import torch
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fhx.cells import SimpleCell
from fhx.dynamics import Realization
from fhx.experiments.comparison import Budget, DecayedRows, compare, item_error, kind
from fhx.experiments.frozen import freeze
from fhx.experiments.protocol import Ahead, Evidence, judge
from fhx.experiments.seeding import per_seed
from fhx.tasks import Sequences, running_parity
from fhx.training import OBJECTIVES

BUDGET = Budget(
    rates=(1e-5, 0.01, 0.03), decays=(0.0, 0.1), seeds=range(5), others=(5, 6), updates=60, batch_size=16, evaluations=6
)
TASK = running_parity(4, sizes=(200, 60, 80))


def net(units=6):
    return Realization(SimpleCell(1, units), nn.Linear(units, 2))


def test_the_setting_is_the_best_of_the_grid_and_every_setting_is_kept():
    trained, result = compare(net, TASK, BUDGET)
    assert [tuple(s[:2]) for s in result["settings"]] == BUDGET.settings
    best = max(result["settings"], key=lambda s: s[2])
    assert [result["rate"], result["decay"]] == best[:2]
    assert result["rate"] != 1e-5, "a rate at which nothing is learned was chosen"
    assert np.shape(result["valid"]) == (5, len(result["at"])) == np.shape(result["train"])
    assert np.array(result["valid"]) == pytest.approx(trained.valid, rel=1e-4)
    assert json.loads(json.dumps(result)) == result


def test_one_setting_is_trained_as_it_would_be_alone():
    """The reported nets do not depend on the grid beside them."""
    _, result = compare(net, TASK, BUDGET)
    alone = evolve(BUDGET, rates=(result["rate"],), decays=(result["decay"],))
    assert compare(net, TASK, alone)[1]["test"] == pytest.approx(result["test"])


def test_rows_are_those_of_torchs_adamw():
    torch.manual_seed(0)
    start, target = torch.randn(2, 3, 4), torch.randn(3, 4)
    rates, decays = (0.01, 0.003), (0.1, 0.0)
    rows = nn.Parameter(start.clone())
    stepper = DecayedRows([rows], 1.0, rates, decays)
    singles = [nn.Parameter(row.clone()) for row in start]
    steppers = [torch.optim.AdamW([p], rate, weight_decay=w) for p, rate, w in zip(singles, rates, decays, strict=True)]
    for _ in range(30):
        for parameter, each in ((rows, stepper), *zip(singles, steppers, strict=True)):
            each.zero_grad()
            (parameter - target).square().sum().backward()
            each.step()
    torch.testing.assert_close(rows.detach(), torch.stack([p.detach() for p in singles]))


def test_a_frozen_cell_stays_at_its_start_while_the_readout_learns():
    trained, result = compare(lambda: freeze(net()), TASK, BUDGET)
    for model, start in zip(trained.models, per_seed(net, BUDGET.seeds), strict=True):
        assert torch.equal(model.cell.W, start.cell.W)
        assert not torch.equal(model.readout.weight, start.readout.weight)
    assert result["parameters"] == 6 * 2 + 2


def test_there_is_no_part_to_freeze():
    with pytest.raises(ValueError, match="no parameters in 'head'"):
        freeze(net(), "head")


class Given(nn.Module):
    """Outputs that are the inputs."""

    def forward(self, inputs, lengths=None):
        return inputs


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), lengths=st.booleans(), end=st.booleans())
def test_the_error_of_items_is_that_of_a_bootstrap(seed, lengths, end):
    generator = np.random.default_rng(seed)
    many = 60
    outputs = torch.from_numpy(generator.normal(size=(4, many, 1)))
    targets = torch.from_numpy(generator.normal(size=(many,) if end else (4, many, 1)))
    part = Sequences(outputs, targets, torch.from_numpy(generator.integers(1, 5, many)) if lengths else None)
    objective = OBJECTIVES["value at end" if end else "value per step"]

    def score(rows):
        some = part.take(torch.from_numpy(rows))
        total, count = objective.total(objective.metric, some.inputs, some.targets, some.lengths)
        return (total / count).item()

    drawn = [score(generator.integers(0, many, many)) for _ in range(1500)]
    assert item_error([Given()], part, objective) == pytest.approx(np.std(drawn), rel=0.2)


def test_one_sequence_has_no_error():
    part = Sequences(torch.zeros(2, 1, 1), torch.zeros(2, 1, 1))
    with pytest.raises(ValueError, match="at least two"):
        item_error([Given()], part, OBJECTIVES["value per step"])


def test_a_kind_meets_the_protocol():
    kinds = {
        "trained": kind(compare(partial(net, 12), TASK, BUDGET)[1]),
        "frozen": kind(compare(lambda: freeze(net(12)), TASK, BUDGET)[1]),
    }
    evidence = Evidence(
        kinds=kinds,
        higher_is_better=True,
        control="frozen",
        baselines={"guess": 0.5},
        statements=[Ahead("trained", "frozen")],
        shown=1,
        gain=1.0,
    )
    assert judge(evidence).reasons.keys() <= {"control", "tuning"}, "only what the nets decide may be missing"
    assert kinds["trained"].regularizers == {"weight decay"}
    assert kinds["trained"].settings == 6


@pytest.mark.parametrize("best", [max, min])
def test_a_rate_is_as_good_as_its_best_decay(best):
    """Whether higher or lower is better."""
    tried = [[0.01, 0.0, 0.3], [0.01, 0.1, 0.7], [0.03, 0.0, 0.5], [0.03, 0.1, None]]
    chosen = best((s for s in tried if s[2] is not None), key=lambda s: s[2])
    result = {name: [] for name in ("test", "at", "valid")} | {"item error": 0.1, "settings": tried}
    result |= {"rate": chosen[0], "decay": chosen[1]}
    assert kind(result).tried == {0.01: best(0.3, 0.7), 0.03: 0.5}
