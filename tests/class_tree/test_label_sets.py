"""Learners of hierarchies take label sets: a row counts for each of its labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import palmette as pm
from palmette.base._label_sets import LabelSetsProblem
from palmette.base._statistics import ClassStatistics
from palmette.class_tree import (
    AgglomerativeTree,
    BalancedTree,
    BHCTree,
    ClassTreeClassifier,
    ClassTreeEnsemble,
    DependenceTree,
    KMeansTree,
    LabelEmbeddingTree,
    MFTree,
    NMFTree,
    RandomTree,
    RelaxedTree,
)
from palmette.exceptions import LabelError, PalmetteError
from palmette.multilabel import BinaryRelevance

LEARNERS = [
    AgglomerativeTree(),
    BalancedTree(),
    BHCTree(),
    DependenceTree(),
    LabelEmbeddingTree(random_state=0),
    MFTree(),
    NMFTree(),
    RandomTree(random_state=0),
    RelaxedTree(),
]
NAMES = [type(learner).__name__ for learner in LEARNERS]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, (X @ rng.normal(size=(4, 6)) > 0.8).astype(int)


def as_sets(Y):
    return [{f"label {k}" for k in np.flatnonzero(row)} for row in Y]


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_a_tree_of_label_sets_is_that_of_repeated_rows(learner, rows):
    X, Y = rows
    owner, label = np.nonzero(Y)
    found = clone(learner).fit(X, Y)
    repeated = clone(learner).fit(X[owner], label)
    assert found.classes_.tolist() == repeated.classes_.tolist() == list(range(6))
    assert found.hierarchy_ == repeated.hierarchy_


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_any_learner_feeds_classifiers_of_label_sets(learner, rows):
    X, Y = rows
    model = BinaryRelevance(hierarchy=learner).fit(X, as_sets(Y))
    assert sorted(model.classes_) == [f"label {k}" for k in range(6)]
    names = model.hierarchy_learner_.hierarchy_.names[model.hierarchy_learner_.hierarchy_.leaves]
    assert set(names) == set(model.classes_)
    assert set().union(*model.predict(X)) <= set(model.classes_)  # groups are no labels


def test_forms_of_label_sets_give_one_tree(rows):
    X, Y = rows
    tree = MFTree().fit(X, as_sets(Y)).hierarchy_
    for y in (pm.NodeLabels.encode(as_sets(Y), flat=True), np.array(as_sets(Y), dtype=object)):
        assert MFTree().fit(X, y).hierarchy_ == tree
    assert MFTree().fit(X, sparse.csr_array(Y)).hierarchy_ == MFTree().fit(X, Y).hierarchy_
    assert MFTree().fit(X, Y.tolist()).hierarchy_ == MFTree().fit(X, Y).hierarchy_
    assert MFTree().fit(sparse.csr_array(X), Y).hierarchy_.n_nodes == tree.n_nodes


def test_sets_of_one_label_are_labels(rows):
    X, Y = rows
    y = [f"label {k}" for k in Y.argmax(axis=1)]
    assert MFTree().fit(X, [{label} for label in y]).hierarchy_ == MFTree().fit(X, y).hierarchy_


def test_columns_without_rows_are_children_of_the_root(rows):
    X, Y = rows
    wide = np.insert(Y, 3, 0, axis=1)
    tree = MFTree().fit(X, wide)
    assert tree.classes_.tolist() == [0, 1, 2, 4, 5, 6]
    assert set(tree.hierarchy_.names[tree.hierarchy_.leaves]) == set(range(7))
    assert 3 in tree.hierarchy_.names[tree.hierarchy_.children(0)].tolist()


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("moments", ["mean", "diagonal", "pooled"])
def test_statistics_are_those_of_weighted_copies(rows, moments, sparse_rows):
    X, Y = rows
    weights = np.random.default_rng(1).random(len(X))
    given = sparse.csr_array(X) if sparse_rows else X
    found = LabelSetsProblem(given, sparse.csr_array(Y.astype(bool)), weights).gather(moments)
    owner, label = np.nonzero(Y)
    expected = ClassStatistics.gather(X[owner], label, 6, weights[owner], moments)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-12)
    for name in ("sum", "scatter"):
        own, other = getattr(found, name), getattr(expected, name)
        if other is not None:
            own = own.toarray() if sparse.issparse(own) else own
            np.testing.assert_allclose(own, other, atol=1e-9)


def test_rows_without_weight_and_rows_without_labels_change_nothing(rows):
    X, Y = rows
    more_X, more_Y = np.vstack([X, X[:5] + 3, X[:5] - 3]), np.vstack([Y, Y[:5], 0 * Y[:5]])
    weights = np.r_[np.ones(60), np.zeros(5), np.ones(5)]
    found = MFTree().fit(more_X, more_Y, sample_weight=weights)
    assert found.hierarchy_ == MFTree().fit(X, Y).hierarchy_


def test_what_cannot_be_learnt_from_is_told(rows):
    X, _ = rows
    with pytest.raises(LabelError, match="none of the 60 rows of y has a label"):
        MFTree().fit(X, np.zeros((60, 3), dtype=int))
    with pytest.raises(PalmetteError, match="y has one class only, 'a'"):
        MFTree().fit(X, [{"a"}] * 59 + [set()])
    with pytest.raises(LabelError, match="y contains paths"):
        MFTree().fit(X, [("a", "b"), ("a", "c")] * 30)
    tree = MFTree().fit(X, [{"a"}, {"b"}, {"a", "c"}] * 20)
    with pytest.raises(LabelError, match="1 labels of y are not in the learned hierarchy"):
        tree.encode([{"a", "d"}])
    assert tree.encode([{"a", "d"}], skip_unknown=True).given.nnz == 1


@pytest.mark.parametrize("row_type", [tuple, list])
def test_rows_of_one_label_are_labels_of_a_learnt_tree(rows, row_type):
    X = rows[0]
    names = np.array(["a", "b", "c", "d"])[np.arange(X.shape[0]) % 4]
    model = ClassTreeClassifier(KMeansTree(2, leaf_size=1), router="linear")
    plain = model.fit(X, names).predict(X)
    found = model.fit(X, [row_type([name]) for name in names]).predict(X)
    assert found == [row_type([name]) for name in plain.tolist()]


def test_paths_are_no_labels_of_a_learnt_tree(rows):
    y = [("a", "b") if i % 2 else ("a", "c") for i in range(rows[0].shape[0])]
    with pytest.raises(LabelError, match="sets of labels, which are not ordered"):
        ClassTreeClassifier(KMeansTree(), router="linear").fit(rows[0], y)


def test_groups_of_a_learnt_dag_are_no_answers():
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(80, 6)))
    y = [{f"l{k}" for k in np.flatnonzero(row > row.mean())} for row in X]
    ensemble = ClassTreeEnsemble(RelaxedTree(), n_trees=2, router="linear", random_state=0)
    ensemble.fit(X, y)
    labels = set().union(*y)
    assert not ensemble.estimators_[0].hierarchy_.is_tree
    for model in (ensemble, ensemble.estimators_[0]):
        assert set().union(*model.predict(X)) <= labels
        best = model.predict_top_k(X, 6)[0]
        assert all(set(row) == labels for row in best)
