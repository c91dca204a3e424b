"""Attack model files and checkpoints, and print what came of it.

python -m tests.attack --mutations 20000 --jobs 2       # from the root of the repository
python -m tests.attack --victim MLkNN --mutator shapes --seed 0 --turn 7    # one of them again
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.attack.mutators import MUTATORS
from tests.attack.runner import OUTCOMES, Job, Result, attack, jobs_of, results_of
from tests.attack.victims import victims

_WORST = ("other error", "memory", "hang", "signal")


def table(results: Iterable[Result]) -> str:
    """Return the outcomes by mutator as a table."""
    counts: Counter[tuple[str, str]] = Counter()
    for each in results:
        for key in (each.job.mutator, "all"):
            counts[key, "tried"] += 1
            counts[key, each.outcome] += 1
            counts[key, "compiled"] += each.compiled
    columns = ("tried", *OUTCOMES, "compiled")
    lines = [f"{'mutator':22}" + "".join(f"{c:>13}" for c in columns)]
    for name in [*MUTATORS, "all"]:
        if counts[name, "tried"]:
            lines.append(f"{name:22}" + "".join(f"{counts[name, c]:13,}" for c in columns))
    return "\n".join(lines)


def failures(results: Iterable[Result], n_examples: int = 2) -> str:
    """Return what may not happen, by the place where it happens, with commands to repeat it."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for each in results:
        if each.is_bad:
            key = each.outcome, each.message.partition("(")[0][:60], each.where
            groups.setdefault(key, []).append(each)
    lines = []
    # the worst first
    ordered = sorted(groups.items(), key=lambda g: (-_WORST.index(g[0][0]), -len(g[1])))
    for (outcome, _, where), found in ordered:
        lines.append(f"{outcome} x {len(found)} at {where}: {found[0].message}")
        for each in found[:n_examples]:
            lines.append(f"    {each.job.command}    # {each.change[:120]}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return 1 if a change did what none may do."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--victim", action="append", help="only this file")
    parser.add_argument("--few", action="store_true", help="one file of each estimator only")
    parser.add_argument("--mutator", action="append", choices=list(MUTATORS))
    parser.add_argument("--turn", type=int, help="only this change, of one victim and mutator")
    parser.add_argument("--write", type=Path, help="where to write the changed file of --turn")
    parser.add_argument("--traceback", action="store_true", help="of --turn, in this process")
    given = parser.parse_args(arguments)
    known = victims(with_variants=not given.few)
    files, mutators = given.victim or list(known), given.mutator or list(MUTATORS)
    if given.turn is not None:
        return _one(Job(files[0], mutators[0], given.seed, given.turn), given)
    began = time.monotonic()
    by_file = jobs_of(given.mutations, given.seed, files, mutators)
    results: list[Result] = []
    for found in results_of(by_file, given.jobs):
        results += found
        bad = sum(each.is_bad for each in found)
        print(f"{found[0].job.victim}: {len(found)} tried, {bad} bad", file=sys.stderr)
    print(table(results))
    slowest = max(results, key=lambda each: each.seconds)
    print(f"slowest: {slowest.seconds:.2f} s, {slowest.job.command}")
    print(f"{time.monotonic() - began:.0f} s, seed {given.seed}, {len(by_file)} files\n")
    print(failures(results))
    for each in [each for each in results if each.compiled][:5]:
        print(f"compiled: {each.job.command}    # {each.change[:120]}")
    return int(any(each.is_bad for each in results))


def _one(job: Job, given: argparse.Namespace) -> int:
    victim = victims(with_variants=True)[job.victim]()
    content, change = job.bytes_of(victim)
    print(change)
    if given.write:
        given.write.write_bytes(content)
    if given.traceback:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "attacked.palmette"
            file.write_bytes(content)
            victim.use(victim.load(file))
    [result] = attack(victim, [job])
    print(f"{result.outcome}: {result.message} {result.where} ({result.seconds} s)")
    return int(result.is_bad)


if __name__ == "__main__":
    sys.exit(main())
