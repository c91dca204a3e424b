"""Larger than memory, and more than one process: tables on disk, and workers of a Dask cluster.

    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py make --rows 10000000 --out big.parquet
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py table big.parquet --memory 2
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py workers [local forest grid]

`make` writes a table of 20 numbers, a text of six words and a path of three levels (200 leaves).
`table` runs ``palmette fit`` on a table with a class tree and no cross-validation, and prints
seconds, CPU seconds, and the largest memory of the process: anonymous pages, which are its own, and
resident ones, which count the pages of mapped files that the system may drop at any time.

`workers` fits the same models with no cluster, one worker process and two, all started before:
522 local logistic regressions, a structured forest, and a grid of 50 cells of a comparison.
Overhead is what one worker takes beyond no cluster.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scale_cell import label_sets, one_path

import palmette as pm
from palmette.compare import Problem, compare, environment

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


def table(path, memory):
    """Run `palmette fit` in a process of its own, and watch its memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "palmette.cli.main", "fit", path, "--target", "path"),
            *("--model", "class-tree", "--folds", "0", "--time", "0"),
            *("--out", str(Path(folder, "model.palmette"))),
            *(() if memory is None else ("--memory", str(memory))),
        ]
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
        raise SystemExit(f"palmette fit ended with {process.returncode}")
    anonymous, resident = (value / 2**20 for value in largest.values())
    print(
        f"{path}: {seconds:.0f} s, {cpu:.0f} CPU s, {anonymous:.2f} GiB of its own, "
        f"{resident:.2f} GiB with mapped files"
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


def local_models(client):
    from sklearn.linear_model import LogisticRegression

    X, names = one_path(20_000, 50, 500)
    model = pm.LocalPerNodeClassifier(LogisticRegression(), client=client)
    return lambda: model.fit(X, names)


def forest(client):
    X, Y = label_sets(10_000, 40, 20)
    model = pm.StructuredForestClassifier(random_state=0, client=client)
    return lambda: model.fit(X, Y)


def grid(client):
    rng = np.random.default_rng(0)
    codes = rng.integers(10, size=3000)
    X = rng.normal(size=(3000, 30)) + rng.normal(size=(10, 30))[codes]
    names = np.array([f"group {k // 3}/class {k}" for k in range(10)])
    h = pm.Hierarchy.from_paths([tuple(name.split("/")) for name in names])
    problem = Problem("made up", h, X, names[codes])
    models = ["class-tree", "mf-tree", "local-per-parent", "flat-extra-trees", "adaboost-bhc"]
    return lambda: compare([problem], models, n_splits=10, client=client)


JOBS = {"local": local_models, "forest": forest, "grid": grid}


def workers(names):
    from distributed import Client, LocalCluster

    print("| job | no cluster, s | 1 worker | 2 workers | times | overhead, s |")
    print("|---|---|---|---|---|---|")
    for name in names:
        JOBS[name](None)()  # kernels are compiled
        seconds = [timed(JOBS[name](None))]
        for n in (1, 2):
            with (
                LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster, set_as_default=False) as client,
            ):
                client.run(_load)
                seconds.append(timed(JOBS[name](client)))
        alone, one, two = seconds
        facts = [f"{value:.1f}" for value in seconds] + [f"{one / two:.2f}", f"{one - alone:.1f}"]
        print(f"| {name} | {' | '.join(facts)} |", flush=True)


def _load():
    """Import what a worker needs, which happens once."""
    from palmette import StructuredForestClassifier  # noqa: F401
    from palmette.compare import compare  # noqa: F401


def timed(function):
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="what")
    making = commands.add_parser("make")
    making.add_argument("--rows", type=int, default=1_000_000)
    making.add_argument("--out", required=True)
    fitting = commands.add_parser("table")
    fitting.add_argument("table")
    fitting.add_argument("--memory", type=float)
    working = commands.add_parser("workers")
    working.add_argument("jobs", nargs="*", choices=[*JOBS, []], default=list(JOBS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "make":
        make(given.rows, given.out)
        return
    print(environment(), end="\n\n")
    if given.what == "table":
        table(given.table, given.memory)
    else:
        workers(given.jobs)


if __name__ == "__main__":
    main()
