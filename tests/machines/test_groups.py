"""Groups of permutations against sympy, and their machines against the products that nets are asked for."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fhx.machines import PermutationGroup, TransitionMonoid, group_machine, symmetric_group


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3)))
@example([(1, 0, 2, 3, 4), (1, 2, 0, 3, 4), (0, 1, 2, 4, 3)])  # one commutes with the others, which do not commute
@settings(max_examples=40)
def test_groups_are_those_of_sympy(generators):
    sympy = pytest.importorskip("sympy.combinatorics")
    group = PermutationGroup(generators)
    other = sympy.PermutationGroup([sympy.Permutation(list(x)) for x in generators])
    assert [*group.elements] == sorted(tuple(x.array_form) for x in other.elements)
    assert (group.is_solvable, group.is_abelian) == (other.is_solvable, other.is_abelian)
    assert [len(G) for G in group.derived_series] == [G.order() for G in other.derived_series()]
    assert 2 ** len(group.generators) <= len(group)
    assert PermutationGroup(group.generators or group.elements) == group
    assert PermutationGroup(reversed(group.elements)) == group


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("S3", [6, 3, 1]),
        ("S4", [24, 12, 4, 1]),
        ("A4", [12, 4, 1]),
        ("A5", [60]),
        ("S5", [120, 60]),
        ("S6", [720, 360]),
    ],
)
def test_derived_series(name, orders):
    kind, n = name[0], int(name[1])
    machine = symmetric_group(n) if kind == "S" else group_machine(name)
    (group,) = TransitionMonoid(machine).groups.values()
    assert [len(G) for G in group.derived_series] == orders
    assert group.is_solvable == (orders[-1] == 1)


def test_a_group_has_generators():
    assert repr(PermutationGroup([(1, 2, 0)])) == "PermutationGroup([(1, 2, 0)])"
    assert repr(PermutationGroup([(0, 1)])) == "PermutationGroup([(0, 1)])"
    with pytest.raises(ValueError, match="one at least"):
        PermutationGroup([])
    for wrong in ((0, 0), (1, 2), (0, 1, 2)):
        with pytest.raises(ValueError, match=r"not a permutation of 0, \.\.\., 1"):
            PermutationGroup([(1, 0), wrong])


@pytest.mark.parametrize("group", ["Z2", "Z7", "S3", "A4", "A5"])
def test_its_states_are_the_products_that_a_net_is_asked_for(group):
    tasks = pytest.importorskip("fhx.tasks")
    task, machine = tasks.word_problem(group, 12, (1, 1, 20), seed=3), group_machine(group)
    assert machine.alphabet == task.labels
    for word, products in zip(task.test.inputs.argmax(-1).T.tolist(), task.test.targets.T.tolist(), strict=True):
        _, *states = machine.run([task.labels[k] for k in word])
        assert states == [task.labels[k] for k in products]
        assert machine.accepts([task.labels[k] for k in word]) == (products[-1] == 0)


def test_letters_of_a_group():
    machine = group_machine("A5", ["23145", "23451"])
    assert machine.alphabet == ("23145", "23451")
    assert [*machine.run(["23145", "23451"])] == ["12345", "23145", "34251"]
    assert len(group_machine("S5", ["23145"]).states) == 3
    for wrong in (["123"], ["21345", "21345"]):
        with pytest.raises(ValueError, match="different elements of S5, such as 12345, 12354"):
            group_machine("S5", wrong)
    for group in ("Q8", "S7", "S1", "A2", "Z1", "Z201", "", 5):
        with pytest.raises(ValueError, match="group must be one of S2 to S6, A3 to A6 and Z2 to Z200, not"):
            group_machine(group)
