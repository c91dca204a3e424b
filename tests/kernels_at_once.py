"""Compile kernels in eight processes at once, and compare what they store with what one stores.

python -m tests.kernels_at_once                # every kernel: many minutes on two cores
python -m tests.kernels_at_once texts RAkEL    # of a part, or of a model, of `palmette compile`

A test does the same with variants of a small kernel in every run (`test_kernels.py`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from palmette._kernels import seconds_compiling
from palmette.cli.compile import FITS, PARTS

N_PROCESSES = 8


def fit_all(first: int, names: list[str]) -> None:
    """Fit the models of some parts or names, and print how long this process compiled."""
    models = [(part, name, fit) for part in PARTS for name, fit in FITS[part]()]
    fits = [fit for part, name, fit in models if part in names or name in names]
    start = first * len(fits) // N_PROCESSES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fit in fits[start:] + fits[:start]:
            fit()
    print(seconds_compiling())


def seconds_of_processes(names: list[str], folder: Path, firsts: list[int]) -> list[float]:
    """Start one process for each place in the list of models; return how long each compiled."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.kernels_at_once", "--first", str(first), *names],
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for first in firsts
    ]
    outputs = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        raise RuntimeError(f"exit codes {[process.returncode for process in processes]}")
    return [float(output) for output in outputs]


def names_of_kernels(folder: Path) -> set[str]:
    """Return the names of the stored kernels below a folder."""
    return {path.name for path in folder.rglob("*.kernel")}


def compile_at_once(names: list[str], folder: Path) -> tuple[set[str], set[str], list[float]]:
    """Return what eight processes stored, what one did, and how long others compile after them.

    Two processes begin with the same model.
    """
    many, one = folder / "many", folder / "one"
    seconds_of_processes(names, many, [n // 2 * 2 for n in range(N_PROCESSES)])
    seconds_of_processes(names, one, [0])
    return names_of_kernels(many), names_of_kernels(one), seconds_of_processes(names, many, [0])


def main(arguments: list[str]) -> int:
    """Compare and print; return 1 if the folders differ, or a later process compiles."""
    if arguments[:1] == ["--first"]:
        fit_all(int(arguments[1]), arguments[2:])
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        by_many, by_one, (later,) = compile_at_once(arguments or list(PARTS), Path(folder))
    print(
        f"{len(by_many)} kernels by {N_PROCESSES} processes, {len(by_one)} by one, "
        f"{len(by_many ^ by_one)} differ; {later} s compiling in a process after them; "
        f"{time.monotonic() - began:.0f} s"
    )
    return int(by_many != by_one or later > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
