"""Steps that are given as a cell or as a plain function f(h, x), both as a cell."""

from collections.abc import Callable

from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import jacrev, vmap

from fhx.cells.base import Cell
from fhx.cells.kinds import refuse_torch_net

Step = Callable[[Tensor, Tensor], Tensor]


class FunctionCell(Cell):
    """A plain function f(h, x) of batches as a cell without widths or a first state, whose drive is the input itself.

    Args:
        f: the function; what it returns must be a state like the one that it was given.
    """

    def __init__(self, f: Step) -> None:
        nn.Module.__init__(self)
        self.f = f

    def drive(self, x: Shaped[Tensor, "*batch input"]) -> Shaped[Tensor, "*batch input"]:
        """The input."""
        return x

    def step(
        self, h: Shaped[Tensor, "*batch width"], drive: Shaped[Tensor, "*batch input"]
    ) -> Shaped[Tensor, "*batch width"]:
        """f, whose result is checked."""
        new = self.f(h, drive)
        if not isinstance(new, Tensor) or (new.shape, new.dtype) != (h.shape, h.dtype):
            got = f"{tuple(new.shape)}, {new.dtype}" if isinstance(new, Tensor) else type(new).__name__
            raise ValueError(f"f(h, x) must return a state like h, {tuple(h.shape)}, {h.dtype}, but returned {got}")
        return new

    def hidden(self, state: Shaped[Tensor, "*batch width"]) -> Shaped[Tensor, "*batch width"]:
        """The whole state."""
        return state

    def jacobian(
        self, h: Float[Tensor, "*batch width"], drive: Shaped[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width width"]:
        """By ``torch.func``, with f called on batches of one."""

        def single(h: Tensor, x: Tensor) -> Tensor:
            return self.f(h[None], x[None])[0]

        batch, width = h.shape[:-1], h.shape[-1]
        each = vmap(jacrev(single))(h.reshape(batch.numel(), width), drive.reshape(batch.numel(), drive.shape[-1]))
        return each.reshape(*batch, width, width)

    def initial_state(self, *batch_shape: int) -> Tensor:
        """None is known."""
        raise ValueError("a plain function f(h, x) has no initial state of its own: give h0")

    def check_state(self, h: Tensor) -> None:
        """A state of any width will do."""

    def extra_repr(self) -> str:
        return getattr(self.f, "__name__", repr(self.f))


def as_cell(step: Step) -> Cell:
    """A cell as it is, a plain function as a cell.

    Raises:
        ValueError: it is a recurrent net of torch.
    """
    refuse_torch_net(step)
    return step if isinstance(step, Cell) else FunctionCell(step)
