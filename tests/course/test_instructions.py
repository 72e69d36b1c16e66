"""What a hole asks for, in a comment above it."""

import ast

import pytest

from fhx.course.instructions import with_instructions

RETURNS = {
    "    return W, 'b'": "It returns W, 'b', as the exercise says.",
    "    return ...  # a number": "It returns a number.",
    "    return [...]  # units": "It returns units.",
    "    return ...": "The exercise says what it returns.",
    "    return f(\n        a,\n    )": "It returns f( a, ), as the exercise says.",
    "    x = 1": "The exercise says what it returns.",
    "    def g():\n        return 5\n\n    return g, ...": "The exercise says what it returns.",
}


@pytest.mark.parametrize("body", RETURNS)
def test_what_is_returned(body):
    source = f"import math\n\n\ndef answer(n):\n{body}\n\n\ncheck('01-x', answer)"
    made = with_instructions(source, "answer")
    head = made.removesuffix(source).splitlines()
    assert made.endswith(source)
    assert head[0].startswith("# Your turn: complete answer,")
    assert head[1] == f"# {RETURNS[body]}"
    assert "check" in head[2]
    ast.parse(made)


def test_long_comments_are_wrapped():
    names = ", ".join(f"weight_{i}" for i in range(30))
    made = with_instructions(f"def answer():\n    return {names}", "answer")
    assert max(map(len, made.removesuffix(f"    return {names}").splitlines())) <= 88


def test_code_that_does_not_parse_keeps_its_place():
    assert "The exercise says what it returns." in with_instructions("def answer(:\n", "answer")
