"""Look at compiled parts after reading: places that they name must be inside of them.

scikit-learn walks its trees without looking where it steps: a made-up file could make it read
memory that is not the model's, or walk in circles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["check_parts", "check_random_state"]


def check_parts(objects: Any) -> None:
    """Check all compiled parts somewhere in a group of foreign objects.

    Parameters
    ----------
    objects : object
        Containers and objects with attributes are searched.

    Raises
    ------
    ValueError
        Where a part names a place outside of itself.
    """
    seen: set[int] = set()
    waiting = [objects]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        check = _CHECKS.get(f"{type(each).__module__}.{type(each).__name__}")
        if check is not None:
            check(each)
        elif isinstance(each, np.random.RandomState | np.random.Generator):
            check_random_state(each)
        elif sparse.issparse(each) and each.format in ("bsr", "csc", "csr"):
            each.check_format(full_check=True)
        waiting.extend(_parts_of(each))


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.dtype == object else []
    return list(getattr(value, "__dict__", {}).values())


def _check_estimator_of_trees(estimator: Any) -> None:
    """A tree must know the features and the outputs of the estimator that it answers for."""
    if not hasattr(estimator, "tree_"):
        return  # not fitted
    tree = estimator.tree_
    if tree.n_features != estimator.n_features_in_ or tree.n_outputs != estimator.n_outputs_:
        raise ValueError("a tree has other features or outputs than its estimator")


def _check_boosted_trees(estimator: Any) -> None:
    """Boosting hands rows to its trees without asking how many features they know."""
    if not hasattr(estimator, "estimators_"):
        return
    for each in estimator.estimators_.ravel():
        if each.tree_.n_features != estimator.n_features_in_:
            raise ValueError("a tree has other features than its estimator")


def _check_histogram_trees(estimator: Any) -> None:
    for stage in getattr(estimator, "_predictors", ()):
        for each in stage:
            inner = each.nodes["is_leaf"] == 0
            asked = each.nodes["feature_idx"][inner]
            fits = (asked >= 0) & (asked < estimator.n_features_in_)
            _require(fits, "a tree asks for a feature that it lacks")


def _check_tree(tree: Any) -> None:
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = np.flatnonzero(left != -1)
    _check_children(inner, left[inner], right[inner], tree.node_count)
    asked = feature[inner]
    _require((asked >= 0) & (asked < tree.n_features), "a tree asks for a feature that it lacks")


def _check_predictor(predictor: Any) -> None:
    nodes = predictor.nodes
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    left, right = (nodes[name][inner].astype(np.int64) for name in ("left", "right"))
    _check_children(inner, left, right, len(nodes))
    is_category = nodes["is_categorical"][inner] != 0
    rows = nodes["bitset_idx"][inner][is_category]
    sets = (predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)
    _require(rows < min(map(len, sets)), "a tree names a set of categories that it lacks")


def _check_children(inner: Any, left: Any, right: Any, n_nodes: int) -> None:
    for child in (left, right):
        # children come after their parents, so that no walk goes round
        _require((child > inner) & (child < n_nodes), "a tree leads to a node that it lacks")


def _check_neighbours(tree: Any) -> None:
    data, index, nodes, bounds = tree.get_arrays()
    _require((index >= 0) & (index < len(data)), "a search tree names a row that it lacks")
    start, end = nodes["idx_start"], nodes["idx_end"]
    inside = (start >= 0) & (start <= end) & (end <= len(data))
    _require(inside, "a search tree names rows that it lacks")
    n_bounds = 2 if type(tree).__name__ == "KDTree" else 1
    fits = len(index) == len(data) and bounds.shape == (n_bounds, len(nodes), data.shape[1])
    _require(fits, "the parts of a search tree do not fit together")
    inner = np.flatnonzero(nodes["is_leaf"] == 0)  # the children of i are 2 i + 1 and 2 i + 2
    _require(2 * inner + 2 < len(nodes), "a search tree leads to a node that it lacks")


def check_random_state(generator: Any) -> None:
    """Check the place of a generator in its own block of numbers, which numpy does not look at.

    Raises
    ------
    ValueError
        Where it is beyond the end.
    """
    is_old = isinstance(generator, np.random.RandomState)
    state = generator.get_state(legacy=False) if is_old else generator.bit_generator.state
    if state["bit_generator"] == "MT19937":
        _require(
            0 <= state["state"]["pos"] <= 624, "a generator of random numbers has no such place"
        )
    elif state["bit_generator"] == "Philox":
        _require(0 <= state["buffer_pos"] <= 4, "a generator of random numbers has no such place")


def _require(holds: Any, otherwise: str) -> None:
    if not np.all(holds):
        raise ValueError(otherwise)


_CHECKS: dict[str, Callable[[Any], None]] = {
    "sklearn.tree._tree.Tree": _check_tree,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_predictor,
    "sklearn.neighbors._kd_tree.KDTree": _check_neighbours,
    "sklearn.neighbors._ball_tree.BallTree": _check_neighbours,
    **{
        f"sklearn.ensemble._gb.GradientBoosting{kind}": _check_boosted_trees
        for kind in ("Classifier", "Regressor")
    },
    **{
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting."
        f"HistGradientBoosting{kind}": _check_histogram_trees
        for kind in ("Classifier", "Regressor")
    },
    **{
        f"sklearn.tree._classes.{name}": _check_estimator_of_trees
        for name in (
            "DecisionTreeClassifier",
            "DecisionTreeRegressor",
            "ExtraTreeClassifier",
            "ExtraTreeRegressor",
        )
    },
}
