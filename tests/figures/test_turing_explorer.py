"""The explorer of Turing machines: at every step the page holds the exact net's state, the machine's configuration."""

import json
from fractions import Fraction
from itertools import combinations, islice

import pytest
from attrs import evolve
from axe_playwright_python.sync_playwright import Axe

from fhx.compile import turing_to_rnn
from fhx.figures import turing_explorer
from fhx.machines import TuringMachine, addition, equal_blocks, increment, marching, palindromes

AT_ONCE = TuringMachine({("q", "a"): ("q", "a", "R")}, "accept", "accept", "reject", "_", "a")
LEFT_END = TuringMachine({("q", "b"): ("q", "a", "L"), ("q", "a"): ("p", "_", "R")}, "q", "accept", "reject", "_", "ab")
BLANK_READ = TuringMachine(
    {("q", "0"): ("q", "1", "R"), ("q", "1"): ("back", "0", "L"), ("back", "1"): ("reject", "x", "L")},
    "q", "accept", "reject", "0", "01",
)  # fmt: skip
MACHINES = {
    "palindromes": (palindromes(), 3, ("", "abba", "ab")),
    "equal blocks": (equal_blocks(), 4, ("aabbcc", "ba")),
    "increment": (increment(), 3, ("1101", "")),
    "addition": (addition(), 5, ("1+1",)),
    "at once": (AT_ONCE, 3, ("", "aa")),
    "left end": (LEFT_END, 3, ("bab", "a")),
    "blank read": (BLANK_READ, 11, ("001", "1")),
    "for ever": (marching(), 3, ("aa",)),
}
NETS = {name: turing_to_rnn(tm, base) for name, (tm, base, _) in MACHINES.items()}
WORDS = {"palindromes": "abba", "equal blocks": "aabbcc", "increment": "1101"}

LOOK = """() => {
  const picture = document.querySelector("svg[role=img]");
  const all = (name) => [...picture.querySelectorAll(`[data-${name}]`)];
  return {
    ...picture.dataset,
    cells: Object.fromEntries(all("cell").map((n) => [n.dataset.cell, n.textContent])),
    units: all("unit").map((n) => [n.dataset.unit, n.dataset.value]),
    stacks: Object.fromEntries(all("stack").map((n) => [n.dataset.stack, n.dataset.value])),
  };
}"""
WALK = f"""(positions) => positions.map((position) => {{
  const slider = document.querySelector("input[type=range]");
  slider.value = position;
  slider.dispatchEvent(new Event("input"));
  return ({LOOK})();
}})"""


class Reader:
    """Uses the page as a reader does, and reads it."""

    def __init__(self, page):
        self.page = page
        self.machine = page.get_by_role("combobox", name="Machine")
        self.word = page.get_by_role("textbox", name="Word")
        self.slider = page.get_by_role("slider", name="Net step")
        self.previous, self.next = (page.get_by_role("button", name=f"Net step: {way}") for way in ("previous", "next"))
        self.play = page.locator("button[id$=-play]")

    def said(self):
        return self.page.get_by_role("status").text_content()

    def last(self):
        return int(self.slider.get_attribute("max"))

    def at(self):
        return int(self.slider.input_value())

    def look(self):
        return self.page.evaluate(LOOK)

    def walk(self, positions=None):
        return self.page.evaluate(WALK, list(range(self.last() + 1) if positions is None else positions))

    def read(self, machine, word):
        self.machine.select_option(label=machine)
        self.word.fill(word)


@pytest.fixture(scope="module")
def html():
    return turing_explorer(NETS, WORDS).to_html()


@pytest.fixture
def reader(site, html):
    return Reader(site.open(html))


def compared(reader, name, word, positions):
    """That what the page shows is the exact net's state, and, independently, the machine's configuration."""
    tm, net = MACHINES[name][0], NETS[name]
    seen = reader.walk(positions)
    length = max(positions) + 1
    states = list(islice(net.run(word), length))
    outputs = [0, *islice(net.outputs(word), length - 1)]
    machine = [None] * (len(word) + 1) + list(islice(tm.run(word), length))
    symbols = {str(a): a for a in tm.tape_alphabet}
    for t, here in zip(positions, seen, strict=True):
        assert int(here["step"]) == t
        assert int(here["output"]) == outputs[t]
        units = {unit: Fraction(value) for unit, value in here["units"]}
        assert len({tuple(shown) for shown in here["units"]}) == len(units) == net.units
        assert units == {unit: states[t].get(i, 0) for i, unit in enumerate(net.rnn.unit_names)}
        decoded = net.decode(states[t])
        for side, parts in (("left", net.layout.left), ("right", net.layout.right)):
            for a, part in parts.items():
                assert Fraction(here["stacks"][f"{side} {a}"]) == decoded[part]
        expected = machine[t] if t < len(machine) else None
        tape = word[:t] if t <= len(word) else ()
        if expected is None:
            assert "state" not in here
        else:
            assert (here["state"], int(here["head"])) == (str(expected.state), expected.head)
            assert str(expected.head) in here["cells"]
            tape = expected.tape
        for cell, symbol in here["cells"].items():
            assert symbols[symbol] == (tape[int(cell)] if int(cell) < len(tape) else tm.blank)


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "for ever"])
def test_the_page_steps_the_exact_net_and_shows_the_machine_at_every_step(reader, name):
    tm, _, words = MACHINES[name]
    for word in words:
        reader.read(name, word)
        steps = tm.decide(word, 500).steps
        assert reader.last() == len(word) + 1 + steps
        assert reader.at() == len(word) + 1
        compared(reader, name, word, range(reader.last() + 1))
        verdict = "Output 1: accept" if tm.decide(word, 500).accepted else "Output −1: reject"
        assert reader.said().endswith(f"{verdict}. The net has answered, after {steps} step{'s' * (steps != 1)}.")
        if steps:
            reader.previous.click()
            assert reader.said().endswith(" Output 0.")


def test_a_run_without_end_is_cut_and_it_is_said(reader):
    reader.read("for ever", "aa")
    assert reader.last() == 2 + 1 + 500
    compared(reader, "for ever", "aa", [0, 1, 2, 3, 10, 40, 502, 503])
    assert reader.said().endswith("Output 0: not halted after 500 steps, and the page stops here.")
    assert "500" in reader.look()["cells"]  # the tape goes with the head
    reader.word.fill("a" * 60)
    reader.slider.press("End")
    assert reader.at() == reader.last() == 60 + 1 + 500  # the slider is long enough for the longest word
    assert reader.said().endswith("Output 0: not halted after 500 steps, and the page stops here.")


def test_the_rule_used_is_said(reader):
    reader.read("palindromes", "abba")
    tm = palindromes()
    configurations = list(tm.run("abba"))
    for k in range(1, len(configurations)):
        reader.next.click()
        before, after = configurations[k - 1 : k + 1]
        a = before.tape[before.head] if before.head < len(before.tape) else tm.blank
        q, b, move = tm.transitions[before.state, a]
        reads = after.tape[after.head] if after.head < len(after.tape) else tm.blank
        assert reader.said().startswith(
            f"Net step {k + 5}, machine step {k}: rule {before.state}, {a} → {q}, {b}, {move}; "
            f"now in state {after.state}, reading {reads}. Output "
        )
    reader.read("left end", "bab")
    assert reader.said() == "Net step 4, the first EOS: the machine starts in state q, reading b. Output 0."
    reader.next.click()
    assert "rule q, b → q, a, L (the head stays at the left end); now in state q, reading a." in reader.said()
    reader.slider.press("Home")
    assert reader.said() == "Net step 0: nothing read yet."
    reader.next.click()
    assert reader.said() == "Net step 1: read b. The right stack holds b."


def test_units_that_are_not_0_are_listed_with_their_values(reader):
    reader.read("palindromes", "abba")
    net = NETS["palindromes"]
    *_, state = islice(net.run("abba"), reader.at() + 1)
    listed = ", ".join(f"{net.rnn.unit_names[i]} = {value}" for i, value in sorted(state.items()))
    assert reader.page.locator(".rx-view p").text_content() == f"Units that are not 0: {listed}."
    reader.read("for ever", "aa")
    reader.slider.press("End")
    assert "left[a] push = 0.999999…" in reader.page.locator(".rx-view p").text_content()


def test_a_foreign_symbol_is_named_and_the_net_stops_before_it(reader):
    reader.read("palindromes", "abcb")
    assert reader.said() == (
        "c is not in the alphabet a, b: no run on abcb. Net step 2: read b. The right stack holds ab."
    )
    assert reader.word.get_attribute("aria-invalid") == "true"
    assert reader.last() == 2
    assert "state" not in reader.look()
    reader.word.fill(" a")
    assert reader.said().startswith("A space is not in the alphabet a, b: no run on  a. Net step 0")
    reader.word.fill("_")
    assert reader.said().startswith("_ is not in the alphabet a, b: no run on _.")
    reader.word.fill("ab")
    assert reader.word.get_attribute("aria-invalid") == "false"
    assert reader.said().startswith("Net step 3, the first EOS: the machine starts")
    reader.word.fill("a" * 70)
    assert reader.word.input_value() == "a" * 60  # the field takes no more


def test_each_machine_keeps_its_own_word(reader):
    assert reader.word.input_value() == "abba"
    reader.word.fill("aba")
    reader.machine.select_option(label="increment")
    assert reader.word.input_value() == "1101"
    reader.word.fill("1")
    reader.machine.select_option(label="palindromes")
    assert reader.word.input_value() == "aba"
    assert reader.at() == 4
    reader.machine.select_option(label="increment")
    assert reader.word.input_value() == "1"


def test_scrubbing_by_keys_and_buttons(reader):
    last = reader.last()
    assert (reader.at(), last) == (5, 4 + 1 + palindromes().decide("abba", 99).steps)
    reader.slider.press("ArrowRight")
    assert reader.look()["step"] == "6"
    reader.previous.click()
    assert reader.look()["step"] == "5"
    reader.slider.press("End")
    assert reader.look()["step"] == str(last)
    assert reader.next.get_attribute("aria-disabled") == "true"
    reader.slider.press("Home")
    assert reader.look()["step"] == "0"
    assert reader.previous.get_attribute("aria-disabled") == "true"


@pytest.fixture
def timed(site, html):
    """A page whose clock stands still but for the test."""
    page = site.open(html)
    page.clock.install()
    page.clock.pause_at(4_000_000_000)
    return Reader(page)


def test_play_goes_to_the_end_and_pause_stops_it(timed):
    assert timed.play.text_content() == "Play"
    timed.play.press("Enter")
    assert timed.play.text_content() == "Pause"
    assert timed.page.get_by_role("status").get_attribute("aria-live") == "off"
    timed.page.clock.run_for(3 * 600)
    paused = timed.at()
    assert 5 + 3 <= paused < timed.last()
    timed.play.press("Enter")
    timed.page.clock.run_for(10_000)
    assert (timed.at(), timed.play.text_content()) == (paused, "Play")
    assert timed.page.get_by_role("status").get_attribute("aria-live") == "polite"
    timed.play.click()
    timed.page.clock.run_for(60_000)
    assert (timed.at(), timed.play.text_content()) == (timed.last(), "Play")
    assert timed.look()["output"] == "1"
    timed.play.click()  # from the beginning again
    assert (timed.at(), timed.play.text_content()) == (0, "Pause")
    timed.page.clock.run_for(600)
    assert timed.at() >= 1


@pytest.mark.parametrize("act", ["scrub", "type", "choose"])
def test_whatever_the_reader_does_while_it_plays_stops_it(timed, act):
    timed.play.click()
    timed.page.clock.run_for(700)
    if act == "scrub":
        timed.slider.press("Home")
    elif act == "type":
        timed.word.fill("ab")
    else:
        timed.machine.select_option(label="increment")
    at = timed.at()
    assert timed.play.text_content() == "Play"
    timed.page.clock.run_for(5000)
    assert timed.at() == at


def test_with_less_motion_the_button_goes_to_an_end_and_plays_nothing(timed):
    timed.page.emulate_media(reduced_motion="reduce")
    timed.slider.press("ArrowRight")
    assert timed.play.text_content() == "To the end"
    timed.play.click()
    assert (timed.at(), timed.play.text_content()) == (timed.last(), "To the start")
    timed.page.clock.run_for(5000)
    assert timed.at() == timed.last()
    timed.play.click()
    assert (timed.at(), timed.play.text_content()) == (0, "To the end")


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark"), (320, "light")])
def test_axe_finds_nothing_and_no_text_overflows_or_overlaps(site, html, width, theme):
    reader = Reader(site.open(html, width=width, scheme=theme))
    for name in ("palindromes", "addition", "blank read"):
        reader.machine.select_option(label=name)
        frames = set()
        for key in ("Home", "End", "ArrowLeft"):
            reader.slider.press(key)
            assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
            frame = reader.page.locator("svg[role=img]").bounding_box()
            frames.add(json.dumps(frame))
            boxes = reader.page.evaluate(
                "[...document.querySelectorAll('svg[role=img] text')].filter(n => n.textContent.trim())"
                ".map(n => [n.textContent, n.getBoundingClientRect().toJSON()])"
            )
            for text, box in boxes:
                assert frame["x"] - 1 <= box["left"] <= box["right"] <= frame["x"] + frame["width"] + 1, text
                assert frame["y"] - 1 <= box["top"] <= box["bottom"] <= frame["y"] + frame["height"] + 1, text
            for (one, a), (other, b) in combinations(boxes, 2):
                across = min(a["right"], b["right"]) - max(a["left"], b["left"])
                down = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
                assert across < 1 or down < 4, (one, other)
        assert len(frames) == 1  # the picture stays in its place
    found = Axe().run(reader.page).response["violations"]
    assert [(rule["id"], rule["impact"]) for rule in found if rule["impact"] in ("serious", "critical")] == []


def test_the_margin_is_where_no_stack_is(reader):
    reader.read("equal blocks", "aabbcc")
    for here in reader.walk():
        assert not any(Fraction(1, 4) < Fraction(value) < Fraction(3, 4) for value in here["stacks"].values())
    spans, dots = (
        reader.page.evaluate(
            "[...document.querySelectorAll('rect.rx-span')].map(n => n.getBoundingClientRect().toJSON())"
        ),
        reader.page.locator("circle[data-stack]"),
    )
    assert len(spans) == 2
    assert dots.count() == len(NETS["equal blocks"].layout.left) + len(NETS["equal blocks"].layout.right)


def test_the_page_is_small_and_the_same_every_time(html):
    assert len(html.encode()) < 150_000
    assert html == turing_explorer(NETS, WORDS).to_html()


def slower(net):
    return evolve(net, steps_per_symbol=2)


@pytest.mark.parametrize(
    ("nets", "words", "message"),
    [
        ({}, None, "needs a net"),
        ({"m": NETS["increment"]}, {"n": "1"}, "a word for 'n', but no net"),
        ({"m": NETS["increment"]}, {"m": "1" * 61}, "61 symbols"),
        ({"m": NETS["increment"]}, {"m": "102"}, "'2' of the first word is outside"),
        ({"m": slower(NETS["increment"])}, None, "2 steps per symbol"),
        ({"m": turing_to_rnn(palindromes(), 10**9)}, None, "longer than 53 bits"),
        ({"m": turing_to_rnn(TuringMachine({}, "accept", "accept", "reject", "_", ("up",)))}, None, "characters"),
    ],
)
def test_what_the_page_cannot_run_is_said(nets, words, message):
    with pytest.raises(ValueError, match=message):
        turing_explorer(nets, words)
