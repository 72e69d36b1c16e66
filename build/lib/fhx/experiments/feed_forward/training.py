"""Training the nets of one size, and what they are worth with less context."""

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from fhx.experiments import real_data as data
from fhx.experiments.feed_forward.causal import CausalNet
from fhx.experiments.feed_forward.nets import CausalLanguageModel, language_model, sequence_model
from fhx.experiments.learning_rates import RowAdam
from fhx.experiments.seeding import per_seed
from fhx.tasks import Sequences
from fhx.training import OBJECTIVES, Fit, fit

PIECE = 500
"""Steps of a text that are evaluated at a time."""
NUMBERS = 2**20
"""The size of the inputs of the windows that are run side by side."""


def fitted(
    name: str, kind: str, seeds: Sequence[int], rates: Sequence[float], updates: int, batch_size: int
) -> Fit[CausalNet]:
    """One net per seed trained on music or digits as one batch, each at its own rate, which falls linearly to zero."""
    return fit(
        lambda: sequence_model(name, kind),
        data.task(name),
        seeds=seeds,
        updates=updates,
        batch_size=batch_size,
        learning_rate=lambda update: 1 - (update - 1) / updates,
        clip=data.CLIP,
        evaluate_every=max(1, updates // data.EVALUATIONS),
        optimizer=lambda parameters, lr: RowAdam(parameters, lr, rates),
        progress=False,
    )


def language_models(name: str, kind: str, seeds: Sequence[int]) -> list[CausalLanguageModel]:
    """A new net for words per seed."""
    return per_seed(lambda: language_model(name, kind), seeds)


def train(
    nets: Sequence[CausalLanguageModel],
    batches: Iterable[data.Batch],
    rates: Sequence[float],
    *,
    updates: int,
    clip: float = data.CLIP,
) -> Iterator[int]:
    """Train nets of one kind on the same windows of a text, in place, by Adam; yields the number of each update made.

    What a net carries goes from a window to the next, without its gradient. The rate falls linearly to zero. A net
    whose gradient is not finite is left as it is from then on.

    Args:
        nets: their bodies run as one batch.
        batches: successive windows.
        rates: one per net.
        updates: how many, at most as many as batches.
        clip: bound of the 2-norm of each net's gradient.
    """
    steppers = [torch.optim.Adam(net.parameters(), lr=rate, fused=True) for net, rate in zip(nets, rates, strict=True)]
    alive, past = [True] * len(nets), None
    for update, (inputs, targets, _, fresh) in zip(range(1, updates + 1), batches, strict=False):
        features, past = _side_by_side(nets, inputs, None if fresh else past)
        losses = [net.loss(y, targets).mean() for net, y in zip(nets, features, strict=True)]
        torch.stack(losses).sum().backward()
        for r, (net, stepper) in enumerate(zip(nets, steppers, strict=True)):
            norm = nn.utils.clip_grad_norm_(net.parameters(), clip)
            alive[r] = alive[r] and bool(norm.isfinite())
            if alive[r]:
                stepper.param_groups[0]["lr"] = rates[r] * (1 - (update - 1) / updates)
                stepper.step()
            stepper.zero_grad()
        yield update


class _Piece(nn.Module):
    """A net read from where it stopped, as a module."""

    def __init__(self, body: CausalNet) -> None:
        super().__init__()
        self.body = body

    def forward(self, inputs: Tensor, past: Tensor | None) -> tuple[Tensor, Tensor]:
        return self.body.resume(inputs, past)


def _side_by_side(nets: Sequence[CausalLanguageModel], inputs: Tensor, past: Tensor | None) -> tuple[Tensor, Tensor]:
    """The features of all nets, and what they carry, detached; one row per net."""
    body = _Piece(nets[0].body)
    names = [name for name, _ in nets[0].body.named_parameters()]
    parameters = {f"body.{name}": torch.stack([net.body.get_parameter(name) for net in nets]) for name in names}
    vectors = torch.stack([net.embed(inputs) for net in nets])
    run = vmap(lambda p, x, past: functional_call(body, p, (x, past)), (0, 0, None if past is None else 0))
    features, past = run(parameters, vectors, past)
    return features, past.detach()


def trained(
    name: str,
    kind: str,
    seeds: Sequence[int],
    rates: Sequence[float],
    updates: int,
    evaluations: int = data.EVALUATIONS,
) -> tuple[list[CausalLanguageModel], list[int], list[list[float]]]:
    """Nets for words after training, the updates at which they were evaluated, and the validation curve of each."""
    valid, nets = data.cut(data.task(name).valid, data.SHOWN), language_models(name, kind, seeds)
    at, curves = [0], [[evaluate(net, valid)] for net in nets]
    every = max(1, updates // evaluations)
    for update in train(nets, data.windows(name), rates, updates=updates):
        if update % every == 0 or update == updates:
            at.append(update)
            for net, curve in zip(nets, curves, strict=True):
                curve.append(evaluate(net, valid))
    return nets, at, curves


@torch.no_grad()
def evaluate(net: CausalLanguageModel, part: Sequences) -> float:
    """Nats per word of a text from its start, read in pieces between which the net carries what it knows."""
    total, past = 0.0, None
    for piece in part.windows(PIECE):
        features, past = net.body.resume(net.embed(piece.inputs), past)
        total += net.loss(features, piece.targets).sum().item()
    return total / part.targets.numel()


@torch.no_grad()
def with_context(net: CausalNet, inputs: Tensor, k: int) -> Tensor:
    """The outputs of a net that at each step sees the last k inputs only, as if the sequence had started with them."""
    if net.receptive_field is not None and k >= net.receptive_field and net.longest is None:
        return net(inputs)  # it sees no more than that anyway
    first, later = net(inputs[:k]), len(inputs) - k
    block = max(1, NUMBERS // (k * inputs[0].numel()))
    outputs = [first]
    for first_window in range(1, later + 1, block):
        count = min(block, later + 1 - first_window)
        windows = torch.cat([inputs[i : i + k] for i in range(first_window, first_window + count)], 1)
        outputs.append(net(windows)[-1].unflatten(0, (count, -1)))
    return torch.cat(outputs)


@torch.no_grad()
def context_curve(net: CausalNet, name: str, part: Sequences, ks: Sequence[int]) -> dict[str, float]:
    """The metric of a net for music or digits that sees the last k inputs only, by k; ``"all"``: of the net as it is.

    Of digits it reads the last k pixels.
    """
    metric, each = OBJECTIVES[data.task(name).kind].metric, {**{str(k): k for k in ks}, "all": part.steps}
    if part.targets.ndim == 1:
        return {k: metric(net(part.inputs[-steps:])[-1], part.targets).mean().item() for k, steps in each.items()}
    outputs = {k: net(part.inputs) if k == "all" else with_context(net, part.inputs, each[k]) for k in each}
    return {k: metric(y, part.targets)[part.mask].mean().item() for k, y in outputs.items()}


@torch.no_grad()
def context_curve_of_words(net: CausalLanguageModel, part: Sequences, ks: Sequence[int]) -> dict[str, float]:
    """The nats per word of a net that sees the last k words only, by k; ``"all"``: of the net as it is."""
    vectors = net.embed(part.inputs)
    features = {str(k): with_context(net.body, vectors, k) for k in ks} | {"all": net.body(vectors)}
    return {k: net.loss(y, part.targets).mean().item() for k, y in features.items()}
