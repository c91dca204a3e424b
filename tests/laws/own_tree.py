"""Laws of classifiers that learn a tree over the labels of y, whatever these are."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import cross_val_score
from tests.laws.learners import families, seeded
from tests.laws.shared import fit_once

from palmette import LabelError

__all__ = ["ON_OWN_TREE", "learns_over_labels"]


def learns_over_labels(estimator: BaseEstimator) -> bool:
    """Whether a classifier learns a tree of its own, even where y holds paths."""
    return hasattr(getattr(estimator, "tree", None), "fit")


def labels_are_answered_in_their_form(estimator: BaseEstimator) -> None:
    X, y = families()
    fitted = fit_once(seeded(estimator), X, y)
    assert fitted.classes_.tolist() == list("abcdefghi")
    assert fitted.predict(X).dtype == y.dtype
    assert fitted.score(X, y) > 0.9
    leaves = fitted.hierarchy_.names[fitted.hierarchy_.leaves]
    assert sorted(leaves.tolist()) == list("abcdefghi")
    frame = pd.DataFrame(X, index=np.arange(len(X)) + 7)
    named = seeded(estimator).fit(frame, pd.Series(y, index=frame.index)).predict(frame)
    assert named.index.equals(frame.index)
    assert named.tolist() == fitted.predict(X).tolist()
    codes = np.unique(y, return_inverse=True)[1]
    assert np.issubdtype(seeded(estimator).fit(X, codes).predict(X).dtype, np.integer)


def jobs_copies_and_other_rows_change_nothing(estimator: BaseEstimator) -> None:
    X, y = families()
    fitted = fit_once(seeded(estimator), X, y)
    proba = fitted.predict_proba(X)
    again = seeded(estimator).set_params(n_jobs=2).fit(X, y)
    assert np.array_equal(again.predict_proba(X), proba)
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict(X), fitted.predict(X))
    np.testing.assert_allclose(fitted.predict_proba(X[:3]), proba[:3], atol=1e-12)


def probabilities_are_those_of_the_labels(estimator: BaseEstimator) -> None:
    X, y = families()
    fitted = fit_once(seeded(estimator), X, y)
    proba = fitted.predict_proba(X)
    assert proba.shape == (len(X), 9)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.mean(fitted.classes_[proba.argmax(axis=1)] == y) > 0.9
    nodes = fitted.predict_node_proba(X)
    parents = fitted.hierarchy_.parents
    assert (nodes[:, 1:] <= nodes[:, parents[1:]]).all()
    labels, shares = fitted.predict_top_k(X, 3)
    assert {len(row) for row in labels} == {3}
    assert [row[0] for row in labels] == fitted.classes_[proba.argmax(axis=1)].tolist()
    assert shares.shape == (len(X), 3)
    assert (np.diff(shares, axis=1) <= 0).all()


def sparse_rows_serve(estimator: BaseEstimator) -> None:
    X, y = families()
    assert seeded(estimator).fit(sparse.csr_array(X), y).score(sparse.csr_array(X), y) > 0.9


def rows_of_no_weight_are_not_learnt(estimator: BaseEstimator) -> None:
    X, y = families()
    fitted = seeded(estimator).fit(X, y, sample_weight=np.where(y == "i", 0.0, 1.0))
    assert fitted.classes_.tolist() == list("abcdefgh")
    assert fitted.score(X[y == "i"], y[y == "i"]) == 0.0


def the_tree_is_learnt_in_every_fold(estimator: BaseEstimator) -> None:
    X, y = families(n_each=20)
    assert cross_val_score(seeded(estimator), X, y, cv=3).mean() > 0.7


def paths_are_no_labels(estimator: BaseEstimator) -> None:
    X, y = families()
    with pytest.raises(LabelError, match="learned over labels, but y has paths"):
        clone(estimator).fit(X, [("root", str(label)) for label in y])


ON_OWN_TREE = (
    labels_are_answered_in_their_form,
    jobs_copies_and_other_rows_change_nothing,
    probabilities_are_those_of_the_labels,
    sparse_rows_serve,
    rows_of_no_weight_are_not_learnt,
    the_tree_is_learnt_in_every_fold,
    paths_are_no_labels,
)
