"""Random counter machines, and the plainest program that runs one."""

from collections.abc import Hashable, Iterable, Iterator
from random import Random

from hypothesis import strategies as st

from fhx.machines import CounterMachine

MOVES = {"0": (0, 0, 1), "*": (0, 0, 1), "+": (-1, -1, 0, 1)}
ACCEPTING = (0.3, 0.6, 1.0)


def counter_machine(states: int, letters: str, counters: int, seed: int, accepting: float) -> CounterMachine:
    """A random machine; some stop, some test what they do not need to."""
    random = Random(seed)
    Q = [f"q{i}" for i in range(states)]
    transitions = {
        (q, a, tests): (random.choice(Q), [random.choice(MOVES[test]) for test in tests])
        for q in Q
        for a in letters
        for tests in covers(counters, random)
        if random.random() < 0.95
    }
    accept = [q for q in Q if random.random() < accepting]
    return CounterMachine(Q, letters, counters, transitions, Q[0], accept, random.random() < 0.6)


def covers(k: int, random: Random) -> list[str]:
    """Tests of k counters, of which exactly one holds of any counts."""
    if k == 0:
        return [""]
    if random.random() < 0.4:
        return [f"*{rest}" for rest in covers(k - 1, random)]
    return [test + rest for test in "0+" for rest in covers(k - 1, random)]


def counter_machines(
    states: int = 4, symbols: int = 3, counters: int = 3, alphabet: str | None = None
) -> st.SearchStrategy[CounterMachine]:
    """Machines of up to so many states, symbols and counters, or over an alphabet that is given."""
    letters = st.integers(1, symbols).map(lambda size: "abc"[:size]) if alphabet is None else st.just(alphabet)
    sizes = st.integers(1, states), letters, st.integers(0, counters)
    return st.builds(counter_machine, *sizes, st.integers(0, 2**32), st.sampled_from(ACCEPTING))


def words_of(machine: CounterMachine, longest: int) -> st.SearchStrategy[str]:
    """Words of the machine, long ones as often as short ones."""

    def word(length: int, seed: int) -> str:
        return "".join(map(str, Random(seed).choices(machine.alphabet, k=length)))

    return st.builds(word, st.integers(0, longest), st.integers(0, 2**32))


def plain_run(machine: CounterMachine, word: Iterable[Hashable]) -> Iterator[tuple[Hashable, list[int]] | None]:
    """The configurations, from the parts alone."""
    state, counts, stopped = machine.start, [0] * machine.counters, False
    yield state, counts
    for symbol in word:
        seen = ["0" if c == 0 else "+" for c in counts]
        for (q, a, tests), (target, moves) in machine.transitions.items():
            if (q, a) == (state, symbol) and all(t in ("*", s) for t, s in zip(tests, seen, strict=True)):
                state, counts = target, [c + m for c, m in zip(counts, moves, strict=True)]
                break
        else:
            stopped = True
        yield None if stopped else (state, counts)


def plainly_accepts(machine: CounterMachine, word: Iterable[Hashable]) -> bool:
    """Acceptance, from the parts alone."""
    *_, last = plain_run(machine, word)
    return last is not None and last[0] in machine.accept and not (machine.at_zero and any(last[1]))
