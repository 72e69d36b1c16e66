"""Training: several seeds at once, objectives by kind of task, means with intervals."""

from recurrence.training.ensemble import evaluate
from recurrence.training.fit import fit
from recurrence.training.history import Fit
from recurrence.training.losses import OBJECTIVES, Objective
from recurrence.training.statistics import Band, Interval, Proportion, band, interval, proportion

__all__ = [
    "OBJECTIVES",
    "Band",
    "Fit",
    "Interval",
    "Objective",
    "Proportion",
    "band",
    "evaluate",
    "fit",
    "interval",
    "proportion",
]
