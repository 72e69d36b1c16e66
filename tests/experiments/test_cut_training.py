"""Training with cuts: projections hold after every update, cuts of state and gradient are what they say."""

import json

import pytest
import torch
from small_tasks import WORDS, small_tasks

from fhx.cells import LSTMCell
from fhx.dynamics import unroll
from fhx.experiments import cut_training, real_data
from fhx.experiments.cut_training import tasks, truncation
from fhx.experiments.cut_training.measures import evaluate, truncated
from fhx.experiments.cut_training.nets import KINDS, RATE, LanguageModel, SequenceModel, new_cell
from fhx.experiments.cut_training.training import train, trained
from fhx.experiments.cut_training.truncation import WAYS, errors, gradients
from fhx.experiments.real_data import cut
from fhx.stability import contraction_rate, lstm_bounds
from fhx.tasks import Sequences

STABLE = [kind for kind, (_, condition) in KINDS.items() if condition is not None]

CONTROLS = ("nudged", "nudged little")


@pytest.fixture
def problems(monkeypatch):
    """A small problem under every name, few seeds and updates."""
    made = small_tasks(60, 64, 321)
    monkeypatch.setattr(real_data, "task", made.get)
    monkeypatch.setitem(real_data.TEXT, "window", 7)
    for name in tasks.UNITS:
        monkeypatch.setitem(tasks.UNITS, name, 4)
        monkeypatch.setitem(tasks.SEEDS, name, range(2))
        monkeypatch.setitem(tasks.OTHER_SEEDS, name, range(5, 6))
        monkeypatch.setitem(tasks.UPDATES, name, 10)
    monkeypatch.setattr(tasks, "BATCH_SIZE", 5)
    monkeypatch.setitem(real_data.TEXTS, "words", WORDS)
    monkeypatch.setitem(real_data.CUTOFFS, "words", (10, 20))
    monkeypatch.setattr(tasks, "KS", (5,))
    monkeypatch.setattr(truncation, "NUDGED", 5)
    monkeypatch.setattr(real_data, "SHOWN", 200)
    return made


def text_batches(text, steps=7):
    for i, window in enumerate(text.windows(steps)):
        yield window.inputs, window.targets, None, i == 0


def certified(net):
    if not isinstance(net.cell, LSTMCell):
        return contraction_rate(net.cell)
    bound = net.embed.weight.abs().max().item() if isinstance(net, LanguageModel) else 1.0
    return lstm_bounds(net.cell, bound).sum_rate


@pytest.mark.parametrize("kind", KINDS)
def test_new_cells_start_orthogonal_or_as_its_projection(kind):
    torch.manual_seed(0)
    cell = new_cell(kind, 3, 5)
    orthogonal = [torch.allclose(W.T @ W, torch.eye(5), atol=1e-5) for W in cell.layer_matrices()]
    assert all(orthogonal) is (kind not in STABLE)
    if isinstance(cell, LSTMCell):
        assert (cell.b_f == 1).all() or kind in STABLE


@pytest.mark.parametrize("kind", STABLE)
def test_nets_of_music_are_certified_after_every_update(problems, kind):
    torch.manual_seed(0)
    nets, seen = [SequenceModel(kind, 3, 4, 3, "bits per step") for _ in range(2)], []
    for _ in train(nets, tasks.batches("chorales"), [0.1, 0.5], updates=6):
        seen += map(certified, nets)
    assert len(seen) == 12
    assert max(seen) <= RATE
    assert max(seen) > 0.9 * RATE  # the rates are large enough to press against the bound


@pytest.mark.parametrize("kind", KINDS)
def test_language_models_stay_certified_and_learn(kind):
    torch.manual_seed(0)
    net = LanguageModel(kind, WORDS, 4, (10, 20))
    with torch.no_grad():
        net.embed.weight[0] = 3.0
    ids = torch.arange(141)[:, None].expand(141, 4) % 3  # a text that repeats three words
    easy = Sequences(ids[:-1].contiguous(), ids[1:].contiguous())
    before = evaluate(net, easy)
    for _ in train([net], text_batches(easy), [0.1], updates=20):
        assert certified(net) <= RATE or kind not in STABLE
    assert evaluate(net, easy) < before - 0.5
    assert abs(net.embed.weight).max() <= 1 or kind not in STABLE or kind == "simple, stable"
    total = torch.stack([net.loss(torch.ones(1, 4), torch.tensor([word])) for word in range(WORDS)])
    torch.testing.assert_close((-total).exp().sum(), torch.tensor(1.0))  # a likelihood over all words


def by_hand(net, batches, rate, updates, how, k):
    """The same training of one net, a step at a time."""
    stepper, h, read = torch.optim.SGD(net.parameters(), lr=rate), None, []
    for update, (inputs, targets, _, fresh) in zip(range(updates), batches, strict=False):
        h = net.cell.initial_state(inputs.shape[1]) if fresh or how == "reset" else h.detach()
        read = [] if fresh else read
        loss = 0.0
        for t, x in enumerate(inputs):
            read.append(x)
            if how == "truncated":
                h = net.cell.initial_state(inputs.shape[1])
                for earlier in read[-(k or len(inputs)) : -1]:
                    h = net.cell(h, net.embed(earlier))
            elif k is not None and t and t % k == 0:
                h = h.detach() if how == "carried" else torch.zeros_like(h)
            h = net.cell(h, net.embed(x))
            loss = loss + net.loss(net.cell.hidden(h), targets[t]).sum()
        stepper.zero_grad()
        (loss / targets.numel()).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        stepper.param_groups[0]["lr"] = rate * (1 - update / updates)
        stepper.step()


@pytest.mark.parametrize("how", [*WAYS])
@pytest.mark.parametrize("k", [None, 1, 3, 10])  # windows have 7 steps, and a pass of the text fewer than 8 windows
@pytest.mark.parametrize("kind", ["simple", "LSTM"])
def test_training_is_that_of_a_loop_by_hand(problems, kind, k, how):
    text, rates = cut(problems["words"].train, 25), [0.5, 1.0]
    sets = []
    for _ in range(2):
        torch.manual_seed(3)
        sets.append([LanguageModel(kind, WORDS, 4, (10, 20)) for _ in rates])
    together, alone = sets
    start = [net.cell.W.detach().clone() for net in together]
    batches = (batch for _ in range(2) for batch in text_batches(text))
    for _ in train(together, batches, rates, updates=6, optimizer=torch.optim.SGD, how=how, k=k):
        pass
    for net, rate in zip(alone, rates, strict=True):
        by_hand(net, (batch for _ in range(2) for batch in text_batches(text)), rate, 6, how, k)
    for one, other, W in zip(together, alone, start, strict=True):
        torch.testing.assert_close(one.state_dict(), other.state_dict(), rtol=1e-3, atol=1e-5)
        assert (one.cell.W - W).norm() > (1e-3 if k != 1 else -1)


def test_an_unknown_way_to_cut_is_named(problems):
    nets = [LanguageModel("simple", WORDS, 4, (10, 20))]
    with pytest.raises(ValueError, match=r"how must be one of .* got 'cut'"):
        list(train(nets, text_batches(problems["words"].train), [0.1], updates=1, how="cut", k=3))


@pytest.mark.parametrize("name", ["words", "chorales"])
def test_errors_of_gradients_where_they_are_known(problems, name):
    torch.manual_seed(0)
    make = tasks.language_model if name == "words" else tasks.sequence_model
    nets = [make(name, "LSTM") for _ in range(2)]
    steps = next(tasks.batches(name))[0].shape[0]
    assert all(g.norm() > 1e-4 for g in gradients(nets, name))
    assert errors(nets, name, "carried", steps) == pytest.approx([0, 0], abs=1e-5)  # a cut behind the last step is none
    for how in WAYS:
        assert min(errors(nets, name, how, 2)) > 0.01
        if name == "chorales":
            assert errors(nets, name, how, steps) == pytest.approx([0, 0], abs=1e-4)
    assert errors(nets, name, "reset", 1) == errors(nets, name, "truncated", 1) == [1, 1]  # W meets zero only
    if name == "words":  # the state of the windows before is known in full, and not a truncated model's
        assert min(errors(nets, name, "reset", steps)) > 0.01
        assert errors(nets, name, "truncated", 3 * steps) == pytest.approx(by_autograd(nets, steps), rel=1e-3)


def by_autograd(nets, steps):
    """The error of a gradient that goes back through the windows before a third one, with no gradient cut."""
    windows = [batch for batch, _ in zip(tasks.batches("words"), range(3), strict=False)]
    words, found = torch.cat([inputs for inputs, *_ in windows]), []
    for net in nets:
        sides = []
        for cuts_gradient in (True, False):
            h, total = net.cell.initial_state(words.shape[1]), torch.tensor(0.0)
            for step, word in enumerate(words):
                h = net.cell(h.detach() if cuts_gradient and step % steps == 0 else h, net.embed(word))
                if step >= 2 * steps:
                    total = total + net.loss(net.cell.hidden(h)[None], windows[2][1][step - 2 * steps][None]).sum()
            sides.append(torch.autograd.grad(total, net.cell.W)[0])
        found.append(((sides[0] - sides[1]).norm() / sides[0].norm()).item())
    return found


def test_a_net_whose_gradient_is_not_finite_stops_alone(problems):
    nets = [LanguageModel("simple, stable", WORDS, 4, (10, 20)) for _ in range(2)]
    with torch.no_grad():
        nets[1].softmax.head.weight[0, 0] = torch.nan
    before = [net.cell.W.detach().clone() for net in nets]
    list(train(nets, text_batches(problems["words"].train), [0.1, 0.1], updates=3))
    assert not torch.equal(nets[0].cell.W, before[0])
    assert torch.equal(nets[1].cell.W, before[1])


@pytest.mark.parametrize("name", ["words", "chorales"])
def test_evaluation_is_a_mean_over_real_steps(problems, name):
    part = problems[name].test
    net = (
        LanguageModel("LSTM", WORDS, 4, (10, 20))
        if name == "words"
        else SequenceModel("LSTM", 3, 4, 3, "bits per step")
    )
    with torch.no_grad():
        hidden = net.cell.hidden(unroll(net.cell, net.embed(part.inputs)))
        expected = net.metric(hidden, part.targets)[part.mask].mean().item()
    assert evaluate(net, part, window=50) == pytest.approx(expected, rel=1e-5)
    cut = truncated(net, part, [2, part.steps])
    assert cut["all"] == pytest.approx(cut[str(part.steps)], rel=1e-5)
    assert cut["2"] != pytest.approx(cut["all"], rel=1e-4)


def test_points_are_different():
    points = cut_training.EXPERIMENT.points
    assert len({json.dumps(point) for point in points}) == len(points)
    assert {point["cell"] for point in points} == set(KINDS)
    assert {point["task"] for point in points} == set(tasks.UNITS)


def blank(net):
    """A net whose outputs are the biases of its readout."""
    with torch.no_grad():
        weights = net.softmax if isinstance(net, LanguageModel) else net.readout
        for name, p in weights.named_parameters():
            if not name.endswith("bias"):
                p.zero_()
    return net


def test_outputs_start_at_the_frequencies_of_the_training_split(problems):
    notes = problems["chorales"].train
    heard = notes.targets[notes.mask].mean(0)
    music = torch.sigmoid(blank(tasks.sequence_model("chorales", "simple")).readout.bias)
    torch.testing.assert_close(music, heard, atol=0.01, rtol=0)


def test_words_start_at_the_frequencies_of_the_frequent_and_of_groups_of_the_rest(problems):
    net, text = blank(tasks.language_model("words", "LSTM")), problems["words"].train.targets
    losses = net.loss(torch.zeros(1, WORDS, 4), torch.arange(WORDS)[None])[0]
    shares = text.flatten().bincount(minlength=WORDS) / text.numel()
    torch.testing.assert_close((-losses[:10]).exp(), shares[:10], atol=1e-3, rtol=0)
    for group in (slice(10, 20), slice(20, 30)):
        torch.testing.assert_close((-losses[group]).exp(), torch.full((10,), shares[group].mean()), atol=1e-3, rtol=0)


@pytest.mark.full
@pytest.mark.parametrize(("name", "kind", "optimizer"), [("chorales", "LSTM", "SGD"), ("words", "simple", "Adam")])
def test_truncated_training_runs(problems, name, kind, optimizer):
    result = cut_training.run({"task": name, "cell": kind, "optimiser": optimizer})
    json.dumps(result)
    assert set(result) == {"rate", "rates", "at", "full", *CONTROLS} | {f"{way} 5" for way in WAYS}
    assert result["full"]["from full"] == [[0.0] * 11] * 2
    assert len(result["full"]["between seeds"]) == 1
    for variant in (f"{way} 5" for way in WAYS):
        apart = result[variant]["from full"]
        assert all(row[0] == 0 and row[-1] > 0 for row in apart)  # the same start
        assert all(row[0] == 0 and row[-1] > 0 for row in result[variant]["from start"])
        assert result[variant]["gradient"].keys() == {"start", "end"}
        assert all(0 < error < 3 for each in result[variant]["gradient"].values() for error in each)
    first, little = ([row[0] for row in result[control]["from full"]] for control in CONTROLS)
    assert all(0 < gap < 1 for gap in first)
    assert little == pytest.approx([gap / 100 for gap in first], rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("kind", ["LSTM", "simple, stable"])
def test_a_nudge_moves_the_start_by_its_distance(problems, kind):
    (_, log), (_, nudged) = (
        trained("chorales", kind, range(3), [0.1] * 3, 1, "SGD", nudges=nudges) for nudges in ((), (0.5, 0.0, 2.0))
    )
    moved = [(a - b).norm().item() for a, b in zip(log.weights[0], nudged.weights[0], strict=True)]
    if kind == "LSTM":
        assert moved == pytest.approx([0.5, 0.0, 2.0], abs=1e-5)
    else:  # it is projected again
        assert moved[1] == pytest.approx(0, abs=1e-5)
        assert all(torch.linalg.matrix_norm(W, 2) <= RATE + 1e-5 for W in nudged.weights[0])
