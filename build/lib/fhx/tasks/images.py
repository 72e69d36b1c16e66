"""Handwritten digits, read as sequences. They come with scikit-learn, so nothing is downloaded."""

from typing import Literal

import torch

from fhx._extras import needs
from fhx.tasks.sequences import Sequences, Task


def digits(by: Literal["pixel", "row"] = "pixel", seed: int = 0) -> Task:
    r"""The 1,797 handwritten digits of 8 by 8 pixels (Alpaydin and Kaynak 1998), to be classified at the end.

    Reading by pixel gives 64 steps of one grey value, row after row from the top left; by row, 8 steps of 8. Grey
    values :math:`0, \dots, 16` are divided by 16. Targets ``(N,)`` are the digits. A fifth of the images, 360, is for
    testing and a fifth for validation, with equal shares of each digit (stratified).

    Args:
        by: ``"pixel"`` or ``"row"``.
        seed: of the split.

    Raises:
        ValueError: another way of reading is asked for.
    """
    if by not in ("pixel", "row"):
        raise ValueError(f"digits are read by 'pixel' or by 'row', not by {by!r}")
    with needs("data"):
        from sklearn.datasets import load_digits  # a second of imports, for this task only
        from sklearn.model_selection import train_test_split

    images, classes = load_digits(return_X_y=True)
    rest, test = train_test_split(range(len(classes)), test_size=360, stratify=classes, random_state=seed)
    train, valid = train_test_split(rest, test_size=360, stratify=classes[rest], random_state=seed)
    pixels = torch.as_tensor(images / 16, dtype=torch.get_default_dtype())
    steps = pixels.reshape(len(pixels), 64 if by == "pixel" else 8, -1).transpose(0, 1).contiguous()
    everything = Sequences(steps, torch.as_tensor(classes, dtype=torch.int64))
    parts = everything.take(train), everything.take(valid), everything.take(test)
    labels = tuple(str(digit) for digit in range(10))
    return Task(f"digits by {by}", *parts, steps.shape[2], 10, kind="class at end", labels=labels)
