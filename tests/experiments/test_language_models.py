"""Language models: counted ones against dictionaries, the softmax against its definition, training that goes on."""

import json
from collections import Counter, defaultdict
from math import exp

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tasks import small_text
from torch import nn
from torch.nn import functional as F

from fhx.dynamics import lyapunov_spectrum, unroll
from fhx.experiments import language_models, stored
from fhx.experiments.__main__ import main
from fhx.experiments.forms import RATE
from fhx.experiments.language_models import KINDS, KneserNey, LanguageModel, measures, reading, training
from fhx.experiments.language_models.net import RIVALS, WINDOW
from fhx.experiments.language_models.points import FULL, LONGER, NETS, READ, SIZE
from fhx.experiments.language_models.reading import Reading, losses
from fhx.experiments.language_models.training import Setting
from fhx.experiments.language_models.verdicts import STATEMENTS, by_group
from fhx.experiments.protocol import judge
from fhx.tasks import Sequences, Task

WORDS = 9


def by_hand(text: list[int], words: int, context: tuple[int, ...], word: int) -> float:
    """The probability after a context of any length, from dictionaries and the formulas in words."""
    longest = len(context) + 1
    uses: Counter[tuple[int, ...]] = Counter(tuple(text[i : i + longest]) for i in range(len(text) - longest + 1))
    probability, counts = 1 / words, {longest: uses}
    for n in range(longest - 1, 0, -1):
        before = defaultdict(set)
        for gram in counts[n + 1]:
            before[gram[1:]].add(gram[0])
        counts[n] = Counter({gram: len(seen) for gram, seen in before.items()})
    for n in range(1, longest + 1):
        u, c = context[len(context) - n + 1 :], counts[n]
        ones, twos = (sum(value == k for value in c.values()) for k in (1, 2))
        discount = ones / (ones + 2 * twos) if ones else 0.0
        after = {gram[-1]: value for gram, value in c.items() if gram[:-1] == u}
        if after:
            total = sum(after.values())
            probability = (max(after.get(word, 0) - discount, 0) + discount * len(after) * probability) / total
    return probability


@given(st.lists(st.integers(0, 3), min_size=4, max_size=40), st.integers(1, 3), st.lists(st.integers(0, 4), min_size=3))
def test_counted_models_are_those_of_dictionaries(text, order, new):
    model = KneserNey(text, 5, order)
    found = model.log_probabilities(new)
    assert len(found) == len(new) - 1
    for i in range(order - 1, len(new)):
        wanted = by_hand(text, 5, tuple(new[i - order + 1 : i]), new[i])
        if i:
            assert exp(found[i - 1]) == pytest.approx(wanted)


@given(st.lists(st.integers(0, 3), min_size=5, max_size=60), st.lists(st.integers(0, 4), min_size=2, max_size=2))
def test_probabilities_after_a_context_add_up_to_one(text, context):
    model = KneserNey(text, 5, 3)
    total = sum(exp(model.log_probabilities([*context, word])[-1]) for word in range(5))
    assert total == pytest.approx(1)


def test_counted_models_refuse_what_they_cannot_count():
    with pytest.raises(ValueError, match="ids run from 0 to 7, and there are 5 words"):
        KneserNey([0, 7], 5, 1)
    with pytest.raises(ValueError, match="at least 3 words is needed"):
        KneserNey([0, 1], 5, 3)
    with pytest.raises(ValueError, match="too many names"):
        KneserNey([0, 1, 2, 3, 4], 33_278, 5)


def test_words_are_read_by_the_vectors_that_predict_them():
    """Also after a step of training; probabilities add up to one."""
    torch.manual_seed(0)
    net, ids = LanguageModel("LSTM", WORDS, 6, 1, (3, 5)), torch.arange(WORDS)[:, None]
    table = torch.cat(net.vectors())
    assert table.shape == (WORDS, 6)
    torch.testing.assert_close(net.layers[0].hidden(unroll(net.layers[0], table[ids])), net(ids)[0])
    before, shown = table.clone(), torch.randn(4, 2, 6)
    net.loss(shown, torch.randint(WORDS, (4, 2))).sum().backward()
    torch.optim.SGD(net.parameters(), 1.0).step()
    assert not torch.equal(torch.cat(net.vectors()), before)
    every = torch.stack([net.loss(shown, torch.full((4, 2), word)) for word in range(WORDS)])
    torch.testing.assert_close((-every).exp().sum(0), torch.ones(4, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_a_net_is_certified_if_it_says_so(kind):
    torch.manual_seed(0)
    net = LanguageModel(kind, WORDS, 4, 2, (3, 5))
    for p in net.parameters():
        torch.nn.init.normal_(p)
    net.constrain()
    rates = language_models.certificate(net)
    assert len(rates) == 2
    assert (max(rates) <= RATE) == (KINDS[kind].certified is not None)
    assert (max(v.abs().max() for v in net.vectors()) <= 1) == KINDS[kind].clipped


def far_apart_at_the_end(kind: str, seed: int) -> float:
    """The distance of two runs of two layers with large weights, from random states and over the same 2,000 words."""
    torch.manual_seed(seed)
    net = LanguageModel(kind, WORDS, 4, 2, (3, 5)).double()
    for p in net.parameters():
        nn.init.normal_(p, std=2)
    net.constrain()
    starts = [torch.rand(2, 8, dtype=torch.float64) * 2 - 1 for _ in net.layers]
    with torch.no_grad():
        _, last = net(torch.randint(WORDS, (2000, 1)).expand(2000, 2), starts)
    return max((one - other).abs().max().item() for one, other in last)


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_two_certified_layers_forget_how_they_started(seed):
    assert far_apart_at_the_end("LSTM, stable", seed) < 1e-5


def test_two_free_layers_may_remember_how_they_started():
    assert max(far_apart_at_the_end("LSTM", seed) for seed in range(20)) > 0.1


def test_the_loop_is_no_part_of_the_net():
    net = LanguageModel("LSTM", WORDS, 4, 1, (3, 5))
    assert not any("loop" in name for name in net.state_dict())


@pytest.mark.parametrize("kind", ["LSTM", *RIVALS])
def test_a_state_goes_on_and_words_later_do_not_matter(kind):
    torch.manual_seed(0)
    net, ids = LanguageModel(kind, WORDS, 6, 2, (3, 5)), torch.randint(WORDS, (7, 2))
    whole, _ = net(ids)
    first, states = net(ids[:3])
    second, _ = net(ids[3:], states)
    torch.testing.assert_close(torch.cat([first, second]), whole)


@pytest.mark.parametrize("kind", RIVALS)
def test_rivals_are_as_large_as_the_layers_of_an_lstm(kind):
    def numbers(kind: str) -> int:
        net = LanguageModel(kind, WORDS, 128, 1, (3, 5))
        return sum(p.numel() for p in net.parameters()) - sum(p.numel() for p in net.softmax.parameters())

    assert 0.96 < numbers(kind) / numbers("LSTM") <= 1


def test_a_kind_is_known():
    with pytest.raises(ValueError, match="no kind 'GRU'; there are TCN, attention, LRU"):
        LanguageModel("GRU", WORDS, 24, 1, (3, 5))


def test_attention_sees_a_whole_window_behind_each_word():
    torch.manual_seed(0)
    net, ids = LanguageModel("attention", WORDS, 24, 1, (3, 5)), torch.randint(WORDS, (WINDOW * 2, 1))
    other = ids.clone()
    other[WINDOW + 1] = (ids[WINDOW + 1] + 1) % WORDS

    def last(words):
        _, states = net(words[:WINDOW])
        return net(words[WINDOW:], states)[0]

    gap = (last(ids) - last(other)).abs().sum((1, 2))
    assert gap[0] == 0
    assert gap[1:].min() > 0
    other = ids.clone()
    other[1] = (ids[1] + 1) % WORDS
    gap = (last(ids) - last(other)).abs().sum((1, 2))
    assert gap[0] > 0


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A text of few words, and a folder of its own."""
    problem = small_text(WORDS)
    for name, value in {"text": lambda: problem, "CUTOFFS": (3, 5), "WINDOW": 7, "BLOCK": 10}.items():
        monkeypatch.setattr(training, name, value)
    for module in (language_models, measures):
        monkeypatch.setattr(module, "text", lambda: problem)
    monkeypatch.setattr(language_models, "SIZE", {"layers": 1, "units": 5})
    monkeypatch.setenv("FHX_CACHE", str(tmp_path))
    return problem


POINT = {"model": "simple, stable", "layers": 1, "units": 5}


@pytest.mark.parametrize("kind", ["simple, stable", "TCN"])
def test_training_that_was_stopped_goes_on(kind, small, tmp_path, monkeypatch):
    point = {**POINT, "model": kind}
    settings = (Setting(rate=0.01, dropout=0.3, seed=1), 3)
    whole = training.train(point, *settings, tmp_path / "whole")
    real, seen = training._read, []

    def stopped(*args):
        if seen:
            raise KeyboardInterrupt
        seen.append(1)
        real(*args)

    monkeypatch.setattr(training, "_read", stopped)
    with pytest.raises(KeyboardInterrupt):
        training.train(point, *settings, tmp_path / "part")
    monkeypatch.setattr(training, "_read", real)
    part = training.train(point, *settings, tmp_path / "part")
    assert (part.at, part.valid, part.train) == (whole.at, whole.valid, whole.train)
    assert whole.at == [0, 3, 6, 9, 12, 15, 18]
    for name, value in whole.net.state_dict().items():
        assert torch.equal(part.net.state_dict()[name], value), name
    assert language_models.evaluate(whole.net, small.valid)[0] == pytest.approx(min(whole.valid))


def test_losses_are_those_of_one_word_after_the_other(small):
    net = training.new_net({"model": "LSTM", "layers": 2, "units": 5}, 0.5, 0)
    each = losses(net, small.test)
    states = None
    for t, ids in enumerate(small.test.inputs.split(1)):
        shown, states = net(ids, states)
        every = net.softmax.log_prob(shown[0])
        torch.testing.assert_close(each[t], F.nll_loss(every, small.test.targets[t], reduction="none"))
    mean, error = training.evaluate(net, small.test)
    assert mean == pytest.approx(each.mean().item())
    blocks = np.array([each[i : i + 10, k].mean().item() for k in range(3) for i in (0, 10, 20)])
    assert error == pytest.approx(blocks.std(ddof=1) / 3)


def test_one_point(small, monkeypatch):
    for name, value in {"PASSES": {"rate": 1, "dropout": 1, "trained": 2}, "KS": (1, 3), "SHOWN": 20}.items():
        monkeypatch.setattr(language_models, name, value)
    result = language_models.run(POINT)
    assert json.loads(json.dumps(result)) == result
    assert result["rate"] in language_models.RATES
    assert result["dropout"] in language_models.DROPOUTS
    assert float(min(result["rates"], key=result["rates"].get)) == result["rate"]
    assert float(min(result["dropouts"], key=result["dropouts"].get)) == result["dropout"]
    assert all(len(curve) == len(result["at"]) == 5 for curve in result["valid"])
    assert [*result["rates"]] == [str(rate) for rate in language_models.RATES]
    assert [*result["dropouts"]] == [str(dropout) for dropout in language_models.DROPOUTS]
    assert all(max(rates) <= RATE for rates in result["certificate"])
    assert len(result["test"]) == len(language_models.SEEDS) == len(result["context"])
    assert result["context"][0].keys() == {"1", "3", "all"}
    net = training.train(POINT, Setting(result["rate"], result["dropout"], language_models.SEEDS[0]), 2).net
    assert result["context"][0]["3"] == pytest.approx(losses(net, small.test, 3)[:20].mean().item())
    longer = language_models.run({**POINT, "passes": 4})
    assert (longer["rate"], longer["dropout"]) == (result["rate"], result["dropout"])
    assert (longer["at"][-1], len(longer["test"])) == (2 * result["at"][-1], len(language_models.SEEDS))
    for found, passes in ((result, 2), (longer, 4)):  # those of the settings only where they were chosen
        settings = [Setting(result["rate"], result["dropout"], seed) for seed in language_models.SEEDS]
        own = sum(training.train(POINT, setting, passes).seconds for setting in settings)
        assert (found["seconds"] == pytest.approx(own)) == (found is longer)


def test_a_larger_net_has_a_rate_of_its_own_and_the_dropout_of_its_smaller_kind(small, monkeypatch):
    """By few seeds; its time is that of the nets of its own size."""
    for name, value in {
        "PASSES": {"rate": 1, "dropout": 1, "trained": 2},
        "KS": (1,),
        "SHOWN": 20,
        "RATES": (0.001, 0.1),
        "LARGE_RATES": (0.02, 0.03),
        "LARGE_SEEDS": (0, 1),
    }.items():
        monkeypatch.setattr(language_models, name, value)
    smaller, larger = language_models.run(POINT), language_models.run(point := {**POINT, "layers": 2, "units": 6})
    assert [*larger["rates"]] == ["0.02", "0.03"]
    assert float(min(larger["rates"], key=larger["rates"].get)) == larger["rate"]
    assert (larger["dropout"], larger["dropouts"]) == (smaller["dropout"], smaller["dropouts"])
    fits = [training.train(point, Setting(larger["rate"], larger["dropout"], seed), 2) for seed in (0, 1)]
    assert larger["test"] == [losses(fit.net, small.test).double().mean().item() for fit in fits]
    assert [len(rates) for rates in larger["certificate"]] == [2, 2]
    tried = [training.train(point, Setting(rate, language_models.TRIED, 0), 1) for rate in (0.02, 0.03)]
    assert [*larger["rates"].values()] == [min(fit.valid) for fit in tried]
    assert larger["seconds"] == pytest.approx(sum(fit.seconds for fit in (*tried, *fits)))


def test_a_frozen_net_learns_words_only(small):
    point = {**POINT, "model": "frozen"}
    start = training.new_net(point, 0.0, 0)
    net = training.train(point, Setting(0.01, 0.0, 0), 1).net
    for name, value in net.state_dict().items():
        assert torch.equal(value, start.state_dict()[name]) == name.startswith("layers."), name


def test_a_rival_has_no_certificate():
    assert language_models.certificate(LanguageModel("TCN", WORDS, 4, 1, (3, 5))) is None


def test_states_of_a_language_model_react_as_those_of_its_layers(small, monkeypatch):
    """One word changes by a little, and the loss of the last one by as much as the gradient says."""
    monkeypatch.setattr(measures, "RUNS", 3)
    monkeypatch.setattr(measures, "LONG", 9)
    net = training.new_net({**POINT, "model": "LSTM", "layers": 2}, 0.0, 0)
    found = language_models.reactions_of(net)
    words = torch.stack([small.test.inputs[k * (small.test.steps - 9) // 3 :, k % 3][:9] for k in range(3)], 1)
    targets = torch.stack([small.test.targets[k * (small.test.steps - 9) // 3 + 8, k % 3] for k in range(3)])
    vectors = net.embed(words).double().detach()
    net = net.double()
    slopes = []
    for row in range(3):
        x = vectors[:, row : row + 1].clone().requires_grad_()
        shown = x
        for cell in net.layers:
            shown = cell.hidden(unroll(cell, shown))
        net.loss(shown[-1], targets[row : row + 1]).sum().backward()
        slopes.append(x.grad.norm(dim=-1).flatten().flip(0).log())
    by_distance = torch.stack(slopes)
    assert found["i"][:3] == [0, 1, 2]
    assert found["by input"][:3] == pytest.approx(by_distance[:, :3].median(0).values.tolist(), abs=1e-3)
    tops = []
    x = vectors
    for cell in net.layers:
        tops.append(lyapunov_spectrum(cell, x, k=1, warmup=1).mean().item())
        x = cell.hidden(unroll(cell, x))
    assert found["exponent"] == pytest.approx(max(tops), abs=1e-3)


def test_a_verdict_on_words_needs_five_seeds_and_a_control_that_is_beaten():
    nets = {
        "at": [0, 9, 10],
        "valid": [[5.0, 4.2, 4.18]] * 3,
        "rate": 0.01,
        "rates": {str(rate): 4.3 + abs(rate - 0.01) for rate in language_models.RATES},
        "item error": 0.01,
    }
    scores = {"LSTM": 4.0, "LSTM, stable": 4.3, "frozen": 4.2}

    def judged(control, longer=4.18):
        points = [{"point": {"model": "Kneser-Ney", "order": 3}, "result": {"test": [5.0]}}]
        for name in NETS:
            score = scores.get(name, 4.5) if name != "frozen" else control
            result = nets | {"test": [score, score + 0.1, score + 0.2]}
            points.append({"point": {"model": name, **SIZE}, "result": result})
        full = {"model": FULL, **SIZE}
        points += [{"point": {**full, "read": how}, "result": nets | {"test": [4.1] * 3}} for how in READ]
        points += [
            {"point": {**full, "model": kind, "passes": 20}, "result": nets | {"valid": [[longer]] * 3}}
            for kind in LONGER
        ]
        found = language_models.evidence({"points": points})["words: LSTM is ahead of LSTM, stable"]
        return found, judge(found)

    found, verdict = judged(4.2)
    assert set(verdict.reasons) == {"seeds"}
    assert found.baselines == {"trigram": 5.0}
    (lead,) = verdict.leads.values()
    assert lead.mean == pytest.approx(0.3)
    statement, *_ = STATEMENTS["price"]
    assert verdict[statement] == "undecided at this budget"
    assert set(judged(4.0)[1].reasons) == {"seeds", "control"}
    assert judged(4.2, longer=4.12)[1].reasons["plateau"] == "LSTM still gained 0.06 by twice the updates"


def test_what_the_stored_nets_lack():
    """A net that was not trained for longer, or that had no settings of its own, settles nothing."""
    found = language_models.evidence(stored("language_models"))
    lacking = {name.removeprefix("words: "): set(judge(one).reasons) for name, one in found.items()}
    assert lacking == {
        "LSTM is ahead of LSTM, stable": set(),
        "LSTM is ahead of LSTM, clipped": {"plateau"},
        "LSTM, clipped is ahead of LSTM, stable": {"plateau"},
        "LSTM is ahead of LSTM, four conditions": {"plateau"},
        "LSTM, stable is ahead of LSTM, four conditions": {"plateau"},
        "LSTM is ahead of LSTM, F = 0.64": {"plateau"},
        "LSTM, stable is ahead of LSTM, F = 0.64": {"plateau"},
        "LSTM, F = 0.64 is ahead of LSTM, four conditions": {"plateau", "control"},
        "simple is ahead of simple, stable": {"control"},
        "TCN is ahead of LSTM": {"plateau"},
        "minGRU is ahead of LSTM": {"plateau"},
        "LSTM is ahead of simple": set(),
        **{f"LSTM is ahead of truncated {k}": {"plateau", "tuning"} for k in (10, 20)},
        "truncated 20 is ahead of LSTM, stable": {"plateau", "tuning"},
    }


def test_the_trigram_is_beaten_and_a_certificate_has_its_price():
    """Of the stored nets, every one."""
    results = {tuple(e["point"].values()): e["result"] for e in stored("language_models")["points"]}
    counted = results["Kneser-Ney", 3]["test"][0]
    free, stable = results["LSTM", 1, 128], results["LSTM, stable", 1, 128]
    assert max(free["test"]) < min(stable["test"]) < max(stable["test"]) < counted - 0.3
    assert exp(max(free["test"])) < 145
    assert all(rate > 1 for (rate,) in free["certificate"])
    assert all(rate <= RATE for (rate,) in stable["certificate"])


def test_a_broken_result_is_named(capsys, tmp_path):
    (tmp_path / "language_models.json").write_text("{")
    with pytest.raises(SystemExit):
        main(["--perplexities", "--results", str(tmp_path)])
    assert "language_models.json" in capsys.readouterr().err


def test_perplexities_are_printed_by_name(capsys):
    assert main(["--perplexities"]) == 0
    lines = dict(line.rsplit("  ", 1) for line in capsys.readouterr().out.splitlines())
    found = language_models.perplexities(stored("language_models"))
    assert list(lines) == list(found)
    assert {name: float(value) for name, value in lines.items()} == {
        name: pytest.approx(value, abs=0.051) for name, value in found.items()
    }


def test_what_is_dropped_is_made_up_for():
    net, ones = LanguageModel("LSTM", WORDS, 4, 1, (3, 5), dropout=0.3), torch.ones(200, 100)
    assert torch.equal(net._dropped(ones, None), ones)
    found = net._dropped(ones, torch.Generator().manual_seed(0))
    torch.testing.assert_close(found.unique(), torch.tensor([0, 1 / 0.7]))
    assert found.mean().item() == pytest.approx(1, abs=0.03)


def test_counted_points_count_the_whole_text(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    ids, streams = (torch.randint(7, size, generator=generator) for size in ((2200,), (70, 2)))
    part, new = (Sequences(words[:-1], words[1:]) for words in (ids[:, None], streams))
    monkeypatch.setattr(language_models, "text", lambda: Task("t", part, part, new, 7, 7, "class per step"))
    monkeypatch.setattr(language_models, "SHOWN", 5)
    monkeypatch.setattr(language_models, "wikitext2", lambda *_: Task("t", part, part, part, 7, 7, "class per step"))
    result = language_models.run({"model": "Kneser-Ney", "order": 2})
    assert result["parameters"] == len(ids.unfold(0, 2, 1).unique(dim=0))
    wanted = -KneserNey(ids.numpy(), 7, 2).log_probabilities(ids.numpy())
    assert result["test"] == [pytest.approx(wanted.mean())]
    blocks = np.array([wanted[:1000].mean(), wanted[1000:2000].mean()])
    assert result["item error"] == pytest.approx(blocks.std(ddof=1) / 2**0.5)
    pairs = [streams[i : i + 2, n].tolist() for i in range(5) for n in range(2)]
    each = [-KneserNey(ids.numpy(), 7, 2).log_probabilities(pair).item() for pair in pairs]
    assert result["context"] == [{"1": pytest.approx(np.mean(each))}]


def test_perplexities_have_a_name_each_and_published_ones_stand_beside_them():
    net = {"point": POINT, "result": {"test": [4.0, 6.0]}}
    counts = {"point": {"model": "Kneser-Ney", "order": 3}, "result": {"test": [5.0]}}
    longer = {"point": {**POINT, "passes": 4}, "result": {"test": [4.0]}}
    found = language_models.perplexities({"points": [net, counts, longer]})
    assert found["simple, stable, 1 x 5, 4 passes"] == pytest.approx(exp(4))
    assert found["simple, stable, 1 x 5"] == pytest.approx((exp(4) + exp(6)) / 2)
    assert found["Kneser-Ney, 3 words"] == pytest.approx(exp(5))
    assert found.items() >= language_models.PUBLISHED.items()
    assert len(found) == 3 + len(language_models.PUBLISHED)


def test_nets_are_found_by_group_and_kind():
    points = [
        {"model": "Kneser-Ney", "order": 3},
        {"model": "LSTM", **SIZE},
        {"model": "LSTM", **SIZE, "read": "truncated 10"},
        {"model": "LSTM", **SIZE, "passes": 20},
        {"model": "LSTM", **SIZE, "units": 1 + SIZE["units"]},
    ]
    assert by_group({"points": [{"point": point, "result": n} for n, point in enumerate(points)]}) == {
        "compared": {"LSTM": 1, "LSTM, truncated 10": 2},
        "longer": {"LSTM": 3},
        "larger": {"LSTM": 4},
    }


def by_hand_read(net, ids, k):
    """What the net shows after each word, run anew from zero over the last k words."""
    shown = [net(ids[max(0, t - k + 1) : t + 1])[0][-1] for t in range(len(ids))]
    return torch.stack(shown)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_a_net_that_sees_the_last_words_is_run_anew_for_each(small, k, layers, monkeypatch):
    monkeypatch.setattr(reading, "NUMBERS", 2000)
    net = training.new_net({"model": "LSTM", "layers": layers, "units": 5}, 0.5, 0)
    with torch.no_grad():
        wanted = net.loss(by_hand_read(net, small.test.inputs, k), small.test.targets)
    torch.testing.assert_close(losses(net, small.test, k), wanted)


@pytest.mark.parametrize("name", ["full", "cut 3", "reset 3", "truncated 3"])
def test_ways_to_read_a_window(small, name):
    net, part = training.new_net({"model": "LSTM", "layers": 1, "units": 5}, 0.0, 0), small.train
    read, states, means = Reading.of(name), None, []
    for start in range(0, part.steps, 7):
        mean, states = read.loss(net, part, start, states, None, 7)
        means.append(mean)
    shown = {
        "full": lambda: net(part.inputs)[0],
        "cut": lambda: net(part.inputs)[0],
        "truncated": lambda: by_hand_read(net, part.inputs, 3),
        # a window of 7 starts anew, at its words 1, 4 and 7
        "reset": lambda: torch.cat([net(ids)[0] for window in part.inputs.split(7) for ids in window.split(3)]),
    }[read.how]()
    each = net.loss(shown, part.targets)
    first = 2 if read.how == "truncated" else 0
    wanted = [each[max(start, first) : start + 7].mean() for start in range(0, part.steps, 7)]
    torch.testing.assert_close(torch.stack(means), torch.stack(wanted))


@pytest.mark.parametrize(
    ("name", "words"), [("full", 7), ("cut 3", 1), ("cut 4", 3), ("reset 3", 1), ("truncated 3", 3)]
)
def test_how_far_a_gradient_goes_back(small, name, words):
    """Of the last word of a window of seven, to the vectors of the words up to it: pieces of three are 3, 3 and 1."""
    net, part = training.new_net({"model": "simple", "layers": 1, "units": 5}, 0.0, 0), small.train
    read, seen = Reading.of(name), []
    table = torch.cat(net.vectors()).detach()

    def looked_up(ids, _):
        seen.append(table[ids].requires_grad_())
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(F, "embedding", looked_up)
        patch.setattr(net, "loss", lambda shown, targets: shown[-1].sum(-1))
        loss, _ = read.loss(net, part, 7, None, None, 7)
    loss.backward()
    reached = [x.grad.abs().sum((1, 2)) for x in seen if x.grad is not None]
    behind = torch.cat(reached).flip(0)
    assert (behind > 0).sum() == words


def test_a_way_to_read_is_known():
    assert Reading.of("cut 5") == Reading("cut", 5)
    assert [Reading.of(name).sees for name in ("full", "cut 5", "reset 5", "truncated 5")] == [None, None, 5, 5]
    with pytest.raises(ValueError, match="backwards"):
        Reading.of("backwards 5")
    with pytest.raises(ValueError, match="k must"):
        Reading.of("cut 0")
