"""The rivals see what they may see and no more, have one size, and go on where they stopped; the experiment runs."""

import json
from pathlib import Path

import pytest
import torch
from small_tasks import WORDS, drawn, small_tasks
from torch import nn

from fhx.experiments import feed_forward, real_data
from fhx.experiments.feed_forward import nets, training
from fhx.experiments.feed_forward.attention import AttentionBlock
from fhx.experiments.feed_forward.causal import CausalConvolution, WindowNet
from fhx.experiments.feed_forward.convolution import TemporalConvolution
from fhx.experiments.feed_forward.nets import kinds, net, parameters, widths
from fhx.experiments.feed_forward.training import evaluate, language_models, train, with_context
from fhx.experiments.results import read
from fhx.stability import truncated_states

RESULT = Path(__file__).parents[2] / "results" / "feed_forward.json"


@pytest.fixture
def problems(monkeypatch):
    """A small problem under every name, few seeds and updates."""
    made = small_tasks(40, 20, 141)
    monkeypatch.setattr(real_data, "task", made.get)
    monkeypatch.setattr(nets, "VECTOR", 6)
    monkeypatch.setitem(real_data.TEXTS, "words", WORDS)
    monkeypatch.setitem(real_data.CUTOFFS, "words", (10, 20))
    monkeypatch.setitem(real_data.TEXT, "window", 7)
    for name in made:
        size = {} if name == "words" else {"batch_size": 5}
        monkeypatch.setitem(feed_forward.BUDGETS, name, {"updates": 8, **size})
        monkeypatch.setitem(nets.UNITS, name, 16)
        monkeypatch.setitem(nets.LEVELS, name, 2)
        monkeypatch.setitem(nets.POSITIONS, name, 12)
        monkeypatch.setitem(nets.WINDOWS, name, (1, 3))
        monkeypatch.setitem(feed_forward.LEARNING_RATES, name, (0.01, 0.03))
        monkeypatch.setitem(feed_forward.OTHER_SEEDS, name, range(5, 6))
        monkeypatch.setitem(feed_forward.KS, name, (1, 4))
    monkeypatch.setattr(feed_forward, "SEEDS", range(2))
    widths.cache_clear()
    yield made
    widths.cache_clear()


def rivals(name="chorales"):
    torch.manual_seed(0)
    return {kind: net(name, kind, 8, 6).double() for kind in kinds(name)}


def dependence(model, inputs, t):
    """For each step s, how much the output at t depends on the input at s."""
    x = inputs.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(x)[t].square().sum(), x)
    return slope.abs().sum((1, 2))


@pytest.mark.parametrize("kind", ["simple", "LSTM", "TCN", "attention", "window 1", "window 3"])
def test_no_output_depends_on_a_later_input(problems, kind):
    model, inputs = rivals()[kind], drawn(30, 4, 3).double()
    changed = inputs.clone()
    changed[17:] += 1
    assert torch.equal(model(changed)[:17], model(inputs)[:17])
    assert (model(changed)[17] - model(inputs)[17]).abs().min() > 1e-6


@pytest.mark.parametrize(("taps", "levels", "expected"), [(2, 1, 3), (3, 2, 13), (2, 4, 31), (3, 4, 61)])
def test_receptive_field_of_a_temporal_convolution_is_exact(taps, levels, expected):
    torch.manual_seed(0)
    model = TemporalConvolution(3, 8, 8, 2, taps, levels).double()
    assert model.receptive_field == expected
    seen = dependence(model, drawn(80, 6, 3).double(), 70)
    assert (seen[:71] > 0).nonzero().flatten().tolist() == list(range(71 - expected, 71))
    assert (seen[71:] == 0).all()


@pytest.mark.parametrize("k", [1, 2, 7])
def test_receptive_field_of_a_window_is_exact(k):
    torch.manual_seed(0)
    model = WindowNet(3, 8, 8, 2, k).double()
    assert model.receptive_field == k
    assert dependence(model, drawn(20, 6, 3).double(), 15).nonzero().flatten().tolist() == list(range(16 - k, 16))


def test_attention_sees_all_of_its_positions_and_in_longer_sequences_between_half_and_all(problems):
    model = rivals()["attention"]
    assert model.receptive_field == 12
    assert dependence(model, drawn(12, 4, 3).double(), 11).nonzero().flatten().tolist() == [*range(12)]
    for t in range(12, 30):
        seen = dependence(model, drawn(30, 4, 3).double(), t).nonzero().flatten()
        assert seen[-1] == t
        assert len(seen) == 7 + t % 6  # the half before its piece, and the piece so far


def test_a_causal_convolution_is_that_of_torch():
    ours, x = CausalConvolution(3, 5, 4, dilation=2).double(), drawn(20, 6, 3).double()
    theirs = nn.Conv1d(3, 5, 4, dilation=2).double()
    with torch.no_grad():
        theirs.weight.copy_(ours.weight.unflatten(1, (4, 3)).flip(1).movedim(1, 2))
        theirs.bias.copy_(ours.bias)
    padded = nn.functional.pad(x.permute(1, 2, 0), (6, 0))
    torch.testing.assert_close(ours(x), theirs(padded).permute(2, 0, 1))


def test_a_block_of_attention_is_that_of_torch():
    torch.manual_seed(0)
    ours = AttentionBlock(8, 10, 2).double()
    theirs = nn.TransformerEncoderLayer(8, 2, 10, dropout=0.0, norm_first=True, dtype=torch.float64)
    names = {
        "before": "norm1",
        "after": "norm2",
        "join": "self_attn.out_proj",
        "net.0": "linear1",
        "net.2": "linear2",
    }
    values = ours.state_dict()
    moved = {f"{their}.{part}": values[f"{our}.{part}"] for our, their in names.items() for part in ("weight", "bias")}
    moved |= {f"self_attn.in_proj_{part}": values[f"project.{part}"] for part in ("weight", "bias")}
    theirs.load_state_dict(moved)
    x, mask = drawn(9, 4, 8).double(), nn.Transformer.generate_square_subsequent_mask(9, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x, src_mask=mask))


@pytest.mark.parametrize("kind", ["simple", "LSTM", "TCN", "window 1", "window 3", "attention"])
def test_a_net_goes_on_where_it_stopped(problems, kind):
    model, inputs = rivals()[kind], drawn(30, 4, 3).double()
    pieces, past = [], None
    for piece in inputs.split(6):
        y, past = model.resume(piece, past)
        pieces.append(y)
    torch.testing.assert_close(torch.cat(pieces)[6:], model(inputs)[6:])
    torch.testing.assert_close(pieces[0], model(inputs)[:6])


def test_a_piece_as_long_as_all_positions_has_no_past(problems):
    model, inputs = rivals()["attention"], drawn(24, 4, 3).double()
    _, past = model.resume(inputs[:12], None)
    torch.testing.assert_close(model.resume(inputs[12:], past)[0], model(inputs[12:]))


@pytest.mark.parametrize("kind", ["simple", "LSTM", "TCN", "window 3", "attention"])
def test_with_context_is_a_run_over_the_last_inputs(problems, kind, monkeypatch):
    model, inputs = rivals()[kind], drawn(20, 4, 3).double()
    monkeypatch.setattr(training, "NUMBERS", 150)  # several blocks
    found = with_context(model, inputs, 5)
    for t in range(20):
        torch.testing.assert_close(found[t], model(inputs[max(0, t - 4) : t + 1])[-1])
    if kind in ("simple", "LSTM"):
        states = truncated_states(model.cell, inputs, 5)
        torch.testing.assert_close(found, model.readout(model.cell.hidden(states)))


@pytest.mark.parametrize("name", feed_forward.BUDGETS)
def test_all_nets_of_a_task_are_of_one_size(name):
    budget = nets.budget(name)
    sizes = {kind: parameters(net(name, kind, *widths(name, kind))) for kind in kinds(name)}
    assert sizes["LSTM"] == budget
    assert max(abs(size / budget - 1) for size in sizes.values()) <= nets.TOLERANCE
    for kind in ("TCN", "attention", f"window {nets.WINDOWS[name][0]}"):
        units, inner = widths(name, kind)
        others = [parameters(net(name, kind, units, inner + more)) for more in (-1, 1)]
        assert abs(sizes[kind] - budget) <= min(abs(size - budget) for size in others)


def test_a_size_that_no_net_has_is_refused(problems, monkeypatch):
    monkeypatch.setitem(nets.UNITS, "words", 1)
    with pytest.raises(ValueError, match="no net 'TCN' for words has 44 parameters within 2%"):
        widths("words", "TCN")


@pytest.mark.parametrize("kind", ["simple", "TCN", "attention", "window 3"])
def test_training_is_that_of_a_loop_by_hand(problems, kind):
    together, alone = (language_models("words", kind, range(2)) for _ in range(2))
    before = [model.body.readout.weight.detach().clone() for model in together]
    rates = [0.01, 0.02]
    assert list(train(together, real_data.windows("words"), rates, updates=4)) == [1, 2, 3, 4]
    for model, rate in zip(alone, rates, strict=True):
        stepper, past = torch.optim.Adam(model.parameters(), lr=rate), None
        for update, (inputs, targets, _, _) in zip(range(4), real_data.windows("words"), strict=False):
            features, past = model.body.resume(model.embed(inputs), past)
            past = past.detach()
            stepper.zero_grad()
            model.loss(features, targets).mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            stepper.param_groups[0]["lr"] = rate * (1 - update / 4)
            stepper.step()
    inputs = problems["words"].test.inputs
    for one, other, start in zip(together, alone, before, strict=True):
        torch.testing.assert_close(one.embed.weight, other.embed.weight, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(one.softmax.state_dict(), other.softmax.state_dict(), rtol=1e-3, atol=1e-4)
        found, expected = (model.body(model.embed(inputs)) for model in (one, other))
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
        assert (one.body.readout.weight - start).abs().max() > 1e-3


def test_a_language_model_whose_gradient_is_not_finite_stops_alone(problems):
    models = language_models("words", "window 3", range(2))
    with torch.no_grad():
        models[1].softmax.head.weight[0, 0] = torch.nan
    before = [model.body.readout.weight.detach().clone() for model in models]
    list(train(models, real_data.windows("words"), [0.1, 0.1], updates=3))
    assert not torch.equal(models[0].body.readout.weight, before[0])
    assert torch.equal(models[1].body.readout.weight, before[1])


@pytest.mark.parametrize("kind", ["LSTM", "TCN", "window 3"])
def test_a_text_is_evaluated_as_one(problems, kind, monkeypatch):
    part = problems["words"].test
    (model,) = language_models("words", kind, [0])
    monkeypatch.setattr(training, "PIECE", 11)
    with torch.no_grad():
        expected = model.loss(model.body(model.embed(part.inputs)), part.targets).mean().item()
    assert evaluate(model, part) == pytest.approx(expected, rel=1e-5)


def test_outputs_start_at_the_frequencies_of_the_training_split(problems):
    music, (words,) = nets.sequence_model("chorales", "TCN"), language_models("words", "TCN", [0])
    torch.testing.assert_close(music.readout.bias.detach(), real_data.prior("chorales"))
    with torch.no_grad():
        losses = words.loss(torch.zeros(1, 10, 6), torch.arange(10)[None])[0]
    torch.testing.assert_close(-losses, real_data.prior("words")[:10])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("chorales", "LSTM"),
        ("chorales", "window 3"),
        ("digits", "TCN"),
        ("digits", "attention"),
        ("words", "simple"),
        ("words", "window 3"),
    ],
)
def test_a_point_runs(problems, name, kind):
    result = feed_forward.run({"task": name, "net": kind})
    json.dumps(result)
    assert [len(result[key]) for key in ("test", "valid", "context")] == [2] * 3
    assert len(result["valid"][0]) == len(result["at"])
    assert result["at"][-1] == 8
    assert result["rate"] in feed_forward.LEARNING_RATES[name]
    assert set(result["rates"]) == {"0.01", "0.03"}
    assert set(result["context"][0]) == {"1", "4", "all"}
    assert abs(result["parameters"] - nets.budget(name)) <= 0.02 * nets.budget(name)
    assert result["all parameters"] >= result["parameters"]
    if name != "words":
        assert [curve["all"] for curve in result["context"]] == pytest.approx(result["test"], rel=1e-5)
    if kind == "window 3" and name != "digits":
        assert all(curve["4"] == pytest.approx(curve["all"], rel=1e-6) for curve in result["context"])
        assert all(curve["1"] != pytest.approx(curve["all"], rel=1e-6) for curve in result["context"])


def test_points_are_different_and_every_task_has_every_kind():
    points = feed_forward.EXPERIMENT.points
    assert len({json.dumps(point) for point in points}) == len(points)
    for name in feed_forward.BUDGETS:
        rivals = [point["net"] for point in points if point["task"] == name]
        assert rivals[:4] == ["simple", "LSTM", "TCN", "attention"]
        assert len(rivals) == 4 + len(nets.WINDOWS[name])


def test_the_stored_result_is_complete_and_consistent():
    points = read(RESULT)["points"]
    assert [entry["point"] for entry in points] == list(feed_forward.EXPERIMENT.points)
    sizes = {}
    for entry in points:
        (name, kind), result = entry["point"].values(), entry["result"]
        many = len(feed_forward.SEEDS)
        assert all(len(result[key]) == many for key in ("test", "valid", "context"))
        assert all(len(curve) == len(result["at"]) for curve in result["valid"])
        assert result["at"][-1] == feed_forward.BUDGETS[name]["updates"]
        assert (result["units"], result["inner"]) == widths(name, kind)
        assert set(result["rates"]) == {str(rate) for rate in feed_forward.LEARNING_RATES[name]}
        best = (max if name == "digits" else min)(v for v in result["rates"].values() if v == v)
        assert result["rates"][str(result["rate"])] == best
        assert all(set(curve) == {*map(str, feed_forward.KS[name]), "all"} for curve in result["context"])
        if name != "words":
            assert [curve["all"] for curve in result["context"]] == pytest.approx(result["test"], rel=1e-4)
        if result["receptive field"] is not None and kind != "attention" and name != "digits":
            beyond = [k for k in feed_forward.KS[name] if k >= result["receptive field"]]
            for curve in result["context"]:
                assert [curve[str(k)] for k in beyond] == pytest.approx([curve["all"]] * len(beyond), rel=1e-5)
        sizes.setdefault(name, []).append(result["parameters"])
    for name, found in sizes.items():
        assert max(found) <= (1 + nets.TOLERANCE) * nets.budget(name)
        assert min(found) >= (1 - nets.TOLERANCE) * nets.budget(name)
