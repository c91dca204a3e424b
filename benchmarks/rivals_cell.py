"""One cell of the rivals' table: a method on a data set, with its defaults or with a search.

    python benchmarks/rivals_cell.py CELL

CELL is a JSON object with the keys set, method, mode ("default" or "search"), seed, validate and
limit (CPU seconds). It is run by `bench_rivals.py`, in a process of its own. The last line of the
output is a JSON object: scores, CPU seconds, memory, and what the search chose.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

N_FOLDS = 3
ONE_FOLD = 3_000  # training rows above which the search validates on one fold
SEARCH_SECONDS = 300.0
NAMESPACES = ("GO0003674", "GO0005575", "GO0008150")  # nearly every row has them: left out

# ---------------------------------------------------------------------- data sets


@dataclass(frozen=True)
class Problem:
    """A data set: kind of its target, and sizes by which cells are ordered."""

    kind: str  # "path" (one label per row), "labels" (label sets), "paths" (sets of nodes)
    rows: int
    features: int
    outputs: int
    published: bool = False  # whether there is a published test part

    @property
    def n_seeds(self) -> int:
        return 1 if self.published or self.rows >= 2_000 else 5


PROBLEMS = {
    "zoo": Problem("path", 101, 17, 7),
    "iris": Problem("path", 150, 4, 3),
    "glass": Problem("path", 214, 9, 6),
    "ecoli": Problem("path", 336, 7, 8),
    "vehicle": Problem("path", 846, 18, 4),
    "yeast_uci": Problem("path", 1484, 8, 10),
    "digits": Problem("path", 1797, 64, 10),
    "page_blocks": Problem("path", 5473, 10, 5),
    "landsat": Problem("path", 4435, 36, 6, True),
    "optdigits": Problem("path", 3823, 64, 10, True),
    "pendigits": Problem("path", 7494, 16, 10, True),
    "letter": Problem("path", 20000, 16, 26),
    "omniglot_small": Problem("path", 2720, 441, 136),
    "imclef07d": Problem("path", 10000, 80, 46, True),
    "imclef07a": Problem("path", 10000, 80, 96, True),
    "diatoms": Problem("path", 2065, 371, 311, True),
    "yeast": Problem("labels", 1500, 103, 14, True),
    "enron": Problem("labels", 1123, 1001, 53, True),
    "delicious": Problem("labels", 12920, 500, 983, True),
    "cellcycle_fun": Problem("paths", 2476, 77, 499, True),
    "gasch1_go": Problem("paths", 2477, 173, 4125, True),
}
MEASURES = {
    "path": ("hF1",),
    "labels": ("macro-F", "micro-F", "AUC"),
    "paths": ("AU(PRC)",),
}


@dataclass
class Part:
    """Training and test rows of one cell; X has NaN for missing values."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    hierarchy: Any
    kind: str


def load(name: str, seed: int, validate: bool) -> Part:
    problem = PROBLEMS[name]
    bunch = fetch(name)
    if problem.published:
        X, y = bunch.X_train, bunch.y_train
        if "X_valid" in bunch:
            X, y = np.vstack([X, bunch.X_valid]), [*y, *bunch.y_valid]
        X_test, y_test = bunch.X_test, bunch.y_test
    else:
        train, test = random_split(bunch.y, 0 if validate else seed)
        X, y, X_test, y_test = bunch.X[train], bunch.y[train], bunch.X[test], bunch.y[test]
    if problem.kind == "labels":
        y, y_test = (np.asarray(dense(each), dtype=np.int8) for each in (y, y_test))
    if validate:
        train, test = folds(problem.kind, y)[seed]
        X, y, X_test, y_test = X[train], take(y, train), X[test], take(y, test)
    return Part(X, y, X_test, y_test, bunch.hierarchy, problem.kind)


def fetch(name):
    from palmette import datasets

    if name == "digits":
        return datasets.load_digits_hierarchy()
    bunch = datasets.fetch(name)
    if name == "omniglot_small":  # the published test part has other letters
        images = bunch.X_train.reshape(-1, 21, 5, 21, 5)
        bunch.X = images.mean(axis=(2, 4)).reshape(len(images), -1)
        bunch.y = bunch.y_train
    return bunch


def dense(table):
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


def take(y, rows):
    return [y[i] for i in rows] if isinstance(y, list) else y[rows]


def random_split(y, seed):
    from sklearn.model_selection import train_test_split

    codes = codes_of(y)
    return train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=codes, random_state=seed)


def folds(kind, y):
    """Return the training and validation rows of three folds."""
    from sklearn.model_selection import KFold, StratifiedKFold

    rows = np.zeros(len(y))
    if kind == "path":
        return list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(rows, codes_of(y)))
    return list(KFold(N_FOLDS, shuffle=True, random_state=0).split(rows))


def codes_of(y):
    return np.unique(np.asarray(y).astype(str), return_inverse=True)[1]


# ---------------------------------------------------------------------- methods


def our_boosting(part, seed, **changes):
    import palmette as pm

    hierarchy = None if part.kind == "labels" else part.hierarchy
    return pm.HierarchicalBoostingClassifier(hierarchy, random_state=seed, **changes)


def our_forest(part, seed, **changes):
    import palmette as pm

    return pm.StructuredForestClassifier(random_state=seed, **changes)


def our_blend(part, seed, members=None, **changes):
    import palmette as pm

    kinds = {
        "forest": pm.CoherentForestClassifier,
        "kernel": pm.CoherentKernelClassifier,
        "network": pm.CoherentNetworkClassifier,
    }
    if members is not None:
        members = [(name, kinds[name](**settings)) for name, settings in members.items()]
    return pm.CoherentBlendClassifier(
        members, hierarchy=part.hierarchy, random_state=seed, **changes
    )


def lightgbm(seed, **changes):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1, **changes)


def xgboost(seed, **changes):
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=seed, tree_method="hist", **changes)


def catboost(seed, **changes):
    from catboost import CatBoostClassifier

    quiet = {"verbose": False, "allow_writing_files": False}
    return CatBoostClassifier(thread_count=1, random_seed=seed, **quiet, **changes)


def hist_boosting(seed, **changes):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed, **changes)


def extra_trees(seed, **changes):
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(n_jobs=1, random_state=seed, **changes)


def random_forest(seed, **changes):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_jobs=1, random_state=seed, **changes)


def logistic(seed, **changes):
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    last = LogisticRegression(max_iter=1000, **changes)  # 100 iterations do not converge
    return make_pipeline(SimpleImputer(), StandardScaler(), last)


@dataclass(frozen=True)
class Method:
    """A way to make a model, and the candidates of its search beside the defaults."""

    make: Any
    candidates: tuple[dict[str, Any], ...]
    kinds: tuple[str, ...] = ("path", "labels", "paths")
    ours: bool = False
    library: str = "sklearn"
    per_label: bool = False  # one model per label, as the library has none for label sets
    cost: float = 1.0


_OF_TREES = (
    {"n_estimators": 500},
    {"n_estimators": 300, "max_features": 0.3},
    {"n_estimators": 300, "min_samples_leaf": 3},
    {"n_estimators": 300, "max_features": 0.3, "min_samples_leaf": 3},
    {"n_estimators": 300, "min_samples_leaf": 5, "max_features": 0.6},
)
_OF_XGBOOST = (
    {"learning_rate": 0.1, "n_estimators": 200, "max_depth": 4},
    {"learning_rate": 0.1, "n_estimators": 200, "subsample": 0.7, "colsample_bytree": 0.5},
    {"learning_rate": 0.05, "n_estimators": 300, "max_depth": 4, "colsample_bytree": 0.5},
    {"max_depth": 3},
    {"learning_rate": 0.1, "max_depth": 8, "min_child_weight": 0.3, "colsample_bytree": 0.5},
)
_OF_BOOSTING = (
    {"loss": ("leaf_softmax", "path_softmax"), "n_bags": 2},
    {"max_features": 0.5},
    {"max_depth": 3},
    {"max_depth": 7},
    {"min_samples_leaf": 3},
)
METHODS = {
    "palmette": Method(our_boosting, _OF_BOOSTING, ("path",), ours=True),
    "palmette (forest)": Method(
        our_forest,
        (
            {"router": "axis"},
            {"min_samples_leaf": 3},
            {"max_node_features": 0.5},
            {"router": "logistic"},
            {"n_estimators": 400},
        ),
        ("labels",),
        ours=True,
    ),
    "palmette (blend)": Method(
        our_blend,
        (
            {"weights": "equal"},
            {"validation_fraction": 0.2},
            {"members": {"forest": {"min_samples_leaf": 5, "max_features": 0.1}, "kernel": {}}},
            {"members": {"forest": {}, "network": {}}},
            {"members": {"forest": {"n_estimators": 300}, "kernel": {}, "network": {}}},
        ),
        ("paths",),
        ours=True,
        cost=3.0,
    ),
    "palmette (boosting)": Method(
        our_boosting,
        (*_OF_BOOSTING[1:], {"n_estimators": 300}),
        ("labels", "paths"),
        ours=True,
        cost=3.0,
    ),
    "LightGBM": Method(
        lightgbm,
        (
            {"learning_rate": 0.05, "num_leaves": 15, "min_child_samples": 5},
            {"learning_rate": 0.05, "n_estimators": 200, "colsample_bytree": 0.5},
            {"num_leaves": 7, "min_child_samples": 3, "n_estimators": 150},
            {"learning_rate": 0.05, "num_leaves": 15, "min_child_weight": 0.01},
            {"learning_rate": 0.05, "n_estimators": 200, "num_leaves": 63, "reg_lambda": 5.0},
        ),
        library="lightgbm",
        per_label=True,
        cost=2.0,
    ),
    "XGBoost, one per class": Method(xgboost, _OF_XGBOOST, library="xgboost", cost=4.0),
    "XGBoost, multi_output_tree": Method(
        lambda seed, **changes: xgboost(seed, multi_strategy="multi_output_tree", **changes),
        _OF_XGBOOST,
        library="xgboost",
        cost=4.0,
    ),
    "CatBoost": Method(
        catboost,
        (
            {"iterations": 300, "learning_rate": 0.1},
            {"depth": 4},
            {"depth": 8, "iterations": 300},
            {"l2_leaf_reg": 10.0},
            {"iterations": 500, "learning_rate": 0.1, "rsm": 0.5},
        ),
        library="catboost",
        cost=20.0,
    ),
    "HistGradientBoosting": Method(
        hist_boosting,
        (
            {"learning_rate": 0.05, "max_leaf_nodes": 15, "min_samples_leaf": 5},
            {"learning_rate": 0.05, "max_iter": 200, "max_features": 0.5},
            {"max_leaf_nodes": 7, "min_samples_leaf": 3, "max_iter": 150},
            {"l2_regularization": 5.0},
            {"learning_rate": 0.05, "max_leaf_nodes": 63, "max_iter": 200},
        ),
        per_label=True,
        cost=4.0,
    ),
    "ExtraTrees": Method(extra_trees, _OF_TREES, cost=0.2),
    "RandomForest": Method(random_forest, _OF_TREES, cost=0.3),
    "LogisticRegression": Method(
        logistic,
        tuple({"C": C} for C in (0.003, 0.03, 0.3, 10.0, 100.0)),
        per_label=True,
        cost=0.5,
    ),
}
# The estimator that the documentation recommends for each kind of target; the others stand beside
RECOMMENDED = {"path": "palmette", "labels": "palmette (forest)", "paths": "palmette (blend)"}


def fitted(method, part, changes, seed):
    """Fit a model; return a function from rows to predictions.

    Predictions are labels (one path per row), or scores of labels and sets of labels as an
    indicator matrix, or scores of nodes.
    """
    if method.ours:
        return fitted_ours(method, part, changes, seed)
    if part.kind == "path":
        classes, codes = np.unique(np.asarray(part.y), return_inverse=True)
        model = method.make(seed, **changes).fit(dense(part.X), codes)
        return lambda X: classes[np.asarray(model.predict(dense(X))).ravel().astype(int)]
    scores = fitted_labels(method, indicator(part, part.y), dense(part.X), changes, seed)
    if part.kind == "paths":
        return scores
    return lambda X: with_threshold(scores(X), 0.5)


def with_threshold(scores, threshold):
    return scores, scores >= threshold


def fitted_ours(method, part, changes, seed):
    model = method.make(part, seed, **changes).fit(part.X, part.y)
    if part.kind == "path":
        return model.predict
    if part.kind == "paths":
        return model.predict_node_proba
    return lambda X: (dense(model.predict_proba(X)), dense(model.predict(X)).astype(bool))


def fitted_labels(method, Y, X, changes, seed):
    """Fit a rival to an indicator matrix; labels that all or no rows have keep their share."""
    share = Y.mean(axis=0)
    varying = np.flatnonzero((share > 0) & (share < 1))
    if method.per_label:
        models = [method.make(seed, **changes).fit(X, Y[:, label]) for label in varying]
    else:
        multilabel = {"loss_function": "MultiLogloss"} if method.make is catboost else {}
        models = [method.make(seed, **multilabel, **changes).fit(X, Y[:, varying])]

    def scores(X):
        X = dense(X)
        found = np.tile(share.astype(np.float32), (len(X), 1))
        if method.per_label:
            columns = [model.predict_proba(X)[:, 1] for model in models]
            found[:, varying] = np.column_stack(columns)
        else:
            proba = models[0].predict_proba(X)
            if isinstance(proba, list):  # scikit-learn's forests: one table per label
                proba = np.column_stack([table[:, 1] for table in proba])
            found[:, varying] = np.asarray(proba).reshape(len(X), len(varying))
        return found

    return scores


def indicator(part, y):
    """Return labels as an indicator matrix; nodes with their ancestors, the root included."""
    if part.kind == "labels":
        return np.asarray(y, dtype=np.int8)
    from palmette import NodeLabels

    return dense(NodeLabels.encode(y, part.hierarchy).closed).astype(np.int8)


# ---------------------------------------------------------------------- scores and search


def scores_of(part, y, predicted):
    """Return the measures of one cell by name."""
    from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

    from palmette.metrics import hierarchical_f1_score, micro_auprc

    if part.kind == "path":
        return {"hF1": hierarchical_f1_score(y, predicted, hierarchy=part.hierarchy)}
    if part.kind == "paths":
        left_out = [name for name in NAMESPACES if name in part.hierarchy]
        area = micro_auprc(y, predicted, hierarchy=part.hierarchy, exclude=left_out)
        return {"AU(PRC)": area}
    scores, sets = predicted
    share = y.mean(axis=0)
    both = (share > 0) & (share < 1)
    return {
        "macro-F": f1_score(y, sets, average="macro", zero_division=0),
        "micro-F": f1_score(y, sets, average="micro", zero_division=0),
        "AUC": roc_auc_score(y[:, both], scores[:, both], average="macro"),
        "AU(PRC)": average_precision_score(y, scores, average="micro"),
        "labels per row": float(sets.sum(axis=1).mean()),
        "true labels per row": float(y.sum(axis=1).mean()),
    }


def search(method, part, seed):
    """Return the best candidate, a threshold for label sets, and the number of candidates."""
    criterion = {"path": "hF1", "labels": "AU(PRC)", "paths": "AU(PRC)"}[part.kind]
    all_folds = folds(part.kind, part.y)
    used = all_folds[:1] if len(part.y) > ONE_FOLD else all_folds
    begun, best, tried = time.process_time(), None, 0
    for changes in ({}, *method.candidates):
        tried += 1
        held = []
        for train, valid in used:
            inner = Part(part.X[train], take(part.y, train), None, None, part.hierarchy, part.kind)
            y, predict = take(part.y, valid), fitted(method, inner, changes, seed)
            predicted = predict(part.X[valid])
            held.append((scores_of(part, y, predicted)[criterion], y, predicted))
        score = float(np.mean([each[0] for each in held]))
        if best is None or score > best[0]:
            tune = part.kind == "labels" and not method.ours
            best = score, changes, tuned_threshold(held) if tune else None
        if time.process_time() - begun > SEARCH_SECONDS:
            break
    return best[1], best[2], tried


def tuned_threshold(held):
    """Return the common threshold with the best mean of micro and macro F1 on held-out rows."""
    from sklearn.metrics import f1_score

    Y = np.vstack([y for _, y, _ in held])
    scores = np.vstack([predicted[0] for _, _, predicted in held])
    grid = np.arange(0.02, 0.61, 0.02)
    found = [
        sum(
            f1_score(Y, scores >= cut, average=each, zero_division=0) for each in ("micro", "macro")
        )
        for cut in grid
    ]
    return float(grid[int(np.argmax(found))])


# ---------------------------------------------------------------------- one cell


def run_cell(cell):
    """Run one cell in this process; return its record."""
    warnings.simplefilter("ignore")  # classes without training rows, convergence
    method = METHODS[cell["method"]]
    part = load(cell["set"], cell["seed"], cell["validate"])
    if method.ours:
        warm_up(method, part)
    allowed = int(time.process_time() + cell["limit"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 5))
    before = memory(reset=True)
    clock = [time.process_time()]
    changes, threshold, tried = {}, None, 0
    if cell["mode"] == "search":
        changes, threshold, tried = search(method, part, cell["seed"])
    clock.append(time.process_time())
    predict = fitted(method, part, changes, cell["seed"])
    clock.append(time.process_time())
    predicted = predict(part.X_test)
    clock.append(time.process_time())
    if threshold is not None:
        predicted = with_threshold(predicted[0], threshold)
    searching, fitting, predicting = np.diff(clock).round(3).tolist()
    return {
        **cell,
        "status": "ok",
        "scores": {k: float(v) for k, v in scores_of(part, part.y_test, predicted).items()},
        "n_test": len(part.y_test),
        "search_s": searching,
        "fit_s": fitting,
        "predict_s": predicting,
        "mib": round(memory() - before, 1),
        "chosen": changes,
        "threshold": threshold,
        "tried": tried,
    }


def warm_up(method, part):
    """Fit a few rows, so that kernels are compiled or read from a cache before the clock."""
    rows = np.random.default_rng(0).permutation(len(part.y))[:60]
    few = Part(part.X[rows], take(part.y, rows), None, None, part.hierarchy, part.kind)
    small = {"n_estimators": 2} if method.make is not our_blend else {}
    fitted(method, few, small, 0)(few.X)


def memory(reset=False):
    """Return the peak memory of this process in MiB; with `reset`, its present memory."""
    if reset:
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:  # not Linux: the peak of the whole process
            return 0.0
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


if __name__ == "__main__":
    print("\n" + json.dumps(run_cell(json.loads(sys.argv[1]))))
