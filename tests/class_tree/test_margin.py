from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.optimize import minimize
from sklearn.preprocessing import StandardScaler
from tests.class_tree.clades import clades

import palmette as pm
from palmette.class_tree._margin import MarginTree, hull_distance
from palmette.exceptions import PalmetteError
from palmette.partition import ClassProblem, MarginPartition


def literal_distance(one, other, one_share, other_share, nu):
    """Minimize the distance between points of the two reduced hulls, with a general solver."""
    n = len(one)
    signed = np.vstack([one, -other])
    start = np.concatenate([one_share, other_share])
    most = np.minimum(start / max(nu, 1e-12), 1.0)
    of_one = np.arange(len(start)) < n
    sums = [
        {"type": "eq", "fun": lambda v, s=s: v[s].sum() - 1, "jac": lambda v, s=s: s.astype(float)}
        for s in (of_one, ~of_one)
    ]
    found = minimize(
        lambda v: np.sum((v @ signed) ** 2) / 2,
        start,
        jac=lambda v: signed @ (v @ signed),
        bounds=[(0.0, top) for top in most],
        constraints=sums,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return float(np.linalg.norm(found.x @ signed))


def clouds(seed=0, n_classes=6, n_features=3, most_rows=8):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), rng.integers(2, most_rows, n_classes))
    return rng.normal(size=(n_classes, n_features))[y] * 2 + rng.normal(size=(len(y), 3)), y


@pytest.mark.parametrize("nu", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_of_the_literal_program(nu, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, 2)
    one, other = (rng.normal(size=(n, 3)) + shift for n, shift in zip(sizes, (0, 2), strict=True))
    shares = [each / each.sum() for each in (rng.integers(1, 4, n).astype(float) for n in sizes)]
    found = hull_distance(one, other, *shares, nu)
    assert found == pytest.approx(literal_distance(one, other, *shares, nu), rel=1e-4, abs=3e-3)
    thin = hull_distance(sparse.csr_array(one), sparse.csr_array(other), *shares, nu)
    assert thin == pytest.approx(found, rel=1e-4)


def test_hulls_that_overlap_have_no_margin():
    inside = np.array([[0.0, 0.1], [0.1, 0.0], [0.0, -0.1]])
    around = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    assert hull_distance(inside, around, np.full(3, 1 / 3), np.full(4, 1 / 4), 0.0) == 0.0


@pytest.mark.parametrize("method", ["complete", "average", "single"])
def test_the_tree_is_the_dendrogram_of_literal_margins(method):
    X, y = clouds()
    scaled = StandardScaler().fit_transform(X)
    near = [
        literal_distance(
            scaled[y == i],
            scaled[y == j],
            *(np.full(n, 1 / n) for n in (int((y == i).sum()), int((y == j).sum()))),
            0.5,
        )
        for i in range(6)
        for j in range(i + 1, 6)
    ]
    members = [frozenset([k]) for k in range(6)]
    for left, right in linkage(near, method)[:, :2].astype(int):
        members.append(members[left] | members[right])
    tree = MarginTree(method=method).fit(X, y)
    assert clades(tree) == set(members[6:])
    np.testing.assert_allclose(tree.margins_[np.triu_indices(6, 1)], near, rtol=1e-3, atol=3e-3)


def test_hulls_reduced_to_means_give_the_dendrogram_of_means():
    X, y = clouds(1)
    means = pm.AgglomerativeTree("complete").fit(StandardScaler().fit_transform(X), y)
    assert clades(MarginTree(nu=1.0).fit(X, y)) == clades(means)


def test_a_weight_of_two_is_two_copies():
    X, y = clouds(2)
    weights = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted = MarginTree().fit(X, y, sample_weight=weights)
    copied = MarginTree().fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.margins_, copied.margins_, atol=5e-3)
    assert clades(weighted) == clades(copied)


def test_threads_change_nothing():
    X, y = clouds(3)
    alone, together = (MarginTree(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(alone.margins_, together.margins_)


def test_boosting_follows_a_margin_tree():
    X, y = clouds(4)
    clf = pm.AdaBoostBHCClassifier(MarginTree(), n_estimators=2, random_state=0).fit(X, y)
    assert clades(clf.hierarchy_learner_) == clades(MarginTree().fit(X, y))
    assert clf.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"nu": 1.5}, "from 0 to 1"),
        ({"method": "ward"}, "complete"),
        ({"nu": "a"}, "nu='a': expected a number"),
        ({"branching": 1}, "an integer of at least 2"),
        ({"branching": "x"}, "branching='x'"),
    ],
)
def test_parameters_are_checked(wrong, match):
    with pytest.raises(PalmetteError, match=match):
        MarginPartition(**wrong).begin(ClassProblem(np.zeros((3, 1)), np.arange(3), 3))


def test_too_many_classes_are_refused():
    problem = ClassProblem(np.zeros((6_000, 1)), np.arange(6_000), 6_000)
    with pytest.raises(PalmetteError, match="MFTree"):
        MarginPartition().begin(problem)
