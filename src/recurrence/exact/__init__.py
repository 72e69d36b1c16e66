r"""Simple RNNs over integers and fractions, run without rounding: what the theorems are about."""

from recurrence.exact.matrix import Matrix
from recurrence.exact.network import Code, Network
from recurrence.exact.recognizer import Recognizer
from recurrence.exact.simple_rnn import SimpleRNN

__all__ = ["Code", "Matrix", "Network", "Recognizer", "SimpleRNN"]
