r"""Finite automata as nets of logistic or tanh units that undo errors, with a certificate for all words.

The pair net of :func:`fhx.compile.dfa_to_rnn` passes an error of its state on. Here its units get a gain :math:`g` and
a threshold between "one of two" and "both":

.. math:: h_t[q, a] = \sigma\Big(g \Big(\sum_{\delta(p, b) = q} h_{t-1}[p, b] + x_t[a] - \tfrac32\Big)\Big),

where the sum is over the units of the pairs that lead to q, and over one more, which is 1 before the first symbol, if q
is the start. One unit is near 1, and all others near 0, whatever small errors there were the step before.

Source: Omlin and Giles (1996), "Constructing deterministic finite-state automata in recurrent neural networks", for
nets of second order; Carrasco, Forcada, Valdés-Muñoz and Ñeco (2000) for those of first order. The bounds and the
certificate are derived here.
"""

from collections.abc import Hashable, Iterator, Mapping
from math import ceil, log
from typing import Literal

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray
from scipy.special import expit

from fhx._checks import non_negative, one_of, positive
from fhx.machines import DFA

__all__ = ["NoiseProofNet", "noise_proof_net"]

Array = NDArray[np.float64]
Key = tuple[Hashable, Hashable] | None
"""A state and the symbol that was read in it; None before the first symbol."""
Box = tuple[Array, Array]
EPS = float(np.finfo(np.float64).eps)
ROUNDS = 2000
"""How often boxes may grow before they count as unbounded."""
GROWTH = 0.01
"""By what part of its growth a box grows further, so that images end inside of it."""


@frozen(eq=False)
class NoiseProofNet:
    r"""A simple cell :math:`h_t = \sigma(W h_{t-1} + U x_t + b)` that accepts where :math:`w \cdot h_t + c > 0`.

    Attributes:
        W, U, b, h0, w, c: the weights, whole numbers or halves; ``U`` has a column for each symbol of the alphabet.
        activation: "logistic" or "tanh".
        dfa: the machine whose words it is to recognise.
    """

    W: Array
    U: Array
    b: Array
    h0: Array
    w: Array
    c: float
    activation: Literal["logistic", "tanh"]
    dfa: DFA

    @property
    def units(self) -> int:
        """How many there are."""
        return len(self.b)

    @property
    def weights(self) -> dict[str, Array]:
        """All parts but the start."""
        return {"W": self.W, "U": self.U, "b": self.b, "w": self.w, "c": np.array(self.c)}

    def boxes(self, state_noise: float = 0.0, weight_noise: float = 0.0) -> Mapping[Key, Box] | None:
        r"""A box for each pair of a state and a symbol, in which the net is whenever it has read the symbol there.

        They are found by interval arithmetic, rounded outwards: boxes grow until the image of each, by each symbol,
        lies in the box that it should lie in. So they hold for words of every length.

        Args:
            state_noise: :math:`\eta`, by how much every number of the state may be moved after each step, each time
                anew; what a float loses in a step is a part of it.
            weight_noise: :math:`\rho`, by how much every weight may differ, as a part of the largest of its matrix.

        Returns:
            The least and the greatest states by pair, or None if there are no such boxes, or the answer of the net is
            not the machine's in all of one.
        """
        eta, rho = non_negative("state_noise", state_noise), non_negative("weight_noise", weight_noise)
        found: dict[Key, Box] = {None: (self.h0, self.h0)}
        waiting: list[Key] = [None]
        for _ in range(ROUNDS * max(1, len(self.dfa.states) * len(self.dfa.alphabet))):
            if not waiting:
                return found if all(self._answers(key, box, rho) for key, box in found.items()) else None
            key = waiting.pop(0)
            for after, image in self._images(key, found[key], eta, rho):
                if after not in found:
                    found[after] = image
                elif (image[0] < found[after][0]).any() or (image[1] > found[after][1]).any():
                    found[after] = _grown(found[after], image)
                else:
                    continue
                if after not in waiting:
                    waiting.append(after)
        return None

    def bears(self, what: Literal["state_noise", "weight_noise"], digits: int = 3) -> float:
        """The largest noise of a kind, alone, for which boxes are found, rounded down to so many decimal places.

        It is looked for by halving, as if boxes that are found for some noise were found for less. 0 also where there
        are none without noise.
        """
        one_of("what", what, ("state_noise", "weight_noise"))
        low, high = 0, 10**digits
        while high - low > 1:
            middle = (low + high) // 2
            fits = self.boxes(**{what: middle / 10**digits}) is not None
            low, high = (middle, high) if fits else (low, middle)
        return low / 10**digits

    def perturbed(self, sd: float, seed: int) -> "NoiseProofNet":
        """The net with Gaussian noise in all weights, its standard deviation a part of the largest of each matrix."""
        drawn = np.random.default_rng(seed)
        moved = {
            name: value + sd * np.abs(value).max() * drawn.standard_normal(value.shape)
            for name, value in self.weights.items()
        }
        return evolve(self, **{**moved, "c": float(moved["c"])})

    def _state(self, key: Key) -> Hashable:
        return self.dfa.start if key is None else self.dfa.transitions[key]

    def _images(self, key: Key, box: Box, eta: float, rho: float) -> Iterator[tuple[Key, Box]]:
        """Where each symbol leads from a box, and a box around its image."""
        low, high = box
        centre, radius = (low + high) / 2, (high - low) / 2
        size = np.maximum(np.abs(low), np.abs(high)).sum()
        off = rho * (np.abs(self.W).max() * size + np.abs(self.U).max() + np.abs(self.b).max())
        for k, symbol in enumerate(self.dfa.alphabet):
            middle = self.W @ centre + self.U[:, k] + self.b
            terms = np.abs(self.W).sum(1) * max(np.abs(low).max(), np.abs(high).max()) + np.abs(self.U[:, k]) + off
            spread = np.abs(self.W) @ radius + off + 4 * (self.units + 4) * EPS * (terms + np.abs(self.b))
            least, most = (self._activate(middle + sign * spread) for sign in (-1, 1))
            rounding = eta + 4 * EPS
            yield (self._state(key), symbol), (least - rounding, most + rounding)

    def _activate(self, z: Array) -> Array:
        return expit(z) if self.activation == "logistic" else np.tanh(z)

    def _answers(self, key: Key, box: Box, rho: float) -> bool:
        """Whether the net says of every state of the box what the machine says."""
        low, high = box
        centre, radius = (low + high) / 2, (high - low) / 2
        size = np.maximum(np.abs(low), np.abs(high)).sum()
        middle = self.w @ centre + self.c
        spread = np.abs(self.w) @ radius + rho * (np.abs(self.w).max() * size + abs(self.c))
        spread += 4 * (self.units + 4) * EPS * (np.abs(self.w).max() * size + abs(self.c))
        return middle - spread > 0 if self._state(key) in self.dfa.accept else middle + spread < 0


def noise_proof_net(dfa: DFA, activation: Literal["logistic", "tanh"], gain: int | None = None) -> NoiseProofNet:
    r"""The net of :math:`|Q||\Sigma| + 1` units that recognises a machine's language, and undoes errors.

    Let no sum have more than :math:`M` terms. If all numbers are within :math:`\varepsilon` of 0 and 1, and noise of at
    most :math:`\eta` is added, they are within :math:`\sigma(-g(\frac12 - M(\varepsilon + \eta)))` after the next step.
    So an :math:`\varepsilon` that is no smaller than this is kept for ever, and the answer is right if moreover
    :math:`K (\varepsilon + \eta) < \frac12`, with K the units that lead to accepting states. With tanh units the same
    numbers :math:`u` are written as :math:`h = 2u - 1`.

    Args:
        dfa: any machine.
        activation: "logistic" or "tanh".
        gain: g, even; None for about twice the least with which errors of :math:`1 / (32 M N)` are kept, N the number
            of units.

    Raises:
        ValueError: the gain is not a positive even number.
    """
    pairs = [(q, a) for q in dfa.states for a in dfa.alphabet]
    N = len(pairs) + 1
    into = {q: [i for i, pair in enumerate(pairs) if dfa.transitions[pair] == q] for q in dfa.states}
    into[dfa.start].append(N - 1)
    M = max(map(len, into.values()))
    g = 2 * ceil(2 * log(32 * M * N)) if gain is None else gain
    if positive("gain", g) % 2:
        raise ValueError(f"gain must be even, so that all weights are whole numbers or halves, got {gain!r}")
    W, U, b = np.zeros((N, N)), np.zeros((N, len(dfa.alphabet))), np.full(N, -1.5 * g)
    for i, (q, a) in enumerate(pairs):
        W[i, into[q]] = g
        U[i, dfa.alphabet.index(a)] = g
    h0, w = np.zeros(N), np.zeros(N)
    h0[-1] = 1
    w[[i for q in dfa.accept for i in into[q]]] = 1
    c = -0.5
    if activation == "tanh":  # tanh(z / 2) = 2 logistic(z) - 1
        W, U, b = W / 4, U / 2, b / 2 + W.sum(1) / 4
        h0, w, c = 2 * h0 - 1, w / 2, c + w.sum() / 2
    return NoiseProofNet(W, U, b, h0, w, float(c), activation, dfa)


def _grown(box: Box, image: Box) -> Box:
    """A box that holds both, and a little more where the image is outside."""
    low, high = np.minimum(box[0], image[0]), np.maximum(box[1], image[1])
    return low - GROWTH * (box[0] - low), high + GROWTH * (high - box[1])
