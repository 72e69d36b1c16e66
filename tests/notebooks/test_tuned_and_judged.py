"""The page on how nets are trained has the numbers of the code, and what it and chapter 11 say of them holds."""

import re
from math import hypot
from pathlib import Path
from statistics import median

import nbformat
import pytest
import yaml
from attrs import evolve
from scipy import stats

from fhx.experiments import language_models, music_and_digits, real_data, stored
from fhx.experiments.catalog import EXPERIMENTS
from fhx.experiments.cut_training.tasks import OTHER_SEEDS
from fhx.experiments.forms import FORMS, RATE
from fhx.experiments.items import Items
from fhx.experiments.language_models import points, verdicts
from fhx.experiments.music_and_digits.tasks import IN_PIECES
from fhx.experiments.music_and_digits.verdicts import CONTROL, GAINS, LATER, LOOKS
from fhx.experiments.protocol import Verdict, judge
from fhx.training import interval

BOOK = Path(__file__).parents[2]
TASKS = ("chorales", "folk tunes", "digits")


@pytest.fixture(scope="module")
def text():
    chapter = nbformat.read(BOOK / "notebooks" / "11-on-real-data.ipynb", as_version=4)
    cells = [cell.source for cell in chapter.cells if cell.cell_type == "markdown"]
    return "\n".join([*cells, (BOOK / "book" / "trained.md").read_text()])


@pytest.fixture(scope="module")
def table(text):
    """Its rows by their first cell."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.split("\n") if line.startswith("| ")]
    return {name: cells for name, *cells in rows if len(cells) == len(TASKS) + 1}


def rates(tried):
    return f"{len(tried)}, from {min(tried):g} to {max(tried):g}"


def restraints(budget):
    decays = [f"weight decay {decay:g}" for decay in budget.decays if decay]
    return ", ".join(["none", *decays, "dropout " + " or ".join(f"{dropout:g}" for dropout in budget.dropouts)])


def test_the_table_has_the_numbers_of_the_code(table):
    budgets = [music_and_digits.BUDGETS[task] for task in TASKS]
    assert all(
        music_and_digits.BUDGETS[name] == budgets[1] and LOOKS[name] == 1 + (name == TASKS[1]) for name in IN_PIECES
    )
    *some, last = points.DROPOUTS
    settings = [len(one.rates) * (len(one.decays) + len(one.dropouts)) for one in budgets]
    music = [one.reported["updates"] for one in budgets[:2]]
    each = budgets[2].updates
    judged = music_and_digits.judged(stored("music_and_digits"))
    assert table["learning rates"] == [*(rates(one.rates) for one in budgets), rates(points.RATES)]
    assert table["restraints"] == [*map(restraints, budgets), f"dropout {', '.join(map(str, some))} or {last}"]
    words = f"{len(points.RATES) + len(points.DROPOUTS)}, the rates by one pass"
    assert table["settings in all"] == [*map(str, settings), words]
    assert points.PASSES == {"rate": 1, "dropout": 10, "trained": 10}
    assert table["updates of a try"] == [*(f"{one.updates:,}" for one in budgets), "ten passes"]
    stops = [one.patience * one.evaluate_every for one in budgets]
    assert table["it stops if nothing is gained in"] == [*map(str, stops), ""]
    seeds = [len(judged[task]["LSTM"]["test"]) for task in TASKS]
    assert table["seeds that are judged"] == [*map(str, seeds), str(len(points.SEEDS))]
    ends = {kind: judged["digits"][kind]["at"][-1] for kind in ("LSTM", CONTROL)}
    assert [*ends.values()] == [each, music_and_digits.CONTROL_TIMES * each]
    digits = f"{each:,}; of the control {ends[CONTROL]:,}"
    assert table["their updates"] == [*(f"up to {most:,}" for most in music), digits, "ten passes"]
    gains = [f"{GAINS[task]} {'of the answers' if task == 'digits' else 'nats'}" for task in TASKS]
    assert table["may gain in the last tenth"] == [*gains, ""]
    assert table["may gain by twice the passes"] == ["", "", "", f"{verdicts.GAIN} nats"]
    looks = [
        f"{LOOKS['chorales']}, at own sizes 1",
        f"1, on folk tunes {LOOKS['folk tunes']}",
        f"{LOOKS['digits']}, of the last kinds 1",
        verdicts.LOOKS,
    ]
    assert table["times the statements were judged"] == [*map(str, looks)]


@pytest.mark.parametrize("source", ["11", "12", "13", "B13", "B17"])
def test_an_interval_in_prose_is_that_of_a_verdict(source):
    """In chapters those in brackets, in the ledger those between two numbers: a new row moves all of them."""
    number = r"\$?(-?\d\.\d\d)\$?"
    if source.isdigit():
        (path,) = (BOOK / "notebooks").glob(f"{source}-*.ipynb")
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        said = re.findall(rf"\({number} to {number}", prose)
    else:
        ledger = yaml.safe_load((BOOK / "book" / "claims.yml").read_text())["claims"]
        (prose,) = (" ".join([claim["statement"], *claim["found"]]) for claim in ledger if claim["id"] == source)
        said = re.findall(rf"between {number} and {number}", prose)
    found = music_and_digits.evidence(stored("music_and_digits")) | language_models.evidence(stored("language_models"))
    leads = [one.lead(one.statements[0].one, one.statements[0].other) for one in found.values()]
    ends = {(f"{low:.2f}", f"{high:.2f}") for i in leads for low, high in ((i.low, i.high), (-i.high, -i.low))}
    assert said
    assert set(said) <= ends


def test_one_verdict_hangs_on_asking_the_control_of_whoever_is_ahead(text):
    """It had been asked of the kind that a statement names first."""
    assert (
        "it would alter one: on classical music the convolutional net cannot be told from the control, so that the "
        "LSTM's lead over it would be undecided"
    ) in text
    changed, failing = [], 0
    for experiment in EXPERIMENTS.values():
        found = experiment.evidence(stored(experiment.name)) if experiment.evidence else {}
        for name, one in ((name, one) for name, one in found.items() if one):
            verdict = judge(one)
            reasons = {rule: why for rule, why in verdict.reasons.items() if rule != "control"}
            first = {each.one for each in verdict.leads} - {one.control}
            if one.control is None or any(one.lead(kind, one.control).low <= 0 for kind in first):
                reasons["control"] = "by the former rule"
            former = Verdict(reasons, verdict.leads)
            changed += [name for each in verdict.leads if former[each] != verdict[each]]
            failing += sum(verdict[each] == "fails" for each in verdict.leads)
    assert changed == ["classical music: TCN is ahead of LSTM"]
    assert failing > 0


@pytest.fixture(scope="module")
def answers():
    chapter = nbformat.read(BOOK / "notebooks" / "13-the-answer.ipynb", as_version=4)
    return "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")


def test_which_kinds_read_the_text_twenty_times(text, answers):
    names = {"LSTM": "the free LSTM", "LSTM, stable": '"LSTM, stable"', "frozen": "the frozen one"}
    both = ["simple", "simple, stable"]
    assert set(points.LONGER) == {*names, *both}
    assert f"Only {', '.join(names.values())} and simple nets, free and certified, were." in text
    number = ["three", "four", "five"][len(names) + len(both) - 3]
    assert f"ten readings of the text on words (twenty for {number} kinds)" in answers


def test_chapter_13_names_all_leads_of_rivals_that_are_settled(answers):
    said = (
        "A convolutional net is ahead on chorales and behind on classical music and piano pieces, a simple net is "
        "behind on chorales, classical music and words, attention and the LRU on chorales; all this is settled"
    )
    assert said in answers
    assert "The LSTM was ahead on chorales, on classical music and on words" in answers
    settled = {}
    for run in (music_and_digits, language_models):
        for name, one in run.evidence(stored(run.EXPERIMENT.name)).items():
            (pair,), (task, _) = one.statements, name.split(": ", 1)
            others = {pair.one, pair.other} - {"LSTM"}
            if len(others) == 1 and not any("," in kind or "truncated" in kind for kind in others):
                lead = one.lead("LSTM", *others).mean > 0
                if judge(one)[pair] != "undecided at this budget":
                    settled[*others, task] = lead
    assert settled == {
        ("TCN", "chorales"): False,
        **dict.fromkeys((("TCN", "classical music"), ("TCN", "piano pieces")), True),
        **dict.fromkeys((("simple", task) for task in ("chorales", "classical music", "words")), True),
        **dict.fromkeys(((kind, "chorales") for kind in ("attention", "LRU")), True),
    }


def test_which_verdicts_would_change_if_the_last_kinds_counted_like_the_others(text):
    assert (
        "If they too counted five times, one verdict would change: the interval of the LSTM's lead over the LRU" in text
    )
    found = music_and_digits.evidence(stored("music_and_digits"))
    digits = [one.statements[0] for pair, one in found.items() if pair.startswith("digits")]
    more = (LOOKS["digits"] - 1) * sum(bool({pair.one, pair.other} & {*LATER["digits"]}) for pair in digits)
    changed = {}
    for name, one in found.items():
        (statement,) = one.statements
        counted, like_others = judge(one), judge(evolve(one, shown=one.shown + more))
        if counted[statement] != like_others[statement]:
            changed[name] = like_others.reasons
    assert changed == {"chorales: LRU is ahead of LSTM": {}}


def test_which_kinds_take_longer_than_the_nets_that_chose_their_settings(text):
    sentence = re.search(r"\* 4,000, where in the median more are taken (.*);", text)[1]
    named = {
        "simple nets": "simple",
        "certified simple nets": "simple, stable",
        "LSTMs": "LSTM",
        "certified LSTMs": "LSTM, stable",
        "convolutional nets": "TCN",
        "control": CONTROL,
    }
    said = {
        (task, kind, updates)
        for task, part in re.findall(rf"on ({'|'.join(IN_PIECES)}) by (.*?)(?=, (?:and )?on |$)", sentence)
        for kind, updates in re.findall(rf"({'|'.join(sorted(named, reverse=True))}) \(([\d,]+)\)", part)
    }
    judged = music_and_digits.judged(stored("music_and_digits"))
    late = set()
    for task in IN_PIECES:
        for name, kind in named.items():
            updates = median(judged[task][kind]["best update"]) if kind in judged[task] else 0
            if updates > music_and_digits.BUDGETS[task].updates:
                late.add((task, name, f"{round(updates, -2):,}"))
    assert said == late


def test_which_certified_nets_on_digits_chose_their_settings_early(text):
    """Those that chose could stop, those that are judged run on."""
    said = re.search(r"at their best after ([\d,]+) or fewer in the median, those that run on after ([\d,]+) or more", text)
    run = stored("music_and_digits")
    left = music_and_digits.judged(run)["digits"]
    stopped = {
        entry["point"]["net"]: entry["result"]
        for entry in run["points"]
        if entry["point"]["task"] == "digits" and entry["point"].get("size") == "equal"
    }
    certified = [
        kind
        for kind, result in left.items()
        if "reactions" in result and all(one["certificate"] <= RATE for one in result["reactions"])
    ]
    assert {"simple, stable", "LSTM, stable", "LSTM, F = 0.64", "LSTM, four conditions"} < {*certified}
    at_best = [[median(nets[kind]["best update"]) for kind in certified] for nets in (stopped, left)]
    assert [int(number.replace(",", "")) for number in said.groups()] == [max(at_best[0]), min(at_best[1])]


def test_what_is_said_of_the_smaller_run_is_what_it_does(text):
    assert {len(seeds) for seeds in OTHER_SEEDS.values()} == {2}
    assert "Its learning rates are chosen by two other seeds" in text
    groups = ["one", "two", "three"][len(real_data.CUTOFFS["words"])]
    assert f"Text is read in {real_data.TEXT['streams']} streams, and the softmax has {groups} groups" in text


def test_what_is_said_of_larger_nets_is_what_they_do(text):
    *some, last = points.LARGE_RATES
    size = f"{['one', 'two'][points.LARGE['layers'] - 1]} layers of {points.LARGE['units']} units"
    seeds = {3: "three"}[len(points.LARGE_SEEDS)]
    rates = f"the rates {', '.join(map(str, some))} and {last} by one pass"
    assert f"Nets of words with {size}, which are shown and not judged, have {seeds} seeds; one tried {rates}" in text


def test_a_gate_that_opens_further_leaves_its_weights_less(text):
    least, wide = FORMS["LSTM, four conditions"].certified["forget"], FORMS["LSTM, F = 0.9"].certified["forget"]
    room = [f"{(1 - most) ** 2:.2f}" for most in (least, wide)]
    assert f"$(1 - F)^2$, which is {room[0]} at $F = {least}$ and {room[1]} at ${wide}$" in text


def test_several_kinds_on_music_chose_the_largest_dropout(text):
    assert "on music several kinds chose the largest, 0.5" in text
    chorales = music_and_digits.judged(stored("music_and_digits"))["chorales"]
    most = max(music_and_digits.BUDGETS["chorales"].dropouts)
    assert most == 0.5
    assert sum(one["dropout"] == most for one in chorales.values()) > 3


def test_one_interval_on_words_is_about_a_fifth_as_wide_and_both_its_nets_kept_their_items(text):
    assert (
        "the interval of F = 0.64 against the four conditions is about a fifth as wide as the narrowest other" in text
    )
    found = language_models.evidence(stored("language_models")).values()
    width, kept = {}, set()
    for one in found:
        (pair,) = one.statements
        width[pair] = one.lead(pair.one, pair.other).half_width
        if all(one.kinds[kind].items for kind in (pair.one, pair.other)):
            kept.add(pair)
    (narrow,) = kept
    assert {narrow.one, narrow.other} == {"LSTM, F = 0.64", "LSTM, four conditions"}
    assert narrow in verdicts.STATEMENTS["price"]
    assert round(width[narrow] / min(wide for pair, wide in width.items() if pair != narrow), 1) == 0.2


def test_the_level_of_one_interval_is_what_is_left_by_all(text):
    words = language_models.evidence(stored("language_models"))
    music = music_and_digits.evidence(stored("music_and_digits"))
    (of_words,), (of_music,) = ({one.shown for one in found.values()} for found in (words, music))
    levels = {shown: 100 * (1 - 0.05 / shown) for shown in (of_words, of_music)}
    assert f"The {of_music} on music and digits share 95 %, as do the {of_words} on words" in text
    assert f"so each alone has {levels[of_music]:.2f} or {levels[of_words]:.2f} %" in text
    assert "With five seeds that is eleven or ten standard errors to either side, with ten seeds five" in text
    wide = {(n, shown): stats.t.ppf(1 - 0.025 / shown, n - 1) for n in (5, 10) for shown in levels}
    assert [round(wide[5, shown]) for shown in (of_music, of_words)] == [11, 10]
    assert {round(wide[10, shown]) for shown in levels} == {5}


def test_the_price_on_words_would_be_narrow_if_its_test_words_were_paired(text):
    """With the error that the choice of test words adds where both nets kept the loss on each stretch."""
    one = language_models.evidence(stored("language_models"))["words: LSTM is ahead of LSTM, stable"]
    longer = language_models.by_group(stored("language_models"))["longer"]
    (pair,), level = one.statements, 1 - 0.05 / one.shown
    free, held = (Items(**longer[kind]["items"]) for kind in (pair.one, pair.other))
    scores = (one.kinds[kind].scores for kind in (pair.one, pair.other))
    seeds = interval([b - a for a, b in zip(*scores, strict=True)], level)
    half = hypot(seeds.half_width, stats.norm.ppf((1 + level) / 2) * (error := free.minus(held).error))
    assert f"adds a standard error of only {error:.3f} nats. With that error the interval would be " in text
    assert f"would be {seeds.mean - half:.2f} to {seeds.mean + half:.2f} for the price of" in text
