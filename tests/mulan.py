"""The multi-label methods of MULAN, literally, with any base learner; with those of Weka on data.

MULAN itself cannot be installed from a package index. Its rules, read from its sources, are the
functions below, and the learners that it calls are those of Weka, which comes with
python-weka-wrapper3 (its ``lib`` folder) and is called with JPype::

    PALMETTE_DATA=... python -m tests.mulan --jars lib/weka.jar lib/mtj.jar lib/core.jar

prints, for the published splits of emotions, scene and yeast, the share of labels that the presets
of Palmette answer as MULAN does, given the same base learner (Weka's), the F1 of these answers,
that of the presets with trees of their own, and the share of labels that these have in common.
With ``--trees`` it compares `C45Tree.preset("j48")` with J48 on the labels of these sets, and on
sets of several classes instead.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score

Array = NDArray[Any]
Base = Callable[[], Any]
Answer = tuple[Array, Array]  # whether labels are predicted, and their confidences


def shares(base: Base, X: Array, target: Array, X_new: Array, n_classes: int = 2) -> Array:
    """Return the probabilities of new rows; a target of one value is not learned."""
    found = np.zeros((len(X_new), n_classes))
    values = np.unique(target)
    if len(values) == 1:
        found[:, values[0]] = 1.0
        return found
    model = base().fit(X, target)
    found[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(X_new)
    return found


def nearest(X: Array, X_new: Array | None, k: int) -> Array:
    """Return the k nearest rows of X, by values that are scaled to the range from 0 to 1.

    Rows of X are not neighbours of themselves (X_new=None).
    """
    width = np.ptp(X, axis=0)
    factor = np.where(width > 0, 1.0 / np.where(width > 0, width, 1.0), 0.0)
    rows = X * factor
    found = []
    for i, row in enumerate(rows if X_new is None else X_new * factor):
        distances = np.sqrt(((rows - row) ** 2).sum(axis=1))
        if X_new is None:
            distances[i] = np.inf
        found.append(np.argsort(distances, kind="stable")[:k])
    return np.array(found)


def ml_knn(near: Array, near_new: Array, Y: Array, smoothing: float = 1.0) -> Answer:
    """Compare the products of prior and likelihood of a label and of its absence."""
    (n, n_labels), k = Y.shape, near.shape[1]
    told, confidence = (
        np.zeros((len(near_new), n_labels), bool),
        np.zeros((len(near_new), n_labels)),
    )
    for label in range(n_labels):
        prior = (smoothing + Y[:, label].sum()) / (2 * smoothing + n)
        counts = np.zeros((2, k + 1))
        for i in range(n):
            counts[Y[i, label], Y[near[i], label].sum()] += 1
        for i, neighbours in enumerate(near_new):
            found = Y[neighbours, label].sum()
            false, true = (
                (smoothing + side[found]) / (smoothing * (k + 1) + side.sum()) for side in counts
            )
            true, false = prior * true, (1 - prior) * false
            told[i, label], confidence[i, label] = true > false, true / (true + false)
    return told, confidence


def iblr(base: Base, near: Array, near_new: Array, Y: Array) -> Answer:
    """Fit a model per label on the shares of all labels among the neighbours."""
    rows, new = Y[near].mean(axis=1), Y[near_new].mean(axis=1)
    confidence = np.column_stack([shares(base, rows, target, new)[:, 1] for target in Y.T])
    return confidence >= 0.5, confidence


def binary_relevance(base: Base, X: Array, Y: Array, X_new: Array) -> Answer:
    """Fit a model per label; a tie is positive."""
    confidence = np.column_stack([shares(base, X, target, X_new)[:, 1] for target in Y.T])
    return confidence >= 1.0 - confidence, confidence


def label_ranking(base: Base, X: Array, Y: Array, X_new: Array) -> Answer:
    """Count votes of pairs of labels, ties for the first one, and of labels with the virtual one.

    A pair without a row that has one of the two has no vote. (MULAN then takes the votes of all
    later pairs from the wrong models, which is not repeated here.)
    """
    told, _ = binary_relevance(base, X, Y, X_new)
    votes, virtual = told.astype(float), (~told).sum(axis=1)
    for i in range(Y.shape[1]):
        for j in range(i + 1, Y.shape[1]):
            rows = np.flatnonzero(Y[:, i] != Y[:, j])
            if len(rows):
                won = shares(base, X[rows], Y[rows, i], X_new)
                first = won[:, 1] >= won[:, 0]
                votes[:, i] += first
                votes[:, j] += ~first
    return votes >= virtual[:, None], votes / Y.shape[1]


def rakel(base: Base, X: Array, Y: Array, X_new: Array, sets: Sequence[Array]) -> Answer:
    """Average the votes of the most probable combinations of every set; a tie is positive.

    MULAN draws among equally probable combinations; here it is the first one, as a number whose
    first binary digit is the first label.
    """
    votes, length = np.zeros((len(X_new), Y.shape[1])), np.zeros(Y.shape[1])
    for labels in sets:
        numbers = Y[:, labels] @ (1 << np.arange(len(labels)))
        values, codes = np.unique(numbers, return_inverse=True)
        best = values[np.argmax(shares(base, X, codes, X_new, len(values)), axis=1)]
        for at, label in enumerate(labels):
            votes[:, label] += best >> at & 1
            length[label] += 1
    confidence = votes / length
    return confidence >= 0.5, confidence


def homer(
    base: Base, X: Array, Y: Array, X_new: Array, groups: Sequence[Array], parents: Sequence[int]
) -> Answer:
    """Ask the models of a cluster for rows that it was predicted for; a tie is positive.

    Labels below a cluster that is not predicted have its confidence; one that is itself not
    predicted has 0.
    """
    shape = (len(X_new), Y.shape[1])
    told, confidence = np.zeros(shape, bool), np.zeros(shape)

    def visit(cluster: int, rows: Array, new: Array) -> None:
        children = [child for child, parent in enumerate(parents) if parent == cluster]
        parts = [groups[child] for child in children] or [[each] for each in groups[cluster]]
        for at, part in enumerate(parts):
            target = Y[np.ix_(rows, part)].any(axis=1).astype(int)
            found = shares(base, X[rows], target, X_new[new])[:, 1]
            yes = found >= 1.0 - found
            if len(part) == 1:
                told[new[yes], part[0]], confidence[new[yes], part[0]] = True, found[yes]
                continue
            confidence[np.ix_(new[~yes], part)] = found[~yes, None]
            if yes.any():
                visit(children[at], rows[target == 1], new[yes])

    visit(0, np.arange(len(X)), np.arange(len(X_new)))
    return told, confidence


# ---------------------------------------------------------------------- with Weka


_BUILT: dict[Any, Any] = {}  # both sides of a comparison ask for the same classifiers


class Weka(ClassifierMixin, BaseEstimator):
    """J48 or Logistic of Weka, with its defaults."""

    def __init__(self, name: str = "trees.J48", random_state: Any = None) -> None:
        self.name = name
        self.random_state = random_state  # not used; ensembles set it

    def fit(self, X: Array, y: Array) -> Weka:
        """Build the classifier."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        key = (self.name, X.shape, hash(np.asarray(X).tobytes()), codes.tobytes())
        if key not in _BUILT:
            _BUILT[key] = _java(f"weka.classifiers.{self.name}")()
            rows = _instances(X, codes, len(self.classes_), are_flags(X))
            _BUILT[key].buildClassifier(rows)
        self.model_, self.flags_ = _BUILT[key], are_flags(X)
        return self

    def predict_proba(self, X: Array) -> Array:
        """Return the distribution of every row."""
        rows = _instances(X, None, len(self.classes_), self.flags_)
        return np.array([self.model_.distributionForInstance(row)[:] for row in rows])


def _java(name: str) -> Any:
    import jpype

    return jpype.JClass(name)


def are_flags(X: Array) -> Array:
    """Return which columns have no other values than 0 and 1: nominal ones in MULAN's files."""
    X = np.asarray(X)
    return ((X == 0) | (X == 1)).all(axis=0) & (X == 1).any(axis=0)


def _instances(X: Array, codes: Array | None, n_classes: int, flags: Array | None = None) -> Any:
    import jpype

    values = _java("java.util.ArrayList")([f"c{code}" for code in range(n_classes)])
    Attribute, DenseInstance = _java("weka.core.Attribute"), _java("weka.core.DenseInstance")
    binary = _java("java.util.ArrayList")(["0", "1"])
    columns = [
        Attribute(f"a{j}", binary) if flags is not None and flags[j] else Attribute(f"a{j}")
        for j in range(X.shape[1])
    ]
    if n_classes:
        columns.append(Attribute("class", values))
        last = np.full(len(X), np.nan) if codes is None else codes.astype(float)
        X = np.column_stack([X, last])
    rows = _java("weka.core.Instances")("rows", _java("java.util.ArrayList")(columns), len(X))
    if n_classes:
        rows.setClassIndex(X.shape[1] - 1)
    for row in np.asarray(X, dtype=np.float64):
        rows.add(DenseInstance(1.0, jpype.JArray(jpype.JDouble)(row)))
    return rows


def nearest_by_weka(X: Array, X_new: Array | None, k: int) -> Array:
    """Return the k nearest rows by LinearNNSearch; rows are numbered in a column of their own."""
    rows = _instances(np.column_stack([X, np.arange(len(X))]), None, 0)
    distance = _java("weka.core.EuclideanDistance")()
    distance.setAttributeIndices(str(X.shape[1] + 1))
    distance.setInvertSelection(True)
    search = _java("weka.core.neighboursearch.LinearNNSearch")()
    search.setDistanceFunction(distance)
    search.setInstances(rows)
    search.setMeasurePerformance(False)
    asked = rows
    if X_new is not None:
        asked = _instances(np.column_stack([X_new, np.full(len(X_new), -1.0)]), None, 0)
    found = []
    for i in range(asked.numInstances()):
        near = search.kNearestNeighbours(asked.instance(i), k)
        found.append([int(near.instance(at).value(X.shape[1])) for at in range(k)])
    return np.array(found)


def pairs(X: Array, Y: Array, X_new: Array) -> dict[str, tuple[Answer, Any, Any]]:
    """Return what MULAN answers, our preset with the same base learner, and our preset."""
    import palmette as pm

    j48, logistic = Weka, lambda: Weka("functions.Logistic")
    near, near_new = nearest_by_weka(X, None, 10), nearest_by_weka(X, X_new, 10)
    names = ("BinaryRelevance", "CalibratedLabelRanking", "RAkEL", "HOMER")

    def fitted(**base: Any) -> dict[str, Any]:
        return {
            name: getattr(pm, name).preset("mulan", random_state=0, **base).fit(X, Y)
            for name in names
        }

    ours, same = fitted(), fitted(estimator=Weka())
    tree = same["HOMER"].tree_
    kinds = {
        "BinaryRelevance": binary_relevance(j48, X, Y, X_new),
        "CalibratedLabelRanking": label_ranking(j48, X, Y, X_new),
        "RAkEL": rakel(j48, X, Y, X_new, same["RAkEL"].labelsets_),
        "HOMER": homer(j48, X, Y, X_new, tree.groups, tree.parents),
    }
    found = {name: (answer, same[name], ours[name]) for name, answer in kinds.items()}
    knn, regression = (kind.preset("mulan").fit(X, Y) for kind in (pm.MLkNN, pm.IBLR))
    return {
        "MLkNN": (ml_knn(near, near_new, Y), knn, knn),
        "IBLR": (iblr(logistic, near, near_new, Y), regression, regression),
        **found,
    }


def single_targets(name: str) -> tuple[Array, Array, list[Array]]:
    """Return training rows, test rows (some training rows if none) and codes of the targets."""
    from palmette.datasets import fetch

    bunch = fetch(name)
    if "X_train" in bunch:
        X, y, X_new = bunch.X_train, bunch.y_train, _dense(bunch.X_test)
    else:
        X, y, X_new = bunch.X, bunch.y, None
    X, y = _dense(X), _dense(y)
    targets = list(y.T.astype(int)) if y.ndim == 2 else [np.unique(y, return_inverse=True)[1]]
    if X_new is None:
        order = np.random.RandomState(0).permutation(len(X))
        kept, new = order[: 2 * len(X) // 3], order[2 * len(X) // 3 :]
        X, X_new, targets = X[kept], X[new], [target[kept] for target in targets]
    return np.float32(X), np.float32(X_new), [t for t in targets if len(np.unique(t)) > 1]


def compare_trees(names: Sequence[str]) -> None:
    """Print how many rows get the same distribution from J48 and from our preset."""
    from palmette.multilabel import C45Tree

    print("| set | trees | of the same size | test rows | with the same distribution |")
    print("|---|---|---|---|---|")
    for name in names:
        X, X_new, targets = single_targets(name)
        n_sizes = n_same = 0
        for target in targets:
            theirs, ours = Weka().fit(X, target), C45Tree.preset("j48").fit(X, target)
            size = int(theirs.model_.measureTreeSize())
            n_sizes += size == ours.tree_.tree_.node_count
            gaps = abs(theirs.predict_proba(X_new) - ours.predict_proba(X_new)).max(axis=1)
            n_same += int((gaps < 1e-9).sum())
        n = len(targets)
        print(f"| {name} | {n} | {n_sizes} | {n * len(X_new)} | {n_same} |", flush=True)


def main() -> None:
    """Print the comparison."""
    import jpype

    from palmette.datasets import fetch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jars", nargs="+", required=True, help="weka.jar and what it needs")
    parser.add_argument("--sets", nargs="+", default=["emotions", "scene", "yeast"])
    parser.add_argument("--trees", action="store_true", help="compare single trees")
    given = parser.parse_args()
    jpype.startJVM("-Xmx2g", classpath=given.jars)
    warnings.simplefilter("ignore")
    if given.trees:
        compare_trees(given.sets)
        return
    print("| set | method | same labels | F1, macro / micro | our preset | its labels the same |")
    print("|---|---|---|---|---|---|")
    for name in given.sets:
        bunch = fetch(name)
        Y, truth = (_dense(each).astype(int) for each in (bunch.y_train, bunch.y_test))
        X, X_new = _dense(bunch.X_train), _dense(bunch.X_test)
        for method, ((told, _), same, ours) in pairs(X, Y, X_new).items():
            equal, alike = (_dense(each.predict(X_new)) for each in (same, ours))
            scores = [_scores(truth, each) for each in (told, alike)]
            print(
                f"| {name} | {method} | {np.mean(equal == told):.4f} | {scores[0]} | {scores[1]} |"
                f" {np.mean(alike == told):.4f} |",
                flush=True,
            )


def _scores(truth: Array, found: Array) -> str:
    kinds = ("macro", "micro")
    return " / ".join(f"{f1_score(truth, found, average=a, zero_division=0):.3f}" for a in kinds)


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


if __name__ == "__main__":
    main()
