"""Recurrent layers that are kept stable while they are trained, or not, by name."""

from typing import Any

import torch
from attrs import frozen

from fhx.cells import Cell, LSTMCell, SimpleCell
from fhx.stability import project

__all__ = ["FORMS", "RATE", "Form"]

RATE = 0.99
"""What a certified layer contracts by, at least."""


@frozen(kw_only=True)
class Form:
    """A kind of recurrent layer.

    Attributes:
        cell: of the layer.
        certified: the options of :func:`fhx.stability.project` that keep it stable; None where nothing does.
        clipped: whether no number that it reads is larger than 1, as certificates of LSTMs ask.
    """

    cell: type[Cell]
    certified: dict[str, Any] | None = None
    clipped: bool = False

    @torch.no_grad()
    def keep(self, cell: Cell) -> None:
        """Project a cell, if it is to be stable and all its weights are finite."""
        if self.certified is not None and all(p.isfinite().all() for p in cell.parameters()):
            project(cell, RATE, **self.certified)


FORMS = {
    "simple": Form(cell=SimpleCell),
    "simple, stable": Form(cell=SimpleCell, certified={}),
    "LSTM": Form(cell=LSTMCell),
    "LSTM, clipped": Form(cell=LSTMCell, clipped=True),
    "LSTM, four conditions": Form(
        cell=LSTMCell, certified={"condition": "four conditions", "forget": 0.64}, clipped=True
    ),
    "LSTM, stable": Form(cell=LSTMCell, certified={"condition": "weighted"}, clipped=True),
    **{
        f"LSTM, F = {forget}": Form(cell=LSTMCell, certified={"condition": "weighted", "forget": forget}, clipped=True)
        for forget in (0.64, 0.9, 0.95)
    },
}
"""Free nets, the same with clipped inputs, the four conditions of Miller and Hardt, and the sharpest certificate, with
forget gates that open as far as it lets them or to at most F."""
