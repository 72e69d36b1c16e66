"""Answers that are the same, or nearly so, whatever their names: listed for a person, who judges what it means."""

import io
import re
import tokenize
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

import numpy as np

from fhx.course.grading.forms import LONGEST, Form, form_of
from fhx.course.grading.pages import page
from fhx.course.grading.records import Graded
from fhx.course.grading.solved import solutions
from fhx.course.grading.texts import spelt_out, table
from fhx.exercises import EXERCISES, Exercise

__all__ = ["LEAST", "NEAR", "SHORTEST", "SHORTEST_NEAR", "Group", "likeness", "similar_answers", "similar_csv"]
__all__ += ["similar_page", "tokens"]

SHORTEST, SHORTEST_NEAR = 50, 70
"""Nodes of a syntax tree, at least: of answers that are compared at all, and of those that are compared for near
likeness, which have at most :data:`LONGEST`. What is shorter looks alike by chance."""
NEAR = 0.92
"""From here on two answers are nearly the same. The book's solutions of different exercises stay below it, and below
0.8 where both have :data:`SHORTEST_NEAR` nodes."""
LEAST = 3
"""As many have to share a form before it counts as what everyone has."""
NUMBERED = re.compile(r"\b([vf])\d+\b")


@dataclass(frozen=True)
class Group:
    """Answers that are alike.

    Attributes:
        exercise: its id.
        students: two, or more if their answers are the same.
        likeness: 1 for the same.
        code: the form of the first.
    """

    exercise: str
    students: tuple[str, ...]
    likeness: float
    code: str


def similar_answers(forms: Mapping[str, Mapping[str, Form]], exercises: Sequence[str]) -> list[Group]:
    """The answers that are alike, the same ones first.

    Left out are short answers, what more than half of the class has, and the book's own solution and what is near it.

    Args:
        forms: by student and exercise.
        exercises: those that are looked at.
    """
    found = []
    for name in exercises:
        own = {student: answers[name] for student, answers in forms.items() if name in answers}
        found += list(_alike(name, own))
    return sorted(found, key=lambda one: (-one.likeness, one.exercise, one.students))


def _alike(exercise: str, forms: Mapping[str, Form]) -> Iterator[Group]:
    known = Counter(_bare(part) for form in forms.values() for part in form.parts[1:])
    texts: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for student, form in sorted(forms.items()):
        own = [place for place, part in enumerate(form.parts) if not place or not _is_common(known[_bare(part)], forms)]
        text = _renumbered("\n\n".join(form.parts[place] for place in own))
        texts.setdefault(text, []).append(student)
        sizes[text] = sum(form.size[place] for place in own)
    book = _book(exercise)
    kept = [text for text, own in texts.items() if sizes[text] >= SHORTEST and not _is_common(len(own), forms)]
    kept = [text for text in kept if not book or likeness(tokens(text), book) < NEAR]
    for text in kept:
        if len(texts[text]) > 1:
            yield Group(exercise, tuple(texts[text]), 1.0, spelt_out(text))
    long = [text for text in kept if SHORTEST_NEAR <= sizes[text] <= LONGEST]
    for first, second, share in near_pairs([tokens(text) for text in long]):
        one, other = texts[long[first]], texts[long[second]]
        yield Group(exercise, (one[0], other[0]), share, spelt_out(long[first]))


def _is_common(count: int, forms: Mapping[str, Form]) -> bool:
    """Whether everyone has it, such as a function that was handed out."""
    return count >= LEAST and 2 * count > len(forms)


def _bare(text: str) -> str:
    """A form without the numbers of its names."""
    return NUMBERED.sub(r"\1", text)


def _renumbered(text: str) -> str:
    order: dict[str, str] = {}
    return re.sub(r"\bf\d+\b", lambda found: order.setdefault(found[0], f"f{len(order)}"), text)


@cache
def _book(exercise: str) -> list[str]:
    """The tokens of the book's solution."""
    code = solutions().get(exercise)
    form = form_of(EXERCISES[exercise].function, [code]) if code else None
    return tokens("\n\n".join(form.parts)) if form else []


def tokens(text: str) -> list[str]:
    """Of a form, without the numbers of its names."""
    skipped = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER)
    read = tokenize.generate_tokens(io.StringIO(_bare(text)).readline)
    return [
        token.string if token.string.strip() else tokenize.tok_name[token.type]
        for token in read
        if token.type not in skipped
    ]


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of tokens, of both together, that stand in the same order in both."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def near_pairs(texts: Sequence[Sequence[str]]) -> Iterator[tuple[int, int, float]]:
    """The pairs of places with a likeness of at least :data:`NEAR`, and that.

    Pairs are ruled out by counts first. Two texts with d tokens in one and not in the other share all but 2 d of their
    pairs of neighbors, and at most a share of 1 - NEAR of all tokens may be such.
    """
    words, pairs = _counts(texts), _counts([list(pairwise(text)) for text in texts])
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    for place, text in enumerate(texts):
        both = len(text) + lengths[place + 1 :]
        alike = 2 * _shared(words, place) >= NEAR * both
        alike &= _shared(pairs, place) >= np.maximum(len(text), both - len(text)) - 1 - 2 * (1 - NEAR) * both
        others = (np.flatnonzero(alike) + place + 1).tolist()
        if others:
            matcher.set_seq2(text)
        for other in others:
            matcher.set_seq1(texts[other])
            if (share := matcher.ratio()) >= NEAR:
                yield place, other, share


def _shared(counts: np.ndarray, place: int) -> np.ndarray:
    """How many things the text at a place shares with each after it."""
    return np.minimum(counts[place], counts[place + 1 :]).sum(1)


def _counts(texts: Sequence[Sequence[Hashable]]) -> np.ndarray:
    """How often each thing stands in each text."""
    names: dict[Hashable, int] = {}
    rows = [[names.setdefault(thing, len(names)) for thing in text] for text in texts]
    counts = np.zeros((len(texts), len(names)), dtype=np.int32)
    for row, own in enumerate(rows):
        np.add.at(counts[row], own, 1)
    return counts


def similar_csv(groups: Sequence[Group]) -> bytes:
    """A row for each group."""
    rows = [["exercise", "likeness", "submissions"]]
    return table([*rows, *([one.exercise, f"{one.likeness:.2f}", *one.students] for one in groups)])


def similar_page(
    groups: Sequence[Group], batch: Sequence[Graded], heading: str, exercises: Mapping[str, Exercise] = EXERCISES
) -> str:
    """The page as HTML."""
    by_name = {graded.student: graded for graded in batch}
    rows = [(one, [by_name[student] for student in one.students]) for one in groups]
    return page("similar", heading, rows=rows, exercises=exercises)
