"""Laws about probabilities of classes and of nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.laws.problems import PATHS, along, problem
from tests.laws.shared import fit_once, fit_to_change

from palmette import Hierarchy, PalmetteError

__all__ = ["ON_PROBABILITIES"]


def probabilities_cover_the_classes_and_sum_to_one(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_once(estimator, X, paths)
    proba = fitted.predict_proba(X)
    assert set(fitted.classes_.tolist()) == set(PATHS)
    assert proba.shape == (len(X), len(PATHS))
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def the_best_path_is_the_most_probable_class(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_to_change(estimator, X, paths).set_params(decoding="best_path")
    proba = fitted.predict_proba(X)
    assert fitted.predict(X) == fitted.classes_[proba.argmax(axis=1)].tolist()


def probabilities_do_not_depend_on_the_other_rows(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_once(estimator, X, paths)
    together = fitted.predict_proba(X[:10])[:4]
    alone = np.concatenate([fitted.predict_proba(row[None]) for row in X[:4]])
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-15)


def node_probabilities_are_coherent(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_once(estimator, X, paths)
    h, proba = fitted.hierarchy_, fitted.predict_node_proba(X)
    assert proba.shape == (len(X), h.n_nodes)
    assert (proba[:, 1:] <= proba[:, h.parents[1:]]).all()
    assert (proba <= 1.0).all()
    np.testing.assert_allclose(proba[:, 0], 1.0)
    ends = dict(zip(map(tuple, fitted.classes_), fitted.predict_proba(X).T, strict=True))
    for node in np.flatnonzero(~h.is_leaf):
        below = proba[:, h.children(int(node))].sum(axis=1) + ends.get(h.path(int(node)), 0.0)
        np.testing.assert_allclose(proba[:, node], below, atol=1e-12)
    some = fitted.predict_node_proba(X, nodes=["b/x", ("a", "y"), "c"])
    assert np.array_equal(some, proba[:, h.index(["b/x", ("a", "y"), "c"])])
    for single in ("c", ("a", "y")):
        one = fitted.predict_node_proba(X, nodes=single)
        assert np.array_equal(one, proba[:, [h.index(single)]])


def leaves_never_seen_have_no_probability(estimator: BaseEstimator) -> None:
    X, paths = problem()
    h = Hierarchy.from_paths([("a", "new"), *PATHS, ("e", "newer"), ("d", "only", "newest")])
    fitted = along(estimator, h).fit(X, paths)
    assert fitted.predict_proba(X).shape == (len(X), len(PATHS))
    proba = fitted.predict_node_proba(X)
    unseen = h.index([("a", "new"), ("e",), ("e", "newer"), ("d", "only", "newest")])
    assert (proba[:, unseen] == 0).all()
    plain = fit_once(estimator, X, paths)
    np.testing.assert_allclose(
        fitted.predict_node_proba(X, nodes=PATHS), plain.predict_node_proba(X, nodes=PATHS)
    )


def top_k_are_the_most_probable_classes(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_to_change(estimator, X, paths).set_params(decoding="best_path")
    labels, values = fitted.predict_top_k(X, k=3)
    proba = fitted.predict_proba(X)
    np.testing.assert_array_equal(values, -np.sort(-proba, axis=1)[:, :3])
    assert [row[0] for row in labels] == fitted.predict(X)
    column = {path: i for i, path in enumerate(map(tuple, fitted.classes_))}
    for row, of_row, best in zip(labels, proba, values, strict=True):
        assert of_row[[column[path] for path in row]].tolist() == best.tolist()
    assert {len(row) for row in fitted.predict_top_k(X, k=100)[0]} == {len(PATHS)}
    with pytest.raises(PalmetteError, match="k=0: expected a positive"):
        fitted.predict_top_k(X, k=0)


ON_PROBABILITIES: list[Callable[[BaseEstimator], None]] = [
    probabilities_cover_the_classes_and_sum_to_one,
    the_best_path_is_the_most_probable_class,
    probabilities_do_not_depend_on_the_other_rows,
    node_probabilities_are_coherent,
    leaves_never_seen_have_no_probability,
    top_k_are_the_most_probable_classes,
]
