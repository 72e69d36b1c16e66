"""The first step at which a Turing net in floating-point numbers is wrong, found beside the exact run."""

from collections.abc import Hashable, Iterable
from itertools import islice

import torch

from fhx.compile.turing_layout import Layout
from fhx.compile.turing_net import TuringNet

__all__ = ["decisive_bits", "first_wrong_step"]


def first_wrong_step(
    net: TuringNet[Layout], word: Iterable[Hashable], dtype: torch.dtype, max_steps: int
) -> int | None:
    """The first of ``max_steps`` net steps after which a float net has a bit of the state, or the output, off by 1/2.

    The bits are those of the pairs, of the tops of both stacks and of ``load``: they determine
    the state, the symbol read and what lies beside the head.

    Args:
        net: a compiled machine.
        word: its input.
        dtype: of the float net.
        max_steps: how many net steps are compared.

    Raises:
        ValueError: a symbol is outside the alphabet.
        TypeError: ``dtype`` is not a floating-point type.
    """
    word = tuple(word)
    floats = net.to_torch(dtype).states([word[:max_steps]], max_steps - len(word[:max_steps]))[0].double()
    exact = torch.zeros_like(floats)
    for t, state in enumerate(islice(net.run(word), max_steps + 1)):
        for j, value in state.items():
            exact[t, j] = float(value)
    seen = [net.decoder.row(name) for name in decisive_bits(net.layout)] + [dict(enumerate(net.w))]
    weights = torch.tensor([[float(row.get(j, 0)) for j in range(net.units)] for row in seen], dtype=torch.float64)
    right = (((floats - exact) @ weights.T).abs() < 0.5).all(1)
    return None if right.all() else int((~right).nonzero()[0, 0])


def decisive_bits(layout: Layout) -> list[str]:
    """The names that are 0 or 1 from the first symbol on, and say what the next step is."""
    return [layout.load, *layout.pairs.values(), *layout.left_top.values(), *layout.right_top.values()]
