r"""Polyphonic music as piano rolls: 88 keys, down or up at every step (Boulanger-Lewandowski et al. 2012).

A piece is a binary matrix :math:`v` of shape ``(T, 88)``, its columns the keys of MIDI numbers 21 to 108, transposed to
C major or C minor; a frame is a quarter note of a chorale and an eighth note of other music. Given the frames so far,
the next one is asked for: inputs :math:`v_1, \dots, v_{T-1}`, targets :math:`v_2, \dots, v_T`, as in Bai et al. 2018.
The first frame is given, not predicted, and ``lengths`` holds :math:`T - 1`. Inputs and targets share their memory.
"""

import numpy as np
import torch
from scipy.io import loadmat

from fhx.tasks.files import locate
from fhx.tasks.sequences import Sequences, Task

KEYS = 88
_OCTAVE = ("C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B")
NOTES = tuple(f"{_OCTAVE[midi % 12]}{midi // 12 - 1}" for midi in range(21, 21 + KEYS))
"""Names of the keys from A0 to C8, the middle C being C4."""


def chorales() -> Task:
    r"""The 229, 76 and 77 chorales of J. S. Bach for training, validation and test, as piano rolls.

    Inputs ``(time, N, 88)`` are the frames :math:`v_1, \dots, v_{T-1} \in \{0, 1\}^{88}` of a chorale, a quarter note
    each, targets the next ones :math:`v_2, \dots, v_T`; ``lengths`` holds :math:`T - 1`. The first frame is given, not
    predicted.

    Raises:
        DataNotFoundError: the file is not there and cannot be downloaded.
        DataCorruptError: the file is there with the wrong content.
    """
    return _piano_rolls("chorales", "polyphonic/JSB_Chorales.mat")


def folk_tunes() -> Task:
    """The 694, 173 and 170 folk tunes of the Nottingham collection for training, validation and test, as piano rolls.

    As :func:`chorales`, but a frame is an eighth note. Tunes differ much in length (median 255 frames, longest 1,793),
    so in memory they take 0.7 GB, most of it padding.

    Raises:
        DataNotFoundError: the file is not there and cannot be downloaded.
        DataCorruptError: the file is there with the wrong content.
    """
    return _piano_rolls("folk tunes", "polyphonic/Nottingham.mat")


def piano_pieces() -> Task:
    """The 87, 12 and 25 piano pieces of Piano-midi.de for training, validation and test, as piano rolls.

    As :func:`folk_tunes`; the pieces have 65 to 3,857 frames, and take 0.2 GB.

    Raises:
        DataNotFoundError: the file is not there and cannot be downloaded.
        DataCorruptError: the file is there with the wrong content.
    """
    return _piano_rolls("piano pieces", "polyphonic/Piano_midi.mat")


def classical_music() -> Task:
    """The 524, 135 and 124 orchestral and piano scores of MuseData for training, validation and test, as piano rolls.

    As :func:`folk_tunes`; they have 9 to 4,273 frames, and take 1 GB.

    Raises:
        DataNotFoundError: the file is not there and cannot be downloaded.
        DataCorruptError: the file is there with the wrong content.
    """
    return _piano_rolls("classical music", "polyphonic/MuseData.mat")


def _piano_rolls(name: str, file: str) -> Task:
    data = loadmat(locate(file), variable_names=["traindata", "validdata", "testdata"])
    train, valid, test = (_padded(data[f"{split}data"][0]) for split in ("train", "valid", "test"))
    return Task(name, train, valid, test, KEYS, KEYS, kind="bits per step", labels=NOTES)


def _padded(rolls: np.ndarray) -> Sequences:
    lengths = torch.tensor([len(roll) for roll in rolls])
    frames = torch.zeros(int(lengths.max()), len(rolls), KEYS)
    for n, roll in enumerate(rolls):
        frames[: len(roll), n] = torch.from_numpy(roll)
    return Sequences(frames[:-1], frames[1:], lengths - 1)
