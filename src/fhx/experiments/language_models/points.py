"""What is trained: the nets, how often each reads the text, and the settings that are tried."""

__all__ = [
    "DROPOUTS",
    "FULL",
    "LARGE",
    "LARGER",
    "LARGE_RATES",
    "LARGE_SEEDS",
    "LONGER",
    "NETS",
    "ORDERS",
    "PASSES",
    "RATES",
    "READ",
    "SEEDS",
    "SIZE",
    "TRIED",
]

RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Learning rates that are tried."""
DROPOUTS = (0.1, 0.2, 0.4)
"""Dropouts that are tried."""
TRIED = 0.2
"""Dropout by which a rate is chosen."""
PASSES = {"rate": 1, "dropout": 10, "trained": 10}
"""Over the training text: to choose a rate, to choose a dropout, and of the nets that are reported."""
SEEDS = range(5)
"""Of the nets that are reported; the first one chooses the settings."""
ORDERS = (1, 2, 3, 4)
"""Words that are counted together."""
SIZE = {"layers": 1, "units": 128}
"""Of the nets that are compared, and of those that choose settings; a rival is as large as layers of LSTMs."""
NETS = (
    *("simple", "simple, stable", "LSTM", "LSTM, clipped", "LSTM, four conditions", "LSTM, F = 0.64", "LSTM, stable"),
    *("frozen", "TCN", "minGRU"),
)
"""Kinds of nets that are compared."""
FULL = "LSTM"
"""The kind that is also trained to read in other ways."""
READ = ("truncated 10", "truncated 20")
"""Other ways to read in which it is trained, with the rate and the dropout that it has in full."""
LONGER = ("simple", "simple, stable", "LSTM", "LSTM, stable", "frozen")
"""Kinds that are trained for twice as many passes too, with the same settings, as a verdict asks of all it is about."""
LARGE = {"layers": 2, "units": 200}
"""A second size."""
LARGER = ("LSTM", "LSTM, stable")
"""Kinds that are trained in the second size too."""
LARGE_RATES = (0.003, 0.01, 0.03)
"""Learning rates that are tried for it; its dropout is that of its kind in the first size."""
LARGE_SEEDS = SEEDS[:3]
"""Of its nets, which are shown and not judged, since a verdict takes five."""
