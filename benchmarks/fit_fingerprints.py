"""Whether a change of the code changed any fit: a hash of what every estimator answers.

    python benchmarks/fit_fingerprints.py --output before.txt
    python benchmarks/fit_fingerprints.py --compare before.txt

Every public estimator, with every preset and with the options that lead to other code, is fitted
with a fixed seed on small made-up data: paths, plain labels, several paths per row and a DAG, as
dense and as sparse rows, with and without sample weights. A line is printed per fit: the name of
the estimator, the data, and the first 16 digits of the SHA-256 of the bytes that it answers
(`predict`, `predict_proba`, `predict_node_proba`, `transform`, the learned hierarchy, or resampled
rows). Where a fit is refused the line names the error. With `--compare` the lines are compared with
those of a file; what differs is listed, and the exit status is 1.

Run it before and after a change that must not touch results, such as moving code, on the same
machine with the same versions of numpy, scipy and scikit-learn: their results differ in the last
digits between versions. Only public names are imported, so that it runs with any layout of the
code. It takes about two minutes once the kernels are compiled.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import palmette as pm
from palmette import decoding, multilabel, partition, routing, scoring, weak

PATHS = [
    ("a", "x"),
    ("a", "y", "deep"),
    ("a", "y", "deeper"),
    ("b", "x"),
    ("b", "z"),
    ("b",),
    ("c",),
    ("d", "only"),
]
SETS = [
    {("a", "x")},
    {("a", "x"), ("b", "z")},
    {("b",)},
    set(),
    {("c",), ("a", "y", "deep")},
    {("a", "y", "deep"), ("a", "y", "deeper"), ("d", "only")},
    {("b", "x"), ("b", "z")},
]
DAG = pm.Hierarchy.from_edges(
    [
        *[("r", "a"), ("r", "b"), ("r", "c"), ("r", "y"), ("a", "x"), ("b", "x"), ("c", "y")],
        *[("x", "deep"), ("c", "deep"), ("a", "z"), ("y", "end")],
    ]
)
DAG_SETS = [{"x"}, {"deep"}, {"z", "b"}, {"end"}, set(), {"y", "x"}, {"c", "z"}, {"b"}]
PLAIN = list("abcdefghi")

TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
FEW = {"n_estimators": 8}
NETWORK = {"hidden": (16,), "n_epochs": 5, "learning_rate": 0.03}
COHERENT = [
    ("forest", pm.CoherentForestClassifier(5, min_samples_leaf=1)),
    ("kernel", pm.CoherentKernelClassifier(0.1, 2.0)),
]

# parameters in place of the defaults, which would take long; an estimator without a row is fitted
# with its defaults
PARAMETERS: dict[str, tuple[dict[str, Any], ...]] = {
    "AdaBoostBHCClassifier": (
        FEW,
        {**FEW, "tree": pm.RandomTree(), "n_trees": 2, "decoding": "exact"},
        {**FEW, "max_depth": 2, "resample": False, "calibration": "out_of_fold"},
    ),
    "AdaBoostECCClassifier": (
        FEW,
        {**FEW, "weak_learner": "stump", "subsample": 0.7},
        {**FEW, "weak_learner": weak.CartPerClass(3)},
    ),
    "AdaBoostMHClassifier": (
        FEW,
        {**FEW, "weak_learner": "tree", "weight_trim": 0.05},
        {**FEW, "weak_learner": "cart"},
        {**FEW, "weak_learner": "shared_tree", "n_iter_no_change": 3},
        {**FEW, "weak_learner": weak.StumpPerClass(votes="confidence")},
        {**FEW, "weak_learner": GaussianNB()},
    ),
    "AdaBoostMIClassifier": (FEW, {**FEW, "weak_learner": "tree"}),
    "AgglomerativeTree": ({}, {"method": "average", "metric": "cosine", "branching": 3}),
    "BHCTree": ({}, {"start": "first_class", "covariance": "pooled", "leaf_size": 2}),
    "BalancedTree": ({}, {"branching": 3, "metric": "cosine"}),
    "BinaryRelevance": ({"estimator": TREE}, {"estimator": GaussianNB(), "balance": "down"}),
    "COCOA": ({"n_couplings": 2, "n_models": 2},),
    "CalibratedHierarchicalClassifier": (
        {"estimator": pm.LocalPerNodeClassifier(GaussianNB()), "cv": 2},
        {"estimator": pm.LocalPerParentClassifier(TREE), "method": "sigmoid", "cv": 2},
        {"estimator": GaussianNB(), "method": "temperature", "cv": 2},
    ),
    "CalibratedLabelRanking": ({}, {"voting": "soft"}),
    "ChainEnsemble": ({"n_chains": 2}, {"n_chains": 2, "sampling": None, "voting": "hard"}),
    "ClassTreeClassifier": (
        {},
        {"tree": pm.BHCTree(), "router": "logistic"},
        {"router": GaussianNB(), "decoding": "exact"},
        {"router": "spectral", "decoding": "greedy"},
        {"router": "adaboost", "calibration": "out_of_fold"},
        {"tree": pm.RelaxedTree(n_starts=1, max_iter=2)},
    ),
    "ClassTreeEnsemble": ({"n_trees": 2}, {"n_trees": 2, "bootstrap": True}),
    "CoherentBlendClassifier": ({"estimators": COHERENT},),
    "CoherentForestClassifier": (
        {"n_estimators": 4},
        {"n_estimators": 4, "n_directions": 2, "min_samples_leaf": 3},
    ),
    "CoherentKernelClassifier": ({}, {"max_rows": 40, "n_landmarks": 20}),
    "CoherentNetworkClassifier": ({**NETWORK, "dropout": 0.0}, {**NETWORK, "backend": "numpy"}),
    "ConformalHierarchicalClassifier": (
        {"estimator": pm.LocalPerNodeClassifier(GaussianNB())},
        {"estimator": GaussianNB(), "method": "cross", "cv": 2},
        {"estimator": GaussianNB(), "answer": "set", "set_score": "aps"},
    ),
    "DAGSVMClassifier": ({}, {"loss": "logistic"}),
    "DependenceTree": ({}, {"branching": 3, "kernel": "rbf", "of": "sum"}),
    "FlatClassifier": ({"estimator": TREE}, {"estimator": GaussianNB()}),
    "HOMER": ({"branching": 2}, {"branching": 3, "routing": "hard"}),
    "HOMERTree": ({}, {"branching": 2}),
    "HierarchicalAdaBoostClassifier": (
        FEW,
        {**FEW, "weak_learner": "stump", "mask": "search", "coefficient": "per_class"},
        {**FEW, "weak_learner": weak.SharedTree(3, criterion="squared", sketch=2)},
        {**FEW, "n_iter_no_change": 3, "decoding": decoding.Marginal()},
    ),
    "HierarchicalBoostingClassifier": (
        FEW,
        {**FEW, "loss": ("leaf_softmax", "path_softmax"), "n_bags": 2},
        {**FEW, "thresholds": "best", "max_depth": 3, "subsample": 0.7},
        {**FEW, "max_bins": 8, "n_iter_no_change": 3},
    ),
    "HierarchicalFeatureSelector": (
        {"n_features_to_select": 0.5},
        {"score": "fisher", "n_features_to_select": 2},
        {"score": scoring.FsnmScore(), "n_features_to_select": 2},
        {"score": scoring.MrmrScore(), "n_features_to_select": 2},
        {"score": scoring.MrmrScore(3, per_node=True), "n_features_to_select": 2},
        {"score": scoring.HirrScore(parent=0.1, sibling=0.1), "n_features_to_select": 2},
        {"score": scoring.HirrScore(coupling="paper", start="random"), "n_features_to_select": 2},
        {"score": scoring.UnivariateScore(), "n_features_to_select": 2},
    ),
    "IBLR": ({"n_neighbors": 3, "C": 10.0}, {"n_neighbors": 3, "C": 1.0, "add_features": True}),
    "LabelEmbeddingTree": ({}, {"branching": 3, "confusion": "soft"}),
    "LocalPerLevelClassifier": ({"estimator": TREE}, {"estimator": GaussianNB()}),
    "LocalPerNodeClassifier": (
        {"estimator": TREE},
        {"estimator": GaussianNB(), "negatives": "all"},
        {"estimator": GaussianNB(), "decoding": decoding.MinExpectedLoss()},
        {"estimator": GaussianNB(), "decoding": decoding.ExpectedF()},
    ),
    "LocalPerParentClassifier": (
        {},
        {"estimator": LogisticRegression(C=10.0, max_iter=200)},
        {"estimator": GaussianNB(), "decoding": decoding.TopDown()},
        {"estimator": GaussianNB(), "decoding": decoding.Beam(2)},
        {"estimator": GaussianNB(), "decoding": decoding.Marginal(0.4, 1.5)},
        {
            "estimator": GaussianNB(),
            "feature_selector": pm.HierarchicalFeatureSelector("fisher", n_features_to_select=2),
        },
    ),
    "MFTree": ({}, {"branching": 3, "leaf_size": 2}, {"branching": "auto", "kernel": "rbf"}),
    "MLkNN": ({"n_neighbors": 3}, {"n_neighbors": 5, "metric": "cosine"}),
    "RAkEL": ({}, {"overlapping": False, "voting": "hard"}),
    "RelaxedTree": ({"n_starts": 1, "max_iter": 3},),
    "StructuredForestClassifier": (
        FEW,
        {**FEW, "router": "axis", "min_samples_leaf": 1},
        {**FEW, "router": "logistic", "bootstrap": True, "oob_score": True},
        {**FEW, "partition": partition.LabelTwoMeans("none"), "max_node_labels": 0.7},
    ),
    "ThresholdedMultilabel": ({"cv": 2}, {"cv": 2, "rule": decoding.Youden()}),
    "TreesMultilabel": (FEW, {**FEW, "kind": "random_forest", "bootstrap": False}),
}
RESAMPLERS = (multilabel.MLROS, multilabel.MLRUS, multilabel.MLSMOTE)
PARTS = (multilabel.C45Tree,)  # estimators that are public, but not at the top
ROUTERS = (routing.LinearRouter(against="each"), routing.EstimatorRouter(GaussianNB()))


@dataclass(frozen=True)
class Problem:
    """Rows with labels, and the hierarchy to give to the estimator, if any."""

    name: str
    X: Any
    y: Any
    weights: np.ndarray | None = None
    hierarchy: pm.Hierarchy | None = None


def scattered(labels: list[Any], n_each: int, seed: int) -> tuple[np.ndarray, list[Any]]:
    """Rows around a centre per label, none below zero and some at zero."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=2.0, size=(len(labels), 6))
    codes = rng.permutation(np.repeat(np.arange(len(labels)), n_each))
    X = centres[codes] + rng.normal(size=(len(codes), 6))
    return np.where(np.abs(X) > 0.5, X, 0.0), [labels[code] for code in codes]


def problems() -> list[Problem]:
    """Return the data that estimators are fitted on."""
    rng = np.random.default_rng(7)
    found = []
    for name, labels, hierarchy in (
        ("paths", PATHS, None),
        ("sets", SETS, None),
        ("dag", DAG_SETS, DAG),
    ):
        X, y = scattered(labels, 9, seed=len(name))
        weights = rng.integers(1, 4, len(y)).astype(float)
        found += [
            Problem(name, X, y, hierarchy=hierarchy),
            Problem(f"{name}, sparse", sparse.csr_array(X), y, hierarchy=hierarchy),
            Problem(f"{name}, weights", X, y, weights, hierarchy),
        ]
    X, plain = scattered(PLAIN, 9, seed=1)
    y = np.array(plain)
    weights = np.where(y == "i", 0.0, rng.random(len(y)) + 0.5)
    found += [
        Problem("plain", np.abs(X), y),
        Problem("plain, sparse", sparse.csr_array(np.abs(X)), y),
        Problem("plain, weights", np.abs(X), y, weights),
        Problem("plain, star", X, y, hierarchy=pm.Hierarchy.star(sorted(PLAIN))),
    ]
    return found


def public_estimators() -> list[type[BaseEstimator]]:
    """Every estimator class that `palmette` exports."""
    found = [getattr(pm, name) for name in sorted(pm.__all__)]
    classes = [each for each in found if inspect.isclass(each) and issubclass(each, BaseEstimator)]
    return [each for each in classes if hasattr(each, "fit")]


def estimators() -> Iterator[tuple[str, BaseEstimator]]:
    """Every estimator with its parameters and presets, by a name that stays."""
    for kind in [*public_estimators(), *PARTS]:
        for number, parameters in enumerate(PARAMETERS.get(kind.__name__, ({},))):
            yield f"{kind.__name__}[{number}]", kind(**parameters)
        if hasattr(kind, "presets"):
            for name in sorted(kind.presets()):
                yield f"{kind.__name__}.preset({name!r})", smaller(kind.preset(name))
    for number, router in enumerate(ROUTERS):
        yield f"ClassTreeClassifier[router {number}]", pm.ClassTreeClassifier(router=router)


def smaller(estimator: BaseEstimator) -> BaseEstimator:
    """Return an estimator with few rounds or trees, its parts too."""
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "n_estimators"]
    return estimator.set_params(**dict.fromkeys(names, 5))


def seeded(estimator: BaseEstimator, problem: Problem) -> BaseEstimator:
    """Return an unfitted copy with a fixed seed and the hierarchy of the problem."""
    made = clone(estimator)
    known = made.get_params()
    if "random_state" in known:
        made.set_params(random_state=3)
    if problem.hierarchy is not None:
        made.set_params(
            **{"hierarchy" if "hierarchy" in known else "tree": problem.hierarchy},
        )
    return made


def fit_and_ask(estimator: BaseEstimator, problem: Problem) -> Iterator[Any]:
    """Fit an estimator and yield everything that it answers."""
    weights = {} if problem.weights is None else {"sample_weight": problem.weights}
    fitted = seeded(estimator, problem).fit(problem.X, problem.y, **weights)
    for method in ("predict", "predict_proba", "predict_node_proba", "transform"):
        if hasattr(fitted, method):
            yield method, getattr(fitted, method)(problem.X)
    if hasattr(fitted, "hierarchy_"):
        hierarchy = fitted.hierarchy_
        yield "hierarchy", (hierarchy.names, hierarchy.edges)
    if hasattr(fitted, "get_support"):
        yield "support", fitted.get_support()


def resample(kind: type[BaseEstimator], problem: Problem) -> Iterator[Any]:
    """Resample the rows of a problem."""
    yield seeded(kind(), problem).fit_resample(problem.X, problem.y)


def fit_a_table(model: str) -> Iterator[Any]:
    """Fit a table with numbers, a category and texts."""
    X, paths = scattered([path for path in PATHS if len(path) > 1], 10, seed=2)
    frame = pd.DataFrame(X[:, :3], columns=["one", "two", "three"])
    frame["colour"] = np.where(X[:, 3] > 0, "red", "blue")
    frame["words"] = [f"{path[0]}{i % 3} thing {path[-1]}{i % 7}" for i, path in enumerate(paths)]
    frame["class"] = ["/".join(path) for path in paths]
    fitted = pm.fit_table(frame, "class", model=model, folds=2, time=None, seed=3)
    yield fitted.predict(frame), fitted.predict_proba(frame)


def cases() -> Iterator[tuple[str, Callable[[], Iterator[Any]]]]:
    """Every fit by name."""
    tried = problems()
    for name, estimator in estimators():
        for problem in tried:
            known = estimator.get_params()
            if problem.hierarchy is None or {"hierarchy", "tree"} & set(known):
                yield f"{name}, {problem.name}", partial(fit_and_ask, estimator, problem)
    for kind in RESAMPLERS:
        for problem in tried:
            if problem.hierarchy is None and problem.weights is None:
                yield f"{kind.__name__}, {problem.name}", partial(resample, kind, problem)
    for model in ("local-per-parent", "flat"):
        yield f"fit_table, {model}", partial(fit_a_table, model)


def as_bytes(value: Any) -> Iterator[bytes]:
    """Yield bytes that are equal where two answers are, whatever their form."""
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, pd.DataFrame | pd.Series):
        yield from as_bytes(value.to_numpy())
    elif isinstance(value, np.ndarray) and value.dtype.kind not in "OUST":
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.ndarray):
        yield from as_bytes(value.tolist())
    elif isinstance(value, set | frozenset):
        yield from as_bytes(["set", *sorted(value, key=repr)])
    elif isinstance(value, list | tuple):
        yield f"{type(value).__name__} {len(value)}".encode()
        for part in value:
            yield from as_bytes(part)
    else:
        yield repr(value).encode()


def fingerprint(answers: Callable[[], Iterator[Any]]) -> str:
    """Hash of all answers, or the error that came in their place."""
    digest = hashlib.sha256()
    try:
        for answer in answers():
            for part in as_bytes(answer):
                digest.update(part)
    except (ValueError, TypeError) as error:
        return f"refused: {type(error).__name__}"
    return digest.hexdigest()[:16]


def read(path: Path) -> dict[str, str]:
    """Fingerprints by case, as `main` wrote them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line)


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return a line per case whose fingerprint is another one, or that is on one side only."""
    return [
        f"{name}: {before.get(name, 'absent')} before, {now.get(name, 'absent')} now"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="file to write the lines to")
    parser.add_argument("--compare", type=Path, help="file with the lines of an earlier run")
    parser.add_argument("--only", default="", help="only cases whose name has this text in it")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    now = {}
    with threadpool_limits(1):  # sums of several threads may be taken in another order
        for name, answers in cases():
            if options.only in name:
                now[name] = fingerprint(answers)
                print(f"{name}\t{now[name]}", flush=True)
    if options.output:
        lines = "".join(f"{name}\t{value}\n" for name, value in now.items())
        options.output.write_text(lines, encoding="utf-8")
    if options.compare is None:
        return 0
    before = {k: v for k, v in read(options.compare).items() if options.only in k}
    found = differences(before, now)
    print("\n".join(found) if found else f"all {len(now)} fits are as before", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
