"""Sentences about a stored result: all hold, or those that do not are named."""

import numpy as np
import pytest

from fhx.experiments import verified


def test_a_line_for_each_sentence_in_order(capfd):
    assert verified({"two is more than one": 2 > 1, "an array's too": np.float64(1) < 2}) == (
        "two is more than one: True\nan array's too: True"
    )
    assert capfd.readouterr() == ("", "")


def test_every_sentence_that_does_not_hold_is_named_and_no_other():
    with pytest.raises(AssertionError) as caught:
        verified({"up": np.bool_(False), "level": True, "down": 1 > 2})
    assert str(caught.value) == "these do not hold: up; down"


def test_nothing_verifies_nothing():
    with pytest.raises(ValueError, match="nothing to verify"):
        verified({})
