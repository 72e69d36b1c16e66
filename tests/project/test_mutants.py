"""``results/mutants.json``: each room's tests notice nine changes in ten, and what they do not notice has a reason."""

import json
from pathlib import Path

import mutants
import pytest
import yaml

ROOT = Path(__file__).parents[2]
RESULT = json.loads((ROOT / "results" / "mutants.json").read_text(encoding="utf-8"))
REASONS = yaml.safe_load((ROOT / "tests" / "survivors.yml").read_text(encoding="utf-8"))
LEFT = [survivor["change"] for row in RESULT.values() for survivor in row["survivors"] if "since" not in survivor]


def test_all_rooms_were_judged() -> None:
    assert tuple(RESULT) == mutants.ROOMS


@pytest.mark.parametrize("room", RESULT)
def test_nine_changes_in_ten_are_noticed(room: str) -> None:
    row = RESULT[room]
    assert row["killed"] >= 0.9 * row["tried"]
    assert row["killed"] + len(row["survivors"]) == row["tried"] >= 100


def test_every_survivor_has_a_reason_and_every_reason_a_survivor() -> None:
    assert set(LEFT) == set(REASONS)
    assert all(REASONS[change].strip() for change in LEFT)
