"""Training several nets of one kind in step; on a GPU an update of all of them is one graph of kernels."""

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from fhx.experiments import real_data as data
from fhx.experiments.language_models.net import EVERY, WINDOW
from fhx.experiments.language_models.reading import Reading
from fhx.experiments.language_models.side_by_side.kept import Keeper, Map
from fhx.experiments.language_models.side_by_side.nets import Nets
from fhx.experiments.language_models.side_by_side.reader import Reader
from fhx.experiments.language_models.side_by_side.windows import Windows
from fhx.experiments.language_models.training import BETWEEN, Setting, Trained, new_net, text

__all__ = ["train_together"]

ADAM: dict[str, Any] = {
    "beta1": 0.9,
    "beta2": 0.999,
    "weight_decay": 0.0,
    "eps": 1e-8,
    "amsgrad": False,
    "maximize": False,
}
"""As torch has it."""


def train_together(
    point: Mapping[str, Any], settings: Sequence[Setting], passes: int, device: torch.device
) -> list[Trained]:
    """What ``train`` does for each of the settings, all at once; the numbers that are dropped are others.

    The validation of nets that see the last k words leaves out the first k - 1 of each stream, which have fewer behind
    them. Nothing is written down, since on a GPU ten passes of a kind take minutes.

    Args:
        point: ``model``, ``layers`` and ``units``; ``read``, how the nets read, where that is not "full".
        settings: of each net.
        passes: over the text.
        device: where the nets are trained.
    """
    began = perf_counter()
    made = [new_net(point, s.dropout, s.seed) for s in settings]
    certified = made[0].form is not None and made[0].form.certified is not None
    if certified and device.type != "cpu":
        processes, context = min(len(made), os.cpu_count() or 1), multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, context, torch.set_num_threads, (1,)) as pool:
            training = _Training(Nets(made, device, settings[0].seed), point, settings, passes, pool.map)
            training.run()
    else:
        training = _Training(Nets(made, device, settings[0].seed), point, settings, passes, map)
        training.run()
    for k, net in enumerate(made):
        net.load_state_dict({name: w[k].cpu() for name, w in training.best.items()})
    at = [training.each * i // BETWEEN for i in range(BETWEEN * passes + 1)]
    train = torch.stack(training.train).cpu() / torch.tensor(at).diff()[:, None]
    valid, seconds = torch.stack(training.valid).cpu(), (perf_counter() - began) / len(made)
    return [Trained(net, at, valid[:, k].tolist(), train[:, k].tolist(), seconds) for k, net in enumerate(made)]


class _Training:
    """Weights, what Adam knows of them, and the work of an update and of a validation, without waiting for a device."""

    def __init__(
        self, nets: Nets, point: Mapping[str, Any], settings: Sequence[Setting], passes: int, mapped: Map
    ) -> None:
        self.nets, self.passes, device = nets, passes, nets.device
        reading = Reading.of(point.get("read", "full"))
        shown = Reading("truncated", reading.sees) if reading.sees else Reading()
        parts = [
            Windows.of(part, WINDOW, nets.cutoffs, device, unseen=how.k - 1 if how.how == "truncated" else 0)
            for part, how in ((text().train, reading), (text().valid, shown))
        ]
        self.reader, self.judge = Reader(nets, parts[0], reading, trained=True), Reader(nets, parts[1], shown)
        self.weights = {name: w.clone() for name, w in nets.start.items()}
        names = [name for name, p in nets.template.named_parameters() if p.requires_grad]
        self.learnt = [self.weights[name].requires_grad_() for name in names]
        self.moments = [[torch.zeros_like(w) for w in self.learnt] for _ in range(2)]
        single: dict[str, Any] = {"dtype": torch.float32, "device": device}  # for torch's Adam, whatever weights are
        self.counts = [[torch.zeros((), **single) for _ in self.learnt] for _ in settings]
        self.rates = torch.tensor([s.rate for s in settings], **single)
        self.keeper = Keeper(nets.template, self.weights, mapped)
        self.best = {name: w.detach().clone() for name, w in self.weights.items()}
        self.each = len(parts[0])
        self.update, self.window, self.place = (torch.zeros(1, dtype=torch.long, device=device) for _ in range(3))
        self.seen, self.lowest = (torch.full((len(settings),), x, device=device) for x in (0.0, torch.inf))
        self.sums = torch.zeros(len(settings), dtype=torch.float64, device=device)
        self.train: list[Tensor] = []
        self.valid: list[Tensor] = []
        self.graphs: dict[str, Any] = {}

    def run(self) -> None:
        """All passes."""
        stream = torch.cuda.Stream() if self.nets.device.type == "cuda" else None
        if stream is None:
            self._run()
            return
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # a graph is made on another stream than the first
            self._run()
        stream.synchronize()

    def _run(self) -> None:
        notes, done = {self.each * k // BETWEEN for k in range(1, BETWEEN + 1)}, 0
        self._note()
        for _ in range(self.passes):
            self.window.zero_()
            for i in range(self.each):
                self._do("update", self._step, self.reader, i)
                done += 1
                if i + 1 in notes or done % EVERY == 0:
                    self.keeper.keep()
                if i + 1 in notes:
                    self.train.append(self.seen.clone())
                    self.seen.zero_()
                    self._note()

    def _do(self, name: str, work: Callable[[bool], None], reader: Reader, window: int) -> None:
        """The work on a window; on a GPU, from the third on, as one graph of kernels."""
        if self.nets.device.type != "cuda" or window < 2 or not reader.fixed:
            work(window == 0)
            return
        if name not in self.graphs:
            graph = torch.cuda.CUDAGraph()
            graph.register_generator_state(self.nets.dropping)
            graph.capture_begin(capture_error_mode="thread_local")
            work(False)
            graph.capture_end()
            self.graphs[name] = graph
        self.graphs[name].replay()

    def _step(self, start: bool) -> None:
        counts = self.reader.part.counts.index_select(0, self.window)[0]
        means = self.reader.losses(self.weights, self.window, start).sum(1) / counts.sum()
        found = [g.contiguous() for g in torch.autograd.grad(means.sum(), self.learnt)]
        with torch.no_grad():
            norms = torch.stack([torch.linalg.vector_norm(g.flatten(1), dim=1) for g in found]).norm(dim=0)
            scales = (1 / (data.CLIP / (norms + 1e-6)).clamp(max=1.0)).float()
            rates = self.rates * (1 - self.update / (self.passes * self.each))
            for k, taken in enumerate(self.counts):
                torch._foreach_add_(taken, 1)
                w, g, m, v = ([x[k] for x in xs] for xs in (self.learnt, found, *self.moments))
                torch._fused_adam_(w, g, m, v, [], taken, lr=rates[k], grad_scale=scales[k], **ADAM)
            self.seen += means.detach()
            self.update += 1
            self.window += 1

    @torch.no_grad()
    def _judge(self, start: bool) -> None:
        self.sums += self.judge.losses(self.weights, self.place, start).double().sum(1)
        self.place += 1

    @torch.no_grad()
    def _note(self) -> None:
        self.place.zero_()
        self.sums.zero_()
        for i in range(len(self.judge.part)):
            self._do("validation", self._judge, self.judge, i)
        valid = (self.sums / self.judge.part.counts.sum()).float().nan_to_num(nan=torch.inf)
        better = valid < self.lowest
        self.lowest = torch.where(better, valid, self.lowest)
        for name, best in self.best.items():
            best.copy_(torch.where(better.view(-1, *[1] * (best.ndim - 1)), self.weights[name], best))
        self.valid.append(valid)
