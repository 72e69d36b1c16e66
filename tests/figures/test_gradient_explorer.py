import math
from itertools import pairwise

import pytest
import torch

from fhx.figures import gradient_explorer, gradient_frame


@pytest.fixture(scope="module")
def explorer():
    return gradient_explorer()


def by_autograd(gain, steps, seed=0):
    """The same net and inputs by a plain loop, and the gradients by autograd."""
    g = torch.Generator().manual_seed(seed)
    bound = 64**-0.5
    for shape in ((64, 64), (64, 64), (64,)):  # the cell's own first weights
        torch.empty(shape, dtype=torch.float64).uniform_(-bound, bound, generator=g)
    W = torch.randn(64, 64, generator=g, dtype=torch.float64) * gain / 8
    torch.randn(64, generator=g, dtype=torch.float64)  # biases of standard deviation zero
    U = 0.3 / 8 * torch.randn(64, 64, generator=g, dtype=torch.float64)
    x = torch.randn(120, 300, 64, generator=g, dtype=torch.float64)
    end = torch.randn(64, generator=g, dtype=torch.float64)
    end = end / end.norm()
    h, kept = torch.zeros(300, 64, dtype=torch.float64), None
    for t in range(120):
        h = torch.tanh(h @ W.T + x[t] @ U.T)
        if t == 119 - steps:
            h = kept = h.detach().requires_grad_()
    (gradient,) = torch.autograd.grad((h @ end).sum(), kept)
    return W, gradient.norm(dim=1).log10()


@pytest.mark.parametrize(("gain", "steps"), [(1.0, 1), (1.3, 20), (2.0, 100)])
def test_the_bars_count_gradients_of_autograd_and_the_marks_are_norm_and_radius(gain, steps):
    frame = gradient_frame(gain, steps)
    W, logs = by_autograd(gain, steps)
    bars = frame["bars"]
    edges = [bars["from"] + i * bars["width"] for i in range(len(bars["counts"]) + 1)]
    counts = [int(((logs >= a) & (logs < b)).sum()) for a, b in pairwise(edges)]
    assert bars["counts"].tolist() == counts
    assert sum(counts) == 300
    at = {mark["label"]: mark["at"] for mark in frame["marks"]}
    assert at["norm"] == pytest.approx(steps * math.log10(torch.linalg.svdvals(W).max()))
    assert at["radius"] == pytest.approx(steps * math.log10(torch.linalg.eigvals(W).abs().max()))


def test_the_exponent_is_nearest_at_every_gain_above_one(explorer):
    for gain in (1.2, 1.5, 2.0, 3.0):
        frame = gradient_frame(gain, 100)
        bars, at = frame["bars"], {mark["label"]: mark["at"] for mark in frame["marks"]}
        weights = bars["counts"].double()
        centers = bars["from"] + bars["width"] * (torch.arange(len(weights)) + 0.5)
        mean = float((weights * centers).sum() / weights.sum())
        off = {label: abs(x - mean) for label, x in at.items()}
        assert min(off, key=off.get) == "exponent"


def test_every_frame_has_all_sequences_and_its_marks_in_the_picture(explorer):
    for frame in explorer.frames:
        low, high = frame["xlim"]
        assert sum(frame["bars"]["counts"]) == 300
        assert all(low < mark["at"] < high for mark in frame["marks"])
    assert len(explorer.to_html()) < 60_000


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_draws_bars_marks_and_words(site, explorer, width):
    page = site.open(explorer.to_html(), width=width)
    assert page.locator("[data-mark]").count() == 3
    before = page.locator("[data-count]").count()
    assert before == len(explorer.frame(gain=1.0, steps=50)["bars"]["counts"])
    page.get_by_role("button", name="Steps back: next").click()
    assert page.get_by_role("status").text_content() == explorer.frame(gain=1.0, steps=100)["readout"]
    page.get_by_role("slider", name="Gain").press("End")
    assert page.get_by_role("status").text_content() == explorer.frame(gain=3.0, steps=100)["readout"]
    inside = """() => {
      const box = document.querySelector('.rx-view svg').getBoundingClientRect();
      return [...document.querySelectorAll('.rx-view text')].every((text) => {
        const word = text.getBoundingClientRect();
        return word.left >= box.left - 1 && word.right <= box.right + 1;
      });
    }"""
    assert page.evaluate(inside)


@pytest.mark.parametrize(
    ("gain", "steps", "words"),
    [(0.0, 1, "gain must be"), (math.nan, 1, "got nan"), (1.0, 0, "between 1 and 100"), (1.0, 101, "got 101")],
)
def test_bad_input_is_named(gain, steps, words):
    with pytest.raises(ValueError, match=words):
        gradient_frame(gain, steps)
