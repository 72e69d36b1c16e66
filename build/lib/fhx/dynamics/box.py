"""A box of states: the compact set on which a step is imitated, or which no run leaves."""

from collections.abc import Sequence
from math import inf

import attrs
import torch
from jaxtyping import Bool, Float
from torch import Tensor


def _corner(corner: Float[Tensor, " width"] | Sequence[float]) -> Float[Tensor, " width"]:
    return torch.as_tensor(corner, dtype=torch.float64)


@attrs.frozen(eq=False)
class Box:
    r"""The box :math:`\{z : \mathrm{low} \le z \le \mathrm{high}\}`, coordinate by coordinate, in float64.

    Args:
        low, high: the corners, tensors or lists of the same number of coordinates; kept as tensors.

    Raises:
        ValueError: the corners are not two vectors of the same width, or some low is not below its high.
    """

    low: Float[Tensor, " width"] = attrs.field(converter=_corner)
    high: Float[Tensor, " width"] = attrs.field(converter=_corner)

    def __attrs_post_init__(self) -> None:
        low, high = self.low, self.high
        if low.ndim != 1 or low.shape != high.shape or not len(low):
            raise ValueError(f"low and high must be vectors of one width, got {tuple(low.shape)}, {tuple(high.shape)}")
        if not (low < high).all() or not (high - low < inf).all():
            raise ValueError(f"low must be below high in every coordinate, got {low.tolist()}, {high.tolist()}")

    @classmethod
    def symmetric(cls, radius: Float[Tensor, " width"] | Sequence[float]) -> "Box":
        r"""The box :math:`|z_j| \le r_j`, on the CPU."""
        return cls(-_corner(radius).cpu(), _corner(radius).cpu())

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return len(self.low)

    @property
    def center(self) -> Float[Tensor, " width"]:
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def radius(self) -> Float[Tensor, " width"]:
        """Half the lengths of the sides."""
        return (self.high - self.low) / 2

    def sample(self, n: int, seed: int = 0, faces: float = 0.0) -> Float[Tensor, "n width"]:
        """Points drawn uniformly.

        Args:
            n: how many.
            seed: where the random numbers start.
            faces: draw from a box larger by this part and move what lies outside to the nearest point inside, so that
                the faces, corners included, get points too.
        """
        return self.draw(n, torch.Generator().manual_seed(seed), faces)

    def draw(self, n: int, generator: torch.Generator, faces: float = 0.0) -> Float[Tensor, "n width"]:
        """``sample`` from a generator that others draw from too."""
        unit = 2 * torch.rand(n, self.width, generator=generator, dtype=torch.float64) - 1
        return (self.center + self.radius * ((1 + faces) * unit)).clamp(self.low, self.high)

    def contains(self, points: Float[Tensor, "*batch width"]) -> Bool[Tensor, "*batch"]:
        """Which points lie inside, the faces included."""
        return ((self.low <= points) & (points <= self.high)).all(-1)

    def enlarged(self, margin: float) -> "Box":
        """The box with every face moved outwards by ``margin``, which holds all points nearer to it than that."""
        return Box(self.low - margin, self.high + margin)

    def product(self, other: "Box") -> "Box":
        """The product: points of this one followed by points of the other."""
        return Box(torch.cat([self.low, other.low]), torch.cat([self.high, other.high]))
