"""Words over a group: the product so far is a state that no finite memory of the inputs replaces."""

from collections.abc import Sequence

import torch
from torch.nn import functional as F

from fhx._checks import positive
from fhx.machines.groups import compose, labelled_group
from fhx.tasks.arguments import checked_sizes, floating
from fhx.tasks.sequences import Sequences, Task

__all__ = ["running_parity", "spaced_word", "word_problem"]


def word_problem(
    group: str,
    steps: int,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int = 0,
    *,
    letters: Sequence[str] | None = None,
    test_steps: int | None = None,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""Random words over a finite group; after each letter the product of the word so far.

    .. math:: y_t = x_t \circ x_{t-1} \circ \dots \circ x_1, \qquad x_t \in G,

    the permutation that results from applying the letters in the order in which they are read. Groups are named by a
    letter and a number: ``"S5"``, all permutations of 5 points; ``"A5"``, the even ones; ``"Z2"``, the rotations of 2.
    Elements are numbered in lexicographic order and labelled in one-line notation, ``"21345"`` exchanges the first two
    points; rotations are labelled by their number of places, so that ``"Z2"`` is PARITY.

    Inputs ``(steps, N, letters)`` are one-hot, targets ``(steps, N)`` are the classes :math:`0, \dots, |G| - 1`, the
    identity first.

    If all elements are letters, the product is uniform on :math:`G` as long as one of the letters is unknown. So
    without memory of the whole word no answer is better than a guess, accuracy :math:`1 / |G|` and cross-entropy
    :math:`\ln |G|` nats, except at the first step, which needs no memory.

    Args:
        group: "S2" to "S6", "A3" to "A6", or "Z2" to "Z200".
        steps: length of the words to train on and to choose by.
        sizes: number of words for training, validation and test. They are drawn independently.
        seed: a seed.
        letters: labels of the elements of which words are made, for inputs in this order; None: all elements.
        test_steps: length of the test words; None: ``steps``.
        dtype: of the inputs; None: torch's default.

    Raises:
        ValueError: there is no such group, a letter is not an element or is named twice, a length or a size is below 1,
            or ``dtype`` is not floating.

    Source: Barrington (1989): for a group that is not solvable, such as :math:`S_5`, deciding whether the product is
    the identity is complete for the class :math:`NC^1`. As a test of whether nets track a state: Merrill, Petty and
    Sabharwal (2024).
    """
    named = labelled_group(group)
    elements, labels = tuple(named.values()), tuple(named)
    number = {element: k for k, element in enumerate(elements)}
    chosen = labels if letters is None else tuple(letters)
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(labels):
        some = ", ".join(labels[:4])
        raise ValueError(f"letters must be different elements of {group}, such as {some}, not {chosen!r}")
    lengths = _lengths(steps, test_steps)
    generator, dtype = torch.Generator().manual_seed(seed), floating(dtype)
    read = [named[letter] for letter in chosen]
    table = torch.tensor([[number[compose(p, x)] for x in read] for p in elements])

    def draw(length: int, size: int) -> Sequences:
        word = torch.randint(len(read), (length, size), generator=generator)
        products = [torch.zeros_like(word[0])]
        for x in word:
            products.append(table[products[-1], x])
        return Sequences(F.one_hot(word, len(read)).to(dtype), torch.stack(products[1:]))

    train, valid, test = map(draw, lengths, checked_sizes(sizes))
    name = f"words over {group}"
    return Task(name, train, valid, test, len(chosen), len(elements), kind="class per step", labels=labels)


def spaced_word(
    group: str,
    steps: int,
    length: int,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int = 0,
    *,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""A short word over a group, its letters far apart; at the end its product.

    .. math:: y = g_k \circ \dots \circ g_1, \qquad x_{t_i} = g_i, \; t_1 < \dots < t_k \le T, \qquad
       x_t = \text{blank otherwise},

    with :math:`g_i` uniform on the group, and the set of the :math:`t_i` uniform on those of :math:`k` steps. Inputs
    ``(steps, N, order + 1)`` are one-hot, the blank last; targets ``(N,)`` are the classes of :func:`word_problem`.

    If one of the letters is unknown, the product is uniform: no answer is better than a guess, accuracy
    :math:`1 / |G|`. A net has to hold what it has read over gaps of any length, and to multiply; where the group is
    not commutative it must keep the order, which sums over the inputs do not.

    Args:
        group: "S2" to "S6", "A3" to "A6", or "Z2" to "Z200".
        steps: :math:`T`.
        length: :math:`k`, letters of the word.
        sizes: number of words for training, validation and test. They are drawn independently.
        seed: a seed.
        dtype: of the inputs; None: torch's default.

    Raises:
        ValueError: there is no such group, a number is below 1, the word is longer than the steps, or ``dtype`` is not
            floating.
    """
    named = labelled_group(group)
    elements, labels = tuple(named.values()), tuple(named)
    number = {element: k for k, element in enumerate(elements)}
    order, steps, length = len(elements), positive("steps", steps), positive("length", length)
    if length > steps:
        raise ValueError(f"length is {length}, and a word must fit into {steps} steps")
    generator, dtype = torch.Generator().manual_seed(seed), floating(dtype)
    table = torch.tensor([[number[compose(p, x)] for x in elements] for p in elements])

    def draw(size: int) -> Sequences:
        word = torch.randint(order, (length, size), generator=generator)
        places = torch.rand(steps, size, generator=generator).argsort(0)[:length].sort(0).values
        read = torch.full((steps, size), order).scatter(0, places, word)
        product = torch.zeros_like(word[0])
        for x in word:
            product = table[product, x]
        return Sequences(F.one_hot(read, order + 1).to(dtype), product)

    train, valid, test = (draw(size) for size in checked_sizes(sizes))
    return Task(f"spaced words over {group}", train, valid, test, order + 1, order, kind="class at end", labels=labels)


def running_parity(
    steps: int = 20,
    sizes: tuple[int, int, int] = (1000, 200, 200),
    seed: int = 0,
    test_steps: int | None = None,
) -> Task:
    r"""Random bit words; after each bit the parity so far.

    .. math:: y_t = x_1 \oplus x_2 \oplus \dots \oplus x_t, \qquad x_t \in \{0, 1\}.

    Inputs ``(steps, N, 1)`` are fair, independent bits; targets ``(steps, N)`` are the classes 0 (even) and 1 (odd).
    These are the words over the group of two, ``"Z2"``, read as numbers and not as one-hot vectors.

    Args:
        steps: length :math:`T` of the words to train on and to choose by.
        sizes: number of words for training, validation and test. They are drawn independently, so short words recur.
        seed: a seed.
        test_steps: length of the test words; None: ``steps``.

    Raises:
        ValueError: a length or a size is below 1.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(length: int, size: int) -> Sequences:
        bits = torch.randint(2, (length, size), generator=generator)
        return Sequences(bits[..., None].to(torch.get_default_dtype()), bits.cumsum(0) % 2)

    train, valid, test = map(draw, _lengths(steps, test_steps), checked_sizes(sizes))
    return Task("parity", train, valid, test, 1, 2, kind="class per step", labels=("even", "odd"))


def _lengths(steps: int, test_steps: int | None) -> tuple[int, int, int]:
    steps = positive("steps", steps)
    return steps, steps, steps if test_steps is None else positive("test_steps", test_steps)
