from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC
from tests.class_tree.clades import hard_cases

import palmette as pm
from palmette.class_tree._dag_svm import DAGSVMClassifier, _decision_dag

N_CLASSES = 7


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat(np.arange(N_CLASSES), 12))
    X = rng.normal(size=(len(codes), 5)) + 1.2 * rng.normal(size=(N_CLASSES, 5))[codes]
    return X, codes


def literal_dag(X, y, Z, C):
    """Compare the first class of the list with the last until one is left."""
    classes = np.unique(y).tolist()
    chosen = []
    models = {}
    for row in Z:
        left = list(classes)
        while len(left) > 1:
            pair = left[0], left[-1]
            if pair not in models:
                seen = np.isin(y, pair)
                models[pair] = LinearSVC(C=C, dual=False, tol=1e-9).fit(X[seen], y[seen])
            winner = models[pair].predict(row[None])[0]
            left.remove(pair[0] if winner == pair[1] else pair[1])
        chosen += left
    return np.array(chosen)


@pytest.mark.parametrize("C", [0.1, 3.0])
def test_eliminates_one_class_at_a_time(blobs, C):
    X, y = blobs
    Z = np.random.default_rng(1).normal(size=(60, 5)) * 2
    clf = DAGSVMClassifier(C=C).fit(X, y)
    assert np.array_equal(clf.predict(Z), literal_dag(X, y, Z, C))
    assert clf.score(X, y) > 0.6


@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_the_dag_has_a_node_for_every_pair(n_classes):
    table, pairs = _decision_dag(n_classes)
    n_nodes = n_classes * (n_classes - 1) // 2
    assert len({tuple(pair) for pair in pairs.tolist()}) == table.n_nodes == n_nodes
    assert pairs[0].tolist() == [0, n_classes - 1]
    for node, (lower, upper) in enumerate(pairs.tolist()):
        for option, left in enumerate([(lower, upper - 1), (lower + 1, upper)]):
            target, end = table.targets[2 * node + option], table.ends[2 * node + option]
            if left[0] == left[1]:
                assert (target, end) == (-1, left[0])
            else:
                assert (tuple(pairs[target].tolist()), end) == (left, -1)


def test_sparse_rows_are_dense_rows(blobs):
    X, y = blobs
    dense, by_sparse = (
        DAGSVMClassifier().fit(form(X), y) for form in (np.asarray, sparse.csr_array)
    )
    assert np.array_equal(dense.predict(X), by_sparse.predict(sparse.csr_array(X)))


def test_jobs_change_nothing(blobs):
    X, y = blobs
    one, two = (DAGSVMClassifier(n_jobs=j).fit(X, y) for j in (1, 2))
    assert np.array_equal(one.routes_.weights, two.routes_.weights)
    assert np.array_equal(one.predict(X), two.predict(X))


def test_a_weight_of_k_is_k_copies_and_zero_none(blobs):
    X, y = blobs
    weights = np.random.default_rng(0).integers(0, 3, size=len(y))
    weights[y == 4] = 0
    copies = np.repeat(np.arange(len(y)), weights)
    weighted = DAGSVMClassifier().fit(X, y, sample_weight=weights)
    copied = DAGSVMClassifier().fit(X[copies], y[copies])
    assert weighted.classes_.tolist() == [0, 1, 2, 3, 5, 6]
    np.testing.assert_allclose(weighted.routes_.weights, copied.routes_.weights, atol=1e-6)


class Recording(pm.MFTree):
    def fit(self, X, y, sample_weight=None):
        self.weights_ = sample_weight
        return super().fit(X, y, sample_weight)


def test_a_learner_of_the_hierarchy_gets_the_weights(blobs):
    X, y = blobs
    weights = np.arange(len(X)) % 4
    clf = DAGSVMClassifier(hierarchy=Recording()).fit(X, y, sample_weight=weights)
    assert np.array_equal(clf.hierarchy_learner_.weights_, weights[weights > 0])


def test_answers_are_written_as_y(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(len(y)) + 3)
    predicted = DAGSVMClassifier().fit(frame, pd.Series(y)).predict(frame.iloc[:4])
    assert isinstance(predicted, pd.Series)
    assert predicted.index.tolist() == [3, 4, 5, 6]
    paths = [("even" if k % 2 == 0 else "odd", f"c{k}") for k in y]
    clf = DAGSVMClassifier().fit(X, paths)
    assert set(clf.predict(X)) <= set(paths)
    h = pm.Hierarchy.from_paths(sorted(set(paths)))
    assert DAGSVMClassifier(hierarchy=h).fit(X, paths).predict(X) == clf.predict(X)


def test_there_are_no_probabilities(blobs):
    assert not hasattr(DAGSVMClassifier().fit(*blobs), "predict_proba")


def test_one_class_needs_no_model():
    clf = DAGSVMClassifier().fit(np.zeros((3, 2)), ["a"] * 3)
    assert clf.predict(np.ones((2, 2))).tolist() == ["a", "a"]


@pytest.mark.parametrize(("name", "X", "y"), list(hard_cases()))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hard_input_gives_answers(name, X, y):
    clf = DAGSVMClassifier().fit(X, y)
    assert set(clf.predict(X)) <= set(np.asarray(y).tolist())
