"""Digits: the images of scikit-learn, each once, and what the most frequent class is worth."""

from collections import Counter

import pytest
import torch
from seeded import splits

from fhx.tasks import digits, logistic_map, majority_class


@pytest.mark.parametrize(("by", "shape"), [("pixel", (64, 1)), ("row", (8, 8))])
def test_digits_are_the_images_of_scikit_learn_read_in_order(by, shape):
    from sklearn.datasets import load_digits

    task = digits(by)
    assert (task.input_size, task.output_size, task.kind) == (shape[1], 10, "class at end")
    assert [len(part) for part in splits(task)] == [1077, 360, 360]
    known = {image.tobytes(): target for image, target in zip(*load_digits(return_X_y=True), strict=True)}
    seen = Counter()
    for part in splits(task):
        assert (part.steps, part.inputs.shape[2]) == shape
        assert part.inputs.min() >= 0
        assert part.inputs.max() == 1
        images = (part.inputs.transpose(0, 1).reshape(len(part), 64).double() * 16).numpy()
        for image, target in zip(images, part.targets.tolist(), strict=True):
            assert known[image.tobytes()] == target
            seen[image.tobytes()] += 1
        assert all(abs(count - len(part) / 10) < 0.04 * len(part) / 10 + 1 for count in part.targets.bincount())
    assert sum(seen.values()) == 1797
    assert max(seen.values()) == 1


def test_digits_split_by_their_seed():
    assert torch.equal(digits("row").test.inputs, digits("row").test.inputs)
    assert not torch.equal(digits("row", seed=1).test.inputs, digits("row").test.inputs)
    with pytest.raises(ValueError, match="'column'"):
        digits("column")


def test_the_majority_class_is_right_as_often_as_it_occurs():
    task = digits("row")
    (answer, _), *_ = Counter(task.train.targets.tolist()).most_common(1)
    assert majority_class(task) == pytest.approx(task.test.targets.tolist().count(answer) / 360)
    with pytest.raises(ValueError, match="'value per step'"):
        majority_class(logistic_map())


@pytest.mark.usefixtures("unchecked")
def test_a_split_that_is_not_one_is_named():
    task = digits("row")
    with pytest.raises(ValueError, match=r"^split must be one of 'train', 'valid', 'test', got 'tests'"):
        majority_class(task, "tests")
