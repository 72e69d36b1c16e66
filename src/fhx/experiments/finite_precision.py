r"""Turing nets in floating-point numbers: how far they are certainly right, and where the first step is wrong.

One machine goes to the end of its word and back, and accepts if the word begins with a; another goes there and back for
ever. For each base of the stacks and each type of floats: the length up to which the words tried are certified, the
length of the first of them with a wrong step, and of the first with a wrong answer, beside the length at which a
number alone loses digits; and for the second machine, on one short word, the steps certified and the first wrong one.
In base 4 the length decides, in other bases time does: an error doubles when a symbol is pushed to the right and read
again.

In float16 also the finite automaton that the net of another machine has become, and the first word on which the two
differ.
"""

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

import torch

from fhx.compile import turing_to_rnn
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.machines import TURING_MACHINES, TuringMachine, all_words
from fhx.precision import certified_steps, exact_height, first_wrong_step, float_net_to_dfa, lossy_length

__all__ = ["BASES", "EXPERIMENT", "MAX_SWEEP_STEPS", "TYPES", "run", "there_and_back", "words"]

BASES = (3, 4, 5, 8)
"""Of the stacks; in base 4 the length of a word decides, in the others time does."""
TYPES = ("bfloat16", "float16", "float32", "float64")
"""Of the floating-point numbers, fewest digits first."""
AUTOMATA = (("palindromes", 4), ("palindromes", 8), ("equal-blocks", 8))
"""Machine and base of the nets that are read out as finite automata, in float16."""
RANDOM_WORDS = 6
"""Words drawn of each length."""
SEED = 0
"""Of these words."""
SWEPT = "abba"
"""The word that the second machine goes to and fro on."""
MAX_SWEEP_STEPS = 1000
"""How long it is followed."""
MACHINE_STEPS = 10_000
"""The most that a machine runs on a word on which an automaton is compared with it."""


def there_and_back(for_ever: bool = False) -> TuringMachine:
    """Go to the end of a word over ``"ab"`` and back, and accept if it begins with a; or turn round there, for ever."""
    rules = {("start", x): ("go", x.upper(), "R") for x in "ab"}
    rules |= {("go", x): ("go", x, "R") for x in "ab"} | {("go", "_"): ("come", "_", "L")}
    rules |= {("come", x): ("come", x, "L") for x in "ab"}
    last = {"A": "go", "B": "go"} if for_ever else {"A": "accept", "B": "reject"}
    rules |= {("come", x): (state, x, "R") for x, state in last.items()}
    return TuringMachine(rules, "start", "accept", "reject", "_", "ab")


def words(n: int) -> list[str]:
    """The words tried of a length of at least 1: one letter all along, one that differs at an end, and random ones."""
    rng = Random(f"{SEED} {n}")
    some = ["".join(rng.choices("ab", k=n)) for _ in range(RANDOM_WORDS)]
    return list(dict.fromkeys(["a" * n, "b" * n, "a" * (n - 1) + "b", "b" + "a" * (n - 1), *some]))


def _points() -> list[Point]:
    """Every base in every type, then the automata."""
    nets: list[Point] = [{"base": base, "type": name} for base in BASES for name in TYPES]
    return nets + [{"machine": machine, "base": base, "type": "float16"} for machine, base in AUTOMATA]


def run(point: Point) -> Result:
    """Predict and observe.

    Returns:
        For a base and a type ``exact height``, ``certified length``, ``wrong step``, ``wrong answer`` and
        ``lossy length``, which are lengths of words, and ``certified sweeps`` and ``wrong sweep``, which are steps
        (None if all were right). For an automaton ``states``, ``minimal states`` and ``differs``, a shortest word on
        which it and the machine do.
    """
    dtype = getattr(torch, point["type"])
    return _automaton(point, dtype) if "machine" in point else _lengths(point["base"], dtype)


def _lengths(base: int, dtype: torch.dtype) -> dict[str, Any]:
    machine = there_and_back()
    net, sweeps = turing_to_rnn(machine, base), turing_to_rnn(there_and_back(for_ever=True), base)
    floats = net.to_torch(dtype)

    def certified(word: str) -> bool:
        return certified_steps(net, word, dtype, _time(word)) == _time(word)

    def right(word: str) -> bool:
        return first_wrong_step(net, word, dtype, _time(word)) is None

    def answered(word: str) -> bool:
        return floats.answers([word], _time(word)) == [net.answer(word, _time(word))]

    return {
        "exact height": exact_height(net, dtype),
        "certified length": _first_length_without(certified) - 1,
        "wrong step": _first_length_without(right),
        "wrong answer": _first_length_without(answered),
        "lossy length": lossy_length(base, dtype),
        "certified sweeps": certified_steps(sweeps, SWEPT, dtype, MAX_SWEEP_STEPS),
        "wrong sweep": first_wrong_step(sweeps, SWEPT, dtype, MAX_SWEEP_STEPS),
    }


def _time(word: str) -> int:
    """Longer than the run of the exact net on a word."""
    return 3 * len(word) + 6


def _first_length_without(law: Callable[[str], bool]) -> int:
    n = 1
    while all(map(law, words(n))):
        n += 1
    return n


def _automaton(point: Point, dtype: torch.dtype) -> dict[str, Any]:
    machine = TURING_MACHINES[point["machine"]]
    dfa = float_net_to_dfa(turing_to_rnn(machine, point["base"]), dtype)
    every = (word for n in count() for word in all_words(machine.input_alphabet, n) if len(word) == n)
    differs = next(word for word in every if dfa.accepts(word) != machine.decide(word, MACHINE_STEPS).accepted)
    return {"states": len(dfa.states), "minimal states": len(dfa.minimize().states), "differs": differs}


EXPERIMENT = Experiment(
    name="finite_precision",
    question="How far are Turing nets right in floating-point numbers, and where is the first step wrong?",
    settings={
        "bases": BASES,
        "types": TYPES,
        "random words of a length": RANDOM_WORDS,
        "seed": SEED,
        "word swept": SWEPT,
        "steps of sweeps": MAX_SWEEP_STEPS,
    },
    points=_points(),
    run=run,
    trains=False,
)
