r"""What is judged of the nets on music and digits: the price of a certificate, the rivals, and what explains a lead.

On a problem where nets were left to run, the ones that were are judged, else those that stopped. Kinds that were
trained at three sizes (``SIZES``) are also judged at the size of each that has the least validation loss.
"""

from collections.abc import Mapping
from math import inf
from typing import Any

from attrs import evolve

from fhx.experiments.causal.rivals import LINEAR
from fhx.experiments.comparison import kind
from fhx.experiments.experiment import Result
from fhx.experiments.music_and_digits.nets import PROJECTED_ONCE, THROUGHOUT, TRUNCATED
from fhx.experiments.music_and_digits.tasks import IN_PIECES, MUSIC
from fhx.experiments.protocol import Ahead, Evidence

__all__ = ["CONTROL", "GAINS", "LEFT", "LOOKS", "SIZES", "STATEMENTS", "evidence", "judged", "own_sizes"]

GAINS = {**dict.fromkeys(MUSIC, 0.02), "digits": 0.005}
"""What the last tenth of the updates may add to a validation value."""
CONTROL = "frozen"
"""The kind whose cell stays as it started."""
LEFT = "equal, not stopped"
"""The size of nets whose reported ones, five of them, are trained for all updates."""
SIZES = ("quarter", "equal", "published")
"""Those of which each kind may have its own, smallest first."""
STATEMENTS = {
    "price": (
        *(Ahead("LSTM", f"LSTM, {how}") for how in ("stable", "F = 0.95", "F = 0.9", "F = 0.64", "four conditions")),
        Ahead("simple", "simple, stable"),
    ),
    "contest": (
        Ahead("TCN", "LSTM"),
        Ahead("attention", "LSTM"),
        *(Ahead(name, "LSTM") for name in LINEAR),
        Ahead("LSTM", "simple"),
    ),
    "truncated": tuple(Ahead("LSTM", f"LSTM, truncated {k}", seen=True) for k in (5, 10, 20, 50)),
    "why": (
        *(Ahead("LSTM, stable", how, seen=True) for how in (PROJECTED_ONCE, THROUGHOUT[0])),
        Ahead(THROUGHOUT[1], THROUGHOUT[0], seen=True),
        Ahead("TCN", THROUGHOUT[0], seen=True),
    ),
}
"""What is judged on each problem where both kinds were trained: the price of a certificate, the rivals, the price of
seeing the last inputs only, and whether what puts others ahead of LSTMs is a start or where dropout is. The last two
were stated when full nets had been seen."""
AT_OWN_SIZES = tuple(
    evolve(one, seen=True)
    for one in (*STATEMENTS["contest"], Ahead("TCN", THROUGHOUT[0]), Ahead("minGRU", THROUGHOUT[0]))
)
"""What is judged of kinds at the size of each that does best: looked at once, and stated when three kinds had been seen
at the two larger sizes."""
LOOKS = {"chorales": 3, "digits": 5, **dict.fromkeys(IN_PIECES, 1), "folk tunes": 2}
"""How often a problem was judged: with the first five seeds and six rates; with ten and seven; on chorales with nets
that had the time to stop; and on digits by the curves of nets that were left to run, with a control that had twice the
time, and by the scores of these nets too. Folk tunes were judged with fewer rates and updates first."""

LATER = {
    "digits": ("LSTM, stable", *(f"LSTM, truncated {k}" for k in TRUNCATED["digits"]), "attention", "LRU", "RG-LRU")
}
"""Kinds that were trained when the others of a problem had been judged: what is said of them was looked at once."""


def judged(stored: Mapping[str, Any]) -> dict[str, dict[str, Result]]:
    """The nets of equal size by problem and kind; of those that were left to run too, the ones that were."""
    nets = _by_size(stored)
    return {name: kinds | nets[LEFT].get(name, {}) for name, kinds in nets["equal"].items()}


def own_sizes(stored: Mapping[str, Any]) -> dict[str, dict[str, tuple[str, Result]]]:
    """By problem and kind the size at which its nets have the least validation loss on average, and what they did.

    Only kinds that were trained at all sizes are there. Losses are nats: shares of right answers have no such sizes.
    """
    nets = _by_size(stored)
    found: dict[str, dict[str, tuple[str, Result]]] = {}
    for name in nets["equal"]:
        of_size = {size: nets[size].get(name, {}) for size in SIZES}
        for of in [of for of in of_size[SIZES[0]] if all(of in each for each in of_size.values())]:
            own = min(SIZES, key=lambda size: _validation(of_size[size][of]))
            found.setdefault(name, {})[of] = own, of_size[own][of]
    return found


def _validation(result: Result) -> float:
    """The best validation loss of each seed, on average; infinite if one of them has none."""
    best = [min((loss for loss in curve if loss is not None), default=inf) for curve in result["valid"]]
    return sum(best) / len(best)


def _looks(name: str, one: Ahead) -> int:
    return 1 if {one.one, one.other} & {*LATER.get(name, ())} else LOOKS[name]


def _by_size(stored: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Result]]]:
    nets: dict[str, dict[str, dict[str, Result]]] = {size: {} for size in (*SIZES, LEFT, "none")}
    for entry in stored["points"]:
        point = entry["point"]
        nets[point.get("size", "none")].setdefault(point["task"], {})[point["net"]] = entry["result"]
    return nets


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the nets that are judged say of each statement on each problem, under the name of both.

    All intervals together have the level: those of all questions on all problems, each time that it was looked at.
    """
    nets = _by_size(stored)
    trained = nets["equal"] | nets[LEFT]  # by problem: where nets were left to run, only they can settle anything
    own = {name: {of: result for of, (_, result) in kinds.items()} for name, kinds in own_sizes(stored).items()}
    everything = [one for statements in STATEMENTS.values() for one in statements]
    shown = [
        *(("", name, kinds, one, _looks(name, one)) for name, kinds in trained.items() for one in everything),
        *((" at own sizes", name, kinds, one, 1) for name, kinds in own.items() for one in AT_OWN_SIZES),
    ]
    shown = [each for each in shown if {each[3].one, each[3].other, CONTROL} <= each[2].keys()]
    return {
        f"{name}{how}: {one}": Evidence(
            kinds={of: kind(kinds[of]) for of in dict.fromkeys((one.one, one.other, CONTROL))},
            higher_is_better=name == "digits",  # a share of right answers; of music, nats
            control=CONTROL,
            baselines=nets["none"][name]["counted"],
            statements=[one],
            shown=sum(looks for *_, looks in shown),
            gain=GAINS[name],
        )
        for how, name, kinds, one, _ in shown
    }
