"""Of which kind a cell is: what a subclass may change and still count as its class."""

from re import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell, Stack
from fhx.cells.function import as_cell
from fhx.cells.kinds import check_inherited, refuse_torch_net

pytestmark = pytest.mark.usefixtures("unchecked")
KINDS = {SimpleCell: {}, LinearCell: {}, LSTMCell: {}, GRUCell: {}, DeepCell: {"depth": 2}}
OWN = {LSTMCell: ["W_f", "b_o"], GRUCell: ["U_z", "_gates"], DeepCell: ["_layer", "_closed"]}
OF_THE_STEP = ["__call__", "drive", "forward", "hidden", "initial_state", "layer_biases", "layer_matrices", "step"]
OF_OTHERS = ["_check", "check_input", "check_state", "input_jacobian", "jacobian", "to_torch", "torch_layers"]
OF_MODULES = ["__init__", "__repr__", "__setattr__", "extra_repr", "register_buffer", "train"]


def changed(kind, names):
    """A cell whose class overrides these, made before it does."""
    cell = kind(2, 3, **KINDS[kind])
    cell.__class__ = type("Own", (kind,), {name: lambda self, *args: None for name in names})
    return cell


@settings(max_examples=60)
@given(st.data(), st.sampled_from([*KINDS]))
def test_a_subclass_counts_unless_it_overrides_something_of_the_step(data, kind):
    taken = data.draw(st.sets(st.sampled_from([*OF_THE_STEP, *OWN.get(kind, [])]), max_size=3))
    free = data.draw(st.sets(st.sampled_from([*OF_OTHERS, *OF_MODULES, "new"])))
    cell = changed(kind, taken | free)
    if not taken:
        check_inherited(cell, kind, "so there")
        return
    law = f"Own overrides {', '.join(sorted(taken))} of {kind.__name__}, and so there"
    with pytest.raises(ValueError, match=f"^{escape(law)}$"):
        check_inherited(cell, kind, "so there")


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_words_of_a_class_are_free_and_what_is_put_into_a_cell_is_not(kind):
    own = type("Own", (type("Between", (kind,), {}),), {"__doc__": "New."})
    cell = own(2, 3, **KINDS[kind])
    own.blocks = 7
    check_inherited(cell, kind, "so there")
    cell.step = cell.hidden
    with pytest.raises(ValueError, match=rf"^Own overrides step of {kind.__name__}, and so there$"):
        check_inherited(cell, kind, "so there")


def test_another_kind_is_not_of_the_kind():
    with pytest.raises(ValueError, match=r"^SimpleCell is not a LSTMCell, and so there$"):
        check_inherited(SimpleCell(2, 3), LSTMCell, "so there")
    with pytest.raises(ValueError, match=r"^SimpleCell is not a Linear, and so there$"):
        check_inherited(SimpleCell(2, 3), nn.Linear, "so there")


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU, nn.RNNCell, nn.LSTMCell, nn.GRUCell])
def test_a_net_of_torch_is_no_cell(kind):
    net = kind(2, 3)
    law = f"^{escape(f'{net} is a net of torch: fhx.cells.from_torch makes a cell of it')}$"
    for refuse in (refuse_torch_net, as_cell, lambda net: check_inherited(net, type(net), "so there")):
        with pytest.raises(ValueError, match=law):
            refuse(net)


def test_any_other_module_is_a_cell_or_a_function():
    for module in (SimpleCell(2, 3), Stack([SimpleCell(2, 3)])):
        assert as_cell(module) is module
    for function in (nn.Linear(2, 3), len):
        assert as_cell(function).f is function
