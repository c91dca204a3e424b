"""Laws of estimators that learn a hierarchy over the classes of y."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.tree import DecisionTreeClassifier
from tests.laws.shared import fit_once

from palmette import Hierarchy, LocalPerParentClassifier, PalmetteError

__all__ = ["ON_LEARNERS"]


# what is dense they bring to one scale first; what is sparse would not stay so
SCALE_DENSE_ROWS_ONLY = {"LabelEmbeddingTree", "NMFTree", "RelaxedTree"}


def families(n_each: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of nine classes in three families that stand well apart."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(8.0 * np.eye(3, 6), 3, axis=0) + rng.normal(scale=1.0, size=(9, 6))
    codes = rng.permutation(np.repeat(np.arange(9), n_each))
    X = np.abs(centres[codes] + rng.normal(scale=0.5, size=(len(codes), 6)) + 4.0)
    return X, np.array(list("abcdefghi"))[codes]


def groups_of(hierarchy: Hierarchy) -> set[frozenset[str]]:
    """Leaves below each inner node."""
    names = hierarchy.names
    leaves = set(hierarchy.leaves.tolist())
    return {
        frozenset(str(names[d]) for d in [node, *hierarchy.descendants(node)] if int(d) in leaves)
        for node in range(hierarchy.n_nodes)
        if node not in leaves
    }


def seeded(estimator: BaseEstimator) -> BaseEstimator:
    """Return an unfitted copy that gives the same answers again."""
    learner = clone(estimator)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=5)
    return learner


def the_leaves_are_the_classes(estimator: BaseEstimator) -> None:
    X, y = families()
    learner = clone(estimator).fit(X, y)
    hierarchy = learner.hierarchy_
    assert learner.classes_.tolist() == list("abcdefghi")
    assert sorted(hierarchy.names[hierarchy.leaves].tolist()) == learner.classes_.tolist()
    assert frozenset("abcdefghi") in groups_of(hierarchy)


def numbers_may_be_names(estimator: BaseEstimator) -> None:
    X, y = families()
    codes = np.unique(y, return_inverse=True)[1] * 10
    hierarchy = clone(estimator).fit(X, codes).hierarchy_
    assert sorted(hierarchy.names[hierarchy.leaves].tolist()) == list(range(0, 90, 10))


def sparse_rows_and_tables_give_the_same_hierarchy(estimator: BaseEstimator) -> None:
    X, y = families()
    learner = seeded(estimator)
    dense = fit_once(learner, X, y).hierarchy_
    table = clone(learner).fit(pd.DataFrame(X), pd.Series(y)).hierarchy_
    assert table == dense
    rows = clone(learner).fit(sparse.csr_array(X), y).hierarchy_
    if type(learner).__name__ not in SCALE_DENSE_ROWS_ONLY:
        assert groups_of(rows) == groups_of(dense)
    assert sorted(rows.names[rows.leaves].tolist()) == sorted(dense.names[dense.leaves].tolist())


def fits_repeat(estimator: BaseEstimator) -> None:
    X, y = families()
    learner = seeded(estimator)
    first = fit_once(learner, X, y)
    assert clone(learner).fit(X, y).hierarchy_ == first.hierarchy_
    assert pickle.loads(pickle.dumps(first)).hierarchy_ == first.hierarchy_
    if "n_jobs" in learner.get_params():
        assert clone(learner).set_params(n_jobs=2).fit(X, y).hierarchy_ == first.hierarchy_


def rows_of_no_weight_are_not_there(estimator: BaseEstimator) -> None:
    X, y = families()
    weights = np.where(y == "i", 0.0, 1.0)
    learner = clone(estimator).fit(X, y, sample_weight=weights)
    assert learner.classes_.tolist() == list("abcdefgh")
    assert "i" not in learner.hierarchy_.names.tolist()


def what_cannot_be_learnt_from_is_refused(estimator: BaseEstimator) -> None:
    X, y = families()
    with pytest.raises(PalmetteError, match="one class only"):
        clone(estimator).fit(X, np.full(len(y), "a"))
    with pytest.raises(PalmetteError, match=r"one label (a|per) row"):
        clone(estimator).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="NaN"):
        clone(estimator).fit(np.where(X > 4.0, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(estimator).fit(X, y[:-1])


def it_stands_in_the_place_of_a_hierarchy(estimator: BaseEstimator) -> None:
    X, y = families()
    learner = seeded(estimator)
    clf = LocalPerParentClassifier(DecisionTreeClassifier(random_state=0), hierarchy=learner)
    if not fit_once(learner, X, y).hierarchy_.is_tree:
        with pytest.raises(PalmetteError, match="tree"):
            clf.fit(X, y)
        return
    clf.fit(X, y)
    assert clf.hierarchy_ == clf.hierarchy_learner_.hierarchy_
    assert clf.score(X, y) > 0.95
    assert set(clf.predict(X)) <= set(y)


ON_LEARNERS = (
    the_leaves_are_the_classes,
    numbers_may_be_names,
    sparse_rows_and_tables_give_the_same_hierarchy,
    fits_repeat,
    rows_of_no_weight_are_not_there,
    what_cannot_be_learnt_from_is_refused,
    it_stands_in_the_place_of_a_hierarchy,
)
