r"""All states of a run in :math:`O(\log T)` rounds: the maps of the letters are composed, in any grouping.

The state after t letters is :math:`q_t = (f_{x_1} f_{x_2} \cdots f_{x_t})(q_0)`, and composition is associative. A
composition of two maps of n states takes n look-ups, where a step of the run takes one: that is the price for rounds
whose compositions need not wait for each other.
"""

from collections.abc import Iterable

from attrs import frozen

from fhx._checks import check_kind
from fhx.machines.dfa import DFA
from fhx.machines.groups import Map, compose
from fhx.machines.words import State, Symbol

__all__ = ["ParallelRun", "states_by_doubling", "states_by_halving"]

Scan = tuple[list[Map], int, int]


@frozen
class ParallelRun:
    r"""The run of a machine on a word, found by composing maps.

    Attributes:
        states: the T + 1 states :math:`q_0, \dots, q_T`.
        rounds: how often all compositions before have to be done; within a round none waits for another.
        compositions: how many there are in all rounds, each of n look-ups for n states.
    """

    states: tuple[State, ...]
    rounds: int
    compositions: int


def states_by_doubling(dfa: DFA, word: Iterable[Symbol]) -> ParallelRun:
    r"""The run in :math:`R = \lceil \log_2 T \rceil` rounds and :math:`R T - 2^R + 1` compositions.

    Before round r, the t-th map is that of the last :math:`2^r` letters up to the t-th, or of all if there are not so
    many; the round puts the map of the :math:`2^r` letters before in front of it,

    .. math:: m_t \leftarrow m_{t - 2^r} \, m_t \quad (t > 2^r), \qquad m_t = f_{x_t} \text{ at first}.

    With compositions of two maps fewer rounds will not do where the last state depends on all letters, as in PARITY:
    after r of them no map is of more than :math:`2^r` letters.

    Args:
        dfa: any machine.
        word: T letters.

    Raises:
        TypeError: ``dfa`` is not a DFA.
        ValueError: a symbol outside the alphabet.

    Source: Hillis and Steele (1986), "Data parallel algorithms"; Ladner and Fischer (1980), who begin with automata.
    """
    maps = _letter_maps(dfa, word, "states_by_doubling")
    rounds = compositions = 0
    span = 1
    while span < len(maps):
        maps = maps[:span] + [compose(maps[t - span], maps[t]) for t in range(span, len(maps))]
        compositions += len(maps) - span
        rounds, span = rounds + 1, 2 * span
    return _run(dfa, (maps, rounds, compositions))


def states_by_halving(dfa: DFA, word: Iterable[Symbol]) -> ParallelRun:
    r"""The run in at most :math:`2 \lfloor \log_2 T \rfloor` rounds and fewer than :math:`2 T` compositions.

    Neighbours are composed to pairs, the prefixes of the word of pairs are those of even length, and one more letter
    makes of them those of odd length: with :math:`p_t = f_{x_1} \cdots f_{x_t}`,

    .. math:: p_{2 s} = (f_{x_1} f_{x_2}) \cdots (f_{x_{2 s - 1}} f_{x_{2 s}}), \qquad
       p_{2 s + 1} = p_{2 s} f_{x_{2 s + 1}}.

    That takes two rounds more than half of the word, if T > 2, and :math:`C(T) = T - 1 + C(\lfloor T / 2 \rfloor)`
    compositions, which is :math:`2 T - 1 - \lfloor \log_2 T \rfloor` less the number of ones of T in binary.

    Args:
        dfa: any machine.
        word: T letters.

    Raises:
        TypeError: ``dfa`` is not a DFA.
        ValueError: a symbol outside the alphabet.

    Source: Blelloch (1990), "Prefix sums and their applications"; Ladner and Fischer (1980).
    """
    return _run(dfa, _prefixes(_letter_maps(dfa, word, "states_by_halving")))


def _prefixes(maps: list[Map]) -> Scan:
    T = len(maps)
    if T <= 1:
        return maps, 0, 0
    pairs = [compose(maps[t], maps[t + 1]) for t in range(0, T - 1, 2)]
    even, rounds, compositions = _prefixes(pairs)
    odd = [maps[0], *(compose(even[t // 2 - 1], maps[t]) for t in range(2, T, 2))]
    prefixes = [(odd if t % 2 == 0 else even)[t // 2] for t in range(T)]
    return prefixes, rounds + (1 if T == 2 else 2), compositions + T - 1


def _letter_maps(dfa: DFA, word: Iterable[Symbol], function: str) -> list[Map]:
    check_kind(dfa, DFA, function)
    number = {q: i for i, q in enumerate(dfa.states)}
    made: dict[Symbol, Map] = {}
    maps = []
    for a in word:
        if a not in made:
            made[a] = tuple(number[dfa.step(q, a)] for q in dfa.states)
        maps.append(made[a])
    return maps


def _run(dfa: DFA, scan: Scan) -> ParallelRun:
    prefixes, rounds, compositions = scan
    start = dfa.states.index(dfa.start)
    return ParallelRun((dfa.start, *(dfa.states[x[start]] for x in prefixes)), rounds, compositions)
