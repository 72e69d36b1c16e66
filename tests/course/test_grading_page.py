"""The page on grading: its commands, run in an empty folder, print what it says, and its pictures are not old."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "tools"))

from fhx.course.grading.namespaces import isolation_problem
from grading_page import PAGE, PICTURED, hash_of_words, played, stored_hashes


@pytest.mark.alone
def test_the_page_is_what_its_commands_print(tmp_path: Path) -> None:
    if problem := isolation_problem():
        pytest.skip(problem)
    text = PAGE.read_text("utf-8")
    now, pictured = played(text, tmp_path)
    assert now == text, "to write it anew: python book/tools/grading_page.py"
    assert pictured.keys() == PICTURED.keys()
    assert {name: stored_hashes(name) for name in pictured} == {
        name: {hash_of_words(source)} for name, source in pictured.items()
    }


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)ls nowhere.*exit status"):
        played("```console\n$ echo one\n$ ls nowhere\n```\n", tmp_path)


def test_old_output_is_replaced(tmp_path: Path) -> None:
    old = "A\n\n  ```console\n  $ echo one\n  two\n  $ true\n  ```\n\n```bash\n$ echo no\n```\n"
    assert played(old, tmp_path) == (old.replace("two", "one"), {})


def test_seconds_are_no_words() -> None:
    page = "<p>7 submissions, 1.3 minutes of grading in all.</p><figure><figcaption>How long</figcaption>9</figure>"
    assert hash_of_words(page) == hash_of_words(page.replace("1.3", "2.4").replace("9", "8"))
    assert hash_of_words(page) != hash_of_words(page.replace("7", "6"))
