"""Nets that are trained side by side: what each of them is by itself, but for the numbers that are dropped."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_tasks import small_text

from fhx.cells import LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.experiments import language_models
from fhx.experiments.language_models import LanguageModel, Setting, measures, reading, training
from fhx.experiments.language_models.side_by_side import losses_together, reader, train_together
from fhx.experiments.language_models.side_by_side import training as together
from fhx.experiments.language_models.side_by_side.kept import Keeper
from fhx.experiments.language_models.side_by_side.loops import lstm, simple
from fhx.experiments.language_models.side_by_side.nets import Nets
from fhx.experiments.language_models.side_by_side.windows import Windows

WORDS, CUTOFFS, TIME = 9, (3, 5), 7
CPU = torch.device("cpu")


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A text of few words, whose parts end within a window."""
    problem = small_text(WORDS)
    for module in (training, together):
        monkeypatch.setattr(module, "text", lambda: problem)
    for module in (training, together, reader):
        monkeypatch.setattr(module, "WINDOW", TIME)
    monkeypatch.setattr(reading, "losses", partial(reading.losses, window=TIME))
    monkeypatch.setattr(training, "losses", partial(reading.losses, window=TIME))
    monkeypatch.setattr(training, "CUTOFFS", CUTOFFS)
    monkeypatch.setattr(training, "BLOCK", 10)
    for module in (training, together):
        monkeypatch.setattr(module, "EVERY", 2)
    monkeypatch.setenv("FHX_CACHE", str(tmp_path))
    return problem


@pytest.fixture
def double():
    """Adam divides by the size of a gradient, so that the rounding of a small one counts as much as a large one."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


KINDS = ["simple", "simple, stable", "LSTM", "LSTM, four conditions", "frozen", "TCN", "attention", "RG-LRU", "LRU"]


@pytest.mark.parametrize(
    ("kind", "layers", "read"),
    [
        *((kind, 1, "full") for kind in KINDS),
        ("LSTM", 2, "cut 3"),
        ("LSTM", 2, "reset 3"),
        ("simple", 1, "truncated 3"),
    ],
)
def test_nets_side_by_side_are_what_they_are_alone(kind, layers, read, small, double):
    point = {"model": kind, "layers": layers, "units": 16, "read": read}
    settings = [Setting(0.01, 0.0, 1), Setting(0.03, 0.0, 2)]
    for setting, found in zip(settings, train_together(point, settings, 3, CPU), strict=True):
        alone = training.train(point, setting, 3)
        assert found.at == alone.at
        torch.testing.assert_close(torch.tensor(found.train), torch.tensor(alone.train), atol=1e-6, rtol=1e-6)
        if read in ("full", "cut 3"):  # else the first words count in the validation of one and not of the other
            torch.testing.assert_close(torch.tensor(found.valid), torch.tensor(alone.valid), atol=1e-6, rtol=1e-6)
            for name, value in alone.net.state_dict().items():
                if name.endswith("project.bias"):
                    continue  # what is added to all keys changes nothing, so that its gradient is rounding alone
                torch.testing.assert_close(found.net.state_dict()[name], value, atol=1e-5, rtol=1e-5, msg=name)


@pytest.mark.parametrize("kind", ["LSTM", "simple", "window 5", "attention"])
@pytest.mark.parametrize("k", [None, 1, 4])
def test_losses_side_by_side_are_those_of_each(kind, k, small):
    nets = [training.new_net({"model": kind, "layers": 1, "units": 16}, 0.5, seed) for seed in range(2)]
    found = losses_together(nets, small.test, CPU, k)
    for net, each in zip(nets, found, strict=True):
        torch.testing.assert_close(each, reading.losses(net, small.test, k))


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 3), st.integers(1, 4), st.integers(0, 999))
def test_loops_are_those_of_cells(nets, steps, batch, d, seed):
    drawn = torch.Generator().manual_seed(seed)
    for loop, kind in ((simple, SimpleCell), (lstm, LSTMCell)):
        cells = [kind(d, d, generator=drawn, dtype=torch.float64) for _ in range(nets)]
        x = torch.randn(nets, steps, batch, d, generator=drawn, dtype=torch.float64)
        start = torch.randn(nets, batch, cells[0].state_width, generator=drawn, dtype=torch.float64)
        drive = torch.stack([cell.drive(each) for cell, each in zip(cells, x, strict=True)])
        shown, last = loop(drive, torch.stack([cell.W for cell in cells]), start)
        states = [unroll(cell, *each) for cell, *each in zip(cells, x, start, strict=True)]
        torch.testing.assert_close(shown, torch.stack([c.hidden(s) for c, s in zip(cells, states, strict=True)]))
        torch.testing.assert_close(last, torch.stack([s[-1] for s in states]))


@pytest.mark.parametrize(("loop", "blocks", "parts"), [(simple, 1, 1), (lstm, 4, 2)])
def test_derivatives_of_loops(loop, blocks, parts):
    drawn = torch.Generator().manual_seed(0)

    def numbers(*shape):
        return torch.randn(*shape, generator=drawn, dtype=torch.float64).requires_grad_()

    drive, W, start = numbers(2, 4, 3, blocks * 2), numbers(2, blocks * 2, 2), numbers(2, 3, parts * 2).detach()
    assert torch.autograd.gradcheck(lambda drive, W: loop(drive, W, start), (drive, W))


def test_each_net_drops_what_it_is_told_to():
    made = [LanguageModel("LSTM", WORDS, 4, 1, CUTOFFS, dropout) for dropout in (0.2, 0.5)]
    nets = Nets(made, CPU, seed=0)
    ones = torch.ones(2, 50, 40, 4)
    kept = nets._dropped(ones, True)
    for own, dropout in zip(kept, (0.2, 0.5), strict=True):
        assert own.unique().tolist() == pytest.approx([0, 1 / (1 - dropout)])
        assert (own == 0).double().mean().item() == pytest.approx(dropout, abs=0.02)
    assert torch.equal(nets._dropped(ones, False), ones)


@pytest.mark.parametrize("kind", ["TCN", "RG-LRU"])
def test_rivals_drop_within_themselves_and_learn(kind, small):
    point, settings = {"model": kind, "layers": 1, "units": 16}, [Setting(0.01, 0.2, 0), Setting(0.01, 0.9, 0)]
    light, heavy = (fit.train[-1] for fit in train_together(point, settings, 12, CPU))
    assert light < heavy


def test_a_rate_that_is_far_too_high_is_no_best_net(small, monkeypatch):
    point = {"model": "LSTM", "layers": 1, "units": 16}
    weak, broken = train_together(point, [Setting(0.01, 0.0, 0), Setting(float("inf"), 0.0, 0)], 1, CPU)
    assert max(weak.valid) < float("inf") == max(broken.valid)
    assert all(p.isfinite().all() for p in broken.net.parameters())


def test_windows_hold_every_target_once(small):
    part = small.train
    found = Windows.of(part, TIME, CUTOFFS, CPU, unseen=4)
    assert found.counts.sum() == (part.steps - 4) * 3
    for i in range(len(found)):
        targets = found.heads[i].clone()
        for group, low in zip(found.groups, CUTOFFS, strict=True):
            there = group.counts[i] > 0
            targets[group.places[i][there]] = group.words[i][there] + low
        seen = found.counts[i] > 0
        wanted = part.targets[i * TIME : (i + 1) * TIME].flatten()
        assert torch.equal(targets[seen], wanted[seen[: len(wanted)]])


def test_a_point_on_another_device_is_trained_side_by_side(small, monkeypatch):
    """The same keys, and all numbers from nets that were trained together."""
    for module in (language_models, measures):
        monkeypatch.setattr(module, "text", lambda: small)
    for name, value in {"PASSES": {"rate": 1, "dropout": 2, "trained": 2}, "KS": (1, 3), "SHOWN": 20}.items():
        monkeypatch.setattr(language_models, name, value)
    size = {"layers": 1, "units": 5}
    monkeypatch.setattr(language_models, "SIZE", size)
    point = {"model": "LSTM", **size, "read": "truncated 3"}
    alone, calls = language_models.run(point), []

    class Device:
        type = "other"

    def called(*args):
        calls.append(args[2])
        return train_together(*args[:3], CPU)

    monkeypatch.setattr(language_models, "device", Device)
    monkeypatch.setattr(language_models, "train_together", called)

    on_cpu = partial(losses_together, device=CPU)
    monkeypatch.setattr(language_models, "losses_together", lambda nets, part, _, k: on_cpu(nets, part, k=k))
    found = language_models.run(point)
    assert calls == [1, 2, 2]
    assert found.keys() == alone.keys()
    assert (found["device"], alone["device"]) == ("other", "cpu")
    assert len(found["test"]) == len(language_models.SEEDS)
    assert found["context"][0].keys() == alone["context"][0].keys()


def test_what_is_kept_shares_the_memory_of_the_weights_and_no_graph(small):
    """A view with a graph of its own would break the capture of an update on a GPU."""
    made = [training.new_net({"model": "LSTM, clipped", "layers": 1, "units": 4}, 0.0, seed) for seed in (0, 1)]
    weights = {name: w.requires_grad_() for name, w in Nets(made, CPU).start.items()}
    with torch.no_grad():
        for w in weights.values():
            w.fill_(2.0)
    keeper = Keeper(made[0], weights)
    assert not any(w.requires_grad for w in (*keeper.vectors, *(w for cell in keeper.cells for w in cell)))
    keeper.keep()
    frequent = made[0].softmax.shortlist_size
    assert (weights["softmax.head.weight"][:, :frequent] == 1).all()
    assert (weights["softmax.head.weight"][:, frequent:] == 2).all()
