"""Figures: the book's style, explorers that run in a page and live in a notebook, and drawings by code."""

from .controls import Button, Choice, Control, Number, Slider, Text
from .diagrams import depth_places, unrolled
from .explorer import Explorer
from .machines import state_diagram
from .style import COLOURS, band, label_lines, use_style
from .trajectory import gain_explorer, gain_frame, regime

__all__ = [
    "COLOURS",
    "Button",
    "Choice",
    "Control",
    "Explorer",
    "Number",
    "Slider",
    "Text",
    "band",
    "depth_places",
    "gain_explorer",
    "gain_frame",
    "label_lines",
    "regime",
    "state_diagram",
    "unrolled",
    "use_style",
]
