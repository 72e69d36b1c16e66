"""The problems: chorales, longer music in pieces, and digits by the pixel."""

from functools import cache

import torch
from attrs import evolve
from torch import Tensor

from fhx.experiments import real_data as data
from fhx.tasks import Sequences, Task, chorales, classical_music, folk_tunes, piano_pieces

__all__ = ["IN_PIECES", "MUSIC", "PIECE", "pieces", "problem", "whole"]

IN_PIECES = {"folk tunes": folk_tunes, "piano pieces": piano_pieces, "classical music": classical_music}
"""Music that is cut into pieces to train on."""
MUSIC = {"chorales": chorales, **IN_PIECES}
"""All music."""
PIECE = 128
"""Frames of a piece; the state is zero before each."""


@cache
def problem(name: str) -> Task:
    """What nets are trained on, and chosen by: the first frame of a piece is given, not predicted."""
    if name == "digits":
        return data.task("digits")
    task = whole(name)
    if name == "chorales":
        return task
    return evolve(task, train=pieces(task.train), valid=pieces(task.valid), test=pieces(task.test))


@cache
def whole(name: str) -> Task:
    """Music in whole, as others are tested on it."""
    return MUSIC[name]()


def pieces(part: Sequences, steps: int = PIECE) -> Sequences:
    """Sequences with one target a step, cut into successive pieces; a last one of under 8 steps is left out."""
    inputs, targets, lengths = list[Tensor](), list[Tensor](), list[int]()
    for n in range(len(part)):
        length = part.steps if part.lengths is None else int(part.lengths[n])
        for start in range(0, length, steps):
            many = min(steps, length - start)
            if many < 8:
                continue
            lengths.append(many)
            for kept, values in ((inputs, part.inputs), (targets, part.targets)):
                rest = values[start : start + many, n]
                kept.append(torch.cat([rest, rest.new_zeros(steps - many, *rest.shape[1:])]))
    return Sequences(torch.stack(inputs, 1), torch.stack(targets, 1), torch.tensor(lengths))
