"""What a course knows of the exercises: each has notes that the schema allows, and no mistake of theirs passes."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from fhx.exercises import EXERCISES, check, notes
from fhx.exercises.collection import CHAPTERS

FOLDER = Path(notes.__file__).parent
SCHEMA = json.loads((FOLDER / "schema.json").read_text("utf-8"))
NUMBERS = [f"{number:02}" for number in CHAPTERS]
MISTAKES = [(id, mistake) for id, exercise in EXERCISES.items() for mistake in exercise.notes.mistakes]


def test_a_file_for_each_chapter():
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == NUMBERS
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("number", NUMBERS)
def test_notes_are_what_the_schema_says_in_the_order_of_the_book(number):
    found = tomllib.loads((FOLDER / f"{number}.toml").read_text("utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert [entry["id"] for entry in found["exercises"]] == [id for id in EXERCISES if id.startswith(number)]


def test_there_are_eighty_exercises_of_every_difficulty():
    found = [exercise.notes for exercise in EXERCISES.values()]
    assert len(found) >= 80
    assert {one.difficulty for one in found} == {"one line", "a few lines", "a page", "project"}
    assert any(one.looks_for for one in found)


@pytest.mark.parametrize(("id", "mistake"), MISTAKES, ids=[f"{id}: {mistake.says}" for id, mistake in MISTAKES])
def test_a_stated_input_finds_the_mistake(id, mistake):
    """A reader sees it and can follow it by hand; random inputs, which come later, need not find it."""
    names: dict = {}
    exec(compile(mistake.code, f"mistake in {id}", "exec"), names)
    assert check(id, names[EXERCISES[id].function], random_inputs=0).status in ("differs", "malformed")


def test_the_exercises_cannot_be_changed():
    with pytest.raises(TypeError, match="does not support item assignment"):
        EXERCISES["03-nothing"] = EXERCISES["03-hat"]
