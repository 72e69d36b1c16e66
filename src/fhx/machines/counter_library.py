"""The real-time counter machines of the book."""

from collections.abc import Iterable

from fhx.machines.counter import CounterMachine
from fhx.machines.names import NameTable

__all__ = ["COUNTER_MACHINES"]

MOVES = {"-": -1, "0": 0, "+": 1}


def _machine(alphabet: str, counters: int, table: str, accept: Iterable[str], at_zero: bool = False) -> CounterMachine:
    """The machine of a table with a row for each transition: state, symbol, tests, next state, moves.

    The states are those of the rows in their order, and the first of them is the start.
    """
    rows = [row.split() for row in table.strip().splitlines()]
    states = dict.fromkeys([*(row[0] for row in rows), *(row[3] for row in rows)])
    transitions = {(q, a, tests): (target, [MOVES[m] for m in moves]) for q, a, tests, target, moves in rows}
    return CounterMachine(tuple(states), alphabet, counters, transitions, rows[0][0], accept, at_zero)


COUNTER_MACHINES: NameTable[CounterMachine] = NameTable(
    "counter machine",
    {
        "a^n b^n": _machine(
            "ab",
            1,
            """
            as a * as +
            as b + bs -
            bs b + bs -
            """,
            accept=["as", "bs"],
            at_zero=True,
        ),
        "a^n b^n c^n": _machine(
            "abc",
            2,
            """
            as a ** as +0
            as b +* bs -+
            bs b +* bs -+
            bs c 0+ cs 0-
            cs c *+ cs 0-
            """,
            accept=["as", "cs"],
            at_zero=True,
        ),
        "dyck-1": _machine(
            "()",
            1,
            """
            open ( * open +
            open ) + open -
            """,
            accept=["open"],
            at_zero=True,
        ),
        "two dyck-1 shuffled": _machine(
            "()[]",
            2,
            """
            open ( ** open +0
            open ) +* open -0
            open [ ** open 0+
            open ] *+ open 0-
            """,
            accept=["open"],
            at_zero=True,
        ),
        "anagrams": _machine(
            "ab#",
            2,
            """
            before a ** before +0
            before b ** before 0+
            before # ** after  00
            after  a +* after  -0
            after  b *+ after  0-
            """,
            accept=["after"],
            at_zero=True,
        ),
        "majority": _machine(
            "ab",
            1,
            """
            no  a 0 yes 0
            no  a + no  -
            no  b * no  +
            yes a * yes +
            yes b 0 no  0
            yes b + yes -
            """,
            accept=["yes"],
        ),
        "a^n b^m": _machine(
            "ab",
            1,
            """
            start a * as 0
            as    a * as +
            as    b + bs -
            bs    b + bs -
            """,
            accept=["as", "bs"],
        ),
        "squares": _machine(
            "a",
            2,
            """
            start        a 00 right-square +0
            right-square a +* right        -+
            right        a +* right        -+
            right        a 0* right-full   0+
            right-full   a ** left-square  0+
            left-square  a *+ left         +-
            left         a *+ left         +-
            left         a *0 left-full    +0
            left-full    a ** right-square +0
            """,
            accept=["start", "right-square", "left-square"],
        ),
    },
)
r"""The counter machines of the book by name.

- ``a^n b^n``, ``a^n b^n c^n`` and ``dyck-1`` are those of ``fhx.tasks.LANGUAGES``;
- ``two dyck-1 shuffled``: the words whose round brackets alone, and whose square brackets alone, are balanced;
- ``anagrams``: :math:`u \# v` with as many a, and as many b, in v as in u;
- ``majority``: more a than b. The state keeps the sign of a counter;
- ``a^n b^m``: with :math:`n > m \ge 0`;
- ``squares``: :math:`a^{n^2}`, :math:`n \ge 0`, which is not even context-free. The one letter says nothing: each trip
  of a count from one counter to the other makes it longer by two, and the moves depend on the state and on tests alone.
"""
