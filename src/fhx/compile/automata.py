"""Theorem 4.3 as a compiler: a finite automaton becomes a simple RNN with integer weights."""

from collections.abc import Sequence
from itertools import product
from typing import Literal, overload

from fhx._checks import check_kind, one_of
from fhx.compile.lemma import step_to_rnn
from fhx.compile.names import unique
from fhx.compile.noise_proof import NoiseProofNet, noise_proof_net
from fhx.exact import AND, Expression, Network, Recognizer, Step, relu, slu, sum_of, variable
from fhx.exact.numbers import Activation
from fhx.machines import DFA
from fhx.machines.dfa import State
from fhx.machines.words import Symbol

__all__ = ["dfa_to_rnn", "recognizer", "state_names"]


@overload
def dfa_to_rnn(dfa: DFA, activation: Activation = "relu") -> Recognizer: ...
@overload
def dfa_to_rnn(dfa: DFA, activation: Literal["logistic", "tanh"]) -> NoiseProofNet: ...
def dfa_to_rnn(dfa: DFA, activation: Activation | Literal["logistic", "tanh"] = "relu") -> Recognizer | NoiseProofNet:
    r"""A simple RNN with :math:`|Q||\Sigma| + 1` units and integer weights that recognises the machine's language.

    The state is a one-hot vector of the machine's state, and a unit ``q&a`` for each pair says that the last state was
    q and the symbol read is a:

    .. math::

       \begin{aligned}
       h_0[q] &= \mathbb{I}[q = q_0], \\
       g_t[q, a] &= h_{t-1}[q] \wedge x_t[a], \\
       h_t[q'] &= \sum_{\delta(q, a) = q'} g_t[q, a], \\
       \mathrm{out}(h) &= \sum_{q \in F} h[q].
       \end{aligned}

    The lemma cuts the step between g and h, so the net's units are the g and one called ``start``. ``decode`` gives h,
    by the names of ``fhx.compile.automata.state_names``.

    Args:
        dfa: any machine.
        activation: "relu", or "slu", which agrees with it on these units: the net is then one of Theorem 4.5.
            "logistic" or "tanh" for a net that undoes errors, in floats: see
            :class:`fhx.compile.NoiseProofNet`.

    Raises:
        TypeError: ``dfa`` is not a DFA.
        ValueError: the activation is unknown.

    Source: Theorem 4.3 and (4.9)-(4.12) of the lecture notes; Minsky, Computation: finite and infinite machines (1967).
    """
    check_kind(dfa, DFA, "dfa_to_rnn")
    layers = {"relu": relu, "slu": slu}
    if activation == "logistic" or activation == "tanh":
        return noise_proof_net(dfa, activation)
    layer = layers[one_of("activation", activation, (*layers, "logistic", "tanh"))]
    named = dict(zip(dfa.states, state_names(dfa), strict=True))
    symbols = dict(zip(dfa.alphabet, unique(dfa.alphabet), strict=True))
    inputs = unique((f"x={a}" for a in symbols.values()), taken=named.values())
    h = {q: variable(name) for q, name in named.items()}
    x = {a: variable(name) for a, name in zip(dfa.alphabet, inputs, strict=True)}

    pairs = product(dfa.states, dfa.alphabet)
    g = {(q, a): AND(h[q], x[a], name=f"{named[q]}&{symbols[a]}", layer=layer) for q, a in pairs}
    into: dict[State, list[Expression]] = {q: [] for q in dfa.states}
    for pair, unit in g.items():
        into[dfa.transitions[pair]].append(unit)
    step = Step(
        state={named[q]: sum_of(gs) for q, gs in into.items()},
        inputs=inputs,
        h0={named[q]: int(q == dfa.start) for q in dfa.states},
    )
    out = sum_of(h[q] for q in dfa.states if q in dfa.accept)
    return recognizer(step_to_rnn(step, out, activation=activation, order=g.values()), dfa.alphabet)


def state_names(dfa: DFA) -> tuple[str, ...]:
    """What the states are called in nets: ``str`` of each, with a number appended where two would be the same."""
    return unique(dfa.states)


def recognizer(network: Network, alphabet: Sequence[Symbol]) -> Recognizer:
    """A network with one output and one input per symbol as a recogniser of words.

    Raises:
        ValueError: a weight is not an integer.
    """
    if not network.rnn.is_integer:
        raise ValueError("a net compiled from a machine has integer weights, and this one does not")
    w = network.V.dense()[0]
    return Recognizer(network.rnn, w, network.c[0], alphabet, network.steps_per_symbol, network.decoder)
