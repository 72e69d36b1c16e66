"""A cascade of two automata as two simple recurrent layers, one on top of the other."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from attrs import evolve, frozen

from fhx._checks import check_kind
from fhx.compile.automata import dfa_to_rnn
from fhx.exact import Matrix, SimpleRNN
from fhx.exact.numbers import Number
from fhx.machines import DFA
from fhx.machines.dfa import State

__all__ = ["Cascade", "cascade_to_rnns"]

Pair = tuple[State, Hashable]
Units = tuple[tuple[Number, ...], tuple[Number, ...]]
FIRST = 1
"""The first unit of ``dfa_to_rnn`` that stands for a pair, after the one for the start."""


@frozen(repr=False)
class Cascade:
    """Two simple layers over integers, of which the second reads the state of the first at the same time.

    Attributes:
        machines: the two automata.
        layers: the two layers; the second one's inputs are the first one's units.
        decoders: for each layer a matrix of zeros and ones that makes the one-hot vector of the machine's state of the
            layer's units, at time 0 too.
    """

    machines: tuple[DFA, DFA]
    layers: tuple[SimpleRNN, SimpleRNN]
    decoders: tuple[Matrix, Matrix]

    @property
    def units(self) -> int:
        """Of both layers together."""
        return sum(layer.units for layer in self.layers)

    @property
    def start(self) -> Units:
        """The units of both layers at time 0."""
        first, second = self.layers
        return first.h0, second.h0

    def step(self, units: Units, letter: Hashable) -> Units:
        """The units of both layers after one more letter.

        Raises:
            ValueError: the letter is not in the alphabet of the first machine.
        """
        letters = self.machines[0].alphabet
        if letter not in letters:
            raise ValueError(
                f"{letter!r} is not a letter of the first machine, which has {', '.join(map(str, letters))}"
            )
        read: Sequence[Number] = [int(letter == a) for a in letters]
        after: list[tuple[Number, ...]] = []
        for layer, h in zip(self.layers, units, strict=True):
            (read,) = evolve(layer, h0=h).reference_states([read])
            after.append(tuple(read))
        return after[0], after[1]

    def read(self, units: Units) -> Pair:
        """The states of both machines."""
        first, second = (
            machine.states[(decoder @ h).index(1)]
            for machine, decoder, h in zip(self.machines, self.decoders, units, strict=True)
        )
        return first, second

    def states(self, word: Iterable[Hashable]) -> Iterator[Pair]:
        """The states of both machines after each letter of a word."""
        units = self.start
        for letter in word:
            units = self.step(units, letter)
            yield self.read(units)


def cascade_to_rnns(first: DFA, second: DFA, link: Mapping[Pair, Hashable]) -> Cascade:
    r"""Two automata, of which the second reads the first, as a stack of two simple ReLU layers with integer weights.

    With transitions :math:`\delta`, :math:`\delta'` and the link :math:`\lambda`,

    .. math:: q_t = \delta(q_{t-1}, x_t), \qquad q'_t = \delta'(q'_{t-1}, \lambda(q_{t-1}, x_t)).

    Each layer is the net of :func:`~fhx.compile.dfa_to_rnn`. A unit of the first one says that the last state was q and
    the letter read is x, which is what the link asks about: so the input matrix of the second layer is that of its own
    net times a matrix of zeros and ones.

    Args:
        first, second: the machines; what they accept does not matter.
        link: the letter of ``second`` for each pair of a state of ``first`` and a letter.

    Raises:
        TypeError: a machine is not a DFA.
        ValueError: the link lacks a pair, or leads to something that is not a letter of ``second``.

    Source: Krohn and Rhodes (1965), "Algebraic theory of machines. I"; there the link makes a wreath product.
    """
    check_kind(first, DFA, "cascade_to_rnns")
    check_kind(second, DFA, "cascade_to_rnns")
    pairs = [*product(first.states, first.alphabet)]  # in the order of the units
    if missing := [pair for pair in pairs if link.get(pair) not in second.alphabet]:
        raise ValueError(f"the link leads from {missing[0]!r} to no letter of the second machine")
    below, above = dfa_to_rnn(first).rnn, dfa_to_rnn(second).rnn
    entries = {(second.alphabet.index(link[pair]), j): 1 for j, pair in enumerate(pairs, FIRST)}
    joined = above.U @ Matrix((len(second.alphabet), below.units), entries)
    return Cascade((first, second), (below, evolve(above, U=joined)), (_decoder(first), _decoder(second)))


def _decoder(machine: DFA) -> Matrix:
    """A pair's unit counts for the state that the pair leads to, the one for the start for the start."""
    pairs = product(machine.states, machine.alphabet)
    states = [machine.start, *(machine.transitions[pair] for pair in pairs)]
    entries = {(machine.states.index(q), j): 1 for j, q in enumerate(states)}
    return Matrix((len(machine.states), len(states)), entries)
