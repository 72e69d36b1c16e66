"""An instructor's own exercises: what a file may hold, their versions, and the variant of each student."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fhx.course import CourseError
from fhx.course.exercises import joined, known, own_exercises, read_own, read_students, variant_of
from fhx.course.main import main
from fhx.exercises import EXERCISES

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "book" / "samples" / "own"
FILE = SAMPLES / "exercises.py"
TEXT = FILE.read_text("utf-8")
SEED = "a long seed of a test"


@pytest.fixture
def changed(tmp_path):
    """A file with the sample's exercises, in which one thing is another."""

    def make(old, new):
        assert TEXT.count(old) == 1
        (tmp_path / "mine.py").write_text(TEXT.replace(old, new), "utf-8")
        return tmp_path / "mine.py"

    return make


def test_they_are_known_for_as_long_as_they_are_joined():
    own = read_own(FILE)
    assert known() is EXERCISES
    with joined(own):
        assert [*known()][-2:] == ["20-runs", "20-count"]
        assert [*known()][:-2] == [*EXERCISES]
        with joined(()):
            assert known() is EXERCISES
        assert "20-runs" in known()
    assert known() is EXERCISES
    assert read_own(None) == ()


def test_a_folder_of_files(tmp_path):
    (tmp_path / "a.py").write_text(TEXT.replace('"20-', '"21-'), "utf-8")
    (tmp_path / "b.py").write_text(TEXT, "utf-8")
    (tmp_path / "notes.txt").write_text("no exercise")
    own = own_exercises(read_own(tmp_path))
    assert [*own] == ["21-runs", "21-count", "20-runs", "20-count"]
    (tmp_path / "c.py").write_text(TEXT, "utf-8")
    with pytest.raises(CourseError, match=r"c\.py: 20-runs is there twice"):
        read_own(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError, match=r"there is no \.py file in"):
        read_own(tmp_path / "empty")
    with pytest.raises(CourseError, match=r"none\.py cannot be read: No such file"):
        read_own(tmp_path / "none.py")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"20-runs"', '""', "the id '' is not two digits and a name, as 20-power"),
        ('"20-runs"', '"20_runs"', "the id '20_runs' is not"),
        ('"20-runs"', '"20-count"', "20-count is there twice"),
        ('"20-runs"', '"03-hat"', "03-hat is the book’s"),
        ('"runs(word)"', '"runs"', "20-runs: the signature 'runs' names no function"),
        ("notes=RUNS", "notes=None", "20-runs: it has no notes"),
        ('(("",), ("aab",))', "()", "20-runs: it states no case"),
        ('(("",), ("aab",))', '(("", 1),)', "20-runs: case 1, ('', 1), is not a tuple with a value for each of its 1"),
        ('(("",), ("aab",))', "(('',), (5,))", "20-runs: the oracle has no value for case 2, (5,): TypeError"),
        ('(("",), ("aab",))', '("",)', "20-runs: case 1, '', is not a tuple"),
        ("size=generator.integers(1, 30)", "size=-1", "20-runs: sample draws no case: ValueError"),
        (
            "def runs(word):\\n    return sum(1",
            "def run(word):\\n    return sum(1",
            "20-runs: its solution does not define",
        ),
        ("return sum(1 for _ in", "return sum(2 for _ in", "20-runs: its solution is not right: "),
        ("from itertools import groupby", "from none import n", "20-runs: its solution cannot be run: ModuleNotFound"),
        ("integers(2, 9)", "integers(9, 2)", "20-count: a variant: it cannot be made: ValueError"),
        ("_count(int(generator.integers(2, 9)))", "5", "20-count: a variant: 5 is not an Exercise"),
        ("_count(int(generator.integers(2, 9)))", "EXERCISES[0]", "20-count: a variant: its id is not that"),
        ('parameters={"m": modulus}', "parameters={}", "20-count: a variant: it has no parameters"),
        ("EXERCISES = [", "OTHERS = [", "it must define EXERCISES, a list of exercises"),
        ("EXERCISES = [", "EXERCISES = [3, ", "3 in EXERCISES is not an Exercise of fhx.exercises"),
        ("EXERCISES = [", "EXERCISES = [[", "cannot be run: SyntaxError"),
        ("EXERCISES = [", "EXERCISES = [1 / 0, ", "cannot be run: ZeroDivisionError"),
    ],
)
def test_what_is_refused(changed, old, new, words):
    with pytest.raises(CourseError, match=rf"^mine\.py.*{re.escape(words)}") as error:
        read_own(changed(old, new))
    assert "\n" not in str(error.value)


def test_a_variant_hangs_on_seed_student_and_exercise():
    exercise = own_exercises(read_own(FILE))["20-count"]
    students = [f"s{number}" for number in range(40)]

    def drawn(exercise, seed):
        return [variant_of(exercise, seed, student).parameters["m"] for student in students]

    assert drawn(exercise, SEED) == drawn(exercise, SEED)
    assert set(drawn(exercise, SEED)) == {2, 3, 4, 5, 6, 7, 8}
    assert drawn(exercise, SEED) != drawn(exercise, f"{SEED}.")
    assert drawn(exercise, SEED) != drawn(replace(exercise, id="20-other"), SEED)
    # What a name gives must not change from one release to the next.
    assert variant_of(exercise, "maple-kettle-31-otter", "ada").parameters == {"m": 2}
    assert variant_of(EXERCISES["03-hat"], SEED, "ada") is EXERCISES["03-hat"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("name\nada\n", "line 1: there is no column 'student'"),
        ("student\n", "names no student"),
        ("student\nada\nAda\n", "line 3: ada is there before, and Ada is the same name"),
        ("student\nada\n../ben\n", "line 3: '../ben' cannot be the name of a file"),
        ("student\n.\n", "line 2: '.' cannot be the name of a file"),
        ("student,mail\n,ada@example.org\n", "line 2: '' cannot be the name of a file"),
    ],
)
def test_lists_of_students_that_are_refused(tmp_path, table, words):
    (tmp_path / "students.csv").write_text(table, "utf-8")
    with pytest.raises(CourseError, match=re.escape(words)):
        read_students(tmp_path / "students.csv")


@pytest.fixture
def make(tmp_path, capsys):
    """Runs the command; gives its status, what it said, and the notebooks that are there then."""

    def run(kind, *arguments):
        out = tmp_path / "out"
        folders = ["--out", str(out), "--notebooks", str(ROOT / "notebooks")]
        status = main([kind, *map(str, arguments), *folders])
        made = {str(path.relative_to(out)): path.read_text("utf-8") for path in sorted(out.rglob("*.ipynb"))}
        return status, capsys.readouterr().err, made

    return run


def texts(notebook):
    return ["".join(cell["source"]) for cell in json.loads(notebook)["cells"]]


OWN = (SAMPLES / "20-words.ipynb", "--exercises", FILE)


def test_a_student_version_of_an_own_notebook(make):
    status, _, made = make("student", *OWN)
    assert (status, [*made]) == (0, ["20-words-student.ipynb"])
    cells = texts(made["20-words-student.ipynb"])
    assert cells[1].startswith("Student version of 20-words, which goes with [Recurrence](")
    assert "There are 2 exercises with 3 points in all, for about 15 minutes." in cells[1]
    assert "`check`" not in cells[1]
    assert "**Your values:** `m = 3`" in cells[5]
    assert cells[6].endswith("# word = '' gives 0\n# word = 'ab' gives 1\n# word = 'aaaaa' gives 2")
    assert "check(" not in "".join(cells)  # which on a student's machine does not know them
    assert "groupby" not in "".join(cells)


def test_an_instructors_version_of_an_own_notebook(make):
    status, _, made = make("instructor", *OWN, "--only", "20-count")
    cells = "\n".join(texts(made["20-words-instructor.ipynb"]))
    assert status == 0
    assert "It does not take the remainder." in cells
    assert "It has variants" in cells
    assert "There is 1 exercise with 2 points in all, for about 10 minutes." in cells
    assert "groupby" not in cells


def test_each_student_has_a_notebook_with_other_values(make):
    status, _, made = make("student", *OWN, "--variants", SAMPLES / "students.csv", "--seed", SEED)
    assert (status, [*made]) == (0, [f"{name}/20-words-student.ipynb" for name in ("ada", "ben", "cleo")])
    exercise = own_exercises(read_own(FILE))["20-count"]
    seen = set()
    for path, notebook in made.items():
        m = variant_of(exercise, SEED, path.partition("/")[0]).parameters["m"]
        cells = texts(notebook)
        assert f"**Your values:** `m = {m}`" in cells[5]
        assert cells[6].endswith(f"# word = 'aaaaa' gives {5 % m}")
        assert "# word = 'aab' gives 2" in cells[4]  # what has no variants is the same for all
        seen.add(m)
    assert len(seen) > 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((SAMPLES / "20-words.ipynb",), "after ex-runs there is no check of an exercise that the package knows"),
        ((SAMPLES / "20-none.ipynb",), "there is no file"),
        ((FILE.with_suffix(".ipynb"),), "is not named like a chapter, 20-title.ipynb"),
        ((*OWN, "--variants", SAMPLES / "students.csv"), "--variants and --seed go together"),
        ((*OWN, "--seed", SEED), "--variants and --seed go together"),
        ((*OWN, "--variants", SAMPLES / "students.csv", "--seed", "short"), "the seed 'short' could be guessed"),
        (
            (*OWN, "--only", "20-runs", "--variants", SAMPLES / "students.csv", "--seed", SEED),
            "no exercise that is assigned in 20-words.ipynb has variants",
        ),
        (("3", "--variants", SAMPLES / "students.csv", "--seed", SEED), "no exercise that is assigned in 03-auto"),
    ],
)
def test_what_cannot_be_made(make, tmp_path, arguments, words):
    status, error, made = make("student", *arguments)
    assert (status, error.count("\n"), made) == (2, 1, {})
    assert words in error
    assert not (tmp_path / "out").exists()


def test_two_notebooks_of_one_number(make, tmp_path):
    other = tmp_path / "20-other.ipynb"
    other.write_bytes(OWN[0].read_bytes())
    assert "two of the notebooks have the number 20" in make("student", OWN[0], other, *OWN[1:])[1]


def test_the_sample_draws_what_its_oracles_take():
    for exercise in own_exercises(read_own(FILE)).values():
        word = exercise.sample(np.random.default_rng(0))
        assert isinstance(exercise.oracle(*word), int)


def test_two_exercises_that_ask_for_one_function(changed):
    with pytest.raises(CourseError, match=r"mine\.py: 20-count asks for runs, as 20-runs does"):
        read_own(changed('"count(word)"', '"runs(word)"'))
