"""Data and targets: what a recurrent net is asked to do.

Each function returns a :class:`Task`: sequences for training, validation and testing, and the kind of output that is
wanted.
"""

from fhx._extras import needs

with needs("torch"):
    from fhx.tasks.acceptors import Acceptor
    from fhx.tasks.baselines import (
        frame_nll,
        key_frequencies,
        last_frame,
        linear_delay_r2,
        majority_class,
        note_frequencies,
    )
    from fhx.tasks.files import DataCorruptError, DataNotFoundError, locate
    from fhx.tasks.groups import running_parity, spaced_word, word_problem
    from fhx.tasks.images import digits
    from fhx.tasks.languages import LANGUAGES, Language, formal_language, next_symbols
    from fhx.tasks.maps import henon_step, logistic_orbit, logistic_step, lorenz_step, pendulum_step
    from fhx.tasks.memory import adding, copy_memory, recall
    from fhx.tasks.music import chorales, classical_music, folk_tunes, piano_pieces
    from fhx.tasks.registry import FILES, DataFile
    from fhx.tasks.sequences import KINDS, Kind, Sequences, Task
    from fhx.tasks.systems import logistic_map, lorenz, pendulum
    from fhx.tasks.teacher import teacher, teacher_recurrence
    from fhx.tasks.text import wikitext2

__all__ = [
    "FILES",
    "KINDS",
    "LANGUAGES",
    "Acceptor",
    "DataCorruptError",
    "DataFile",
    "DataNotFoundError",
    "Kind",
    "Language",
    "Sequences",
    "Task",
    "adding",
    "chorales",
    "classical_music",
    "copy_memory",
    "digits",
    "folk_tunes",
    "formal_language",
    "frame_nll",
    "henon_step",
    "key_frequencies",
    "last_frame",
    "linear_delay_r2",
    "locate",
    "logistic_map",
    "logistic_orbit",
    "logistic_step",
    "lorenz",
    "lorenz_step",
    "majority_class",
    "next_symbols",
    "note_frequencies",
    "pendulum",
    "pendulum_step",
    "piano_pieces",
    "recall",
    "running_parity",
    "spaced_word",
    "teacher",
    "teacher_recurrence",
    "wikitext2",
    "word_problem",
]
