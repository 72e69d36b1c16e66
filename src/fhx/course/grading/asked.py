"""Which exercises a cell has checked, and with what answers, as far as its text tells."""

import ast
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fhx.course.notebooks import CHECK

__all__ = ["Asked", "asked", "asked_in_text"]

CALL = re.compile(r"\bcheck\s*\(")
SHOW = {"help", "print", "repr", "type"}
"""Functions that only show what they are given."""


@dataclass(frozen=True)
class Asked:
    """The calls of ``check`` in a cell.

    Attributes:
        read: exercises, each with the answer as it is given.
        named: the same with a name in place of the exercise, which other cells assign.
        unread: exercises that are checked in a way that cannot be read off; an empty text stands for any.
        constants: names that the cell assigns a text, and nothing else.
    """

    read: tuple[tuple[str, str], ...]
    named: tuple[tuple[str, str], ...]
    unread: frozenset[str]
    constants: dict[str, str]


def asked(tree: ast.Module, at_once: Iterable[ast.AST]) -> Asked:
    """The calls of a cell.

    Args:
        tree: of the cell.
        at_once: its nodes that are met when it runs, outside of functions.
    """
    now = {id(node) for node in at_once}
    stored = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_stored(node))
    constants: dict[str, tuple[str, int]] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Constant(str(value))) if stored[name] == 1:
                constants[name] = (value, statement.lineno)
    read, named, unread, seen = list[tuple[str, str]](), list[tuple[str, str]](), set[str](), set[int]()
    for node in sorted(ast.walk(tree), key=_place):  # as it stands there, and what is in a node after it
        if isinstance(node, ast.Call):
            if getattr(node.func, "id", "") in SHOW:
                seen |= set(map(id, node.args))
            if not _is_check(node.func):
                continue
            seen.add(id(node.func))
            if _is_short(node):  # a check of something else
                continue
            match _arguments(node):
                case [ast.Constant(str(exercise)), answer] if id(node) in now:
                    read.append((exercise, ast.unparse(answer)))
                case [ast.Constant(str(exercise)), _]:
                    unread.add(exercise)
                case [ast.Name(name), answer] if id(node) in now and not stored[name]:
                    named.append((name, ast.unparse(answer)))
                case [ast.Name(name), answer] if id(node) in now and _line(constants.get(name)) < node.lineno:
                    read.append((constants[name][0], ast.unparse(answer)))
                case _:
                    unread.add("")
        elif id(node) not in seen:
            unread |= _passed_on(node)
    return Asked(tuple(read), tuple(named), frozenset(unread), {name: value for name, (value, _) in constants.items()})


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _line(constant: tuple[str, int] | None) -> float:
    """Where a name gets its text; below all lines if it gets none."""
    return constant[1] if constant else float("inf")


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_check(node: ast.expr) -> bool:
    return getattr(node, "id", getattr(node, "attr", "")) == "check"


def _is_short(call: ast.Call) -> bool:
    """Whether a call has fewer than two arguments."""
    parts = [*call.args, *call.keywords]
    return len(parts) < 2 and not any(isinstance(one, ast.Starred) or getattr(one, "arg", "") is None for one in parts)


def _arguments(call: ast.Call) -> list[ast.expr]:
    """The exercise and the answer of a call, if both are there by themselves."""
    words = {word.arg: word.value for word in call.keywords}
    found = [*call.args[:2], *(words[name] for name in ("exercise", "answer")[len(call.args) :] if name in words)]
    return [] if any(isinstance(one, ast.Starred) for one in found) else found


def _passed_on(node: ast.AST) -> set[str]:
    """The exercises that may be checked by what a node makes of ``check``."""
    if isinstance(node, ast.Name | ast.Attribute) and _is_check(node) and isinstance(node.ctx, ast.Load):
        return {""}
    if isinstance(node, ast.ImportFrom):
        return {"" for alias in node.names if alias.name == "check" and alias.asname not in (None, "check")}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {""} if node.value == "check" else set(asked_in_text(node.value))
    return set()


def asked_in_text(text: str) -> frozenset[str]:
    """The exercises that a text may check, such as code that is not Python; an empty one stands for any."""
    exercises, calls = CHECK.findall(text), len(CALL.findall(text))
    return frozenset([*exercises, *([""] if calls > len(exercises) else [])])
