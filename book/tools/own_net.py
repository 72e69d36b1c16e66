"""The page "Bring your own net": what its code prints, and its picture.

``python book/tools/own_net.py`` runs the page's blocks of Python in their order, writes what each prints into the block
of text below it, and draws the picture from what they have made.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

from fhx._files import write_atomically
from fhx.figures import COLORS, label_lines, state_diagram, use_style
from fhx.machines import dfa_to_dot

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "own_net.md"
PICTURE = ROOT / "book" / "samples" / "own-net.svg"
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n\n```text\n(?P<printed>.*?)^```$", re.M | re.S)
NAMES = ("ends in $abb$", "odd number of $a$")
PLACES = ((0.0, 0.55), (0.6, 0.35))
"""Where the automata are drawn, from left to right: the left side and the width."""
WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def played(text: str) -> tuple[str, dict[str, Any]]:
    """The text of the page with what its blocks print now, and the names that they have made."""
    names: dict[str, Any] = {"__name__": "own_net"}

    def run(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(block["code"], PAGE.name, "exec"), names)
        return f"```python\n{block['code']}```\n\n```text\n{printed.getvalue()}```"

    return BLOCK.sub(run, text), names


def shares(names: dict[str, Any]) -> list[list[int]]:
    """Of each net the percentage of answers that stay the same, for each window."""
    return [[round(100 * names["agreement"](net, k)) for k in WINDOWS] for net in names["nets"].values()]


def shown(names: dict[str, Any]) -> str:
    """What the picture shows, as a line of text that it keeps."""
    return f"{shares(names)} {[dfa_to_dot(dfa) for dfa in names['learned'].values()]}"


def picture(names: dict[str, Any]) -> Figure:
    """How many answers stay the same by the window, and the learned automata."""
    use_style()
    figure = plt.figure(figsize=(5.8, 4.6), layout="none")
    above = figure.add_axes((0.1, 0.5, 0.66, 0.47))
    lines = []
    for name, percent, color in zip(NAMES, shares(names), COLORS, strict=False):
        lines += above.plot(WINDOWS, percent, "o-", color=color, label=name)
    above.set(xscale="log", xlabel="last symbols shown, $k$", ylabel="answers that stay the same, %", ylim=(0, 105))
    above.set_xticks(WINDOWS, WINDOWS, minor=False)
    above.set_xticks([], minor=True)
    label_lines(above, lines)
    for (left, width), name, color, dfa in zip(PLACES, NAMES, COLORS, names["learned"].values(), strict=False):
        state_diagram(dfa, ax=figure.add_axes((left, 0.07, width, 0.29)))
        figure.text(left + width / 2, 0.01, name, color=color, ha="center")
    return figure


def main() -> None:
    """Write the page and its picture anew."""
    torch.set_num_threads(1)
    text, names = played(PAGE.read_text("utf-8"))
    write_atomically(PAGE, text.encode())
    drawn = io.BytesIO()
    plt.rcParams["svg.hashsalt"] = PICTURE.name
    picture(names).savefig(drawn, format="svg", metadata={"Date": None, "Description": shown(names)})
    write_atomically(PICTURE, drawn.getvalue())


if __name__ == "__main__":
    main()
