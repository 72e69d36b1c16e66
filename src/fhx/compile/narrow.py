"""Any finite automaton in eleven ReLUs, if it may take its time: its table is a number that the net reads aloud."""

from fractions import Fraction

from fhx._checks import check_kind
from fhx.compile.lemma import step_to_rnn
from fhx.compile.names import unique
from fhx.exact import Expression, Recognizer, Step, relu, sum_of, variable
from fhx.machines import DFA

__all__ = ["dfa_to_narrow_rnn", "narrow_steps"]

UNITS = 11
NAMES = ("table", "digit", "wait", "next", "accepts")


def dfa_to_narrow_rnn(dfa: DFA) -> Recognizer:
    r"""A simple ReLU net of eleven units that recognises the machine's language, in many steps per symbol.

    Number the states :math:`0, \dots, m - 1`, the a accepting ones first. For each symbol x write its column of the
    table in unary, :math:`1^{\delta(0, x)}\, 0\; 1^{\delta(1, x)}\, 0 \dots 1^{\delta(m - 1, x)}\, 0`, and let
    :math:`T_x` be the number with these digits in base 3, a 2 for each 1. The net reads it digit by digit. It holds

    - ``table``, V, what is left of the number, and ``digit``, :math:`\tau`, whether its first digit is a 2;
    - ``wait``, s, how many zeros are to pass before the entry of the present state;
    - ``next``, n, the ones of that entry so far, and in the end the state.

    With k the number of net steps per symbol, and :math:`X = \sum_x x` the mark of the step that shows a symbol,

    .. math::

       \begin{aligned}
       V' &= \mathrm{relu}\Big(3 V - 2 \tau + \sum_x T_x\, x\Big), \qquad
       \tau' = \mathrm{slu}\Big(9 V - 6 \tau - 1 + 2 \sum_x [\text{the first digit of } T_x \text{ is } 2]\, x\Big), \\
       s' &= \mathrm{relu}(s - 1 + \tau - k X) + k\, \mathrm{relu}(1 - \tau - s) + \mathrm{relu}(n - k + k X), \\
       n' &= \mathrm{relu}(n - k X) + \mathrm{relu}(\tau - s), \\
       \mathrm{accepts}' &= \mathrm{slu}(a - n).
       \end{aligned}

    **Why.** When a symbol is shown, the last table has been read to its end, so :math:`V = \tau = 0`; the new one is
    loaded, n becomes s and 0 becomes n. From then on :math:`V' = 3 V - 2 \tau` takes off the first digit, and
    :math:`3 V' - 1` is at most 0 or at least 1 as the next one is a 0 or a 2. While :math:`s \ge 1` a zero makes
    s smaller by 1, and a one leaves it. At s = 0, in the entry of the state, each one counts, and the zero after them
    puts s to k, more than there are digits left. So n stays as it is, and in the last step ``accepts`` reads it.

    **Time.** k is 2 more than the longest table, at most :math:`m\,(m + 1) / 2 + \dots \le m^2 + 2`:
    :func:`narrow_steps`. The weights :math:`T_x` are fractions with as many digits; nothing else depends on the
    machine but k and a.

    Args:
        dfa: any machine.

    Raises:
        TypeError: ``dfa`` is not a DFA.
    """
    check_kind(dfa, DFA, "dfa_to_narrow_rnn")
    tables, k = _tables(dfa), narrow_steps(dfa)
    inputs = unique((f"x={a}" for a in dfa.alphabet), taken=NAMES)
    x = [variable(name) for name in inputs]
    V, tau, s, n = map(variable, NAMES[:4])
    shown, accepting = sum_of(x), len(dfa.accept)
    numbers = [sum(Fraction(2 * digit, 3**t) for t, digit in enumerate(table, 1)) for table in tables]
    popped = 3 * V - 2 * tau
    state: dict[str, Expression] = {
        "table": relu(popped + sum_of(T * mark for T, mark in zip(numbers, x, strict=True)), "table"),
        "digit": _slu(3 * popped - 1 + 2 * sum_of(t[0] * mark for t, mark in zip(tables, x, strict=True)), "digit"),
        "wait": relu(s - 1 + tau - k * shown, "wait on")
        + k * relu(1 - tau - s, "entry over")
        + relu(n - k + k * shown, "wait for next"),
        "next": relu(n - k * shown, "next so far") + relu(tau - s, "next one more"),
        "accepts": _slu(accepting - n, "accepts"),
    }
    place = _order(dfa).index(dfa.start)
    h0 = {"table": 0, "digit": 0, "wait": k, "next": place, "accepts": int(place < accepting)}
    net = step_to_rnn(Step(state, inputs, h0), variable("accepts"))
    return Recognizer(net.rnn, net.V.dense()[0], net.c[0], dfa.alphabet, k, net.decoder)


def narrow_steps(dfa: DFA) -> int:
    r"""The steps per symbol of :func:`dfa_to_narrow_rnn`, :math:`\max_x \sum_q (\delta(q, x) + 1) + 2`, with the states
    numbered from 0, the accepting ones first.

    Raises:
        TypeError: ``dfa`` is not a DFA.
    """
    check_kind(dfa, DFA, "narrow_steps")
    return max(map(len, _tables(dfa))) + 2


def _order(dfa: DFA) -> list[object]:
    """The states, accepting ones first."""
    return [*(q for q in dfa.states if q in dfa.accept), *(q for q in dfa.states if q not in dfa.accept)]


def _tables(dfa: DFA) -> list[list[int]]:
    """For each symbol the numbers of the next states in unary, each with a 0 behind."""
    order = _order(dfa)
    place = {q: i for i, q in enumerate(order)}
    return [[digit for q in order for digit in [1] * place[dfa.transitions[q, a]] + [0]] for a in dfa.alphabet]


def _slu(e: Expression, name: str) -> Expression:
    return relu(e, f"{name} over 0") - relu(e - 1, f"{name} over 1")
