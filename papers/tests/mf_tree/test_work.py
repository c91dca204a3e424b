"""A fit and its answers: dot products counted on small trees, times, trees."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.class_tree import RandomTree
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._dag_svm import DAGSVMClassifier
from palmette.hierarchy._hierarchy import Hierarchy
from papers.cells import Options
from papers.mf_tree.fits import count_dot_products, work
from papers.mf_tree.methods import Method, kernels, methods, plain_trees

FOUR = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("q", "c"), ("q", "d")])
X = np.repeat([[4.0, 1.0], [4.0, -1.0], [-4.0, 1.0], [-4.0, -1.0]], 5, axis=0)
Y = np.repeat(list("abcd"), 5)


@pytest.mark.parametrize(
    ("classifier", "expected"),
    [
        # one classifier at a node of two options: the root and one of its children
        (ClassTreeClassifier(FOUR, decoding="greedy"), 2),
        # both children too
        (ClassTreeClassifier(FOUR, decoding="beam", beam_width=2), 3),
        # one for each of four options
        (ClassTreeClassifier(Hierarchy.star("abcd"), decoding="greedy"), 4),
        # the projections of the paper are two at a node
        (ClassTreeClassifier(FOUR, router="spectral", decoding="greedy"), 4),
        # three classes are struck out
        (DAGSVMClassifier(), 3),
    ],
)
def test_dot_products_on_four_classes(classifier, expected):
    classifier.fit(X, Y)
    routes = classifier.routes_
    assert count_dot_products(classifier, X) == expected
    assert classifier.routes_ is routes


def test_a_linear_classifier_takes_one_for_every_class():
    from sklearn.svm import LinearSVC

    assert count_dot_products(LinearSVC().fit(X, Y), X) == 4


def test_what_a_fit_tells(problem):
    method = next(method for method in methods() if method.key == "MF-Tree, binary")
    found = work(method, problem, Options())
    assert list(found["answers"]) == ["greedy", "beam 5"]
    for told in found["answers"].values():
        labels = np.unique(problem.y_train)[told["predicted"]]
        assert (labels == problem.y_test).all()  # the clouds are far apart
        assert told["us"] > 0
    assert found["answers"]["greedy"]["dots"] < found["answers"]["beam 5"]["dots"]
    assert 0 < found["tree_s"] <= found["fit_s"]
    tree = Hierarchy.from_edges([tuple(edge) for edge in found["edges"]])
    assert tree.max_depth == found["depth"] == 3
    assert set(tree.names[tree.leaves]) == set(problem.y_train)


@pytest.mark.parametrize("method", [*methods(), *kernels()], ids=lambda method: method.key)
def test_every_method_answers(problem, method: Method):
    found = work(method, problem, Options())
    n_classes = len(np.unique(problem.y_train))
    assert list(found["answers"]) == list(method.answers)
    depths = {"DAGSVM": n_classes - 1, "one-vs-rest": 1, "one-vs-rest, scikit-learn": 1}
    assert found["depth"] == depths.get(method.key, found["depth"])
    flat = method.key.startswith("one-vs-rest")
    for told in found["answers"].values():
        assert told["dots"] == n_classes if flat else told["dots"] > 0


def test_trees_that_are_only_looked_at(problem):
    for method in plain_trees():
        found = work(method, problem, Options())
        assert found["answers"] == {}
        assert len(found["edges"]) >= 6


def test_some_rows_are_fitted_before_the_clock_starts(problem):
    """What is compiled at first is no part of the seconds."""
    sizes = []

    class Counted(RandomTree):
        def fit(self, X, y, **kwargs):
            sizes.append(len(y))
            return super().fit(X, y, **kwargs)

    work(Method("counted", lambda options: Counted(), None, {}), problem, Options())
    assert sizes == [40, len(problem.y_train)]
