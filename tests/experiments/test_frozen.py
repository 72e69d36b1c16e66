"""Frozen cells: readouts of kept states are trained as they would be on the cells that made them."""

import pytest
import torch
from torch import nn

from fhx.cells import GRUCell, LSTMCell
from fhx.dynamics import Realization
from fhx.experiments.frozen import freeze, frozen
from fhx.tasks import formal_language, recall, word_problem
from fhx.training import fit

TASKS = {
    "at the end": recall(5, sizes=(40, 20, 30)),
    "at every step, longer tests": word_problem("Z3", 4, (40, 20, 30), test_steps=9),
    "of many lengths": formal_language("parity", (1, 9), (40, 20, 30)),
}
HOW = {"updates": 20, "batch_size": 8, "learning_rate": 0.1, "evaluate_every": 5, "progress": False}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("cell", [GRUCell, LSTMCell])
def test_readouts_are_trained_as_on_the_frozen_cells_themselves(name, cell):
    task = TASKS[name]

    def make():
        return Realization(cell(task.input_size, 6), nn.Linear(6, task.output_size))

    slow = fit(lambda: freeze(make()), task, seeds=range(3), **HOW)
    kept, numbered = frozen(make, task, batch_size=16)
    fast = fit(kept, numbered, seeds=range(3), **HOW)
    assert fast.valid == pytest.approx(slow.valid, abs=1e-5)
    assert fast.train_loss == pytest.approx(slow.train_loss, abs=1e-5)
    assert fast.test == pytest.approx(slow.test, abs=1e-5)
    assert slow.valid.std() > 0, "nothing was learned, so that nothing is compared"
    for a, b in zip(fast.models, slow.models, strict=True):
        torch.testing.assert_close(a.readout.weight, b.readout.weight, rtol=0, atol=1e-5)


def test_a_readout_without_parameters_is_refused():
    task = TASKS["at the end"]
    kept, _ = frozen(lambda: Realization(GRUCell(task.input_size, 4), torch.tanh), task)
    with pytest.raises(TypeError, match="give a module"):
        kept()
