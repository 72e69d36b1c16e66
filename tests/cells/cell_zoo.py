"""Every kind of cell with random sizes, for the properties that all of them have."""

from functools import partial

import torch
from hypothesis import strategies as st
from random_tensors import DEVICE, DOUBLE, rng

from fhx.cells import (
    Cell,
    DeepCell,
    DeepLSTMCell,
    GRUCell,
    HighwayCell,
    LinearCell,
    LRUCell,
    LSTMCell,
    MinGRUCell,
    ResidualCell,
    RGLRUCell,
    SimpleCell,
    Stack,
)

LAYERED = [DeepCell, ResidualCell, HighwayCell, DeepLSTMCell]


def recipe(kind, **options):
    """A function from (input_size, state_size, generator) to a cell."""
    return lambda d_in, d, generator: kind(d_in, d, generator=generator, **DOUBLE, **options)


def _depths(kind, **options):
    return st.builds(partial(recipe, kind), depth=st.integers(1, 5), **options)


ACTIVATION = st.sampled_from(["tanh", "relu", "sigmoid", "identity", torch.sin])
RECIPES: dict[str, st.SearchStrategy] = {
    "simple": st.builds(lambda activation: recipe(SimpleCell, activation=activation), ACTIVATION),
    "linear": st.just(recipe(LinearCell)),
    "lstm": st.just(recipe(LSTMCell)),
    "gru": st.just(recipe(GRUCell)),
    "deep": _depths(DeepCell, activation=ACTIVATION, width=st.none() | st.integers(1, 5)),
    "normalised": _depths(
        DeepCell, activation=ACTIVATION, width=st.none() | st.integers(2, 5), normalized=st.just(True)
    ),
    "residual": _depths(ResidualCell, activation=ACTIVATION, scale=st.floats(-1.5, 1.5), leak=st.floats(0, 1)),
    "highway": _depths(HighwayCell, carry_bias=st.floats(-3, 3)),
    "deep lstm": _depths(DeepLSTMCell),
    "minGRU": st.just(recipe(MinGRUCell)),
    "RG-LRU": st.just(recipe(RGLRUCell)),
    "LRU": st.just(lambda d_in, d, generator: LRUCell(d_in, 2 * (d // 2), generator=generator, **DOUBLE)),
}


def build(parts: list[tuple], nested: bool, seed: int) -> Cell:
    """A cell for each recipe and size, on top of one another where there are several, its parameters of order 1."""
    generator, width, layers = rng(seed), 2, []
    for make, d in parts:
        layers.append(make(width, d, generator))
        width = layers[-1].state_size
    with torch.no_grad():
        for parameter in (p for layer in layers for p in layer.parameters()):
            parameter += torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(DEVICE) / 2
    if len(layers) == 1:
        return layers[0]
    return Stack([Stack(layers[:2]), *layers[2:]]) if nested else Stack(layers)


def plans(kinds: list[str], least: int, most: int) -> st.SearchStrategy:
    """Functions that build a cell of some of the kinds. Type checks draw random numbers, which a strategy must not."""
    part = st.sampled_from(kinds).flatmap(lambda kind: st.tuples(RECIPES[kind], st.integers(2, 4)))
    parts = st.lists(part, min_size=least, max_size=most)
    return st.builds(partial, st.just(build), parts, st.booleans(), st.integers(0, 2**32))


DIAGONAL = ("minGRU", "RG-LRU", "LRU")
"""Kinds that have no matrix between a state and the next."""
WITH_MATRICES = [kind for kind in RECIPES if kind not in DIAGONAL]
KINDS = {
    **{kind: plans([kind], 1, 1) for kind in RECIPES},
    "stack": plans(WITH_MATRICES, 2, 4),
    "mixed stack": plans([*RECIPES], 2, 4),
}
