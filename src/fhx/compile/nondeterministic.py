"""Nondeterministic automata as simple RNNs with saturated units."""

from fhx._checks import check_kind
from fhx.compile.automata import recognizer
from fhx.compile.lemma import step_to_rnn
from fhx.compile.names import unique
from fhx.exact import Expression, Recognizer, Step, slu, sum_of, variable
from fhx.machines import NFA
from fhx.machines.words import State

__all__ = ["nfa_to_rnn"]


def nfa_to_rnn(nfa: NFA) -> Recognizer:
    r"""A simple RNN of at most :math:`|Q||\Sigma| + 1` slu units, with whole weights, for a nondeterministic machine.

    A unit ``q&a`` for each pair says that the symbol read is a and that it leads to q. With :math:`h_t[q] = 1` if q is
    in the set :math:`S_t` of the machine's states, else 0, and :math:`m` the number of states that a leads from to q,

    .. math::

       \begin{aligned}
       g_t[q, a] &= \mathrm{slu}\Big(\sum_{q \in \Delta(p, a)} h_{t-1}[p] + m\, x_t[a] - m\Big), \\
       h_t[q] &= \sum_a g_t[q, a].
       \end{aligned}

    If a is read, the sum is a whole number, at least 1 if and only if some p leads to q, and slu makes 1 of it; if not,
    the argument is at most 0. So a set of n bits is held in n numbers, where the one-hot net of the equivalent
    deterministic machine may need :math:`2^n` units for each symbol. One more unit, ``start``, stands in for
    :math:`h_0`. If there are several accepting states, :math:`|\Sigma|` units more say whether one of them is in the
    set: those of a state into which all transitions that lead into F are led too.

    Args:
        nfa: any machine.

    Raises:
        TypeError: ``nfa`` is not an NFA.
    """
    check_kind(nfa, NFA, "nfa_to_rnn")
    named = dict(zip(nfa.states, unique(nfa.states), strict=True))
    symbols = dict(zip(nfa.alphabet, unique(nfa.alphabet), strict=True))
    inputs = unique((f"x={a}" for a in symbols.values()), taken=named.values())
    h = {q: variable(name) for q, name in named.items()}
    x = {a: variable(name) for a, name in zip(nfa.alphabet, inputs, strict=True)}

    def led(a: object, targets: frozenset[State], name: str) -> Expression:
        """Whether a is read and leads to one of the targets."""
        before = [h[p] for p in nfa.states if not nfa.transitions.get((p, a), frozenset()).isdisjoint(targets)]
        return slu(sum_of(before) + len(before) * x[a] - len(before), f"{name}&{symbols[a]}")

    state = {named[q]: sum_of(led(a, frozenset([q]), named[q]) for a in nfa.alphabet) for q in nfa.states}
    h0 = {named[q]: int(q in nfa.start) for q in nfa.states}
    out = sum_of(h[q] for q in nfa.accept)
    if len(nfa.accept) > 1:
        (verdict,) = unique(["accepts"], taken=[*named.values(), *inputs])
        state[verdict] = sum_of(led(a, nfa.accept, verdict) for a in nfa.alphabet)
        h0[verdict] = int(not nfa.start.isdisjoint(nfa.accept))
        out = variable(verdict)
    return recognizer(step_to_rnn(Step(state, inputs, h0), out, activation="slu"), nfa.alphabet)
