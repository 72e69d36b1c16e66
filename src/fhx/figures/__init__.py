"""Figures: the book's style, explorers that run in a page and live in a notebook, and drawings by code."""

from fhx._extras import needs

with needs("figures", "torch"):
    from fhx.figures.automaton_explorer import automaton_explorer, interesting_word
    from fhx.figures.by_kind import curve_panels, interval_chart
    from fhx.figures.cantor import cantor_set
    from fhx.figures.charts import counting, success_chart
    from fhx.figures.controls import Button, Choice, Control, Number, Slider, Text
    from fhx.figures.decision import decision_chart
    from fhx.figures.diagrams import depth_places, two_layers, unrolled
    from fhx.figures.explorer import Explorer
    from fhx.figures.gain_explorer import gain_explorer, gain_frame, regime
    from fhx.figures.gradient_explorer import gradient_explorer, gradient_frame
    from fhx.figures.looks import Look, look, looks
    from fhx.figures.machines import state_diagram
    from fhx.figures.maps import success_map
    from fhx.figures.music import Players, piano_rolls, players
    from fhx.figures.nets import machine_and_net, space_time, weight_matrix
    from fhx.figures.panels import Panel, aligned_panels
    from fhx.figures.results import Results, results
    from fhx.figures.settling_explorer import settling_explorer, settling_frame
    from fhx.figures.style import COLORS, band, label_lines, use_style
    from fhx.figures.truncation_explorer import truncation_explorer, truncation_frame
    from fhx.figures.turing import tape_and_units
    from fhx.figures.turing_explorer import turing_explorer

__all__ = [
    "COLORS",
    "Button",
    "Choice",
    "Control",
    "Explorer",
    "Look",
    "Number",
    "Panel",
    "Players",
    "Results",
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
    "look",
    "looks",
    "machine_and_net",
    "piano_rolls",
    "players",
    "regime",
    "results",
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
