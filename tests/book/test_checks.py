"""Every check can fail: pages broken on purpose, and a sound one beside them."""

import pytest
import sitecheck
from pagecheck import VIEWS, check

from bookbrowser import serve
from mathematics import KATEX, typeset

PAGE = """<!doctype html><html lang="en"><head><title>A page</title><meta charset="utf-8">
<link rel="icon" href="data:,"><style>.dark-grey {{ background: Canvas; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #111; color: #eee; }} .night {{ color: #222; }} }}</style>
<link rel="stylesheet" href="katex/katex.min.css"></head>
<body><main><h1>A page</h1><p>Plain words, a price of $5, and one \\ alone.</p>{body}</main></body></html>"""
EXPLORER = """<div data-rx="gain"><label for="a">gain</label><input id="a" type="range" min="0" max="4" value="1">
<div class="rx-view">1</div><p class="rx-readout">one</p></div><script>const a = document.getElementById('a');
const draw = () => document.querySelector('.rx-view').textContent = {drawn};
{listen}</script>"""
SOUND = {
    "plain": "",
    "mathematics": f'<p>So <span class="math">{typeset("h_t = W h_{t-1}")}</span>.</p>',
    "code": "<pre tabindex='0' style='overflow-x: auto'>$$ \\begin{aligned} {ref}`x` ?? " + "long " * 200 + "</pre>",
    "a box that scrolls": '<div tabindex="0" style="overflow-x: auto"><div style="width: 2000px">wide</div></div>',
    "explorer": EXPLORER.format(drawn="a.value", listen="a.addEventListener('input', draw)"),
}
BROKEN = {
    "picture from outside": ("outside request", '<img alt="x" src="https://example.org/x.png">'),
    "fetch from outside": ("outside request", "<script>fetch('https://example.org/x.json').catch(() => 0)</script>"),
    "socket to outside": ("outside request", "<script>new WebSocket('wss://example.org/x')</script>"),
    "console error": ("console error", "<script>console.error('this went wrong')</script>"),
    "uncaught error": ("console error", "<script>throw new Error('nobody catches me')</script>"),
    "missing picture": ("failed request", '<img alt="x" src="missing.png">'),
    "hidden in a dropdown": ("raw markup", "<details><summary>more</summary><p>$$ h_t $$</p></details>"),
    "not typeset": ("mathematics", '<p><span class="math">h_t</span></p>'),
    "not to be set": ("mathematics", '<p><span class="katex-error">\\frac{h_t}</span></p>'),
    "wide block": ("overflow", '<div style="width: 2000px">wide</div>'),
    "wide table": ("overflow", "<table><tr>" + "<td>0.123456789</td>" * 40 + "</tr></table>"),
    "wide, scrolling forbidden": (
        "overflow",
        '<div style="overflow: hidden"><div style="width: 2000px">wide</div></div>',
    ),
    "formula cut off": (
        "overflow",
        f'<div class="math" style="width: 60px; overflow: hidden">{typeset("a + b + c + d + e + f + g", True)}</div>',
    ),
    "picture without words": ("accessibility", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">'),
    "pale text": ("accessibility", '<p style="color: #ccc; background: #fff">pale</p>'),
    "pale words in code": (
        "accessibility",
        "<pre style='background: #fff'><span style='color:#ccc'>b</span><span style='color:#ccc'>pale</span></pre>",
    ),
    "control without label": ("accessibility", '<input type="range">'),
    "deaf explorer": ("explorer", EXPLORER.format(drawn="a.value", listen="")),
    "explorer deaf to keys": (
        "explorer",
        EXPLORER.format(drawn="a.value", listen="a.onkeydown = e => e.preventDefault(); a.oninput = draw"),
    ),
    "explorer deaf to the mouse": (
        "explorer",
        EXPLORER.format(drawn="a.value", listen="a.onmousedown = e => e.preventDefault(); a.onkeyup = draw"),
    ),
    "explorer of nothing": ("explorer", EXPLORER.format(drawn="a.value + undefined", listen="a.oninput = draw")),
    "explorer asleep": ("explorer", EXPLORER.format(drawn="1", listen="a.disabled = true")),
}
REMEMBERS = """<script>
if (localStorage.seen || sessionStorage.seen || document.cookie) throw new Error('somebody was here before');
localStorage.seen = sessionStorage.seen = 1;
document.cookie = 'seen=1';
</script>"""
NARROW, WIDE, DARK, LIGHT = ({view for view in VIEWS if mark in view} for mark in (390, 1280, "dark", "light"))
ALIKE = "<p>A plain sentence, longer than the pale one that comes after it and in nothing else like it.</p>" * 9
BROKEN_IN_VIEWS = {
    "figure that shrinks its words": (
        "small words",
        NARROW & DARK,
        '<svg class="drawn" role="img" aria-label="x" viewBox="0 0 600 100" style="width: 100%; max-width: 600px">'
        '<text y="50" style="font-size: 12px">small</text></svg>',
    ),
    "wide block on a telephone": ("overflow", NARROW & DARK, '<div style="width: 800px">wide</div>'),
    "wide block on a laptop": ("overflow", WIDE & LIGHT, '<div style="margin-left: calc(200vw - 780px)">wide</div>'),
    "box to scroll, out of reach of the keys": (
        "accessibility",
        NARROW & DARK,
        f'<div style="overflow: auto; height: 12em">{"Words that fill lines. " * 40}<p>And more of them.</p></div>',
    ),
    "pale at night": ("accessibility", DARK, f'{ALIKE}<p class="night">pale</p>'),
    "pale by day": ("accessibility", LIGHT, f'{ALIKE}<p style="color: #ccc">pale</p>'),
    "pale on its ground": ("accessibility", DARK, f'{ALIKE}<div style="background: #fff"><p>pale</p></div>'),
    "pale on a telephone by day": (
        "accessibility",
        NARROW & LIGHT,
        "<style>@media (width < 600px) and (prefers-color-scheme: light) {b {color: #ccc}}</style><p><b>pale</b></p>",
    ),
    "stays light": ("theme", DARK, "<script>document.documentElement.dataset.theme = 'light'</script>"),
    "stays dark": ("theme", LIGHT, "<script>document.documentElement.dataset.theme = 'dark'</script>"),
}
RAW = {
    "environment": "\\begin{aligned} h_t \\end{aligned}",
    "display dollars": "$$ h_t $$",
    "inline dollars": "the state $h_t$ is",
    "delimiters": "the state \\(h_t\\) is",
    "command": "a norm \\lVert W",
    "fence": ":::{note}",
    "back-tick fence": "```{margin} aside",
    "role": "see {numref}",
    "citation": "see {cite:t}",
    "proof reference": "see {prf:ref}",
    "directive": "{prf:theorem} of its own",
    "label": "(ch-first)=",
    "option": ":class: dropdown",
    "unresolved number": "as in Fig. ?? above",
    "link": "read [this](../book/index.md)",
    "emphasis": "this is **bold",
    "braces": "a name like Ti{ñ}o",
    "object": "it says [object Object]",
}
FILES = {
    "drawing.svg": '<svg xmlns="http://www.w3.org/2000/svg"><a href="good.html"><text>good</text></a></svg>',
    "astray.svg": '<svg xmlns="http://www.w3.org/2000/svg"><a href="gone.html"><text>gone</text></a></svg>',
    "good.html": "<h1 id='here'>Good</h1>",
}
LINKS = {
    '<a href="good.html">': None,
    '<a href="good.html#here">': None,
    '<a href="#me" id="me">': None,
    '<a href="recurrence.pdf">': None,
    '<a href="https://example.org/">': None,
    '<svg><a href="good.html#here">x</a></svg>': None,
    '<object data="drawing.svg">': None,
    '<a href="gone.html">': "no such file",
    '<a href="good.html#gone">': "no anchor #gone",
    '<a href="#gone">': "no anchor #gone",
    '<a href="../elsewhere.html">': "outside the book",
    '<a href="/good.html">': "absolute path",
    '<svg><a xlink:href="gone.html">x</a></svg>': "no such file",
    '<svg><a href="good.html#gone">x</a></svg>': "no anchor #gone",
    '<object data="astray.svg">': "dead link gone.html in astray.svg",
    '<img src="drawing.svg">': "shown as an image",
    '<img src="gone.png">': "dead resource gone.png",
    '<script src="https://example.org/x.js">': "outside resource",
    '<link rel="preconnect" href="https://example.org">': "outside resource",
    '<meta http-equiv="refresh" content="0; url=gone.html">': "no such file",
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """An address that serves a page for every name in SOUND, BROKEN and BROKEN_IN_VIEWS."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "katex").symlink_to(KATEX / "static" / "katex")
    broken = {name: body for name, (*_, body) in (BROKEN | BROKEN_IN_VIEWS).items()}
    for name, body in (SOUND | broken).items():
        (folder / f"{name}.html").write_text(PAGE.format(body=body))
    with serve(folder) as address:
        yield address


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_page_has_no_problem(name, broken, browse):
    assert browse(check, f"{broken}/{name}.html") == {}


def test_a_page_is_opened_as_by_a_first_visitor(tmp_path, browse):
    (tmp_path / "katex").symlink_to(KATEX / "static" / "katex")
    (tmp_path / "page.html").write_text(PAGE.format(body=REMEMBERS))
    with serve(tmp_path) as address:
        for _ in range(2):
            assert browse(check, f"{address}/page.html") == {}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_page_is_found_out(name, broken, browse):
    kind, _ = BROKEN[name]
    assert kind in {problem.kind for problem in browse(check, f"{broken}/{name}.html")}


@pytest.mark.parametrize("name", BROKEN_IN_VIEWS)
def test_what_only_some_views_show_is_found_out_there(name, broken, browse):
    kind, views, _ = BROKEN_IN_VIEWS[name]
    found = browse(check, f"{broken}/{name}.html")
    assert {problem.kind for problem in found} == {kind}
    assert {view for seen in found.values() for view in seen} == views


def test_raw_markup_of_every_sort_is_found_out(tmp_path, browse):
    (tmp_path / "page.html").write_text(PAGE.format(body="".join(f"<p>{text}</p>" for text in RAW.values())))
    with serve(tmp_path) as address:
        found = [problem.detail for problem in browse(check, f"{address}/page.html")]
    assert [name for name, text in RAW.items() if not any(f"“{text}”" in detail for detail in found)] == []


@pytest.mark.parametrize("markup", LINKS)
def test_links_are_followed(markup, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "page.html").write_text(f"<h1>A page</h1>{markup}")
    found, expected = list(sitecheck.check(tmp_path, "page.html")), LINKS[markup]
    if expected is None:
        assert found == []
    else:
        assert len(found) == 1
        assert expected in found[0]
