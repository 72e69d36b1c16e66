"""Music that nets write: drawn key by key, and played."""

from __future__ import annotations

import io
import wave
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from math import nan

import matplotlib.pyplot as plt
import numpy as np
from attrs import frozen
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fhx.figures.paper import INCHES
from fhx.figures.style import COLORS

__all__ = ["Players", "piano_rolls", "players", "wav"]

Frames = Sequence[Sequence[int]]
"""The keys that are down in each frame, from 0, the lowest of a piano, to 87."""
RATE = 8000
"""Samples a second, which hold tones of up to half as many hertz."""
LOWEST = 21
"""The MIDI number of key 0; that of the tone of 440 Hz is 69."""
HARMONICS = (1.0, 0.4, 0.15)
"""How strong a tone is, and its overtones."""


def piano_rolls(pieces: Mapping[str, Frames], given: int = 0, *, height: float = 1.5) -> Figure:
    """Pieces of music one below the other: a mark for every key that is down in a frame.

    Args:
        pieces: by name, the keys of each frame.
        given: how many frames a net did not write; they are lighter, and a line is drawn after them.
        height: of a panel, in inches.

    Raises:
        ValueError: there is no piece, or none with a key.
    """
    keys = [key for frames in pieces.values() for frame in frames for key in frame]
    if not keys:
        raise ValueError("there is nothing to draw: no key is down")
    size = (INCHES, 0.5 + height * len(pieces))
    fig, axes = plt.subplots(len(pieces), 1, figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax, (name, frames) in zip(axes[:, 0], pieces.items(), strict=True):
        marks = [(t, key) for t, frame in enumerate(frames) for key in frame]
        for alpha, shown in ((0.45, [m for m in marks if m[0] < given]), (1, [m for m in marks if m[0] >= given])):
            x = [value for t, _ in shown for value in (t + 0.06, t + 0.94, nan)]  # one path, which is small in a page
            y = [value for _, key in shown for value in (key, key, nan)]
            ax.plot(x, y, color=COLORS[0], lw=3, alpha=alpha, solid_capstyle="butt")
        if given:
            ax.axvline(given, color="#6b7683", lw=0.9)
        ax.set_title(name, loc="left")
        ax.set(ylabel="key", xlim=(0, max(map(len, pieces.values()))), ylim=(min(keys) - 2, max(keys) + 2))
    axes[-1, 0].set_xlabel("frame")
    return fig


def wav(frames: Frames, seconds: float = 0.25) -> bytes:
    """The music as a file of 8-bit samples; a key that stays down is one tone, which fades.

    Args:
        frames: the keys of each frame.
        seconds: how long a frame lasts.

    Raises:
        ValueError: there is no frame, a key is none of a piano, or a frame is shorter than a sample.
    """
    many = int(RATE * seconds)
    if not frames or many < 1:
        raise ValueError(f"{len(frames)} frames of {seconds} seconds make no sound")
    if wrong := [key for frame in frames for key in frame if not 0 <= key < 88]:
        raise ValueError(f"there is no key {wrong[0]}: a piano has the keys 0 to 87")
    sound = np.zeros(many * len(frames))
    for key in sorted({key for frame in frames for key in frame}):
        for start, stop in _runs([key in frame for frame in frames]):
            sound[many * start : many * stop] += _tone(key, many * (stop - start))
    loudest = max(np.abs(sound).max(), 1e-9)
    samples = np.rint(127.5 + 120 * sound / loudest).astype(np.uint8)
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 1, RATE, len(samples), "NONE", ""))
        file.writeframes(samples.tobytes())
    return out.getvalue()


def _runs(down: Sequence[bool]) -> list[tuple[int, int]]:
    """Where a key is down: first frames, and those after the last."""
    edges = np.flatnonzero(np.diff([False, *down, False]))
    return [*zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]


def _tone(key: int, samples: int) -> NDArray[np.float64]:
    t, pitch = np.arange(samples) / RATE, 440.0 * 2 ** ((key + LOWEST - 69) / 12)
    heard = [(n, part) for n, part in enumerate(HARMONICS, 1) if n * pitch < RATE / 2]
    swing = sum((part * np.sin(2 * np.pi * n * pitch * t) for n, part in heard), np.zeros(samples))
    rise, end = np.minimum(t / 0.01, 1), np.minimum((samples / RATE - t) / 0.02, 1)
    return swing * rise * end * np.exp(-2 * t)


@frozen(repr=False)
class Players:
    """Pieces that can be heard, see :func:`players`.

    Args:
        pieces: by name, the keys of each frame.
        seconds: how long a frame lasts.
    """

    pieces: Mapping[str, Frames]
    seconds: float

    def _repr_html_(self) -> str:
        rows = []
        for name, frames in self.pieces.items():
            data = b64encode(wav(frames, self.seconds)).decode()
            sound = f'src="data:audio/wav;base64,{data}" aria-label="{escape(name)}"'
            rows.append(f'<div>{escape(name)}<br><audio controls preload="metadata" {sound}></audio></div>')
        return f'<div style="display: flex; flex-wrap: wrap; gap: 1em">{"".join(rows)}</div>'

    def __repr__(self) -> str:
        each = (f"{name}: {len(frames) * self.seconds:.0f} s of music" for name, frames in self.pieces.items())
        return "\n".join(each)


def players(pieces: Mapping[str, Frames], seconds: float = 0.25) -> Players:
    """A player for each piece, in a notebook and on a page, without a network: the sound is part of it.

    Args:
        pieces: by name, the keys of each frame.
        seconds: how long a frame lasts.

    Raises:
        ValueError: there is no piece, one without a frame, a key that no piano has, or a frame of no time.
    """
    if not pieces:
        raise ValueError("there is nothing to play")
    for frames in pieces.values():
        wav(frames, seconds)
    return Players(dict(pieces), seconds)
