"""How many rows of short text a second `palmette predict` streams, and in how much memory.

A linear model (class-tree) is fitted on clinc150, of the data home that PALMETTE_DATA names, and
then predicts a CSV file of made-up rows: the test texts with their words in another order, so that
no row comes twice. Everything counts: reading, features, probabilities, writing.

    python benchmarks/bench_predict.py --rows 1000000
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

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
        start, cpu = time.perf_counter(), time.process_time()
        with threadpool_limits(1):
            predict(
                place / "model.palmette", str(place / "new.csv"), out=place / "out.csv", **options
            )
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{given.model}: {given.rows:,} rows in {seconds:.1f} s ({cpu:.1f} s of CPU)")
    print(f"{given.rows / seconds:,.0f} rows/s, {given.rows / cpu:,.0f} rows per CPU second")
    print(f"peak memory of the process, fit included: {peak:.2f} GiB")


if __name__ == "__main__":
    main()
