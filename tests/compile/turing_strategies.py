"""Random Turing machines."""

from itertools import product
from random import Random

from hypothesis import strategies as st

from fhx.machines import TuringMachine

BLANK = "_"


def turing_machine(states, symbols, seed, halting=0.1, missing=0.1, blank_in_words=False):
    """A random machine over states 0, 1, ... and the blank with letters; the start may be a halting state."""
    random = Random(seed)
    letters = BLANK + "abcd"[: symbols - 1]

    def target():
        return random.choice(["accept", "reject"]) if random.random() < halting else random.randrange(states)

    rules = {
        pair: (target(), random.choice(letters), random.choice("LR"))
        for pair in product(range(states), letters)
        if random.random() >= missing
    }
    rules[0, BLANK] = (target(), random.choice(letters), random.choice("LR"))
    start = random.choice(["accept", "reject"]) if random.random() < 0.03 else 0
    words = letters if blank_in_words or symbols == 1 else letters[1 : random.randint(2, symbols)]
    return TuringMachine(rules, start, "accept", "reject", BLANK, words)


def turing_machines(states=6, symbols=5):
    """Machines of up to so many states and symbols: quick ones, slow ones and some that never halt."""
    return st.builds(
        turing_machine,
        st.integers(1, states),
        st.integers(2, symbols),
        st.integers(0, 2**32),
        st.sampled_from([0, 0.05, 0.2]),
        st.sampled_from([0, 0.1, 0.3]),
        st.booleans(),
    )


@st.composite
def machines_with_words(draw, longest=8, **size):
    """A machine and a word that it can read."""
    tm = draw(turing_machines(**size))
    return tm, "".join(draw(st.lists(st.sampled_from(tm.input_alphabet), max_size=longest)))
