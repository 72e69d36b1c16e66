"""What is judged of nets that read words: the price of certificates, the rivals, and nets that read in other ways."""

from collections.abc import Mapping, Sequence
from typing import Any

from fhx.experiments.experiment import Result
from fhx.experiments.items import Items
from fhx.experiments.language_models.points import DROPOUTS, FULL, NETS, RATES, READ, SIZE
from fhx.experiments.protocol import Ahead, Evidence, Kind

__all__ = ["GAIN", "LOOKS", "STATEMENTS", "by_group", "evidence"]

STATEMENTS = {
    "price": (
        Ahead("LSTM", "LSTM, stable"),
        *(
            Ahead(*pair, seen=True)
            for pair in (
                ("simple", "simple, stable"),
                ("LSTM", "LSTM, clipped"),
                ("LSTM, clipped", "LSTM, stable"),
                ("LSTM", "LSTM, four conditions"),
                ("LSTM, stable", "LSTM, four conditions"),
                ("LSTM", "LSTM, F = 0.64"),
                ("LSTM, stable", "LSTM, F = 0.64"),
                ("LSTM, F = 0.64", "LSTM, four conditions"),
            )
        ),
    ),
    "contest": (Ahead("TCN", "LSTM"), Ahead("minGRU", "LSTM"), Ahead("LSTM", "simple")),
    "truncated": tuple(
        Ahead(*pair, seen=True) for pair in (("LSTM", READ[0]), ("LSTM", READ[1]), (READ[1], "LSTM, stable"))
    ),
}
"""What is judged: the price of certificates and of clipped vectors, the rivals, and nets that read in other ways.

It is judged of nets that are stored. The last three were made after the runs, all others before their own;
those on other prices than that of the sharpest certificate when free nets had been seen.
"""
LOOKS = 5
"""How often it was judged: by the last tenth of the updates, and by twice the passes of one net, of some, of all that
the first statement is about, and of simple nets. (Twice the passes of certified simple nets are not counted: what is
said of these was stated late, so nothing could be settled.)"""
GAIN = 0.05
"""What twice the passes may add to a validation loss, in nats a word."""


def by_group(stored: Mapping[str, Any]) -> dict[str, dict[str, Result]]:
    """The stored nets by group and kind.

    The groups are "compared", with "LSTM, truncated 10" and others that read in another way among them, "longer", nets
    with twice the passes, and "larger", nets of the second size.
    """
    found: dict[str, dict[str, Result]] = {"compared": {}, "longer": {}, "larger": {}}
    for entry in stored["points"]:
        point = entry["point"]
        if "order" in point:
            continue
        size = {name: point[name] for name in SIZE}
        group = "longer" if "passes" in point else "compared" if size == SIZE else "larger"
        found[group][", ".join(point[key] for key in ("model", "read") if key in point)] = entry["result"]
    return found


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the compared nets say of each statement, under the name of both kinds; "frozen" is the control.

    A counted trigram stands beside them. Nets that read in another way had no settings of their own.
    """
    nets = by_group(stored)
    longer = {kind: [min(curve) for curve in result["valid"]] for kind, result in nets["longer"].items()}
    kinds = {kind: _kind(nets["compared"][kind], longer.get(kind, [])) for kind in NETS if kind in nets["compared"]}
    kinds |= {how: _kind(nets["compared"][f"{FULL}, {how}"], [], settings=0) for how in READ}
    (trigram,) = (entry["result"]["test"][0] for entry in stored["points"] if entry["point"].get("order") == 3)
    stated = [one for made in STATEMENTS.values() for one in made if {one.one, one.other} <= kinds.keys()]
    return {
        f"words: {one}": Evidence(
            kinds=kinds,
            higher_is_better=False,
            control="frozen",
            baselines={"trigram": trigram},
            statements=[one],
            shown=LOOKS * len(stated),
            gain=GAIN,
        )
        for one in stated
    }


def _kind(result: Result, longer: Sequence[float], settings: int = len(RATES) + len(DROPOUTS)) -> Kind:
    return Kind(
        scores=result["test"],
        at=result["at"],
        valid=result["valid"],
        rate=result["rate"],
        rates=RATES,
        tried={float(rate): value for rate, value in result["rates"].items()},
        settings=settings,
        regularizers=frozenset({"dropout"}),
        recommended_start=True,
        item_error=result["item error"],
        items=Items(**result["items"]) if "items" in result else None,
        longer=longer,
    )
