"""WikiText-2: two million words of Wikipedia, the next one to be predicted (Merity et al. 2016)."""

from collections import Counter

import numpy as np
import torch

from fhx.tasks.files import locate
from fhx.tasks.sequences import Sequences, Task

UNKNOWN, END = "<unk>", "<eos>"
DISTINCT = 33_278
"""Words of the training text, ``<unk>`` and ``<eos>`` among them."""


def wikitext2(vocabulary: int | None = 10_000, streams: int = 20) -> Task:
    r"""WikiText-2 as word ids; at each step the next word.

    A word is what stands between spaces; each line ends with ``<eos>``. The vocabulary holds the most frequent words of
    the training text, ids by falling frequency (ties by alphabet, so that ids do not depend on the order of articles);
    all other words are read as ``<unk>``, which with ``<eos>`` is always in it. Each split, one long text of :math:`M`
    words, is cut into ``streams`` contiguous pieces that are read side by side: inputs ``(time, streams)`` and targets
    ``(time, streams)`` are ids (int64) with ``targets[t] == inputs[t + 1]`` and
    :math:`\text{time} = \lfloor (M - 1) / \text{streams} \rfloor`; the few words left over are dropped.
    The method ``windows`` of :class:`~fhx.tasks.Sequences` cuts them into pieces short enough to train on.

    Args:
        vocabulary: number of word ids, from 2 to 33,278; None: all.
        streams: number of pieces.

    Returns:
        A task of kind ``class per step`` whose ``labels`` are the words, so ``labels[id]`` is the word.

    Raises:
        ValueError: ``vocabulary`` or ``streams`` is out of range.
        DataNotFoundError: a file is not there and cannot be downloaded.
        DataCorruptError: a file is there with the wrong content.
    """
    size = DISTINCT if vocabulary is None else vocabulary
    if not 2 <= size <= DISTINCT:
        raise ValueError(f"vocabulary must lie between 2 and {DISTINCT:,}, all words of the text; got {size:,}")
    if not 1 <= streams <= 10_000:
        raise ValueError(f"streams must lie between 1 and 10,000, got {streams:,}")
    texts = [read_words(split) for split in ("train", "valid", "test")]
    words = frequent_words(texts[0], size)
    number = {word: i for i, word in enumerate(words)}
    unknown = number[UNKNOWN]

    def cut(text: list[str]) -> Sequences:
        ids = torch.from_numpy(np.fromiter((number.get(word, unknown) for word in text), np.int64, len(text)))
        steps = (len(ids) - 1) // streams
        inputs, targets = (ids[k : k + steps * streams].view(streams, steps).T.contiguous() for k in (0, 1))
        return Sequences(inputs, targets)

    train, valid, test = map(cut, texts)
    return Task("WikiText-2", train, valid, test, size, size, kind="class per step", labels=words)


def read_words(split: str) -> list[str]:
    """The words of a split (``train``, ``valid`` or ``test``) in order, with ``<eos>`` after each line."""
    text = locate(f"wikitext-2/{split}.txt").read_text(encoding="utf-8")
    return text.replace("\n", f" {END} ").split()


def frequent_words(text: list[str], size: int) -> tuple[str, ...]:
    """The ``size`` most frequent words of a text by falling frequency, where every rarer word counts as ``<unk>``.

    Raises:
        ValueError: ``size`` < 2, since ``<unk>`` and ``<eos>`` are always among them.
    """
    if size < 2:
        raise ValueError(f"a vocabulary needs at least 2 words, {UNKNOWN} and {END}; got {size}")
    counts = Counter(text)
    ranked = sorted(counts.keys() - {UNKNOWN, END}, key=lambda word: (-counts[word], word))
    kept = {word: counts[word] for word in (*ranked[: size - 2], END)}
    kept[UNKNOWN] = len(text) - sum(kept.values())
    return tuple(sorted(kept, key=lambda word: (-kept[word], word)))
