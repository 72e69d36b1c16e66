"""Imitated systems: the stored errors, and a point run again."""

from math import expm1
from pathlib import Path
from statistics import geometric_mean, median

import pytest
import torch

from fhx.dynamics import unroll
from fhx.experiments import imitation
from fhx.experiments.results import read

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def results():
    entries = read(RESULTS / "imitation.json")["points"]
    return {(entry["point"]["system"], entry["point"]["units"]): entry["result"] for entry in entries}


@pytest.mark.parametrize("name", imitation.SYSTEMS)
def test_runs_stay_in_the_box(name):
    system = imitation.SYSTEMS[name]
    h0, inputs, states = imitation.true_run(system, 50, 8, seed=3)
    assert system.states.contains(torch.cat([h0[None], states])).all()
    if system.inputs is not None:
        assert system.inputs.contains(inputs).all()
        assert inputs.unique().numel() > 8
    assert torch.equal(unroll(system.step, inputs, h0), states)
    assert states[:, 0].sub(states[:, 1]).norm(dim=-1).max() > 1e-6


def test_exponents_agree_with_the_maps_determinants(results):
    """The Lozi map's exponents sum to ln 0.5, so that the top one is above its half; the pendulum's is below 0."""
    assert results["lozi", 8]["exponent"] > 0.3
    assert results["pendulum", 8]["exponent"] < 0
    assert results["lorenz", 8]["exponent"] == pytest.approx(0.906 * imitation.DT, abs=0.004)


@pytest.mark.parametrize("name", ["pendulum", "lorenz", "bent"])
def test_more_units_come_nearer(results, name):
    errors = [geometric_mean(results[name, units]["rms"]) for units in imitation.UNITS]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 10


def test_a_straight_kink_costs_few_units(results):
    assert max(results["lozi", 8]["rms"]) < 1e-3 < min(results["bent", 8]["rms"])


def test_derivatives_come_nearer_in_the_mean_and_not_at_a_bent_kink(results):
    few, many = results["bent", 8], results["bent", 128]
    assert max(many["derivative rms"]) < min(few["derivative rms"])
    assert min(many["derivative sup"]) > 1


def test_where_nearby_runs_meet_the_error_stays_small(results):
    for units in imitation.UNITS[1:]:
        assert results["pendulum", units]["passed"] == [None] * len(imitation.SEEDS)


@pytest.mark.parametrize("name", ["lorenz", "lozi", "bent"])
def test_prediction_follows_its_formula(results, name):
    for units in imitation.UNITS:
        result = results[name, units]
        threshold, rate = imitation.SYSTEMS[name].threshold, result["exponent"]
        for eps, steps in zip(result["rms of the run"], result["predicted"], strict=True):
            summed = eps * expm1(rate * steps) / expm1(rate)
            assert summed == pytest.approx(threshold, rel=1e-3)


def test_a_nearer_imitation_lasts_longer(results):
    for name in ("lorenz", "bent"):
        times = [median(results[name, units]["passed"]) for units in imitation.UNITS]
        assert times == sorted(times)
        assert times[-1] > times[0]


def test_a_point_is_run_again(results):
    result, before = imitation.run({"system": "bent", "units": 8}), results["bent", 8]
    assert result.keys() == before.keys()
    assert result["exponent"] == pytest.approx(before["exponent"], abs=0.01)
    assert geometric_mean(result["rms"]) == pytest.approx(geometric_mean(before["rms"]), rel=0.5)
    assert all(len(result[key]) == len(imitation.SEEDS) for key in ("sup", "errors", "passed", "predicted"))
    assert [len(errors) for errors in result["errors"]] == [len(imitation.TIMES)] * len(imitation.SEEDS)
