r"""Exact nets as files of `safetensors <https://huggingface.co/docs/safetensors>`__, which every framework reads.

The tensors have the book's letters: ``W`` :math:`(d, d)`, ``U`` :math:`(d, d_{in})`, ``b``, ``h0`` and ``w``
:math:`(d)`, and ``c`` :math:`(1)`, all int64. Where an array holds fractions, they are its numerators, and
``W.denominators`` and so on the denominators. The metadata say the rest: the format, the kind of net, its activation,
how many steps it takes for each symbol, and as JSON its alphabet and the names of its units.
"""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import fhx
from fhx._checks import check_kind
from fhx._extras import needs
from fhx._files import write_atomically
from fhx.exact.halting import HaltingNet
from fhx.exact.matrix import Matrix
from fhx.exact.numbers import Number
from fhx.exact.recognizer import Recognizer
from fhx.exact.simple_rnn import SimpleRNN
from fhx.exact.word_reader import WordReader

__all__ = ["load_net", "save_net"]

FORMAT = "fhx-net-1"
KINDS: Mapping[str, type[WordReader]] = {"Recognizer": Recognizer, "HaltingNet": HaltingNet}
DENOMINATORS = ".denominators"


def save_net(net: WordReader, path: str | Path) -> None:
    """Write a net with its alphabet into a file; a file that is there is replaced, all at once.

    What the net was compiled from is not in the file: the net of a Turing machine comes back as a ``HaltingNet``, and
    neither kind has a ``decoder``.

    Args:
        net: a :class:`Recognizer`, or a :class:`HaltingNet`, as nets of Turing machines are.
        path: of the file, such as ``net.safetensors``.

    Raises:
        TypeError: it is another kind of net.
        ValueError: a number does not fit into int64, or a symbol is neither a string nor an integer: the first.
        MissingExtraError: safetensors is missing, which the extra ``export`` installs.
    """
    check_kind(net, WordReader, "save_net")
    with needs("export"):
        from safetensors.numpy import save  # few who make nets write them
    kind = next(name for name, kind in KINDS.items() if isinstance(net, kind))
    if strange := [symbol for symbol in net.alphabet if type(symbol) not in (str, int)]:
        raise ValueError(f"the symbol {strange[0]!r} is neither a string nor an integer, and a file holds no others")
    rnn = net.rnn
    arrays = {"W": rnn.W.dense(), "U": rnn.U.dense(), "b": rnn.b, "h0": rnn.h0, "w": net.w, "c": (net.c,)}
    shapes = {"W": rnn.W.shape, "U": rnn.U.shape}
    tensors = dict[str, np.ndarray[Any, Any]]()
    for name, values in arrays.items():
        tensors |= _tensors(name, values, shapes.get(name, (len(values),)))
    metadata = {
        "format": FORMAT,
        "fhx": fhx.__version__,
        "kind": kind,
        "activation": rnn.activation,
        "steps_per_symbol": str(net.steps_per_symbol),
        "alphabet": json.dumps(net.alphabet, ensure_ascii=False),
        "unit_names": json.dumps(rnn.unit_names, ensure_ascii=False),
    }
    write_atomically(Path(path), save(tensors, metadata))


def _tensors(name: str, values: Any, shape: Sequence[int]) -> dict[str, np.ndarray[Any, Any]]:
    """An array's numerators, and its denominators unless all are 1."""
    numbers: list[Number] = [value for row in values for value in row] if len(shape) == 2 else list(values)
    parts = {
        name: [value.numerator for value in numbers],
        name + DENOMINATORS: [value.denominator for value in numbers],
    }
    if all(value == 1 for value in parts[name + DENOMINATORS]):
        del parts[name + DENOMINATORS]
    limit = np.iinfo(np.int64)
    for part, whole in parts.items():
        if large := [value for value in whole if not limit.min <= value <= limit.max]:
            raise ValueError(f"{part} holds a number of {large[0].bit_length()} bits, and int64 has 63 and a sign")
    return {part: np.array(whole, dtype=np.int64).reshape(shape) for part, whole in parts.items()}


def load_net(path: str | Path) -> Recognizer | HaltingNet:
    """The net in a file that :func:`save_net` wrote, equal to the one that was saved but for its ``decoder``.

    Args:
        path: of the file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no file of safetensors, or of none of ours; all that is missing or wrong.
        MissingExtraError: safetensors is missing, which the extra ``export`` installs.
    """
    with needs("export"):
        from safetensors import SafetensorError  # as above
        from safetensors.numpy import load
    content = Path(path).read_bytes()
    try:
        tensors, metadata = load(content), _metadata(content)
    except (SafetensorError, ValueError) as error:
        raise ValueError(f"{path} is not a file of safetensors: {error}") from error
    try:
        return _net(tensors, metadata)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} holds no net of fhx: {why}") from error


def _metadata(content: bytes) -> dict[str, str]:
    """What stands beside the tensors: a file begins with the length of its header, which is JSON."""
    length = int.from_bytes(content[:8], "little")
    found: dict[str, str] = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    return found


def _net(tensors: Mapping[str, np.ndarray[Any, Any]], metadata: Mapping[str, str]) -> Recognizer | HaltingNet:
    if (form := metadata["format"]) != FORMAT:
        raise ValueError(f"its format is {form!r}, and {FORMAT!r} is read here")
    if (kind := metadata["kind"]) not in KINDS:
        raise ValueError(f"its kind is {kind!r}, and there are {', '.join(KINDS)}")
    arrays = {name: _numbers(tensors, name) for name in ("W", "U", "b", "h0", "w", "c")}
    for name, array in arrays.items():
        if array.ndim != (2 if name in "WU" else 1):
            raise ValueError(f"{name} has the shape {array.shape}")
    W, U = (Matrix.of(arrays[name].tolist()) if arrays[name].size else Matrix(arrays[name].shape, {}) for name in "WU")
    activation: Any = metadata["activation"]
    names = json.loads(metadata["unit_names"])
    rnn = SimpleRNN(W, U, arrays["b"].tolist(), arrays["h0"].tolist(), activation, names)
    (c,) = arrays["c"].tolist()
    alphabet, k = json.loads(metadata["alphabet"]), int(metadata["steps_per_symbol"])
    if kind == "HaltingNet":
        return HaltingNet(rnn, arrays["w"].tolist(), c, alphabet, k)
    return Recognizer(rnn, arrays["w"].tolist(), c, alphabet, k)


def _numbers(tensors: Mapping[str, np.ndarray[Any, Any]], name: str) -> np.ndarray[Any, Any]:
    """An array of exact numbers."""
    whole = tensors[name]
    if whole.dtype != np.int64:
        raise ValueError(f"{name} is of {whole.dtype}, and exact numbers are of int64")
    if (below := tensors.get(name + DENOMINATORS)) is None:
        return whole.astype(object)
    if below.shape != whole.shape:
        raise ValueError(f"{name} and {name + DENOMINATORS} have the shapes {whole.shape} and {below.shape}")
    pairs = zip(whole.flatten().tolist(), below.flatten().tolist(), strict=True)
    fractions = np.empty(whole.size, dtype=object)
    fractions[:] = [Fraction(numerator, denominator) for numerator, denominator in pairs]
    return fractions.reshape(whole.shape)
