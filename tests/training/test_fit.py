"""Training: seeds are independent, best parameters are kept, a diverging seed harms nobody."""

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from torch import nn

from fhx.cells import GRUCell, LSTMCell, SimpleCell
from fhx.dynamics import Realization
from fhx.tasks import Sequences, Task
from fhx.training import OBJECTIVES, evaluate, fit

torch.set_num_threads(1)
KINDS = ("class at end", "class per step", "bits per step", "value per step")


def sequences(kind, n, seed, ragged):
    draw = torch.Generator().manual_seed(seed)
    inputs = torch.randn(6, n, 2, generator=draw)
    sums = inputs.cumsum(0)
    targets = {
        "class at end": (sums[-1, :, 0] > 0).long(),
        "class per step": (sums[..., 0] > 0).long(),
        "bits per step": (sums > 0).float(),
        "value per step": sums,
    }[kind]
    lengths = torch.randint(1, 7, (n,), generator=draw) if ragged else None
    return Sequences(inputs, targets, lengths)


def toy(kind="class at end", ragged=False, n=40):
    parts = [sequences(kind, n, seed, ragged) for seed in (1, 2, 3)]
    return Task("toy", *parts, input_size=2, output_size=2, kind=kind)


def build(cell=SimpleCell, dtype=torch.float64, d=4):
    return lambda: Realization(cell(2, d, dtype=dtype), nn.Linear(d, 2, dtype=dtype))


def quick(make_model=None, task=None, **options):
    options = {"updates": 12, "batch_size": 8, "learning_rate": 1e-2, "progress": False, "device": "cpu", **options}
    return fit(make_model or build(), task or toy(), **options)


@pytest.mark.parametrize("cell", [SimpleCell, LSTMCell, GRUCell])
@pytest.mark.parametrize(("kind", "ragged"), [*itertools.product(KINDS, (False, True))])
def test_a_seed_trained_among_five_is_the_seed_trained_alone(kind, ragged, cell):
    task = toy(kind, ragged)
    together = quick(build(cell), task, clip=0.1)
    for row in (0, 3):
        alone = quick(build(cell), task, clip=0.1, seeds=[row])
        np.testing.assert_allclose(together.train_loss[row], alone.train_loss[0], atol=1e-10, rtol=0)
        np.testing.assert_allclose(together.valid[row], alone.valid[0], atol=1e-10, rtol=0)
        for ours, theirs in zip(together.models[row].parameters(), alone.models[0].parameters(), strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)
    assert len({round(value, 9) for value in together.train_loss[:, -1]}) == 5


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop])
def test_equals_a_plain_loop_of_torch(optimizer):
    """One seed by hand: torch's own module state, loss over real steps, clipping and optimizer."""
    task = toy("value per step", ragged=True)
    result = quick(task=task, seeds=[7], updates=9, evaluate_every=9, clip=0.05, optimizer=optimizer)
    torch.manual_seed(7)
    net = build()()
    steps = optimizer(net.parameters(), lr=1e-2)
    draw = torch.Generator().manual_seed(7)
    order = torch.cat([torch.randperm(40, generator=draw) for _ in range(2)])
    data = task.train.to(dtype=torch.float64)
    losses = []
    for batch in order[:72].split(8):
        part = data.take(batch)
        loss = (net(part.inputs, part.lengths) - part.targets).square()[part.mask].mean()
        steps.zero_grad()
        loss.backward()
        assert torch.nn.utils.clip_grad_norm_(net.parameters(), 0.05) > 0.05
        steps.step()
        losses.append(loss.item())
    np.testing.assert_allclose(result.train_loss[0], [losses[0], np.mean(losses)], atol=1e-10, rtol=0)
    assert result.best_update.tolist() == [9]
    for ours, theirs in zip(result.models[0].parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)


def test_the_global_generator_is_left_alone_and_decides_nothing():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = quick()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    np.testing.assert_array_equal(first.valid, quick().valid)


def test_learns_and_reports_the_test_set():
    result = quick(task=toy(n=200), updates=200, batch_size=50, learning_rate=0.02)
    assert result.updates[0] == 0
    assert result.updates[-1] == 200
    assert len(result.updates) == 21
    assert result.valid.shape == result.train_loss.shape == (5, 21)
    assert result.interval().low > 0.85
    assert result.train_loss[:, -1].max() < 0.5 * result.train_loss[:, 0].min()
    again = [evaluate(model, toy(n=200)) for model in result.models]
    np.testing.assert_allclose(result.test, again)
    assert not any(model.training for model in result.models)
    assert "test accuracy 0.9" in repr(result)
    assert result.band().mean.shape == (21,)
    with pytest.raises(ValueError, match="'valid' and 'train_loss', not 'loss'"):
        result.band("loss")


def test_the_best_parameters_are_kept_and_patience_ends_a_seed():
    """A learning rate that grows at update 10 spoils every net: what came before is what is reported."""
    result = quick(
        task=toy("value per step"),
        updates=60,
        evaluate_every=5,
        patience=2,
        clip=None,
        optimizer=torch.optim.SGD,
        learning_rate=lambda update: 0.05 if update <= 10 else -0.05,
    )
    assert result.best_update.tolist() == [10] * 5
    assert result.stopped == dict.fromkeys(range(5), 20)
    assert result.updates.tolist() == [0, 5, 10, 15, 20]
    assert (result.valid.argmin(1) == 2).all()
    scores = [evaluate(m, toy("value per step"), "valid") for m in result.models]
    np.testing.assert_allclose(scores, result.valid[:, 2])
    np.testing.assert_array_equal(result.best_valid, result.valid[:, 2])


def test_a_stopped_seed_holds_its_best_value_in_the_curves():
    result = quick(task=toy(), updates=40, evaluate_every=1, patience=3, seeds=range(4))
    assert len(set(result.stopped.values())) > 1
    for row, seed in enumerate(result.seeds):
        if seed in result.stopped:
            after = result.updates > result.stopped[seed]
            assert (result.valid[row, after] == result.valid[row].max()).all()
            assert len(set(result.train_loss[row, result.updates >= result.stopped[seed]])) == 1
            assert result.stopped[seed] - result.best_update[row] == 3


class Bomb(nn.Module):
    """A linear net whose bias is 3 too low, so that ``w`` grows; if armed it bursts when ``w`` has passed 0.035."""

    def __init__(self, armed):
        super().__init__()
        self.line = nn.Linear(2, 2, dtype=torch.float64)
        self.w = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.register_buffer("armed", torch.tensor(float(armed), dtype=torch.float64))

    def forward(self, inputs, lengths=None):
        return self.line(inputs) + self.w - 3 + torch.where(self.armed * self.w > 0.035, torch.nan, 0.0)


def test_a_diverging_seed_is_reported_and_the_others_go_on():
    bombs, calm = itertools.cycle([False, True, False]), itertools.cycle([False])
    task = toy("value per step")
    result = quick(lambda: Bomb(next(bombs)), task, seeds=[4, 5, 6], updates=20, evaluate_every=2)
    peace = quick(lambda: Bomb(next(calm)), task, seeds=[4, 5, 6], updates=20, evaluate_every=2)
    assert list(result.diverged) == [5]
    when = result.diverged[5]
    assert when == 4  # four steps of 0.01 pass 0.035, and the evaluation sees it
    assert np.isnan(result.valid[1, result.updates >= when]).all()
    assert np.isfinite(result.valid[1, result.updates < when]).all()
    assert np.isfinite(result.test).all()
    assert f"seed 5 diverged at update {when}" in result.summary()
    for row in (0, 2):
        np.testing.assert_array_equal(result.valid[row], peace.valid[row])
    assert result.best_update[1] < when
    np.testing.assert_array_equal(result.best_valid, np.nanmin(result.valid, 1))
    assert result.band().n.tolist() == [3 if update < when else 2 for update in result.updates]


def test_divergence_in_the_last_update_is_seen():
    result = quick(task=toy(), seeds=[0], updates=1, learning_rate=lambda update: float("inf"))
    assert result.diverged == {0: 1}
    assert np.isfinite(result.test).all()


def test_all_diverged_ends_the_training():
    bombs = quick(lambda: Bomb(True), toy("value per step"), seeds=[1, 2], updates=500, evaluate_every=20)
    assert set(bombs.diverged) == {1, 2}
    assert bombs.updates.tolist() == [0, 20]


def test_integer_ids_are_inputs_too():
    class Count(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, 5)

        def forward(self, ids, lengths=None):
            return self.table(ids)

    ids = torch.randint(0, 5, (7, 30), generator=torch.Generator().manual_seed(0))
    part = Sequences(ids, (ids + 1) % 5)
    task = Task("next", part, part, part, input_size=5, output_size=5, kind="class per step")
    result = quick(Count, task, updates=60, learning_rate=0.3)
    assert result.test.tolist() == [1.0] * 5
    assert evaluate(lambda ids, lengths: nn.functional.one_hot((ids + 1) % 5).float(), task) == 1.0


def test_another_objective_and_frozen_parameters():
    def build_frozen():
        net = build()()
        net.readout.bias.requires_grad_(False)
        return net

    usual = OBJECTIVES["class at end"]
    wrong = lambda y, t: (y.argmax(-1) != t).double()  # noqa: E731
    error = dataclasses.replace(usual, metric=wrong, higher_is_better=False, unit="error")
    result = quick(build_frozen, objective=error)
    torch.manual_seed(0)
    assert torch.equal(result.models[0].readout.bias, build()().readout.bias)
    np.testing.assert_allclose(result.test, [1 - evaluate(m, toy()) for m in result.models])
    assert result.summary().startswith("toy: test error")


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"seeds": []}, "seeds must be given"),
        ({"seeds": [1, 2, 1]}, r"all different; got \(1, 2, 1\)"),
        ({"seeds": [0.5]}, r"whole and all different; got \(0.5,\)"),
        ({"updates": 0}, "updates must be an integer of at least 1, got 0"),
        ({"updates": 2.5}, "updates .* got 2.5"),
        ({"batch_size": 0}, "batch_size .* got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be a positive number, got 0.0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a positive number"),
        ({"clip": -1.0}, "clip must be a positive number, got -1.0"),
        ({"evaluate_every": 0}, "evaluate_every .* got 0"),
        ({"patience": 0}, "patience .* got 0"),
        ({"make_model": lambda: Realization(SimpleCell(2, 4), nn.Linear(4, 3))}, r"shape \(6, 40, 3\).*\(6, 40, 2\)"),
        ({"make_model": lambda: nn.Flatten()}, "without parameters"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_arguments_are_named(options, culprit):
    with pytest.raises(ValueError, match=culprit):
        quick(**options)


@pytest.mark.usefixtures("unchecked")
def test_bad_builders_are_named():
    sizes, one = itertools.count(3), build()()
    with pytest.raises(ValueError, match=r"'cell\.U' is \(3, 2\) for seed 0 and \(4, 2\) for seed 1"):
        quick(lambda: build(d=next(sizes))())
    with pytest.raises(ValueError, match="a new net at every call"):
        quick(lambda: one)
    with pytest.raises(TypeError, match=r"torch\.nn\.Module; it returned int"):
        quick(lambda: 3)
    with pytest.raises(TypeError, match="built a cell, which has states and no outputs: give a Realization"):
        quick(lambda: SimpleCell(2, 4))
    with pytest.raises(TypeError, match="built a net of torch: give a Realization of the cell that from_torch makes"):
        quick(lambda: nn.LSTM(2, 4))
    with pytest.raises(ValueError, match=r"^split must be one of 'train', 'valid', 'test', got 'dev'"):
        evaluate(one, toy(), "dev")


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"make_model": nn.Linear(2, 2)}, "make_model is a net: give a function that builds a new one"),
        ({"task": toy().train}, "task must be a Task with its three splits, not a Sequences"),
        ({"seeds": 3}, r"seeds must be several, such as range\(3\), not 3"),
        ({"optimizer": "adam"}, "optimizer must be a class such as torch.optim.Adam, not 'adam'"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_is_of_another_kind_is_named(options, culprit):
    given = {"make_model": build(), "task": toy(), "updates": 1, "batch_size": 4, "learning_rate": 0.1} | options
    with pytest.raises(TypeError, match=culprit):
        fit(given.pop("make_model"), given.pop("task"), **given)


def test_a_batch_larger_than_the_training_set_is_the_training_set():
    whole, large = quick(batch_size=40), quick(batch_size=1000)
    np.testing.assert_array_equal(whole.train_loss, large.train_loss)


def test_a_seed_stops_when_its_validation_metric_reaches_the_target():
    free = quick(task=toy(), updates=40, evaluate_every=1)
    target = float(np.median(free.valid.max(1)))
    result = quick(task=toy(), updates=40, evaluate_every=1, target=target)
    expected = {
        seed: int(free.updates[np.argmax(row >= target)])
        for seed, row in zip(free.seeds, free.valid, strict=True)
        if (row[1:] >= target).any()
    }
    assert 0 < len(expected) < 5
    assert result.reached == result.stopped == expected
    for row, seed in enumerate(result.seeds):
        if seed in expected:
            assert result.valid[row, -1] >= target
            assert result.best_update[row] <= expected[seed]


def test_a_target_below_is_reached_from_above_where_lower_is_better():
    result = quick(task=toy("value per step"), updates=40, evaluate_every=2, target=1.0, learning_rate=3e-2)
    assert result.reached
    for row, seed in enumerate(result.seeds):
        good = np.flatnonzero(result.valid[row] <= 1.0)
        assert result.reached.get(seed) == (int(result.updates[good[0]]) if len(good) else None)


def test_each_seed_may_have_a_net_of_its_own_making():
    def scaled(gain):
        def make():
            net = build()()
            net.cell.W.data.mul_(gain)
            return net

        return make

    gains = (0.1, 1.0, 3.0)
    together = quick([scaled(gain) for gain in gains], seeds=(4, 5, 6))
    for row, (gain, seed) in enumerate(zip(gains, (4, 5, 6), strict=True)):
        alone = quick(scaled(gain), seeds=[seed])
        np.testing.assert_allclose(together.valid[row], alone.valid[0], atol=1e-10, rtol=0)
    with pytest.raises(ValueError, match="3 functions make_model do not fit 2 seeds"):
        quick([scaled(gain) for gain in gains], seeds=(4, 5))
