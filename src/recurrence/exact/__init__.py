r"""Simple RNNs over integers and fractions, run without rounding: what the theorems are about."""

from recurrence.exact.gather import GatherRecognizer
from recurrence.exact.matrix import Matrix
from recurrence.exact.network import Code, Network
from recurrence.exact.recognizer import Recognizer
from recurrence.exact.separation import Separation, separate
from recurrence.exact.simple_rnn import SimpleRNN
from recurrence.exact.torch_recognizer import TorchRecognizer

__all__ = [
    "Code",
    "GatherRecognizer",
    "Matrix",
    "Network",
    "Recognizer",
    "Separation",
    "SimpleRNN",
    "TorchRecognizer",
    "separate",
]
