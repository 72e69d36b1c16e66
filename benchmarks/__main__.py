"""``python -m benchmarks``: time every pair, print the table, write it as JSON; exit with 1 if a target is missed."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tqdm import tqdm

from benchmarks.harness import find, measure, save, table


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="run only the files with this in their name")
    parser.add_argument("--json", type=Path, default=Path("results/benchmarks.json"), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=25, help="default: %(default)s")
    parser.add_argument("--turn", type=float, default=0.03, help="seconds a side runs in a round; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--tiny", action="store_true", help="toy sizes, to try the files, not to time them")
    parser.add_argument("--package", default="benchmarks", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)

    pairs = [pair for made in find(arguments.package, arguments.only) for pair in made(arguments.tiny, arguments.seed)]
    if not pairs:
        parser.error(f"no file of the folder has {arguments.only!r} in its name")
    rows = [measure(pair, arguments.rounds, arguments.turn) for pair in tqdm(pairs, unit="pair", leave=False)]
    print(table(rows))
    save(arguments.json, rows, seed=arguments.seed, rounds=arguments.rounds, turn=arguments.turn)
    missed = [row.name for row in rows if row.met is False]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
