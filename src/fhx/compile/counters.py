"""Real-time counter machines as simple RNNs: one net step for each symbol, integer weights, no rounding."""

from collections.abc import Mapping

from fhx._checks import check_kind
from fhx.compile.automata import recognizer
from fhx.compile.lemma import step_to_rnn
from fhx.compile.names import unique
from fhx.exact import Expression, Recognizer, Step, relu, sum_of, variable
from fhx.exact.numbers import Number
from fhx.machines import CounterConfiguration, CounterMachine, CounterRule

__all__ = ["counter_units", "counters_to_rnn", "read_counters"]


def counters_to_rnn(machine: CounterMachine) -> Recognizer:
    r"""A simple RNN with integer weights that recognises a counter machine's language, one step for each symbol.

    **State.** :math:`h[q]`, 1 in the machine's state and else 0; what the counters hold, :math:`c_i`; and
    :math:`z_i = \mathbb{I}[c_i = 0]`. So :math:`d_i = c_i - 1 + z_i` is :math:`\max(c_i - 1, 0)`.

    **Units.** For a transition :math:`\rho = (q, a, \zeta) \mapsto (q', \mu)` let

    .. math:: s_\rho = h[q] + x[a] - 1 + \sum_{\zeta_i = 0} (z_i - 1) - \sum_{\zeta_i = +} z_i.

    No addend after the first three is positive, and these sum to 1 if q is the state and a is read, else to 0 or -1; so
    :math:`s_\rho = 1` if the transition applies, and :math:`s_\rho \le 0` if not. Each unit adds literals to it, whole
    numbers of at most 0, and is thus 1 if the transition applies and all of them are 0, and else 0:

    .. math::

       \begin{aligned}
       P_\rho &= \mathrm{relu}(s_\rho) & \text{it applies,}\\
       L_{\rho i} &= \mathrm{relu}(s_\rho - d_i) & \text{and } c_i = 1, \text{ if } \mu_i = -1,\\
       N_{\rho i} &= \mathrm{relu}(s_\rho + z_i - 1) & \text{and } c_i = 0, \text{ if } \mu_i = 1
       \text{ and } \zeta_i = *.
       \end{aligned}

    **Step.** A counter becomes 0 when it was 1 and is moved down, and stops being 0 when it is moved up:

    .. math::

       \begin{aligned}
       h'[q'] &= \sum_{\rho \text{ to } q'} P_\rho, \qquad
       c'_i = \mathrm{relu}(c_i) + \sum_\rho \mu_i P_\rho, \\
       z'_i &= \mathrm{relu}(z_i) + \sum_{\mu_i = -1} L_{\rho i}
       - \sum_{\mu_i = 1,\, \zeta_i = 0} P_\rho - \sum_{\mu_i = 1,\, \zeta_i = *} N_{\rho i}.
       \end{aligned}

    If none applies, all :math:`h[q]` are 0 from then on. **Output.** :math:`\sum_{q \in F} h[q]`; with ``at_zero`` the
    sum over the transitions to :math:`F` that move no counter up, and leave none at a number that they tested to be
    positive, of

    .. math:: \mathrm{relu}\Big(s_\rho - \sum_{\mu_i = -1} d_i - \sum_{\mu_i = 0,\, \zeta_i = *} (1 - z_i)\Big),

    which is 1 if the transition applies and leaves all counters at 0. After t symbols no unit exceeds
    :math:`\max(1, t - 1)`, so :math:`\log_2 t` bits for each do.

    Args:
        machine: any counter machine. :func:`fhx.compile.counter_units` says how many units its net has.

    Returns:
        The net; :func:`fhx.compile.read_counters` turns what it decodes into a configuration.

    Raises:
        TypeError: ``machine`` is not a counter machine.

    Source: Weiss, Goldberg and Yahav (2018), "On the practical computational power of finite precision RNNs for
    language recognition", for moves that depend on the input alone; here they depend on state and tests too.
    """
    check_kind(machine, CounterMachine, "counters_to_rnn")
    named, zeros, counts = _names(machine)
    taken = [*named.values(), *zeros, *counts]
    symbols = dict(zip(machine.alphabet, unique(machine.alphabet), strict=True))
    inputs = unique((f"x={a}" for a in symbols.values()), taken=taken)
    h = {q: variable(name) for q, name in named.items()}
    x = {a: variable(name) for a, name in zip(machine.alphabet, inputs, strict=True)}
    c, z = [variable(name) for name in counts], [variable(name) for name in zeros]
    d = [c[i] - 1 + z[i] for i in range(machine.counters)]

    def applies(rule: CounterRule) -> Expression:
        tests = (z[i] - 1 if test == "0" else -z[i] for i, test in enumerate(rule.tests) if test != "*")
        return sum_of((h[rule.state], x[rule.symbol], -1, *tests))

    into: dict[object, list[Expression]] = {q: [] for q in machine.states}
    next_c, next_z = [[relu(e)] for e in c], [[relu(e)] for e in z]
    at_zero: list[Expression] = []
    for rule in machine.rules:
        s, name = applies(rule), f"{named[rule.state]}&{symbols[rule.symbol]}{rule.tests}"
        p = relu(s, name)
        into[rule.target].append(p)
        for i, (test, move) in enumerate(zip(rule.tests, rule.moves, strict=True)):
            next_c[i] += [move * p] * (move != 0)
            if move == -1:
                next_z[i].append(relu(s - d[i], f"{name}, {counts[i]}=1"))
            elif move == 1 and test != "+":
                next_z[i].append(-p if test == "0" else -relu(s + z[i] - 1, f"{name}, {counts[i]}=0"))
        if machine.at_zero and rule.target in machine.accept and _may_end_at_zero(rule):
            parts = zip(rule.tests, rule.moves, d, z, strict=True)
            literals = (d_i if move else 1 - z_i for test, move, d_i, z_i in parts if move or test == "*")
            at_zero.append(relu(s - sum_of(literals), f"{name}, to 0"))

    state = {named[q]: sum_of(into[q]) for q in machine.states}
    state |= {name: sum_of(es) for name, es in zip((*counts, *zeros), (*next_c, *next_z), strict=True)}
    h0 = {named[q]: int(q == machine.start) for q in machine.states}
    h0 |= dict.fromkeys(counts, 0) | dict.fromkeys(zeros, 1)
    out = sum_of(h[q] for q in machine.states if q in machine.accept)
    if machine.at_zero:
        (verdict,) = unique(["accepts"], taken=[*taken, *inputs])
        state[verdict], h0[verdict] = sum_of(at_zero), int(machine.start in machine.accept)
        out = variable(verdict)
    return recognizer(step_to_rnn(Step(state, inputs, h0), out), machine.alphabet)


def counter_units(machine: CounterMachine) -> int:
    r"""How many units :func:`fhx.compile.counters_to_rnn` gives a machine: linear in what is written down of it.

    For k counters and R transitions, of whose moves D go down and I go up without a test,

    .. math:: 1 + 2 k + R + D + I,

    and with ``at_zero`` one more for each transition to an accepting state that may leave all counters at 0, except
    where that unit is there already: if the transition moves no counter and tests all of them, or moves one down and
    tests all others. So there are at most :math:`1 + 2 k + (k + 2) R`, and without counters as many as
    :func:`fhx.compile.dfa_to_rnn` has.

    Raises:
        TypeError: ``machine`` is not a counter machine.
    """
    check_kind(machine, CounterMachine, "counter_units")
    units = 1 + 2 * machine.counters
    for rule in machine.rules:
        moves = list(zip(rule.tests, rule.moves, strict=True))
        units += 1 + sum(move == -1 or (test, move) == ("*", 1) for test, move in moves)
        if machine.at_zero and rule.target in machine.accept and _may_end_at_zero(rule):
            units += sum(move == -1 or (test, move) == ("*", 0) for test, move in moves) > (-1 in rule.moves)
    return units


def read_counters(machine: CounterMachine, held: Mapping[str, Number]) -> CounterConfiguration | None:
    """The configuration that a compiled net is in: ``read_counters(machine, net.decode(h))``; None after a stop.

    Args:
        machine: the machine that the net was compiled from.
        held: the state that the net decodes, by name.

    Raises:
        TypeError: ``machine`` is not a counter machine.
        ValueError: this is not a state of its net.
    """
    check_kind(machine, CounterMachine, "read_counters")
    named, _, counts = _names(machine)
    if missing := [name for name in (*named.values(), *counts) if name not in held]:
        raise ValueError(f"this is not a state of the machine's net: it has no {missing[0]!r}")
    ones = [q for q, name in named.items() if held[name] == 1]
    values = [held[name] for name in counts]
    if len(ones) > 1 or any(held[name] not in (0, 1) for name in named.values()):
        raise ValueError(f"this is not a state of the machine's net: it is in {len(ones)} states at once")
    if not ones:
        return None
    return CounterConfiguration(ones[0], tuple(map(int, values)))


def _names(machine: CounterMachine) -> tuple[dict[object, str], tuple[str, ...], tuple[str, ...]]:
    """What the states, the zero bits and the counters are called in the net, all different."""
    named = dict(zip(machine.states, unique(machine.states), strict=True))
    counts = unique((f"c{i}" for i in range(machine.counters)), taken=named.values())
    zeros = unique((f"z{i}" for i in range(machine.counters)), taken=[*named.values(), *counts])
    return named, zeros, counts


def _may_end_at_zero(rule: CounterRule) -> bool:
    """Whether some counters that pass its tests are all 0 after its moves."""
    return all(move < 0 or (move == 0 and test != "+") for test, move in zip(rule.tests, rule.moves, strict=True))
