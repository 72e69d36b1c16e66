"""Random steps and random machines."""

from random import Random

from hypothesis import strategies as st

from fhx.exact import Step, relu, slu, sum_of, variable
from fhx.machines import DFA

INPUTS = ("x", "y")
numbers = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=3))


def expressions(names, depth):
    """Expressions that nest at most ``depth`` units, of either kind."""
    leaves = st.one_of(st.sampled_from(names).map(variable), numbers)
    sums = affine(leaves)
    for _ in range(depth):
        units = st.builds(lambda layer, e: layer(e), st.sampled_from([relu, slu]), sums)
        sums = affine(st.one_of(units, leaves))
    return sums


def affine(atoms):
    return st.lists(st.tuples(numbers, atoms), max_size=3).map(lambda terms: sum_of(c * e for c, e in terms))


@st.composite
def steps(draw, depth):
    """A step with one to three state variables and two inputs."""
    names = ["g", "h", "start"][: draw(st.integers(1, 3))]
    state = {name: draw(expressions([*names, *INPUTS], depth)) for name in names}
    return Step(state, INPUTS, {name: draw(numbers) for name in names})


def machine(Q, S, seed, accepting=0.5):
    """A random machine; many have states that no word reaches."""
    random = Random(seed)
    letters = "abcde"[:S]
    transitions = {(q, a): random.randrange(Q) for q in range(Q) for a in letters}
    accept = [q for q in range(Q) if random.random() < accepting]
    return DFA(range(Q), letters, transitions, random.randrange(Q), accept)


def machines(states=60, symbols=5):
    """Machines of up to so many states and symbols, empty and full languages among them."""
    return st.builds(
        machine,
        st.one_of(st.integers(1, 4), st.integers(1, states)),
        st.integers(1, symbols),
        st.integers(0, 2**32),
        st.sampled_from([0, 0.1, 0.5, 0.9, 1]),
    )


def letters(dfa, length, seed):
    return "".join(Random(seed).choices(dfa.alphabet, k=length))
