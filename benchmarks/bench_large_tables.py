"""Tables that are larger than memory: seconds and memory of `palmette fit`, `report` and `eval`.

    python benchmarks/bench_large_tables.py make --rows 10000000 --out big.parquet
    python benchmarks/bench_large_tables.py fit big.parquet --memory 2 [--model NAME]
    python benchmarks/bench_large_tables.py report MODEL big.parquet [--command eval]

`make` writes a table of 20 numbers, a text of six words and a path of three levels (200 leaves).
`fit` runs ``palmette fit`` on a table with a class tree, or another model, and no
cross-validation, and prints rows, seconds, CPU seconds and their microseconds per row, and the
largest memory of the process: anonymous pages, which are its own, and resident ones, which count
the pages of mapped files that the system may drop at any time. With a large ``--memory`` the same
model is fitted in memory. ``--options="--drop text"`` are further ones of ``palmette fit``.
`report` prints the same of ``palmette report``, or ``palmette eval``, for a model of that command.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from palmette.compare import environment

N_LEAVES, N_WORDS = 200, 20_000
PART_ROWS = 250_000


def make(rows, out, seed=0):
    """Write a Parquet file, a quarter of a million rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    own = rng.integers(N_WORDS, size=(N_LEAVES, 60))
    means = rng.normal(size=(N_LEAVES, 20)).astype(np.float32)
    vocabulary = np.array([f"w{i:05d}" for i in range(N_WORDS)])
    names = np.array([f"Dept {k // 20}/Aisle {k // 5}/Shelf {k}" for k in range(N_LEAVES)])
    writer = None
    for start in range(0, rows, PART_ROWS):
        n = min(PART_ROWS, rows - start)
        leaf = (N_LEAVES * rng.random(n) ** 1.5).astype(int)
        common = (N_WORDS * rng.random((n, 6)) ** 2).astype(int)
        mine = own[leaf[:, None], rng.integers(60, size=(n, 6))]
        chosen = vocabulary[np.where(rng.random((n, 6)) < 0.4, mine, common)]
        X = rng.standard_normal((n, 20), dtype=np.float32) * 3 + means[leaf]
        columns = {f"x{j}": X[:, j] for j in range(20)}
        part = pa.table(
            {
                "text": pa.array([" ".join(row) for row in chosen]),
                **columns,
                "path": pa.array(names[leaf]).dictionary_encode(),
            }
        )
        writer = writer or pq.ParquetWriter(out, part.schema)
        writer.write_table(part)
    writer.close()


def fit(path, memory, model, options):
    """Run `palmette fit` in a process of its own, and watch its memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "palmette.cli.main", "fit", path, "--target", "path"),
            *("--model", model, "--folds", "0", "--time", "0", *options.split()),
            *("--out", str(Path(folder, "model.palmette"))),
            *(() if memory is None else ("--memory", str(memory))),
        ]
        watched(command, path, f"palmette fit, {model}")


def report(model, path, name, options):
    """Run `palmette report`, or `palmette eval`, in a process of its own, and watch its memory."""
    command = [sys.executable, "-m", "palmette.cli.main", name, model, path, *options.split()]
    watched(command, path, f"palmette {name}")


def watched(command, path, title):
    """Run a command, and print its seconds and its memory, with the rows of its table."""
    import pyarrow.parquet as pq

    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    largest, cpu = {"RssAnon": 0, "VmRSS": 0}, 0.0
    while process.poll() is None:
        for name, value in memory_of(process.pid).items():
            largest[name] = max(largest[name], value)
        cpu = max(cpu, cpu_of(process.pid))
        time.sleep(0.2)
    seconds = time.perf_counter() - begun
    if process.returncode:
        raise SystemExit(f"{title} ended with {process.returncode}")
    anonymous, resident = (value / 2**20 for value in largest.values())
    rows = pq.read_metadata(path).num_rows
    print(
        f"{title}, {rows:,} rows: {seconds:.0f} s, {cpu:.0f} CPU s ({cpu / rows * 1e6:.0f} us per "
        f"row), {anonymous:.2f} GiB of its own, {resident:.2f} GiB with mapped files"
    )


def memory_of(pid):
    """Return KiB by kind; nothing once the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split(":") for line in lines)
    return {k: int(v.split()[0]) for k, v in pairs if k in ("RssAnon", "VmRSS")}


def cpu_of(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100  # ticks of user and system time


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="what")
    making = commands.add_parser("make")
    making.add_argument("--rows", type=int, default=1_000_000)
    making.add_argument("--out", required=True)
    fitting = commands.add_parser("fit")
    fitting.add_argument("table")
    fitting.add_argument("--memory", type=float)
    fitting.add_argument("--model", default="class-tree")
    fitting.add_argument("--options", default="")
    evaluating = commands.add_parser("report")
    evaluating.add_argument("model")
    evaluating.add_argument("table")
    evaluating.add_argument("--command", choices=["report", "eval"], default="report")
    evaluating.add_argument("--options", default="")
    given = parser.parse_args()
    if given.what == "make":
        make(given.rows, given.out)
        return
    print(environment(), end="\n\n")
    if given.what == "fit":
        fit(given.table, given.memory, given.model, given.options)
    else:
        report(given.model, given.table, given.command, given.options)


if __name__ == "__main__":
    main()
