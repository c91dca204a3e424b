"""CPU seconds and AU(PRC) of CoherentNetworkClassifier, with numpy or torch, by batch size.

    python benchmarks/bench_network.py --backend numpy
    python benchmarks/bench_network.py --backend torch --repeat 2
    python benchmarks/bench_network.py --set delicious --rows 8000 --batch 64 256
    python benchmarks/bench_network.py --set tmc2007_500 --epochs 15 25 --splits 3

Without a set, the rows are made up: 20,000 rows of 200 features, several paths each, in a tree of
1,110 nodes below the root. The last of several repeated fits is without the start of a device. With
a set of the data home that PALMETTE_DATA names, its training rows are divided at random: a third,
at most 2,000 rows, is held out for the score. Test rows are never used.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from typing import Any

import numpy as np

from palmette import CoherentNetworkClassifier, Hierarchy
from palmette._arrays import take_rows
from palmette.datasets import fetch
from palmette.metrics import micro_auprc


def made_up(n_rows: int, n_features: int = 200, branches: int = 10) -> tuple[Any, Any, Hierarchy]:
    """Rows around the means of one to three leaves each, of a tree of three levels."""
    rng = np.random.default_rng(0)
    names = [f"{a}/{b}/{c}" for a in range(branches) for b in range(branches)
             for c in range(branches)]  # fmt: skip
    hierarchy = Hierarchy.from_paths([tuple(name.split("/")) for name in names])
    means = rng.normal(size=(len(names), n_features))
    n_labels = rng.integers(1, 4, n_rows)
    chosen = [rng.choice(len(names), n, replace=False) for n in n_labels]
    X = np.array([means[row].mean(axis=0) for row in chosen])
    X += rng.normal(size=X.shape)
    y = [{tuple(names[leaf].split("/")) for leaf in row} for row in chosen]
    return X.astype(np.float32), y, hierarchy


def training_rows(name: str) -> tuple[Any, Any, Hierarchy | None]:
    data = fetch(name)
    hierarchy = getattr(data, "hierarchy", None)
    if hasattr(data, "X_train"):
        return data.X_train, data.y_train, hierarchy
    # sets without a split: the two thirds that bench_wide_paths.py fits on
    order = np.random.RandomState(0).permutation(data.X.shape[0])
    kept = np.sort(order[: len(order) * 2 // 3])
    return take_rows(data.X, kept), _rows_of(data.y, kept), hierarchy


def _rows_of(y: Any, rows: Any) -> Any:
    return [y[i] for i in rows] if isinstance(y, list) else y[rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default=None)
    parser.add_argument("--rows", type=int, default=20_000, help="to learn from, at most")
    parser.add_argument("--batch", type=int, nargs="+", default=[64])
    parser.add_argument("--epochs", type=int, nargs="+", default=["auto"])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--splits", type=int, default=1, help="random divisions of the rows")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y, hierarchy = made_up(given.rows + 2_000) if given.set is None else training_rows(given.set)
    n_rows = X.shape[0]
    n_held_out = min(2_000, n_rows // 3)
    for split in range(given.splits):
        order = np.random.default_rng(split).permutation(n_rows)
        train, test = order[:-n_held_out][: given.rows], order[-n_held_out:]
        shape = f"{len(train)} rows to learn from, {X.shape[1]} features"
        print(f"{given.set or 'made up'}, split {split}: {shape}")
        for batch, epochs in product(given.batch * given.repeat, given.epochs):
            model = CoherentNetworkClassifier(
                batch_size=batch, n_epochs=epochs,
                backend=given.backend, hierarchy=hierarchy, random_state=split,
            )  # fmt: skip
            start, cpu = time.perf_counter(), time.process_time()
            model.fit(take_rows(X, train), _rows_of(y, train))
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            proba = model.predict_node_proba(take_rows(X, test))
            score = micro_auprc(_rows_of(y, test), proba, hierarchy=model.hierarchy_)
            print(
                f"{model.backend_}, {model.n_epochs_} epochs, batch {batch}: {seconds:.1f} s, "
                f"{cpu:.1f} CPU s, AU(PRC) {score:.4f} on {len(test)} rows held out",
                flush=True,
            )


if __name__ == "__main__":
    main()
