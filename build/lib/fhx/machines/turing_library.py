r"""The Turing machines of the book: deciders, arithmetic, busy beavers, and machines that never halt."""

from collections.abc import Mapping
from types import MappingProxyType

from fhx.machines.names import NameTable
from fhx.machines.turing import TuringMachine
from fhx.machines.two_way import fold_tape

__all__ = [
    "TURING_MACHINES",
    "addition",
    "bouncing",
    "busy_beaver",
    "copying",
    "equal_blocks",
    "increment",
    "marching",
    "palindromes",
    "repeated",
]


def palindromes() -> TuringMachine:
    r"""Decide which words over ``"ab"`` read the same backwards.

    The first letter is erased and remembered, the last one must be the same and is erased too. A palindrome of
    :math:`n` letters takes :math:`(n + 1)(n + 2) / 2` steps, and no word takes more.
    """
    return _machine(
        "ab",
        """
        start   a  after-a  _ R
        start   b  after-b  _ R
        start   _  accept   = R
        after-a ab after-a  = R
        after-b ab after-b  = R
        after-a _  match-a  = L
        after-b _  match-b  = L
        match-a a  back     _ L
        match-b b  back     _ L
        match-a _  accept   = R
        match-b _  accept   = R
        back    ab back     = L
        back    _  start    = R
        """,
    )


def equal_blocks() -> TuringMachine:
    r"""Decide :math:`\{a^n b^n c^n : n \ge 0\}`, which no stack machine can: cross off an a, a b and a c in turn."""
    return _machine(
        "abc",
        """
        start a    find-b x R
        start y    rest   = R
        start _    accept = R
        find-b ay  find-b = R
        find-b b   find-c y R
        find-c bz  find-c = R
        find-c c   back   z L
        back abyz  back   = L
        back x     start  = R
        rest yz    rest   = R
        rest _     accept = R
        """,
    )


def repeated() -> TuringMachine:
    r"""Decide :math:`\{ww : w \in \{a, b\}^*\}`.

    Capitals grow from both ends until they meet in the middle; a word of odd length has no middle. Then each letter of
    the first half is compared with the next one of the second. A move to the left has stayed at the left end if it
    finds the small letter that was just written there.
    """
    return _machine(
        "ab",
        """
        start  a   end    A R
        start  b   end    B R
        start  AB  lower  = L
        start  _   accept = R
        end    ab  end    = R
        end    AB_ last   = L
        last   a   begin  A L
        last   b   begin  B L
        begin  ab  begin  = L
        begin  AB  start  = R
        lower  A   lower  a L
        lower  B   lower  b L
        lower  a   seek-A x R
        lower  b   seek-B x R
        lower  y   accept = R
        seek-A aby seek-A = R
        seek-B aby seek-B = R
        seek-A A   back   y L
        seek-B B   back   y L
        back   aby back   = L
        back   x   lower  = R
        """,
    )


def increment() -> TuringMachine:
    """Add 1 to a binary numeral, the least significant digit first, and accept: ``"11"`` (three) becomes ``"001"``.

    The empty word is 0 and becomes ``"1"``. A word with k ones in front takes k + 1 steps.
    """
    return _machine(
        "01",
        """
        carry 1  carry  0 R
        carry 0_ accept 1 R
        """,
        start="carry",
    )


def addition() -> TuringMachine:
    """Add two binary numerals, least significant digits first: ``"11+01"`` becomes ``"xx+101"``, and is accepted.

    Either may be empty, which is 0. The digits of the first are crossed off one by one, and each is added with the
    carry to the next digit of the second, which then reads ``O`` or ``I``; in the end these become ``0`` and ``1``
    again. The sum follows the plus. A word that is not two numerals with one plus between them is rejected.
    """
    rows = "".join(
        f"""
        take-{carry}  0   pass-{carry}     x R
        take-{carry}  1   pass-{carry + 1} x R
        take-{carry}  +   rest-{carry}     = R
        back-{carry}  01+OI back-{carry}   = L
        back-{carry}  x   take-{carry}     = R
        rest-{carry}  OI  rest-{carry}     = R
        """
        for carry in (0, 1)
    ) + "".join(
        f"""
        pass-{total}  01  pass-{total}     = R
        pass-{total}  +   add-{total}      = R
        add-{total}   OI  add-{total}      = R
        add-{total}   0_  back-{total // 2}       {"OI"[total % 2]} L
        add-{total}   1   back-{(total + 1) // 2} {"IO"[total % 2]} L
        """
        for total in (0, 1, 2)
    )
    return _machine(
        "01+",
        rows
        + """
        rest-0 01   rest-0 = R
        rest-1 0_   rest-0 I R
        rest-1 1    rest-1 O R
        rest-0 _    clean  = L
        clean  01   clean  = L
        clean  O    clean  0 L
        clean  I    clean  1 L
        clean  +    accept = R
        """,
        start="take-0",
    )


def copying() -> TuringMachine:
    """Write a word over ``"ab"`` a second time, after a ``#``, and accept: ``"ab"`` becomes ``"ab#ab"``."""
    return _machine(
        "ab",
        """
        take    a   carry-a A R
        take    b   carry-b B R
        take    #   restore = L
        take    _   accept  # R
        carry-a ab  carry-a = R
        carry-b ab  carry-b = R
        carry-a _   write-a # R
        carry-b _   write-b # R
        carry-a #   write-a = R
        carry-b #   write-b = R
        write-a ab  write-a = R
        write-b ab  write-b = R
        write-a _   back    a L
        write-b _   back    b L
        back    ab# back    = L
        back    AB  take    = R
        restore A   restore a L
        restore B   restore b L
        restore ab  accept  = L
        """,
        start="take",
    )


def marching() -> TuringMachine:
    """Never halt: write ``a`` and go to the right, on every word over ``"a"``. The tape grows without end."""
    return _machine("a", "march a_ march a R", start="march")


def bouncing() -> TuringMachine:
    """Never halt: alternate between two configurations, on every word over ``"a"``. The tape stays as it is."""
    return _machine(
        "a",
        """
        right a_ left  = R
        left  a_ right = L
        """,
        start="right",
    )


def busy_beaver(n: int) -> TuringMachine:
    r"""The machine of :math:`n \le 4` states and two symbols that takes the most steps before it halts.

    =========  ===  ===  ===  ====
    states       1    2    3     4
    steps        1    6   21   107
    ones left    1    4    5    13
    =========  ===  ===  ===  ====

    It is to be read as a machine on a tape that is infinite *both* ways and empty, as :func:`fold_tape` does.

    Raises:
        ValueError: :math:`n` is not one of 1, ..., 4.

    Sources: Lin and Rado, Computer studies of Turing machine problems (1965); Brady, The determination of the value of
    Rado's noncomputable function Σ(k) for four-state Turing machines (1983).
    """
    if n not in BUSY_BEAVERS:
        raise ValueError(f"the busy beavers of the book have 1 to 4 states, and there is none of {n!r}")
    table = {
        (state, symbol): (rule[2], rule[0], rule[1])
        for state, row in zip("ABCD", BUSY_BEAVERS[n].split(), strict=False)
        for symbol, rule in zip("01", row.split(","), strict=False)
    }
    transitions = {pair: ("accept" if q == "H" else q, a, move) for pair, (q, a, move) in table.items()}
    return TuringMachine(transitions, "A", "accept", "reject", "0", "1")


BUSY_BEAVERS: Mapping[int, str] = MappingProxyType(
    {
        1: "1RH",
        2: "1RB,1LB 1LA,1RH",
        3: "1RB,1RH 1LB,0RC 1LC,1LA",
        4: "1RB,1LB 1LA,0LC 1RH,1LD 1RD,0RA",
    }
)
"""For each state what it does on 0 and on 1: what it writes, where it moves, where it goes; H is accepting."""


def _machine(alphabet: str, table: str, start: str = "start") -> TuringMachine:
    """The machine of a table with a row for each rule: state, symbols read, next state, symbol written or =, move."""
    rules = (row.split() for row in table.strip().splitlines())
    transitions = {
        (state, symbol): (target, symbol if written == "=" else written, move)
        for state, symbols, target, written, move in (rule for rule in rules if rule)
        for symbol in symbols
    }
    return TuringMachine(transitions, start, "accept", "reject", "_", alphabet)


TURING_MACHINES: NameTable[TuringMachine] = NameTable(
    "Turing machine",
    {
        "palindromes": palindromes(),
        "equal-blocks": equal_blocks(),
        "repeated": repeated(),
        "increment": increment(),
        "addition": addition(),
        "copying": copying(),
        **{f"busy-beaver-{n}": fold_tape(busy_beaver(n)) for n in BUSY_BEAVERS},
        "marching": marching(),
        "bouncing": bouncing(),
    },
)
"""The Turing machines of the book by name; the busy beavers folded, for a word of one empty first cell."""
