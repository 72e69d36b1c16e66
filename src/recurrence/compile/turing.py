"""Theorem 4.6 as a compiler: a Turing machine becomes a simple RNN with rational weights, one step for each of its."""

from recurrence.compile.lemma import step_to_rnn
from recurrence.compile.turing_net import Layout, TuringNet
from recurrence.exact import Expression, HaltingNet, Step, const, relu, slu, total, variable
from recurrence.exact.stacks import check_base, pop, push, sharpened
from recurrence.machines import TuringMachine

__all__ = ["turing_to_rnn"]


def turing_to_rnn(tm: TuringMachine, base: int = 3) -> TuringNet:
    check_base(base)
    names = Layout.of(tm)
    pair, L, l, R, r = (
        {key: variable(name) for key, name in part.items()}
        for part in (names.pairs, names.left, names.left_top, names.right, names.right_top)
    )
    x = dict(zip(tm.input_alphabet, map(variable, names.inputs), strict=False))
    load, gap, first, eos = map(variable, (names.load, names.gap, names.first, names.inputs[-1]))

    rules = [(pair[key], *rule) for key, rule in tm.transitions.items() if key in pair]

    def some(*kept) -> Expression:
        return total(bit for bit, *rule in rules if all(keep(*rule) for keep in kept))

    def to(move):
        return lambda _q, _b, m: m == move

    def into(state):
        return lambda q, _b, _m: q == state

    def writing(symbol):
        return lambda _q, b, _m: b == symbol

    left, right = some(to("L")), some(to("R"))  # whether the head moves there
    begin = load + eos - 1  # whether the word has just ended
    at_end = 1 - total(l.values())  # whether the head is on the first cell
    over = {tm.blank: 1 - total(r.values()), **r}  # the symbol right of the head
    steepest = sharpened(const(1), base).constant
    flattest = sharpened(const(0), base).constant

    state = {names.load: relu(load - eos, "load"), names.gap: relu(push(gap, 0, base) - eos, "gap"), names.first: const(0)}

    ways = {key: [] for key in pair}
    for q, a in names.by_right:
        comes = some(to("R"), into(q)) + (begin if q == tm.start else 0)
        ways[q, a].append(relu(comes + over[a] - 1, f"{names.pairs[q, a]} from left"))
    for q, a in names.by_left:
        ways[q, a].append(relu(some(to("L"), into(q)) + l[a] - 1, f"{names.pairs[q, a]} from right"))
    for q, a in names.staying:
        ways[q, a].append(relu(some(to("L"), into(q), writing(a)) + at_end - 1, f"{names.pairs[q, a]} stays"))
    state |= {names.pairs[key]: total(units) for key, units in ways.items()}

    for a in L:
        pushed, popped = some(to("R"), writing(a)), pop(L[a], l[a], base)
        name = names.left[a]
        state[name] = relu(push(L[a], pushed, base) + right - 1, f"{name} push") + relu(popped + left - 1, f"{name} pop")
        seen = sharpened(popped, base) + steepest * (left - 1) + (steepest - flattest + 1) * pushed
        name = names.left_top[a]
        state[name] = relu(seen, f"{name} hi") - relu(seen - 1, f"{name} lo")
    for a in R:
        pushed, popped = some(to("L"), writing(a)), pop(R[a], r[a], base)
        name = names.right[a]
        state[name] = (
            relu(push(R[a], pushed, base) + left - 1 - at_end, f"{name} push")
            + relu(popped + right + begin - 1, f"{name} pop")
            + relu(R[a] + left + at_end - 1 - eos, f"{name} keep")
        )
        if a in x:
            state[name] += (base - 1) * relu(gap + x[a] - 1, f"{name} load")
        seen = sharpened(popped, base) + steepest * (right + begin - 1)
        name = names.right_top[a]
        state[name] = (
            relu(seen, f"{name} hi") - relu(seen - 1, f"{name} lo")
            + relu(r[a] + left + at_end - 1 - eos, f"{name} keep")
            + relu(pushed - at_end + ((first + x[a]) if a in x else 0), f"{name} push")
        )
    step = Step(state, names.inputs, {name: 0 for name in state} | {names.load: 1, names.gap: push(const(0), 1, base).constant / (base - 1), names.first: 1})
    out = total(
        (1 if q == tm.accept else -1) * bit for (q, a), bit in pair.items() if (q, a) not in tm.transitions
    )
    net = step_to_rnn(step, out)
    w = net.V.dense()[0]
    return TuringNet(HaltingNet(net.rnn, w, net.c[0], tm.input_alphabet, code=net.code), tm, base, step, names)
