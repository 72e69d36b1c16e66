"""The types, the machines, and floats summed in random order."""

from itertools import islice

import numpy as np
import torch
from hypothesis import strategies as st

from fhx.experiments.finite_precision import there_and_back

FLOATS = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
BASES = (3, 4, 5, 8)
STEPS = 40
BACK, SWEEPS = there_and_back(), there_and_back(for_ever=True)
NUMPY = {torch.float16: np.float16, torch.float32: np.float32, torch.float64: np.float64}


def dtypes(*names):
    return st.sampled_from([getattr(torch, name) for name in names] or FLOATS)


def runs_in_random_order(net, word, dtype, steps, random):
    """The states of the net in numpy's floats, each product and each sum rounded, every sum in an order of its own."""
    number = NUMPY[dtype]
    rnn = net.rnn
    state = {j: number(value) for j, value in enumerate(rnn.h0) if value}
    yield state
    for column in islice(net.input_columns(word), steps):
        after = {}
        for i in range(rnn.units):
            terms = [number(float(w)) * state[j] for j, w in rnn.W.row(i).items() if j in state]
            terms += [number(float(u)) for u in (rnn.U.row(i).get(column, 0), rnn.b[i]) if u]
            random.shuffle(terms)
            while len(terms) > 1:
                terms.insert(random.randrange(len(terms) - 1), terms.pop() + terms.pop())
            if terms and not terms[0] <= 0:
                after[i] = terms[0]
        state = after
        yield state
