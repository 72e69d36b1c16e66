"""Learning chaos: what forces a run, what a horizon is, exponents of learned nets, and what is stored."""

from math import log

import pytest
import torch

from fhx.dynamics import lyapunov_spectrum
from fhx.experiments import chaos, stored
from fhx.experiments.chaos import ALPHA, EXPONENT, KINDS, TAU, evidence, exponents, horizons, start, step, unrolled
from fhx.experiments.protocol import judge


@pytest.fixture(autouse=True)
def _in_double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def seen(steps=40, nets=2, batch=3):
    return torch.randn(steps + 1, nets, batch, 3, generator=torch.Generator().manual_seed(0))


def by_hand(net, x, kind):
    z, found = x[0], []
    for t in range(1, len(x)):
        z = step(net, z)
        found.append(z)
        z = {
            "free": z,
            "sparse": x[t] if t % TAU == 0 else z,
            "mixed": (1 - ALPHA) * z + ALPHA * x[t],
            "every step": x[t],
        }[kind]
    return torch.stack(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_forced_as_its_kind_says(kind):
    net, x = start([0, 1]), seen()
    torch.testing.assert_close(unrolled(net, x, kind), by_hand(net, x, kind))


@pytest.mark.parametrize(("kind", "reach"), [("free", 40), ("sparse", 40 % TAU), ("mixed", 40), ("every step", 1)])
def test_a_gradient_goes_back_to_the_last_forcing(kind, reach):
    """The last state depends on the value seen before the last forcing, and on none before that one."""
    net, x = start([0]), seen(nets=1).requires_grad_()
    (slopes,) = torch.autograd.grad(unrolled(net, x, kind)[-1].sum(), x)
    felt = slopes.abs().sum((1, 2, 3)) > 0
    wanted = torch.zeros(41, dtype=torch.bool)
    wanted[40 - reach : 40] = kind == "mixed"
    wanted[40 - reach] = True
    assert torch.equal(felt, wanted)


def test_a_horizon_ends_where_the_run_is_off_first():
    x = torch.zeros(6, 3, 3)
    found = x.clone()
    found[2, 1], found[4, 2, 0], found[5, 2] = 0.6, 0.8, 0.51  # 0.8 in one of three is 0.46 in the mean
    assert horizons(found, x).tolist() == pytest.approx([6 * EXPONENT, 2 * EXPONENT, 5 * EXPONENT])
    assert horizons(torch.full_like(x, torch.nan), x).tolist() == [0, 0, 0]


def test_exponents_are_those_of_the_package():
    nets, x = start([0, 1, 2]), seen(steps=0, nets=3)[0]
    nets[0] = 30 * nets[0]  # no longer near the identity
    found = exponents(nets, x, 50, 400)
    for i in range(3):
        one = [p[i : i + 1] for p in nets]
        rates = lyapunov_spectrum(
            lambda h, _, one=one: step(one, h[None])[0], torch.zeros(400, 3, 1), k=1, h0=x[i], warmup=50
        )
        assert found[i].item() == pytest.approx(rates.mean().item(), abs=1e-2)


def test_every_kind_trains(monkeypatch):
    torch.set_default_dtype(torch.float32)
    for name, value in (("UPDATES", 4), ("EVALUATIONS", 2), ("SEEDS", range(2)), ("SIZES", (16, 2, 2))):
        monkeypatch.setattr(chaos, name, value)
    monkeypatch.setattr(chaos, "WINDOW", 20)
    for kind in KINDS:
        result = chaos.run({"kind": kind})
        assert result["at"] == [0, 2, 4]
        assert len(result["tried"]) == len(chaos.RATES) * len(chaos.DECAYS)
        assert [len(row) for row in result["valid"] + result["gradient"]] == [3, 3, 2, 2]


def test_the_rules_of_forcing_come_from_the_measured_system():
    (plain,) = (p["result"] for p in stored("chaos")["points"] if p["point"]["kind"] == "beside")
    assert plain["exponent"] == pytest.approx(EXPONENT, rel=0.02)
    assert round(log(2) / plain["exponent"]) == TAU
    assert -log(1 - ALPHA) == pytest.approx(plain["stretch"], rel=0.02)


def test_what_is_stored_is_judged():
    verdict = judge(evidence(stored("chaos"))["lorenz"])
    assert len(verdict.leads) == len(chaos.STATEMENTS)
    assert {"control", "baseline", "seeds", "multiplicity"}.isdisjoint(verdict.reasons)
