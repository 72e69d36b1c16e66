"""Figures: the book's style, explorers that run in a page and live in a notebook, and drawings by code."""

from .answer import Panel, aligned_panels, decision_chart
from .automaton import automaton_explorer, interesting_word
from .cantor import cantor_set
from .charts import counting, success_chart
from .controls import Button, Choice, Control, Number, Slider, Text
from .diagrams import depth_places, two_layers, unrolled
from .explorer import Explorer
from .gradients import gradient_explorer, gradient_frame
from .machines import state_diagram
from .maps import success_map
from .nets import machine_and_net, space_time, weight_matrix
from .settling_explorer import settling_explorer, settling_frame
from .stable_nets import curve_panels, interval_chart
from .style import COLOURS, band, label_lines, use_style
from .trajectory import gain_explorer, gain_frame, regime
from .truncation_explorer import truncation_explorer, truncation_frame
from .turing import tape_and_units
from .turing_explorer import turing_explorer

__all__ = [
    "COLOURS",
    "Button",
    "Choice",
    "Control",
    "Explorer",
    "Number",
    "Panel",
    "Slider",
    "Text",
    "aligned_panels",
    "automaton_explorer",
    "band",
    "cantor_set",
    "counting",
    "curve_panels",
    "decision_chart",
    "depth_places",
    "gain_explorer",
    "gain_frame",
    "gradient_explorer",
    "gradient_frame",
    "interesting_word",
    "interval_chart",
    "label_lines",
    "machine_and_net",
    "regime",
    "settling_explorer",
    "settling_frame",
    "space_time",
    "state_diagram",
    "success_chart",
    "success_map",
    "tape_and_units",
    "truncation_explorer",
    "truncation_frame",
    "turing_explorer",
    "two_layers",
    "unrolled",
    "use_style",
    "weight_matrix",
]
