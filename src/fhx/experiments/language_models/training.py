r"""Training a language model pass by pass: each pass is written down, so that whoever is stopped goes on.

Text is read in streams side by side, in windows between which states go on and gradients do not. Adam minimises the
mean loss of a window, its rate falls linearly to zero from the first update to the last, and gradients are clipped.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any

import torch
from attrs import asdict, frozen
from torch import nn

from fhx._files import replacing
from fhx.experiments import real_data as data
from fhx.experiments.forms import RATE
from fhx.experiments.items import Items
from fhx.experiments.kept import file_of
from fhx.experiments.language_models.net import EVERY, WINDOW, LanguageModel
from fhx.experiments.language_models.reading import Reading, losses
from fhx.experiments.seeding import per_seed
from fhx.tasks import Sequences, Task, wikitext2
from fhx.tasks.files import cache_folder

__all__ = ["Setting", "Trained", "by_blocks", "evaluate", "text", "train"]

STREAMS = 20
"""How many streams a text is read in."""
CUTOFFS = (1000, 3000, 8000, 16_000)
"""Of the adaptive softmax; on one core it takes less time with these than with fewer groups."""
BETWEEN = 2
"""How often a net is validated in each pass."""
SETTINGS = {
    "streams": STREAMS,
    "window": WINDOW,
    "cutoffs": CUTOFFS,
    "clip": data.CLIP,
    "contraction rate": RATE,
    "updates between projections": EVERY,
}
"""What all nets have in common."""
BLOCK = 1000
"""Words of one stream that count as one item of a test."""


@frozen
class Setting:
    """What nets of one kind and size differ in.

    Attributes:
        rate: the learning rate at the start.
        dropout, seed: as they are called.
    """

    rate: float
    dropout: float
    seed: int


@frozen
class Trained:
    """A net and how it was trained.

    Attributes:
        net: with the weights of its best validation.
        at: updates after which it was validated, 0 first.
        valid: the mean loss of the validation text there, in nats a word.
        train: the mean loss of the windows between, in nats a word.
        seconds: of one core; of nets trained side by side on a GPU, a part of its time for each.
    """

    net: LanguageModel
    at: list[int]
    valid: list[float]
    train: list[float]
    seconds: float


@cache
def text() -> Task:
    """WikiText-2 with all its words."""
    return wikitext2(None, STREAMS)


def new_net(point: Mapping[str, Any], dropout: float, seed: int) -> LanguageModel:
    """A net of a point before training; its biases say how frequent words and groups of rare ones are."""
    kind, units, layers, words = point["model"], point["units"], point["layers"], text().output_size
    (net,) = per_seed(partial(LanguageModel, kind, words, units, layers, CUTOFFS, dropout), [seed])
    with torch.no_grad():
        net.softmax.head.bias.copy_(data.by_groups(data.prior_of(text()), CUTOFFS))
    return net


def evaluate(net: LanguageModel, part: Sequences, k: int | None = None) -> tuple[float, float]:
    """The mean loss of a text in nats a word, and its standard error over blocks of words.

    The net sees the last k words, or all that came before.
    """
    each = losses(net, part, k)
    return each.double().mean().item(), by_blocks(each).error


def by_blocks(losses: torch.Tensor) -> Items:
    """The mean losses, (steps, streams), of whole blocks of words."""
    blocks = torch.stack([block.double().mean(0) for block in losses.split(BLOCK) if len(block) == BLOCK]).flatten()
    return Items(blocks.tolist(), [1.0] * len(blocks))


def train(point: Mapping[str, Any], setting: Setting, passes: int, kept: Path | None = None) -> Trained:
    """Train a net, or go on where it was left.

    Args:
        point: ``model``, ``layers`` and ``units``; ``read``, how it reads, where that is not "full".
        setting: rate, dropout and seed.
        passes: over the text.
        kept: folder of what was written down after each pass; None for one in the cache.
    """
    told = {**point, **SETTINGS, **asdict(setting), "passes": passes}
    path = (kept or cache_folder() / "language_models") / file_of(told)
    net, part = new_net(point, setting.dropout, setting.seed), text().train
    stepper = torch.optim.Adam(net.parameters(), lr=setting.rate, fused=True)
    each = len(range(0, part.steps, WINDOW))
    state: dict[str, Any] = {"at": [], "valid": [], "train": [], "seconds": 0.0, "pass": 0, "best": None}
    dropping, reading = torch.Generator().manual_seed(setting.seed), Reading.of(point.get("read", "full"))
    if path.exists():
        state = torch.load(path, weights_only=True)
        if state["pass"] < passes:
            net.load_state_dict(state["net"])
            stepper.load_state_dict(state["optimizer"])
            dropping.set_state(state["rng"])
    else:
        _note(net, reading, state, 0, [])
    while state["pass"] < passes:
        began = process_time()
        _read(net, reading, stepper, dropping, state, each, passes * each, setting.rate)
        state["pass"] += 1
        state["seconds"] += process_time() - began
        state |= {"net": net.state_dict(), "optimizer": stepper.state_dict(), "rng": dropping.get_state()}
        if state["pass"] == passes:
            del state["optimizer"], state["net"]
        with replacing(path) as temporary:
            torch.save(state, temporary)
    net.load_state_dict(state["best"])
    return Trained(net, state["at"], state["valid"], state["train"], state["seconds"])


def _read(
    net: LanguageModel,
    reading: Reading,
    stepper: torch.optim.Adam,
    dropping: torch.Generator,
    state: dict[str, Any],
    each: int,
    total: int,
    rate: float,
) -> None:
    """One pass over the text; what happens is noted in ``state``."""
    part, states, seen = text().train, None, []
    notes = {each * k // BETWEEN for k in range(1, BETWEEN + 1)}
    for i in range(each):
        update = state["pass"] * each + i
        stepper.param_groups[0]["lr"] = rate * (1 - update / total)
        loss, states = reading.loss(net, part, i * WINDOW, states, dropping, WINDOW)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), data.CLIP, error_if_nonfinite=True)
        stepper.step()
        stepper.zero_grad()
        seen.append(loss.item())
        noted = i + 1 in notes
        if noted or (update + 1) % EVERY == 0:
            net.constrain()
        if noted:
            _note(net, reading, state, update + 1, seen)
            seen = []


def _note(net: LanguageModel, reading: Reading, state: dict[str, Any], update: int, seen: list[float]) -> None:
    valid = evaluate(net, text().valid, reading.sees)[0]
    if state["best"] is None or valid < min(state["valid"]):
        state["best"] = {name: value.clone() for name, value in net.state_dict().items()}
    state["at"].append(update)
    state["valid"].append(valid)
    if seen:
        state["train"].append(sum(seen) / len(seen))
