"""Training: several seeds at once, objectives by kind of task, means with intervals."""

from fhx._extras import needs

with needs("torch"):
    from fhx.training.ensemble import evaluate
    from fhx.training.fit import fit
    from fhx.training.history import Fit
    from fhx.training.losses import OBJECTIVES, Objective
    from fhx.training.statistics import Band, Interval, Proportion, band, interval, proportion

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
