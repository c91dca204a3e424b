from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax

from palmette.class_tree import _route_kernel as route
from palmette.class_tree._route_kernel import (
    LOGISTIC,
    SOFTMAX,
    SQUARED_HINGE,
    keep_best,
    option_scores,
)

N_FEATURES = 30
SIZES = [3, 2, 1, 5]  # options of the nodes; two of them need one classifier, one none
LANES = [3, 1, 0, 5]


def cumulated(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@pytest.fixture
def model():
    """Return weights of four nodes, with all classifiers of some features and a few of others."""
    rng = np.random.default_rng(0)
    dense = [rng.normal(size=(N_FEATURES, n)) for n in LANES]
    for weights in dense:
        weights[rng.random(weights.shape) < 0.3] = 0.0
        weights[::4] = 0.0
    return dense, rng.normal(size=sum(LANES))


def flat(model):
    dense, bias = model
    blocks = [sparse.csr_array(weights) for weights in dense]
    counts = [np.diff(block.indptr) for block in blocks]
    used = [np.flatnonzero(count) for count in counts]
    return (
        cumulated(SIZES),
        cumulated(LANES),
        bias,
        cumulated([len(each) for each in used]),
        np.concatenate(used).astype(np.int32),
        cumulated(np.concatenate([c[u] for c, u in zip(counts, used, strict=True)])),
        np.concatenate([block.indices for block in blocks]).astype(np.int32),
        np.concatenate([block.data for block in blocks]),
    )


def literal_scores(model, X, row, node, link):
    dense, bias = model
    first = cumulated(LANES)
    margins = X[row] @ dense[node] + bias[first[node] : first[node + 1]]
    if SIZES[node] == 1:
        return np.zeros(1)
    if LANES[node] == 1:
        margins = np.array([-margins[0], margins[0]])
    if link == SQUARED_HINGE:
        return -(np.maximum(0.0, 1.0 - margins) ** 2)
    return log_softmax(-np.logaddexp(0.0, -margins) if link == LOGISTIC else margins)


@pytest.mark.parametrize("lookup", [0, 10**6], ids=["by search", "by table"])
@pytest.mark.parametrize("link", [SQUARED_HINGE, LOGISTIC, SOFTMAX])
def test_scores_are_links_of_margins(model, link, lookup, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, N_FEATURES)) * (rng.random((20, N_FEATURES)) < 0.4)
    X[3] = 0.0
    rows = sparse.csr_array(X)
    starts = rows.indptr.astype(np.int64)
    nodes = np.sort(rng.integers(4, size=60)).astype(np.int32)
    pair_rows = rng.integers(20, size=60)
    places = cumulated(np.array(SIZES)[nodes])
    scores = np.empty(places[-1])
    # the constant is compiled in: the plain function shows both ways
    monkeypatch.setattr(route, "_LOOKUP", lookup)
    option_scores.py_func(
        rows.data,
        starts[:-1],
        np.diff(starts),
        rows.indices.astype(np.int32),
        starts[:-1],
        pair_rows,
        nodes,
        places,
        *flat(model),
        link,
        N_FEATURES,
        scores,
    )
    expected = [
        literal_scores(model, X, *pair, link) for pair in zip(pair_rows, nodes, strict=True)
    ]
    np.testing.assert_allclose(scores, np.concatenate(expected), atol=1e-12)


def test_scores_of_large_margins_are_finite(model):
    X = np.full((1, N_FEATURES), 1e4)
    columns, zero = np.arange(N_FEATURES, dtype=np.int32), np.zeros(1, dtype=np.int64)
    for link in (LOGISTIC, SOFTMAX):
        scores = np.empty(3)
        option_scores(
            X.ravel(), zero, zero + N_FEATURES, columns, zero, zero, zero.astype(np.int32),
            np.array([0, 3]), *flat(model), link, N_FEATURES, scores,
        )  # fmt: skip
        assert np.isfinite(scores).all()
        assert scores.max() <= 0


def test_paths_that_meet_become_one():
    # node 0 has options to nodes 1 and 2, both of which lead to label 0 or to one of their own
    first = np.array([0, 2, 4, 6])
    targets = np.array([1, 2, -1, -1, -1, -1], dtype=np.int32)
    ends = np.array([-1, -1, 0, 1, 0, 2], dtype=np.int32)
    nodes, labels = np.array([[1, 2, -1]], dtype=np.int32), np.full((1, 3), -1, dtype=np.int32)
    values = np.array([[-1.0, -2.0, -np.inf]])
    new = np.empty_like(nodes), np.empty_like(labels), np.empty_like(values)
    starts, scores = np.array([[0, 2, 0]]), np.array([-3.0, -9.0, -1.0, -4.0])
    assert keep_best(nodes, labels, values, starts, scores, first, targets, ends, *new) == 0
    assert new[1].tolist() == [[0, 2, 1]]
    assert new[2].tolist() == [[-3.0, -6.0, -10.0]]
