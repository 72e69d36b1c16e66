"""Causal nets see what they may see and no more, go on where they stopped, and can be given the last inputs only."""

import pytest
import torch
from small_tasks import drawn
from torch import nn

from fhx.experiments.causal import LINEAR, Shape, TemporalConvolution, WindowNet, context, rival, with_context
from fhx.experiments.causal.attention import AttentionBlock
from fhx.experiments.causal.net import CausalConvolution

SHAPE = Shape(levels=2, positions=12)
KINDS = ("TCN", "attention", "window 1", "window 3", *LINEAR)


def made(kind):
    torch.manual_seed(0)
    net = rival(kind, 3, 8, 6, 3, SHAPE).double()
    for p in net.parameters():
        nn.init.normal_(p, std=0.5)
    return net


def dependence(model, inputs, t):
    """For each step s, how much the output at t depends on the input at s."""
    x = inputs.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(x)[t].square().sum(), x)
    return slope.abs().sum((1, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_no_output_depends_on_a_later_input(kind):
    model, inputs = made(kind), drawn(30, 4, 3).double()
    changed = inputs.clone()
    changed[17:] += 1
    assert torch.equal(model(changed)[:17], model(inputs)[:17])
    assert (model(changed)[17] - model(inputs)[17]).abs().min() > 1e-6


@pytest.mark.parametrize(("taps", "levels", "expected"), [(2, 1, 3), (3, 2, 13), (2, 4, 31), (3, 4, 61)])
def test_receptive_field_of_a_temporal_convolution_is_exact(taps, levels, expected):
    torch.manual_seed(0)
    model = TemporalConvolution(3, 8, 8, 2, taps, levels).double()
    assert model.receptive_field == expected
    seen = dependence(model, drawn(80, 6, 3).double(), 70)
    assert (seen[:71] > 0).nonzero().flatten().tolist() == list(range(71 - expected, 71))
    assert (seen[71:] == 0).all()


@pytest.mark.parametrize("k", [1, 2, 7])
def test_receptive_field_of_a_window_is_exact(k):
    torch.manual_seed(0)
    model = WindowNet(3, 8, 8, 2, k).double()
    assert model.receptive_field == k
    assert dependence(model, drawn(20, 6, 3).double(), 15).nonzero().flatten().tolist() == list(range(16 - k, 16))


def test_attention_sees_all_of_its_positions_and_in_longer_sequences_between_half_and_all():
    model = made("attention")
    assert model.receptive_field == 12
    assert dependence(model, drawn(12, 4, 3).double(), 11).nonzero().flatten().tolist() == [*range(12)]
    for t in range(12, 30):
        seen = dependence(model, drawn(30, 4, 3).double(), t).nonzero().flatten()
        assert seen[-1] == t
        assert len(seen) == 7 + t % 6  # the half before its piece, and the piece so far


def test_a_causal_convolution_is_that_of_torch():
    ours, x = CausalConvolution(3, 5, 4, dilation=2).double(), drawn(20, 6, 3).double()
    theirs = nn.Conv1d(3, 5, 4, dilation=2).double()
    with torch.no_grad():
        theirs.weight.copy_(ours.weight.unflatten(1, (4, 3)).flip(1).movedim(1, 2))
        theirs.bias.copy_(ours.bias)
    padded = nn.functional.pad(x.permute(1, 2, 0), (6, 0))
    torch.testing.assert_close(ours(x), theirs(padded).permute(2, 0, 1))


def test_a_block_of_attention_is_that_of_torch():
    torch.manual_seed(0)
    ours = AttentionBlock(8, 10, 2).double()
    theirs = nn.TransformerEncoderLayer(8, 2, 10, dropout=0.0, norm_first=True, dtype=torch.float64)
    names = {
        "before": "norm1",
        "after": "norm2",
        "join": "self_attn.out_proj",
        "net.0": "linear1",
        "net.2": "linear2",
    }
    values = ours.state_dict()
    moved = {f"{their}.{part}": values[f"{our}.{part}"] for our, their in names.items() for part in ("weight", "bias")}
    moved |= {f"self_attn.in_proj_{part}": values[f"project.{part}"] for part in ("weight", "bias")}
    theirs.load_state_dict(moved)
    x, mask = drawn(9, 4, 8).double(), nn.Transformer.generate_square_subsequent_mask(9, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x, src_mask=mask))


@pytest.mark.parametrize("kind", KINDS)
def test_a_net_goes_on_where_it_stopped(kind):
    model, inputs = made(kind), drawn(30, 4, 3).double()
    pieces, past = [], None
    for piece in inputs.split(6):
        y, past = model.resume(piece, past)
        pieces.append(y)
    torch.testing.assert_close(torch.cat(pieces)[6:], model(inputs)[6:])
    torch.testing.assert_close(pieces[0], model(inputs)[:6])


def test_a_piece_as_long_as_all_positions_has_no_past():
    model, inputs = made("attention"), drawn(24, 4, 3).double()
    _, past = model.resume(inputs[:12], None)
    torch.testing.assert_close(model.resume(inputs[12:], past)[0], model(inputs[12:]))


@pytest.mark.parametrize("kind", KINDS)
def test_with_context_is_a_run_over_the_last_inputs(kind, monkeypatch):
    model, inputs = made(kind), drawn(20, 4, 3).double()
    monkeypatch.setattr(context, "NUMBERS", 150)  # several blocks
    found = with_context(model, inputs, 5)
    for t in range(20):
        torch.testing.assert_close(found[t], model(inputs[max(0, t - 4) : t + 1])[-1])


def test_a_kind_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="there is no kind 'GRU'; there are TCN, attention, LRU"):
        rival("GRU", 1, 2, 2, 1, SHAPE)
