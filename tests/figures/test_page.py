"""The page form in a real browser: mouse, keyboard, themes, widths, other frames."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe

from fhx.figures import Button, Choice, Explorer, Number, Slider, Text

WORDS = {"title": "Steps", "alt": "What the view was given."}

# How JupyterLab shows an output: innerHTML runs no script, so it puts a fresh copy in the place of each.
AS_JUPYTERLAB = """<script>
const host = document.querySelector(".cell_output");
host.innerHTML = {};
for (const old of host.querySelectorAll("script")) {{
  const fresh = document.createElement("script");
  for (const {{name, value}} of old.attributes) fresh.setAttribute(name, value);
  fresh.textContent = old.textContent;
  old.replaceWith(fresh);
}}
</script>"""


def as_jupyterlab(html):
    return AS_JUPYTERLAB.format(json.dumps(html).replace("<", "\\u003c"))


@pytest.fixture
def echo(tmp_path):
    """A view that writes down what it was given."""
    view = tmp_path / "echo.js"
    view.write_text(
        "export function render(root, frame, values, helpers) {\n"
        "  helpers.state.calls = (helpers.state.calls ?? 0) + 1;\n"
        "  root.textContent = JSON.stringify({frame, values, calls: helpers.state.calls});\n"
        "  return frame.readout ?? `call ${helpers.state.calls}`;\n}\n"
    )
    return view


def path(page):
    return page.locator("path[data-series='0']").first.get_attribute("d")


def test_every_frame_reaches_the_view(site, make, echo):
    explorer = make(view=echo)
    page = site.open(explorer.to_html())
    for i in range(3):
        page.get_by_role("slider", name="Steepness").fill(str(i))
        for j in range(2):
            page.get_by_role("combobox", name="Shift").select_option(str(j))
            shown = json.loads(page.locator(".rx-view").text_content())
            assert shown["values"] == {"a": (0.5, 1, 2)[i], "shift": (0, 10)[j]}
            assert shown["frame"] == explorer.frames[2 * i + j]


def test_arrow_keys_change_the_picture_the_value_and_the_readout(site, gain):
    page = site.open(gain.to_html())
    slider = page.get_by_role("slider", name="Recurrent gain")
    before = path(page)
    assert (slider.get_attribute("aria-valuetext"), page.locator(".rx-value").text_content()) == ("0.9", "0.9")
    for _ in ("previous", "next", "slider"):
        page.keyboard.press("Tab")
    assert slider.evaluate("node => node === document.activeElement")
    assert slider.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert path(page) != before
    assert (slider.get_attribute("aria-valuetext"), page.locator(".rx-value").text_content()) == ("1.1", "1.1")
    assert page.get_by_role("status").text_content() == gain.frame(gain=1.1)["readout"]
    page.keyboard.press("End")
    assert "Gain 3: " in page.get_by_role("status").text_content()


def test_the_buttons_step_and_at_the_end_keep_the_focus(site, gain):
    page = site.open(gain.to_html())
    slider = page.get_by_role("slider")
    previous, following = (page.get_by_role("button", name=f"Recurrent gain γ: {way}") for way in ("previous", "next"))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert following.evaluate("node => node === document.activeElement")
    assert following.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert (slider.get_attribute("aria-valuetext"), page.locator(".rx-value").text_content()) == ("1.1", "1.1")
    assert page.get_by_role("status").text_content() == gain.frame(gain=1.1)["readout"]
    last = int(slider.get_attribute("max"))
    for _ in range(last - int(slider.input_value())):
        assert following.is_enabled()
        page.keyboard.press("Enter")
    assert following.is_disabled()
    assert following.evaluate("node => node === document.activeElement")
    page.keyboard.press("Enter")
    assert slider.input_value() == str(last)
    previous.click()
    assert slider.input_value() == str(last - 1)
    assert following.is_enabled()
    slider.press("Home")
    assert previous.is_disabled()


def test_the_buttons_do_not_move_when_the_value_grows_by_a_digit(site, echo):
    controls = [Slider("n", "Units", min=8, max=11, step=1)]
    page = site.open(Explorer("steps", data=[1], controls=controls, view=echo, **WORDS).to_html(), width=320)
    buttons = [page.get_by_role("button", name=f"Units: {way}") for way in ("previous", "next")]
    before = [button.bounding_box() for button in buttons]
    for _ in range(3):
        buttons[1].click()
        assert [button.bounding_box() for button in buttons] == [pytest.approx(box, abs=0.1) for box in before]
    assert page.locator(".rx-value").text_content() == "11"
    assert min(box[side] for box in before for side in ("width", "height")) >= 24  # the least for a finger


def test_the_mouse_drags_the_slider(site, gain):
    page = site.open(gain.to_html())
    box = page.get_by_role("slider").bounding_box()
    before, y = path(page), box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.3 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.95 * box["width"], y, steps=4)
    page.mouse.up()
    assert path(page) != before
    assert "irregularly" in page.get_by_role("status").text_content()


def test_tab_order_is_the_order_of_the_controls(site, echo):
    controls = [
        Text("word", "Word", default="ab", alphabet="ab"),
        Button("step", "Step"),
        Number("rate", "Rate", default=0.5),
        Choice("kind", "Kind", ["x", "y"]),
        Slider("n", "Units", [1, 2]),
    ]
    explorer = Explorer("steps", data={"table": [1, 2]}, controls=controls, view=echo, **WORDS)
    page = site.open(explorer.to_html())
    seen = []
    for _ in range(len(controls) + 2):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.dataset.step"))
    fields = [f"rx-steps-{control.name}" for control in controls]
    assert seen == [*fields[:-1], "previous", "next", fields[-1]]


def test_a_view_that_computes_in_the_page(site, echo):
    controls = [
        Text("word", "Word", default="ab", alphabet="ab"),
        Button("step", "Step"),
        Number("rate", "Rate", default=0.5),
    ]
    explorer = Explorer("steps", data={"table": [1, 2]}, controls=controls, view=echo, **WORDS)
    page = site.open(explorer.to_html())

    def shown():
        return json.loads(page.locator(".rx-view").text_content())

    assert shown() == {"frame": {"table": [1, 2]}, "values": {"word": "ab", "step": 0, "rate": 0.5}, "calls": 1}
    page.get_by_label("Word").press_sequentially("xb")  # x is outside the alphabet
    assert shown()["values"]["word"] == page.get_by_label("Word").input_value() == "abb"
    page.get_by_role("button", name="Step").click()
    page.get_by_role("button", name="Step").press("Enter")
    page.get_by_label("Rate").fill("0.25")
    assert shown()["values"] == {"word": "abb", "step": 2, "rate": 0.25}
    assert page.get_by_role("status").text_content() == f"call {shown()['calls']}"


def test_two_explorers_do_not_touch_each_other(site, make):
    page = site.open(make("first").to_html() + make("second").to_html())
    page.locator("#rx-first-a").fill("2")
    assert page.locator("#rx-first .rx-readout").text_content() == "a = 2.0, 0"
    assert page.locator("#rx-second .rx-readout").text_content() == "a = 1.0, 0"
    first, second = (page.locator(f"#rx-{name} svg[role=img] text").all_text_contents() for name in ("first", "second"))
    assert "30" in first  # the axis reaches 2 t² at t = 4
    assert "30" not in second


def test_it_works_where_scripts_are_inserted_later(site, make):
    page = site.open(as_jupyterlab(make().to_html()))
    page.get_by_role("slider").fill("2")
    assert page.get_by_role("status").text_content() == "a = 2.0, 0"


def test_it_works_when_it_is_attached_only_after_its_script_ran(site, make):
    html = make().to_html()
    late = as_jupyterlab(html).replace(
        "</script>", 'host.remove(); setTimeout(() => document.querySelector("main").append(host), 300);</script>'
    )
    page = site.open(late)
    page.locator("svg[role=img]").wait_for()
    page.get_by_role("slider").fill("0")
    assert page.get_by_role("status").text_content() == "a = 0.5, 0"


def test_it_works_in_a_frame_that_may_only_run_scripts(site, make):
    frame = '<iframe sandbox="allow-scripts" title="Output" width="700" height="600" srcdoc="{}"></iframe>'
    page = site.open(frame.format(make().to_html().replace("&", "&amp;").replace('"', "&quot;")))
    inner = page.frame_locator("iframe")
    inner.get_by_role("slider").fill("2")
    assert inner.get_by_role("status").text_content() == "a = 2.0, 0"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_and_nothing_overflows(site, gain, make, theme, width):
    page = site.open(gain.to_html() + make().to_html(), width=width, scheme=theme)
    background = "rgb(20, 24, 30)" if theme == "dark" else "rgb(255, 255, 255)"
    assert page.locator(".rx").first.evaluate("node => getComputedStyle(node).backgroundColor") == background
    found = Axe().run(page).response["violations"]
    assert [(rule["id"], rule["impact"]) for rule in found if rule["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for text in page.locator("svg[role=img] > g > text").all():  # no label leaves the picture
        box, frame = text.bounding_box(), page.locator(".rx").first.bounding_box()
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_value_stands_beside_its_label_and_the_slider_below(site, gain, width):
    page = site.open(gain.to_html(), width=width)
    label, value, slider = (
        page.locator(f".rx {part}").first.bounding_box() for part in ("label", ".rx-value", "input[type=range]")
    )
    assert abs(label["y"] + label["height"] / 2 - value["y"] - value["height"] / 2) < 2
    assert label["x"] + label["width"] < value["x"]
    assert slider["y"] >= label["y"] + label["height"] - 1
    assert slider["x"] <= label["x"] + 2
    assert slider["width"] > 0.9 * (value["x"] + value["width"] - label["x"])


@pytest.mark.parametrize("mark", ["data-theme", "theme"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_theme_wins_over_the_system(site, make, mark, theme):
    other = "dark" if theme == "light" else "light"
    page = site.open(make().to_html(), scheme=other, mark=f'{mark}="{theme}"')
    background = "rgb(20, 24, 30)" if theme == "dark" else "rgb(255, 255, 255)"
    assert page.locator(".rx").evaluate("node => getComputedStyle(node).backgroundColor") == background


def test_it_prints_in_light_with_the_picture_whole(site, gain):
    page = site.open(gain.to_html(), scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".rx").evaluate("node => getComputedStyle(node).backgroundColor") == "rgb(255, 255, 255)"
    page.set_viewport_size({"width": 500, "height": 900})
    assert page.evaluate("document.querySelector('.rx svg[role=img]').getBoundingClientRect().width") <= 500


def test_the_picture_follows_a_new_width(site, gain):
    page = site.open(gain.to_html())
    wide = page.locator("svg[role=img]").get_attribute("viewBox")
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function(
        "old => document.querySelector('svg[role=img]').getAttribute('viewBox') !== old", arg=wide, timeout=3000
    )
    assert page.locator("svg[role=img]").get_attribute("viewBox").endswith(" 620")  # the panels below one another


def test_a_view_that_fails_says_so(site, make, tmp_path):
    view = tmp_path / "broken.js"
    view.write_text("export function render() { throw new Error('no such unit'); }\n")
    page = site.open(make(view=view).to_html())
    assert page.get_by_role("status").text_content() == "This picture failed: no such unit"
    assert any("no such unit" in complaint for complaint in site.complaints)
    site.complaints.clear()
