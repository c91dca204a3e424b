"""What the couplings of HiRR-FS gain when their strengths are chosen by cross-validation.

    OMP_NUM_THREADS=1 python benchmarks/bench_hirr_couplings.py --sets protein_dd diatoms

The data sets are found through the environment variable PALMETTE_DATA. At every node the k best
features of `HirrScore` go into a LinearSVC (tol .01). `GridSearchCV` chooses the strengths
towards the parent and away from siblings, both relative to the data, among 0, .1 and 1 by
three folds of the training rows (hierarchical F1; at most `--rows` of them). Test rows are scored
once with the chosen strengths and once without couplings; where a set has no test part, the last
third of its shuffled rows is one. The interval of the difference is the 95% interval of 1,000
paired bootstrap samples of the test rows. "Changed" is the share of the features selected at the
nodes that are not selected without couplings.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import LinearSVC

import palmette as pm
from palmette._arrays import take_rows
from palmette.labels._labels import NodeLabels
from palmette.metrics import hierarchical_f1_score
from papers.hirr_fs.methods import read_set

FEATURES = {
    "protein_dd": 40,
    "diatoms": 74,
    "imclef07d": 16,
    "bridges": 2,
    "saiapr5000": 102,
    "news20_951": 300,
    "clinc150": 300,
}
STRENGTHS = (0.0, 0.1, 1.0)


def classifier(hierarchy, n_features):
    selector = pm.HierarchicalFeatureSelector(
        pm.HirrScore(tol=1e-4), hierarchy=hierarchy, n_features_to_select=n_features
    )
    return pm.LocalPerParentClassifier(
        LinearSVC(tol=0.01, random_state=0), hierarchy=hierarchy, feature_selector=selector
    )


def divided(problem, seed=0):
    """Return training and test rows."""
    X, y = problem.X_train, np.asarray(problem.y_train)
    if problem.has_split:
        return X, y, problem.X_test, np.asarray(problem.y_test)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [2 * len(order) // 3])
    return take_rows(X, train), y[train], take_rows(X, test), y[test]


def line(name, max_rows):
    problem = read_set(name)
    X, y, X_test, y_test = divided(problem)
    if isinstance(X, np.ndarray):
        mean, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-9)
        X, X_test = (X - mean) / scale, (X_test - mean) / scale
    rows = np.random.default_rng(0).permutation(len(y))[:max_rows]
    scorer = make_scorer(hierarchical_f1_score, hierarchy=problem.hierarchy)
    grid = {f"feature_selector__score__{of}": STRENGTHS for of in ("parent", "sibling")}
    model = classifier(problem.hierarchy, FEATURES[name])
    begun = time.process_time()
    search = GridSearchCV(model, grid, scoring=scorer, cv=KFold(3), refit=False)
    search.fit(take_rows(X, rows), y[rows])
    scores = search.cv_results_["mean_test_score"]
    seconds = time.process_time() - begun
    found = {}
    for label, settings in (("none", {}), ("chosen", search.best_params_)):
        found[label] = classifier(problem.hierarchy, FEATURES[name]).set_params(**settings)
        found[label].fit(X, y)
    predictions = {label: fitted.predict(X_test) for label, fitted in found.items()}
    f1 = {
        label: hierarchical_f1_score(y_test, predicted, hierarchy=problem.hierarchy)
        for label, predicted in predictions.items()
    }
    low, high = interval(problem.hierarchy, y_test, predictions)
    supports = [each.feature_selector_.node_supports_.astype(int) for each in found.values()]
    kept = supports[0].multiply(supports[1]).sum() / supports[1].sum()
    parent, sibling = (search.best_params_[key] for key in grid)
    print(
        f"| {name} | {len(rows):,} | {scores[0]:.4f} | {scores.max():.4f} | "
        f"{parent:g}, {sibling:g} | {1 - kept:.2f} | {f1['none']:.4f} | {f1['chosen']:.4f} | "
        f"{f1['chosen'] - f1['none']:+.4f} ({low:+.4f} to {high:+.4f}) | {seconds:.0f} |",
        flush=True,
    )


def interval(hierarchy, y_test, predictions, n_samples=1000):
    """Return the 95% bootstrap interval of the difference in hierarchical F1."""
    rng = np.random.default_rng(0)
    counts = {label: row_counts(hierarchy, y_test, p) for label, p in predictions.items()}
    differences = []
    for _ in range(n_samples):
        drawn = rng.integers(len(y_test), size=len(y_test))
        scores = {label: f1_of(*(part[drawn].sum() for part in c)) for label, c in counts.items()}
        differences.append(scores["chosen"] - scores["none"])
    return np.percentile(differences, [2.5, 97.5])


def row_counts(hierarchy, y_test, predicted):
    """Return for each row the nodes in common, of the truth and of the prediction."""
    true, guessed = (
        NodeLabels.encode(y, hierarchy).closed.astype(int) for y in (y_test, predicted)
    )
    common = true.multiply(guessed)
    # the root is in every path
    return tuple(np.asarray(part.sum(axis=1)).ravel() - 1 for part in (common, true, guessed))


def f1_of(common, true, guessed):
    return 2 * common / (true + guessed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(FEATURES), choices=list(FEATURES))
    parser.add_argument("--rows", type=int, default=3000, help="of the cross-validation")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| set | rows | CV, none | CV, best | parent, sibling | changed | test, none "
        "| test, chosen | difference | CPU s |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for name in options.sets:
        line(name, options.rows)


if __name__ == "__main__":
    main()
