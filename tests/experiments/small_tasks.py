"""Small tasks under the names of those that the long runs on real data have."""

import torch

from fhx.tasks import Sequences, Task

WORDS = 30
"""In the small vocabulary."""


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    """Numbers from 0 to 1, the same ones for a seed."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def small_tasks(frames: int, pixels: int, words: int) -> dict[str, Task]:
    """Twelve pieces of three keys and of up to so many frames, twelve images, and four streams of words."""
    bits = (drawn(frames, 12, 3) < 0.4).float()
    music = Sequences(bits[:-1], bits[1:], torch.arange(12) + frames - 12)
    images = Sequences(drawn(pixels, 12, 1), torch.arange(12) % 3)
    ids = (drawn(words, 4) * WORDS).long()
    text = Sequences(ids[:-1], ids[1:])
    return {
        "chorales": Task("music", music, music, music, 3, 3, "bits per step"),
        "digits": Task("images", images, images, images, 1, 3, "class at end"),
        "words": Task("text", text, text, text, WORDS, WORDS, "class per step"),
    }


def small_text(words: int) -> Task:
    """A text of so many words, the small ones often, in three streams; parts of 40, 30 and 30 steps."""
    generator = torch.Generator().manual_seed(0)

    def part(steps: int) -> Sequences:
        ids = (torch.rand(steps + 1, 3, generator=generator) ** 2 * words).long()
        return Sequences(ids[:-1], ids[1:])

    return Task("text", part(40), part(30), part(30), words, words, "class per step")
