"""The controls of an explorer: each knows its values, its HTML and its ipywidget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any

from attrs import field, frozen

from fhx._templates import environment

__all__ = ["Button", "Choice", "Control", "Number", "Slider", "Text"]

_TEMPLATES = environment("fhx.figures")
_WHOLE_LABEL = {"description_width": "initial"}  # ipywidgets would cut it short


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
        return {"name": self.name, "kind": self._kind}

    def html(self, id_: str) -> str:
        """A label and a native input with this id."""
        macros = _TEMPLATES.get_template("controls.html").module
        return getattr(macros, self._kind)(self, id_)

    def widget(self) -> Any:
        """The ipywidgets counterpart for a live kernel."""
        raise NotImplementedError

    @property
    def _kind(self) -> str:
        return type(self).__name__.lower()


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

    It begins at ``default``, or at the first value if there is none; ``unit`` is written after each value.

    Args:
        name: of the parameter that it sets.
        label: what stands beside it.
        values, min, max, step, default, unit: see above.

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

    def widget(self) -> Any:
        import ipywidgets

        whole = all(isinstance(value, int) for value in self.grid)
        ends = {"min": self.grid[0], "max": self.grid[-1], "value": self.initial}
        if whole:
            return ipywidgets.IntSlider(**ends, description=self.label, style=_WHOLE_LABEL)
        step = (ends["max"] - ends["min"]) / 1000 or 1e-3
        return ipywidgets.FloatSlider(
            **ends, step=step, readout_format=".4g", description=self.label, style=_WHOLE_LABEL
        )


@frozen
class Choice(Control):
    """One of a few options in a drop-down list, each shown as its ``str``.

    It begins at ``default``, or at the first option if there is none.

    Args:
        name: of the parameter that it sets.
        label: what stands beside it.
        options: the values to choose from.
        default: the first value.

    Raises:
        ValueError: no option, two that are shown alike, or a ``default`` that is not one of them.
    """

    options: tuple[Any, ...] = field(converter=_options)
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

    def widget(self) -> Any:
        import ipywidgets

        options = [(str(option), option) for option in self.options]
        return ipywidgets.Dropdown(options=options, value=self.initial, description=self.label, style=_WHOLE_LABEL)


@frozen
class Number(Control):
    """A number typed by the reader, between ``min`` and ``max``; only for explorers that compute in the page.

    It begins at ``default``, or at ``min`` if there is none. With ``step``, only numbers that far apart can be typed.

    Args:
        name: of the parameter that it sets.
        label: what stands beside it.
        min, max, step, default: see above.

    Raises:
        ValueError: a default outside.
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

    def widget(self) -> Any:
        import ipywidgets

        return ipywidgets.BoundedFloatText(
            value=self.initial, min=self.min, max=self.max, step=self.step, description=self.label
        )


@frozen
class Text(Control):
    """A line typed by the reader; only for explorers that compute in the page.

    It begins as ``default`` and has at most ``max_length`` symbols, all of them from ``alphabet`` if there is one.

    Args:
        name: of the parameter that it sets.
        label: what stands beside it.
        default, alphabet, max_length: see above.

    Raises:
        ValueError: a default that is longer, or has another symbol.
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

    def widget(self) -> Any:
        import ipywidgets

        return ipywidgets.Text(value=self.default, description=self.label)


@frozen
class Button(Control):
    """A push button; its value is the number of presses. Only for explorers that compute in the page.

    Args:
        name: of the value in the page's code.
        label: what stands on it.
    """

    @property
    def initial(self) -> int:
        return 0

    def widget(self) -> Any:
        import ipywidgets

        return ipywidgets.Button(description=self.label)
