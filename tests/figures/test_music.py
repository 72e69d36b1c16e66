"""Music: every key has a mark and its tone, for as long as it is down, and a player is part of the page."""

import io
import re
import wave
from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.figures import piano_rolls, players
from fhx.figures.music import RATE, wav


def heard(file: bytes) -> np.ndarray:
    with wave.open(io.BytesIO(file)) as found:
        assert (found.getnchannels(), found.getsampwidth(), found.getframerate()) == (1, 1, RATE)
        return np.frombuffer(found.readframes(found.getnframes()), np.uint8) - 127.5


@settings(max_examples=20, deadline=None)
@given(key=st.integers(20, 60), start=st.integers(0, 3), many=st.integers(1, 3))
def test_a_key_sounds_at_its_pitch_while_it_is_down(key, start, many):
    frames = [[key] if start <= t < start + many else [] for t in range(6)]
    sound = heard(wav(frames, 0.25)).reshape(6, -1)
    loud = np.abs(sound).max(1) > 2
    assert loud.tolist() == [start <= t < start + many for t in range(6)]
    first = sound[start]
    strengths = np.abs(np.fft.rfft(first * np.hanning(len(first)), 8 * len(first)))
    pitch = strengths.argmax() * RATE / (8 * len(first))
    assert abs(np.log2(pitch / 440) * 12 + 69 - (key + 21)) < 0.3  # semitones


def test_two_keys_are_heard_together_and_silence_is_silent():
    one, other, both = (heard(wav([keys] * 2)) for keys in ([39], [46], [39, 46]))
    bins = [np.abs(np.fft.rfft(sound)) for sound in (one, other, both)]
    assert {bins[0].argmax(), bins[1].argmax()} <= set(np.argsort(bins[2])[-6:])
    assert np.abs(heard(wav([[], []]))).max() <= 0.5


def test_rolls_have_a_mark_for_each_key_and_a_line_after_what_was_given():
    pieces = {"one": [[40], [40, 44], []], "two": [[30], [], [50, 51]]}
    fig = piano_rolls(pieces, given=1)
    for ax, (name, frames) in zip(fig.axes, pieces.items(), strict=True):
        assert ax.get_title(loc="left") == name
        *drawn, border = ax.lines
        marks = [[(round(x), y) for x, y in line.get_xydata()[::3]] for line in drawn]
        wanted = [(t, key) for t, frame in enumerate(frames) for key in frame]
        assert marks == [[mark for mark in wanted if mark[0] < 1], [mark for mark in wanted if mark[0] >= 1]]
        for line in drawn:  # each from a little after a frame begins to a little before it ends
            start, end, gap = (line.get_xdata()[n::3] for n in range(3))
            assert end - start == pytest.approx(0.88)
            assert np.isnan(gap).all()
        assert drawn[0].get_alpha() < drawn[1].get_alpha()
        assert [*border.get_xdata()] == [1, 1]


def test_players_are_html_with_the_sound_in_it_and_words_elsewhere():
    found = players({"free & certified": [[40], [41]], "cut": [[40]]}, 0.5)
    html = found._repr_html_()
    sounds = re.findall(r'src="data:audio/wav;base64,([^"]+)" aria-label="([^"]+)"', html)
    assert [name for _, name in sounds] == ["free &amp; certified", "cut"]
    assert [len(heard(b64decode(sound))) for sound, _ in sounds] == [RATE, RATE // 2]
    assert repr(found) == "free & certified: 1 s of music\ncut: 0 s of music"


@pytest.mark.parametrize("pieces", [{}, {"a": []}, {"a": [[88]]}, {"a": [[-1]]}])
def test_what_cannot_be_played_is_refused(pieces):
    with pytest.raises(ValueError, match=r"play|sound|piano"):
        players(pieces)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="no key is down"):
        piano_rolls({"a": [[]]})
