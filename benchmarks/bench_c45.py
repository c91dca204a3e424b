"""C45Tree beside scikit-learn's tree by entropy: one tree, and the members of an ensemble.

    python benchmarks/bench_c45.py --sets yeast scene enron

The data sets are found through the environment variable PALMETTE_DATA. `tree` is the least of some
CPU seconds of fitting one full tree to the four combinations of the first two labels; `ensemble`
that of COCOA with 3 couplings of 5 members, whose columns are sorted once. Both kinds of trees have
leaves of two rows at least; ours are neither pruned nor smoothed here.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from palmette.datasets import fetch
from palmette.multilabel import COCOA, C45Tree

KINDS = {
    "scikit-learn": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0),
    "ours": C45Tree(None, smoothing=0.0, random_state=0),
}


def dense(table):
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


def load(name, n_rows):
    bunch = fetch(name)
    X, Y = dense(bunch["X_train"])[:n_rows], dense(bunch["y_train"])[:n_rows].astype(int)
    return X.astype(np.float32), Y[:, (Y.sum(axis=0) >= 20) & (Y.sum(axis=0) <= len(Y) - 20)]


def seconds(fit, repeats):
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        fit()
        taken.append(time.process_time() - begun)
    return min(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["yeast", "scene", "enron"])
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    for table in (np.eye(6), 2 * np.eye(6)):  # compiles both kernels
        KINDS["ours"].fit(table, np.arange(6) // 3)
    for name in given.sets:
        X, Y = load(name, given.rows)
        codes = Y[:, 0] + 2 * Y[:, 1]
        for what in ("tree", "ensemble"):
            found = {}
            for kind, tree in KINDS.items():
                if what == "tree":
                    found[kind] = seconds(lambda: clone(tree).fit(X, codes), given.repeats)  # noqa: B023
                else:
                    model = COCOA(3, 5, tree, random_state=0)
                    found[kind] = seconds(lambda: clone(model).fit(X, Y), 1)  # noqa: B023
            theirs, ours = found.values()
            print(
                f"{name:8}{what:10}scikit-learn {theirs:7.3f} s, ours {ours:7.3f} s, "
                f"{theirs / ours:5.1f} times as quick",
                flush=True,
            )


if __name__ == "__main__":
    main()
