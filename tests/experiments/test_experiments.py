"""The experiments of this book, and that their stored results are those of the present code."""

import ast
import json
import re
import sys
from itertools import chain
from pathlib import Path

import pytest
import torch

from fhx.experiments import Experiment, catalog, readout_budget
from fhx.experiments.catalog import EXPERIMENTS
from fhx.experiments.delay_line import delay_line
from fhx.experiments.results import read
from fhx.experiments.runner import header
from fhx.tasks import Sequences, Task

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_stored_result_is_that_of_the_code(name):
    experiment, result = EXPERIMENTS[name], read(RESULTS / f"{name}.json")
    assert [entry["point"] for entry in result["points"]] == list(experiment.points)
    assert result["settings"] == header(experiment)["settings"]
    assert set(result["versions"]) == {"python", "torch", "fhx"}
    assert all(entry["seconds"] > 0 for entry in result["points"])


def test_every_result_has_its_experiment():
    others = {"benchmarks", "parallel", "run_times", "mutants"}
    assert {path.stem for path in RESULTS.glob("*.json")} - others == set(EXPERIMENTS)


def test_experiments_are_named_after_their_modules():
    assert [module.__name__.rpartition(".")[2] for module in catalog.MODULES] == list(EXPERIMENTS)
    for module in catalog.MODULES:
        assert module.EXPERIMENT.run.__module__ == module.__name__
        assert {"EXPERIMENT", "run"} <= set(module.__all__)


def squares(**changes):
    """A small record with changes."""
    fields = {
        "name": "squares",
        "question": "How large are squares?",
        "settings": {"seeds": (0, 1)},
        "points": [{"number": number} for number in (2, 3)],
        "run": lambda point: {"square": point["number"] ** 2},
    }
    return Experiment(**fields | changes)


def test_a_record_holds_settings_and_points_as_json_does():
    assert squares().settings == {"seeds": [0, 1]}
    assert squares(points=({"sizes": (n, n)} for n in (1, 2))).points == ({"sizes": [1, 1]}, {"sizes": [2, 2]})
    assert repr(squares()) == "Experiment(name='squares', question='How large are squares?')"


def test_a_record_is_frozen():
    with pytest.raises(AttributeError):
        squares().name = "cubes"


@pytest.mark.parametrize("changes", [{"settings": {"seeds": {0, 1}}}, {"points": [{"number": 1j}]}])
def test_what_json_cannot_hold_is_refused(changes):
    with pytest.raises(TypeError, match="not JSON serializable"):
        squares(**changes)


def test_all_broken_laws_of_a_record_are_named_at_once():
    with pytest.raises(ValueError, match="not an identifier") as caught:
        squares(name="two squares", question="Squares.", points=[{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2}])
    assert str(caught.value) == (
        "the name 'two squares' is not an identifier; the question 'Squares.' does not end with a question mark; "
        'the point {"a": 1, "b": 2} occurs twice'
    )


def names_from_experiments(path):
    """(module, name) for everything that the code of a notebook takes from ``fhx.experiments``."""
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    trees = [ast.parse(re.sub(r"^( *)[%!].*", r"\1pass", source, flags=re.MULTILINE)) for source in code]
    modules = {}
    for node in chain.from_iterable(map(ast.walk, trees)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fhx.experiments"):
            for alias in node.names:
                if f"{node.module}.{alias.name}" in MODULE_NAMES:
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    yield node.module, alias.name
    for node in chain.from_iterable(map(ast.walk, trees)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


MODULE_NAMES = {
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "src/fhx/experiments").rglob("*.py")
}


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_what_a_notebook_takes_from_experiments_is_public_and_documented(path):
    """The page of the room describes what stands in ``__all__`` of a module directly below ``fhx.experiments``."""
    assert "```{room} fhx.experiments\n:modules:\n" in (ROOT / "book/api/experiments.md").read_text()
    for module, name in set(names_from_experiments(path)):
        assert name in sys.modules[module].__all__, f"{module}.{name}"
        assert re.fullmatch(r"fhx\.experiments(\.\w+)?", module), module


def random_task(kind, steps=5, size=3, outputs=2):
    inputs = torch.rand(steps, 4, size, generator=torch.Generator().manual_seed(0))
    targets = torch.zeros(4, dtype=torch.long) if kind == "class at end" else torch.zeros(steps, 4, outputs)
    part = Sequences(inputs, targets)
    return Task("random", part, part, part, size, outputs, kind)


def test_affine_net_is_an_affine_map_of_all_inputs_or_of_the_last():
    task = random_task("class at end")
    net, x = delay_line(task), task.train.inputs
    newest_first = x.flip(0).movedim(0, 1).flatten(1)
    torch.testing.assert_close(net(x)[-1], net.readout(newest_first))
    task = random_task("bits per step")
    net = delay_line(task)
    torch.testing.assert_close(net(x), net.readout(x))


def test_words_of_the_readout_are_different_and_labelled_by_parity():
    task = readout_budget.task(4000)
    parts = [task.train, task.valid, task.test]
    assert [len(part) for part in parts] == [4000, 1000, 5000]
    words = torch.cat([part.inputs[0] for part in parts])
    assert len(words.unique(dim=0)) == 10_000
    for part in parts:
        assert torch.equal(part.inputs[0].sum(1).long() % 2, part.targets)
        assert 0.45 < part.targets.float().mean() < 0.55


def test_readout_budget_runs_one_budget():
    result = readout_budget.run({"units": 4, "words": 200, "updates": 2})
    assert [len(result[split]) for split in ("valid", "test")] == [5, 5]
    assert all(0.4 < value < 0.6 for value in result["test"])
