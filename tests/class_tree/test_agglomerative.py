from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from tests.class_tree.clades import clades

from palmette.class_tree._agglomerative import AgglomerativeTree, Dendrogram
from palmette.exceptions import PalmetteError
from palmette.partition import AgglomerativePartition, ClassProblem

METHODS = ["single", "complete", "average", "weighted", "centroid", "median", "ward"]


def merged(links):
    """Groups that scipy's table of merges makes."""
    n = len(links) + 1
    members = [frozenset([k]) for k in range(n)]
    for left, right in links[:, :2].astype(int):
        members.append(members[left] | members[right])
    return set(members[n:])


@pytest.fixture(scope="module")
def means():
    return np.random.default_rng(0).normal(size=(25, 4))


@pytest.mark.parametrize("method", METHODS)
def test_the_tree_is_the_dendrogram(means, method):
    tree = AgglomerativeTree(method).fit(means, np.arange(25))
    assert clades(tree) == merged(linkage(means, method))


@pytest.mark.parametrize("metric", ["cosine", "cityblock", "correlation"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_other_metrics(means, metric, form):
    tree = AgglomerativeTree("average", metric).fit(form(means), np.arange(25))
    assert clades(tree) == merged(linkage(means, "average", metric))


def test_sparse_means_are_dense_means(means):
    dense = AgglomerativeTree().fit(means, np.arange(25))
    assert clades(AgglomerativeTree().fit(sparse.csr_array(means), np.arange(25))) == clades(dense)


def test_means_of_rows_are_joined(means):
    rows = np.concatenate([means - 1.0, means + 1.0])
    tree = AgglomerativeTree().fit(rows, np.tile(np.arange(25), 2))
    assert clades(tree) == merged(linkage(means, "ward"))


def test_wider_divisions_undo_the_last_merges(means):
    links = linkage(means, "average")
    groups = Dendrogram.from_linkage(links).cut(np.arange(25), 4, 1)
    label = fcluster(links, 4, "maxclust")
    expected = {frozenset(np.flatnonzero(label == k).tolist()) for k in range(1, 5)}
    assert {frozenset(group.tolist()) for group in groups} == expected


def test_groups_that_the_dendrogram_does_not_have(means):
    links = linkage(means, "average")
    some = np.array([0, 3, 4, 9, 17, 24])
    left, right = Dendrogram.from_linkage(links).cut(some, 2, 1)
    # the smallest merge that holds all of them parts them so
    whole = min((group for group in merged(links) if group >= set(some.tolist())), key=len)
    inside = [group for group in merged(links) if group < whole]
    assert any(group & set(some.tolist()) == set(left.tolist()) for group in inside) or any(
        group & set(some.tolist()) == set(right.tolist()) for group in inside
    )


def test_a_least_side_bounds_a_chain():
    X = (2.0 ** np.arange(32))[:, None]  # single linkage of these is a chain
    chain = AgglomerativeTree("single").fit(X, np.arange(32))
    assert chain.hierarchy_.max_depth == 31
    bounded = AgglomerativeTree("single", min_side=0.25).fit(X, np.arange(32))
    assert bounded.hierarchy_.max_depth <= np.ceil(np.log(32) / -np.log(0.75))
    for group in bounded.tree_.groups:  # still neighbours on the line
        assert len(group) == group[-1] - group[0] + 1


@pytest.mark.parametrize("metric", ["cosine", "correlation", "euclidean"])
def test_zero_means_are_no_error(metric):
    X = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 2.1, 1.0]])
    tree = AgglomerativeTree("average", metric).fit(X, np.arange(4))
    assert frozenset([1, 3]) in clades(tree)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"method": "best"}, "method"),
        ({"method": "ward", "metric": "cosine"}, "average"),
        ({"branching": 1}, "branching"),
    ],
)
def test_parameters_are_checked(wrong, match):
    problem = ClassProblem(np.zeros((3, 1)), np.arange(3), 3)
    with pytest.raises(PalmetteError, match=match):
        AgglomerativePartition(**wrong).begin(problem)


def test_too_many_classes_are_refused():
    problem = ClassProblem(np.zeros((100_000, 1)), np.arange(100_000), 100_000)
    with pytest.raises(PalmetteError, match="GiB"):
        AgglomerativePartition().begin(problem)
