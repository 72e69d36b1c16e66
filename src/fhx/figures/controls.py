"""The controls of an explorer: each knows its values, its HTML and its ipywidget."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

from attrs import field, frozen

__all__ = ["Button", "Choice", "Control", "Number", "Slider", "Text"]


def _tag(tag: str, attributes: Mapping[str, object], content: str | None = None) -> str:
    """``<tag ...>`` with escaped attributes; closed around ``content`` unless that is None."""
    listed = "".join(f' {key}="{html.escape(str(value))}"' for key, value in attributes.items() if value is not None)
    return f"<{tag}{listed}>" if content is None else f"<{tag}{listed}>{content}</{tag}>"


@frozen
class Control:
    """One named value that the reader sets.

    Attributes:
        name: the keyword under which ``compute`` and the view receive the value.
        label: what the reader sees beside the control.

    Raises:
        ValueError: a name that is not an identifier, or an empty label.
    """

    name: str
    label: str

    def __attrs_post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"control name {self.name!r} is not an identifier, so compute cannot take it by keyword")
        if not self.label.strip():
            raise ValueError(f"control {self.name!r} needs a label: a reader who hears the page has nothing else")

    @property
    def grid(self) -> tuple[Any, ...] | None:
        """The values stored in a page, or None where they cannot be enumerated."""
        return None

    @property
    def initial(self) -> Any:
        """The value before the reader touches anything."""
        raise NotImplementedError

    def spec(self) -> dict[str, Any]:
        """What the page's script needs to know."""
        return {"name": self.name, "kind": type(self).__name__.lower()}

    def html(self, id_: str) -> str:
        """A label and a native input with this id."""
        raise NotImplementedError

    def widget(self) -> Any:
        """The ipywidgets counterpart for a live kernel."""
        raise NotImplementedError

    def _input(self, id_: str, **attributes: object) -> str:
        label = _tag("label", {"for": id_}, html.escape(self.label))
        return label + _tag("input", {"id": id_, "autocomplete": "off", **attributes})


def _check_default(control: Slider | Choice) -> None:
    if control.initial not in control.grid:
        values = list(control.grid)
        raise ValueError(f"default {control.initial!r} of {control.name!r} is not one of its values {values}")


def _numbers(values: Iterable[float] | None) -> tuple[float, ...] | None:
    return None if values is None else tuple(values)


def _options(options: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(options)


@frozen
class Slider(Control):
    """A range of numbers: either ``values``, or ``min`` to ``max`` in steps of ``step``, both ends included.

    It begins at ``default``, else at the first of them; ``unit`` stands behind each.

    Raises:
        ValueError: no or unsorted values, a step that does not lead from ``min`` to ``max``, a default off the grid.
    """

    values: tuple[float, ...] | None = field(default=None, converter=_numbers)
    min: float | None = None
    max: float | None = None
    step: float | None = None
    default: float | None = None
    unit: str = ""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        ends = (self.min, self.max, self.step)
        if (self.values is None) == (None in ends) or (self.values is not None and any(e is not None for e in ends)):
            raise ValueError(f"slider {self.name!r} takes either values or all of min, max and step")
        values = self.grid
        if not values or any(a >= b for a, b in pairwise(values)):
            raise ValueError(f"values of slider {self.name!r} must be at least one and increase, got {list(values)}")
        if not all(math.isfinite(value) for value in values):
            raise ValueError(f"values of slider {self.name!r} must be finite, got {list(values)}")
        _check_default(self)

    def _steps(self) -> tuple[float, ...]:
        low, high, step = (Decimal(str(end)) for end in (self.min, self.max, self.step))  # 0.1 + 0.2 is 0.3 here
        if not (low.is_finite() and high.is_finite() and step.is_finite() and step > 0 and high > low):
            raise ValueError(f"slider {self.name!r} needs finite min < max and step > 0, got {low}, {high}, {step}")
        if (high - low) % step:
            raise ValueError(f"slider {self.name!r}: steps of {step} from {low} do not reach {high}")
        whole = all(isinstance(end, int) for end in (self.min, self.max, self.step))
        return tuple((int if whole else float)(low + i * step) for i in range(int((high - low) / step) + 1))

    @property
    def grid(self) -> tuple[float, ...]:
        return self._steps() if self.values is None else self.values

    @property
    def initial(self) -> float:
        return self.grid[0] if self.default is None else self.default

    @property
    def texts(self) -> list[str]:
        """The values as the reader sees them, all with the same number of decimals, unit included."""
        places = 0
        for value in self.grid:
            places = max(places, -int(Decimal(f"{value:.6g}").as_tuple().exponent))
        return [f"{value:.{places}f}" + (f" {self.unit}" if self.unit else "") for value in self.grid]

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "values": list(self.grid), "texts": self.texts}

    def html(self, id_: str) -> str:
        at, last = self.grid.index(self.initial), len(self.grid) - 1
        room = f"min-width: {max(map(len, self.texts))}ch"  # or the buttons would move with the value
        value = _tag("span", {"class": "rx-value", "aria-hidden": "true", "style": room}, html.escape(self.texts[at]))
        steps = self._step("previous", at == 0) + value + self._step("next", at == last)
        label = _tag("label", {"for": id_}, html.escape(self.label))
        spoken = {"aria-valuetext": self.texts[at], "autocomplete": "off"}
        field = {"id": id_, "type": "range", "min": 0, "max": last, "step": 1, "value": at, **spoken}
        return label + _tag("span", {"class": "rx-steps"}, steps) + _tag("input", field)

    def _step(self, way: str, at_end: bool) -> str:
        """A button to the neighbouring value. At the end it only says that it is disabled, so as to keep the focus."""
        named = {"aria-label": f"{self.label}: {way}", "title": way.capitalize(), "data-step": way}
        return _tag("button", {"type": "button", **named, "aria-disabled": str(at_end).lower()}, "")

    def widget(self) -> Any:
        import ipywidgets

        whole = all(isinstance(value, int) for value in self.grid)
        ends = {"min": self.grid[0], "max": self.grid[-1], "value": self.initial}
        if whole:
            return ipywidgets.IntSlider(**ends, description=self.label, style={"description_width": "initial"})
        step = (ends["max"] - ends["min"]) / 1000 or 1e-3
        return ipywidgets.FloatSlider(
            **ends, step=step, readout_format=".4g", description=self.label, style={"description_width": "initial"}
        )


@frozen
class Choice(Control):
    """One of a few named options, a drop-down list. ``options`` are the values, shown by ``str``, the first at first.

    Raises:
        ValueError: no option, two that are shown alike, or a ``default`` that is none of them.
    """

    options: tuple[Any, ...] = field(default=(), converter=_options)
    default: Any = None

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.options or len(set(map(str, self.options))) < len(self.options):
            raise ValueError(f"options of choice {self.name!r} must be at least one and differ, got {self.options!r}")
        _check_default(self)

    @property
    def grid(self) -> tuple[Any, ...]:
        return self.options

    @property
    def initial(self) -> Any:
        return self.options[0] if self.default is None else self.default

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "values": list(self.grid)}

    def html(self, id_: str) -> str:
        options = "".join(
            _tag("option", {"value": i, "selected": "" if option == self.initial else None}, html.escape(str(option)))
            for i, option in enumerate(self.options)
        )
        label = _tag("label", {"for": id_}, html.escape(self.label))
        return label + _tag("select", {"id": id_, "autocomplete": "off"}, options)

    def widget(self) -> Any:
        import ipywidgets

        options = [(str(option), option) for option in self.options]
        return ipywidgets.Dropdown(
            options=options, value=self.initial, description=self.label, style={"description_width": "initial"}
        )


@frozen
class Number(Control):
    """A number typed by the reader, between ``min`` and ``max``; only for explorers that compute in the page.

    It begins at ``default``, else at ``min``; numbers ``step`` apart may be typed, any without. No default is outside.
    """

    min: float = 0
    max: float = 1
    step: float | None = None
    default: float | None = None

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.min <= self.initial <= self.max:
            raise ValueError(f"default {self.initial} of {self.name!r} lies outside [{self.min}, {self.max}]")

    @property
    def initial(self) -> float:
        return self.min if self.default is None else self.default

    def html(self, id_: str) -> str:
        ends = {"min": self.min, "max": self.max, "step": "any" if self.step is None else self.step}
        return self._input(id_, type="number", value=self.initial, **ends)

    def widget(self) -> Any:
        import ipywidgets

        return ipywidgets.BoundedFloatText(
            value=self.initial, min=self.min, max=self.max, step=self.step, description=self.label
        )


@frozen
class Text(Control):
    """A line typed by the reader; only for explorers that compute in the page.

    It begins as ``default`` and has at most ``max_length`` symbols, all of them of the ``alphabet`` if there is one.
    """

    default: str = ""
    alphabet: str | None = None
    max_length: int = 60

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        outside = [symbol for symbol in self.default if self.alphabet is not None and symbol not in self.alphabet]
        if outside or len(self.default) > self.max_length:
            raise ValueError(
                f"default {self.default!r} of {self.name!r} must have at most {self.max_length} symbols"
                + ("" if self.alphabet is None else f", all of them among {self.alphabet!r}")
            )

    @property
    def initial(self) -> str:
        return self.default

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "alphabet": self.alphabet}

    def html(self, id_: str) -> str:
        return self._input(
            id_, type="text", value=self.default, maxlength=self.max_length, spellcheck="false", autocapitalize="off"
        )

    def widget(self) -> Any:
        import ipywidgets

        return ipywidgets.Text(value=self.default, description=self.label)


@frozen
class Button(Control):
    """A push button; its value is the number of presses. Only for explorers that compute in the page."""

    @property
    def initial(self) -> int:
        return 0

    def html(self, id_: str) -> str:
        return _tag("button", {"id": id_, "type": "button"}, html.escape(self.label))

    def widget(self) -> Any:
        import ipywidgets

        return ipywidgets.Button(description=self.label)
