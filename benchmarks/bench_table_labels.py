"""Label sets: LinearMultilabel beside one-vs-rest LinearSVC with thresholds tuned out of fold.

    python benchmarks/bench_table_labels.py --data medical enron bibtex --seeds 3
    python benchmarks/bench_table_labels.py --table tags.csv --target tags --seeds 1
    python benchmarks/bench_table_labels.py --table tags.csv --target tags --fit --time 60

Every seed is a random split of the training rows, two thirds against one third; the features of a
table are learned on the former. Scores are over all nodes: micro is the hierarchical F1 of
`palmette fit`, "rows" the mean over rows, macro the mean over nodes; the interval is that of a
bootstrap of the test rows of the first seed. Every method runs in a process of its own, whose CPU
seconds and peak memory are printed. With ``--fit`` the whole command runs instead, on all rows.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="*", default=[], help="names of the data home")
    parser.add_argument("--table", help="a CSV file")
    parser.add_argument("--target", default="tags")
    parser.add_argument("--labels-separator", default=";")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--fit", action="store_true", help="run palmette fit on the table")
    parser.add_argument("--time", type=float, default=60.0)
    options = parser.parse_args()
    if options.fit:
        fit_by_command(options)
        return
    print("| data | method | micro F1 | 95 % | rows | macro | CPU s | peak MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for name in [*options.data, *([options.table] if options.table else [])]:
        for method in options.methods:
            runs = [in_process(name, method, seed, options) for seed in range(options.seeds)]
            scores = np.array([run["scores"] for run in runs])
            spread = f" ± {scores[:, 0].std(ddof=1):.4f}" if len(runs) > 1 else ""
            low, high = runs[0]["interval"]
            print(
                f"| {Path(name).stem} | {method} | {scores[:, 0].mean():.4f}{spread} | "
                f"{low:.4f}-{high:.4f} | {scores[:, 1].mean():.4f} | {scores[:, 2].mean():.4f} | "
                f"{np.mean([run['seconds'] for run in runs]):.1f} | "
                f"{max(run['memory'] for run in runs):.0f} |",
                flush=True,
            )


# ---------------------------------------------------------------------- one method on one split


def in_process(name: str, method: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return the scores, CPU seconds and peak memory of a method, from a process of its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(run, (name, method, seed, options.target, options.labels_separator))


def run(name: str, method: str, seed: int, target: str, separator: str) -> dict[str, Any]:
    X, y, test_rows, truth, hierarchy = split(name, seed, target, separator)
    METHODS[method](X[:200], y[:200], hierarchy, seed)(X[:5])  # kernels are compiled
    start = time.process_time()
    predicted = METHODS[method](X, y, hierarchy, seed)(test_rows)
    seconds = time.process_time() - start
    hits = (predicted & truth).sum(axis=1)
    sizes = predicted.sum(axis=1) + truth.sum(axis=1)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(hits), size=(1000, len(hits)))
    interval = np.quantile(2 * hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    by_node = (predicted & truth).sum(axis=0), predicted.sum(axis=0) + truth.sum(axis=0)
    scores = (
        2 * hits.sum() / sizes.sum(),
        np.mean(np.where(sizes > 0, 2 * hits / np.maximum(sizes, 1), 1.0)),
        np.mean(2 * by_node[0] / np.maximum(by_node[1], 1)),
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "scores": scores, "interval": interval.tolist(), "seconds": seconds, "memory": memory
    }  # fmt: skip


def split(name: str, seed: int, target: str, separator: str) -> Any:
    """Return training rows and label sets, test rows and their true nodes, and the hierarchy."""
    from palmette import NodeLabels

    if Path(name).exists():
        from palmette.table._features import TableFeatures
        from palmette.table._problem import read_problem

        problem = read_problem(name, target, labels_separator=separator)
        labels, hierarchy = problem.truth, problem.hierarchy
        train, test = parts(len(labels), seed)
        features = TableFeatures(problem.schema)
        rows = features.fit_transform(problem.frame.iloc[train])
        test_rows = features.transform(problem.frame.iloc[test])
    else:
        from sklearn.preprocessing import StandardScaler

        from palmette._arrays import short_indices
        from palmette.datasets import fetch

        data = fetch(name)
        X = data.get("X_train", data.get("data"))
        read = NodeLabels.encode(data.get("y_train", data.get("target")))
        hierarchy = read.hierarchy
        paths = hierarchy.path_strings
        labels = [{paths[i] for i in read.given[[r]].indices} for r in range(X.shape[0])]
        is_sparse = sparse.issparse(X)
        X = short_indices(sparse.csr_array(X, dtype=float)) if is_sparse else np.asarray(X, float)
        train, test = parts(len(labels), seed)
        rows, test_rows = X[train], X[test]
        if not sparse.issparse(X):
            scaler = StandardScaler().fit(rows)
            rows, test_rows = scaler.transform(rows), scaler.transform(test_rows)
    truth = NodeLabels.encode([labels[i] for i in test], hierarchy).closed.toarray()[:, 1:]
    return rows, [labels[i] for i in train], test_rows, truth.astype(bool), hierarchy


def parts(n_rows: int, seed: int) -> tuple[Any, Any]:
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[n_rows // 3 :]), np.sort(order[: n_rows // 3])


# ---------------------------------------------------------------------- methods


def linear(X: Any, y: Any, hierarchy: Any, seed: int, **parameters: Any) -> Any:
    from palmette.models import make_model

    model = make_model("multilabel-linear", hierarchy, seed, text=X.shape[1] > 4000)
    fitted = model.set_params(**parameters).fit(X, y)
    return lambda rows: fitted.predict_node_sets(rows).toarray()[:, 1:]


def linear_f1(X: Any, y: Any, hierarchy: Any, seed: int) -> Any:
    return linear(X, y, hierarchy, seed, decoding="f1")


def svc(X: Any, y: Any, hierarchy: Any, seed: int, shared: bool = False) -> Any:
    """Fit LinearSVC per node; thresholds have the best F1 on margins of three folds.

    With `shared` there is one threshold for all nodes, the best for all cells together.
    """
    from scipy.special import expit
    from sklearn.model_selection import KFold
    from sklearn.svm import LinearSVC

    from palmette import NodeLabels
    from palmette.decisions._tuned import BestF, best_cuts

    truth = NodeLabels.encode(y, hierarchy).closed[:, 1:].toarray().astype(bool)

    def margins(train: Any, rows: Any) -> Any:
        found = np.full((rows.shape[0], truth.shape[1]), -1.0)
        for j in range(truth.shape[1]):
            if truth[train, j].all() or not truth[train, j].any():
                found[:, j] = 1.0 if truth[train, j].all() else -1.0
                continue
            model = LinearSVC(random_state=seed).fit(X[train], truth[train, j])
            found[:, j] = model.decision_function(rows)
        return found

    held = np.empty(truth.shape)
    for train, test in KFold(3, shuffle=True, random_state=seed).split(truth):
        held[test] = margins(train, X[test])
    cells = (
        (expit(held), truth) if not shared else (expit(held).reshape(-1, 1), truth.reshape(-1, 1))
    )
    cuts = best_cuts(cells[0], sparse.csr_array(cells[1]), BestF()._cut_value())
    above = hierarchy.closure[1:, 1:].toarray().astype(np.float32)

    def predict(rows: Any) -> Any:
        chosen = expit(margins(np.arange(len(truth)), rows)) > cuts
        return chosen.astype(np.float32) @ above > 0  # ancestors of a label are true

    return predict


def svc_shared(X: Any, y: Any, hierarchy: Any, seed: int) -> Any:
    return svc(X, y, hierarchy, seed, shared=True)


METHODS = {
    "multilabel-linear": linear,
    "the same, f1 per label": linear_f1,
    "LinearSVC": svc,
    "LinearSVC, one threshold": svc_shared,
}


def fit_by_command(options: argparse.Namespace) -> None:
    """Run `palmette fit` on the table, and print its time, memory and leaderboard."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model.palmette"
        start = time.monotonic()
        command = [
            *[str(Path(sys.executable).with_name("palmette")), "fit", options.table],
            *["--target", options.target],
            *["--labels-separator", options.labels_separator, "--time", str(options.time)],
            *["--out", str(out), "--jobs", str(os.cpu_count())],
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        facts = {
            "wall s": round(time.monotonic() - start, 1),
            "CPU s": round(used.ru_utime + used.ru_stime, 1),
            "peak MiB": used.ru_maxrss // 1024,
            "file MiB": round(out.stat().st_size / 2**20, 1),
        }
        print(json.dumps(facts))


if __name__ == "__main__":
    main()
