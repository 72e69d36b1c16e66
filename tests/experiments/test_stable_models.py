"""Stable and truncated nets: projections hold after every update, cuts of state and gradient are what they say."""

import json

import pytest
import torch
from small_tasks import WORDS, drawn, small_tasks

from fhx.cells import LSTMCell
from fhx.dynamics import unroll
from fhx.experiments import real_data, stable_models
from fhx.experiments.stable_models import tasks
from fhx.experiments.stable_models.measures import certificates, evaluate, exponent, gradients, truncated, windows
from fhx.experiments.stable_models.nets import KINDS, RATE, LanguageModel, ProjectedRows, SequenceModel, new_cell
from fhx.experiments.stable_models.training import train
from fhx.tasks import Sequences
from fhx.training import fit

STABLE = [kind for kind, (_, condition) in KINDS.items() if condition is not None]
CERTIFIED = {"LSTM, four conditions": "four conditions", "LSTM, sum": "sum"}


@pytest.fixture
def problems(monkeypatch):
    """A small problem under every name, few seeds and updates."""
    made = small_tasks(60, 64, 321)
    monkeypatch.setattr(real_data, "task", made.get)
    monkeypatch.setitem(real_data.TEXT, "window", 7)
    for name in made:
        size = {} if name == "words" else {"batch_size": 5}
        monkeypatch.setitem(tasks.BUDGETS, name, {"updates": 20 if name == "words" else 10, **size})
        monkeypatch.setitem(tasks.UNITS, name, 4)
        monkeypatch.setitem(tasks.SEEDS, name, range(2))
        monkeypatch.setitem(tasks.OTHER_SEEDS, name, range(5, 6))
    monkeypatch.setitem(real_data.TEXTS, "words", WORDS)
    monkeypatch.setitem(real_data.CUTOFFS, "words", (10, 20))
    monkeypatch.setitem(tasks.TRAINED_K, "chorales", (5,))
    monkeypatch.setitem(tasks.TRUNCATED_UPDATES, "chorales", 10)
    monkeypatch.setitem(tasks.TRUNCATED_UPDATES, "words", 10)
    monkeypatch.setitem(tasks.RUNS, "words", (100, 2))
    monkeypatch.setitem(tasks.RUNS, "chorales", (40, 3))
    monkeypatch.setattr(real_data, "SHOWN", 200)
    return made


def text_batches(text, steps=7):
    for i, window in enumerate(text.windows(steps)):
        yield window.inputs, window.targets, None, i == 0


def certified(net):
    found = certificates(net)
    return found[CERTIFIED.get(net.kind, "rate")]


@pytest.mark.parametrize("kind", KINDS)
def test_new_cells_start_orthogonal_or_as_its_projection(kind):
    torch.manual_seed(0)
    cell = new_cell(kind, 3, 5)
    orthogonal = [torch.allclose(W.T @ W, torch.eye(5), atol=1e-5) for W in cell.layer_matrices()]
    assert all(orthogonal) is (kind not in STABLE)
    if isinstance(cell, LSTMCell):
        assert (cell.b_f == 1).all() or kind in STABLE


@pytest.mark.parametrize("kind", STABLE)
def test_rows_of_a_fit_are_certified_after_every_update(problems, kind):
    task, seen = problems["chorales"], []

    def make():
        return SequenceModel(kind, 3, 4, 3, "bits per step")

    class Watched(ProjectedRows):
        def step(self, closure=None):
            super().step(closure)
            names = [name for name, _ in self.like.named_parameters()]
            rows = dict(zip(names, (p for group in self.param_groups for p in group["params"]), strict=True))
            for row in range(2):
                self.like.load_state_dict({name: p[row] for name, p in rows.items()}, strict=False)
                seen.append(certified(self.like))

    nets = fit(
        make,
        task,
        seeds=range(2),
        updates=6,
        batch_size=5,
        learning_rate=1.0,
        optimizer=lambda parameters, lr: Watched(parameters, lr, [0.1, 0.5], make()),
        progress=False,
    ).models
    assert len(seen) == 12
    assert max(seen) <= RATE
    assert max(seen) > 0.9 * RATE  # the rates are large enough to press against the bound
    assert all(certified(net) <= RATE for net in nets)


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


def by_hand(net, batches, rate, updates, k, carry):
    """The same training of one net, a step at a time."""
    stepper, h = torch.optim.SGD(net.parameters(), lr=rate), None
    for update, (inputs, targets, _, fresh) in zip(range(updates), batches, strict=False):
        h = net.cell.initial_state(inputs.shape[1]) if fresh or not carry else h.detach()
        loss = 0.0
        for t, x in enumerate(inputs):
            if k is not None and t and t % k == 0:
                h = h.detach() if carry else torch.zeros_like(h)
            h = net.cell(h, net.embed(x))
            loss = loss + net.loss(net.cell.hidden(h), targets[t]).sum()
        stepper.zero_grad()
        (loss / targets.numel()).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        stepper.param_groups[0]["lr"] = rate * (1 - update / updates)
        stepper.step()


@pytest.mark.parametrize("carry", [True, False])
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("kind", ["simple", "LSTM"])
def test_training_is_that_of_a_loop_by_hand(problems, kind, k, carry):
    text, rates = problems["words"].train, [0.5, 1.0]
    sets = []
    for _ in range(2):
        torch.manual_seed(3)
        sets.append([LanguageModel(kind, WORDS, 4, (10, 20)) for _ in rates])
    together, alone = sets
    start = [net.cell.W.detach().clone() for net in together]
    for _ in train(together, text_batches(text), rates, updates=6, optimizer=torch.optim.SGD, k=k, carry=carry):
        pass
    for net, rate in zip(alone, rates, strict=True):
        by_hand(net, text_batches(text), rate, 6, k, carry)
    for one, other, W in zip(together, alone, start, strict=True):
        torch.testing.assert_close(one.state_dict(), other.state_dict(), rtol=1e-3, atol=1e-5)
        assert (one.cell.W - W).norm() > 1e-3


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


def test_digits_are_cut_to_their_last_pixels(problems):
    torch.manual_seed(0)
    inputs, net = drawn(64, 200, 1), SequenceModel("simple", 1, 4, 3, "class at end")
    with torch.no_grad():
        net.readout.bias -= net(inputs).mean((0, 1))  # so that the classes of a net as new are not all one
        answers = net.readout(unroll(net.cell, inputs[59:])[-1]).argmax(-1)
    assert len(answers.unique()) > 1
    cut = truncated(net, Sequences(inputs, answers), [5, 1])
    assert cut["5"] == 1 > max(cut["1"], cut["all"])


def test_gradients_are_those_of_differences(problems):
    torch.manual_seed(0)
    part = problems["chorales"].test.take([0])
    net = SequenceModel("simple", 3, 4, 3, "bits per step").double()
    part = part.to(dtype=torch.float64)
    found = gradients(net, part, 10, 1000)

    def loss(inputs):
        return net.loss(unroll(net.cell, inputs)[-1], part.targets[9]).sum()

    inputs, norms = part.inputs[:10], []
    for t in range(10):
        moved = []
        for j in range(3):
            e = torch.zeros_like(inputs)
            e[t, 0, j] = 1e-6
            moved.append((loss(inputs + e) - loss(inputs - e)).item() / 2e-6)
        norms.insert(0, torch.tensor(moved).norm().item())
    expected = [norms[0], norms[1], norms[2], sum(norms[3:5]) / 2, sum(norms[5:8]) / 3, sum(norms[8:]) / 2]
    assert found["mean"] == pytest.approx(expected, rel=1e-4)
    assert found["i"] == [0, 1, 2, 3.5, 6, 8.5]
    assert found["pieces"] == 1


def test_pieces_for_gradients_start_from_the_state_of_the_run(problems):
    part, net = problems["words"].test, LanguageModel("LSTM", WORDS, 4, (10, 20))
    inputs, targets, h = windows(net, part, 30, 120)
    states = unroll(net.cell, net.embed(part.inputs))
    assert inputs.shape == (30, 12)  # three starts, four streams
    torch.testing.assert_close(h[:4], torch.zeros(4, 8))
    torch.testing.assert_close(h[4:8], states[119])
    assert torch.equal(targets[8:], part.targets[269])
    assert torch.equal(inputs[:, 8:], part.inputs[240:270])


def test_the_exponent_of_a_stable_net_is_below_its_certificate(problems):
    net = SequenceModel("simple, stable", 3, 4, 3, "bits per step")
    rate = certificates(net)["rate"]
    assert exponent(net, problems["chorales"].test.inputs[:40]) <= torch.tensor(rate).log().item() + 1e-6


def test_points_are_different_and_the_essential_ones_come_first():
    points = stable_models.EXPERIMENT.points
    assert len({json.dumps(point) for point in points}) == len(points)
    assert {point["cell"] for point in points[:6]} == set(KINDS)
    compared = [(point["task"], point["cell"]) for point in points if point["part"] == "compare"]
    assert {task for task, _ in compared} == set(tasks.BUDGETS)


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
    torch.testing.assert_close(real_data.prior("digits").exp(), torch.full((3,), 1 / 3))


def test_words_start_at_the_frequencies_of_the_frequent_and_of_groups_of_the_rest(problems):
    net, text = blank(tasks.language_model("words", "LSTM")), problems["words"].train.targets
    losses = net.loss(torch.zeros(1, WORDS, 4), torch.arange(WORDS)[None])[0]
    shares = text.flatten().bincount(minlength=WORDS) / text.numel()
    torch.testing.assert_close((-losses[:10]).exp(), shares[:10], atol=1e-3, rtol=0)
    for group in (slice(10, 20), slice(20, 30)):
        torch.testing.assert_close((-losses[group]).exp(), torch.full((10,), shares[group].mean()), atol=1e-3, rtol=0)


@pytest.mark.full
@pytest.mark.parametrize(("name", "kind"), [("chorales", "LSTM, rows"), ("digits", "simple"), ("words", "LSTM, sum")])
def test_a_comparison_runs(problems, monkeypatch, name, kind):
    monkeypatch.setitem(tasks.KS, name, (1, 3))
    result = stable_models.run({"part": "compare", "task": name, "cell": kind})
    json.dumps(result)
    assert [len(result[key]) for key in ("test", "valid", "certificate", "exponent", "gradient", "cut")] == [2] * 6
    assert len(result["valid"][0]) == len(result["at"]) == 11
    assert result["rate"] in tasks.LEARNING_RATES["Adam"][name]
    assert set(result["cut"][0]) == {"1", "3", "all"}
    if name != "words":
        assert [cut["all"] for cut in result["cut"]] == pytest.approx(result["test"], rel=1e-5)


@pytest.mark.full
@pytest.mark.parametrize(("name", "kind", "optimizer"), [("chorales", "LSTM", "SGD"), ("words", "simple", "Adam")])
def test_truncated_training_runs(problems, name, kind, optimizer):
    result = stable_models.run({"part": "truncated", "task": name, "cell": kind, "optimiser": optimizer})
    json.dumps(result)
    ks = tasks.TRAINED_K[name]
    assert set(result) == {"rate", "rates", "at", "full"} | {f"{way} {k}" for way in ("reset", "carried") for k in ks}
    assert result["full"]["from full"] == [[0.0] * 11] * 2
    assert len(result["full"]["between seeds"]) == 1
    for variant in (f"reset {ks[0]}", f"carried {ks[0]}"):
        apart = result[variant]["from full"]
        assert all(row[0] == 0 and row[-1] > 0 for row in apart)  # the same start
        assert all(row[0] == 0 and row[-1] > 0 for row in result[variant]["from start"])
