"""A table of results holds what it was given, as Markdown and as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fhx.figures import results
from fhx.training import interval, proportion

SCORE, COUNT = interval([0.4, 0.5, 0.6]), proportion(9, 10)


def test_each_kind_of_value_is_written_its_own_way():
    found = results(["net", "score", "right", "weights", "note"], [["LSTM", SCORE, COUNT, 12345, None]], digits=2)
    assert found.rows == (("LSTM", "0.50 ± 0.25", "9 of 10 (0.55 to 1.00)", "12,345", ""),)
    assert found.right == (False, True, False, True, True)


def test_a_minus_is_a_minus_and_zero_has_none():
    found = results(["x", "y"], [["a", -0.001], ["b", -1.25], ["c", interval([-1.0, -3.0])]], digits=2)
    assert [row[1] for row in found.rows][:2] == ["0.00", "\u22121.25"]
    assert found.rows[2][1].startswith("\u22122.00 ±")


@pytest.mark.parametrize("written", ["8.294 ± 0.014", "-1.5", "\u22120.2 ± 1", "12,345", "7"])
def test_a_number_that_is_written_out_stands_to_the_right_with_a_minus(written):
    found = results(["net", "score"], [["LSTM", written], ["TCN", ""], ["GRU", None], ["simple", 1.5]])
    assert found.right == (False, True)
    assert found.rows[0][1] == written.replace("-", "\u2212")


@pytest.mark.parametrize("word", ["1 of 2", "2.5 ±", "3 passes", "a1", "1.2.3", "± 3", "1-2", "-"])
def test_other_words_stand_to_the_left_as_they_are(word):
    found = results(["net", "score"], [["LSTM", word], ["TCN", 1.5]])
    assert found.right == (False, False)
    assert found.rows[0][1] == word


def test_markdown_and_text():
    found = results(["net", "score"], [["LSTM", 0.123456], ["a|b", 2.0]])
    assert found._repr_markdown_() == "| net | score |\n| --- | ---: |\n| LSTM | 0.1235 |\n| a\\|b | 2 |"
    assert repr(found) == "net    score\nLSTM  0.1235\na|b        2"


@given(st.lists(st.lists(st.integers() | st.text("ab|", max_size=5), min_size=3, max_size=3), min_size=1, max_size=9))
def test_no_value_is_lost_and_each_row_has_all_cells(rows):
    lines = results(["x", "y", "z"], rows)._repr_markdown_().splitlines()
    assert len(lines) == len(rows) + 2
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}


def test_a_row_of_another_length_is_named():
    with pytest.raises(ValueError, match=r"\('LSTM', 1\) has 2 values, and there are 3 columns"):
        results(["a", "b", "c"], [["GRU", 1, 2], ["LSTM", 1]])
    with pytest.raises(ValueError, match="needs a row"):
        results(["a"], [])
