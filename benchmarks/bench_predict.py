"""How many rows of short text a second `palmette predict` streams, and in how much memory.

A linear model (class-tree) is fitted on clinc150, of the data home that PALMETTE_DATA names, and
then predicts a CSV file of made-up rows: the test texts with their words in another order, so that
no row comes twice. Everything counts: reading, features, probabilities, writing, and with several
jobs the start of their processes. The files of all numbers of jobs must be equal.

    python benchmarks/bench_predict.py --rows 1000000 --jobs 1 2
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from palmette.cli.predict import predict
from palmette.datasets import fetch
from palmette.persistence import save
from palmette.table import fit_table


def write_rows(path: Path, texts: list[str], n_rows: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["number", "text"])
        for number in range(n_rows):
            words = texts[number % len(texts)].split()
            writer.writerow([number, " ".join(rng.permutation(words))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--model", default="class-tree")
    parser.add_argument("--chunk-rows", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--confidence", type=float, default=None)
    given = parser.parse_args()
    data = fetch("clinc150")
    model = fit_table(
        {"text": data.X_train, "intent": data.y_train}, "intent", model=given.model, folds=0
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        save(model, place / "model.palmette")
        write_rows(place / "new.csv", data.X_test, given.rows)
        options = {"chunk_rows": given.chunk_rows, "confidence": given.confidence}
        write_rows(place / "few.csv", data.X_test, 2000)
        predict(place / "model.palmette", str(place / "few.csv"), out=place / "few_out.csv")
        seconds = {}
        for n_jobs in given.jobs:
            out = place / f"out_{n_jobs}.csv"
            start = time.perf_counter()
            predict(
                place / "model.palmette", str(place / "new.csv"), out=out, n_jobs=n_jobs, **options
            )
            seconds[n_jobs] = time.perf_counter() - start
            if out.read_bytes() != (place / f"out_{given.jobs[0]}.csv").read_bytes():
                raise SystemExit(f"--jobs {n_jobs} writes another file than {given.jobs[0]}")
    print(f"{given.model}, {given.rows:,} rows:")
    for n_jobs, spent in seconds.items():
        ratio = seconds[given.jobs[0]] / spent
        print(f"{n_jobs} jobs: {spent:.1f} s, {given.rows / spent:,.0f} rows/s, {ratio:.2f} x")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of this process, fit included: {peak:.2f} GiB")


if __name__ == "__main__":
    main()
