"""Look at Palmette's flat arrays after reading: places that they name must be inside of them.

Kernels are compiled without bounds checks. A file that was made to do harm could have a tree that
leads out of its array, or round in a circle; such models are refused before anything walks them.
Classes are known by name here, for this room stands below those that build models of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_arrays"]


def check_arrays(objects: Iterable[Any]) -> None:
    """Check all objects of a model that kernels walk, and what they belong to.

    Parameters
    ----------
    objects : iterable of objects

    Raises
    ------
    ValueError
        Where an object names a place outside of itself, or does not fit its owner.
    """
    for each in objects:
        check = _CHECKS.get(f"{type(each).__module__}.{type(each).__name__}")
        if check is not None:
            check(each)
        if hasattr(each, "rounds_") and hasattr(each, "bins_"):
            _check_boosting(each)
        if hasattr(each, "options_") and hasattr(each, "routes_"):
            _check_class_tree(each)


# ---------------------------------------------------------------------- boosting


def _check_shared_tree(tree: Any) -> None:
    features, leaf_at = _whole(tree.features), _whole(tree.leaf_at)
    _same_shapes(features, tree.cuts, leaf_at)
    is_inner = _check_heaps(features[None])[0]
    places = np.arange(len(features))
    is_leaf = ~is_inner & ((places == 1) | is_inner[places // 2])
    is_leaf[0] = False  # a heap begins at 1
    _require(_within(leaf_at[is_leaf], len(tree.values)), "a tree ends at a leaf that it lacks")


def _check_class_trees(trees: Any) -> None:
    _same_shapes(_whole(trees.features), trees.cuts, trees.signs, trees.values)
    _check_heaps(trees.features)
    _require(trees.features.shape[1] <= 256, "a tree has more places than a byte can name")
    _check_parents(trees.parents, len(trees.features))


def _check_heaps(features: NDArray[Any]) -> NDArray[np.bool_]:
    """Inner places of a heap have both children; place 0 is no part of it."""
    _require(features.ndim == 2 and features.shape[1] > 1, "a tree has no places")
    is_inner = features >= 0
    is_inner[:, 0] = False
    inner = np.flatnonzero(is_inner.any(axis=0))
    _require(2 * inner + 1 < features.shape[1], "a tree leads to a place that it lacks")
    return is_inner


def _check_models(models: Any) -> None:
    _same_shapes(models.values, models.signs)
    _require(models.values.shape == (len(models.models), 3), "models and votes do not fit")
    _check_parents(models.parents, len(models.models))


def _check_cart_votes(votes: Any) -> None:
    _require(votes.values.shape == (len(votes.carts.starts) - 1, 3), "trees and votes do not fit")
    _check_parents(votes.parents, len(votes.values))


def _check_node_votes(votes: Any) -> None:
    n_trees = len(votes.carts.starts) - 1
    _require(votes.coefficients.shape == (n_trees,), "trees and votes do not fit")


def _check_parents(parents: Any, n_columns: int) -> None:
    if parents is not None:
        _check_starts(parents.starts, n_columns, len(parents.columns))
        _require(_within(_whole(parents.columns), n_columns), "a column has a parent that is none")


def _check_carts(carts: Any) -> None:
    left = _whole(carts.left)
    _same_shapes(_whole(carts.features), carts.cuts, left, carts.says)
    sizes = _check_starts(carts.starts, None, len(left))
    places = np.concatenate([np.arange(n) for n in sizes.tolist()] or [np.empty(0, dtype=int)])
    is_leaf = left == places
    leads_on = (left > places) & (left + 1 < np.repeat(sizes, sizes))
    _require(is_leaf | leads_on, "a tree leads to a place that it lacks")
    _require(sizes > 0, "a tree has no places")
    _require(carts.features >= 0, "a tree asks for a feature that it lacks")


def _check_boosting(model: Any) -> None:
    """Rounds ask for features that there are bins for, and vote for the columns of the model."""
    for each in model.rounds_:
        width, most = _width_and_feature(each)
        _require(width == len(model.start_), "a round votes for other columns than the model's")
        _require(most < model.bins_.n_features, "a round asks for a feature that there is not")


def _width_and_feature(hypothesis: Any) -> tuple[int, int]:
    """Return the number of columns that a round votes for, and the largest feature it asks for."""
    kind = type(hypothesis).__name__
    if kind == "Bundle":
        parts = [_width_and_feature(part) for part in hypothesis.parts]
        widths = [width for width, _ in parts]
        bounds = np.concatenate([[0], np.cumsum(widths)])
        _require(np.array_equal(bounds, hypothesis.bounds), "the parts of a round do not fit")
        return sum(widths), max(most for _, most in parts)
    if kind == "Coloured":
        width, most = _width_and_feature(hypothesis.binary)
        _require(width == 1, "a coloured round is about more than one column")
        return len(hypothesis.code), most
    if kind == "CartVotes":
        return len(hypothesis.values), int(hypothesis.carts.features.max(initial=-1))
    if kind == "ClassModels":
        return len(hypothesis.models), -1
    width = hypothesis.values.shape[1 if kind == "SharedTree" else 0]
    return int(width), int(hypothesis.features.max(initial=-1))


def _check_boosted_routes(routes: Any) -> None:
    for votes in (each for models in routes.models.values() for each in models):
        most = votes.carts.features.max(initial=-1)
        _require(most < routes.bins.n_features, "a tree asks for a feature that there is not")


# ---------------------------------------------------------------------- class trees


def _check_options(table: Any) -> None:
    targets, ends = _whole(table.targets), _whole(table.ends)
    _same_shapes(targets, ends)
    sizes = _check_starts(table.first, len(table.nodes), len(targets))
    owner = np.repeat(np.arange(len(sizes)), sizes)
    leads_on = (targets > owner) & (targets < len(sizes)) & (ends == -1)
    stops = (targets == -1) & _within(ends, table.n_classes)
    _require(leads_on | stops, "an option leads to a node or class that there is not")
    _require(sizes > 0, "a node has no options")


def _check_linear_routes(routes: Any) -> None:
    n_nodes = len(routes.first_lane) - 1
    lanes = _check_starts(routes.first_lane, n_nodes, len(routes.bias))
    options = _check_starts(routes.first_option, n_nodes, None)
    pairs = options * (options - 1) // 2
    wanted = pairs if routes.link == "pairs" else np.where(options < 3, options - 1, options)
    _require(lanes == wanted, "nodes have other classifiers than options")
    used = _check_starts(routes.first_feature, n_nodes, len(routes.features))
    _require(_within(_whole(routes.features), routes.n_features), "a feature that there is not")
    entries = _check_starts(routes.first_entry, len(routes.features), len(routes.weights))
    _same_shapes(_whole(routes.lanes), routes.weights)
    most = np.repeat(np.repeat(lanes, used), entries)
    _require((routes.lanes >= 0) & (routes.lanes < most), "a weight of no classifier")


def _check_class_tree(model: Any) -> None:
    routes, first = model.routes_, model.options_.first
    if type(routes).__name__ == "LinearRoutes":
        _require(np.array_equal(routes.first_option, first), "routes and options do not fit")
        _require(routes.n_features == model.n_features_in_, "routes have other features")


# ---------------------------------------------------------------------- forests, text


def _check_oblique_trees(trees: Any) -> None:
    left, right = _whole(trees.left), _whole(trees.right)
    n_nodes = len(left)
    _same_shapes(left, right, trees.bias, trees.row_weight)
    sizes = _check_starts(trees.tree_starts, None, n_nodes)
    places = np.arange(n_nodes) - np.repeat(trees.tree_starts[:-1], sizes)
    size = np.repeat(sizes, sizes)
    leads_on = (left > places) & (left < size) & (right > places) & (right < size)
    _require((left < 0) | leads_on, "a tree leads to a node that it lacks")
    _require(sizes > 0, "a tree has no nodes")
    _same_shapes(_whole(trees.weight_features), trees.weight_values)
    _check_starts(trees.weight_starts, n_nodes, len(trees.weight_features))
    _same_shapes(_whole(trees.share_labels), trees.share_values)
    _check_starts(trees.share_starts, n_nodes, len(trees.share_labels))
    _require(trees.drawn.ndim == 2 and len(trees.drawn) == len(sizes), "labels of other trees")
    _require(_within(trees.share_labels, trees.drawn.shape[1]), "a label that there is not")


def _check_structured_forest(forest: Any) -> None:
    if not hasattr(forest, "trees_"):
        return
    trees, shares = forest.trees_, forest.label_shares_
    _require(shares.shape == trees.drawn.shape[1:], "the trees are of other labels")
    _require(_within(trees.weight_features, forest.n_features_in_), "a feature that there is not")


def _check_text(vectorizer: Any) -> None:
    if not hasattr(vectorizer, "idf_"):
        return
    n_columns = len(vectorizer.idf_)
    hashing = vectorizer.method == "hashing"
    fits = 2 * vectorizer.n_words_ <= n_columns if hashing else len(vectorizer.hashes_) == n_columns
    _require(fits and vectorizer.n_words_ >= 0, "the columns of a text do not fit their weights")


# ---------------------------------------------------------------------- parts of checks


def _check_starts(starts: Any, n_parts: int | None, n_all: int | None) -> NDArray[np.int64]:
    """Parts begin one after the other, from the beginning to the end; returns their sizes."""
    starts = _whole(starts)
    _require(starts.ndim == 1 and len(starts) > 0 and starts[0] == 0, "parts begin nowhere")
    sizes = np.diff(starts)
    _require(sizes >= 0, "parts are not one after the other")
    _require(n_parts is None or len(sizes) == n_parts, "there are more parts, or fewer")
    _require(n_all is None or starts[-1] == n_all, "parts do not end where all ends")
    return sizes


def _whole(array: Any) -> NDArray[Any]:
    _require(isinstance(array, np.ndarray) and array.dtype.kind in "iu", "places are no integers")
    return array


def _within(places: NDArray[Any], n: int) -> NDArray[np.bool_]:
    return np.asarray((places >= 0) & (places < n))


def _same_shapes(first: Any, *others: Any) -> None:
    _require(all(np.shape(each) == first.shape for each in others), "arrays do not fit together")


def _require(holds: Any, otherwise: str) -> None:
    if not np.all(holds):
        raise ValueError(otherwise)


_CHECKS: dict[str, Callable[[Any], None]] = {
    "palmette.engine.boosted_router.BoostedRoutes": _check_boosted_routes,
    "palmette.engine.carts.Carts": _check_carts,
    "palmette.engine.hypotheses.CartVotes": _check_cart_votes,
    "palmette.engine.hypotheses.ClassModels": _check_models,
    "palmette.engine.hypotheses.ClassTrees": _check_class_trees,
    "palmette.engine.hypotheses.SharedTree": _check_shared_tree,
    "palmette.engine.node_boost.NodeVotes": _check_node_votes,
    "palmette.engine.oblique_trees.ObliqueTrees": _check_oblique_trees,
    "palmette.forest.structured.StructuredForestClassifier": _check_structured_forest,
    "palmette.routing.node_weights.LinearRoutes": _check_linear_routes,
    "palmette.routing.options.OptionTable": _check_options,
    "palmette.table.text.TextVectorizer": _check_text,
}
