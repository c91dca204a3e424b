from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from palmette import Hierarchy
from palmette.class_tree import RandomTree
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.metrics import (
    boundary_share,
    distance_ratio,
    feature_efficiency,
    fisher_ratio,
    linear_error,
    neighbor_error,
    node_complexity,
    problem_complexity,
    range_overlap,
)


def rows(n_classes=3, n=40, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return rng.normal(size=(n, n_features)) + y[:, None] * 0.8, y


def pairs_of(X, y):
    return [(X[y == i], X[y == j]) for i, j in combinations(np.unique(y), 2)]


def literal_f1(X, y):
    best = []
    for one, other in pairs_of(X, y):
        found = []
        for a, b in zip(one.T, other.T, strict=True):
            found.append((a.mean() - b.mean()) ** 2 / (a.var() + b.var()))
        best.append(max(found))
    return np.mean(best)


def literal_f2(X, y):
    volumes = []
    for one, other in pairs_of(X, y):
        volume = 1.0
        for a, b in zip(one.T, other.T, strict=True):
            shared = max(0.0, min(a.max(), b.max()) - max(a.min(), b.min()))
            volume *= shared / (max(a.max(), b.max()) - min(a.min(), b.min()))
        volumes.append(volume)
    return np.mean(volumes)


def literal_f3(X, y):
    shares = []
    for one, other in pairs_of(X, y):
        found = []
        for a, b in zip(one.T, other.T, strict=True):
            low, high = max(a.min(), b.min()), min(a.max(), b.max())
            told = [v for v in [*a, *b] if v < low or v > high]
            found.append(len(told) / (len(a) + len(b)))
        shares.append(max(found))
    return np.mean(shares)


def distances(X):
    scaled = X if sparse.issparse(X) else (X - X.mean(0)) / X.std(0)
    scaled = scaled.toarray() if sparse.issparse(scaled) else scaled
    return cdist(scaled, scaled)


def literal_n1(X, y):
    edges = minimum_spanning_tree(distances(X)).tocoo()
    touched = {i for e in zip(edges.row, edges.col, strict=True) if y[e[0]] != y[e[1]] for i in e}
    return len(touched) / len(y)


def literal_n2(X, y):
    apart = distances(X) + np.diag(np.full(len(y), np.inf))
    same = [apart[i, y == y[i]].min() for i in range(len(y))]
    return sum(same) / sum(apart[i, y != y[i]].min() for i in range(len(y)))


def literal_n3(X, y):
    apart = distances(X) + np.diag(np.full(len(y), np.inf))
    return np.mean([y[apart[i].argmin()] != y[i] for i in range(len(y))])


MEASURES = [
    (fisher_ratio, literal_f1),
    (range_overlap, literal_f2),
    (feature_efficiency, literal_f3),
    (boundary_share, literal_n1),
    (distance_ratio, literal_n2),
    (neighbor_error, literal_n3),
]


@pytest.mark.parametrize(("measure", "literal"), MEASURES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_measures_are_those_of_the_definitions(measure, literal, n_classes):
    X, y = rows(n_classes)
    assert measure(X, y) == pytest.approx(literal(X, y))


@pytest.mark.parametrize(("measure", "literal"), MEASURES[:3])
def test_single_features_of_sparse_rows(measure, literal):
    X, y = rows()
    X[X < 0.5] = 0.0
    assert measure(sparse.csr_array(X), y) == pytest.approx(measure(X, y))


@pytest.mark.parametrize(("measure", "literal"), MEASURES[3:])
def test_neighbours_of_sparse_rows(measure, literal):
    X, y = rows()
    X[X[:, 0] < 0.5, 0] = 0.0
    thin = sparse.csr_array(X)
    assert measure(thin, y) == pytest.approx(literal(thin, y), abs=1e-6)


def test_blocks_of_columns_change_nothing(monkeypatch):
    X, y = rows()
    whole = feature_efficiency(X, y), fisher_ratio(X, y)
    monkeypatch.setattr("palmette.metrics._complexity_rows._BLOCK", 1)
    assert (feature_efficiency(X, y), fisher_ratio(X, y)) == whole


def test_the_scale_of_columns_changes_nothing():
    X, y = rows()
    one, other = problem_complexity(X, y), problem_complexity(X * [1.0, 100.0, 0.01] + 7.0, y)
    for name, value in vars(one).items():
        assert getattr(other, name) == pytest.approx(value, rel=1e-6), name


def test_classes_that_a_line_separates():
    X = np.array([[0.0, 3.0], [1.0, 1.0], [7.0, 3.0], [8.0, 1.0]])
    y = [0, 0, 1, 1]
    assert linear_error(X, y) == range_overlap(X, y) == 0.0
    assert feature_efficiency(X, y) == 1.0


def test_classes_that_are_the_same():
    X, y = np.repeat([[0.0], [1.0], [3.0]], 2, axis=0), [0, 1] * 3
    assert fisher_ratio(X, y) == feature_efficiency(X, y) == 0.0
    assert range_overlap(X, y) == 1.0
    assert linear_error(X, y) == 0.5
    assert distance_ratio(X, y) == np.inf


def test_a_feature_that_is_constant_in_both_classes():
    X = np.array([[0.0, 5.0], [0.0, 5.0], [1.0, 5.0], [1.0, 5.0]])
    assert fisher_ratio(X, [0, 0, 1, 1]) == np.inf
    assert fisher_ratio(X[:, 1:], [0, 0, 1, 1]) == 0.0
    assert range_overlap(X, [0, 0, 1, 1]) == 0.0


def test_nodes_are_the_problems_of_their_children():
    X, y = rows(4, 60)
    names = np.array(["a", "b", "c", "d"])[y]
    tree = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("c",), ("d",)])
    found = node_complexity(X, names, tree)
    assert {tree.names[node] for node in found} == {"root", "p"}
    sides = np.where(y < 2, 0, y)
    assert found[0] == problem_complexity(X, sides)
    assert found[tree.index("p")] == problem_complexity(X[y < 2], y[y < 2])


def test_rows_that_end_at_a_node_do_not_count_there():
    X, y = rows(3, 30)
    tree = Hierarchy.from_paths([("p", "a"), ("p", "b")])
    names = np.array(["p", "p/a", "p/b"])[y]
    found = node_complexity(X, names, tree)
    assert found == {tree.index("p"): problem_complexity(X[y > 0], y[y > 0])}


def test_some_rows_stand_for_all():
    X, y = rows(2, 200)
    some = problem_complexity(X, y, max_rows=50)
    assert 45 <= some.n_rows <= 55
    assert some == problem_complexity(X, y, max_rows=50)
    assert some.fisher_ratio == pytest.approx(fisher_ratio(X, y), rel=0.8)


@pytest.mark.parametrize("measure", [each for each, _ in MEASURES] + [problem_complexity])
def test_what_is_no_problem_is_refused(measure):
    with pytest.raises(LabelError, match="one class only"):
        measure([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(LabelError, match="one class per row"):
        measure([[0.0], [1.0]], [[0, 1], [1, 0]])


def test_a_dag_and_too_few_rows_are_refused():
    dag = Hierarchy.from_edges([("p", "a"), ("q", "a"), ("q", "b")], root="r")
    with pytest.raises(HierarchyError, match="node_complexity"):
        node_complexity([[0.0], [1.0]], ["a", "b"], dag)
    with pytest.raises(PalmetteError, match="max_rows"):
        problem_complexity([[0.0], [1.0]], ["a", "b"], max_rows=1)


@pytest.mark.parametrize("measure", [each for each, _ in MEASURES] + [problem_complexity])
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "y is None"),
        ([["a"], ["a", "b"], ["b"]], "one class per row"),
        ([("a",), "b", "b"], "one class per row"),
        (np.array([["a"], ["a", "b"], ["b"]], dtype=object), "one class per row"),
        (["a", None, "b"], "no class in row 1"),
        ([0.0, 1.0, np.nan], "no class in row 2"),
        (pd.Series(["a", "b", pd.NA]), "no class in row 2"),
        (["a", 1, "b"], "texts, such as 'a', and other values, such as 1"),
        (np.array(["a", 1, "b"], dtype=object), "texts, such as 'a', and other values"),
    ],
)
def test_rows_without_one_class_are_refused(measure, y, words):
    with pytest.raises(LabelError, match=words):
        measure([[0.0], [1.0], [3.0]], y)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (None, r"tree is None: .* BHCTree\(\)\.fit\(X, y\)\.hierarchy_"),
        ("tree.json", "tree is a str: .* Hierarchy.read"),
        (RandomTree(), r"tree is a RandomTree: .* Fit it"),
        (RandomTree, "tree is a type"),
        (RandomTree().fit([[0.0], [1.0]], ["a", "b"]), "Pass the hierarchy_ of the fitted Random"),
    ],
)
def test_what_is_no_tree_is_refused(tree, words):
    with pytest.raises(PalmetteError, match=words):
        node_complexity([[0.0], [1.0]], ["a", "b"], tree)


def test_both_names_of_the_tree():
    X, y = rows(3, 30)
    tree, names = Hierarchy.star(["a", "b", "c"]), np.array(["a", "b", "c"])[y]
    assert node_complexity(X, names, hierarchy=tree) == node_complexity(X, names, tree)
    with pytest.raises(PalmetteError, match="give one of them"):
        node_complexity(X, names, tree, hierarchy=tree)


@pytest.mark.parametrize("max_rows", ["a", 1, 2.5])
def test_numbers_of_rows_out_of_range(max_rows):
    tree = Hierarchy.star(["a", "b"])
    with pytest.raises(PalmetteError, match=r"max_rows=.*an integer of at least 2, or None"):
        problem_complexity([[0.0], [1.0]], ["a", "b"], max_rows=max_rows)
    with pytest.raises(PalmetteError, match="max_rows"):
        node_complexity([[0.0], [1.0]], ["a", "b"], tree, max_rows=max_rows)
