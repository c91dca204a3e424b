"""Drawing leaves, wrong labels and ancestors for made-up rows, and writing labels in a form."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette.core.dtypes import COUNT, CountArray, NodeArray, OffsetArray
from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import LabelError

__all__ = [
    "Noise",
    "YForm",
    "choose_rows",
    "draw_leaves",
    "some_ancestor",
    "write_labels",
    "wrong_leaves",
    "zipf",
]

YForm: TypeAlias = Literal["paths", "names", "sets", "indices"]
Noise: TypeAlias = Literal["uniform", "sibling"]

_TRIES = 8  # draws of a further label before giving up on its prior


def zipf(n_leaves: int, exponent: float, rng: np.random.Generator) -> CountArray:
    """Return shares by Zipf's law, in random order."""
    sizes = np.power(rng.permutation(n_leaves) + 1.0, -exponent, dtype=COUNT)
    return np.asarray(sizes / sizes.sum(), dtype=COUNT)


def draw_leaves(
    n_samples: int, prior: CountArray, n_more: int, rng: np.random.Generator
) -> OffsetArray:
    """Draw places in the list of leaves, of shape (n_samples, 1 + n_more), distinct in a row."""
    edges = np.cumsum(prior)
    edges[-1] = np.inf  # not 1, which rounding may pass
    even = (np.arange(n_samples) + rng.random()) / max(1, n_samples)
    places = rng.permutation(np.searchsorted(edges, even, side="right"))[:, None]
    for _ in range(n_more):
        more = np.searchsorted(edges, rng.random(n_samples), side="right")
        for _ in range(_TRIES):
            again = np.flatnonzero((places == more[:, None]).any(axis=1))
            more[again] = np.searchsorted(edges, rng.random(len(again)), side="right")
        again = np.flatnonzero((places == more[:, None]).any(axis=1))
        more[again] = _any_other(places[again], len(prior), rng)
        places = np.column_stack([places, more])
    return places


def _any_other(taken: OffsetArray, n_leaves: int, rng: np.random.Generator) -> OffsetArray:
    """Draw for each row a place that is not among its taken ones, all others alike."""
    drawn = rng.integers(0, n_leaves - taken.shape[1], len(taken))
    for column in np.sort(taken, axis=1).T:
        drawn += drawn >= column
    return drawn


def choose_rows(
    h: Hierarchy, leaves: NodeArray, label_noise: float, internal: float, rng: np.random.Generator
) -> tuple[OffsetArray, OffsetArray]:
    """Choose rows for noise and others for internal labels, which need a leaf below depth 1."""
    n_noisy, n_internal = round(label_noise * len(leaves)), round(internal * len(leaves))
    order = rng.permutation(len(leaves))
    deep = h.depth[leaves[order]] > 1
    coarse = order[deep][:n_internal]
    if len(coarse) < n_internal:
        raise LabelError(
            f"internal_labels={internal} asks for {n_internal} rows, but {len(coarse)} rows have "
            "an ancestor below the root. Lower it, or take a deeper hierarchy."
        )
    rest = order[~np.isin(order, coarse)]
    return rest[:n_noisy], coarse


def some_ancestor(h: Hierarchy, nodes: NodeArray, rng: np.random.Generator) -> NodeArray:
    """Draw one of the ancestors of each node between it and the root."""
    closure = h.closure  # a row begins with the root and ends with the node itself
    first, last = closure.indptr[nodes] + 1, closure.indptr[nodes + 1] - 1
    return closure.indices[rng.integers(first, last)] if len(nodes) else nodes


def wrong_leaves(
    h: Hierarchy, places: OffsetArray, noise: str, rng: np.random.Generator
) -> OffsetArray:
    """Draw for each row a place among the leaves that is none of its own."""
    if noise == "uniform" or not len(places):
        return _any_other(places, h.n_leaves, rng)
    h.require_tree("noise='sibling'")
    above = h.parents[h.leaves]
    while True:
        start = np.searchsorted(h.leaves, above)
        stop = np.searchsorted(h.leaves, h.subtree_end[above])
        alone = (stop - start < 2) & (above > 0)
        if not alone.any():
            break
        above = np.where(alone, h.parents[above], above)
    own = places[:, 0]
    wrong = rng.integers(start[own], stop[own] - 1)
    wrong += wrong >= own
    also_true = (places == wrong[:, None]).any(axis=1)
    wrong[also_true] = _any_other(places[also_true], h.n_leaves, rng)
    return wrong


def write_labels(h: Hierarchy, nodes: NodeArray, y_form: YForm | None) -> Any:
    """Write nodes of shape (n_samples, n_labels) as labels."""
    several = nodes.shape[1] > 1
    if y_form is None:
        y_form = "sets" if several else "paths" if h.is_tree else "names"
    if y_form == "indices":
        return nodes if several else nodes[:, 0]
    if y_form == "sets":
        labels = _path_tuples(h) if h.is_tree else h.names.tolist()
        return [{labels[node] for node in row} for row in nodes.tolist()]
    if several:
        raise LabelError(f"y_form={y_form!r} holds one label a row: expected 'sets' or 'indices'.")
    if y_form == "paths":
        h.require_tree("y_form='paths'")
        return _path_table(h)[nodes[:, 0]]
    if len(set(h.names.tolist())) < h.n_nodes:
        raise LabelError("names occur twice in the hierarchy: expected y_form='paths'.")
    kinds = {type(name) for name in h.names[1:].tolist()}
    names = np.array(h.names[1:].tolist()) if kinds in ({str}, {int}) else h.names[1:]
    return names[nodes[:, 0] - 1]


def _path_tuples(h: Hierarchy) -> list[tuple[Any, ...]]:
    table = _path_table(h).tolist()
    return [tuple(row[:depth]) for row, depth in zip(table, h.depth.tolist(), strict=True)]


def _path_table(h: Hierarchy) -> NDArray[np.object_]:
    table = np.full((h.n_nodes, max(1, h.max_depth)), "", dtype=object)
    node = np.repeat(np.arange(h.n_nodes), np.diff(h.closure.indptr))
    above = h.closure.indices
    below_root = above > 0
    node, above = node[below_root], above[below_root]
    table[node, h.depth[above] - 1] = h.names[above]
    return table
