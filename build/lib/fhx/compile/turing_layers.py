"""The lecture notes' proof of Theorem 4.6 as a compiler, repaired: several net steps for each of the machine's."""

from fhx._checks import check_kind
from fhx.compile.lemma import step_to_rnn
from fhx.compile.turing_net import TuringNet
from fhx.compile.turing_source import SourceLayout, source_step
from fhx.exact import variable
from fhx.machines import TuringMachine

__all__ = ["turing_to_layered_rnn"]


def turing_to_layered_rnn(tm: TuringMachine, base: int = 3, layers: int = 4) -> TuringNet[SourceLayout]:
    r"""The net of the source's step, repaired: L net steps for each symbol of the word and each step of the machine.

    The word is pushed on the left stack, rewound to the right one, and the machine runs. After k steps of the machine
    the answer comes with the end mark

    .. math:: T = |w| + k + 3,

    where 3 is for seeing the end, for finding the stack rewound, and for the answer itself. Every symbol and every end
    mark is followed by L - 1 zero vectors, as Lemma 4.4 needs for a step of depth L; so there are
    :math:`L\,(2 |w| + k + 3)` net steps. :func:`fhx.compile.turing_units` counts the units; most come
    from the sum over c in (4.33), a choice of two whole stacks for each rule and each symbol left of the head.

    Args:
        tm: any machine.
        base: B, of the stacks.
        layers: L, 4 as the source counts; 3 or 2 do, see :func:`fhx.compile.source_step`.

    Raises:
        ValueError: the base is not an integer of at least 3, or L is not 2, 3 or 4.
        TypeError: ``tm`` is not a TuringMachine.

    Source: the proof of Theorem 4.6 of the lecture notes, (4.27)-(4.34). :func:`fhx.compile.turing_to_rnn` needs
    one net step per step of the machine, and no rewinding.
    """
    check_kind(tm, TuringMachine, "turing_to_layered_rnn")
    step, names = source_step(tm, base, layers), SourceLayout.of(tm)
    out = variable(names.yes) - variable(names.no)
    compiled = step_to_rnn(step, out, layers)
    return TuringNet(
        compiled.rnn,
        compiled.V.dense()[0],
        compiled.c[0],
        tm.input_alphabet,
        layers,
        compiled.decoder,
        machine=tm,
        base=base,
        step=step,
        out=out,
        layout=names,
    )
