r"""Nets of one size on music and on digits by the pixel: free, certified, and without a state.

All kinds are trained by :mod:`fhx.experiments.comparison` with the same grid of rates, weight decays and dropouts:

* *recurrent*: simple (tanh) nets and LSTMs, free or kept stable (:mod:`fhx.experiments.forms`), their gates open for
  the length of a piece at the start; "frozen" is an LSTM whose cell stays as it started, the control;
* *truncated*: LSTMs that are trained, and tested, with the last k inputs only ("LSTM, truncated k");
* *why*: a free LSTM that starts under the sharpest certificate ("LSTM, projected once"), and LSTMs, free and certified,
  that have dropout of inputs and state-side weights too ("LSTM, dropout throughout");
* *linear recurrences* in residual blocks: LRU, minGRU and RG-LRU;
* *without a state*: temporal convolutions ("TCN"), a small causal Transformer ("attention"), nets of two hidden layers
  of the last k inputs ("window k"), and logistic regression on them ("logistic k").

"equal" nets have as many parameters as the LSTM of 128 units, on digits of 64. On chorales there are nets of two other
sizes: "quarter", and "published", that of the convolutional net of Bai et al. (2018). Nets stop where nothing has been
gained for a while. That is too early for many on digits: those of "equal, not stopped" have the same settings and do
not stop, the control is trained for twice as long, and they are the ones that are judged. Outputs start at the
frequencies of the training split.

Chorales are read in whole. Longer music (folk tunes, piano pieces, classical music) is cut into pieces of 128 frames,
before each of which the state is zero, to train and to choose nets, which are then tested on it in whole. Metrics are
nats per frame, and for digits the share of right answers.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from attrs import asdict, evolve

from fhx.experiments.causal.rivals import LINEAR
from fhx.experiments.comparison import Budget, compare, item_scores
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.music_and_digits import nets
from fhx.experiments.music_and_digits.measures import context, reactions, written
from fhx.experiments.music_and_digits.nets import (
    PROJECTED_ONCE,
    THROUGHOUT,
    RecurrentNet,
    kinds,
    new_net,
    parameters,
    widths,
)
from fhx.experiments.music_and_digits.tasks import IN_PIECES, PIECE, pieces, problem, whole
from fhx.experiments.music_and_digits.verdicts import CONTROL, GAINS, LEFT, SIZES, evidence, judged, own_sizes
from fhx.experiments.one_by_one import one_by_one
from fhx.tasks import last_frame, majority_class, note_frequencies
from fhx.training import OBJECTIVES, evaluate

__all__ = [
    "BUDGETS",
    "EXPERIMENT",
    "PUBLISHED",
    "SIGMOID_NETS",
    "SIZES",
    "at_best",
    "evidence",
    "judged",
    "kinds",
    "new_net",
    "own_sizes",
    "parameters",
    "pieces",
    "points",
    "run",
    "widths",
]

GRID: Mapping[str, Any] = {
    "rates": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.0003),
    "decays": (0.0, 0.1),
    "dropouts": (0.2, 0.5),
    "seeds": (0, 1, 2, 3, 4, 6, 7, 8, 9, 10),
}
"""What all kinds try on a problem, and the seeds that are reported."""
FEWER: Mapping[str, Any] = {
    "rates": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 0.0003),
    "decays": (0.0,),
    "dropouts": (0.2, 0.5),
    "seeds": range(5),
}
"""The same on music that is cut into pieces, which takes longest."""
BUDGETS = {
    name: Budget(**grid, others=(5,), updates=updates, batch_size=batch_size, evaluations=evaluations, patience=10)
    for name, (updates, evaluations, batch_size, grid) in {
        "chorales": (2000, 40, 16, {**GRID, "reported": {"updates": 10_000, "evaluations": 200}}),
        "digits": (6000, 120, 32, GRID),
        **dict.fromkeys(IN_PIECES, (4000, 50, 16, {**FEWER, "reported": {"updates": 24_000, "evaluations": 300}})),
    }.items()
}
"""How all kinds are trained on a problem. On music the reported nets have the time that they need to stop."""
FEW = (
    *("simple", "simple, stable", "LSTM", "LSTM, four conditions", "LSTM, stable", "LSTM, F = 0.64"),
    *(THROUGHOUT[0], "frozen", "TCN", "minGRU", "logistic 20"),
)
"""Kinds on music that is cut into pieces."""
CONTROL_TIMES = 2
"""How many times as many updates the control has there: its last gains are those of a few validation items."""
LEFT_TO_RUN = (
    *("simple", "simple, stable", "LSTM", "LSTM, four conditions", "LSTM, F = 0.64", "LSTM, F = 0.9", "LSTM, F = 0.95"),
    *("LSTM, stable", *(f"LSTM, truncated {k}" for k in nets.TRUNCATED["digits"]), CONTROL, "TCN", "attention"),
    *LINEAR,
)
"""Kinds on digits that are trained so too."""
SIZED = ("simple", "LSTM", THROUGHOUT[0], CONTROL, "TCN", "attention", *LINEAR)
"""Kinds that are trained on chorales at the other sizes too."""
PUBLISHED = {
    "chorales": {"RNN": 8.91, "LSTM": 8.45, "GRU": 8.43, "TCN": 8.10},
    "folk tunes": {"RNN": 4.05, "LSTM": 3.29, "GRU": 3.46, "TCN": 3.07},
}
"""Nats per frame of the test set in table 1 of Bai et al. (2018), whole tunes."""
SIGMOID_NETS = {"folk tunes": 3.46, "piano pieces": 7.46, "classical music": 6.99}
"""The same of the recurrent nets of Pascanu et al. (2013) with sigmoids, clipped gradients and their regulariser, which
were trained on sequences of 200 frames."""
ON_LONGER = ("simple", "simple, stable", "LSTM", "LSTM, stable", "frozen", "TCN", "logistic 20")
"""Kinds that have been trained on music in pieces."""
STORED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "chorales": {
        "equal": (
            *("simple", "simple, stable", "LSTM", "LSTM, four conditions", "LSTM, stable", "LSTM, F = 0.64"),
            *("LSTM, truncated 5", PROJECTED_ONCE, *THROUGHOUT, "frozen", "TCN", "attention", *LINEAR),
            *("window 5", "window 20", "logistic 20"),
        ),
        "quarter": ("simple", "LSTM", THROUGHOUT[0], CONTROL, "TCN", *LINEAR),
        "published": ("simple", "LSTM", THROUGHOUT[0], CONTROL, "TCN", *LINEAR),
    },
    "folk tunes": {"equal": ON_LONGER},
    "piano pieces": {"equal": ON_LONGER},
    "classical music": {"equal": ON_LONGER},
    "digits": {
        "equal": (
            *("simple", "simple, stable", "LSTM", "LSTM, four conditions", "LSTM, F = 0.64", "LSTM, F = 0.9"),
            *("LSTM, F = 0.95", "LSTM, stable", *(f"LSTM, truncated {k}" for k in nets.TRUNCATED["digits"])),
            *("frozen", "TCN", "attention", *LINEAR, "logistic 64"),
        ),
        LEFT: LEFT_TO_RUN,
    },
}
"""Problems, sizes and kinds that have been trained; add others to go on."""

NETS = {"units": nets.UNITS, "horizons": nets.HORIZON, "piece": PIECE, "published size": nets.PUBLISHED}
"""What all nets depend on."""


def run(point: Point) -> Result:
    """Train the nets of one kind and size on a problem, and measure them.

    Each net that has been trained is kept in the cache of the package, and not trained again.

    Returns:
        That of :func:`~fhx.experiments.comparison.compare`, with ``train`` as ``at_best`` has it; ``units`` and
        ``inner``, None for a published net; ``receptive field``, None where there is none; by seed ``context``, the
        test metric by inputs seen, and of a recurrent net ``reactions``, a dictionary that the module ``measures``
        describes; on chorales ``written``, music of the first net by the frames that it sees, a number or "all". Of
        music in pieces ``test``, ``items`` and ``item error`` are those of whole tunes, and ``pieces``, by seed, is the
        metric on pieces. Of "counted" nets the baselines by name.
    """
    name, of = point["task"], point["net"]
    if of == "counted":
        return counted(name)
    left = point["size"] == LEFT
    task, size, budget = problem(name), "equal" if left else point["size"], BUDGETS[name]
    if left:
        times = CONTROL_TIMES if of == CONTROL else 1
        longer = {"updates": times * budget.updates, "evaluations": times * budget.evaluations}
        budget = evolve(budget, seeds=budget.seeds[:5], reported={"patience": None, **longer})
    what = {"task": name, "net": of, "size": size, **NETS}
    train = partial(one_by_one, kept=what)
    fit, result = compare(partial(new_net, name, of, size), task, budget, trained=train, keep_items=True)
    objective = OBJECTIVES[task.kind]
    units, inner = (None, None) if (of, size) == ("TCN", "published") else widths(name, of, size)
    found = {**result, "train": at_best(result), "units": units, "inner": inner}
    found["receptive field"] = fit.models[0].receptive_field
    found["context"] = [context(net, task.test, objective) for net in fit.models]
    if isinstance(fit.models[0], RecurrentNet):
        recurrent = [net for net in fit.models if isinstance(net, RecurrentNet)]
        found["reactions"] = [reactions(net, task.test, objective) for net in recurrent]
    if name == "chorales":
        found["written"] = {key: written(fit.models[0], task.test, k) for key, k in (("2", 2), ("all", None))}
    if name in IN_PIECES:
        items = item_scores(fit.models, whole(name).test, objective)
        found |= {"pieces": result["test"], "items": asdict(items), "item error": items.error}
        with torch.no_grad():
            found["test"] = [evaluate(net, whole(name), batch_size=32) for net in fit.models]
    return found


def at_best(result: Result) -> list[float | None]:
    """The training loss of each net just before its best validation; nothing reads the rest of its curve."""
    best = [result["at"].index(update) for update in result["best update"]]
    return [curve[i] for curve, i in zip(result["train"], best, strict=True)]


def counted(name: str) -> Result:
    """What needs no training by gradients: the frequencies, and of music each key by itself, after itself."""
    if name == "digits":
        return {"majority": majority_class(problem(name))}
    task = whole(name)
    return {"constant": note_frequencies(task), "per-key Markov": last_frame(task)}


def points(name: str) -> list[Point]:
    """All that is to be trained on a problem."""
    found: list[Point] = [{"task": name, "net": "counted"}]
    found += [{"task": name, "net": of, "size": "equal"} for of in (FEW if name in IN_PIECES else kinds(name))]
    if name == "digits":
        found += [{"task": name, "net": of, "size": LEFT} for of in LEFT_TO_RUN]
    if name == "chorales":
        found += [{"task": name, "net": of, "size": size} for size in SIZES if size != "equal" for of in SIZED]
    return found


def _stored() -> list[Point]:
    """Those of them that have been."""
    return [
        point
        for name, sizes in STORED.items()
        for point in points(name)
        if point["net"] == "counted" or point["net"] in sizes.get(point["size"], ())
    ]


EXPERIMENT = Experiment(
    name="music_and_digits",
    question="What do a certificate of stability, and doing without a state, cost nets that read music or digits?",
    settings={
        "budgets": {name: budget.as_json for name, budget in BUDGETS.items()},
        **NETS,
        "gains": GAINS,
        "control left to run, times": CONTROL_TIMES,
    },
    points=_stored(),
    run=run,
    evidence=evidence,
)
