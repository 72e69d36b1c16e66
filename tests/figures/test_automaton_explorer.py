"""The explorer of automata: what the page computes equals the machine and the exact net, whatever the reader does."""

import random
import re
from itertools import pairwise, product

import pytest
from axe_playwright_python.sync_playwright import Axe

from fhx.compile import dfa_to_grid_rnn, dfa_to_rnn
from fhx.exact import Recognizer, SimpleRNN, StateDecoder
from fhx.figures import automaton_explorer, interesting_word
from fhx.machines import DFA, NAMED, divisible_by, parity, symmetric_group

KEYS = {
    "(a|b)*abb": "abb",
    "PARITY": "parity",
    "divisible by 3": "divisible-by-3",
    "without 000": "tomita-4",
    "word problem of S₃": "s3",
}


@pytest.fixture(scope="module")
def explorer():
    return automaton_explorer()


class Reader:
    """Uses the page as a reader does, and reads it."""

    def __init__(self, page):
        self.page = page
        self.machine = page.get_by_role("combobox", name="Machine")
        self.word = page.get_by_role("textbox", name="Word")
        self.slider = page.get_by_role("slider", name="Symbols read")
        self.previous, self.next = (
            page.get_by_role("button", name=f"Symbols read: {way}") for way in ("previous", "next")
        )

    def said(self):
        return self.page.get_by_role("status").text_content()

    def outputs(self):
        return [int(text) for text in self.page.locator("[data-output]").all_text_contents()]

    def lit(self):
        states = self.page.locator("circle[data-state]").all()
        return [state.get_attribute("data-state") for state in states]

    def active(self):
        return self.page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('[data-unit]')].filter(n => n.dataset.value !== '0')"
            ".map(n => [n.dataset.unit, Number(n.dataset.value)]))"
        )


@pytest.fixture
def reader(site, explorer):
    return Reader(site.open(explorer.to_html()))


@pytest.mark.parametrize("name", KEYS)
def test_typed_words_are_decided_as_by_the_machine_and_the_exact_net(reader, name):
    dfa, draw = NAMED[KEYS[name]], random.Random(3)
    net = dfa_to_rnn(dfa)
    reader.machine.select_option(label=name)
    words = ["".join(word) for n in range(4) for word in product(dfa.alphabet, repeat=n)]
    words += ["".join(draw.choices(dfa.alphabet, k=k)) for k in (9, 17, 24)]
    for word in words:
        reader.word.fill(word)
        states = list(dfa.run(word))
        assert reader.outputs() == [int(q in dfa.accept) for q in states]
        assert reader.outputs()[1:] == list(net.outputs(word))
        assert reader.lit() == [str(states[-1])]
        *_, last = net.run(word)
        assert reader.active() == {net.rnn.unit_names[i]: value for i, value in last.items()}
        assert reader.said().endswith(f"Output {net.accepts(word):d}: {'accept' if dfa.accepts(word) else 'reject'}.")
        taken = [path.get_attribute("data-taken") for path in reader.page.locator("path[data-taken]").all()]
        assert taken == [f"{before} {after}" for before, after in pairwise(states)][-1:]


def test_arrow_keys_step_through_the_word(reader):
    dfa = NAMED["abb"]
    assert reader.word.input_value() == "babaabb"
    reader.slider.focus()
    for t in reversed(range(7)):
        reader.page.keyboard.press("ArrowLeft")
        states = list(dfa.run("babaabb"[:t]))
        assert reader.slider.get_attribute("aria-valuetext") == str(t)
        assert reader.lit() == [str(states[-1])]
        assert len(reader.outputs()) == t + 1
        unit = f"{states[-2]}&{'babaabb'[t - 1]}" if t else "start"
        assert reader.active() == {unit: 1}
        assert f"Unit {unit} is 1, all others are 0" in reader.said()
    assert reader.said().startswith("Nothing read yet.")
    reader.page.keyboard.press("End")
    assert reader.said().startswith(
        "Read babaabb. Unit 2&b is 1, all others are 0: the net was in state 2, read b, and is"
    )
    assert reader.slider.get_attribute("max") == "7"


def test_the_buttons_step_through_the_word_and_rest_at_its_ends(reader):
    dfa = NAMED["abb"]
    assert reader.next.is_disabled()
    for t in reversed(range(7)):
        assert reader.previous.is_enabled()
        reader.previous.click()
        assert reader.lit() == [str(list(dfa.run("babaabb"[:t]))[-1])]
        assert len(reader.outputs()) == t + 1
        assert reader.next.is_enabled()
    assert reader.said().startswith("Nothing read yet.")
    assert reader.previous.is_disabled()
    reader.next.press("Enter")
    assert reader.said().startswith("Read b.")
    reader.word.fill("b")  # now this is the end
    assert reader.next.is_disabled()
    reader.word.fill("")
    assert reader.previous.is_disabled()
    assert reader.next.is_disabled()


def test_typing_reads_on_and_deleting_goes_back(reader):
    reader.machine.select_option(label="PARITY")
    reader.word.fill("")
    assert reader.outputs() == [0]
    assert reader.slider.get_attribute("max") == "0"
    reader.word.press_sequentially("1101")
    assert reader.outputs() == [0, 1, 0, 0, 1]
    assert reader.slider.input_value() == "4"
    reader.page.keyboard.press("Backspace")
    assert reader.outputs() == [0, 1, 0, 0]
    reader.word.fill("1" * 40)
    assert len(reader.outputs()) == 24 + 1  # the field takes no more


def test_a_symbol_outside_the_alphabet_is_named_and_there_is_no_verdict(reader):
    assert reader.word.get_attribute("aria-invalid") == "false"
    reader.word.fill("abXb")
    assert reader.said() == (
        "X is not in the alphabet a, b: no verdict on abXb. "
        "Read ab. Unit 1&b is 1, all others are 0: the net was in state 1, read b, and is in state 2."
    )
    assert reader.word.get_attribute("aria-invalid") == "true"
    assert reader.word.input_value() == "abXb"
    assert reader.outputs() == [0, 0, 0]  # of the words before the X
    reader.slider.focus()
    reader.page.keyboard.press("ArrowLeft")
    assert reader.said().startswith("X is not in the alphabet a, b: no verdict on abXb. Read a. ")
    assert "Output" not in reader.said()
    reader.word.fill("a b")
    assert reader.said().startswith("A space is not in the alphabet a, b: no verdict on a b. ")
    reader.word.fill("abb")
    assert reader.said().startswith("Read abb. ")
    assert reader.said().endswith("Output 1: accept.")
    assert reader.word.get_attribute("aria-invalid") == "false"


def test_a_machine_reads_the_word_of_the_one_before_if_it_can(reader):
    reader.machine.select_option(label="PARITY")
    reader.word.fill("1001")
    reader.slider.focus()
    reader.page.keyboard.press("ArrowLeft")
    reader.machine.select_option(label="divisible by 3")
    assert reader.word.input_value() == "1001"
    assert reader.slider.input_value() == "3"
    assert reader.slider.get_attribute("max") == "4"
    reader.slider.press("End")
    assert reader.said().endswith("Output 1: accept.")


def test_a_machine_that_cannot_read_the_word_has_its_own_last_one(reader):
    reader.word.fill("abab")
    reader.machine.select_option(label="divisible by 3")
    assert reader.word.input_value() == "10010"
    assert reader.slider.input_value() == reader.slider.get_attribute("max") == "5"
    assert reader.word.get_attribute("aria-invalid") == "false"
    assert "no verdict" not in reader.said()
    reader.machine.select_option(label="(a|b)*abb")
    assert reader.word.input_value() == "abab"
    assert reader.said().startswith("Read abab. ")


@pytest.mark.parametrize("width", [1280, 320])
def test_what_may_be_typed_is_said_and_the_verdict_stands_between_the_slider_and_the_picture(site, explorer, width):
    page = site.open(explorer.to_html(), width=width)
    page.get_by_label("Word (at most 24 letters)", exact=True).wait_for()
    slider = page.get_by_label("Symbols read", exact=True).bounding_box()
    readout = page.get_by_role("status").bounding_box()
    picture = page.get_by_role("img").bounding_box()
    assert slider["y"] + slider["height"] <= readout["y"]
    assert readout["y"] + readout["height"] <= picture["y"]
    page.get_by_role("slider").press("Home")  # the shortest sentence
    assert page.get_by_role("img").bounding_box()["y"] == picture["y"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_axe_finds_nothing_and_nothing_overflows(site, explorer, theme, width):
    reader = Reader(site.open(explorer.to_html(), width=width, scheme=theme))
    for name in KEYS:
        reader.machine.select_option(label=name)
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
        frame = reader.page.locator(".rx-view").bounding_box()
        for box in reader.page.evaluate(
            "[...document.querySelectorAll('svg[role=img] text')].map(n => n.getBoundingClientRect().toJSON())"
        ):
            assert frame["x"] - 1 <= box["left"] <= box["right"] <= frame["x"] + frame["width"] + 1
            assert frame["y"] - 1 <= box["top"] <= box["bottom"] <= frame["y"] + frame["height"] + 1
    found = Axe().run(reader.page).response["violations"]
    assert [(rule["id"], rule["impact"]) for rule in found if rule["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_lit_can_be_read(site, explorer, theme):
    page = site.open(explorer.to_html(), scheme=theme)
    pairs = page.evaluate(
        """[...document.querySelectorAll("g[data-unit]")].filter(n => n.dataset.value !== "0")
        .concat([...document.querySelectorAll("circle[data-state]")].map(n => n.parentNode)).map(g => {
          const shape = g.querySelector("circle[data-state]") ?? g.querySelector("rect");
          const bold = [...g.querySelectorAll("text")].filter(t => t.style.fontWeight === "700");
          const text = bold.find(t => t.style.fill.includes("paper"));
          return [getComputedStyle(shape).fill, getComputedStyle(text).fill];
        })"""
    )
    assert len(pairs) == 2

    def luminance(color):
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for colors in pairs:
        low, high = sorted(map(luminance, colors))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_a_net_with_two_steps_a_symbol_and_one_of_slu_units(site):
    dfa = NAMED["abb"]
    nets = {"grid": (dfa, dfa_to_grid_rnn(dfa)), "slu": (dfa, dfa_to_rnn(dfa, activation="slu"))}
    reader = Reader(site.open(automaton_explorer("two", nets, {"grid": "ababb"}).to_html()))
    for name, (_, net) in nets.items():
        reader.machine.select_option(label=name)
        for word in ("", "abb", "babba"):
            reader.word.fill(word)
            assert reader.outputs() == [int(q in dfa.accept) for q in dfa.run(word)]
            *_, last = net.run(word)
            assert reader.active() == {net.rnn.unit_names[i]: value for i, value in last.items()}
            assert reader.lit() == [str(list(dfa.run(word))[-1])]


def test_the_activation_and_the_bias_of_the_readout_count(site):
    """One unit clips the number of 1s at 1, and the readout turns it round."""
    seen = SimpleRNN([[1]], [[0, 1]], (0,), (0,), "slu", ("seen",))
    net = Recognizer(seen, (-1,), 1, "01", decoder=StateDecoder(("seen",), [[1]], (0,)))
    dfa = DFA((0, 1), "01", {(0, "0"): 0, (0, "1"): 1, (1, "0"): 1, (1, "1"): 1}, 0, (0,))
    reader = Reader(site.open(automaton_explorer("seen", {"no 1": (dfa, net)}, {"no 1": "00101"}).to_html()))
    assert reader.outputs() == [1, 1, 1, 0, 0, 0]
    assert reader.active() == {"seen": 1}
    assert reader.said() == "Read 00101. Unit seen is 1, all others are 0: state 1. Output 0: reject."


def test_a_machine_of_ten_symbols_fits(site):
    dfa = divisible_by(3, 10)
    reader = Reader(site.open(automaton_explorer("ten", {"digits": (dfa, dfa_to_rnn(dfa))}).to_html(), width=390))
    reader.word.fill("2025")
    assert reader.outputs()[-1] == 1
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_first_word_of_a_machine_goes_far_and_is_accepted():
    for dfa in (NAMED["abb"], parity(), symmetric_group(3), divisible_by(5)):
        word = interesting_word(dfa)
        assert 8 <= len(word) <= 8 + len(dfa.states)
        assert dfa.accepts(word)
        pairs = set(zip(dfa.run(word), word, strict=False))
        assert len(pairs) >= min(6, len(dfa.transitions))
    nothing = DFA((0,), "a", {(0, "a"): 0}, 0, ())
    assert interesting_word(nothing) == "a" * 8


def test_the_page_is_small_and_the_same_every_time(explorer):
    assert len(explorer.to_html()) < 60_000
    assert explorer.to_html() == automaton_explorer().to_html()


def wrong(**changes):
    net = dfa_to_rnn(parity())
    parts = {"rnn": net.rnn, "w": net.w, "c": net.c, "alphabet": net.alphabet, "decoder": net.decoder}
    return {"m": (parity(), Recognizer(**{**parts, **changes}))}


@pytest.mark.parametrize(
    ("machines", "words", "message"),
    [
        ({}, None, "needs a machine"),
        (wrong(alphabet=("1", "0")), None, r"reads \('1', '0'\), and the machine reads"),
        (wrong(decoder=None), None, "no decoder"),
        ({"m": (divisible_by(3), dfa_to_rnn(parity()))}, None, "the same for two states"),
        ({"m": (parity(), dfa_to_rnn(divisible_by(3)))}, None, "the net in another"),
        ({"m": (parity(), dfa_to_rnn(parity()))}, {"m": "1" * 25}, "25 symbols"),
        ({"m": (parity(), dfa_to_rnn(parity()))}, {"m": "012"}, "outside the alphabet"),
        ({"m": (NAMED["S5"], dfa_to_rnn(NAMED["S5"]))}, {"m": "s"}, "120 states"),
    ],
)
def test_what_the_page_cannot_step_is_said(machines, words, message):
    with pytest.raises(ValueError, match=message):
        automaton_explorer("m", machines, words)


def test_symbols_must_be_single_characters():
    dfa = DFA((0,), ("up", "down"), {(0, "up"): 0, (0, "down"): 0}, 0, (0,))
    with pytest.raises(ValueError, match="single characters"):
        automaton_explorer("m", {"m": (dfa, dfa_to_rnn(dfa))})
