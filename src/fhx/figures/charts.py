"""Charts of what training finds: rates of success with their intervals, and units that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from fhx.figures.looks import looks
from fhx.figures.paper import INCHES
from fhx.figures.style import COLORS
from fhx.training import proportion

__all__ = ["counting", "success_chart"]


def success_chart(
    results: Mapping[str, Mapping[str, Mapping[object, tuple[int, int]]]],
    level: float = 0.95,
    xlabel: str = "length tested, in multiples of the longest word trained on",
) -> Figure:
    r"""How often training succeeded: one row per net, one column per language, one dot per length.

    A dot is the rate :math:`k/n`, and its line the Clopper-Pearson interval, which holds the true rate in at least
    ``level`` of all samples: from the rate at which k or more of n succeed with probability :math:`(1 - level)/2` to
    the one at which k or fewer do.

    Args:
        results: ``results[net][language][length] = (k, n)``: k of n trained nets succeeded; every net has the same
            languages, and lengths are written as they are given, in their order.
        level: of the interval.
        xlabel: what the lengths are.

    Raises:
        ValueError: nothing to draw, nets with different languages or lengths, not :math:`0 \le k \le n \ge 1`, or so
            many languages that their names overlap on a phone.

    Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial
    (1934).
    """
    nets, languages, lengths = _sides(results)
    if len(languages) > 6:
        raise ValueError(f"{len(languages)} languages do not fit beside each other: at most 6 can be read on a phone")
    fig, axes = plt.subplots(
        len(nets), len(languages), figsize=(INCHES, 0.85 + 0.85 * len(nets)), sharex=True, sharey=True, squeeze=False
    )
    its = looks(nets)
    for i, net in enumerate(nets):
        for j, language in enumerate(languages):
            ax, counts = axes[i][j], list(results[net][language].values())
            intervals = [proportion(k, n, level) for k, n in counts]
            low, high = [p.low for p in intervals], [p.high for p in intervals]
            x, color = np.arange(len(lengths)), its[net].color
            ax.vlines(x, low, high, color=color, lw=1.8)
            ax.plot(x, [k / n for k, n in counts], its[net].marker, color=color, ms=5, clip_on=False, zorder=3)
            ax.set(xlim=(-0.6, len(lengths) - 0.4), ylim=(-0.06, 1.06))
            ax.set_xticks(x, [str(length) for length in lengths])
            ax.set_yticks([0, 0.5, 1], ["0", "", "1"])
            ax.grid(axis="x", visible=False)
            ax.tick_params(length=0)
            if i == 0:
                ax.set_title(language, fontsize=12)
        axes[i][0].set_ylabel(net, color=its[net].color, rotation=0, ha="right", va="center")
        if len(languages) > 1:
            axes[i][-1].yaxis.set_label_position("right")
            axes[i][-1].set_ylabel("share", fontsize=11, rotation=270, va="bottom")
    fig.supxlabel(xlabel, fontsize=12)
    return fig


def _sides(
    results: Mapping[str, Mapping[str, Mapping[object, tuple[int, int]]]],
) -> tuple[list[str], list[str], list[object]]:
    nets = list(results)
    if not nets or not results[nets[0]]:
        raise ValueError("there is nothing to draw: results[net][language][length] = (successes, trials)")
    languages = list(results[nets[0]])
    lengths = list(results[nets[0]][languages[0]])
    for net in nets:
        if list(results[net]) != languages:
            raise ValueError(f"{net} has the languages {list(results[net])}, and {nets[0]} has {languages}")
        for language in languages:
            found = results[net][language]
            if list(found) != lengths:
                raise ValueError(f"{net} on {language} has the lengths {list(found)}, and others have {lengths}")
            for length, (k, n) in found.items():
                if not (n >= 1 and 0 <= k <= n):
                    raise ValueError(f"{net} on {language} at {length}: {k} of {n} is not a rate of success")
    return nets, languages, lengths


def counting(
    runs: Mapping[str, Mapping[int, ArrayLike]],
    xlabel: str = "symbols read",
    ylabel: str = "unit",
    marks: bool = True,
) -> Figure:
    r"""One unit's value along words that count to n: one panel per net, one line per n.

    Args:
        runs: ``runs[net][n]``: the values after each symbol of a word such as :math:`a^n b^n`, with that of the empty
            word first.
        xlabel: what the position is.
        ylabel: what the value is.
        marks: name the lines where they turn, after n symbols; a name without room is left out, the largest n first.

    Raises:
        ValueError: nothing to draw, values that are not a line of numbers, or fewer than n + 1 of them.
    """
    if not runs or not all(runs.values()):
        raise ValueError("there is nothing to draw: runs[net][n] = values")
    fig, axes = plt.subplots(len(runs), 1, figsize=(INCHES, 0.7 + 1.75 * len(runs)), sharex=True, squeeze=False)
    for ax, (net, lines) in zip(axes[:, 0], runs.items(), strict=True):
        tops = []
        for (n, values), color in zip(sorted(lines.items()), _shades(len(lines)), strict=True):
            line = np.asarray(values, dtype=float)
            if line.ndim != 1 or len(line) <= n:
                raise ValueError(f"{net} at n = {n}: a line has more than n values, got shape {line.shape}")
            ax.plot(line, color=color)
            tops.append((n, float(line[n]), color))
        longest, free = max(np.size(values) for values in lines.values()), np.inf
        for n, value, color in reversed(tops if marks else []):
            ax.plot([n], [value], "o", color=color, ms=4)
            words = f"n = {n}" if free == np.inf else str(n)
            if n + (0.012 * len(words) + 0.01) * longest > free:
                continue  # the name would touch that of the next longer line
            free = n - (0.012 * len(words) + 0.01) * longest
            ax.annotate(words, (n, value), (0, 6), textcoords="offset points", ha="center", color=color, fontsize=12)
        ax.margins(y=0.2)
        ax.set_title(net, loc="left", fontsize=12)
        ax.set_ylabel(ylabel)
    axes[-1, 0].set_xlabel(xlabel)
    return fig


def _shades(count: int) -> Sequence[str]:
    """From light to dark, all dark enough to be read as text on white."""
    ramp = plt.get_cmap("viridis")
    return [to_hex(ramp(x)) for x in np.linspace(0.5, 0.0, count)] if count > 1 else [COLORS[0]]
