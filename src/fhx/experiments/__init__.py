"""Long runs: experiments that take minutes, each a module of this package, with their results in ``results/``.

``python -m fhx.experiments`` lists them and ``python -m fhx.experiments NAME`` runs one, point by point;
when interrupted it goes on from there at the next call. A notebook reads the result by :func:`stored` and checks by
:func:`verified` what it says of it.

An experiment is a module with a docstring and

- ``SETTINGS``, what all points have in common, seeds among them, as a ``dict`` that JSON can hold;
- ``points()``, a list of what is to be run, each a ``dict`` that JSON can hold;
- ``run(point)``, the result of one of them, such a ``dict`` too.
"""

from fhx.experiments.stored import WrongResult, stored
from fhx.experiments.verified import verified

__all__ = ["WrongResult", "stored", "verified"]
