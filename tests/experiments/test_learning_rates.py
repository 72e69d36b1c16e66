"""Learning rates: a rate of its own for every net of a batch, and the choice of the best one."""

import torch
from torch import nn

from fhx.cells import SimpleCell
from fhx.dynamics import Realization
from fhx.experiments.learning_rates import RowAdam, best_learning_rate
from fhx.tasks import running_parity
from fhx.training import fit


def test_every_row_has_the_run_of_its_own_rate():
    task = running_parity(steps=4, sizes=(40, 10, 10))
    options = {"updates": 6, "batch_size": 8, "clip": 1.0, "progress": False}

    def build():
        return Realization(SimpleCell(task.input_size, 5, dtype=torch.float64), nn.Linear(5, 2, dtype=torch.float64))

    def rows(parameters, lr):
        return RowAdam(parameters, lr, [0.003, 0.05])

    both = fit(build, task, seeds=(0, 1), learning_rate=1.0, optimizer=rows, **options)
    for seed, rate in enumerate((0.003, 0.05)):
        alone = fit(build, task, seeds=(seed,), learning_rate=rate, **options)
        torch.testing.assert_close(both.train_loss[seed], alone.train_loss[0])
        assert both.train_loss[seed][-1] != both.train_loss[seed][0]


def test_the_best_rate_has_the_best_mean():
    assert best_learning_rate([1.0, 2.0], [3.0, 5.0, 4.0, 4.0]) == (1.0, {"1.0": 4.0, "2.0": 4.0})
    assert best_learning_rate([1.0, 2.0], [float("nan"), 1.0, 9.0, 9.0])[0] == 2.0
    assert best_learning_rate([1.0, 2.0], [0.2, 0.3], higher=True)[0] == 2.0
