r"""Simple RNNs over integers and fractions, run without rounding, and the piecewise linear steps they come from.

A **number** is an ``int`` or a ``Fraction``; a float anywhere is an error. A ``SimpleRNN`` is Definition 4.1 of the
lecture notes; a ``Network`` reads its states out as vectors, and a ``Recognizer`` as decisions on words. An
``Expression`` is a piecewise linear function written with relu and slu, and a ``Step`` a recurrence made of them.
"""

from fhx.exact.expression import Expression, Unit, const, total, units_of, variable
from fhx.exact.formulas import AND, NOT, OR, affine, if_then_else, maximum, relu, slu, stack, variables
from fhx.exact.gather import GatherRecognizer
from fhx.exact.gradients import gradient_jump, one_sided_gradient
from fhx.exact.halting import EOS, Answer, HaltingNet
from fhx.exact.lazy import DigitStream, LazyReal, Undecided
from fhx.exact.lazy_run import LazyRun
from fhx.exact.matrix import Matrix
from fhx.exact.network import Code, Network
from fhx.exact.pieces import Pieces
from fhx.exact.recognizer import Recognizer
from fhx.exact.separation import Separation, separate
from fhx.exact.simple_rnn import SimpleRNN
from fhx.exact.step import Step
from fhx.exact.torch_halting import TorchHaltingNet
from fhx.exact.torch_recognizer import TorchRecognizer

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
