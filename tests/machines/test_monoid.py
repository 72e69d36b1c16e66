"""The algebra of machines against words, contexts, circles of states and sets of maps by length."""

from itertools import combinations, permutations, product
from math import factorial

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from machine_strategies import dfas, words_over

from fhx.machines import (
    CIRCUIT_CLASSES,
    DFA,
    NAMED,
    NFA,
    TooManyElementsError,
    TransitionMonoid,
    all_words,
    complexity,
    group_machine,
    is_quasi_aperiodic,
    letter_from_the_end,
    parity,
    states_by_doubling,
    states_by_halving,
    symmetric_group,
    syntactic_monoid,
)


def acting(accept=(0,), **letters):
    """The machine whose letters lead the states 0, 1, ... as listed; it starts in 0."""
    n = len(letters[min(letters)])
    return DFA(range(n), "".join(letters), {(q, a): letters[a][q] for q in range(n) for a in letters}, 0, accept)


LATCH = acting(accept=[1], s=[1, 1], r=[0, 0], n=[0, 1])
EVEN_LENGTH = acting(a=[1, 0], b=[1, 0])


def all_maps(n):
    """A machine whose words make every map of n states: a circle, a swap and a merger."""
    return acting(a=[*range(1, n), 0], b=[1, 0, *range(2, n)], c=[0, 0, *range(2, n)])


def brackets(depth):
    """Balanced brackets, at most so deep."""
    after = {(d, a): d + step for d in range(depth + 1) for a, step in (("(", 1), (")", -1))}
    moves = {pair: d if 0 <= d <= depth else "wrong" for pair, d in after.items()}
    return DFA([*range(depth + 1), "wrong"], "()", moves | {("wrong", a): "wrong" for a in "()"}, 0, [0])


@st.composite
def machines(draw, n=4, alphabet="ab"):
    """Random machines, machines whose letters may be permutations, and either with a clock that counts modulo 2."""
    size = draw(st.integers(1, n))
    a_map = st.one_of(st.permutations(range(size)), st.lists(st.integers(0, size - 1), min_size=size, max_size=size))
    letters = {a: draw(a_map) for a in alphabet}
    if draw(st.booleans()) and size > 1:
        moves = {((q, r), a): (letters[a][q], 1 - r) for q in range(size) for r in (0, 1) for a in alphabet}
        states = [(q, r) for q in range(size) for r in (0, 1)]
    else:
        moves = {(q, a): letters[a][q] for q in range(size) for a in alphabet}
        states = [*range(size)]
    accept = draw(st.sets(st.sampled_from(states)))
    return DFA(states, alphabet, moves, states[0], accept)


def acts(machine, word):
    """Where a word leads each state, by running."""
    states = []
    for q in machine.states:
        for a in word:
            q = machine.transitions[q, a]
        states.append(machine.states.index(q))
    return tuple(states)


# Elements


@given(dfas(max_states=3, max_symbols=2))
def test_the_elements_are_the_maps_of_words_in_the_order_of_words(machine):
    monoid = TransitionMonoid(machine)
    words = [monoid.shortest_word(x) for x in monoid.elements]
    longest = len(words[-1])
    found = {}
    for word in all_words(machine.alphabet, longest + 1):  # if one more letter makes no new map, none ever will
        found.setdefault(acts(machine, word), word)
    assert dict(zip(monoid.elements, words, strict=True)) == found
    assert [*found] == [*monoid.elements]
    assert len(monoid) == len(found) <= len(machine.states) ** len(machine.states)


@given(st.data(), machines())
def test_words_multiply(data, machine):
    monoid = TransitionMonoid(machine)
    u, v = data.draw(words_over("ab")), data.draw(words_over("ab"))
    x, y = monoid.element(u), monoid.element(v)
    assert x == acts(machine, u)
    assert monoid.product(x, y) == monoid.element(u + v) == acts(machine, u + v)
    for i, row in enumerate(monoid.table):
        assert [monoid.elements[j] for j in row] == [
            monoid.product(monoid.elements[i], letter) for letter in monoid.letters
        ]


@given(dfas(max_states=4, alphabet="ab"))
def test_two_words_are_one_element_if_no_context_tells_them_apart(machine):
    monoid = syntactic_monoid(machine)
    contexts = [*all_words("ab", len(machine.states) - 1)]
    answers = {}
    for word in all_words("ab", 4):
        told = tuple(machine.accepts(p + word + q) for p in contexts for q in contexts)
        assert answers.setdefault(told, monoid.element(word)) == monoid.element(word)
    assert len(set(answers.values())) == len(answers)


def test_a_monoid_by_hand():
    """A latch: set, reset and leave."""
    monoid = TransitionMonoid(LATCH)
    assert monoid.elements == ((0, 1), (1, 1), (0, 0))
    assert monoid.table == ((1, 2, 0), (1, 2, 1), (1, 2, 2))
    assert [monoid.shortest_word(x) for x in monoid.elements] == ["", "s", "r"]
    assert repr(monoid) == "TransitionMonoid(3 maps of 2 states, 3 letters)"
    assert monoid == TransitionMonoid(LATCH, 5)
    assert hash(monoid) == hash(TransitionMonoid(LATCH, 5))


def test_words_over_numbers_are_tuples():
    monoid = TransitionMonoid(DFA([0, 1], [10, 20], {(q, a): a // 10 - 1 for q in (0, 1) for a in (10, 20)}, 0, [1]))
    assert [monoid.shortest_word(x) for x in monoid.elements] == [(), (10,), (20,)]


def test_a_monoid_that_is_too_large():
    machine = all_maps(4)
    assert len(TransitionMonoid(machine, 4**4)) == 4**4
    with pytest.raises(TooManyElementsError, match="more than 255 elements: one too many is the map of") as found:
        complexity(machine, 255)
    last = TransitionMonoid(machine).elements[-1]
    assert acts(machine, found.value.word) == last
    assert found.value.max_elements == 255


def test_faults_of_arguments():
    monoid = TransitionMonoid(LATCH)
    with pytest.raises(ValueError, match="symbol 'x' is outside"):
        monoid.element("sx")
    for call in (lambda: monoid.shortest_word((1, 0)), lambda: monoid.product((0, 0), (1, 0))):
        with pytest.raises(ValueError, match=r"\(1, 0\) is not an element of this monoid of 3 maps"):
            call()
    with pytest.raises(ValueError, match="max_elements"):
        TransitionMonoid(LATCH, 0)
    for function in (TransitionMonoid, syntactic_monoid, complexity, states_by_doubling, states_by_halving):
        with pytest.raises(TypeError, match="needs a DFA, not the str"):
            function("abb", "") if "states" in function.__name__ else function("abb")
    with pytest.raises(TypeError, match="needs a TransitionMonoid, not the DFA"):
        is_quasi_aperiodic(LATCH)


# Groups and laws


def circles(machine, k):
    """Whether a word leads k different states each to the next and the last to the first, by search in rows of them."""
    for start in combinations(machine.states, k):
        for row in permutations(start[1:]):
            first = (start[0], *row)
            seen, queue = {first}, [first]
            for states in queue:
                for a in machine.alphabet:
                    after = tuple(machine.transitions[q, a] for q in states)
                    if after not in seen and len(set(after)) == k:
                        seen.add(after)
                        queue.append(after)
            if (*first[1:], first[0]) in seen:
                return True
    return False


@pytest.mark.claim("E24")
@given(st.one_of(machines(), dfas(max_states=5, max_symbols=3)))
@settings(max_examples=60)
def test_it_is_aperiodic_if_no_word_leads_states_in_a_circle(machine):
    minimal = machine.minimize()
    assume(len(minimal.states) <= 6)
    counts = any(circles(minimal, k) for k in (2, 3, 5))  # a circle of states makes one of each prime that divides it
    assert syntactic_monoid(machine).is_aperiodic == (not counts)


@given(machines())
def test_in_an_aperiodic_monoid_powers_come_to_rest(machine):
    monoid = TransitionMonoid(machine)
    word_powers = [[acts(machine, monoid.shortest_word(x) * k) for k in (len(x), len(x) + 1)] for x in monoid.elements]
    assert monoid.is_aperiodic == all(before == after for before, after in word_powers)


def multiplied(x, y):
    return tuple(map(y.__getitem__, x))


def generated(elements):
    """All products."""
    group = set(elements)
    while more := {multiplied(x, y) for x in group for y in group} - group:
        group |= more
    return group


def orders_of_derived(group):
    """The orders of the derived series, all commutators of all elements, given as maps with any unit."""
    (one,) = (x for x in group if multiplied(x, x) == x)
    inverse = {x: y for x in group for y in group if multiplied(x, y) == one}
    orders = [len(group)]
    while True:
        products = {multiplied(multiplied(inverse[x], inverse[y]), multiplied(x, y)) for x in group for y in group}
        group = generated(products)
        if len(group) == orders[-1]:
            return orders
        orders.append(len(group))


@given(machines())
@settings(max_examples=40)
def test_each_idempotent_has_the_group_of_units_around_it(machine):
    monoid = TransitionMonoid(machine)
    assume(len(monoid) <= 100)
    orders, images = set(), set()
    for e in monoid.elements:
        if multiplied(e, e) == e:
            local = {multiplied(multiplied(e, x), e) for x in monoid.elements}
            units = {x for x in local if any(multiplied(x, y) == multiplied(y, x) == e for y in local)}
            group = monoid.groups[tuple(sorted(set(e)))]
            assert [len(G) for G in group.derived_series] == orders_of_derived(units)
            assert group.is_abelian == all(multiplied(x, y) == multiplied(y, x) for x in units for y in units)
            orders.add(len(units))
            images.add(tuple(sorted(set(e))))
    assert images == set(monoid.groups)
    assert monoid.is_aperiodic == (orders == {1})
    assert monoid.is_solvable == all(orders_of_derived(set(G.elements))[-1] == 1 for G in monoid.groups.values())


def groups_of_one_length(machine):
    """Whether all powers of a map that comes back, and is not its own square, are made by words of some one length."""
    letters = [acts(machine, [a]) for a in machine.alphabet]
    made, seen = frozenset(letters), set()
    while made not in seen:
        seen.add(made)
        for x in made:
            powers = [x]
            while (more := multiplied(powers[-1], x)) not in powers:
                powers.append(more)
            if more == x and len(powers) > 1 and made.issuperset(powers):
                return True
        made = frozenset(multiplied(x, letter) for x in made for letter in letters)
    return False


@pytest.mark.claim("E24")
@given(st.one_of(machines(3), dfas(max_states=4, max_symbols=3)))
@settings(max_examples=150)
@example(EVEN_LENGTH)
@example(parity())
@example(NAMED["tomita-3"])
def test_it_is_quasi_aperiodic_if_words_of_one_length_make_no_group(machine):
    monoid = TransitionMonoid(machine)
    assert is_quasi_aperiodic(monoid) == (not groups_of_one_length(machine))
    assert is_quasi_aperiodic(monoid) or not monoid.is_aperiodic


@given(dfas(max_states=5, max_symbols=2))
def test_it_is_definite_if_all_words_as_long_as_the_states_but_one_reset_it(machine):
    minimal = machine.minimize()
    n = len(minimal.states)
    resets = all(len(set(acts(minimal, word))) == 1 for word in product(minimal.alphabet, repeat=n - 1))
    assert syntactic_monoid(machine).is_definite == resets


@given(machines())
@example(acting(a=[0, 0, 2], b=[0, 1, 1]))  # both letters are idempotent, their product is not
def test_laws_of_all_elements(machine):
    monoid = TransitionMonoid(machine)
    assume(len(monoid) <= 100)
    elements = monoid.elements
    assert monoid.is_commutative == all(multiplied(x, y) == multiplied(y, x) for x in elements for y in elements)
    assert monoid.is_idempotent == all(multiplied(x, x) == x for x in elements)
    assert monoid.is_group == all(any(multiplied(x, y) == elements[0] for y in elements) for x in elements)


@pytest.mark.parametrize("n", range(2, 6))
def test_all_maps_of_n_states(n):
    """Among the images are all sets of k states, and on these all permutations."""
    monoid = TransitionMonoid(all_maps(n))
    assert len(monoid) == n**n
    assert {(points, len(group)) for points, group in monoid.groups.items()} == {
        (points, factorial(k)) for k in range(1, n + 1) for points in combinations(range(n), k)
    }
    assert not monoid.is_aperiodic
    assert monoid.is_solvable == (n < 5)
    assert is_quasi_aperiodic(monoid) == (n == 2)  # there a and b are one map: the letters since the last c are counted


# Languages

LAWS = ("elements", "largest_group", "star_free", "quasi_aperiodic", "solvable", "group", "commutative", "idempotent")


@given(machines())
def test_a_complement_and_a_language_read_backwards_obey_the_same_laws(machine):
    found = complexity(machine)
    assert complexity(~machine) == found
    back = complexity(NFA.from_dfa(machine).reverse().determinize())
    assert [getattr(back, law) for law in LAWS] == [getattr(found, law) for law in LAWS]
    assert back.circuit_class == found.circuit_class


@given(machines(3), machines(3))
@settings(max_examples=50)
def test_what_both_languages_obey_their_intersection_and_union_obey(one, other):
    parts = complexity(one), complexity(other)
    for both in (complexity(one & other), complexity(one | other)):
        assert both.elements <= parts[0].elements * parts[1].elements
        for law in (*LAWS[2:5], *LAWS[6:], "definite"):
            assert getattr(both, law) or not all(getattr(part, law) for part in parts)
        hardest = max(CIRCUIT_CLASSES.index(part.circuit_class) for part in parts)
        assert CIRCUIT_CLASSES.index(both.circuit_class) <= hardest


TABLE = {  # states, elements, largest group, star-free, class
    "(a|b)*abb": (4, 7, 1, True, "AC0"),
    "parity": (2, 2, 2, False, "ACC0"),
    "tomita-1": (2, 2, 1, True, "AC0"),
    "tomita-2": (3, 6, 1, True, "AC0"),
    "tomita-3": (5, 27, 2, False, "AC0"),
    "tomita-4": (4, 12, 1, True, "AC0"),
    "tomita-5": (4, 4, 4, False, "ACC0"),
    "tomita-6": (3, 3, 3, False, "ACC0"),
    "tomita-7": (5, 9, 1, True, "AC0"),
    "divisible-by-3": (3, 6, 6, False, "ACC0"),
    "divisible-by-7-decimal": (7, 42, 42, False, "ACC0"),
    "S3": (6, 6, 6, False, "ACC0"),
    "S5": (120, 120, 120, False, "NC1-complete"),
}


def summary(machine):
    found = complexity(machine)
    return found.states, found.elements, found.largest_group, found.star_free, found.circuit_class


def test_the_machines_of_the_book():
    assert {name: summary(machine) for name, machine in NAMED.items()} == TABLE


@pytest.mark.claim("E24")
@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (DFA.from_regex("(aa)*", "a"), (2, 2, 2, False, "AC0")),
        (EVEN_LENGTH, (2, 2, 2, False, "AC0")),
        (DFA.from_regex("(ab)*", "ab"), (3, 6, 1, True, "AC0")),
        (LATCH, (2, 3, 1, True, "AC0")),
        (brackets(1), (3, 6, 1, True, "AC0")),
        (brackets(2), (4, 15, 1, True, "AC0")),
        (brackets(3), (5, 31, 1, True, "AC0")),
        (letter_from_the_end(3).determinize(), (8, 15, 1, True, "AC0")),
        (group_machine("Z60"), (60, 60, 60, False, "ACC0")),
        (group_machine("Z60", ["1"]), (60, 60, 60, False, "AC0")),  # words of a length that 60 divides
        (group_machine("S4"), (24, 24, 24, False, "ACC0")),
        (group_machine("A4", ["2143", "2314"]), (12, 12, 12, False, "ACC0")),
        (group_machine("A5", ["23145", "23451"]), (60, 60, 60, False, "NC1-complete")),
        (symmetric_group(4), (24, 24, 24, False, "ACC0")),
    ],
)
def test_known_machines(machine, expected):
    assert summary(machine) == expected


@pytest.mark.parametrize("d", range(1, 7))
def test_the_letter_d_before_the_end_is_decided_by_the_last_d(d):
    found = complexity(letter_from_the_end(d).determinize())
    assert (found.states, found.elements, found.definite) == (2**d, 2 ** (d + 1) - 1, True)


@pytest.mark.parametrize("depth", range(6))
def test_bounded_brackets_shift_an_interval_of_depths(depth):
    """If a word goes down by lo and up by hi at most, lo + hi + 1 shifts are left; and one map is wrong for all."""
    assert complexity(brackets(depth)).elements == 1 + sum((m + 1) ** 2 for m in range(depth + 1))


def test_what_is_definite_and_what_has_laws():
    assert [name for name, machine in NAMED.items() if complexity(machine).definite] == ["(a|b)*abb"]
    assert [name for name, machine in NAMED.items() if complexity(machine).commutative] == [
        "parity",
        "tomita-1",
        "tomita-5",
        "tomita-6",
    ]
    assert not complexity(LATCH).definite
    assert complexity(LATCH).idempotent
