"""What is known of a class holds for a subclass as long as that overrides nothing of the step."""

import pytest
import torch
from random_tensors import draw
from torch import nn
from torch.func import jacrev

from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import jacobians, linear_states, unroll
from fhx.stability import (
    Certificate,
    Translated,
    WithReadout,
    adversarial_gain,
    certificate,
    constants,
    contraction_rate,
    fixed_point,
    gru_bounds,
    invariant_set,
    lstm_bounds,
    project,
    register_certificate,
)

pytestmark = pytest.mark.usefixtures("unchecked")
DOUBLE = {"dtype": torch.float64}
KINDS = {SimpleCell: {}, LinearCell: {}, DeepCell: {"depth": 2}, LSTMCell: {}, GRUCell: {}}
TAKEN = ["step", "drive", "forward", "__call__", "hidden", "initial_state", "layer_matrices"]
USES = [certificate, contraction_rate, invariant_set, constants, fixed_point, adversarial_gain]


def made(kind, own=None):
    """A cell of a subclass with these attributes of its own."""
    torch.manual_seed(0)
    (options,) = (KINDS[base] for base in kind.__mro__ if base in KINDS)
    cell = type("Own", (kind,), own or {})(2, 3, **options, **DOUBLE)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.mul_(0.3)
    return cell


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("kind", KINDS)
def test_what_overrides_something_of_the_step_has_no_certificate(kind, name):
    cell = made(kind, {name: lambda self, *args: getattr(kind, name)(self, *args)})
    text = rf"^Own overrides {name} of {kind.__name__}, and so needs .*register_certificate"
    for use in (
        *USES,
        lambda cell: project(cell, 0.5),
        lambda cell: certificate(Translated(cell, torch.zeros(cell.state_width))),
    ):
        with pytest.raises(ValueError, match=text):
            use(cell)


@pytest.mark.parametrize("kind", KINDS)
def test_what_adds_to_a_class_keeps_its_certificate(kind):
    own = {
        "jacobian": kind.jacobian,
        "extra_repr": lambda self: "",
        "size": property(lambda self: 3),
        "__doc__": "New.",
    }
    assert contraction_rate(made(kind, own)) == contraction_rate(made(kind))
    assert torch.equal(invariant_set(made(kind, own)).high, invariant_set(made(kind)).high)


def test_a_step_that_is_put_into_a_cell_counts_too():
    cell = made(SimpleCell)
    cell.step = lambda h, drive: 3 * h + drive
    with pytest.raises(ValueError, match=r"^Own overrides step of SimpleCell"):
        contraction_rate(cell)


def test_numbers_of_a_class_may_differ():
    class Leaky(LinearCell):
        a = 0.5

        def step(self, h, drive):
            return self.a * h + drive

    class Slow(Leaky):
        a = 0.9

    class LeakyCertificate(Certificate):
        def rate(self, norm):
            return self.cell.a

        def invariant_set(self):
            raise NotImplementedError

    with pytest.raises(ValueError, match=r"^Slow overrides step of LinearCell"):
        contraction_rate(Slow(1, 1))
    register_certificate(Leaky, LeakyCertificate)
    assert [contraction_rate(kind(1, 1)) for kind in (Leaky, Slow)] == [0.5, 0.9]


@pytest.mark.parametrize(("kind", "bounds"), [(LSTMCell, lstm_bounds), (GRUCell, gru_bounds)])
def test_bounds_are_of_the_step_of_their_class(kind, bounds):
    assert bounds(made(kind)).rate >= contraction_rate(made(kind), "max") > 0
    other = made(kind, {"step": lambda self, h, drive: 9 * h})
    with pytest.raises(ValueError, match=rf"^Own overrides step of {kind.__name__}, and these are bounds of its step$"):
        bounds(other)
    with pytest.raises(ValueError, match=rf"^SimpleCell is not a {kind.__name__}"):
        bounds(SimpleCell(2, 3))
    register_certificate(type(other), Certificate)
    with pytest.raises(ValueError, match=rf"^Own overrides step of {kind.__name__}"):
        bounds(other)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_no_closed_form_of_another_step_is_inherited(kind, mixed):
    step = {"step": lambda self, h, drive: 2 * h + kind.step(self, h, drive).sin()}
    own = made(type("Mixed", (type("Mixin", (), step), kind), {}) if mixed else kind, {} if mixed else step)
    h, x = draw(4, own.state_width), draw(4, 2)
    for found, expected in (
        (own.jacobian(h, own.drive(x)), [jacrev(lambda h, x=x: own(h, x))(h, x) for h, x in zip(h, x, strict=True)]),
        (own.input_jacobian(h, x), [jacrev(lambda x, h=h: own(h, x))(x) for h, x in zip(h, x, strict=True)]),
    ):
        torch.testing.assert_close(found, torch.stack(expected))
    inputs = draw(5, 1, 2)
    slopes = jacrev(lambda h0: unroll(own, inputs[:1], h0[None])[0, 0])(torch.zeros(own.state_width, **DOUBLE))
    torch.testing.assert_close(jacobians(own, inputs)[0, 0], slopes)
    with pytest.raises(ValueError, match="torch has no recurrent net"):
        own.to_torch()


def test_no_net_of_torch_reads_inputs_in_a_way_of_its_own():
    own = made(SimpleCell, {"drive": lambda self, x: SimpleCell.drive(self, x.sin())})
    h, x = draw(2, 3), draw(2, 2)
    expected = [jacrev(lambda x, h=h: own(h, x))(x) for h, x in zip(h, x, strict=True)]
    torch.testing.assert_close(own.input_jacobian(h, x), torch.stack(expected))
    with pytest.raises(ValueError, match="torch has no recurrent net"):
        own.to_torch()


def test_one_scan_is_for_the_step_of_a_linear_cell():
    own, inputs = made(LinearCell, {"step": lambda self, h, drive: h.tanh() + drive}), draw(4, 1, 2)
    with pytest.raises(ValueError, match=r"^Own overrides step of LinearCell, and one scan"):
        linear_states(own, inputs)
    torch.testing.assert_close(linear_states(made(LinearCell), inputs), unroll(made(LinearCell), inputs))


def test_a_readout_is_affine():
    class Squared(nn.Linear):
        def forward(self, x):
            return super().forward(x) ** 2

    with pytest.raises(ValueError, match=r"^Squared overrides forward of Linear, and the norm"):
        WithReadout(made(SimpleCell), Squared(3, 1, **DOUBLE))
