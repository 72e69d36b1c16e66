"""A Turing machine that starts with advice beside its word, as a net: the lemma behind P/poly."""

from collections.abc import Hashable, Iterable
from fractions import Fraction

from attrs import evolve

from fhx._checks import check_kind
from fhx.compile.lemma import step_to_rnn
from fhx.compile.names import unique
from fhx.compile.turing import turing_to_rnn
from fhx.exact import HaltingNet, Step, relu, slu, variable
from fhx.exact.stacks import encode, sharpened
from fhx.machines import TuringMachine

__all__ = ["with_advice"]


def with_advice(tm: TuringMachine, advice: Iterable[Hashable], base: int = 3) -> HaltingNet:
    r"""A simple ReLU RNN that does on each word what a Turing machine does with advice to the left of the word.

    The word stands from the head to the right, the advice from there to the left, nearest symbol first, and the last
    symbol of the advice is on the first cell of the tape. If the machine halts after k steps, the output is 1 or -1
    after :math:`|w| + 1 + k` net steps, and 0 otherwise.

    **The net** is that of :func:`turing_to_rnn` with one number :math:`\alpha_c` more for each symbol c of its left
    stack :math:`L_c`, whose top bits are :math:`\ell_c`. They start as the stack of the advice, and go over to the left
    stack at the first EOS, where :math:`F = \mathrm{load} + \mathrm{EOS} - 1` is 1:

    .. math::

       \begin{aligned}
       \alpha_c' &= \mathrm{relu}(\alpha_c - \mathrm{EOS}), \\
       L_c' &= \dots + \mathrm{relu}(\alpha_c + F - 1), \\
       \ell_c' &= \dots + \mathrm{slu}(s(\alpha_c) + s_1 (F - 1)), \qquad
       s(v) = \tfrac{B v - 1}{B - 2}, \quad s_1 = s(1),
       \end{aligned}

    four units for each c. The advice is in :math:`h_0` alone: W, U, b and the readout are the same for all, and an
    infinite one would make a real start. A run of k steps sees at most its first k symbols, so every prefix of at
    least that length gives the same answer.

    Args:
        tm: any machine whose left stack has names for the symbols of the advice: each must be written by a rule that
            moves right and reads a pair that can come about on some word.
        advice: its symbols, the one beside the word first.
        base: B, of the stacks.

    Raises:
        TypeError: ``tm`` is not a TuringMachine, or the advice is a set, which has no order.
        ValueError: the base is not an integer of at least 3, or a symbol of the advice has no name on the left stack.

    Source: Siegelmann and Sontag (1994), Analog computation via neural networks, who prove that with real weights
    polynomial time is P/poly; the net is ours.
    """
    check_kind(tm, TuringMachine, "with_advice")
    if isinstance(advice, set | frozenset):
        raise TypeError("the advice is a set, which has no order: give a string or a list")
    plain = turing_to_rnn(tm, base)
    names, state, start = plain.layout, dict(plain.step.state), dict(plain.step.h0)
    advice, symbols = tuple(advice), tuple(names.left)
    for symbol in advice:
        if symbol not in symbols:
            raise ValueError(
                f"the symbol {symbol!r} of the advice has no name on the left stack, where {symbols} have one: "
                "no rule that can be used writes it and moves right"
            )
    end = variable(names.eos)
    over = variable(names.load) + end - 1
    largest = Fraction(base - 1, base - 2)
    kept_names = unique((f"advice {name}" for name in names.left.values()), taken=state)
    for symbol, name in zip(symbols, kept_names, strict=True):
        kept = variable(name)
        start[name], state[name] = 0, relu(kept - end, name)
        state[names.left[symbol]] += relu(kept + over - 1, f"{name} over")
        state[names.left_top[symbol]] += slu(sharpened(kept, base) + largest * (over - 1), f"{name} top")
    net = step_to_rnn(Step(state, names.inputs, start), plain.out)
    h0, row = list(net.rnn.h0), net.V.row(0)
    for name, number in zip(kept_names, encode(advice, symbols, base), strict=True):
        (unit,) = net.decoder.row(name)
        h0[unit] = number
    w = [row.get(j, 0) for j in range(net.units)]
    return HaltingNet(evolve(net.rnn, h0=h0), w, net.c[0], tm.input_alphabet, decoder=net.decoder)
