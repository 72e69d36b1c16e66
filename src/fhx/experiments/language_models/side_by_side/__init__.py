"""The nets of this experiment trained several at a time, as a GPU likes it: the same updates in minutes, not hours."""

from fhx.experiments.language_models.side_by_side.reader import losses_together
from fhx.experiments.language_models.side_by_side.training import train_together

__all__ = ["losses_together", "train_together"]
