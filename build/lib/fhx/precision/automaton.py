"""A net in floating-point numbers is a finite automaton, whatever it was in rational ones."""

from collections.abc import Hashable
from math import nan

import torch

from fhx._checks import check_kind, positive
from fhx.compile.extract import MAX_STATES, search
from fhx.exact import HaltingNet
from fhx.machines import DFA

__all__ = ["float_net_to_dfa"]

State = tuple[float, ...]


def float_net_to_dfa(net: HaltingNet, dtype: torch.dtype, max_states: int = MAX_STATES) -> DFA:
    r"""The automaton of the words that a net accepts in floating-point numbers, found breadth first.

    **Why there is one.** A state is a vector of floats of one type, and of these there are finitely many; the next one
    follows from it and the symbol. So the states after words are those of a finite automaton. From each of them the
    run over EOS comes to an answer or, being deterministic, back to a state that it has been in: then none will come,
    and that is known after finitely many steps. So the halting problem of the float net is decided, and the language of
    the words that it accepts is regular, even if that of the net in rational numbers is neither.

    A float net may overflow; a NaN stays one, and never answers. An output of at least 1/2 in size is an
    answer. The float net reads a word alone, symbol by symbol, so that a row's products are always added in the same
    order; another order may give another automaton. It is not minimal: its states are numbered as they are met, and
    hold every unit.

    Args:
        net: a net with one step per symbol.
        dtype: a floating-point type; a long one has many states.
        max_states: the most states after words, and the most in one run over end marks.

    Raises:
        StateExplosionError: a ValueError; there are more states after words.
        ValueError: a run over EOS meets more states, the net takes several steps per symbol, or ``max_states`` is
            below 1.
        TypeError: the net is not a HaltingNet, or ``dtype`` is not a floating-point type.
    """
    check_kind(net, HaltingNet, "float_net_to_dfa")
    positive("max_states", max_states)
    if net.steps_per_symbol > 1:
        raise ValueError(f"the net must take one step per symbol, and takes {net.steps_per_symbol}")
    floats, eos = net.to_torch(dtype), len(net.alphabet)
    columns = {symbol: column for column, symbol in enumerate(net.alphabet)}
    w, c = floats.inner.readout.weight[0], floats.inner.readout.bias
    accepted: dict[State, bool] = {}

    def after(state: State, column: int) -> State:
        values = floats.step(torch.tensor(state, dtype=dtype), column).tolist()
        return tuple(value if value == value else nan for value in values)  # one nan, which is itself

    def accepts(state: State) -> bool:
        path: dict[State, None] = {}
        answer: bool | None = None
        while answer is None:
            path[state] = None
            if len(path) > max_states:
                raise ValueError(f"a run over EOS meets more than {max_states} states")
            state = after(state, eos)
            output = float(torch.tensor(state, dtype=dtype) @ w + c)
            if abs(output) >= 0.5:
                answer = output > 0
            elif state in path:
                answer = False
            else:
                answer = accepted.get(state)
        accepted.update(dict.fromkeys(path, answer))
        return answer

    def step(state: State, symbol: Hashable) -> State:
        return after(state, columns[symbol])

    found = search(step, tuple(floats.inner.h0.tolist()), net.alphabet, accepts, max_states)
    return found.named({state: number for number, state in enumerate(found.states)})
