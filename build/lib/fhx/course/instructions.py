"""What a hole asks for, in a comment above it."""

import ast
import textwrap

__all__ = ["with_instructions"]

WIDTH = 88


def with_instructions(source: str, function: str, is_checked: bool = True) -> str:
    """The cell with a comment at its top: what to fill in, what to return, and what says whether it is right.

    Args:
        source: of the cell.
        function: to write.
        is_checked: whether ``check`` knows the exercise; it knows none of an instructor's own.
    """
    check = "check says whether it is right and, until it is complete, what is missing."
    lines = [
        f"Your turn: complete {function}, keep its name, and put your own code for every `...`.",
        _returned(source, function),
        f"Then run this cell{f': {check}' if is_checked else '. It is graded when it is handed in.'}",
    ]
    comment = "\n".join(
        textwrap.fill(line, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
        for line in lines
    )
    return f"{comment}\n{source}"


def _returned(source: str, function: str) -> str:
    """What the function gives back, as far as the hole shows it: the names after return, or the comment beside them."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic
        return "The exercise says what it returns."
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    last = found[-1].body[-1] if found else None
    if not isinstance(last, ast.Return) or last.value is None:
        return "The exercise says what it returns."
    if not any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(last.value)):
        words = (ast.get_source_segment(source, last.value) or "").split()
        return f"It returns {' '.join(words)}, as the exercise says."
    beside = source.splitlines()[(last.end_lineno or last.lineno) - 1].partition("#")[2].strip()
    return f"It returns {beside}." if beside else "The exercise says what it returns."
