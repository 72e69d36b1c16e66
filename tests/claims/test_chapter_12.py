"""The claims that chapter 12 settles: what windows cost, sweeps and what governs them, decoders that generate."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from math import exp, log
from statistics import median

import pytest
import torch
from random_tensors import rng
from torch import Tensor

from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import (
    affine_scan,
    jacobians,
    lyapunov_spectrum,
    parallel_unroll,
    unroll,
)
from fhx.experiments import language_models, music_and_digits, stored
from fhx.experiments.causal import CausalAttention
from fhx.experiments.music_and_digits.tasks import IN_PIECES
from fhx.experiments.protocol import judge
from fhx.stability import truncated_states
from fhx.training import interval

DOUBLE = {"dtype": torch.float64}


@torch.no_grad()
def turned(gain: float, seed: int, units: int = 8) -> SimpleCell:
    """A tanh cell without a bias whose W is a multiple of an orthogonal matrix."""
    generator = rng(seed)
    cell = SimpleCell(1, units, generator=generator, **DOUBLE)
    cell.W[:] = gain * torch.linalg.qr(torch.randn(units, units, generator=generator, **DOUBLE)).Q
    cell.U[:] = torch.randn(units, 1, generator=generator, **DOUBLE) / 2
    cell.b.zero_()
    return cell.requires_grad_(False)


def noise(steps: int, seed: int) -> Tensor:
    return torch.randn(steps, 1, 1, generator=rng(1000 + seed), **DOUBLE)


@torch.no_grad()
def one_unit(weight: float, kind: type = SimpleCell) -> SimpleCell | LinearCell:
    cell = kind(1, 1, **DOUBLE)
    for parameter, value in zip(cell.parameters(), (weight, 1.0, 0.0), strict=True):
        parameter.fill_(value)
    return cell.requires_grad_(False)


# B2: what a window buys


@pytest.mark.claim("B2")
@pytest.mark.parametrize(("T", "k"), [(8, 3), (8, 1), (8, 8), (20, 5)])
def test_b2_windows_take_k_times_the_steps_and_k_of_them_in_a_row(T: int, k: int) -> None:
    calls = Counter()

    def step(h: Tensor, x: Tensor) -> Tensor:
        calls["steps"] += len(h)
        calls["in a row"] += 1
        return h + x

    truncated_states(step, torch.ones(T, 1, 1), k, h0=torch.zeros(1, 1))
    # The first k windows are one run, whose states are shared; a net without state would make each anew.
    shared = k * (k - 1) // 2
    assert calls["steps"] + shared == T * k - k * (k - 1) // 2
    assert calls["in a row"] == (2 * k if k < T else k)  # the run over the first k, and k steps of all windows


@pytest.mark.claim("B2")
@pytest.mark.parametrize("kind", [SimpleCell, LSTMCell, GRUCell])
def test_b2_all_windows_at_once_keep_k_times_more_and_one_window_less(kind: type) -> None:
    def kept(run: Callable[[], Tensor]) -> int:
        held = {}

        def keep(tensor: Tensor) -> Tensor:
            if not tensor.is_leaf:
                held[tensor.untyped_storage().data_ptr()] = tensor
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            _result = run()
        return sum(tensor.untyped_storage().nbytes() for tensor in held.values())

    cell, x, k = kind(1, 6), torch.randn(100, 1, 1, generator=rng(0)), 10
    run = kept(lambda: unroll(cell, x))
    assert 8 * run < kept(lambda: truncated_states(cell, x, k)) < 10 * run
    assert kept(lambda: unroll(cell, x[-k:])) < run / 5


@pytest.mark.claim("B2")
def test_b2_no_gradient_reaches_beyond_the_window_and_within_it_is_a_product_of_fewer_than_k_jacobians() -> None:
    cell, x, k = turned(2.5, 0), noise(30, 0).requires_grad_(), 6
    cut = truncated_states(cell, x, k)
    (g,) = torch.autograd.grad(cut[-1].sum(), x)
    assert torch.equal(g[:, 0, 0] == 0, torch.arange(30) < 30 - k)
    J = jacobians(cell, x[-k:].detach())[:, 0]
    h = cut[-1:, 0].detach().new_ones(1, 8)
    for t in range(k - 1, 0, -1):
        h = h @ J[t]
    first = unroll(cell, x[-k:].detach())[0, 0]
    assert torch.isclose(g[-k, 0, 0], (h[0] * (1 - first**2)) @ cell.U[:, 0])


# E9: sweeps


def sweeps_until(cell: SimpleCell, x: Tensor, eps: float) -> int:
    run, k = unroll(cell, x), 0
    states = torch.zeros_like(run)
    while (states - run).norm(dim=-1).max() > eps:
        before, k = torch.cat([torch.zeros_like(run[:1]), states[:-1]]), k + 1
        states = cell(before[:, 0], x[:, 0])[:, None]
    return k


@pytest.mark.claim("E9")
@pytest.mark.parametrize("gain", [0.5, 0.9, 1.1])
def test_e9_the_exponent_predicts_jacobis_sweeps_also_where_no_rate_does(gain: float) -> None:
    cell, x, eps = turned(gain, 0, units=16), noise(200, 0), 1e-8
    size = unroll(cell, x).norm(dim=-1).max().item()
    predicted = log(size / eps) / -lyapunov_spectrum(cell, x, 1, warmup=20).item()
    assert 0.9 < sweeps_until(cell, x, eps) / predicted < 1.4


@pytest.mark.claim("E9")
@pytest.mark.parametrize("T", [50, 100])
def test_e9_a_latch_has_a_negative_exponent_and_takes_every_jacobi_sweep(T: int) -> None:
    latch, x = one_unit(2.0), torch.zeros(T, 1, 1, **DOUBLE)
    x[0] = 1
    rate = lyapunov_spectrum(latch, x, warmup=10).item()
    assert log(1e10) / -rate < 14
    assert parallel_unroll(latch, x, "jacobi").sweeps == T


@pytest.mark.claim("E9")
@pytest.mark.parametrize(("gain", "seed"), [(2.0, 1), (3.0, 3)])
def test_e9_steep_nets_of_four_units_take_many_newton_sweeps_below_exponent_0(gain: float, seed: int) -> None:
    cell, x = turned(gain, seed, units=4), noise(150, seed)
    assert lyapunov_spectrum(cell, x, 1, warmup=20).item() < -1
    counts = {m: parallel_unroll(cell, x, m, damping=False).sweeps for m in ("jacobi", "newton")}
    assert counts["jacobi"] > 140 > counts["newton"] > 50


@pytest.mark.claim("E9")
@pytest.mark.parametrize("a", [0.5, 1.0, 1.5])
def test_e9_newton_needs_one_sweep_on_an_affine_step_whatever_the_exponent_is(a: float) -> None:
    cell, x = one_unit(a, LinearCell), noise(60, 0)
    newton = parallel_unroll(cell, x, tolerance=1e-4)
    assert (newton.converged, newton.sweeps) == (True, 1)
    assert parallel_unroll(cell, x, "jacobi", tolerance=1e-4).sweeps > 10


@pytest.mark.claim("E9")
@pytest.mark.parametrize("seed", range(3))
def test_e9_each_newton_sweep_squares_the_error_with_the_constant_of_the_theorem(seed: int) -> None:
    w = 0.8
    cell, x = one_unit(w), noise(100, seed)
    run, constant = unroll(cell, x), 2 / 27**0.5 * w**2 / (1 - w)
    errors = [
        (parallel_unroll(cell, x, tolerance=0.0, max_sweeps=n, damping=False).states - run).abs().max().item()
        for n in range(1, 7)
    ]
    assert all(new <= constant * old**2 + 1e-14 for old, new in pairwise(errors))
    assert errors[5] < 1e-13 < errors[2]


@pytest.mark.claim("E9")
def test_e9_newton_beats_jacobi_where_errors_die_out_and_neither_does_in_chaos() -> None:
    calm, wild, x = turned(0.9, 0), turned(3.0, 0, units=16), noise(60, 0)
    counts = {m: parallel_unroll(calm, x, m, damping=False).sweeps for m in ("jacobi", "newton")}
    assert 3 * counts["newton"] < counts["jacobi"]
    assert lyapunov_spectrum(wild, noise(400, 0), 1).item() > 0.05
    assert min(parallel_unroll(wild, x, m, damping=False).sweeps for m in ("jacobi", "newton")) > 40


@pytest.mark.claim("E9")
def test_e9_a_small_residual_is_no_small_error_on_an_unstable_state() -> None:
    latch, x, off = one_unit(2.0), torch.zeros(100, 1, 1, **DOUBLE), torch.full((1, 1), 1e-12, **DOUBLE)
    guess = torch.cat([off[None], unroll(latch, x[1:], off)])
    image = latch(torch.cat([torch.zeros(1, 1, 1, **DOUBLE), guess[:-1]])[:, 0], x[:, 0])
    assert (image - guess[:, 0]).abs().max() <= 1e-12
    assert unroll(latch, x).abs().max() == 0
    assert guess[-1].item() > 0.95


@pytest.mark.claim("E9")
def test_e9_what_newton_solves_is_as_badly_conditioned_as_the_product_of_jacobians_is_large() -> None:
    cell, x, T = turned(3.0, 1, units=4), noise(40, 1), 40
    J, N = jacobians(cell, x)[:, 0], torch.zeros(4 * T, 4 * T, **DOUBLE)
    for t in range(1, T):
        N[4 * t : 4 * t + 4, 4 * t - 4 : 4 * t] = J[t]
    inverse = torch.linalg.inv(torch.eye(4 * T, **DOUBLE) - N)
    product = torch.linalg.multi_dot([*J[1:].flip(0)])
    assert torch.allclose(inverse[-4:, :4], product, rtol=1e-6)
    errors = torch.randn(T, 1, 4, generator=rng(0), **DOUBLE)
    assert torch.allclose((inverse @ errors.flatten()).view(T, 1, 4), affine_scan(J[:, None], errors), rtol=1e-6)


# B17: the Transformer's decoder


@pytest.mark.claim("B17")
def test_b17_a_decoder_reads_the_past_only_and_generates_step_by_step() -> None:
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        net = CausalAttention(3, 4, 8, 3, positions=12, layers=2, heads=2).double()
    x = torch.randn(9, 1, 3, generator=rng(0), **DOUBLE)
    by = torch.autograd.functional.jacobian(lambda x: net(x[:, None])[:, 0], x[:, 0]).abs().sum((1, 3))
    assert torch.equal(by > 0, torch.ones(9, 9).tril().bool())
    with torch.no_grad():  # trained: all outputs at once; generating: x_{t+1} is made of y_t
        assert torch.allclose(net(x)[4], net(x[:5])[-1])
        written = x[:1]
        for _ in range(8):
            written = torch.cat([written, net(written)[-1:]])
        assert torch.allclose(net(written)[:-1], written[1:])


def scores(task: str, net: str) -> list[float]:
    """The test metric a seed of the nets that are judged."""
    found = words() if task == "words" else music_and_digits.judged(stored("music_and_digits"))[task]
    return found[net]["test"]


def words() -> dict[str, dict]:
    """The stored results of nets that read words, by kind."""
    return language_models.by_group(stored("language_models"))["compared"]


@pytest.mark.claim("B17")
@pytest.mark.parametrize(
    ("name", "says", "mean", "between"),
    [
        ("chorales: LSTM is ahead of simple", "holds", 0.39, "0.23 to 0.55"),
        ("chorales: attention is ahead of LSTM", "fails", -0.26, "-0.39 to -0.13"),
        ("chorales: LRU is ahead of LSTM", "fails", -0.11, "-0.22 to -0.00079"),
        ("digits: minGRU is ahead of LSTM", "undecided at this budget", -0.04, "-0.21 to 0.13"),
        ("chorales: TCN is ahead of LSTM", "holds", 0.12, "0.011 to 0.23"),
        ("chorales at own sizes: TCN is ahead of LSTM", "undecided at this budget", 0.21, "0.058 to 0.36"),
        ("chorales: minGRU is ahead of LSTM", "undecided at this budget", 0.09, "-0.015 to 0.19"),
        ("chorales: TCN is ahead of LSTM, dropout throughout", "undecided at this budget", 0.01, "-0.12 to 0.14"),
        ("digits: TCN is ahead of LSTM", "undecided at this budget", 0.03, "-0.077 to 0.14"),
        ("digits: LRU is ahead of LSTM", "undecided at this budget", 0.02, "-0.084 to 0.12"),
        ("digits: RG-LRU is ahead of LSTM", "undecided at this budget", -0.04, "-0.16 to 0.072"),
        ("digits: attention is ahead of LSTM", "undecided at this budget", 0.00, "-0.065 to 0.073"),
        ("piano pieces: LSTM is ahead of simple", "undecided at this budget", 0.16, "-0.088 to 0.4"),
        ("piano pieces: TCN is ahead of LSTM", "fails", -0.18, "-0.31 to -0.054"),
        ("classical music: LSTM is ahead of simple", "holds", 0.18, "0.022 to 0.33"),
        ("words: LSTM is ahead of simple", "holds", 0.32, "0.2 to 0.44"),
        ("words: TCN is ahead of LSTM", "undecided at this budget", -0.28, "-0.4 to -0.15"),
        ("words: minGRU is ahead of LSTM", "undecided at this budget", -0.05, "-0.17 to 0.069"),
        ("folk tunes: LSTM is ahead of simple", "undecided at this budget", -0.01, "-0.3 to 0.27"),
    ],
)
def test_b17_what_is_settled_of_the_rivals(name: str, says: str, mean: float, between: str) -> None:
    run = language_models if name.startswith("words") else music_and_digits
    evidence = run.evidence(stored(run.EXPERIMENT.name))[name]
    verdict, statement = judge(evidence), evidence.statements[0]
    lead = verdict.leads[statement]
    assert verdict[statement] == says
    assert round(lead.mean, 2) == mean
    assert f"{lead.low:.2g} to {lead.high:.2g}" == between


@pytest.mark.claim("B17")
def test_b17_on_words_an_lstm_is_ahead_of_a_linear_recurrence_and_that_of_a_convolution_ahead_of_a_simple_net() -> None:
    order = [scores("words", net) for net in ("LSTM", "minGRU", "TCN", "simple", "frozen")]
    assert all(max(one) < min(other) for one, other in pairwise(order))
    perplexities = [interval([exp(nats) for nats in each]) for each in order]
    assert [round(each.mean) for each in perplexities[:4]] == [129, 136, 170, 178]
    assert all(each.half_width < 2 for each in perplexities[:4])


@pytest.mark.claim("B17")
def test_b17_on_chorales_certified_lstms_are_ahead_of_all_rivals_in_the_mean() -> None:
    certified = max(interval(scores("chorales", net)).mean for net in ("LSTM, F = 0.64", "LSTM, stable"))
    assert certified < min(interval(scores("chorales", net)).mean for net in ("TCN", "minGRU", "RG-LRU", "attention"))
    assert 0.115 < interval(scores("chorales", "LSTM")).mean - interval(scores("chorales", "TCN")).mean < 0.125


@pytest.mark.claim("B17")
def test_b17_the_text_on_nets_of_the_last_frames_of_a_chorale() -> None:
    found = music_and_digits.judged(stored("music_and_digits"))["chorales"]
    means = [f"{interval(found[net]['test']).mean:.2f}" for net in ("LSTM", "window 5", "window 20")]
    assert means == ["8.41", "8.42", "8.95"]
    assert [found[net]["units"] for net in ("window 5", "window 20")] == [173, 63]
    assert round(found["logistic 20"]["parameters"], -3) == 155_000
    best = [median(found[net]["best update"]) for net in ("window 5", "window 20")]
    assert [round(update / 50) * 50 for update in best] == [2300, 450]


@pytest.mark.claim("B17")
def test_b17_on_folk_tunes_a_convolutional_net_is_ahead_in_the_mean_and_that_is_undecided() -> None:
    verdict = judge(music_and_digits.evidence(stored("music_and_digits"))["folk tunes: TCN is ahead of LSTM"])
    (statement,) = verdict.leads
    assert verdict[statement] == "undecided at this budget"
    assert verdict.all_rules_hold
    lead = verdict.leads[statement]
    assert [f"{value:.2f}" for value in (lead.low, lead.mean, lead.high)] == ["-0.07", "0.23", "0.53"]
    means = [interval(scores("folk tunes", net)).mean for net in ("TCN", "LSTM")]
    assert [f"{value:.2f}" for value in means] == ["3.25", "3.48"]


@pytest.mark.claim("B17")
def test_b17_the_text_on_a_convolutional_net_of_piano_pieces() -> None:
    nets = music_and_digits.judged(stored("music_and_digits"))["piano pieces"]
    found = nets["TCN"]
    assert [f"{interval(nets[net]['test']).mean:.2f}" for net in ("TCN", "LSTM")] == ["7.68", "7.50"]
    assert found["receptive field"] == 61
    best, second = sorted((loss, rate) for rate, *_, loss in found["settings"] if loss)[:2]
    assert (best[1], second[1]) == (min(rate for rate, *_ in found["settings"]), 0.001)
    assert second[0] - best[0] < 0.01


@pytest.mark.claim("B17")
def test_b17_a_convolutional_net_of_classical_music_is_behind() -> None:
    run = stored("music_and_digits")
    nets = music_and_digits.judged(run)["classical music"]
    found = music_and_digits.evidence(run)["classical music: TCN is ahead of LSTM"]
    assert judge(found)[found.statements[0]] == "fails"
    lead = found.lead("LSTM", "TCN")
    assert [f"{value:.2f}" for value in (lead.low, lead.mean, lead.high)] == ["0.09", "0.40", "0.70"]
    assert [f"{interval(nets[net]['test']).mean:.2f}" for net in ("TCN", "LSTM")] == ["7.47", "7.07"]
    sums = (nets[net]["items"]["sums"] for net in ("TCN", "LSTM"))
    worse = [one > other for one, other in zip(*sums, strict=True)]
    assert (sum(worse), len(worse)) == (123, 124)
    best = min((loss, dropout) for *_, dropout, loss in nets["TCN"]["settings"] if loss)
    valid = {net: [min(curve) for curve in nets[net]["valid"]] for net in ("TCN", "LSTM")}
    assert (f"{best[0]:.2f}", best[1]) == ("7.35", 0)
    assert best[0] < min(valid["TCN"])
    assert max(valid["LSTM"]) < best[0] - 0.28


@pytest.mark.claim("B17")
def test_b17_logistic_regression_on_twenty_frames_is_far_behind_on_longer_music() -> None:
    found = music_and_digits.judged(stored("music_and_digits"))
    for name in IN_PIECES:
        means = {net: interval(found[name][net]["test"]).mean for net in ("logistic 20", "TCN", "LSTM", "simple")}
        assert means.pop("logistic 20") > max(means.values()) + 0.7


@pytest.mark.claim("B17")
def test_b17_neither_its_field_nor_over_fitting_alone_explains_why_a_convolutional_net_is_behind() -> None:
    found = music_and_digits.judged(stored("music_and_digits"))
    for name in ("classical music", "piano pieces"):
        tcn, lstm = (found[name][net] for net in ("TCN", "LSTM"))
        assert abs(interval([c["50"] - c["all"] for c in lstm["context"]]).mean) < 0.005
        assert all(0 < interval(one["pieces"]).mean - interval(one["test"]).mean < 0.045 for one in (tcn, lstm))
        assert interval(tcn["test"]).mean > interval(found[name]["simple"]["test"]).mean
        assert median(tcn["best update"]) > music_and_digits.BUDGETS[name].updates
    for name, wanted in (("classical music", [0.77, 0.16]), ("chorales", [0.90, 0.18])):
        gaps = [
            interval([min(v) - t for v, t in zip(one["valid"], one["train"], strict=True)]).mean
            for one in (found[name]["TCN"], found[name]["LSTM"])
        ]
        assert [round(gap, 2) for gap in gaps] == wanted
    certified = [interval(found["chorales"][net]["test"]).mean for net in ("LSTM, stable", "LSTM, F = 0.64")]
    assert max(certified) < interval(found["chorales"]["TCN"]["test"]).mean


@pytest.mark.claim("B17")
def test_b17_rivals_on_words_are_as_large_as_an_lstm_and_a_simple_net_is_a_quarter_of_it() -> None:
    nets = words()
    size = {kind: nets[kind]["parameters"] for kind in ("LSTM", "minGRU", "TCN", "simple")}
    layer = sum(p.numel() for p in LSTMCell(128, 128).parameters())
    assert 131_000 < layer < 132_000
    assert size["LSTM"] - size["simple"] == 3 * layer // 4
    assert round(size["minGRU"] - (size["LSTM"] - layer), -3) == 128_000
    assert all(0 <= size["LSTM"] - size[kind] < layer / 30 for kind in ("TCN", "minGRU"))


@pytest.mark.claim("B17")
def test_b17_the_text_on_leads_in_the_mean() -> None:
    mean = {kind: interval(scores("words", kind)).mean for kind in ("LSTM", "minGRU", "TCN")}
    assert round(mean["minGRU"] - mean["LSTM"], 2) == 0.05
    assert round(mean["TCN"] - mean["LSTM"], 2) == 0.28
    lstm = interval(scores("digits", "LSTM")).mean
    ahead = [interval(scores("digits", kind)).mean - lstm for kind in ("TCN", "simple", "logistic 64", "LRU")]
    assert {round(100 * lead) for lead in ahead} == {2, 3}  # in a hundred


@pytest.mark.claim("B18")
def test_b18_the_text_on_words_beyond_the_last_twenty() -> None:
    kinds, nets = ("simple", "LSTM", "minGRU", "TCN"), words()
    seen = {
        kind: {k: interval([c[k] for c in nets[kind]["context"]]).mean for k in ("1", "20", "70", "all")}
        for kind in kinds
    }
    assert all(each["1"] - each["20"] > 0.8 * (each["1"] - each["all"]) for each in seen.values())
    assert [round(seen[kind]["20"] - seen[kind]["all"], 2) for kind in kinds] == [0.03, 0.15, 0.17, 0.02]
    for kind, lead, left in (("LSTM", 0.27, 0.14), ("minGRU", 0.21, 0.06)):
        assert round(seen["TCN"]["all"] - seen[kind]["all"], 2) == lead
        assert round(seen["TCN"]["20"] - seen[kind]["20"], 2) == left


@pytest.mark.claim("B17")
def test_b17_the_text_on_nets_with_more_time() -> None:
    points = [(p["point"], p["result"]) for p in stored("music_and_digits")["points"]]
    (tcn,) = (r for p, r in points if (p["task"], p["net"], p.get("size")) == ("chorales", "TCN", "equal"))
    assert min(tcn["best update"]) == 2600
    (lstm,) = (r for p, r in points if (p["task"], p["net"], p.get("size")) == ("chorales", "LSTM", "equal"))
    bare = [min(mean for _, *restraint, mean in r["settings"] if not any(restraint) and mean) for r in (tcn, lstm)]
    assert round(bare[0] - bare[1], 2) == 0.18
    lstm, *gated = (interval(scores("digits", kind)).mean for kind in ("LSTM", "minGRU", "RG-LRU"))
    assert [round(100 * (lstm - mean)) for mean in gated] == [4, 4]


@pytest.mark.claim("B17")
def test_b17_at_the_size_that_suits_each_the_convolutional_net_stays_ahead_of_one_lstm_only() -> None:
    own = music_and_digits.own_sizes(stored("music_and_digits"))["chorales"]
    assert {kind: size for kind, (size, _) in own.items() if kind not in ("simple", "frozen")} == {
        "LSTM": "equal",
        "LSTM, dropout throughout": "published",
        "TCN": "published",
        **dict.fromkeys(("LRU", "minGRU", "RG-LRU"), "quarter"),
    }
    found = music_and_digits.evidence(stored("music_and_digits"))
    for other, clear in (("LSTM", True), ("LSTM, dropout throughout", False)):
        one = found[f"chorales at own sizes: TCN is ahead of {other}"]
        verdict, statement = judge(one), one.statements[0]
        assert verdict.all_rules_hold
        assert (verdict.leads[statement].low > 0) is clear
        assert verdict[statement] == "undecided at this budget"  # stated when larger nets had been seen


@pytest.mark.claim("B17")
def test_b17_the_text_on_nets_of_other_sizes() -> None:
    by_size = {
        size: {
            p["point"]["net"]: p["result"]
            for p in stored("music_and_digits")["points"]
            if (p["point"]["task"], p["point"].get("size")) == ("chorales", size)
        }
        for size in music_and_digits.SIZES
    }
    means = {size: {of: interval(r["test"]).mean for of, r in found.items()} for size, found in by_size.items()}
    large = {of: round(mean, 2) for of, mean in means["published"].items()}
    assert (large["TCN"], large["LSTM, dropout throughout"], large["LSTM"]) == (8.21, 8.28, 8.42)
    assert means["published"]["TCN"] > music_and_digits.PUBLISHED["chorales"]["TCN"]
    assert by_size["published"]["TCN"]["receptive field"] == 13
    sizes = [round(found["LSTM"]["parameters"], -3) for found in by_size.values()]
    assert sizes == [30_000, 122_000, 268_000]
    for size, of_size in zip(sizes, by_size.values(), strict=True):
        counts = [r["parameters"] for of, r in of_size.items() if of != "frozen" and not of.startswith("logistic")]
        assert 0.93 * size < min(counts) <= max(counts) < 1.03 * size
    assert {median(by_size[size]["LSTM"]["best update"]) for size in ("equal", "published")} == {150}
    assert [f"{of['minGRU']:.2f}" for of in means.values()] == ["8.33", "8.32", "8.30"]
    for of, wanted in (("LRU", ["8.35", "8.52", "8.57"]), ("RG-LRU", ["8.41", "8.42", "8.48"])):
        assert [f"{each[of]:.2f}" for each in means.values()] == wanted
        assert [by_size[size][of]["dropout"] for size in ("quarter", "published")] == [0.5, 0.2]
    sizes = [round(found["minGRU"]["parameters"], -3) for found in by_size.values()]
    assert sizes == [30_000, 121_000, 263_000]
    evidence = music_and_digits.evidence(stored("music_and_digits"))
    for net, other, lead in (
        ("minGRU", "LSTM", 0.08),
        ("minGRU", "LSTM, dropout throughout", -0.05),
        ("LRU", "LSTM", 0.06),
        ("RG-LRU", "LSTM", 0.01),
    ):
        one = evidence[f"chorales at own sizes: {net} is ahead of {other}"]
        verdict, statement = judge(one), one.statements[0]
        assert verdict[statement] == "undecided at this budget"
        assert round(verdict.leads[statement].mean, 2) == lead


@pytest.mark.claim("B17")
def test_b17_digits_are_read_as_well_by_logistic_regression() -> None:
    linear, lstm = (interval(scores("digits", net)) for net in ("logistic 64", "LSTM"))
    assert lstm.high < linear.low


# What a linear recurrence gives up


@pytest.mark.claim("B17", "E9")
def test_a_scan_of_signs_is_parity_and_a_scan_between_0_and_1_settles_on_ones() -> None:
    bits = torch.randint(2, (500, 4, 1), generator=rng(0)).double()
    states = affine_scan(1 - 2 * bits, torch.zeros_like(bits), torch.ones(4, 1, **DOUBLE))
    assert torch.equal(states, 1 - 2 * (bits.cumsum(0) % 2))
    for seed in range(5):
        a = torch.rand(1, 1, 3, generator=rng(seed), **DOUBLE).expand(800, 1, 3)
        h = affine_scan(a, torch.ones_like(a))
        assert (h[-1] - h[-2]).abs().max() < 1e-3 * exp(1)
