"""The claims ledger as data: what ``book/claims.yml`` holds, and the laws it keeps."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, ValidationError

from fhx.course.notebooks import cells_of, figure, is_markdown, text_of

PATH = "book/claims.yml"
OPEN = "open"
VERDICTS = {
    "proved": "The book proves it, and code checks the proof.",
    "corrected": "True after a change, which the errata state.",
    "false as stated": "A counterexample runs in the book.",
    "measured": "A claim about what happens: our numbers, with seeds and intervals, whatever they say.",
    OPEN: "Not settled yet; the row names the chapter that will.",
}
NEEDS_CORRECTION = ("corrected", "false as stated")
COUNTS = {"A": 14, "B": 19, "C": 12, "D": 5, "E": 25}  # claims to settle, by source
LONGEST = 90  # words of a statement, which is read at one go
IDS = tuple(f"{source}{number}" for source, count in COUNTS.items() for number in range(1, count + 1))

SCHEMA = Draft202012Validator(json.loads(Path(__file__).parents[1].joinpath("claims.schema.json").read_text("utf-8")))
KINDS = {"object": "dict", "array": "list", "string": "str", "integer": "int"}


class LedgerError(ValueError):
    """The ledger breaks its laws; the message lists every breach."""


@dataclass(frozen=True)
class Source:
    letter: str
    name: str
    description: str


@dataclass(frozen=True)
class Correction:
    """One mistake of a source: what it says, what is true, the smallest example, and the cell that shows it."""

    says: str
    truth: str
    example: str
    cell: str


@dataclass(frozen=True)
class Claim:
    id: str
    statement: str
    place: str
    references: tuple[str, ...]
    chapters: tuple[int, ...]
    verdict: str
    cells: tuple[str, ...]
    tests: tuple[str, ...]
    corrections: tuple[Correction, ...]
    found: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return self.id[0]

    @property
    def settled(self) -> bool:
        return self.verdict != OPEN


@dataclass(frozen=True)
class Ledger:
    chapters: dict[int, str]
    sources: tuple[Source, ...]
    claims: tuple[Claim, ...]
    titles: dict[str, str]  # of a cell, notebook#label: chapter and heading

    def of(self, source: str) -> tuple[Claim, ...]:
        """The claims of one source, in order."""
        return tuple(claim for claim in self.claims if claim.source == source)

    def verdicts(self) -> dict[str, int]:
        """How many claims have each verdict, every verdict named."""
        found = Counter(claim.verdict for claim in self.claims)
        return {verdict: found[verdict] for verdict in VERDICTS}


def load(root: Path) -> Ledger:
    """The ledger of the book at ``root``. Raises :class:`LedgerError` with every breach at once."""
    raw = yaml.safe_load((root / PATH).read_text(encoding="utf-8"))
    if breaches := check(raw, root):
        raise LedgerError(f"{PATH} breaks its laws ({len(breaches)}):\n" + "\n".join(f"- {line}" for line in breaches))
    sources = tuple(Source(letter, **fields) for letter, fields in raw["sources"].items())
    tests = marked_tests(root)
    rows = tuple(_claim(row, tests[row["id"]]) for row in raw["claims"])
    cells = {cell for row in rows for cell in (*row.cells, *(entry.cell for entry in row.corrections))}
    return Ledger(raw["chapters"], sources, rows, _titles(sorted(cells), raw["chapters"], root))


def notebook_path(cell: str) -> str:
    return f"notebooks/{cell.partition('#')[0]}.ipynb"


def _titles(cells: list[str], chapters: dict[int, str], root: Path) -> dict[str, str]:
    labels = {path: notebook_labels(root / path) for path in set(map(notebook_path, cells))}
    titles = {}
    for cell in cells:
        chapter, heading = chapters[int(cell[:2])], labels[notebook_path(cell)][cell.partition("#")[2]]
        titles[cell] = chapter if heading in ("", chapter) else f"{chapter}: {heading}"
    return titles


def _claim(row: dict, tests: list[str]) -> Claim:
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    corrections = tuple(Correction(**entry) for entry in row.get("corrections", ()))
    return Claim(**fields | {"tests": tuple(tests), "corrections": corrections})


def check(raw: object, root: Path) -> list[str]:
    """Every law that the ledger ``raw`` breaks in the book at ``root``, one line each; empty when it keeps them all."""
    errors = list(SCHEMA.iter_errors(raw))
    breaches = list(dict.fromkeys(line for error in errors for line in _said(error, raw)))
    if any(len(error.absolute_path) < 2 for error in errors):
        return breaches
    if list(raw["sources"]) != list(COUNTS):
        breaches.append(f"the sources are {', '.join(map(str, raw['sources']))}, expected {', '.join(COUNTS)}")
    breaches += _identity([str(row["id"]) for row in raw["claims"] if isinstance(row, dict) and row.get("id")])
    malformed = {error.absolute_path[1] for error in errors if error.absolute_path[0] == "claims"}
    labels, tests = _Labels(root), marked_tests(root)
    for position, row in enumerate(raw["claims"]):
        if position not in malformed:
            breaches += _row(row, raw["chapters"], labels, tests[row["id"]])
    for name in (name for name in tests if name not in IDS):
        breaches += (f"{name}: no such claim, but {test} is marked with it" for test in tests[name])
    return breaches


def _said(error: ValidationError, raw: object) -> Iterator[str]:
    """An error of the schema in the words of the ledger, with its row and its field."""
    where, fields = _place(list(error.absolute_path), raw)
    known = error.schema.get("properties", {})
    if error.validator == "required":
        missing = (name for name in error.validator_value if name not in error.instance)
        yield from (f"{where}: field '{name}' is missing" for name in missing)
    elif error.validator == "additionalProperties":
        yield from (f"{where}: field '{name}' is unknown" for name in error.instance if name not in known)
    elif not fields:
        fitting = ", ".join(error.schema["required"])
        yield f"{where}: expected the fields {fitting}, found {type(error.instance).__name__}"
    elif error.instance in (None, ""):
        yield f"{where}: field '{fields[0]}' is missing"
    else:
        entry = f"entry {fields[1] + 1} of " if len(fields) > 1 else ""
        kind = KINDS[error.validator_value]
        yield f"{where}: {entry}field '{fields[0]}' is a {type(error.instance).__name__}, expected a {kind}"


def _place(path: list, raw: object) -> tuple[str, list]:
    """The name of the row, correction or source that a path leads to, and the fields that are left of the path."""
    match path:
        case ["sources", letter, *fields]:
            return f"source {letter}", fields
        case ["claims", int(position), *fields]:
            row = raw["claims"][position]
            name = str(row["id"]) if isinstance(row, dict) and row.get("id") else f"row {position + 1}"
            if fields[:1] == ["corrections"] and len(fields) > 1:
                return f"{name}, correction {fields[1] + 1}", fields[2:]
            return name, fields
    return "the ledger", path


def _identity(ids: list[str]) -> Iterator[str]:
    for name, times in Counter(ids).items():
        if times > 1:
            yield f"{name}: {times} rows have this id"
        if name not in IDS:
            yield f"{name}: no such claim is to be settled"
    yield from (f"{name}: the row is missing" for name in IDS if name not in ids)
    known = [name for name in dict.fromkeys(ids) if name in IDS]
    if known != sorted(known, key=IDS.index):
        yield "the rows are out of order"


def _row(row: dict, chapters: dict[int, str], labels: _Labels, tests: list[str]) -> Iterator[str]:
    name, verdict, corrections = row["id"], row["verdict"], row.get("corrections") or []
    if verdict not in VERDICTS:
        yield f"{name}: unknown verdict '{verdict}', expected one of {', '.join(VERDICTS)}"
    elif verdict != OPEN:
        evidence = {"cell": row["cells"], "test": tests}
        yield from (f"{name}: {verdict}, but without a {kind}" for kind, found in evidence.items() if not found)
    if verdict in NEEDS_CORRECTION and not corrections:
        yield f"{name}: {verdict}, but without a correction"
    if not row["chapters"]:
        yield f"{name}: no chapter settles it"
    if (words := len(row["statement"].split())) > LONGEST:
        yield f"{name}: the statement has {words} words, more than {LONGEST}; what was found has a field of its own"
    yield from (f"{name}: there is no chapter {number}" for number in row["chapters"] if number not in chapters)
    cells = list(row["cells"])
    cells += [correction["cell"] for correction in corrections]
    yield from (f"{name}: {fault}" for cell in dict.fromkeys(cells) if (fault := labels.fault(cell)))


class _Labels:
    """What the notebooks of the book at ``root`` offer; each is read once."""

    def __init__(self, root: Path):
        self.root = root
        self._labels: dict[str, dict[str, str] | None] = {}

    def fault(self, cell: str) -> str | None:
        notebook, hash_, label = str(cell).partition("#")
        if not (re.match(r"\d\d-", notebook) and hash_ and label):
            return f"cell '{cell}' is not of the form 01-notebook#label"
        path = self.root / notebook_path(cell)
        if notebook not in self._labels:
            self._labels[notebook] = notebook_labels(path) if path.is_file() else None
        labels = self._labels[notebook]
        if labels is None:
            return f"cell '{cell}': there is no notebook {path.relative_to(self.root)}"
        return None if label in labels else f"cell '{cell}': the notebook has no such label"


def notebook_labels(path: Path) -> dict[str, str]:
    """The labels a notebook offers, each with the heading it stands before or under.

    A label is a ``(label)=`` line in a Markdown cell or the name of a figure.
    """
    labels: dict[str, str] = {}
    heading, waiting = "", []
    for cell in cells_of(path.read_bytes()):
        if not is_markdown(cell):
            name = figure(cell).get("name")
            labels |= {name: heading} if name else {}
            waiting = []
            continue
        for line in filter(None, map(str.strip, text_of(cell).splitlines())):
            if label := re.fullmatch(r"\(([^()\s]+)\)=", line):
                waiting.append(label[1])
                labels[label[1]] = heading
            elif title := re.fullmatch(r"#+\s+(.+)", line):
                heading = title[1]
                labels |= dict.fromkeys(waiting, heading)
                waiting = []
            else:
                waiting = []
    return labels


def marked_tests(root: Path) -> defaultdict[str, list[str]]:
    """Which tests are marked with which claim, ``@pytest.mark.claim("A1")``; found without importing them."""

    def marks(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
        for node in body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                yield from marks(node.body, f"{prefix}{node.name}::")
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.claim":
                        yield from ((ast.literal_eval(name), prefix + node.name) for name in mark.args)

    tests = defaultdict(list)
    for path in sorted((root / "tests").rglob("test_*.py")):
        if "mark.claim" in (text := path.read_text(encoding="utf-8")):
            for name, test in marks(ast.parse(text).body, f"{path.relative_to(root).as_posix()}::"):
                tests[name].append(test)
    return tests
