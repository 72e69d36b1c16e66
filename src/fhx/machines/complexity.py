r"""How hard a regular language is: the circuits that decide it, read off its syntactic monoid.

Circuits have polynomially many gates, one circuit for each length of words. :math:`AC^0` has gates with any number of
inputs, in a constant number of layers; :math:`ACC^0` has besides these gates that count their inputs modulo a constant;
:math:`NC^1` has gates of two inputs in :math:`O(\log T)` layers. For a regular language L with the syntactic
monoid M:

==============  =================================  ==================================================================
class           if M is                            source
==============  =================================  ==================================================================
AC0             quasi-aperiodic                    Barrington, Compton, Straubing and Thérien (1992)
ACC0            solvable, but not quasi-aperiodic  in ACC0: Barrington and Thérien (1988); not in AC0: as above
NC1-complete    not solvable                       Barrington (1989); complete under reductions in AC0
==============  =================================  ==================================================================

Whether M is quasi-aperiodic, or definite, depends on its letters too; the other laws are of M alone.

All regular languages are in :math:`NC^1`: maps of states are composed in :math:`\lceil \log_2 T \rceil` rounds
(:func:`~fhx.machines.states_by_doubling`), each of a constant number of layers.

**Proved.** :math:`AC^0 \subsetneq ACC^0`: PARITY is not in :math:`AC^0` (Ajtai 1983; Håstad 1986), and
nor is counting modulo any :math:`m \ge 2` (Smolensky 1987). :math:`ACC^0 \subseteq TC^0 \subseteq NC^1`, where
:math:`TC^0` has majority gates. **Not known** is whether either of these inclusions is strict. So the last two rows
differ for certain as to monoids, and as to circuits just if :math:`ACC^0 \ne NC^1`; a language of the last row is in
:math:`TC^0` just if :math:`TC^0 = NC^1`.

Star-free languages are in :math:`AC^0`, where they are those whose monoid is aperiodic; but that of the words of
even length, which is not star-free, is there too.
"""

from math import gcd

from attrs import frozen

from fhx._checks import check_kind
from fhx.machines.dfa import DFA
from fhx.machines.groups import compose
from fhx.machines.monoid import MAX_ELEMENTS, TransitionMonoid, syntactic_monoid

__all__ = ["CIRCUIT_CLASSES", "Complexity", "complexity", "is_quasi_aperiodic"]

CIRCUIT_CLASSES = ("AC0", "ACC0", "NC1-complete")
"""What :attr:`Complexity.circuit_class` can be, from easy to hard."""


def is_quasi_aperiodic(monoid: TransitionMonoid) -> bool:
    r"""Whether the words of one length never make a group: no set :math:`\{f_w : |w| = t\}`, :math:`t \ge 1`, contains
    one of more than one element.

    An idempotent e lies in a strongly connected component of the right Cayley graph; let d be the greatest common
    divisor of the lengths of closed paths there. For x in the group :math:`H_e` of units of :math:`e M e`, the lengths
    of all paths from e to x are of one class :math:`c(x)` modulo d, and

    .. math:: c : H_e \to \mathbb{Z} / d, \qquad c(x y) = c(x) + c(y),

    is a homomorphism. **The monoid is quasi-aperiodic if and only if c is injective for every e**, and one e
    for each image will do. So this takes time linear in the Cayley graph for each image, and every group in a
    quasi-aperiodic monoid is cyclic.

    *Proof.* If :math:`c(x) = 0`, there are paths from e to e and to x of every large multiple of d; so, behind a word
    that makes e, two words of one length t make e and x, and if m is the order of x, words of length m t make all m
    powers of x. Conversely, in a group made by words of length t let e be the unit and x another element. These words
    lead from e to :math:`e e = e` and :math:`e x = x`; so d divides t, and :math:`c(x) = 0`.

    Args:
        monoid: of any machine; for a language its :func:`~fhx.machines.syntactic_monoid`.

    Raises:
        TypeError: ``monoid`` is not a TransitionMonoid.

    Source of the notion: Barrington, Compton, Straubing and Thérien (1992), "Regular languages in NC\ :sup:`1`".
    """
    check_kind(monoid, TransitionMonoid, "is_quasi_aperiodic")
    images = [points for points, group in monoid.groups.items() if len(group) > 1]
    if not images:
        return True
    from scipy.sparse import csr_array  # half a second of imports, for this function only
    from scipy.sparse.csgraph import connected_components

    targets, letters = [j for row in monoid.table for j in row], len(monoid.letters)
    rows = range(0, len(targets) + 1, letters)
    graph = csr_array(([1] * len(targets), targets, rows), shape=(len(monoid), len(monoid)))
    component = connected_components(graph, connection="strong")[1].tolist()
    unit = {tuple(sorted(set(x))): i for i, x in enumerate(monoid.elements) if compose(x, x) == x}
    return all(_lengths_tell_apart(monoid, unit[points], component) for points in images)


def _lengths_tell_apart(monoid: TransitionMonoid, e: int, component: list[int]) -> bool:
    """Whether the homomorphism c is injective on the group of the idempotent number e."""
    length, d = {e: 0}, 0
    order = [e]
    for i in order:  # grows while it is read
        for j in monoid.table[i]:
            if component[j] == component[e]:
                if j not in length:
                    length[j] = length[i] + 1
                    order.append(j)
                d = gcd(d, length[i] + 1 - length[j])
    image = set(monoid.elements[e])
    return all(length[i] % d for i in order[1:] if set(monoid.elements[i]) == image)


@frozen
class Complexity:
    r"""What the syntactic monoid M of a regular language L says of it.

    Attributes:
        states: of the minimal machine.
        elements: of M, which acts on these states.
        largest_group: the order of the largest group in M; 1 just if L is star-free.
        star_free: M is aperiodic. Then L is definable in first-order logic with the order of positions.
        quasi_aperiodic: words of one length never make a group; see :func:`is_quasi_aperiodic`. Then L is definable in
            first-order logic with the order of positions and their remainders modulo constants.
        solvable: all groups in M are.
        group: M is a group: every letter permutes the states.
        commutative: the order of letters does not matter.
        idempotent: every factor of a word may be repeated.
        definite: the last letters of a word decide, as many as ``fhx.stability.definite_order`` says.
    """

    states: int
    elements: int
    largest_group: int
    star_free: bool
    quasi_aperiodic: bool
    solvable: bool
    group: bool
    commutative: bool
    idempotent: bool
    definite: bool

    @property
    def circuit_class(self) -> str:
        """The least of :data:`CIRCUIT_CLASSES` that L is proved to be in: "AC0", "ACC0" or "NC1-complete".

        A language of the class "AC0" is in it, one of "ACC0" is there and not in AC0, one of "NC1-complete" is in NC1,
        and in ACC0 only if ACC0 = NC1.
        """
        return CIRCUIT_CLASSES[0 if self.quasi_aperiodic else 1 if self.solvable else 2]


def complexity(dfa: DFA, max_elements: int = MAX_ELEMENTS) -> Complexity:
    """What the syntactic monoid says of the language of a machine.

    Args:
        dfa: any machine of the language; it is minimised first.
        max_elements: the most elements of the monoid, which may have :math:`n^n` for n states.

    Raises:
        TypeError: ``dfa`` is not a DFA.
        TooManyElementsError: a ValueError; there are more elements.
    """
    check_kind(dfa, DFA, "complexity")
    monoid = syntactic_monoid(dfa, max_elements)
    return Complexity(
        states=len(monoid.machine.states),
        elements=len(monoid),
        largest_group=max(len(group) for group in monoid.groups.values()),
        star_free=monoid.is_aperiodic,
        quasi_aperiodic=is_quasi_aperiodic(monoid),
        solvable=monoid.is_solvable,
        group=monoid.is_group,
        commutative=monoid.is_commutative,
        idempotent=monoid.is_idempotent,
        definite=monoid.is_definite,
    )
