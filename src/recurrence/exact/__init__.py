r"""Simple RNNs over integers and fractions, run without rounding, and the piecewise linear steps they come from.

A **number** is an ``int`` or a ``Fraction``; a float anywhere is an error. A ``SimpleRNN`` is Definition 4.1 of the
lecture notes; a ``Network`` reads its states out as vectors, and a ``Recognizer`` as decisions on words. An
``Expression`` is a piecewise linear function written with relu and slu, and a ``Step`` a recurrence made of them.
"""

from recurrence.exact.expression import Expression, Unit, const, total, units_of, variable
from recurrence.exact.formulas import AND, NOT, OR, affine, if_then_else, maximum, relu, slu, stack, variables
from recurrence.exact.gather import GatherRecognizer
from recurrence.exact.gradients import gradient_jump, one_sided_gradient
from recurrence.exact.halting import EOS, Answer, HaltingNet
from recurrence.exact.lazy import DigitStream, LazyReal, Undecided
from recurrence.exact.lazy_run import LazyRun
from recurrence.exact.matrix import Matrix
from recurrence.exact.network import Code, Network
from recurrence.exact.pieces import Pieces
from recurrence.exact.recognizer import Recognizer
from recurrence.exact.separation import Separation, separate
from recurrence.exact.simple_rnn import SimpleRNN
from recurrence.exact.step import Step
from recurrence.exact.torch_halting import TorchHaltingNet
from recurrence.exact.torch_recognizer import TorchRecognizer

__all__ = [
    "AND",
    "EOS",
    "NOT",
    "OR",
    "Answer",
    "Code",
    "DigitStream",
    "Expression",
    "GatherRecognizer",
    "HaltingNet",
    "LazyReal",
    "LazyRun",
    "Matrix",
    "Network",
    "Pieces",
    "Recognizer",
    "Separation",
    "SimpleRNN",
    "Step",
    "TorchHaltingNet",
    "TorchRecognizer",
    "Undecided",
    "Unit",
    "affine",
    "const",
    "gradient_jump",
    "if_then_else",
    "maximum",
    "one_sided_gradient",
    "relu",
    "separate",
    "slu",
    "stack",
    "total",
    "units_of",
    "variable",
    "variables",
]
