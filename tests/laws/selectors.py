"""Laws of estimators that choose features for every node."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.laws.problems import DAG, PATHS, problem
from tests.laws.shared import fit_once

from palmette import Hierarchy, LocalPerParentClassifier, PalmetteError

__all__ = ["ON_SELECTORS"]


def wide(seed: int = 0) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Return the rows of `problem`, with eight features of noise after the four that tell."""
    X, paths = problem(seed=seed)
    noise = np.random.default_rng(seed).normal(size=(len(X), 8))
    return np.hstack([X, noise]), paths


def every_choice_has_features_and_nothing_else_has(estimator: BaseEstimator) -> None:
    X, paths = wide()
    selector = fit_once(estimator, X, paths)
    h = selector.hierarchy_
    assert selector.node_supports_.shape == (h.n_nodes, X.shape[1])
    has_features = np.diff(selector.node_supports_.indptr) > 0
    assert np.flatnonzero(has_features).tolist() == h.index(["root", "a", "a/y", "b"]).tolist()
    assert selector.skipped_nodes_.tolist() == [h.index("d")]
    union = np.unique(selector.node_supports_.indices)
    assert selector.get_support(indices=True).tolist() == union.tolist()
    assert selector.transform(X).shape == (len(X), len(union))
    for name in ("root", "a", "a/y", "b"):
        own = selector.get_support(name)
        np.testing.assert_array_equal(selector.transform(X, node=name), X[:, own])
        assert np.array_equal(own, selector.get_support(h.index(name)))


def chosen_features_have_the_best_scores(estimator: BaseEstimator) -> None:
    X, paths = wide()
    selector = clone(estimator).set_params(n_features_to_select=3).fit(X, paths)
    for node in np.flatnonzero(np.diff(selector.node_supports_.indptr)):
        own = selector.get_support(int(node))
        scores = selector.node_scores_[[node]].toarray()[0]
        assert own.sum() == 3
        assert scores[own].min() >= scores[~own].max()
        assert (scores >= 0.0).all()
        assert np.isfinite(scores).all()


def noise_is_not_chosen_where_others_tell(estimator: BaseEstimator) -> None:
    X, paths = wide()
    selector = clone(estimator).set_params(n_features_to_select=1).fit(X, paths)
    assert selector.get_support("root", indices=True)[0] < 4


def sparse_rows_and_tables_are_rows(estimator: BaseEstimator) -> None:
    X, paths = wide()
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    dense = clone(estimator).fit(X, paths)
    for rows in (sparse.csr_array(X), sparse.csc_matrix(X), pd.DataFrame(X)):
        other = clone(estimator).fit(rows, paths)
        assert (other.node_supports_ != dense.node_supports_).nnz == 0
    assert sparse.issparse(other.fit(sparse.csr_array(X), paths).transform(sparse.csr_array(X)))


def a_weight_of_k_is_k_copies(estimator: BaseEstimator) -> None:
    X, paths = wide()
    weights = np.arange(len(X)) % 4
    copies = np.repeat(np.arange(len(X)), weights)
    weighted = clone(estimator).fit(X, paths, sample_weight=weights)
    repeated = clone(estimator).fit(X[copies], [paths[i] for i in copies])
    for name in ("root", "a", "a/y", "b"):
        assert np.array_equal(weighted.get_support(name), repeated.get_support(name))


def copies_choose_alike(estimator: BaseEstimator) -> None:
    X, paths = wide()
    fitted = fit_once(estimator, X, paths)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform(X, node="a"), fitted.transform(X, node="a"))
    jobs = clone(estimator).set_params(n_jobs=2).fit(X, paths)
    assert (jobs.node_supports_ != fitted.node_supports_).nnz == 0
    assert not hasattr(clone(fitted), "node_supports_")
    with pytest.raises(NotFittedError):
        clone(estimator).get_support()


def local_classifiers_take_it(estimator: BaseEstimator) -> None:
    X, paths = wide()
    selector = clone(estimator).set_params(hierarchy=Hierarchy.from_paths(PATHS))
    clf = LocalPerParentClassifier(LogisticRegression(), feature_selector=selector)
    clf.fit(X, paths)
    for node, model in clf.estimators_.items():
        assert model.n_features_in_ == clf.feature_selector_.get_support(node).sum()
    assert clf.score(X, paths) > 0.3


def what_it_cannot_choose_from_is_refused(estimator: BaseEstimator) -> None:
    X, paths = wide()
    with pytest.raises(ValueError, match="NaN"):
        clone(estimator).fit(np.where(X > 3.0, np.nan, X), paths)
    with pytest.raises(PalmetteError, match="one class only"):
        clone(estimator).fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(estimator).fit(X, paths[:-1])
    with pytest.warns(UserWarning, match="more than the 12 features"):
        clone(estimator).set_params(n_features_to_select=13).fit(X, paths)


def dags_and_label_sets_are_taken(estimator: BaseEstimator) -> None:
    X, _ = wide()
    leaves = [str(DAG.names[leaf]) for leaf in DAG.leaves]
    sets = [{leaves[i % len(leaves)], leaves[i // 3 % len(leaves)]} for i in range(len(X))]
    for labels in ([leaves[i % len(leaves)] for i in range(len(X))], sets):
        for several in ("copies", "yes_no"):
            selector = clone(estimator).set_params(hierarchy=DAG, several=several).fit(X, labels)
            assert selector.get_support(0).any()
            assert np.isfinite(selector.node_scores_.data).all()


ON_SELECTORS = (
    every_choice_has_features_and_nothing_else_has,
    chosen_features_have_the_best_scores,
    noise_is_not_chosen_where_others_tell,
    sparse_rows_and_tables_are_rows,
    a_weight_of_k_is_k_copies,
    copies_choose_alike,
    local_classifiers_take_it,
    dags_and_label_sets_are_taken,
    what_it_cannot_choose_from_is_refused,
)
