"""Scores of all options by one matrix product equal those of every node."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette import Hierarchy
from palmette.class_tree import _linear_routes as node_weights
from palmette.class_tree._linear_routes import LINKS, FlatRows, LinearRoutes
from palmette.class_tree._routing import OptionTable
from palmette.class_tree._search import class_scores

H = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("a", "z"), ("b", "x", "u"), ("c",)])


def make_routes(table, link, rng, n_features=12):
    blocks = []
    for size in table.sizes.tolist():
        lanes = 0 if size == 1 else 1 if size == 2 else size
        if link == "pairs":
            lanes = size * (size - 1) // 2
        weights = sparse.random_array(
            (n_features, lanes), density=0.5, random_state=rng, data_sampler=rng.normal
        )
        blocks.append((sparse.csr_array(weights), rng.normal(size=lanes)))
    return LinearRoutes(table, blocks, n_features, link)


@pytest.mark.parametrize("link", LINKS)
def test_all_at_once_is_node_by_node(link, monkeypatch):
    rng = np.random.default_rng(0)
    table = OptionTable.of(H, np.append(H.leaves, 1).astype(np.int32)[np.argsort([*H.leaves, 1])])
    routes = make_routes(table, link, rng)
    X = FlatRows.of(sparse.random_array((600, 12), density=0.4, random_state=rng, format="csr"))
    together = class_scores(table, routes, X, 600)
    assert (routes.score_all(X) is None) == (link == "pairs")
    monkeypatch.setattr(node_weights, "_MANY_ROWS", 601)
    assert routes.score_all(X) is None
    assert np.allclose(together, class_scores(table, routes, X, 600), rtol=1e-12, atol=1e-12)
