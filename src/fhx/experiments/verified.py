"""What a stored run is said to show, checked sentence by sentence."""

from collections.abc import Mapping

__all__ = ["verified"]


def verified(sentences: Mapping[str, object]) -> str:
    """A line for each sentence, to be printed, if all of them hold.

    Args:
        sentences: each with its truth, a comparison of numbers of a :func:`stored` result, say.

    Raises:
        AssertionError: a sentence does not hold; the message has all that do not.
        ValueError: there are no sentences.
    """
    if not sentences:
        raise ValueError("there is nothing to verify: a dict of sentences, each with its truth, is wanted")
    if wrong := [sentence for sentence, holds in sentences.items() if not holds]:
        raise AssertionError(f"these do not hold: {'; '.join(wrong)}")
    return "\n".join(f"{sentence}: True" for sentence in sentences)
