"""Packed trees predict as those of scikit-learn, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from tests.multilabel.problems import X, Y

from palmette.multilabel import TreesMultilabel, _trees
from palmette.multilabel._leaf_shares import _MAX_ROWS, LeafShares
from palmette.multilabel._trees import forest_proba

ROWS = X.astype(np.float32)
MANY = np.random.default_rng(0).normal(size=(2 * _MAX_ROWS + 5, X.shape[1])).astype(np.float32)
SPARSE = np.where(np.random.default_rng(1).random(MANY.shape) < 0.5, 0, MANY)


def forest(kind=ExtraTreesClassifier, labels=Y, **parameters):
    return kind(12, random_state=0, **parameters).fit(ROWS, labels)


def sums_of(trees, X, used):
    """Literal version of `LeafShares.sums`: one tree and one row at a time."""
    sums = np.zeros((len(X), trees[0].tree_.n_outputs))
    for column, tree in enumerate(trees):
        for row in np.flatnonzero(used[:, column]):
            leaf = tree.tree_.apply(X[row : row + 1])[0]
            sums[row] += tree.tree_.value[leaf, :, 1]
    return sums


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, RandomForestClassifier])
@pytest.mark.parametrize("labels", [Y, Y[:, 0]], ids=["labels", "one label"])
@pytest.mark.parametrize("rows", [ROWS, MANY, SPARSE, MANY[:0]], ids=["own", "many", "zeros", "0"])
def test_probabilities_are_those_of_scikit_learn(kind, labels, rows):
    theirs = forest(kind, labels, min_samples_leaf=3)
    packed = LeafShares.of(theirs.estimators_)
    if len(rows):
        expected = forest_proba(theirs, rows)
        np.testing.assert_array_equal(packed.proba(rows), expected)
        np.testing.assert_array_equal(packed.proba(rows, n_jobs=3), expected)
        np.testing.assert_array_equal(packed.proba(sparse.csr_array(rows)), expected)
        np.testing.assert_array_equal(packed.proba(sparse.csr_array(rows), n_jobs=2), expected)
    else:
        assert packed.proba(rows).shape == (0, theirs.n_outputs_)


def test_some_trees_are_added_per_row():
    theirs = forest()
    used = np.random.default_rng(2).random((len(MANY), 12)) < 0.4
    packed = LeafShares.of(theirs.estimators_)
    expected = sums_of(theirs.estimators_, MANY, used)
    np.testing.assert_array_equal(packed.sums(MANY, used=used), expected)
    np.testing.assert_array_equal(packed.sums(MANY, n_jobs=4, used=used), expected)


def test_importances_are_those_of_scikit_learn():
    theirs = forest(max_depth=2)
    packed = LeafShares.of(theirs.estimators_)
    np.testing.assert_allclose(packed.importances, theirs.feature_importances_, rtol=1e-14)
    stumps = forest(min_samples_leaf=100)  # no tree has a split
    packed = LeafShares.of(stumps.estimators_)
    np.testing.assert_array_equal(packed.importances, np.zeros(X.shape[1]))
    np.testing.assert_array_equal(packed.proba(ROWS), forest_proba(stumps, ROWS))


def test_only_shares_above_zero_are_kept():
    packed = LeafShares.of(forest().estimators_)
    is_leaf = packed.left < 0
    assert (packed.share_values > 0).all()
    assert (np.diff(packed.share_starts)[~is_leaf] == 0).all()
    assert packed.n_trees == 12


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 121.0)])
@pytest.mark.parametrize("seed", [0, "RandomState"])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_trees_grown_few_at_a_time_are_those_of_one_forest(monkeypatch, weights, seed):
    def seeded():
        return np.random.RandomState(3) if seed else 0

    sizes = []

    class Counted(ExtraTreesClassifier):
        def fit(self, X, y, sample_weight=None):
            sizes.append(self.n_estimators)
            return super().fit(X, y, sample_weight=sample_weight)

    monkeypatch.setitem(_trees._KINDS, "extra_trees", Counted)
    theirs = ExtraTreesClassifier(7, bootstrap=True, oob_score=True, random_state=seeded())
    theirs.fit(ROWS, Y, weights)
    left_out = theirs.oob_decision_function_.sum(axis=1)[:, 0] > 0
    per_tree = 2 * Y.size * 2 * 8
    for at_once, expected in ((2**26, [7]), (3 * per_tree, [3, 3, 1]), (1, [1] * 7)):
        monkeypatch.setattr(_trees, "_BYTES_AT_ONCE", at_once)
        sizes.clear()
        model = TreesMultilabel(n_estimators=7, random_state=seeded()).fit(ROWS, Y, weights)
        assert sizes == expected
        np.testing.assert_array_equal(model.predict_proba(MANY), forest_proba(theirs, MANY))
        np.testing.assert_array_equal(
            model.oob_decision_function_[left_out], theirs.oob_decision_function_[left_out, 1]
        )


def test_a_state_of_earlier_versions_is_packed():
    model = TreesMultilabel(n_estimators=12, bootstrap=False, random_state=0).fit(ROWS, Y)
    theirs = forest()
    again = object.__new__(TreesMultilabel)
    again.__setstate__({**model.__getstate__(), "forest_": theirs})
    again.check_arrays()
    assert isinstance(again.forest_, LeafShares)
    np.testing.assert_array_equal(again.predict_proba(MANY), model.predict_proba(MANY))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


def test_a_model_is_small():
    rng = np.random.default_rng(0)
    labels = (rng.random((200, 300)) < 0.01).astype(int)
    labels[0], labels[1] = 1, 0
    model = TreesMultilabel(n_estimators=10, bootstrap=False, random_state=0)
    model.fit(rng.normal(size=(200, 5)), labels)
    sizes = [value.nbytes for value in vars(model.forest_).values() if hasattr(value, "nbytes")]
    of_sklearn = len(model.forest_.left) * 300 * 2 * 8
    assert sum(sizes) < of_sklearn / 25
