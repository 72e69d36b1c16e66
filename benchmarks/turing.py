"""Long exact runs of Turing nets beside the plainest Python loop that runs the same machine."""

from collections.abc import Callable, Iterator
from itertools import islice

import torch
from attrs import evolve
from torch import Tensor

from benchmarks.harness import Pair
from fhx.compile import TuringNet, turing_to_rnn
from fhx.machines import TuringMachine, UniversalProgram, collatz, palindromes, rogozhin_form, universal


def dict_loop(tm: TuringMachine, word: str, max_steps: int) -> Tensor:
    """Rules and tape are dicts."""
    rules, tape, blank = dict(tm.transitions), dict(enumerate(word)), tm.blank
    state, head, steps = tm.start, 0, 0
    while steps < max_steps:
        rule = rules.get((state, tape.get(head, blank)))
        if rule is None:
            break
        state, tape[head], move = rule
        head = head + 1 if move == "R" else max(head - 1, 0)
        steps += 1
    return torch.tensor([{tm.accept: 1, tm.reject: 0}.get(state, -1), steps])


def fast(net: TuringNet, word: str, max_steps: int) -> Tensor:
    accepted, steps = net.decide(word, max_steps)
    return torch.tensor([-1 if accepted is None else accepted, steps])


def first(net: TuringNet, word: str, max_steps: int) -> Tensor:
    """The code is written within the run."""
    return fast(evolve(net), word, max_steps)


def reference(net: TuringNet, word: str, max_steps: int) -> Tensor:
    """The net itself, a sparse state of integers over one denominator."""
    answer = net.answer(word, max_steps + 1)
    return torch.tensor([-1, max_steps] if answer is None else [answer.value == 1, answer.steps - 1])


def fractions(net: TuringNet, word: str, max_steps: int) -> Tensor:
    """The step that the net was compiled from, by its definition: each number a fraction."""
    column = {a: [int(a == b) for b in net.machine.input_alphabet] + [0] for a in net.machine.input_alphabet}
    end = [0] * len(column) + [1]
    states = net.step.run([*(column[a] for a in word), *[end] * (max_steps + 1)])
    for steps, state in enumerate(islice(states, len(word) + 1, None)):
        if value := net.out.evaluate(state):
            return torch.tensor([value == 1, steps])
    return torch.tensor([-1, max_steps])


def sweeping() -> TuringMachine:
    """From mark to mark and back for ever; what lies between is turned over on the way to the right."""
    rules = {
        ("begin", "#"): ("right", "#", "R"),
        ("right", "#"): ("left", "#", "L"),
        ("left", "#"): ("right", "#", "R"),
    }
    for a, turned in ("01", "10"):
        rules |= {("right", a): ("right", turned, "R"), ("left", a): ("left", a, "L")}
    return TuringMachine(rules, "begin", "accept", "reject", "_", "01#")


def counting() -> TuringMachine:
    """The numbers 1, 2, 3, ... in binary, lowest digit first, for ever."""
    rules = {("mark", "_"): ("add", "#", "R"), ("add", "1"): ("add", "0", "R"), ("back", "#"): ("add", "#", "R")}
    rules |= {("add", a): ("back", "1", "L") for a in "0_"} | {("back", a): ("back", a, "L") for a in "01"}
    return TuringMachine(rules, "mark", "accept", "reject", "_", "01")


def pairs(tiny: bool, seed: int) -> Iterator[Pair]:
    """Runs of 10^5 steps at depths about 10, 100 and 1000, a first run, and short runs of the references."""
    steps, deep = (50, 10) if tiny else (100_000, 1000)
    program = UniversalProgram(rogozhin_form(collatz()))
    half = "ab" * (2 if tiny else 112)
    runs = [
        ("counting, depth < 20", counting(), "", 25),
        (f"sweeping, depth {deep // 10}", sweeping(), f"#{'01' * (deep // 20 - 1)}#", 25),
        (f"palindrome, depth {2 * len(half)}", palindromes(), half + half[::-1], 60),
        (f"sweeping, depth {deep}", sweeping(), f"#{'01' * (deep // 2 - 1)}#", 60),
        ("universal machine", universal(), program.encode("aaa"), 60),
    ]
    for name, tm, word, target in runs:
        yield _pair(f"{name} / dict loop", fast, tm, word, steps, target)
    name, tm, word, target = runs[-1]
    yield _pair(f"{name}, first run / dict loop", first, tm, word, steps, target)
    name, tm, word, _ = runs[1]
    yield _pair(f"{name}, net as it comes / dict loop", reference, tm, word, steps // 50)
    name, tm, word, _ = runs[0]
    yield _pair(f"{name}, in fractions / dict loop", fractions, tm, word, steps // 500)


def _pair(
    name: str,
    run: Callable[[TuringNet, str, int], Tensor],
    tm: TuringMachine,
    word: str,
    steps: int,
    target: float | None = None,
) -> Pair:
    net = turing_to_rnn(tm)
    measures = f"{net.units} units, |w|={len(word)}, {steps} steps"
    return Pair(name, measures, lambda: run(net, word, steps), lambda: dict_loop(tm, word, steps), target)
