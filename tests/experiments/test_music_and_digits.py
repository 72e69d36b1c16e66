"""Nets on music and digits: of one size, causal, resumable; pieces hold what tunes hold; points run and are judged."""

import json
from math import log

import numpy as np
import pytest
import torch
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from small_tasks import drawn, small_tasks
from torch import nn
from torch.nn import functional as F

from fhx.dynamics import unroll
from fhx.experiments import music_and_digits, one_by_one, stored
from fhx.experiments import real_data as data
from fhx.experiments.forms import FORMS, RATE
from fhx.experiments.music_and_digits import measures, nets, tasks
from fhx.experiments.protocol import judge
from fhx.stability import contraction_rate, truncated_states
from fhx.tasks import Sequences
from fhx.training import OBJECTIVES

KINDS = (
    *("simple", "LSTM, stable", "frozen", "LSTM, truncated 5", nets.PROJECTED_ONCE, *nets.THROUGHOUT),
    *("TCN", "attention", "LRU", "minGRU", "RG-LRU", "window 5", "logistic 5"),
)


@pytest.fixture
def problems(monkeypatch, tmp_path):
    """A small problem under every name, few seeds and updates."""
    monkeypatch.setenv("FHX_CACHE", str(tmp_path))
    made = small_tasks(40, 20, 30)
    made["folk tunes"] = made["chorales"]
    for module in (nets, music_and_digits):
        monkeypatch.setattr(module, "problem", made.get)
    monkeypatch.setattr(music_and_digits, "whole", made.get)
    for name in made:
        monkeypatch.setitem(nets.UNITS, name, 12)
        monkeypatch.setitem(nets.HORIZON, name, 12)
        monkeypatch.setitem(nets.LEVELS, name, 2)
        monkeypatch.setitem(nets.WINDOWS, name, (3, 5))
    small = {"rates": (0.01, 0.03), "dropouts": (0.3,), "seeds": range(2), "updates": 6, "evaluations": 3}
    for name, budget in music_and_digits.BUDGETS.items():
        monkeypatch.setitem(music_and_digits.BUDGETS, name, evolve(budget, **small, batch_size=5, reported={}))
    monkeypatch.setattr(measures, "LONG", 20)
    nets.widths.cache_clear()
    yield made
    nets.widths.cache_clear()


@pytest.mark.parametrize("kind", KINDS)
def test_a_net_does_not_see_what_comes_later_and_goes_on_where_it_stopped(problems, kind):
    torch.manual_seed(0)
    net = nets.new_net("chorales", kind, "equal", 0.3).double().eval()
    for p in net.parameters():
        nn.init.normal_(p, std=0.3)
    x = drawn(11, 2, 3).double()
    whole = net(x)
    first, past = net.resume(x[:7], None)
    torch.testing.assert_close(first, whole[:7])
    second, _ = net.resume(x[7:], past)
    torch.testing.assert_close(second, whole[7:])
    if net.receptive_field is not None and net.receptive_field < 7:
        later = x.clone()
        later[: 11 - net.receptive_field] += 1
        torch.testing.assert_close(net(later)[-1], whole[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_start_at_the_frequencies_where_nothing_is_added(problems, kind):
    net = nets.new_net("chorales", kind, "equal", 0.0).eval()
    nn.init.zeros_(net.readout.weight)
    wanted = data.prior_of(problems["chorales"])
    torch.testing.assert_close(net(drawn(4, 2, 3)), wanted.expand(4, 2, 3))


@pytest.mark.parametrize("steps", [3, 5, 9])
def test_a_truncated_net_reads_the_states_that_the_last_inputs_make(problems, steps):
    torch.manual_seed(0)
    net, x = nets.TruncatedNet(nets.RecurrentNet("LSTM", 3, 4, 2, 10), 5).double(), drawn(steps, 2, 3).double()
    wanted = net.readout(net.net.cell.hidden(truncated_states(net.net.cell, x, 5)))
    torch.testing.assert_close(net(x), wanted)
    net.at_end = True
    torch.testing.assert_close(net(x)[-1], wanted[-1])
    assert not net(x)[:-1].any()


@pytest.mark.parametrize("size", ["equal", "quarter"])
def test_nets_have_one_size(problems, size, monkeypatch):
    for name in ("chorales", "digits"):
        monkeypatch.setitem(nets.UNITS, name, 64)
    nets.widths.cache_clear()
    for name in ("chorales", "digits"):
        goal = nets.parameters(nets.new_net(name, "LSTM", "equal")) / (4 if size == "quarter" else 1)
        for kind in nets.kinds(name):
            if kind in FORMS and "," in kind:
                assert nets.widths(name, kind, size) == nets.widths(name, kind.split(",")[0], size)
            elif kind != "frozen" and not kind.startswith("logistic"):
                assert 0.8 * goal < nets.parameters(nets.new_net(name, kind, size)) <= goal, kind


def test_the_published_nets_have_the_published_sizes(monkeypatch):
    made = small_tasks(20, 20, 30)
    wide = evolve(made["chorales"], input_size=88, output_size=88, train=_wide(), valid=_wide(), test=_wide())
    monkeypatch.setattr(nets, "problem", lambda name: wide)
    sizes = {name: nets.parameters(nets.new_net(name, "TCN", "published", 0.5)) for name in nets.PUBLISHED}
    assert sizes["chorales"] == pytest.approx(300_000, rel=0.15)
    assert sizes["folk tunes"] == pytest.approx(1_000_000, rel=0.15)


def test_other_kinds_can_be_as_large_as_the_published_net(problems):
    goal = nets.parameters(nets.new_net("chorales", "TCN", "published"))
    single = ("simple", "LSTM", nets.THROUGHOUT[0], "TCN")
    for kind in music_and_digits.SIZED:
        if kind != "frozen":
            least = 0.98 if kind in single else 0.95  # one unit more of a net of blocks is up to a twentieth
            assert least * goal < nets.parameters(nets.new_net("chorales", kind, "published")) <= goal, kind


def _wide():
    bits = (drawn(20, 3, 88) < 0.1).float()
    return Sequences(bits[:-1], bits[1:])


@pytest.mark.parametrize("form", FORMS)
def test_what_is_kept_stable_is_certified(problems, form):
    torch.manual_seed(0)
    net = nets.RecurrentNet(form, 2, 4, 3, 10)
    for p in net.cell.parameters():
        nn.init.normal_(p)
    net.constrain()
    certified = FORMS[form].certified
    rate = contraction_rate(net.cell, input_bound=1.0)
    assert rate <= RATE + 1e-6 if certified is not None else rate > 1


def test_an_lstm_that_is_projected_once_starts_certified_and_is_then_free(problems):
    torch.manual_seed(0)
    net = nets.new_net("chorales", nets.PROJECTED_ONCE, "equal")
    torch.manual_seed(0)
    kept = nets.new_net("chorales", "LSTM, stable", "equal")
    assert all(map(torch.equal, net.parameters(), kept.parameters()))
    assert contraction_rate(net.cell, input_bound=1.0) <= RATE + 1e-6
    with torch.no_grad():
        net.cell.W.mul_(100)
    net.constrain()
    assert contraction_rate(net.cell, input_bound=1.0) > 1


def test_dropout_throughout_is_of_inputs_weights_and_outputs_and_of_none_in_a_test(problems):
    torch.manual_seed(0)
    net, x = nets.new_net("chorales", nets.THROUGHOUT[0], "equal", 0.5), drawn(6, 2, 3)
    plain = nets.RecurrentNet("LSTM", 3, net.readout.in_features, 3, 10)
    plain.load_state_dict(net.state_dict())
    torch.testing.assert_close(net.eval()(x), plain.eval()(x))
    torch.manual_seed(1)
    found = net.train()(x)
    torch.manual_seed(1)
    inputs = F.dropout(x, 0.5)
    with torch.no_grad():
        plain.cell.W.copy_(F.dropout(net.cell.W, 0.5))
    torch.testing.assert_close(found, net.readout(F.dropout(plain.cell.hidden(unroll(plain.cell, inputs)), 0.5)))


def test_logistic_nets_are_affine_in_the_window():
    net = nets.LogisticNet(2, 3, 4).double()
    nn.init.normal_(net.readout.weight)
    x = drawn(9, 5, 2).double()
    rows = net.readout.weight.view(3, 4, 2)  # output, delay, input
    for t in (0, 2, 8):
        wanted = sum(x[t - k] @ rows[:, k].T for k in range(min(4, t + 1))) + net.readout.bias
        torch.testing.assert_close(net(x)[t], wanted)


@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    steps=st.integers(8, 20),
)
def test_pieces_hold_all_frames_once_but_short_ends(lengths, steps):
    longest = max(lengths)
    inputs = torch.arange(longest * len(lengths)).view(len(lengths), longest).T[..., None].float() + 1
    part = Sequences(inputs, -inputs, torch.tensor(lengths))
    if all(n < 8 for n in lengths):
        return
    found = tasks.pieces(part, steps)
    kept = [found.inputs[: int(n), i, 0].tolist() for i, n in enumerate(found.lengths)]
    wanted = []
    for n, length in enumerate(lengths):
        for start in range(0, length, steps):
            many = min(steps, length - start)
            if many >= 8:
                wanted.append(inputs[start : start + many, n, 0].tolist())
    assert kept == wanted
    assert torch.equal(found.targets, -found.inputs)


@pytest.mark.parametrize(("name", "kind"), [("chorales", "LSTM"), ("digits", "minGRU"), ("folk tunes", "TCN")])
def test_a_point(problems, name, kind):
    result = music_and_digits.run({"task": name, "net": kind, "size": "equal"})
    assert json.loads(json.dumps(result)) == result
    assert len(result["test"]) == len(result["context"]) == 2
    for test, context in zip(result["test"], result["context"], strict=True):
        assert context["all"] == pytest.approx(test, rel=1e-5)
    assert ("reactions" in result) == (kind == "LSTM")
    assert ("written" in result) == (name == "chorales")
    assert ("pieces" in result) == (name == "folk tunes")


def test_folk_tunes_are_learned_in_pieces_and_tested_in_whole(problems, monkeypatch):
    """Six tunes of 25 to 45 frames, cut into pieces of 20."""
    lengths = torch.arange(25, 49, 4)
    tunes = Sequences(*((drawn(45, 6, 3) < 0.3).float() for _ in range(2)), lengths)
    cut = tasks.pieces(tunes, 20)
    monkeypatch.setattr(music_and_digits, "whole", lambda _: evolve(problems["chorales"], test=tunes))
    monkeypatch.setitem(problems, "folk tunes", evolve(problems["chorales"], test=cut))
    result = music_and_digits.run({"task": "folk tunes", "net": "LSTM", "size": "equal"})
    assert result["items"]["counts"] == lengths.tolist()
    assert sum(result["items"]["sums"]) / lengths.sum().item() == pytest.approx(np.mean(result["test"]), rel=1e-5)
    assert result["pieces"] == pytest.approx([each["all"] for each in result["context"]], rel=1e-5)
    assert result["pieces"] != pytest.approx(result["test"], rel=1e-5)


def test_nets_are_left_to_run(problems, monkeypatch):
    budget = music_and_digits.BUDGETS["digits"]
    short = {"rates": (1e-9,), "updates": 12, "evaluations": 12, "patience": 2, "seeds": range(7)}
    monkeypatch.setitem(music_and_digits.BUDGETS, "digits", evolve(budget, **short))
    point = {"task": "digits", "net": "simple", "size": "equal"}
    stopped, left = (music_and_digits.run({**point, "size": size}) for size in ("equal", "equal, not stopped"))
    control = music_and_digits.run({**point, "net": "frozen", "size": "equal, not stopped"})
    assert (control["at"][-1], control["at"][-1] - control["at"][-2]) == (24, 1)
    assert (stopped["at"][-1], len(stopped["test"])) == (2, 7)
    assert (left["at"][-1], len(left["test"])) == (12, 5)
    assert left["units"] == stopped["units"]


def test_what_is_counted(problems):
    assert music_and_digits.run({"task": "digits", "net": "counted"}) == {"majority": pytest.approx(1 / 3)}
    assert music_and_digits.run({"task": "chorales", "net": "counted"}).keys() == {"constant", "per-key Markov"}


def test_context_is_that_of_states_from_zero(problems):
    torch.manual_seed(0)
    net, part = nets.new_net("chorales", "LSTM", "equal").eval(), problems["chorales"].test
    objective = OBJECTIVES["bits per step"]
    found = measures.context(net, part, objective)
    for k in (2, 10):
        outputs = net.readout(net.cell.hidden(truncated_states(net.cell, part.inputs, k)))
        total, count = objective.total(objective.metric, outputs, part.targets, part.lengths)
        assert found[str(k)] == pytest.approx((total / count).item(), rel=1e-5)


def test_a_linear_cell_reacts_as_its_powers(problems):
    """W = a and a loss whose slope is known: the gradients fall by a in every step."""
    a, part = 0.8, problems["chorales"].test
    net = nets.RecurrentNet("simple", 3, 1, 3, 10).double()
    with torch.no_grad():
        for p, value in zip((net.cell.W, net.cell.U, net.cell.b), (a, 0.0, 0.0), strict=True):
            p.fill_(value)
        net.cell.U[0, 0] = 1e-6  # so small that tanh is linear
    doubled = Sequences(part.inputs.double(), part.targets.double(), part.lengths)
    found = measures.reactions(net, doubled, OBJECTIVES["bits per step"])
    assert found["exponent"] == pytest.approx(log(a), rel=1e-4)
    assert found["certificate"] == pytest.approx(a)
    middle = found["i"].index(1.0), found["i"].index(2.0)
    for what in ("by input", "by state"):
        assert found[what][middle[1]] - found[what][middle[0]] == pytest.approx(log(a), rel=1e-3)
        assert found[what][0] - found[what][1] == pytest.approx(-log(a), rel=1e-3)
    assert found["by input"][0] - found["by state"][0] == pytest.approx(log(1e-6), rel=1e-6)


@given(st.integers(1, 6), st.integers(0, 100))
def test_music_is_drawn_by_the_odds_of_what_a_net_sees(k, seed):
    """A net that is sure repeats what came ``lag`` frames before, as far as it sees that."""
    lag, part = 3, _wide()
    kept = nets.LogisticNet(88, 88, lag)
    with torch.no_grad():
        kept.readout.bias.fill_(-200.0)
        kept.readout.weight.view(88, lag, 88)[:, lag - 1] = 400 * torch.eye(88)
    found = measures.written(kept, part, k, seed)
    assert len(found) == measures.GIVEN + measures.WRITTEN
    given_frames = [frame.nonzero().flatten().tolist() for frame in part.inputs[: measures.GIVEN, 0]]
    assert found[: measures.GIVEN] == given_frames
    for now, frame in enumerate(found[measures.GIVEN :], measures.GIVEN):
        assert frame == (found[now - lag] if k >= lag else [])


def test_another_seed_draws_other_music_as_likely_as_its_odds():
    even, part = nets.LogisticNet(88, 88, 1), _wide()
    with torch.no_grad():
        even.readout.bias.fill_(log(0.1 / 0.9))
    one, other = (measures.written(even, part, seed=seed) for seed in range(2))
    assert one != other
    drawn_keys = sum(map(len, one[measures.GIVEN :])) / measures.WRITTEN
    assert 88 * 0.06 < drawn_keys < 88 * 0.14


def test_evidence_judges_what_was_trained(problems):
    stored = []
    for point in music_and_digits.points("chorales"):
        result = {"constant": 11.0} if point["net"] == "counted" else _result(8.0 if "LSTM" in point["net"] else 9.0)
        stored.append({"point": point, "result": result})
    found = music_and_digits.evidence({"points": stored})
    assert set(found) >= {"chorales: LSTM is ahead of simple", "chorales: LSTM is ahead of LSTM, stable"}
    leads = {name: judge(one).leads[one.statements[0]].mean for name, one in found.items()}
    assert leads["chorales: LSTM is ahead of simple"] == pytest.approx(1.0)
    assert leads["chorales: TCN is ahead of LSTM"] == pytest.approx(-1.0)
    assert not set(judge(found["chorales: LSTM is ahead of simple"]).reasons) - {"control"}
    own = [name for name in found if "at own sizes" in name]
    assert {one.shown for one in found.values()} == {3 * (len(found) - len(own)) + len(own)}  # others thrice
    assert len([name for name in found if "," in name]) == 4 + 2 + 4 + 2  # certified, truncated, why, at own sizes
    assert len(own) == 8


def test_a_net_that_still_learns_leaves_other_statements_alone(problems):
    stored = []
    for kind in ("LSTM", "simple", "TCN", "frozen"):
        result = _result({"LSTM": 8.0, "simple": 9.0, "TCN": 8.5, "frozen": 10.0}[kind])
        if kind == "TCN":
            result["valid"] = [[*np.linspace(10, 8.5, 20)]] * 5
        stored.append({"point": {"task": "chorales", "net": kind, "size": "equal"}, "result": result})
    stored.append({"point": {"task": "chorales", "net": "counted"}, "result": {"constant": 11.0}})
    found = {name: judge(one) for name, one in music_and_digits.evidence({"points": stored}).items()}
    assert {name: set(one.reasons) for name, one in found.items()} == {
        "chorales: TCN is ahead of LSTM": {"plateau"},
        "chorales: LSTM is ahead of simple": set(),
    }


def test_nets_that_were_left_to_run_are_judged_where_there_are_any(problems):
    """Three kinds have a flat curve there and one a rising one; one was only stopped, and nothing is said of it."""
    at = {"task": "digits", "net": "counted"}
    stored = [{"point": at, "result": {"majority": 0.1}}]
    flat, rising = [[*np.linspace(0.1, 0.5, 15), *[0.6] * 5]] * 5, [[*np.linspace(0.1, 0.6, 20)]] * 5
    curves = {"LSTM": flat, "frozen": flat, "LSTM, F = 0.95": flat, "LSTM, F = 0.64": rising}
    scores = {"LSTM": 0.9, "frozen": 0.3, "LSTM, F = 0.95": 0.7, "LSTM, F = 0.64": 0.5}
    for of in (*curves, "LSTM, F = 0.9"):
        stopped = {**_result(0.2), "test": [0.2] * 10}
        stored.append({"point": {**at, "net": of, "size": "equal"}, "result": stopped})
    for of, valid in curves.items():
        left = {**_result(scores[of]), "valid": valid}
        stored.append({"point": {**at, "net": of, "size": "equal, not stopped"}, "result": left})
    evidence = music_and_digits.evidence({"points": stored})
    assert {name.split(" of ")[1]: dict(judge(one).reasons) for name, one in evidence.items()} == {
        "LSTM, F = 0.95": {},
        "LSTM, F = 0.64": {"plateau": "LSTM, F = 0.64 still gained 0.053"},
    }
    assert evidence["digits: LSTM is ahead of LSTM, F = 0.95"].lead("LSTM", "LSTM, F = 0.95").mean == pytest.approx(0.2)
    nets = music_and_digits.judged({"points": stored})["digits"]
    assert {of: len(result["test"]) for of, result in nets.items()} == {**dict.fromkeys(curves, 5), "LSTM, F = 0.9": 10}


def test_kinds_of_three_sizes_are_judged_at_the_size_of_each_that_validates_best(problems):
    """By validation, not by the test: the largest convolutional net has the best test of its kind."""
    validation = {
        "LSTM": {"quarter": 9.0, "equal": 8.0, "published": 8.5},
        "TCN": {"quarter": 8.0, "equal": 7.0, "published": 7.5},
        "simple": {"quarter": 8.8, "equal": 8.9, "published": 9.2},
        "frozen": {"quarter": 10.0, "equal": 9.9, "published": 9.8},
        "LRU": {"quarter": 8.0, "equal": 8.0},
    }
    stored = [{"point": {"task": "chorales", "net": "counted"}, "result": {"constant": 11.0}}]
    for of, sizes in validation.items():
        for size, loss in sizes.items():
            result = _result(loss)
            if (of, size) == ("TCN", "published"):
                result["test"] = [5.0 + 0.01 * s for s in range(5)]
            stored.append({"point": {"task": "chorales", "net": of, "size": size}, "result": result})
    own = music_and_digits.own_sizes({"points": stored})["chorales"]
    assert {of: size for of, (size, _) in own.items()} == {
        "LSTM": "equal",
        "TCN": "equal",
        "simple": "quarter",
        "frozen": "published",
    }
    found = music_and_digits.evidence({"points": stored})
    means = {name: judge(one).leads[one.statements[0]].mean for name, one in found.items()}
    at_own = {name: round(mean, 6) for name, mean in means.items() if "at own sizes" in name}
    assert at_own == {
        "chorales at own sizes: TCN is ahead of LSTM": 1.0,
        "chorales at own sizes: LSTM is ahead of simple": 0.8,
    }
    assert means["chorales: LSTM is ahead of simple"] == pytest.approx(0.9)
    of_equal = [name for name in found if "own" not in name]
    assert {one.shown for one in found.values()} == {3 * len(of_equal) + len(at_own)}  # the latter were looked at once
    assert judge(found["chorales at own sizes: TCN is ahead of LSTM"]).all_rules_hold
    assert {name for name, one in found.items() if one.statements[0].seen} == at_own.keys()


def test_a_kind_that_once_failed_to_train_has_no_size_of_its_own_there(problems):
    stored = []
    for size, loss in {"quarter": 9.0, "equal": 8.0, "published": 8.5}.items():
        result = _result(loss)
        if size == "equal":
            result["valid"] = [[None] * 20, *result["valid"][1:]]
        stored.append({"point": {"task": "chorales", "net": "LSTM", "size": size}, "result": result})
    (size, _) = music_and_digits.own_sizes({"points": stored})["chorales"]["LSTM"]
    assert size == "published"


def _result(score):
    curve = np.linspace(10, score, 20)
    ways = [(0.0, 0.0), (0.1, 0.0), (0.0, 0.2)]
    return {
        "test": [score + 0.01 * s for s in range(5)],
        "at": list(range(0, 200, 10)),
        "valid": [[*curve[:15], *[score] * 5]] * 5,
        "rate": 0.01,
        "decay": 0.0,
        "dropout": 0.2,
        "settings": [[r, *way, 9 - r - way[1]] for r in (0.001, 0.01, 0.003) for way in ways],
        "item error": 0.01,
    }


def test_a_point_that_was_trained_is_only_measured_again(problems, monkeypatch):
    point = {"task": "chorales", "net": "LSTM", "size": "equal"}
    first = music_and_digits.run(point)
    calls = []
    monkeypatch.setattr(one_by_one, "_one", lambda *_: calls.append(_))
    assert music_and_digits.run(point) == first
    monkeypatch.setitem(music_and_digits.NETS, "piece", 7)
    with pytest.raises(AttributeError):  # nothing was trained
        music_and_digits.run(point)
    assert len(calls) == 1


def test_of_what_was_lost_in_training_only_the_loss_before_the_best_validation_is_kept():
    result = {"at": [0, 10, 20], "best update": [20, 0, 10], "train": [[9, 8, 7], [6, 5, 4], [3, 2, 1]]}
    assert music_and_digits.at_best(result) == [7, 6, 2]
    for entry in stored("music_and_digits")["points"]:
        if "test" in entry["result"]:
            assert len(entry["result"]["train"]) == len(entry["result"]["test"])
