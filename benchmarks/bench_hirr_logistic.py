"""The logistic loss of HiRR-FS beside squares: F1 of test rows, CPU seconds and sweeps.

    OMP_NUM_THREADS=1 python benchmarks/bench_hirr_logistic.py --sets bridges imclef07d

The data sets are found through the environment variable PALMETTE_DATA. At every node the k best
features of `HirrScore(tol=1e-4)` go into a LinearSVC (tol .01); where a set has no test part, the
last third of its shuffled rows is one. F1 is per row with the root, with its standard error.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.frozen import FrozenEstimator

from palmette.feature_selection._hirr import HirrScore
from papers.hirr_fs.couplings import classifier_of, divided, row_counts
from papers.hirr_fs.methods import numbers_of, read_set

SETS = ("bridges", "imclef07d", "protein_dd", "imclef07a", "news20_951", "clinc150")


def line(name: str) -> None:
    """Print the line of a data set."""
    problem = read_set(name)
    k = numbers_of(problem).k
    X, y, X_test, y_test = divided(problem)
    cells = []
    for loss in ("squares", "logistic"):
        model = classifier_of(problem, HirrScore(tol=1e-4, loss=loss), k)
        begun = time.process_time()
        selector = model.feature_selector.fit(X, y)
        seconds = time.process_time() - begun
        model.set_params(feature_selector=FrozenEstimator(selector)).fit(X, y)
        common, true, guessed = row_counts(problem.hierarchy, y_test, model.predict(X_test)) + 1
        f1 = 2 * common / (true + guessed)
        error = f1.std() / np.sqrt(len(f1))
        cells.append(f"{f1.mean():.4f} ({error:.4f}) | {seconds:.2f} | {selector.n_iter_}")
    print(f"| {name} ({k}) | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS[:3]), choices=SETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| set (k) | squares | s | sweeps | logistic | s | sweeps |\n|---|---|---|---|---|---|---|"
    )
    for name in options.sets:
        line(name)


if __name__ == "__main__":
    main()
