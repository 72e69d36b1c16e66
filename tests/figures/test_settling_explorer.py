import math
import re
from itertools import pairwise

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from fhx.cells import SimpleCell
from fhx.dynamics import parallel_unroll
from fhx.figures import Slider, settling_explorer, settling_frame

METHODS, STEPS = ("Jacobi", "Newton", "quasi-Newton"), 24
PATTERN = ((1.5, -3.0), (0.25, -0.5))


@pytest.fixture(scope="module")
def explorer():
    return settling_explorer()


def noise(seed):
    generator = torch.Generator().manual_seed(seed)
    return [0.3 * x for x in torch.randn(STEPS, 1, generator=generator, dtype=torch.float64)[:, 0].tolist()]


def step(gain, h, x):
    sums = (gain * (a * h[0] + b * h[1]) + u * x for (a, b), u in zip(PATTERN, (1, 0.5), strict=True))
    return [math.tanh(value) for value in sums]


def swept(method, gain, guess, inputs):
    """One sweep, number by number."""
    after, change, before = [], [0.0, 0.0], [0.0, 0.0]
    for now, x in zip(guess, inputs, strict=True):
        new = step(gain, before, x)
        if method != "Jacobi":
            slopes = [
                [gain * weight * (1 - value**2) for weight in row] for row, value in zip(PATTERN, new, strict=True)
            ]
            if method == "quasi-Newton":
                slopes[0][1] = slopes[1][0] = 0
            new = [value + row[0] * change[0] + row[1] * change[1] for value, row in zip(new, slopes, strict=True)]
        change, before = [a - b for a, b in zip(new, now, strict=True)], now
        after.append(new)
    return after


@pytest.fixture(scope="module")
def html(explorer):
    return explorer.to_html()


def by_plain_loops(method, gain, sweeps, seed):
    """The true run, and the guesses after 0, 1, ... sweeps."""
    truth, h, inputs = [], [0.0, 0.0], noise(seed)
    for x in inputs:
        h = step(gain, h, x)
        truth.append(h)
    guesses = [[[0.0, 0.0]] * STEPS]
    for _ in range(sweeps):
        guesses.append(swept(method, gain, guesses[-1], inputs))
    return truth, guesses


def apart(some, others):
    return [max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in zip(some, others, strict=True)]


def numbers(powers):
    return [0.0 if power is None else 10**power for power in powers]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("gain", "seed"), [(0.0, 0), (0.5, 0), (0.9, 1), (1.5, 2), (2.5, 0)])
def test_a_frame_is_that_of_plain_loops(method, gain, seed):
    truth, guesses = by_plain_loops(method, gain, STEPS, seed)
    inputs = noise(seed)
    for sweep in (0, 1, 2, 3, 7, 24):
        frame, guess = settling_frame(method, gain, sweep, seed), guesses[sweep]
        assert frame["truth"] == pytest.approx([h[0] for h in truth], abs=0.006)
        seen = [max(-1.1, min(1.1, h[0])) for h in guess]
        assert frame["guess"] == pytest.approx(seen, abs=0.006)
        assert frame["right"].tolist() == [t for t, error in enumerate(apart(guess, truth), 1) if error < 1e-10]
    errors = [max(apart(guess, truth)) for guess in guesses]
    residuals = [
        max(apart([step(gain, h, x) for h, x in zip([[0.0, 0.0], *guess], inputs, strict=False)], guess))
        for guess in guesses
    ]
    assert numbers(frame["errors"]) == pytest.approx(errors, rel=1e-6, abs=1e-12)
    assert numbers(frame["residuals"]) == pytest.approx(residuals, rel=1e-6, abs=1e-12)


def test_a_sweep_adds_a_right_state_at_least_and_all_are_right_at_the_end(explorer):
    for frame in explorer.frames:
        assert frame["right"][: frame["sweep"]] == list(range(1, frame["sweep"] + 1))
    assert {len(frame["right"]) for frame in explorer.frames if frame["sweep"] == STEPS} == {STEPS}


def test_after_jacobi_sweeps_stand_truncated_states():
    for k in (1, 3, 10):
        frame, inputs, expected = settling_frame("Jacobi", 0.9, k), noise(0), []
        for t in range(1, STEPS + 1):
            h = [0.0, 0.0]
            for x in inputs[max(0, t - k) : t]:
                h = step(0.9, h, x)
            expected.append(h[0])
        assert frame["guess"] == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("method", METHODS)
def test_the_package_makes_the_same_sweeps(method):
    cell = SimpleCell(1, 2, generator=torch.Generator(), dtype=torch.float64).requires_grad_(False)
    for weight, value in ((cell.W, PATTERN), (cell.U, ((1.0,), (0.5,))), (cell.b, (0.0, 0.0))):
        weight.copy_(torch.tensor(value, dtype=torch.float64))
    inputs = torch.tensor(noise(0), dtype=torch.float64)[:, None, None]
    cell.W *= 1.5
    for sweep in (1, 4, 9):
        run = parallel_unroll(cell, inputs, method.lower(), tolerance=0.0, max_sweeps=sweep)
        frame = settling_frame(method, 1.5, sweep)
        assert frame["guess"] == pytest.approx(run.states[:, 0, 0].clamp(-1.1, 1.1).tolist(), abs=0.006)
        assert numbers(frame["residuals"][1 : sweep + 1]) == pytest.approx(run.residuals, rel=1e-6, abs=1e-12)


def needed(method, gain):
    return next(k for k in range(STEPS + 1) if len(settling_frame(method, gain, k)["right"]) == STEPS)


def test_newton_needs_few_sweeps_for_small_gains_and_most_of_them_for_chaos():
    assert [needed("Newton", gain) < 5 for gain in (0.5, 0.9, 1.5, 2.5, 4.0)] == [True, True, False, False, False]
    assert needed("Newton", 4.0) > STEPS / 2
    assert needed("Jacobi", 0.2) < STEPS == needed("Jacobi", 0.9)
    assert "Exponent −" in settling_frame("Jacobi", 0.9, 0)["readout"]
    assert "Exponent 0." in settling_frame("Jacobi", 4.0, 0)["readout"]


def test_what_is_said_at_every_point_of_the_grid(explorer):
    assert len(explorer.frames) == 3 * 6 * (STEPS + 1)
    for frame in explorer.frames:
        (count,) = re.findall(r"(\d+) of 24 states right; error ", frame["readout"])
        assert int(count) == len(frame["right"])
        assert f", {frame['sweep']} sweep{'' if frame['sweep'] == 1 else 's'}: " in frame["readout"]
    assert settling_frame("Newton", 0.9, 1)["readout"] == (
        "Newton, 1 sweep: 1 of 24 states right; error 2.5 · 10⁻³, residual 1.7 · 10⁻³. Exponent −0.18."
    )
    assert "error 10¹⁶ or more, residual 10¹⁶ or more" in settling_frame("quasi-Newton", 4.0, 1)["readout"]


def test_the_page_is_small(html):
    assert len(html.encode()) < 150_000


def test_inputs_come_from_the_seed():
    first, same, other = (settling_frame("Jacobi", 0.5, 3, seed)["truth"] for seed in (0, 0, 1))
    assert first == same != other


def dots(page):
    """Place of each dot, and whether it is filled."""
    script = "dots => dots.map((dot) => [+dot.getAttribute('cx'), +dot.getAttribute('cy'), dot.dataset.right])"
    return [(x, y, right == "true") for x, y, right in page.locator("circle[data-right]").evaluate_all(script)]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_nothing_overflows_and_a_dot_stands_for_each_state(site, explorer, html, width, theme):
    page = site.open(html, width=width, scheme=theme)
    page.get_by_role("combobox", name="Method").select_option("Newton")
    page.get_by_role("slider", name="Gain γ").press("End")
    frame = explorer.frame(method="Newton", gain=4.0, sweep=4)
    found = dots(page)
    assert [t for t, dot in enumerate(found, 1) if dot[2]] == frame["right"]
    assert all(a[0] < b[0] for a, b in pairwise(found))
    highs = [dot[1] for dot, h in zip(found, frame["guess"], strict=True) if h == 1.1]
    lows = [dot[1] for dot, h in zip(found, frame["guess"], strict=True) if h == -1.1]
    assert len(set(highs)) == len(set(lows)) == 1
    assert highs[0] < lows[0]
    violations = Axe().run(page).response["violations"]
    assert [rule["id"] for rule in violations if rule["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ends = "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right])"
    ((left, right),) = page.locator(".rx").evaluate_all(ends)
    assert all(left <= a < b <= right for a, b in page.locator("svg[role=img] > text").evaluate_all(ends))


def test_right_dots_lie_on_the_true_run(site, html):
    page = site.open(html)
    page.get_by_role("slider", name="Sweeps").press("End")
    drawn = re.findall(r"[ML]([\d.]+) ([\d.]+)", page.locator("path[data-line=truth]").get_attribute("d"))
    assert [(float(x), float(y), True) for x, y in drawn] == dots(page)
    assert len(drawn) == STEPS


def test_it_goes_by_keyboard_and_says_what_is_seen(site, explorer, html):
    page = site.open(html, width=390)
    assert page.get_by_role("status").text_content() == explorer.frame(method="Jacobi", gain=1.2, sweep=4)["readout"]
    gain, sweep = (page.get_by_role("slider", name=name) for name in ("Gain γ", "Sweeps"))
    assert (gain.get_attribute("aria-valuetext"), sweep.get_attribute("aria-valuetext")) == ("1.2", "4")
    gain.press("End")
    sweep.press("Home")
    page.get_by_role("combobox", name="Method").select_option("Newton")
    assert page.get_by_role("status").text_content() == explorer.frame(method="Newton", gain=4.0, sweep=0)["readout"]
    page.get_by_role("button", name="Sweeps: next").press("Enter")
    assert page.get_by_role("status").text_content() == explorer.frame(method="Newton", gain=4.0, sweep=1)["readout"]
    assert page.locator("line[data-sweep]").get_attribute("data-sweep") == "1"
    assert page.get_by_role("img").get_attribute("aria-label") == explorer.alt


def test_live_goes_off_the_grid():
    panel = settling_explorer().live(Slider("seed", "Seed", min=0, max=20, step=1))
    method, gain, sweep, seed, output = panel.children
    method.value, gain.value, sweep.value, seed.value = "quasi-Newton", 0.66, 11, 3
    page = output.outputs[0]["data"]["text/html"]
    assert settling_frame("quasi-Newton", 0.66, 11, 3)["readout"] in page


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("Gauss", 1.0, 1), "method must be one of 'Jacobi', 'Newton', 'quasi-Newton', got 'Gauss'"),
        (("Newton", -0.1, 1), "gain must lie between 0 and 8, got -0.1"),
        (("Newton", math.nan, 1), "got nan"),
        (("Newton", 1.0, 25), "sweep must lie between 0 and 24, got 25"),
    ],
)
def test_bad_input_is_named(values, words):
    with pytest.raises(ValueError, match=words):
        settling_frame(*values)
