r"""Simple RNNs over integers and fractions, run without rounding, and the piecewise linear steps they come from.

A **number** is an ``int`` or a ``Fraction``; a float anywhere is an error. A ``SimpleRNN`` is Definition 4.1 of the
lecture notes; a ``Network`` reads its states out as vectors, a ``Recognizer`` as decisions on words, and a
``HaltingNet`` as one answer after the end of a word. An ``Expression`` is a piecewise linear function written with relu
and slu, and a ``Step`` a recurrence made of them.
"""

from typing import TYPE_CHECKING

from fhx._extras import lazily
from fhx.exact.endless import Answer, Endless
from fhx.exact.expression import Expression, Unit, const, sum_of, units_of, variable
from fhx.exact.files import load_net, save_net
from fhx.exact.formulas import AND, NOT, OR, affine, if_then_else, maximum, relu, slu, stack, variables
from fhx.exact.gradients import gradient_jump, one_sided_gradient
from fhx.exact.halting import EOS, HaltingNet
from fhx.exact.lazy import DigitStream, LazyReal, UndecidedError
from fhx.exact.lazy_run import LazyRun
from fhx.exact.matrix import Matrix
from fhx.exact.network import Network, StateDecoder
from fhx.exact.pieces import Pieces
from fhx.exact.recognizer import Recognizer
from fhx.exact.separation import Separation, separate
from fhx.exact.simple_rnn import SimpleRNN
from fhx.exact.step import Step
from fhx.exact.word_reader import WordReader

if TYPE_CHECKING:
    from fhx.exact.table import TableRecognizer
    from fhx.exact.torch_halting import TorchHaltingNet
    from fhx.exact.torch_recognizer import TorchRecognizer

__all__ = [
    "AND",
    "EOS",
    "NOT",
    "OR",
    "Answer",
    "DigitStream",
    "Endless",
    "Expression",
    "HaltingNet",
    "LazyReal",
    "LazyRun",
    "Matrix",
    "Network",
    "Pieces",
    "Recognizer",
    "Separation",
    "SimpleRNN",
    "StateDecoder",
    "Step",
    "TableRecognizer",
    "TorchHaltingNet",
    "TorchRecognizer",
    "UndecidedError",
    "Unit",
    "WordReader",
    "affine",
    "const",
    "gradient_jump",
    "if_then_else",
    "load_net",
    "maximum",
    "one_sided_gradient",
    "relu",
    "save_net",
    "separate",
    "slu",
    "stack",
    "sum_of",
    "units_of",
    "variable",
    "variables",
]

MODULES_OF_TORCH = {
    "TableRecognizer": "fhx.exact.table",
    "TorchHaltingNet": "fhx.exact.torch_halting",
    "TorchRecognizer": "fhx.exact.torch_recognizer",
}
__getattr__ = lazily(__name__, MODULES_OF_TORCH, "torch")
