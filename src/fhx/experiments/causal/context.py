"""What a net answers when it sees the last inputs only."""

import torch

from fhx.experiments.causal.net import CausalNet, Inputs, Outputs

NUMBERS = 2**20
"""The size of the inputs of the windows that are run side by side."""


def with_context(net: CausalNet, inputs: Inputs, k: int) -> Outputs:
    """The outputs of a net that at each step sees the last k inputs only, as if the sequence had started with them."""
    if net.receptive_field is not None and k >= net.receptive_field and net.longest is None:
        return net(inputs)  # it sees no more than that anyway
    first, later = net(inputs[:k]), len(inputs) - k
    block = max(1, NUMBERS // (k * inputs[0].numel()))
    outputs = [first]
    for first_window in range(1, later + 1, block):
        count = min(block, later + 1 - first_window)
        windows = torch.cat([inputs[i : i + k] for i in range(first_window, first_window + count)], 1)
        outputs.append(net(windows)[-1].unflatten(0, (count, -1)))
    return torch.cat(outputs)
