"""Whatever a file holds, it is read in bounded time and memory, or refused with a sentence."""

import json
import os
import threading
import time

import pytest
from submitted import code, text

from fhx.course.grading import form_reader, judge, notebook
from fhx.course.grading.form_reader import _lines
from fhx.course.grading.forms import LONGEST, form_of
from fhx.course.grading.judge import _Grader, grade_file
from fhx.course.grading.marks import Task
from fhx.course.grading.notebook import Notebook, read_notebook
from fhx.course.notebooks import NotebookError
from fhx.exercises import EXERCISES


class Ready:
    """A launcher that is asked for nothing."""

    def ready(self):
        """It is."""


def lines_of(content):
    reads, writes = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(writes, content[:1]), _write(writes, content[1:])))
    writer.start()
    try:
        yield from _lines(reads)
    finally:
        os.close(reads)
        writer.join()


def _write(file, content):
    try:
        while content:
            content = content[os.write(file, content) :]
    except BrokenPipeError:
        pass
    finally:
        os.close(file)


def test_lines_come_whole_and_one_that_is_too_long_ends_them():
    assert list(lines_of(b"a\nbc\n\n" + b"d" * 200_000 + b"\nlost")) == [b"a", b"bc", b"", b"d" * 200_000]
    began = time.process_time()
    assert list(lines_of(b"a\n" + b"b" * (4 * form_reader.LONGEST_LINE) + b"\nc\n")) == [b"a"]
    assert time.process_time() - began < 2


def test_a_file_has_one_deadline(monkeypatch):
    monkeypatch.setattr(form_reader, "SECONDS", 0.5)
    reads, writes = os.pipe()
    ended = threading.Event()

    def drip():
        while not ended.wait(0.1):
            os.write(writes, b"x")

    writer = threading.Thread(target=drip)
    writer.start()
    began = time.monotonic()
    try:
        assert list(_lines(reads)) == []
        assert 0.4 < time.monotonic() - began < 2
    finally:
        ended.set()
        writer.join()
        os.close(reads)
        os.close(writes)


def test_a_form_that_is_long_is_kept_as_a_digest():
    long = "def f():\n" + "    x = 1\n" * LONGEST
    one, same, other = form_of("f", [long]), form_of("f", [long.replace("x", "y")]), form_of("f", [long + "    y = 2"])
    assert len(one.parts[0]) < 200
    assert one == same != other
    wide = form_of("f", [f"def f():\n    return {'a' * 1_000_000!r}"])
    assert len(wide.parts[0]) < 200


def test_many_cells_are_refused(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(text([code("x = 1")] * (notebook.MOST_CELLS + 1)))
    with pytest.raises(NotebookError, match="2001 code cells"):
        read_notebook(path)
    (mark, *_) = grade_file(path, Task(3, "the seed of a test"), Ready())
    assert mark.status == "invalid file"


def test_all_cells_have_one_deadline():
    """Any one of these is read in a tenth of that time, all of them in ten times that time or more."""
    source = "\n".join(f"x{n} = [{n}, {n}, {n}]" for n in range(400))
    began = time.process_time()
    found = Notebook([source] * 200, seconds=1.0)
    assert time.process_time() - began < 4
    assert found.cells[0].error is None
    assert "could not be read" in found.cells[-1].error


def test_many_cells_are_sliced_in_time():
    names = [f"a{n}" for n in range(2_000)]
    first, others = "\n".join(f"{name} = []" for name in names), [f"b{n} = 1" for n in range(1_900)]
    users = [f"c{n} = [{', '.join(names)}]" for n in range(60)]
    found = Notebook([first, *others, *users, f"def f():\n    return {', '.join(f'c{n}' for n in range(60))}"])
    began = time.process_time()
    assert len(found.slice("f")) == 62
    assert time.process_time() - began < 3


def test_reading_counts_as_time_of_the_notebook(tmp_path, monkeypatch):
    path = tmp_path / "a.ipynb"
    path.write_text(text([code("def hats(n):\n    return 1")]))
    monkeypatch.setattr(judge, "read_notebook", lambda path, seconds: (time.sleep(0.3), read_notebook(path))[1])
    task = Task(3, "the seed of a test", only=("03-hat",))
    task = judge.replace(task, limits=judge.replace(task.limits, total=0.2))
    (mark,) = grade_file(path, task, Ready())
    assert (mark.status, mark.message) == ("look at this", judge.TOO_LATE)


def test_finding_the_cells_of_an_answer_has_an_end(monkeypatch):
    def forever(*_):
        while True:
            pass

    grader = _Grader(Notebook(["def hats(n):\n    return 1"]), Task(3, "the seed of a test"), Ready())
    monkeypatch.setattr(Notebook, "ways", forever)
    monkeypatch.setattr(judge, "READING", 0.2)
    assert grader.mark(EXERCISES["03-hat"]).message == judge.TOO_LATE


def test_metadata_of_any_kind_are_read_in_time(tmp_path):
    """A regular expression once ran over them, and did not end."""
    path = tmp_path / "a.ipynb"
    inner = "{" * 20 + "}" * 20
    tail = '{"language_info": {' + '"a": {}, ' * 60_000 + '"b": 1}, "x": "' + inner + '"}'
    path.write_text('{"cells": [], "metadata": ' + tail + "}")
    began = time.process_time()
    assert read_notebook(path).python == ""
    assert time.process_time() - began < 3


@pytest.mark.parametrize("info", [3, {"version": 3}, {"version": "x"}, {"version": "3.1" + "1" * 900}])
def test_a_version_is_read_or_left(tmp_path, info):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [], "metadata": {"language_info": info}}))
    assert len(read_notebook(path).python) < 10


@pytest.mark.parametrize("value", ["[]", "{}", "0", "[[[]]]"])
def test_absurdly_many_values_are_refused_before_they_are_made(tmp_path, monkeypatch, value):
    monkeypatch.setattr(notebook, "MOST_VALUES", 1_000)
    path = tmp_path / "a.ipynb"
    path.write_text('{"cells": [], "x": [' + f"{value}," * 1_000 + "0]}")
    monkeypatch.setattr(notebook, "data_of", lambda _: pytest.fail("it was read"))
    with pytest.raises(NotebookError, match="values"):
        read_notebook(path)


def test_a_file_of_more_than_fifty_mebibytes_is_refused(tmp_path):
    path = tmp_path / "a.ipynb"
    with path.open("wb") as file:
        file.truncate(51 * 2**20)
    with pytest.raises(NotebookError, match="51 MiB long; clear its outputs"):
        read_notebook(path)


def test_an_old_format_is_named(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": []}], "metadata": {}}))
    with pytest.raises(NotebookError, match=r"version 3; .*save it again"):
        read_notebook(path)


def test_a_mark_of_the_byte_order_is_no_part_of_a_cell(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(text([code("\ufeffdef f():\n    return 1"), code("\ufeff%%time\nx = 1")]))
    found = read_notebook(path)
    assert [cell.error for cell in found.cells] == [None, None]
    assert found.has_answer("f")
    assert not found.cells[0].source.startswith("\ufeff")
