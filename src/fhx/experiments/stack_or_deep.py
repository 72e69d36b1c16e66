r"""Whether a stack of simple layers and a deep cell differ on teachers: many of them, each with sequences of its own.

The problems are teacher recurrences (:func:`fhx.tasks.teacher_recurrence`) whose step has 1 or 2 layers. A seed
stands for a teacher, its sequences and the start of the student, so an interval over seeds is over all three, and
seeds share no test items. All kinds meet the same teachers. Students are those of :mod:`fhx.experiments.words`, of
equal size and trained by :func:`fhx.experiments.comparison.compare`, on sequences of 16 steps:

* "simple", one tanh layer; "deep", a step of two; "stack", two simple layers, both of which read the input and are
  read out; "gated", an LSTM whose gates start open for 64 steps;
* "frozen", the deep cell as it starts, with a trained readout: the control;
* "window", an affine readout of all 16 inputs. A constant has the error 1.

The nets of all seeds are one batch, though each has its own teacher: see :class:`OwnSequences`.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import torch
from attrs import evolve
from jaxtyping import Float, Integer
from torch import Tensor, nn

from fhx.cells.function import as_cell
from fhx.dynamics import Realization
from fhx.experiments import words
from fhx.experiments.comparison import Budget, compare, kind
from fhx.experiments.delay_line import Window
from fhx.experiments.equal_size import most_units
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.protocol import Ahead, Evidence
from fhx.tasks import Sequences, Task, teacher, teacher_recurrence
from fhx.training import evaluate

__all__ = [
    "BANDS",
    "BUDGET",
    "DEPTHS",
    "EXPERIMENT",
    "GAIN",
    "KINDS",
    "SIZES",
    "STATEMENTS",
    "OwnSequences",
    "evidence",
    "linear_part",
    "make",
    "numbered",
    "run",
    "task",
    "units_for",
]

KINDS = ("simple", "deep", "stack", "gated", "frozen", "window")
"""The nets that are trained."""
DEPTHS = (1, 2)
"""Layers of a teacher's step."""
SIZES = (64,)
"""Sequences to train on; of several sizes a smaller set would be the first part of a larger one."""
STEPS, TEST_STEPS, BANDS = words.STEPS, words.TEST_STEPS, words.BANDS
"""Of the sequences to train on and of those to test on, and steps of the latter from the first to before the last."""
EVALUATED = (256, 256)
"""Sequences to validate with and to test on."""
PARAMETERS = 1000
"""Of a net, at most."""
LAGS, RUNS = 20, 2000
"""Steps back over which the linear part of an error is measured, and in how many runs."""
DRAWS = 1000
"""A net's teacher is drawn by the remainder of its seed by this number, so that all settings meet the same teachers."""
GAIN = 0.01
"""What the last tenth of the updates may take from the error of a net that counts as settled; a constant has 1."""
BUDGET = Budget(
    rates=(0.001, 0.003, 0.01, 0.03, 0.1),
    decays=(0.0, 0.1),
    seeds=range(16),
    others=range(100, 105),
    updates=3000,
    batch_size=16,
    evaluations=40,
)
"""How all of them are trained. A first run, of 1,600 updates and with two teachers to choose the setting by, was given
up half-way: its curves were not flat, and two teachers chose badly."""
STATEMENTS = (Ahead("deep", "stack"), Ahead("deep", "simple"), Ahead("stack", "simple"), Ahead("gated", "deep"))
"""What is judged for each depth of the teachers and number of sequences, on the trained length."""


@cache
def task(depth: int, draw: int) -> Task:
    """A teacher with its sequences; those of the test are four times as long."""
    return teacher_recurrence(depth, STEPS, sizes=(max(SIZES), *EVALUATED), seed=draw, test_steps=TEST_STEPS)


class OwnSequences(nn.Module):
    """A net with sequences of its own, which it is asked for by number and answers with its errors.

    So nets of one batch can have different teachers: to all of them the task is to answer 0.

    Args:
        net: from inputs to outputs.
        inputs, targets: of all its sequences.
    """

    inputs: Tensor
    targets: Tensor

    def __init__(
        self, net: nn.Module, inputs: Float[Tensor, "time sequences d_in"], targets: Float[Tensor, "time sequences d"]
    ) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("inputs", inputs)
        self.register_buffer("targets", targets)

    def forward(
        self, numbers: Integer[Tensor, "time batch"], lengths: Integer[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "time batch d"]:
        """Outputs minus targets for the sequences whose numbers stand in ``numbers``, the same at every step."""
        steps, some = len(numbers), numbers[0]
        return self.net(self.inputs[:steps, some]) - self.targets[:steps, some]


def numbered(problem: Task, size: int) -> Task:
    """The task of nets with sequences of their own: their numbers for inputs, of which the first are trained on."""

    def part(start: int, many: int, steps: int) -> Sequences:
        ids = torch.arange(start, start + many).expand(steps, many)
        return Sequences(ids, torch.zeros(steps, many, problem.output_size))

    sets = (problem.train.take(slice(size)), problem.valid, problem.test)
    starts = (0, len(problem.train), len(problem.train) + len(problem.valid))
    parts = [part(start, len(s), s.steps) for start, s in zip(starts, sets, strict=True)]
    many = sum(map(len, (problem.train, problem.valid, problem.test)))
    return evolve(problem, input_size=many, train=parts[0], valid=parts[1], test=parts[2])


def student(name: str, problem: Task, units: int) -> nn.Module:
    """A new net of a kind with so many units in every layer."""
    if name == "window":
        return Window(problem.input_size, problem.output_size, STEPS)
    return words.make(name, problem, units)


def units_for(name: str, depth: int) -> int:
    """The most units of every layer with at most 1,000 parameters."""
    problem = task(depth, 0)

    def size(units: int) -> int:
        return sum(p.numel() for p in student(name, problem, units).parameters())

    return 0 if name == "window" else most_units(size, PARAMETERS)


def make(name: str, depth: int, units: int) -> OwnSequences:
    """A new net of a kind with the teacher, drawn by torch's seed, that it is to imitate.

    The states of a frozen cell do not change, so they are computed once and are its inputs.
    """
    problem = task(depth, torch.initial_seed() % DRAWS)
    parts = (problem.train, problem.valid, problem.test)

    def together(name: str) -> Tensor:
        values = [getattr(part, name) for part in parts]
        return torch.cat([nn.functional.pad(v, (0, 0, 0, 0, 0, TEST_STEPS - len(v))) for v in values], 1)

    net, inputs = student(name, problem, units), together("inputs")
    if name == "frozen" and isinstance(net, Realization) and isinstance(net.readout, nn.Module):
        with torch.no_grad():
            inputs = as_cell(net.cell).hidden(net.states(inputs))
        net = net.readout
    return OwnSequences(net, inputs, together("targets"))


@torch.no_grad()
def linear_part(net: Callable[[Tensor], Tensor], depth: int, draw: int) -> tuple[float, float]:
    r"""The mean squared error of a student on steps 21 to 40 of new runs, and how much of it is linear in the inputs.

    With the error :math:`e_t` and independent inputs of mean 0 and variance 1 that is
    :math:`\sum_{s < 20} \lVert \mathbb{E}[e_t x_{t-s}] \rVert^2`.
    """
    generator, master = torch.Generator().manual_seed(DRAWS + draw), teacher(depth, seed=draw)
    spread, mean = torch.std_mean(master(task(depth, draw).train.inputs.double()), correction=0)
    x = torch.randn(2 * LAGS, RUNS, 2, generator=generator)
    off = (net(x) - (master(x.double()) - mean) / spread)[LAGS:].float()
    kernel = [torch.einsum("tbo,tbi->i", off, x[LAGS - s : 2 * LAGS - s]) / off.numel() for s in range(LAGS)]
    return off.square().mean().item(), torch.stack(kernel).square().sum().item()


def run(point: Point) -> Result:
    """Train the students of one kind, each on a teacher of its own.

    Returns:
        That of :func:`~fhx.experiments.comparison.compare`, whose ``test`` is over all 64 steps; ``bands``, by band the
        test error of each seed; ``train error``, that of the kept net on all it was trained on; ``late error`` and
        ``linear part`` of it, as :func:`linear_part` says, None for frozen nets; ``units``.
    """
    name, depth = point["kind"], point["depth"]
    units, problem = units_for(name, depth), numbered(task(depth, 0), point["size"])
    trained, result = compare(partial(make, name, depth, units), problem, BUDGET)
    with torch.no_grad():
        off = [net(problem.test.inputs).square().mean((1, 2)) for net in trained.models]
    bands = {band: [steps[start:end].mean().item() for steps in off] for band, (start, end) in BANDS.items()}
    fitted = [evaluate(net, problem, "train") for net in trained.models]
    late, linear = None, None
    if name != "frozen":
        parts = [linear_part(net.net, depth, draw) for net, draw in zip(trained.models, BUDGET.seeds, strict=True)]
        late, linear = map(list, zip(*parts, strict=True))
    return {**result, "bands": bands, "train error": fitted, "late error": late, "linear part": linear, "units": units}


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored students say of each statement, by depth of the teachers and number of sequences.

    All statements share a level. A seed has test sequences of its own, so what they add is in the interval.
    """
    found: dict[str, Evidence] = {}
    results = {tuple(e["point"][key] for key in ("depth", "size", "kind")): e["result"] for e in stored["points"]}
    for depth, size in dict.fromkeys((depth, size) for depth, size, _ in results):
        there = {name: results[depth, size, name] for name in KINDS if (depth, size, name) in results}
        kinds = {name: evolve(kind(r), scores=r["bands"]["1x"], item_error=0.0) for name, r in there.items()}
        baselines = {"constant": 1.0}
        if "window" in kinds:
            baselines["window"] = sum(kinds["window"].scores) / len(kinds["window"].scores)
        for statement in STATEMENTS:
            if {statement.one, statement.other, "frozen"} <= kinds.keys():
                found[f"{depth}, {size}: {statement.one} or {statement.other}"] = Evidence(
                    kinds=kinds,
                    higher_is_better=False,
                    control="frozen",
                    baselines=baselines,
                    statements=[statement],
                    shown=len(STATEMENTS) * len(DEPTHS) * len(SIZES),
                    gain=GAIN,
                )
    return found


EXPERIMENT = Experiment(
    name="stack_or_deep",
    question="On teacher recurrences, do a stack of simple layers and a deep cell of equal size differ?",
    settings={
        "kinds": KINDS,
        "depths": DEPTHS,
        "sizes": SIZES,
        "steps": STEPS,
        "bands": BANDS,
        "evaluated": EVALUATED,
        "parameters": PARAMETERS,
        "lags": LAGS,
        "runs": RUNS,
        "gain": GAIN,
        **BUDGET.as_json,
    },
    points=[{"depth": depth, "size": size, "kind": name} for size in SIZES for depth in DEPTHS for name in KINDS],
    run=run,
    evidence=evidence,
)
