"""Verdicts on training: each rule refuses what it is there to refuse, and only that."""

import json
from functools import partial
from math import inf, nan, sqrt

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fhx.experiments import staying_stable
from fhx.experiments.__main__ import main
from fhx.experiments.catalog import EXPERIMENTS
from fhx.experiments.items import Items
from fhx.experiments.protocol import Ahead, Evidence, Kind, judge, last_gains, told
from fhx.experiments.results import stored

STATEMENT = Ahead("deep", "simple")


def kind(level, **changes):
    """Nets that reach about the level, with flat curves."""
    fields = {
        "scores": [level + 0.001 * k for k in (0, 1, -1, 2, -2)],
        "at": [50, 90, 100],
        "valid": [[level - 0.1, level, level]] * 5,
        "rate": 0.01,
        "rates": [0.003, 0.01, 0.03],
        "settings": 6,
        "regularizers": frozenset({"weight decay", "dropout"}),
        "recommended_start": True,
        "item_error": 0.002,
    }
    return Kind(**fields | changes)


def evidence(**changes):
    """A comparison in which all rules hold; a kind's name as a keyword changes that kind."""
    kinds = {"deep": kind(0.9), "simple": kind(0.8), "frozen": kind(0.3)}
    for name in kinds.keys() & changes.keys():
        kinds[name] = evolve(kinds[name], **changes.pop(name))
    fields = {
        "kinds": kinds,
        "higher_is_better": True,
        "control": "frozen",
        "baselines": {"constant": 0.1},
        "statements": (STATEMENT,),
        "shown": 3,
        "gain": 0.01,
    }
    return Evidence(**fields | changes)


@given(before=st.floats(0, 1), after=st.lists(st.floats(0, 1), min_size=1, max_size=3), higher=st.booleans())
def test_what_twice_the_updates_bring_is_the_gain_whatever_the_end_of_the_curve(before, after, higher):
    found = kind(0.5, valid=[[0.5, before, before]] * 5, longer=after)
    best = max(0.5, before) if higher else min(0.5, before)
    gains = [value - best if higher else best - value for value in after]
    assert found.last_gain(higher) == pytest.approx(max(0.0, *gains))


def test_what_meets_all_rules_is_settled():
    verdict = judge(evidence())
    assert verdict.all_rules_hold
    assert verdict[STATEMENT] == "holds"
    assert str(verdict) == "all rules hold"
    lead = verdict.leads[STATEMENT]
    by = f"{lead.low:.2g} to {lead.high:.2g}"
    assert verdict.of(STATEMENT) == f"'deep' is ahead of 'simple' by {by}: settled"


def test_a_statement_is_told_apart_from_the_rules():
    """All rules may hold, and the statement fail, which is told the other way round, or be undecided."""
    behind = judge(evidence(deep={"scores": [0.7, 0.71, 0.69, 0.7, 0.72]}))
    lead = behind.leads[STATEMENT]
    assert behind[STATEMENT] == "fails"
    assert behind.of(STATEMENT) == f"'simple' is ahead of 'deep' by {-lead.high:.2g} to {-lead.low:.2g}: settled"
    level = judge(evidence(deep={"scores": [0.78, 0.84, 0.79, 0.81, 0.79]}))
    assert level.all_rules_hold
    assert level.of(STATEMENT).startswith("'deep' or 'simple': undecided at this budget, lead of the first \u2212")
    assert level.of(STATEMENT).endswith("; all rules hold")


def test_many_verdicts_are_told_and_counted():
    behind = evidence(deep={"scores": [0.7, 0.71, 0.69, 0.7, 0.72]})
    level = evidence(deep={"scores": [0.78, 0.84, 0.79, 0.81, 0.79]})
    found = {"one task": evidence(), "another": behind, f"a third: {STATEMENT}": level}
    lines = [f"{name.split(':')[0]}: {judge(one).of(STATEMENT)}" for name, one in found.items()]
    assert told(found) == [*lines, "2 of 3 statements are settled"]
    assert told({"nothing": evidence(statements=[])})[0].startswith("nothing: undecided at this budget; ")


def test_what_was_stated_after_a_look_is_never_settled():
    after = evolve(STATEMENT, seen=True)
    before, verdict = (judge(evidence(statements=[one])) for one in (STATEMENT, after))
    assert verdict.all_rules_hold
    assert verdict.leads[after] == before.leads[STATEMENT]
    assert (before[STATEMENT], verdict[after]) == ("holds", "undecided at this budget")
    assert verdict.of(after).endswith("; all rules hold; stated when some of the nets had been seen")
    assert told({"one": evidence(statements=[after])})[-1] == "0 of 1 statements are settled"


def test_a_lead_below_its_margin_is_told_with_the_margin():
    """A lead whose interval lies below the margin is none of that size, whatever its sign."""
    statement = Ahead("deep", "simple", 0.5)
    for scores in ([0.8, 0.81, 0.79, 0.8, 0.82], [0.7, 0.71, 0.69, 0.7, 0.72]):
        verdict = judge(evidence(statements=[statement], deep={"scores": scores}))
        lead = verdict.leads[statement]
        by = f"{lead.low:.2g} to {lead.high:.2g}".replace("-", "\u2212")
        assert verdict[statement] == "fails"
        assert verdict.of(statement) == f"'deep' is not ahead of 'simple' by 0.5 (its lead is {by}): settled"


@pytest.mark.parametrize(
    ("rule", "why", "changes"),
    [
        ("control", "there is none", {"control": None}),
        ("control", "deep is not ahead of frozen", {"frozen": {"scores": [0.9, 0.91, 0.89, 0.9, 0.9]}}),
        ("control", "deep is not ahead of frozen", {"deep": {"item_error": 0.3}}),
        ("plateau", "simple still gained 0.02", {"simple": {"valid": [[0.7, 0.8, 0.8]] * 4 + [[0.7, 0.8, 0.82]]}}),
        ("plateau", "frozen still gained 0.1", {"frozen": {"valid": [[0.1, 0.2, 0.3]] * 5}}),
        ("plateau", "deep still gained 0.02 by twice the updates", {"deep": {"longer": [0.9] * 4 + [0.92]}}),
        ("plateau", "0 of 5 nets of deep had twice the updates", {"deep": {"longer": []}}),
        ("plateau", "4 of 5 nets of deep had twice the updates", {"deep": {"longer": [0.9] * 4}}),
        ("plateau", "deep has values that are not finite", {"deep": {"longer": [nan]}}),
        ("plateau", "deep has no curve", {"deep": {"at": [100], "valid": [[0.9]] * 5}}),
        ("plateau", "deep has values that are not finite", {"deep": {"valid": [[0.8, 0.9, nan]] * 5}}),
        ("tuning", "the rate of deep is at an edge of its grid", {"deep": {"rate": 0.03}}),
        ("tuning", "the rate of simple is at an edge of its grid", {"simple": {"rate": 0.003}}),
        ("tuning", "the rate of simple is at an edge of its grid", {"simple": {"rates": []}}),
        ("tuning", "some kinds had more settings", {"simple": {"settings": 3}}),
        ("tuning", "kinds were regularised in different ways", {"deep": {"regularizers": frozenset({"dropout"})}}),
        ("tuning", "deep does not start as recommended", {"deep": {"recommended_start": False}}),
        (
            "tuning",
            "no regularisation was tried",
            {name: {"regularizers": frozenset()} for name in ("deep", "simple", "frozen")},
        ),
        ("baseline", "there is none", {"baselines": {}}),
        ("baseline", "there is none", {"baselines": {"constant": nan}}),
        ("seeds", "what the test items add is not known for simple", {"simple": {"item_error": None}}),
        ("multiplicity", "0 shown, 1 stated", {"shown": 0}),
    ],
)
def test_every_rule_refuses(rule, why, changes):
    verdict = judge(evidence(**changes))
    assert verdict.reasons == {rule: why}
    assert not verdict.all_rules_hold
    assert verdict[STATEMENT] == "undecided at this budget"
    assert str(verdict) == f"undecided at this budget; does not hold: {rule} ({why})"


@pytest.mark.parametrize(("level", "found"), [(0.8, "fails"), (0.9, "undecided at this budget")])
def test_the_control_is_asked_of_whoever_is_ahead(level, found):
    """Where a statement fails that is the other kind: what is behind need not be better than the control."""
    verdict = judge(evidence(deep=scores_at(0.8), simple=scores_at(0.9), frozen=scores_at(level)))
    assert verdict[STATEMENT] == found
    assert verdict.reasons == ({} if found == "fails" else {"control": "simple is not ahead of frozen"})


def scores_at(level):
    return {"scores": kind(level).scores}


@pytest.mark.parametrize(
    ("tried", "refused"),
    [
        ({0.003: 0.7, 0.01: 0.895, 0.03: 0.9}, False),
        ({0.003: 0.7, 0.01: 0.885, 0.03: 0.9}, True),
        ({0.003: 0.7, 0.03: 0.9}, True),
        (None, True),
    ],
)
@pytest.mark.parametrize("higher", [True, False])
def test_a_rate_at_an_edge_will_do_where_one_inside_is_as_good(tried, refused, higher):
    """To within the gain that the plateau may hide, 0.01."""
    sign = 1 if higher else -1
    values = tried and {rate: sign * value for rate, value in tried.items()}
    given = evidence(deep={"rate": 0.03, "tried": values}, higher_is_better=higher)
    assert ("tuning" in judge(given).reasons) is refused
    assert given.kinds["deep"].edge_gain(higher) == (
        inf if not tried or 0.01 not in tried else pytest.approx(0.9 - tried[0.01])
    )


def test_four_seeds_are_too_few():
    four = {"scores": [0.9, 0.91, 0.89, 0.9], "valid": [[0.8, 0.9, 0.9]] * 4}
    lower = {"scores": [0.3, 0.31, 0.29, 0.3], "valid": [[0.2, 0.3, 0.3]] * 4}
    assert judge(evidence(deep=four, simple=lower, frozen=lower)).reasons["seeds"] == "deep has 4"


def test_one_seed_says_nothing():
    one = {name: {"scores": [0.9], "valid": [[0.8, 0.9, 0.9]]} for name in ("deep", "simple", "frozen")}
    verdict = judge(evidence(**one))
    assert verdict.reasons == {"control": "one seed says nothing", "seeds": "deep has 1"}


def test_nothing_stated_is_nothing_settled():
    assert judge(evidence(statements=())).reasons == {"multiplicity": "nothing is stated"}
    assert not judge(None).all_rules_hold
    assert str(judge(None)) == "undecided at this budget; no evidence is stated"


def test_a_kind_that_is_only_shown_is_not_judged():
    kinds = {**evidence().kinds, "broken": kind(0.5, rate=0.03, item_error=None)}
    assert judge(evidence(kinds=kinds)).all_rules_hold


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (Ahead("deep", "simple", by=0.05), "holds"),
        (Ahead("deep", "simple", by=0.1), "undecided at this budget"),
        (Ahead("deep", "simple", by=0.2), "fails"),
        (Ahead("simple", "deep"), "fails"),
    ],
)
def test_a_statement_may_hold_fail_or_stay_open(statement, said):
    verdict = judge(evidence(statements=(statement,)))
    assert verdict.all_rules_hold
    assert verdict[statement] == said


def test_last_gains_are_those_of_the_last_tenth():
    at = [0, 50, 90, 95, 100]
    assert last_gains(at, [[5.0, 4.0, 3.0, 2.5, 2.6], [5.0, 2.0, 3.0, 2.5, 2.5]], higher_is_better=False) == [0.5, 0.0]
    assert last_gains(at, [[0.0, 0.5, 0.6, 0.7, 0.6]], higher_is_better=True) == pytest.approx([0.1])


def test_costs_are_better_the_lower_they_are():
    kinds = {"deep": kind(0.3), "simple": kind(0.8), "frozen": kind(0.9)}
    assert judge(evidence(kinds=kinds, higher_is_better=False))[STATEMENT] == "holds"
    gains = kind(0.3, valid=[[0.4, 0.3, 0.2]] * 5).last_gain(higher_is_better=False)
    assert gains == pytest.approx(0.1)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9),
    st.integers(1, 20),
    st.floats(0, 0.1),
    st.floats(0, 0.1),
)
def test_a_lead_against_scipy(pairs, shown, one, other):
    """Student's interval at a shared level, and the normal one of the items, as squares."""
    a, b = (list(column) for column in zip(*pairs, strict=True))
    kinds = {"deep": kind(0, scores=a, item_error=one), "simple": kind(0, scores=b, item_error=other)}
    found = evidence(kinds=kinds, control=None, shown=shown).lead("deep", "simple")
    differences, level = np.subtract(a, b), 1 - 0.05 / shown
    student = stats.t.ppf((1 + level) / 2, len(a) - 1) * differences.std(ddof=1) / sqrt(len(a))
    items = stats.norm.ppf((1 + level) / 2) * sqrt(one**2 + other**2)
    assert found.mean == pytest.approx(differences.mean(), abs=1e-12)
    assert found.half_width == pytest.approx(sqrt(student**2 + items**2), abs=1e-12)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30), st.floats(-1, 1))
def test_items_that_two_kinds_share_are_compared_one_by_one(pairs, apart):
    """With one output an item the error is that of the mean of their differences, whatever both have in common."""
    a, b = (list(column) for column in zip(*pairs, strict=True))
    kinds = {
        name: kind(0, scores=[0.1, 0.3, 0.2, 0.4, 0.2], item_error=0.5, items=Items(sums, [1.0] * len(sums)))
        for name, sums in (("deep", a), ("simple", b), ("moved", [x + apart for x in a]))
    }
    lead = partial(evidence(kinds=kinds, control=None, statements=[], shown=1).lead, "deep")
    wanted = stats.norm.ppf(0.975) * stats.sem(np.subtract(a, b))
    assert lead("simple").half_width == pytest.approx(wanted, abs=1e-9)
    assert lead("moved").half_width == pytest.approx(0, abs=1e-6)


def test_other_items_cannot_be_compared():
    kinds = {"deep": kind(0.1, items=Items([1, 2], [1, 1])), "simple": kind(0.2, items=Items([1, 2], [1, 2]))}
    with pytest.raises(ValueError, match="different numbers of outputs"):
        evidence(kinds=kinds, control=None, statements=[]).lead("deep", "simple")


def test_one_item_has_no_error():
    with pytest.raises(ValueError, match="1 test items: at least two"):
        Items([1.0], [2.0]).error  # noqa: B018 -- it raises


def test_more_comparisons_make_wider_intervals():
    widths = [evidence(shown=shown).lead("deep", "simple").half_width for shown in (1, 2, 10)]
    assert widths == sorted(widths)
    assert widths[0] < widths[1] < widths[2] < inf


def test_bad_evidence_is_refused():
    with pytest.raises(ValueError, match=r"^there is no kind 'tall'; there are deep, simple, frozen"):
        evidence(statements=(Ahead("tall", "simple"),))
    with pytest.raises(ValueError, match=r"^there is no kind 'shuffled'"):
        evidence(control="shuffled")
    with pytest.raises(ValueError, match=r"compared seed by seed, and have \[4, 5\] seeds"):
        evidence(deep={"scores": [0.9] * 4})


def test_stored_evidence_is_that_of_the_result():
    """The scores in the evidence are those in the file, and no verdict of the book is settled by hand."""
    found = staying_stable.evidence(stored("staying_stable"))
    entry = next(
        e
        for e in stored("staying_stable")["points"]
        if e["point"] == {"part": "train", "task": "digits", "cell": "projected", "rate": 0.9}
    )
    assert found["digits"].kinds["projected, 0.9"].scores == entry["result"]["test"]
    assert found["digits"].kinds["projected, 0.9"].valid == entry["result"]["valid"]
    assert {"constant", "per-key Markov"} == found["folk tunes"].baselines.keys()
    for one in found.values():
        assert set(judge(one).leads) == set(staying_stable.STATEMENTS)


def test_verdicts_of_all_experiments(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # has no results, so those of the package are judged
    assert main(["--verdicts"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split(":")[0].split(",")[0] for line in lines]
    assert list(dict.fromkeys(names)) == list(EXPERIMENTS)
    assert all(": settled" in line or ": undecided" in line or line.endswith(": nothing is trained") for line in lines)
    assert main(["--verdicts", "norms"]) == 0
    assert capsys.readouterr().out == "norms: nothing is trained\n"


def test_a_result_that_lacks_points_is_not_judged(capsys, tmp_path):
    (tmp_path / "staying_stable.json").write_text('{"points": []}')
    with pytest.raises(SystemExit):
        main(["--verdicts", "--results", str(tmp_path)])
    assert "staying_stable.json has other rows than the experiment" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--verdicts"], "there is no result in"),
        (["--verdicts", "words"], "words.json; without --results those of the package are read"),
        (["--perplexities"], "language_models.json; without --results those of the package are read"),
        (["--verdicts", "words", "--only", "group=S5"], "--only chooses points to run; it needs"),
        (["--only", "group=S5"], "--only chooses points to run; it needs"),
        (["--perplexities", "words"], "--perplexities are those of language_models, not of words"),
    ],
)
def test_results_that_are_not_there_and_rows_that_nobody_runs_are_not_passed_over(asked, says, capsys, tmp_path):
    with pytest.raises(SystemExit):
        main([*asked, "--results", str(tmp_path)])
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_folder_that_cannot_be_written_to_is_named_before_anything_is_run(folder, capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("kept")
    monkeypatch.setattr("fhx.experiments.__main__.perform", lambda *given, **options: pytest.fail("it was run"))
    with pytest.raises(SystemExit):
        main(["words", "--results", str(tmp_path / folder)])
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert f"nothing can be written to {tmp_path / folder}" in line
    assert (tmp_path / "file").read_text() == "kept"


def test_trying_a_folder_leaves_nothing_there(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("fhx.experiments.__main__.perform", lambda *given, **options: [*tmp_path.rglob("*")])
    assert main(["words", "--results", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out.strip() == str([tmp_path / "new"])


def test_only_the_results_of_a_folder_are_judged(capsys, tmp_path):
    (tmp_path / "words.json").write_text(json.dumps(stored("words")))
    assert main(["--verdicts", "--results", str(tmp_path)]) == 0
    assert {line.partition(",")[0] for line in capsys.readouterr().out.splitlines()} == {"words"}
