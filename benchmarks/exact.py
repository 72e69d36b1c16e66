"""Exact nets beside the plain loops and layers that they stand for, and the compilers against the clock."""

from collections.abc import Iterator
from copy import deepcopy
from random import Random

import numpy as np
import torch
from torch import Tensor

import fhx
from benchmarks.harness import Pair
from fhx.compile import dfa_to_rnn, rnn_to_dfa
from fhx.machines import DFA


def random_machine(size: int, alphabet: str, random: Random) -> DFA:
    states = range(size)
    transitions = {(q, a): random.choice(states) for q in states for a in alphabet}
    return DFA(states, alphabet, transitions, 0, [q for q in states if random.random() < 0.5])


def dict_loop(machine: DFA, word: str) -> Tensor:
    delta, q = dict(machine.transitions), machine.start
    for a in word:
        q = delta[q, a]
    return torch.tensor(q in machine.accept)


def table_loop(table: np.ndarray, accept: np.ndarray, ids: np.ndarray) -> Tensor:
    q = np.zeros(len(ids), dtype=np.int64)
    for t in range(ids.shape[1]):
        q = table[q, ids[:, t]]
    return torch.from_numpy(accept[q])


def pairs(tiny: bool, seed: int) -> Iterator[Pair]:
    """One word exactly, compilation and its round trip, the batched torch net, and the table."""
    random, alphabet, device = Random(seed), "abcd", fhx.device()
    machine = random_machine(5 if tiny else 100, alphabet, random)
    net, size = dfa_to_rnn(machine), f"|Q|={len(machine.states)}, 4 symbols"

    word = "".join(random.choices(alphabet, k=10 if tiny else 10_000))
    yield Pair(
        "exact run / dict loop",
        f"{size}, one word of {len(word)}",
        lambda: torch.tensor(net.accepts(word)),
        lambda: dict_loop(machine, word),
        target=60,
    )

    large = random_machine(10 if tiny else 1_000, alphabet, random)
    of_large = f"|Q|={len(large.states)}, 4 symbols"
    yield Pair("compile a machine", of_large, lambda: dfa_to_rnn(large), target=1)
    yield Pair("machine to net and back", of_large, lambda: rnn_to_dfa(dfa_to_rnn(large)).minimize(), target=20)

    batch, time = (2, 5) if tiny else (64, 64)
    ids = torch.tensor(random.choices(range(4), k=batch * time), device=device).reshape(batch, time)
    module = net.to_torch().to(device)
    inputs, bare = torch.nn.functional.one_hot(ids, 4).to(torch.float64), deepcopy(module.rnn)
    yield Pair(
        "exact net in torch / torch.nn.RNN",
        f"{size}, {net.units} units, T={time}, batch {batch}",
        lambda: module(inputs),
        lambda: bare(inputs),
        target=1.5,
    )

    batch, time = (2, 5) if tiny else (1024, 256)
    ids = torch.tensor(random.choices(range(4), k=batch * time)).reshape(batch, time)
    lookup, ids_there, ids_here = net.to_table().to(device), ids.to(device), ids.numpy()
    table = np.array([[machine.transitions[q, a] for a in alphabet] for q in machine.states])
    accept = np.array([q in machine.accept for q in machine.states])
    yield Pair(
        "gather / numpy gather",
        f"{size}, T={time}, batch {batch}",
        lambda: lookup(ids_there)[:, -1].cpu(),
        lambda: table_loop(table, accept, ids_here),
        target=1 / 0.7,
    )
