"""Explorers: one picture with controls, in a stored page without a kernel and live in a notebook."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from attrs import field, frozen

from fhx._templates import environment
from fhx.figures.controls import Control

__all__ = ["Explorer"]

_HERE = files(__package__)
_VIEWS = _HERE / "views"
_TEMPLATE = environment("fhx.figures").get_template("explorer.html")


def _in_order(controls: Iterable[Control]) -> tuple[Control, ...]:
    return tuple(controls)


def _views(view: str | Path | Iterable[str | Path]) -> tuple[str | Path, ...]:
    return (view,) if isinstance(view, str | Path) else tuple(view)


def _source(view: str | Path) -> str:
    if isinstance(view, Path):
        return view.read_text()
    known = sorted(entry.name[:-3] for entry in _VIEWS.iterdir() if entry.name.endswith(".js"))
    if view not in known:
        raise ValueError(f"view {view!r} is unknown; there are {known}, or give the path of a JavaScript file")
    return (_VIEWS / f"{view}.js").read_text()


@frozen(eq=False, repr=False)
class Explorer:
    r"""A picture under controls, the same in a stored page and in a live kernel.

    Displayed in a notebook, an explorer is one self-contained HTML output: native inputs, the data as JSON, and a
    script that redraws when an input changes. It needs no kernel and asks no other host for anything. :meth:`live`
    gives the same picture under ipywidgets, which call ``compute`` for any value.

    There are two kinds. With ``compute``, the page holds one frame for every point of the grid that the controls span,
    :math:`\prod_i n_i` frames for controls of :math:`n_i` values. With ``data``, the view itself computes in the page:
    it is handed the data and the values at every change, and the controls need no grid.

    Args:
        name: lower-case letters, digits and hyphens; the ids in the page derive from it, so it is unique on its page.
        compute: ``compute(**values)`` returns the frame for one setting: mappings, sequences, numbers, strings, None,
            arrays and tensors. The entry ``"readout"`` is a sentence that tells the state in words and numbers.
        controls: in the order shown; the last one varies fastest in the stored frames.
        view: the name of a file in ``figures/views``, or the path of a JavaScript file that exports
            ``render(root, frame, values, helpers)``; or several of these, read as one. It draws into ``root`` and may
            return the readout; kept as a tuple. ``helpers`` has ``svg(tag, attributes, ...children)``,
            ``ticks(low, high, count)``, ``width`` (of ``root`` in px), ``alt``, ``state``, an object that lasts between
            calls, and ``set(name, value, last)``, which puts a value into a control and limits a slider to the values
            up to ``last``.
        data: given instead of ``compute``.
        title: the name of the explorer for those who hear the page.
        alt: what the picture shows.
        digits: how many significant digits of each number are kept.
        budget: the most bytes that the output may take.

    Raises:
        ValueError: a bad name, both or none of ``compute`` and ``data``, two controls of one name, a control that
            ``compute`` does not take or that has no grid, an unknown view, no alt text, a value that JSON cannot hold,
            or an output over the budget.
    """

    name: str
    compute: Callable[..., Mapping[str, Any]] | None = None
    controls: tuple[Control, ...] = field(default=(), converter=_in_order)
    title: str = field(kw_only=True)
    alt: str = field(kw_only=True)
    view: tuple[str | Path, ...] = field(default="lines", converter=_views, kw_only=True)
    data: Any = field(default=None, kw_only=True)
    digits: int = field(default=4, kw_only=True)
    budget: int = field(default=300_000, kw_only=True)

    def __attrs_post_init__(self) -> None:
        name = self.name
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
            raise ValueError(f"name {name!r} must be lower-case letters, digits and single hyphens: ids derive from it")
        if not (self.title.strip() and self.alt.strip()):
            raise ValueError(f"explorer {name!r} needs a title and an alt text that says what the picture shows")
        if (self.compute is None) == (self.data is None):
            raise ValueError(f"explorer {name!r} takes either compute or data")
        _check_controls(name, self.compute, self.controls)
        for view in self.view:
            _source(view)

    @cached_property
    def source(self) -> str:
        """The JavaScript of the views, which the page holds."""
        return "\n".join(map(_source, self.view))

    @cached_property
    def frames(self) -> list[Any]:
        """The frame of every grid point, in the order of ``itertools.product`` over the controls."""
        if self.compute is None:
            return []
        grid = itertools.product(*(control.grid or () for control in self.controls))
        return [self.frame(**dict(zip(self._names, point, strict=True))) for point in grid]

    def frame(self, **values: Any) -> Any:
        """The frame at ``values``, on the grid or off it, as plain rounded JSON data."""
        if self.compute is None:
            return _plain(self.data, self.digits, "data")
        return _plain(self.compute(**values), self.digits, "frame")

    def live(self, *controls: Control) -> Any:
        """The explorer under ipywidgets: any value between the ends, each change calls ``compute``.

        Args:
            *controls: a control here takes the place of the page's control of that name, for another range, or adds a
                parameter of ``compute`` that the page does not vary.

        Returns:
            an ``ipywidgets.VBox``: one child per control, in order, then the ``Output`` with the picture.
        """
        import ipywidgets

        if self.compute is None:
            raise ValueError(f"explorer {self.name!r} computes in the page and has no Python function to call live")
        shown = {control.name: control for control in (*self.controls, *controls)}
        _check_controls(self.name, self.compute, tuple(shown.values()))
        widgets = {name: control.widget() for name, control in shown.items()}
        output = ipywidgets.Output()

        def redraw(_: Any = None) -> None:
            values = {name: widget.value for name, widget in widgets.items()}
            try:
                page = self._page(f"{self.name}-live", (), [self.frame(**values)], 0)
                output.outputs = ({"output_type": "display_data", "data": {"text/html": page}, "metadata": {}},)
            except Exception as error:  # the reader sees it in the picture's place instead of the server's log
                said = {"ename": type(error).__name__, "evalue": str(error), "traceback": [str(error)]}
                output.outputs = ({"output_type": "error", **said},)

        for widget in widgets.values():
            widget.observe(redraw, names="value")
        redraw()
        return ipywidgets.VBox([*widgets.values(), output])

    def to_html(self) -> str:
        """The page form, the same bytes at every call."""
        at = 0
        for control in self.controls:
            if self.compute is not None:
                at = at * len(control.grid or ()) + (control.grid or ()).index(control.initial)
        page = self._page(self.name, self.controls, self.frames, at)
        size = len(page.encode())
        if size > self.budget:
            raise ValueError(
                f"explorer {self.name!r} takes {size} bytes for {len(self.frames)} frames, over its budget of "
                f"{self.budget}: use fewer grid points, shorter series or fewer digits"
            )
        return page

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Explorer({self.name!r}: {self.title}; controls: {', '.join(c.label for c in self.controls) or 'none'})"

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(control.name for control in self.controls)

    def _page(self, name: str, controls: Sequence[Control], frames: list[Any], at: int) -> str:
        id_, said = f"rx-{name}", frames[at].get("readout", "") if frames else ""
        spec: dict[str, Any] = {"id": id_, "alt": self.alt, "controls": [control.spec() for control in controls]}
        key, content = ("frames", frames) if frames else ("data", self.frame())
        spec["pool"], spec[key] = _share(content)
        return _TEMPLATE.render(
            id=id_,
            name=name,
            title=self.title,
            controls=controls,
            readout=said,
            style=(_HERE / "explorer.css").read_text(),
            data=_json(spec).replace("<", "\\u003c"),  # no text can close the script
            script=self.source + (_HERE / "explorer.js").read_text().replace("__NAME__", name),
        )


def _check_controls(name: str, compute: Callable[..., Any] | None, controls: Sequence[Control]) -> None:
    names = [control.name for control in controls]
    if len(set(names)) < len(names):
        raise ValueError(f"explorer {name!r} has two controls of one name: {names}")
    if compute is None:
        return
    without = [control.name for control in controls if control.grid is None]
    if without or not controls:
        raise ValueError(f"explorer {name!r} stores a grid of frames, so it needs sliders or choices; see {without}")
    try:
        inspect.signature(compute).bind(**{control.name: control.initial for control in controls})
    except TypeError as error:
        raise ValueError(f"compute of explorer {name!r} does not take its controls {names}: {error}") from None


def _plain(value: Any, digits: int, where: str) -> Any:
    """``value`` as JSON data, numbers rounded to ``digits`` significant digits, numbers that are not finite as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        rounded = float(f"{value:.{digits}g}") if math.isfinite(value) else None
        return int(rounded) if rounded is not None and rounded.is_integer() and abs(rounded) < 1e15 else rounded
    if isinstance(value, Mapping):
        if bad := [key for key in value if not isinstance(key, str) or key == "$"]:
            raise ValueError(f"keys of {where} must be strings other than '$', got {bad[0]!r}")
        return {key: _plain(child, digits, f"{where}[{key!r}]") for key, child in value.items()}
    if isinstance(value, Sequence):
        return [_plain(child, digits, f"{where}[{i}]") for i, child in enumerate(value)]
    raise ValueError(f"{where} is a {type(value).__name__}, which JSON cannot hold")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _share(content: Any) -> tuple[list[Any], Any]:
    """``(pool, content)`` where a part that occurs again stands in ``pool`` once, as ``{"$": index}`` elsewhere."""
    counts: Counter[str] = Counter()

    def count(node: Any) -> None:
        if isinstance(node, list | dict | str):
            key = _json(node)
            counts[key] += 1
            if counts[key] == 1 and not isinstance(node, str):
                for child in node.values() if isinstance(node, dict) else node:
                    count(child)

    def pack(node: Any) -> Any:
        if not isinstance(node, list | dict | str):
            return node
        key = _json(node)
        if key in index:
            return {"$": index[key]}
        repeated = counts[key] > 1 and len(key) > 12
        packed = {k: pack(v) for k, v in node.items()} if isinstance(node, dict) else node
        packed = [pack(child) for child in node] if isinstance(node, list) else packed
        if not repeated:
            return packed
        index[key] = len(pool)
        pool.append(packed)
        return {"$": index[key]}

    pool: list[Any] = []
    index: dict[str, int] = {}
    count(content)
    return pool, pack(content)
