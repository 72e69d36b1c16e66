"""Long runs: experiments that take minutes, with their results in ``results/``.

``python -m fhx.experiments`` lists them with their questions, and ``python -m fhx.experiments NAME`` runs one, point by
point; an interrupted run goes on from there at the next call. A notebook reads the result by :func:`stored` and checks
what it says about it by :func:`verified`.

An experiment is a module or a package of this one with a frozen record, its ``EXPERIMENT``.
:data:`fhx.experiments.catalog.EXPERIMENTS` has all of them by name.
"""

from fhx._extras import needs

with needs("torch"):
    from fhx.experiments.experiment import Experiment
    from fhx.experiments.results import WrongResultError, stored, verified

__all__ = ["Experiment", "WrongResultError", "stored", "verified"]
