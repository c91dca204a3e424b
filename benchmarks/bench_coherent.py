"""The coherent blend and forest with defaults beside a random forest, over seeds; copied rows.

    OMP_NUM_THREADS=1 python benchmarks/bench_coherent.py duplicates
    OMP_NUM_THREADS=1 python benchmarks/bench_coherent.py test --resume coherent.jsonl [--jobs 16]
    python benchmarks/bench_coherent.py table --resume coherent.jsonl
    OMP_NUM_THREADS=1 python benchmarks/bench_coherent.py cv [--sets pheno_fun ...]

Data sets are found through the environment variable PALMETTE_DATA. `test` fits on training and
validation rows and scores the test rows once per seed by micro AU(PRC); the root, and for GO the
roots of its three namespaces, do not count. Blend and forest are run first, seed by seed; then the
random forests, with `--rival-seeds` seeds, their sets of many nodes last. Results are appended to a
file, and a second run goes on with what is missing; after `--limit` seconds no cell is begun, and
those under way are finished. `table` prints means over seeds
with 95% intervals (t distribution), and the means over the test rows that have no near copy among
the training rows. `cv` compares settings of the forest by three folds of training and validation
rows; test rows are not used.

`duplicates` counts test rows with an equal row among those for fitting, and with a near one: the
root mean square difference of the features, each scaled to a standard deviation of 1, is at most
.05. Nominal features are encoded as columns of 0 and 1.

The random forest is that of scikit-learn with its defaults, over all nodes at once, grown tree by
tree since its leaves hold a number per node: bootstrap samples, the square root of the features,
leaves of one row or of five. Nominal features are encoded for it, missing values are the means.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from bench_gene_functions import left_out
from joblib import Parallel, delayed
from scipy import sparse, stats

import palmette as pm
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import average_precision_of_cells
from palmette.multipath._base import FeatureScaling

# Giunchiglia and Lukasiewicz 2020 (C-HMCNN), AU(PRC) on the same test rows; None: not published
PUBLISHED: dict[str, float | None] = {
    "cellcycle_fun": 0.255,
    "derisi_fun": 0.195,
    "eisen_fun": 0.306,
    "gasch1_fun": 0.286,
    "spo_fun": 0.215,
    "cellcycle_go": 0.413,
    "derisi_go": 0.370,
    "eisen_go": 0.455,
    "gasch1_go": 0.436,
    "spo_go": 0.382,
    "enron_corr": 0.756,
    "diatoms": 0.758,
    "imclef07a": 0.956,
    "imclef07d": 0.927,
    "pheno_fun": None,
    "pheno_go": None,
    "church_fun": None,
}
OURS = ("blend", "forest")
RIVALS = ("random forest, leaves of 5", "random forest")
MODELS = OURS + RIVALS
SETTINGS = {
    "auto": {},
    "3, half": {"min_samples_leaf": 3, "max_features": 0.5},
    "5, sqrt": {"min_samples_leaf": 5, "max_features": "sqrt"},
}
NEAR = 0.05
N_TREES = 100


class Rows:
    """Rows for fitting (training and validation parts) and test rows of a set."""

    def __init__(self, name: str) -> None:
        bunch = pm.datasets.fetch(name)
        self.hierarchy = bunch.hierarchy
        stack = sparse.vstack if sparse.issparse(bunch.X_train) else np.vstack
        parts = [part for part in ("train", "valid") if bunch.get(f"X_{part}") is not None]
        X = stack([bunch[f"X_{part}"] for part in parts])
        self.X = sparse.csr_array(X) if sparse.issparse(X) else X
        self.y = [_labels(row) for part in parts for row in bunch[f"y_{part}"]]
        self.X_test, self.y_test = bunch.X_test, [_labels(row) for row in bunch.y_test]
        categorical = bunch.get("categorical_features")
        has_any = categorical is not None and np.any(categorical)
        self.categorical = np.asarray(categorical) if has_any else None
        dropped = [0, *(int(n) for n in self.hierarchy.index(left_out(self.hierarchy)))]
        self.counted = np.setdiff1d(np.arange(self.hierarchy.n_nodes), dropped)

    def truth(self, y: list[Any]) -> sparse.csr_array:
        closed = NodeLabels.encode(y, self.hierarchy).closed
        return sparse.csr_array(closed[:, self.counted])


def _labels(row: Any) -> frozenset[Any]:
    if isinstance(row, set | frozenset):
        return frozenset(row)
    return frozenset([tuple(row) if isinstance(row, list | np.ndarray) else row])


# ---------------------------------------------------------------------- copied rows


def copies(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of every test row: whether an equal row is fitted on, a near one, the nearest."""
    scaling = FeatureScaling(ranks=False).fit(rows.X, None, rows.categorical)
    train, test = (_dense(scaling.transform(X)) for X in (rows.X, rows.X_test))
    n_features = rows.X.shape[1]
    nearest, squares = [], []
    own = (train**2).sum(axis=1)
    for start in range(0, len(test), 500):
        part = test[start : start + 500]
        distances = (part**2).sum(axis=1)[:, None] + own - 2.0 * part @ train.T
        nearest.append(distances.argmin(axis=1))
        squares.append(((part - train[nearest[-1]]) ** 2).sum(axis=1))
    place, difference = np.concatenate(nearest), np.sqrt(np.concatenate(squares) / n_features)
    given = {_bytes(row) for row in _dense(rows.X)}
    equal = np.array([_bytes(row) in given for row in _dense(rows.X_test)])
    return equal, difference <= NEAR, place


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _bytes(row: np.ndarray) -> bytes:
    return np.nan_to_num(row + 0.0, nan=1e300).tobytes()  # -0.0 equals 0.0


def duplicates(options: argparse.Namespace) -> None:
    print("| set | rows to fit on | test rows | equal | near | near, of equal labels |")
    print("|---|---|---|---|---|---|")
    for name in options.sets:
        rows = Rows(name)
        equal, near, place = copies(rows)
        alike = [rows.y_test[i] == rows.y[place[i]] for i in np.flatnonzero(near)]
        counts = (len(rows.y), len(rows.y_test), equal.sum(), near.sum(), sum(alike))
        print(f"| {name} | {' | '.join(map(str, counts))} |", flush=True)


# ---------------------------------------------------------------------- test rows


def random_forest(rows: Rows, seed: int, leaf: int) -> np.ndarray:
    """Return the probabilities of the counted nodes for the test rows."""
    from sklearn.tree import DecisionTreeRegressor

    X, X_test = rows.X, rows.X_test
    if not sparse.issparse(X):
        scaling = FeatureScaling(ranks=False).fit(X, None, rows.categorical)
        X, X_test = scaling.transform(X), scaling.transform(X_test)
    targets = rows.truth(rows.y).toarray().astype(np.float64)
    rng = np.random.default_rng(seed)
    proba = np.zeros((X_test.shape[0], targets.shape[1]))
    for _ in range(N_TREES):
        drawn = rng.integers(X.shape[0], size=X.shape[0])
        tree = DecisionTreeRegressor(
            min_samples_leaf=leaf, max_features="sqrt", random_state=int(rng.integers(2**31 - 1))
        )
        proba += tree.fit(X[drawn], targets[drawn]).predict(X_test)
    return proba / N_TREES


def run_cell(name: str, model: str, seed: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")  # classes without training rows
    rows = Rows(name)
    start = time.process_time()
    found: dict[str, Any] = {"set": name, "model": model, "seed": seed}
    if model.startswith("random forest"):
        proba = random_forest(rows, seed, 5 if model.endswith("5") else 1)
    else:
        kind = pm.CoherentBlendClassifier if model == "blend" else pm.CoherentForestClassifier
        classifier = kind(
            hierarchy=rows.hierarchy, categorical_features=rows.categorical, random_state=seed
        ).fit(rows.X, rows.y)
        proba = classifier.predict_node_proba(rows.X_test)[:, rows.counted]
        found["weights"] = [float(weight) for weight in getattr(classifier, "weights_", [])]
        found["validation"] = getattr(classifier, "validation_scores_", {})
        found["choices"] = {str(k): v for k, v in getattr(classifier, "choices_", {}).items()}
    found["cpu_s"] = time.process_time() - start
    truth = rows.truth(rows.y_test)
    found["auprc"] = average_precision_of_cells(truth, proba)
    others = np.flatnonzero(~copies(rows)[1])
    found["without_copies"] = average_precision_of_cells(truth[others], proba[others])
    return found


def read(path: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    results = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found = json.loads(line)
        except json.JSONDecodeError:  # cut by an interrupt
            continue
        results[found["set"], found["model"], found["seed"]] = found
    return results


def cells_of(options: argparse.Namespace) -> list[tuple[str, str, int]]:
    """Return (set, model, seed) in the order of their importance."""
    ours = [
        (name, model, seed)
        for seed in range(options.seeds)
        for model in OURS
        for name in sorted(options.sets, key=_is_costly, reverse=True)  # no long cell at the end
    ]
    rivals = [
        (name, model, seed)
        for seed in range(options.rival_seeds)
        for costly in (False, True)
        for model in RIVALS
        for name in options.sets
        if _is_costly(name) == costly
    ]
    return [cell for cell in ours + rivals if cell[1] in options.models]


def _is_costly(name: str) -> bool:
    return name.endswith("_go")  # thousands of nodes


def test(options: argparse.Namespace) -> None:
    done = read(options.resume)
    wanted = cells_of(options)
    cells = [cell for cell in wanted if cell not in done]
    print(f"{len(cells)} of {len(wanted)} to run", flush=True)
    deadline = time.monotonic() + options.limit
    # the list is read as workers become free
    begun = (delayed(run_cell)(*cell) for cell in cells if time.monotonic() < deadline)
    with options.resume.open("a") as file:
        if file.tell() and not options.resume.read_text().endswith("\n"):
            file.write("\n")
        workers = Parallel(options.jobs, return_as="generator_unordered", pre_dispatch=options.jobs)
        for found in workers(begun):
            file.write(json.dumps(found) + "\n")
            file.flush()
            print(*(found[key] for key in ("set", "model", "seed", "cpu_s")), flush=True)
    table(options)


def interval(values: list[float]) -> str:
    """Return the mean of values and its 95% interval."""
    mean, n = float(np.mean(values)), len(values)
    if n < 2:
        return f"{mean:.3f}"
    half = stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    return f"{mean:.3f} ({mean - half:.3f}-{mean + half:.3f})"


def table(options: argparse.Namespace) -> None:
    by_set = defaultdict(lambda: defaultdict(list))
    for (name, model, _), found in read(options.resume).items():
        by_set[name][model].append(found)
    heads = " | ".join(MODELS)
    print(f"| set | C-HMCNN | {heads} | without copies: {heads} | seeds | blend CPU s |")
    print("|---" * (4 + 2 * len(MODELS)) + "|")
    for name, published in PUBLISHED.items():
        results = by_set[name]
        if not results:
            continue
        scores = [[r["auprc"] for r in results[model]] for model in MODELS]
        others = [[r["without_copies"] for r in results[model]] for model in MODELS]
        cells = [interval(each) if each else "" for each in scores]
        cells += [f"{np.mean(each):.3f}" if each else "" for each in others]
        seconds = [r["cpu_s"] for r in results["blend"]]
        cost = f"{np.mean(seconds):.0f}" if seconds else ""
        known = "" if published is None else f"{published:.3f}"
        n_seeds = "/".join(str(len(each)) for each in scores)
        print(f"| {name} | {known} | {' | '.join(cells)} | {n_seeds} | {cost} |")


# ---------------------------------------------------------------------- cross-validation


def cv(options: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    print(f"| set | {' | '.join(SETTINGS)} | chosen | CPU s |")
    print("|---" * (len(SETTINGS) + 3) + "|")
    for name in options.sets:
        rows, start = Rows(name), time.process_time()
        fold = np.random.default_rng(0).permutation(len(rows.y)) % 3
        scores, chosen = defaultdict(list), []
        for held in range(3):
            inner, outer = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
            truth = rows.truth([rows.y[i] for i in outer])
            for label, setting in SETTINGS.items():
                forest = pm.CoherentForestClassifier(
                    **setting,
                    hierarchy=rows.hierarchy,
                    categorical_features=rows.categorical,
                    random_state=0,
                ).fit(rows.X[inner], [rows.y[i] for i in inner])
                proba = forest.predict_node_proba(rows.X[outer])[:, rows.counted]
                scores[label].append(average_precision_of_cells(truth, proba))
                if label == "auto" and forest.choices_:
                    chosen.append(max(forest.choices_, key=forest.choices_.get))
        means = " | ".join(f"{np.mean(scores[label]):.4f}" for label in SETTINGS)
        picked = ", ".join(f"{leaf} {features}" for leaf, features in chosen)
        print(f"| {name} | {means} | {picked} | {time.process_time() - start:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["duplicates", "test", "table", "cv"])
    parser.add_argument("--sets", nargs="+", default=list(PUBLISHED), choices=list(PUBLISHED))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rival-seeds", type=int, default=2, help="of the random forests")
    parser.add_argument("--resume", type=Path, default=Path("coherent.jsonl"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1e9, help="seconds until no cell is begun")
    options = parser.parse_args()
    {"duplicates": duplicates, "test": test, "table": table, "cv": cv}[options.command](options)


if __name__ == "__main__":
    main()
