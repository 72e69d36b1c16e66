"""The picture that a chat shows beside a link to the book, and the logo: ``python book/tools/social.py`` draws both.

The picture is a run of a Turing machine in its net, computed anew, beside the title and the first sentence of the first
page. Letters of the logo are outlines, so it needs no typeface.
"""

from __future__ import annotations

import io
import re
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from fhx.compile import turing_to_rnn
from fhx.figures import tape_and_units, use_style
from fhx.figures.paper import INK, SOFT, blank
from fhx.machines import palindromes

BOOK = Path(__file__).resolve().parents[1]
STATIC = BOOK / "_static"
WIDTH, HEIGHT, DPI = 1280, 640, 100
MARK, COLOR = STATIC / "favicon.svg", "#2382b4"  # at least 3 to 1 on white and on the dark page
WORD = "abba"


def first_page() -> tuple[str, str]:
    """The title of the first page and its first sentence, which stands in bold."""
    title, sentence = re.match(r"# (.+)\n\n\*\*(.+)\*\*\n", (BOOK / "index.md").read_text("utf-8")).groups()
    return title, sentence


def picture() -> bytes:
    """The PNG: words on the left, a run on the right."""
    use_style()
    run = tape_and_units(turing_to_rnn(palindromes()), WORD, steps=15)
    drawn = io.BytesIO()
    run.savefig(drawn, dpi=200)
    plt.close(run)
    drawn.seek(0)
    image = plt.imread(drawn)
    fig = blank(HEIGHT * 72 / DPI, WIDTH * 72 / DPI)
    title, sentence = first_page()
    fig.text(0.05, 0.82, title, fontsize=56, weight="bold", color=INK, va="center")
    first, rest = sentence.split(". ", 1)
    fig.text(0.05, 0.69, textwrap.fill(f"{first}.", 28), fontsize=26, color=INK, va="top", linespacing=1.3)
    fig.text(0.05, 0.47, textwrap.fill(rest, 30), fontsize=24, color=SOFT, va="top", linespacing=1.3)
    fig.text(0.05, 0.08, "An executable book on recurrent networks", fontsize=19, color=COLOR, va="center")
    ax = fig.add_axes((0.5, 0.03, 0.48, 0.94))
    ax.imshow(np.asarray(image), interpolation="antialiased")
    ax.axis("off")
    out = io.BytesIO()
    fig.savefig(out, dpi=DPI, bbox_inches=fig.bbox_inches, metadata={"Software": None})
    plt.close(fig)
    return out.getvalue()


def logo() -> str:
    """The SVG: the mark of the favicon, and the title as outlines."""
    outline = TextPath((40, 10), first_page()[0], size=28, prop=FontProperties(family="IBM Plex Sans", weight="bold"))
    letters = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}  # codes of matplotlib's paths
    steps = []
    for points, code in outline.iter_segments(simplify=False, curves=True):
        pairs = points.reshape(-1, 2) if code != 79 else []
        steps.append(letters[code] + " ".join(f"{x:.1f},{40 - y:.1f}" for x, y in pairs))
    mark = "".join(re.findall(r"<path.*?/>", MARK.read_text("utf-8"))).replace("#0b6e99", COLOR)
    width = int(outline.get_extents().x1) + 3
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 40">'
        f'<g transform="translate(2 4)">{mark}</g><path d="{"".join(steps)}" fill="{COLOR}"/></svg>\n'
    )


if __name__ == "__main__":
    (STATIC / "social.png").write_bytes(picture())
    (STATIC / "logo.svg").write_text(logo(), "utf-8")
