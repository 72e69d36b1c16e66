"""Of which kind a cell is: one of torch's nets, or a class that computes what a known class does."""

from inspect import getattr_static

from torch import nn

NOT_ABOUT_THE_STEP = {"jacobian", "input_jacobian", "torch_layers", "to_torch", "check_input", "check_state", "_check"}
"""What a subclass may override and still have the states of its class."""


def refuse_torch_net(cell: object) -> None:
    """Raise a ``ValueError`` that names ``from_torch`` if this is a recurrent net of torch."""
    if isinstance(cell, nn.RNNBase | nn.RNNCellBase):
        raise ValueError(f"{cell} is a net of torch: fhx.cells.from_torch makes a cell of it")


def check_inherited(cell: object, kind: type[nn.Module], what: str) -> None:
    """Raise a ``ValueError`` if a module is not of the kind, or is of a subclass that need not compute what it does.

    Args:
        cell: what is of the kind, or of a subclass.
        kind: the class that something is known of.
        what: what is known, and what else can be done; the message ends with it.
    """
    refuse_torch_net(cell)
    if not isinstance(cell, kind):
        raise ValueError(f"{type(cell).__name__} is not a {kind.__name__}, and {what}")
    names = ({*dir(kind)} - {*dir(nn.Module)} - NOT_ABOUT_THE_STEP) | {"forward", "__call__"}
    code = {name: value for name in sorted(names) if hasattr(value := getattr_static(kind, name, None), "__get__")}
    changed = [name for name, value in code.items() if getattr_static(cell, name, None) != value]
    if changed:
        raise ValueError(f"{type(cell).__name__} overrides {', '.join(changed)} of {kind.__name__}, and {what}")
