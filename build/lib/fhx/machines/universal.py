r"""Rogozhin's universal Turing machine of four states and six symbols, and its programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from attrs import frozen
from frozendict import frozendict

from fhx.machines.tag import TagSystem
from fhx.machines.turing import Configuration, TuringMachine
from fhx.machines.words import Symbol

__all__ = ["UniversalProgram", "universal"]

TABLE = """
   q1     q2     q3     q4
1  < L q1 0 R q2 1 R q3 0 R q4
b  > R q1 > L q3 < R q4 c L q2
>  b L q1 < R q2 b R q3 < R q4
<  0 R q1 > L q2 < L !  < R q3
0  < L q1 1 L q2 c R q1 c L q2
c  0 R q4 b R q2 1 R q1 b R q4
"""


def universal() -> TuringMachine:
    r"""Rogozhin's universal machine of 4 states and 6 symbols, which runs a tag system written on its tape.

    The symbols are 1, b, :math:`\overrightarrow{b}` and :math:`\overleftarrow{b}`, here ``>`` and ``<``, the blank 0,
    and c; the states q1, ..., q4. Of the 24 pairs the published table has rules for 22 and halts on two, (q3, <) and
    (q4, <). Here these have rules too:

    - (q3, <), where every run of a program that halts comes to its end, goes to ``accept``: one step more;
    - (q4, <), which no run of a program reaches, is where the machine **starts**: it goes to q3 and to the right.

    So the machine needs only a tape with a first cell, and starts there. That cell holds ``<``. Behind it comes the
    program, whose marks b stand in their used form ``>``; q3 restores them on its way to the right. On c it hands over
    to q1, as at the end of every production.

    From then on no move but the last leads to the left of the second cell. For each 1 in a letter's code q1 turns back
    on one more mark b. The longest code is that of the halting letter, and it counts to the mark on the third cell. q2
    turns back on b too, but on the second cell only if the halting letter was read. There it becomes q3, which halts on
    the first cell.

    Source: Rogozhin, Small universal Turing machines (1996), section 8.
    """
    head, *rows = (line.split() for line in TABLE.strip().splitlines())
    transitions = {
        (state, symbol): ("accept" if target == "!" else target, written, move)
        for symbol, *cells in rows
        for state, written, move, target in zip(head, cells[::3], cells[1::3], cells[2::3], strict=True)
    }
    return TuringMachine(transitions, "q4", "accept", "reject", "0", "1<>c")


@frozen
class UniversalProgram:
    r"""A tag system as a program for the :func:`universal` machine.

    The system has letters :math:`a_1, \dots, a_n` with productions :math:`P(a_i) = a_n a_n B_i`, with :math:`B_n`
    empty, and one letter :math:`a_{n+1}` without a production, on which it halts, as :func:`rogozhin_form` makes it.
    The **code** of a letter is a number of ones,

    .. math:: N_1 = 1, \qquad N_{i+1} = N_i + 2 |P(a_i)|,

    and the production of the letter stands to the left of as many marks b; that of the halting letter is ``<b``. With
    :math:`P(a_i) = a_n a_n x_1 \dots x_k` it is written

    .. math:: b 1 \; b 1^{N(x_k)} b \; \dots \; b 1^{N(x_1)} b \; b 1^{N_n} b \; b 1^{N_n - N_i},

    the program is ``<b``, these from :math:`a_n` down to :math:`a_1`, and a last b; a word follows it as the codes of
    its letters with c between them.

    Args:
        system: a tag system of this form.
        halt: :math:`a_{n+1}`.

    Raises:
        ValueError: the system is not of this form; the error lists all that is wrong.
    """

    system: TagSystem
    halt: Symbol = "H"

    def __attrs_post_init__(self) -> None:
        if faults := list(_faults(self.system, self.halt)):
            raise ValueError("this is not a tag system of Rogozhin's form: " + "; ".join(faults))

    @cached_property
    def codes(self) -> Mapping[Symbol, int]:
        """The number of ones of each letter, :math:`a_{n+1}` included."""
        codes, length = {}, 1
        for letter, word in self.system.productions.items():
            codes[letter] = length
            length += 2 * len(word)
        return frozendict({**codes, self.halt: length})

    @cached_property
    def text(self) -> str:
        """The program."""
        *_, longest = (self.codes[letter] for letter in self.system.productions)
        text = "<b"
        for letter, (_, *word) in reversed(list(self.system.productions.items())):
            codes = "".join(f"b{'1' * self.codes[x]}b" for x in reversed(word))
            text += f"b1{codes}b{'1' * (longest - self.codes[letter])}"
        return text + "b"

    def encode(self, word: Iterable[Symbol]) -> str:
        """The word of the universal machine that makes it run the system on a word of at least two letters.

        Raises:
            ValueError: a shorter word, or a letter that the system does not have.
        """
        letters = tuple(word)
        if len(letters) < 2:
            raise ValueError(f"the universal machine runs on words of at least two letters, not on {letters}")
        if foreign := [letter for letter in letters if letter not in self.codes]:
            raise ValueError(f"letter {foreign[0]!r} is outside the alphabet {tuple(self.codes)}")
        return self.text.replace("b", ">") + "c" + "c".join("1" * self.codes[letter] for letter in letters)

    def decode(self, configuration: Configuration) -> tuple[Symbol, ...] | None:
        """The system's word, if the machine is between two productions, else None.

        It is there in q1 when the program is whole, only ones stand between it and the head, and from the head on
        the tape is the codes of letters with c between them.
        """
        state, cells, head = configuration
        if state != "q1" or cells[head - 1 : head + 1] != ("1", "1"):
            return None
        tape = _written(cells)
        if not tape.startswith(self.text) or tape[len(self.text) : head].strip("1"):
            return None
        return self._letters(tape[head:])

    def output(self, configuration: Configuration) -> tuple[Symbol, ...] | None:
        """What follows the first two letters of the word at which the system halted, if the machine has accepted."""
        if configuration.state != "accept":
            return None
        _, *letters, _ = _written(configuration.tape[len(self.text) :]).split("c")
        return self._letters("c".join(letters)) if letters else ()

    def words(self, configurations: Iterable[Configuration]) -> Iterator[tuple[Symbol, ...]]:
        """The system's words among the configurations of a run of the universal machine."""
        return (word for word in map(self.decode, configurations) if word is not None)

    def _letters(self, tape: str) -> tuple[Symbol, ...] | None:
        letters = {"1" * length: letter for letter, length in self.codes.items()}
        codes = tape.split("c")
        return tuple(letters[code] for code in codes) if all(code in letters for code in codes) else None


def _written(cells: Iterable[Symbol]) -> str:
    return "".join(map(str, cells))


def _faults(system: TagSystem, halt: Symbol) -> Iterator[str]:
    if not system.productions:
        yield "it has no productions"
        return
    last = list(system.productions)[-1]
    for letter, word in system.productions.items():
        if word[:2] != (last, last):
            yield f"the production of {letter!r} does not begin with the last letter {last!r} twice"
    if len(system.productions[last]) > 2:
        yield f"the production of the last letter {last!r} goes on after these two"
    if halt in system.productions:
        yield f"the halting letter {halt!r} has a production"
    if others := [letter for letter in system.halting_letters if letter != halt]:
        yield f"it halts on {others}, and the halting letter is {halt!r}"
