"""The results on the README's first screen are those of the first page, with the numbers that the chapters print."""

import re
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))

from landing import Chapters  # noqa: E402
from notebook_cells import config  # noqa: E402

BASE = config()["html"]["baseurl"]
README = (ROOT / "README.md").read_text("utf-8")
LINE = re.compile(
    r"- .*?\*\*(?P<number>.+?)\*\*.* \(\[chapter (?P<chapter>\d+)\]\((?P<page>\S+)#(?P<figure>[\w-]+)\)\)\."
)
SHOWN = [line for line in README.partition("\n## ")[0].splitlines() if line.startswith("- ")]
LISTED = re.search(r"^```\{results\}\n(.*?)^```", (ROOT / "book" / "index.md").read_text("utf-8"), re.DOTALL | re.M)
RESULTS = {entry["figure"]: entry for entry in yaml.safe_load(LISTED[1])}
CHAPTERS = Chapters(ROOT)


def problem(line: str) -> str:
    """What a line of the README says otherwise than the chapter that it names; empty if nothing."""
    said = LINE.fullmatch(line)
    if not said or said["figure"] not in RESULTS:
        return "not a result of the first page"
    entry = RESULTS[said["figure"]]
    path = CHAPTERS.paths[entry["chapter"]]
    if (int(said["chapter"]), said["page"]) != (int(entry["chapter"]), f"{BASE}notebooks/{path.stem}.html"):
        return f"the result is in {path.stem}"
    printed = CHAPTERS.numbers(entry["chapter"], entry["prints"])
    if said["number"] != entry["number"].format(*printed):
        return f"the chapter prints {printed}"
    missing = [number for number in printed if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", line)]
    return f"without {missing}" if missing else ""


def test_there_are_three_results() -> None:
    assert len(SHOWN) == 3


@pytest.mark.parametrize("line", SHOWN, ids=lambda line: line[2:9])
def test_a_result_is_what_the_chapter_prints(line: str) -> None:
    assert problem(line) == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("7346", "7347", "the chapter prints"),
        ("after 22.3", "after 22.4", "without"),
        ("9](", "8](", "the result is in 09"),
        ("09-stability.html", "10-truncation.html", "the result is in 09"),
        ("#sta-fig-suffix", "#sta-fig-nothing", "not a result"),
    ],
)
def test_another_number_or_place_is_found(old: str, new: str, said: str) -> None:
    (line,) = [line for line in SHOWN if old in line]
    assert problem(line.replace(old, new)).startswith(said)


def test_the_picture_is_in_the_repository() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(\S+/raw/main/(\S+?)\)", README)
    assert pictures
    assert [name for name in pictures if not (ROOT / name).is_file()] == []
