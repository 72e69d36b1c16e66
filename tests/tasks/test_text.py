"""WikiText-2: its words, its vocabulary, and its streams."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded import splits

from fhx.tasks import wikitext2
from fhx.tasks.text import frequent_words, read_words


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "<unk>", "<eos>"]), max_size=40), st.integers(2, 8))
def test_the_vocabulary_keeps_the_frequent_words_and_counts_the_rest_as_unknown(text, size):
    words = frequent_words(text, size)
    assert len(words) == len(set(words)) == min(size, len({*text, "<unk>", "<eos>"}))
    assert {"<unk>", "<eos>"} <= set(words)
    counts = Counter(text)
    dropped = set(text) - set(words)
    kept = [word for word in words if word not in ("<unk>", "<eos>")]
    assert all(counts[word] >= counts[other] for word in kept for other in dropped)
    read = Counter(word if word in words else "<unk>" for word in text)
    assert [read[word] for word in words] == sorted((read[word] for word in words), reverse=True)
    assert frequent_words(text[::-1], size) == words  # the order of the articles does not matter
    with pytest.raises(ValueError, match="at least 2 words"):
        frequent_words(text, 1)


@pytest.mark.usefixtures("real_data")
def test_wikitext_has_the_known_number_of_words():
    texts = {split: read_words(split) for split in ("train", "valid", "test")}
    words = {split: sum(word != "<eos>" for word in text) for split, text in texts.items()}
    assert words == {"train": 2_051_910, "valid": 213_886, "test": 241_211}
    assert {split: len(text) for split, text in texts.items()} == {
        "train": 2_088_628,
        "valid": 217_646,
        "test": 245_569,
    }
    assert len(set(texts["train"]) - {"<eos>"}) == 33_277


@pytest.mark.usefixtures("real_data")
def test_wikitext_streams_are_the_text_and_ask_for_its_next_word():
    task = wikitext2(vocabulary=10_000, streams=20)
    assert (task.input_size, task.output_size, task.kind, len(task.labels)) == (
        10_000,
        10_000,
        "class per step",
        10_000,
    )
    for part, split in zip(splits(task), ("train", "valid", "test"), strict=True):
        text = read_words(split)
        assert part.inputs.dtype == part.targets.dtype == torch.int64
        assert tuple(part.inputs.shape) == ((len(text) - 1) // 20, 20)
        assert torch.equal(part.targets[:-1], part.inputs[1:])
        assert torch.equal(part.targets[-1, :-1], part.inputs[0, 1:])  # one stream goes on where the last one ended
        for stream in (0, 7, 19):
            start = stream * part.steps
            known = [word if word in task.labels[:500] else None for word in text[start : start + 300]]
            read = [task.labels[i] for i in part.inputs[:300, stream].tolist()]
            assert all(a == b for a, b in zip(known, read, strict=True) if a is not None)
    assert task.labels[:3] == ("<unk>", "the", ",")


@pytest.mark.usefixtures("real_data")
def test_the_full_vocabulary_loses_no_word():
    task = wikitext2(vocabulary=None, streams=1)
    assert task.input_size == 33_278
    assert [task.labels[i] for i in task.train.inputs[:2000, 0].tolist()] == read_words("train")[:2000]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"vocabulary": 1}, "vocabulary"),
        ({"vocabulary": 33_279}, "33,278"),
        ({"streams": 0}, "streams"),
        ({"streams": 10**6}, "streams"),
    ],
)
def test_wikitext_refuses_what_cannot_be(arguments, culprit):
    with pytest.raises(ValueError, match=culprit):
        wikitext2(**arguments)
