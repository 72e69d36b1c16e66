"""What every drawn figure keeps: its texts stay apart from each other and inside, and can be read at 350 px."""

from itertools import combinations

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import BboxBase

Boxes = list[tuple[Text, BboxBase]]
WIDTH = 5.8  # inches, of a figure in the book


def shown(fig: Figure, kind: type[Artist]) -> list[tuple[Artist, BboxBase]]:
    """All of a kind that can be seen, with the room that each takes; texts without words are not."""
    fig.draw_without_rendering()
    found = [item for item in fig.findobj(kind) if item.get_visible() and (kind is not Text or item.get_text().strip())]
    return [(item, item.get_window_extent()) for item in found]


def assert_apart_and_inside(fig: Figure, found: Boxes) -> None:
    """No two of the texts overlap, and none leaves the figure."""
    for (a, box_a), (b, box_b) in combinations(found, 2):
        assert not box_a.overlaps(box_b), (a.get_text(), b.get_text())
    for item, box in found:
        assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1, item.get_text()
        assert fig.bbox.y0 <= box.y0 < box.y1 <= fig.bbox.y1, item.get_text()


def assert_readable(fig: Figure, found: Boxes) -> None:
    """As above, in a figure of the book's width; on a telephone, 350 px wide, letters have at least 9 px."""
    assert abs(fig.get_figwidth() - WIDTH) < 1e-6
    assert_apart_and_inside(fig, found)
    for item, _ in found:
        assert item.get_fontsize() * 96 / 72 * 350 / (WIDTH * 96) >= 9, item.get_text()
