"""All experiments by name."""

from fhx.experiments import (
    certificates,
    chaos,
    characters,
    counting,
    cut_gradients,
    cut_training,
    deep_cells,
    depth_and_horizon,
    finite_precision,
    formal_languages,
    imitation,
    language_models,
    long_copies,
    music_and_digits,
    norms,
    perturbed_weights,
    readout_budget,
    shown,
    stack_or_deep,
    staying_stable,
    trainability,
    windows,
    word_or_symbol,
    words,
)
from fhx.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

MODULES = (
    readout_budget,
    imitation,
    stack_or_deep,
    words,
    formal_languages,
    word_or_symbol,
    shown,
    counting,
    perturbed_weights,
    finite_precision,
    chaos,
    long_copies,
    deep_cells,
    trainability,
    depth_and_horizon,
    characters,
    norms,
    certificates,
    staying_stable,
    windows,
    cut_gradients,
    language_models,
    music_and_digits,
    cut_training,
)
"""In the order of the chapters that read their results."""

EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}
"""Every experiment by its name, in that order."""
