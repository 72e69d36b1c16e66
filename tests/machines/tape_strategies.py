"""Hypothesis strategies that draw Turing machines, and plain programs that run them by other means."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from automata.tm.dtm import DTM
from hypothesis import strategies as st

from fhx.machines import TuringMachine

NAMINGS = (lambda i: i, lambda i: f"q{i}", lambda i: (i, -i))
ACCEPT, REJECT = "accept", "reject"


@st.composite
def turing_machines(
    draw: st.DrawFn, max_states: int = 6, max_symbols: int = 5, *, blank_in_words: bool | None = None
) -> TuringMachine:
    """Machines of 1 to ``max_states`` states and 2 to ``max_symbols`` symbols, rules missing here and there.

    The start may be a state in which the machine halts, and the blank may be a symbol of words unless told otherwise.
    """
    symbols = "_abcd"[: draw(st.integers(2, max_symbols))]
    name = draw(st.sampled_from(NAMINGS))
    states = [name(i) for i in range(draw(st.integers(1, max_states)))]
    rule = st.tuples(st.sampled_from([*states, ACCEPT, REJECT]), st.sampled_from(symbols), st.sampled_from("LR"))
    pairs = [(q, a) for q in states for a in symbols]
    rules = draw(st.lists(st.one_of(rule, rule, rule, st.none()), min_size=len(pairs), max_size=len(pairs)))
    transitions = {pair: found for pair, found in zip(pairs, rules, strict=True) if found}
    known = dict.fromkeys([*(q for q, _ in transitions), *(q for q, _, _ in transitions.values()), ACCEPT, REJECT])
    start = draw(
        st.one_of(st.sampled_from([q for q in known if q in states] or [ACCEPT]), st.sampled_from(list(known)))
    )
    words = symbols[1:] + "_" * (draw(st.booleans()) if blank_in_words is None else blank_in_words)
    return TuringMachine(transitions, start, ACCEPT, REJECT, "_", words)


def two_stacks(tm: TuringMachine, word: Iterable[Hashable]) -> Iterator[tuple[Hashable, tuple[Hashable, ...], int]]:
    """The run of a machine as two stacks that meet at the head: state, tape without blanks at its end, head."""
    state, left, right = tm.start, [], list(word)[::-1]
    while True:
        here = right.pop() if right else tm.blank
        tape = [*left, here, *reversed(right)]
        while tape and tape[-1] == tm.blank:
            tape.pop()
        yield state, tuple(tape), len(left)
        if state in (tm.accept, tm.reject) or (state, here) not in tm.transitions:
            return
        state, written, move = tm.transitions[state, here]
        if move == "R":
            left.append(written)
        else:
            right.append(written)
            if left:
                right.append(left.pop())


def both_ways(tm: TuringMachine, word: Iterable[Hashable]) -> Iterator[tuple[Hashable, dict[int, Hashable], int]]:
    """The run on a tape infinite both ways: state, the cells that are not blank, head."""
    state, cells, head = tm.start, defaultdict(lambda: tm.blank, enumerate(word)), 0
    while True:
        yield state, {i: a for i, a in cells.items() if a != tm.blank}, head
        if (state, cells[head]) not in tm.transitions:
            return
        state, cells[head], move = tm.transitions[state, cells[head]]
        head += {"L": -1, "R": 1}[move]


def to_automata_lib(tm: TuringMachine) -> DTM:
    """The machine in automata-lib, whose tape is infinite both ways and whose start has a rule and does not accept."""
    rows = {q: {a: tm.transitions[q, a] for a in tm.tape_alphabet if (q, a) in tm.transitions} for q in tm.states}
    return DTM(
        states={*tm.states, tm.accept, tm.reject},
        input_symbols=set(tm.input_alphabet),
        tape_symbols=set(tm.tape_alphabet),
        transitions={q: row for q, row in rows.items() if row},
        initial_state=tm.start,
        blank_symbol=tm.blank,
        final_states={tm.accept},
    )
