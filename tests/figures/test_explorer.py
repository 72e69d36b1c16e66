"""The explorer without a browser: what it stores, what it refuses."""

import json
import re

import numpy as np
import pytest
import torch
from attrs import evolve
from attrs.exceptions import FrozenInstanceError
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.figures import Number, Slider, Text
from fhx.figures.explorer import _json, _plain, _share


def revive(node, pool):
    if isinstance(node, dict):
        return revive(pool[node["$"]], pool) if "$" in node else {k: revive(v, pool) for k, v in node.items()}
    return [revive(child, pool) for child in node] if isinstance(node, list) else node


def stored(html):
    spec = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html).group(1))
    return spec, [revive(frame, spec["pool"]) for frame in spec["frames"]]


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=20),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text("xyz", max_size=3), children, max_size=3),
    max_leaves=40,
)


@given(st.lists(TREES, max_size=6))
@settings(deadline=None, max_examples=150)
def test_sharing_loses_nothing(frames):
    pool, packed = _share(frames)
    assert revive(packed, pool) == frames


def test_sharing_stores_a_repeated_part_once():
    x = list(range(1000, 1040))
    pool, packed = _share([{"x": x, "y": [i]} for i in range(20)])
    assert _json([pool, packed]).count("1039") == 1


@given(st.floats(-1e300, 1e300) | st.sampled_from([np.inf, -np.inf, np.nan]), st.integers(2, 8))
@settings(deadline=None, max_examples=200)
def test_numbers_keep_their_digits(value, digits):
    plain = _plain(value, digits, "frame")
    if not np.isfinite(value):
        assert plain is None
    else:
        assert abs(plain - value) <= 0.51 * 10.0 ** (1 - digits) * abs(value) + 1e-320
        json.loads(_json(plain))


def test_arrays_and_tensors_become_lists():
    frame = {"a": np.arange(3) / 7, "b": torch.ones(2), "c": (1, 2), "d": np.float64(0.5), "e": range(2)}
    assert _plain(frame, 3, "frame") == {"a": [0, 0.143, 0.286], "b": [1, 1], "c": [1, 2], "d": 0.5, "e": [0, 1]}


def test_the_page_holds_compute_at_every_grid_point(make):
    explorer = make()
    spec, frames = stored(explorer.to_html())
    assert [control["name"] for control in spec["controls"]] == ["a", "shift"]
    assert frames == [_plain(explorer.compute(a, shift), 4, "") for a in (0.5, 1.0, 2.0) for shift in (0, 10)]


def test_the_page_is_the_same_at_every_run(make):
    assert make().to_html() == make().to_html()
    explorer = make()
    assert explorer.to_html() == explorer.to_html()


def test_ids_of_two_explorers_differ_and_are_not_repeated(make):
    ids = re.findall(r'\bid="([^"]*)"', make("first").to_html() + make("second").to_html())
    assert len(ids) == len(set(ids)) == 6


def test_the_page_speaks_before_any_script_runs(make):
    html = make().to_html()
    static = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert "a = 1.0, 0</p>" in static  # the readout of the default frame
    assert "drawn by JavaScript" in static


def test_an_explorer_with_one_part_changed_is_the_same_otherwise(make):
    explorer = make(view=("turing_net", "turing"))
    changed = evolve(explorer, title="Another")
    assert (changed.title, changed.view, changed.controls) == ("Another", explorer.view, explorer.controls)
    assert changed.source == explorer.source


def test_an_explorer_is_a_value_that_holds_its_controls_and_the_source_of_its_views(make):
    explorer = make(controls=iter(make().controls), view=("turing_net", "turing"))
    assert explorer.controls == make().controls
    assert explorer.view == ("turing_net", "turing")
    assert explorer.source == "\n".join(make(view=view).source for view in explorer.view)
    with pytest.raises(FrozenInstanceError):
        explorer.title = "Another"


def test_no_text_can_close_the_script(make):
    html = make(alt="</script><script>alert(1)</script><!--").to_html()
    assert html.count("</script>") == 2
    assert "<!--" not in html


def test_bundle_has_html_and_a_line_of_text(make):
    bundle = make()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == "Explorer('parabola': Parabola; controls: Steepness, Shift)"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Two Words"}, "'Two Words' must be lower-case"),
        ({"name": "a--b"}, "must be lower-case"),
        ({"alt": " "}, "alt text"),
        ({"title": ""}, "title"),
        ({"data": [1]}, "either compute or data"),
        ({"compute": None}, "either compute or data"),
        ({"controls": []}, "sliders or choices"),
        ({"controls": [Slider("a", "A", [1]), Slider("a", "B", [2])]}, "two controls of one name"),
        ({"controls": [Slider("a", "A", [1]), Number("shift", "Shift")]}, r"see \['shift'\]"),
        ({"controls": [Text("a", "A")]}, r"see \['a'\]"),
        ({"controls": [Slider("slope", "Slope", [1])]}, r"does not take its controls \['slope'\]"),
        ({"view": "cubes"}, "'cubes' is unknown; there are .*'lines'"),
    ],
)
def test_bad_explorers_name_the_culprit(make, change, words):
    with pytest.raises(ValueError, match=words):
        make(**change)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({"series": [{"x": {1, 2}}]}, r"frame\['series'\]\[0\]\['x'\] is a set"),
        ({"$": 1}, r"other than '\$'"),
        ({1: 1}, "must be strings"),
    ],
)
def test_frames_that_json_cannot_hold_are_refused(make, frame, words):
    with pytest.raises(ValueError, match=words):
        make(compute=lambda a, shift: frame).to_html()


def test_a_page_over_its_budget_says_how_much(make):
    with pytest.raises(ValueError, match=r"takes \d+ bytes for 6 frames, over its budget of 2000"):
        make(budget=2000).to_html()


def test_an_explorer_that_computes_in_the_page_is_not_live(make):
    with pytest.raises(ValueError, match="no Python function"):
        make(compute=None, data=[1], controls=[]).live()


def test_live_controls_must_be_parameters_of_compute(make):
    with pytest.raises(ValueError, match="does not take its controls"):
        make().live(Slider("color", "Colour", [1]))
