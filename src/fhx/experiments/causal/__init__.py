"""Nets whose outputs depend on earlier inputs only: windows, convolutions, attention and linear recurrences.

They are the rivals of simple nets and LSTMs, on music, digits and words (:mod:`fhx.experiments.music_and_digits`,
:mod:`fhx.experiments.language_models`).
"""

from fhx.experiments.causal.attention import CausalAttention
from fhx.experiments.causal.blocks import LinearRecurrentNet
from fhx.experiments.causal.context import with_context
from fhx.experiments.causal.convolution import TemporalConvolution
from fhx.experiments.causal.net import CausalNet, WindowNet
from fhx.experiments.causal.rivals import LINEAR, Shape, largest_widths, rival

__all__ = [
    "LINEAR",
    "CausalAttention",
    "CausalNet",
    "LinearRecurrentNet",
    "Shape",
    "TemporalConvolution",
    "WindowNet",
    "largest_widths",
    "rival",
    "with_context",
]
