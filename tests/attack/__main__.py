"""Attack model files and checkpoints, and print what came of it.

python -m tests.attack --files 20000 --checkpoints 2000 --jobs 16    # from the root of the project
python -m tests.attack --seed 0 --only 17                            # one of them again
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.attack.mutators import MUTATORS
from tests.attack.runner import BAD, OUTCOMES, Job, Result, attack, job_of, jobs_of, results_of
from tests.attack.victims import Victim, victims


def table(results: Iterable[Result]) -> str:
    """Return the outcomes by mutator as a table."""
    counts: Counter[tuple[str, str]] = Counter()
    for each in results:
        for key in (each.job.mutator, "all"):
            counts[key, "tried"] += 1
            counts[key, each.outcome] += 1
            counts[key, "compiled"] += each.compiled
    columns = ("tried", *OUTCOMES, "compiled")
    lines = [f"{'mutator':22}" + "".join(f"{c:>11}" for c in columns)]
    for name in [*MUTATORS, "all"]:
        if counts[name, "tried"]:
            lines.append(f"{name:22}" + "".join(f"{counts[name, c]:11,}" for c in columns))
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
    ordered = sorted(groups.items(), key=lambda g: (-BAD.index(g[0][0]), -len(g[1])))
    for (outcome, _, where), found in ordered:
        lines.append(f"{outcome} x {len(found)} at {where}: {found[0].message}")
        for each in found[:n_examples]:
            lines.append(f"    {each.job.command}    # {each.change[:120]}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return 1 if a change did what none may do."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--files", type=int, default=2000, help="number of changed model files")
    parser.add_argument(
        "--checkpoints", type=int, default=200, help="number of changed checkpoints"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--victim", action="append", help="only changes of this file")
    parser.add_argument("--mutator", action="append", choices=list(MUTATORS))
    parser.add_argument("--only", type=int, help="only this change, by its number")
    parser.add_argument("--write", type=Path, help="where to write the changed file of --only")
    parser.add_argument("--traceback", action="store_true", help="of --only, in this process")
    given = parser.parse_args(arguments)
    if given.only is not None:
        return _one(job_of(given.only, given.seed), given)
    began = time.monotonic()
    by_file = {
        name: chosen
        for name, jobs in jobs_of(given.files, given.checkpoints, given.seed).items()
        if (not given.victim or name in given.victim)
        and (chosen := [j for j in jobs if not given.mutator or j.mutator in given.mutator])
    }
    results: list[Result] = []
    for found in results_of(by_file, given.jobs):
        results += found
        bad = sum(each.is_bad for each in found)
        print(f"{found[0].job.victim}: {len(found)} tried, {bad} bad", file=sys.stderr, flush=True)
    print(table(results))
    slowest = max(results, key=lambda each: each.seconds)
    print(f"slowest: {slowest.seconds:.2f} s, {slowest.job.command}")
    largest = max(results, key=lambda each: each.mebibytes)
    print(f"largest: {largest.mebibytes:,} MiB, {largest.job.command}")
    used = sum(each.seconds for each in results)
    words = f"{time.monotonic() - began:.0f} s, {used:.0f} s of processor time in what was changed"
    print(f"{words}, seed {given.seed}, {len(by_file)} files\n")
    print(failures(results))
    for each in [each for each in results if each.compiled][:5]:
        print(f"compiled: {each.job.command}    # {each.change[:120]}")
    return int(any(each.is_bad for each in results))


def _one(job: Job, given: argparse.Namespace) -> int:
    victim = victims()[job.victim]()
    content, change = job.bytes_of(victim)
    print(f"{job.victim}, {job.mutator}: {change}")
    if given.write:
        given.write.write_bytes(content)
    if given.traceback:
        _tell_all(victim, content)
    [result] = attack(victim, [job])
    print(f"{result.outcome}: {result.message} {result.where} ({result.seconds} s)")
    return int(result.is_bad)


def _tell_all(victim: Victim, content: bytes) -> None:
    """Print the errors of all calls, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "attacked.palmette"
        file.write_bytes(content)
        for call in victim.calls(victim.load(file)):
            try:
                call.do()
            except Exception:
                print(f"---- {call.name}\n{traceback.format_exc()}")


if __name__ == "__main__":
    sys.exit(main())
