r"""What a verdict on training rests on: six rules, each of which can refuse it.

A comparison of trained nets says that one kind is ahead of another. Whether that is found or merely seen is not decided
by whoever looks at the numbers, but by :func:`judge`, from the evidence that is stored with them:

* *control*: in one kind the part in question is switched off (a frozen cell with a trained readout, shuffled time, no
  recurrence), and whichever of the two is ahead on average is ahead of it by the interval;
* *plateau*: the last tenth of the updates betters no net's best validation value by more than a stated gain; of kinds
  whose learning rate falls to zero, which makes any end look flat or steep, twice the updates do not;
* *tuning*: the learning rate of every kind lies inside its grid, or one inside is as good to within the stated gain (as
  it is for nets that have to guess); all kinds had as many settings, with the same kinds of regularisation among them,
  and every kind started as it is recommended;
* *baseline*: there is a number beside them that a reader can place;
* *seeds*: there are at least five for every kind, and what the choice of test items adds is known (where two kinds have
  the same items, and what each of them scored is kept, their difference is taken item by item);
* *multiplicity*: all comparisons that are shown share one level, by the correction of Bonferroni.

Where a rule does not hold, or nets had been seen when a statement was made, it is "undecided at this budget".
"""

from collections.abc import Mapping, Sequence
from math import inf, isfinite, sqrt
from typing import Literal, get_args

from attrs import frozen
from scipy.special import ndtri

from fhx.experiments.items import Items
from fhx.training import Interval, interval

__all__ = ["RULES", "Ahead", "Evidence", "Kind", "Verdict", "judge", "last_gains", "told"]

Rule = Literal["control", "plateau", "tuning", "baseline", "seeds", "multiplicity"]
RULES: tuple[Rule, ...] = get_args(Rule)
FEWEST_SEEDS = 5
LAST = 0.9
"""Where the last tenth of the updates begins."""


@frozen(kw_only=True)
class Kind:
    r"""What is known of the nets of one kind, trained on one task.

    Attributes:
        scores: of the test, one for each seed, in the order of the seeds.
        at: the updates after which the nets were validated.
        valid: the validation values, for each seed those at ``at``.
        rate: the learning rate.
        rates: all that were tried.
        tried: the best validation value reached with each of them, on average; None where it is not kept.
        settings: how many settings were tried in all.
        regularizers: what was tried against over-fitting, such as "weight decay" and "dropout".
        recommended_start: whether the nets started as the book recommends for such nets.
        item_error: the standard error that the choice of test items gives the mean score; 0 where every seed has test
            items of its own, None where it is not known.
        items: what was scored on each test item; None where it is not kept.
        longer: the best validation values with twice the updates, of the first seeds; a verdict asks for those of all.
            None where the end of a curve is looked at instead.
    """

    scores: Sequence[float]
    at: Sequence[int]
    valid: Sequence[Sequence[float]]
    rate: float
    rates: Sequence[float]
    settings: int
    regularizers: frozenset[str]
    recommended_start: bool
    item_error: float | None
    tried: Mapping[float, float] | None = None
    items: Items | None = None
    longer: Sequence[float] | None = None

    def edge_gain(self, higher_is_better: bool) -> float:
        """By how much the rate at an edge of its grid is better than the best inside; 0 for a rate that is inside."""
        inside = [rate for rate in self.rates if min(self.rates) < rate < max(self.rates)]
        if self.rate in inside:
            return 0.0
        tried, sign = self.tried or {}, 1 if higher_is_better else -1
        values = [sign * tried[rate] for rate in inside if rate in tried]
        return sign * tried[self.rate] - max(values) if values and self.rate in tried else inf

    def last_gain(self, higher_is_better: bool) -> float:
        """What the last tenth of the updates, or twice the updates, adds to a seed's best validation value, at most."""
        if not self.longer:
            return max(last_gains(self.at, self.valid, higher_is_better))
        sign = 1 if higher_is_better else -1
        best = (max(sign * v for v in curve) for curve in self.valid)
        return max(0.0, *(sign * after - before for after, before in zip(self.longer, best, strict=False)))


def last_gains(at: Sequence[int], curves: Sequence[Sequence[float]], higher_is_better: bool) -> list[float]:
    """For each validation curve, by how much the last tenth of the updates bettered its best value; 0 if not at all."""
    sign, early = 1 if higher_is_better else -1, [update <= LAST * at[-1] for update in at]
    before = [max(sign * v for v, e in zip(curve, early, strict=True) if e) for curve in curves]
    return [max(0.0, max(sign * v for v in curve) - b) for curve, b in zip(curves, before, strict=True)]


@frozen
class Ahead:
    """The statement that one kind is better than another by more than a margin. If some of the nets had been ``seen``
    when it was made, it is told and never settled."""

    one: str
    other: str
    by: float = 0.0
    seen: bool = False

    def __str__(self) -> str:
        return f"{self.one} is ahead of {self.other}" + (f" by {self.by:g}" if self.by else "")


@frozen(kw_only=True)
class Evidence:
    """What is stored of a comparison on one task.

    Attributes:
        kinds: the compared kinds by name; the seeds of all are the same.
        higher_is_better: whether scores and validation values are better the higher they are.
        control: the kind in which the part in question is switched off, or None.
        baselines: scores that a reader can place, by name.
        statements: what is judged, fixed before the run but for those that say otherwise.
        shown: how many comparisons are shown, those of the statements among them.
        gain: what the last tenth of the updates may add to a validation value.
        level: of all intervals together.

    Raises:
        ValueError: a statement or the control names no kind, or kinds have different numbers of seeds.
    """

    kinds: Mapping[str, Kind]
    higher_is_better: bool
    control: str | None
    baselines: Mapping[str, float]
    statements: Sequence[Ahead]
    shown: int
    gain: float
    level: float = 0.95

    def __attrs_post_init__(self) -> None:
        named = {name for one in self.statements for name in (one.one, one.other)} | {self.control} - {None}
        if unknown := named - self.kinds.keys():
            raise ValueError(f"there is no kind {sorted(map(str, unknown))[0]!r}; there are {', '.join(self.kinds)}")
        if len(counts := {len(kind.scores) for kind in self.kinds.values()}) > 1:
            raise ValueError(f"kinds are compared seed by seed, and have {sorted(counts)} seeds")

    @property
    def judged(self) -> dict[str, Kind]:
        """The kinds that statements are about, and the control."""
        names = [name for one in self.statements for name in (one.one, one.other)]
        names += [self.control] if self.control is not None else []
        return {name: self.kinds[name] for name in dict.fromkeys(names)}

    def lead(self, one: str, other: str) -> Interval:
        r"""By how much the first kind is ahead, seed by seed.

        The interval of Student for the differences has the level :math:`1 - (1 - \mathrm{level}) / \mathrm{shown}`,
        and is wider by what the choice of test items adds: half-widths are added as squares. Where it is kept what both
        kinds scored on each item, its error is that of their differences item by item; else the errors of both are
        added as squares, which makes the interval too wide for items that both share.
        """
        a, b, sign = self.kinds[one], self.kinds[other], 1 if self.higher_is_better else -1
        level = 1 - (1 - self.level) / max(self.shown, 1)
        found = interval([sign * (x - y) for x, y in zip(a.scores, b.scores, strict=True)], level)
        if a.items and b.items:
            error = a.items.minus(b.items).error
        else:
            error = sqrt((a.item_error or 0) ** 2 + (b.item_error or 0) ** 2)
        half = sqrt(found.half_width**2 + (ndtri((1 - level) / 2) * error) ** 2)
        return Interval(found.mean, found.mean - half, found.mean + half, found.n)


@frozen
class Verdict:
    """What the rules say of some evidence.

    Attributes:
        reasons: for each rule that does not hold, why.
        leads: for each statement by how much the one kind is ahead of the other.
    """

    reasons: Mapping[Rule, str]
    leads: Mapping[Ahead, Interval]

    @property
    def all_rules_hold(self) -> bool:
        """Whether a statement can be settled: it is where its interval lies on one side of its margin."""
        return not self.reasons

    def __getitem__(self, statement: Ahead) -> Literal["holds", "fails", "undecided at this budget"]:
        """Of one of the statements; it fails where the other kind is ahead, or the lead is below the margin."""
        lead = self.leads[statement]
        if statement.seen or not self.all_rules_hold or lead.low <= statement.by <= lead.high:
            return "undecided at this budget"
        return "holds" if lead.low > statement.by else "fails"

    def of(self, statement: Ahead) -> str:
        """Who is ahead and by how much, told the other way round where the other one is; of what is open, why."""
        found, lead = self[statement], self.leads[statement]
        low, high, one, other = lead.low, lead.high, statement.one, statement.other
        if found == "fails" and not statement.by:
            low, high, one, other = -high, -low, other, one
        by = f"{low:.2g} to {high:.2g}".replace("-", "\u2212")
        if found.startswith("undecided"):
            why = self._rules + "; stated when some of the nets had been seen" * statement.seen
            return f"'{one}' or '{other}': undecided at this budget, lead of the first {by}; {why}"
        if found == "fails" and statement.by:
            return f"'{one}' is not ahead of '{other}' by {statement.by:g} (its lead is {by}): settled"
        return f"'{one}' is ahead of '{other}' by {by}: settled"

    def __str__(self) -> str:
        if not self.leads and len(set(self.reasons.values())) == 1:
            return f"undecided at this budget; {next(iter(self.reasons.values()))}"
        return self._rules if self.all_rules_hold else f"undecided at this budget; {self._rules}"

    @property
    def _rules(self) -> str:
        broken = ", ".join(f"{rule} ({why})" for rule, why in self.reasons.items())
        return f"does not hold: {broken}" if broken else "all rules hold"


def judge(evidence: Evidence | None) -> Verdict:
    """What the six rules say; None for nets of which no evidence is stored."""
    if evidence is None:
        return Verdict({rule: "no evidence is stated" for rule in RULES}, {})
    found: dict[Rule, str | None] = {
        "control": _control(evidence),
        "plateau": _plateau(evidence),
        "tuning": _tuning(evidence),
        "baseline": None if any(map(isfinite, evidence.baselines.values())) else "there is none",
        "seeds": _seeds(evidence),
        "multiplicity": _multiplicity(evidence),
    }
    leads: dict[Ahead, Interval] = {}
    if all(len(kind.scores) > 1 for kind in evidence.kinds.values()):
        leads = {one: evidence.lead(one.one, one.other) for one in evidence.statements}
    return Verdict({rule: why for rule, why in found.items() if why is not None}, leads)


def told(evidence: Mapping[str, Evidence]) -> list[str]:
    """A line for each statement, after the name of its part, and a last one with how many are settled."""
    lines = list[str]()
    for name, one in evidence.items():
        verdict, part = judge(one), name.removesuffix(f": {one.statements[0]}" if one.statements else "")
        lines += [f"{part}: {verdict.of(each)}" for each in verdict.leads] or [f"{part}: {verdict}"]
    return [*lines, f"{sum('undecided' not in line for line in lines)} of {len(lines)} statements are settled"]


def _control(evidence: Evidence) -> str | None:
    if evidence.control is None:
        return "there is none"
    if any(len(kind.scores) < 2 for kind in evidence.judged.values()):
        return "one seed says nothing"
    for one in evidence.statements:
        name = one.one if evidence.lead(one.one, one.other).mean > 0 else one.other
        if name != evidence.control and evidence.lead(name, evidence.control).low <= 0:
            return f"{name} is not ahead of {evidence.control}"
    return None


def _plateau(evidence: Evidence) -> str | None:
    for name, kind in evidence.judged.items():
        if len(kind.at) < 2 or not any(update <= LAST * kind.at[-1] for update in kind.at):
            return f"{name} has no curve"
        if not all(isfinite(value) for curve in (*kind.valid, kind.longer or ()) for value in curve):
            return f"{name} has values that are not finite"
        if kind.longer is not None and (n := len(kind.longer)) < (all_of := len(kind.scores)):
            return f"{n} of {all_of} nets of {name} had twice the updates"
        if (gain := kind.last_gain(evidence.higher_is_better)) > evidence.gain:
            return f"{name} still gained {gain:.2g}" + " by twice the updates" * bool(kind.longer)
    return None


def _tuning(evidence: Evidence) -> str | None:
    kinds = evidence.judged
    for name, kind in kinds.items():
        if not kind.recommended_start:
            return f"{name} does not start as recommended"
        if not kind.rates or kind.edge_gain(evidence.higher_is_better) > evidence.gain:
            return f"the rate of {name} is at an edge of its grid"
    if len({kind.settings for kind in kinds.values()}) > 1:
        return "some kinds had more settings"
    if len(regularizers := {kind.regularizers for kind in kinds.values()}) > 1:
        return "kinds were regularised in different ways"
    return None if all(regularizers) else "no regularisation was tried"


def _seeds(evidence: Evidence) -> str | None:
    for name, kind in evidence.judged.items():
        if (n := len(kind.scores)) < FEWEST_SEEDS:
            return f"{name} has {n}"
        if kind.item_error is None:
            return f"what the test items add is not known for {name}"
    return None


def _multiplicity(evidence: Evidence) -> str | None:
    if not evidence.statements:
        return "nothing is stated"
    return f"{evidence.shown} shown, {n} stated" if evidence.shown < (n := len(evidence.statements)) else None
