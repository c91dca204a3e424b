"""What a report needs of a fitted model, however the model is wrapped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.core.space import LabelSpace
from palmette.exceptions import PalmetteError

__all__ = ["find_in_parts", "hierarchy_of", "model_parts", "node_proba_of", "parts_with_rows"]

FloatArray = NDArray[np.float64]


def model_parts(model: Any) -> Iterator[Any]:
    """Yield a model and the fitted classifiers inside of it, from the outside to the inside.

    Wrappers are known by what they hold: ``best_estimator_``, ``estimator_``, or the last step of a
    pipeline.
    """
    for part, _ in parts_with_rows(model, None):
        yield part


def parts_with_rows(model: Any, X: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
    """Yield the parts of a model, each with a function that gives X as that part takes it."""
    seen: list[Any] = []

    def rows() -> Any:
        return X

    while model is not None and not any(model is other for other in seen):
        seen.append(model)
        yield model, rows
        model, rows = _step_inside(model, rows)


def _step_inside(model: Any, rows: Callable[[], Any]) -> tuple[Any, Callable[[], Any]]:
    steps = getattr(model, "steps", None)
    if steps:
        return steps[-1][1], lambda: model[:-1].transform(rows())
    for name in ("best_estimator_", "estimator_"):
        inner = getattr(model, name, None)
        # forests keep the tree that they copy under this name: it is not fitted
        if inner is not None and (hasattr(inner, "classes_") or hasattr(inner, "hierarchy_")):
            changes = hasattr(model, "vectorizer_") and hasattr(model, "features")
            return inner, (lambda: model.features(rows())) if changes else rows
    return None, rows


def find_in_parts(model: Any, name: str) -> Any:
    """Return the first value of an attribute in a model or in what it wraps; None without one.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(LogisticRegression()).fit([[0.0], [1.0]], ["a", "b"])
    >>> find_in_parts(pipeline, "classes_").tolist(), find_in_parts(pipeline, "trees_")
    (['a', 'b'], None)
    """
    for part in model_parts(model):
        value = getattr(part, name, None)
        if value is not None:
            return value
    return None


def hierarchy_of(model: Any) -> Hierarchy:
    """Return the hierarchy of a fitted model; that of a flat classifier is a star."""
    if not hasattr(model, "predict"):
        raise PalmetteError(
            f"a report needs a fitted classifier, got {type(model).__name__} without `predict`."
        )
    found = find_in_parts(model, "hierarchy_")
    if isinstance(found, Hierarchy):
        return found
    classes = find_in_parts(model, "classes_")
    if classes is None:
        raise PalmetteError(
            f"{type(model).__name__} has neither `hierarchy_` nor `classes_`: expected a fitted "
            "classifier. Call `fit` first."
        )
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray):
        raise PalmetteError(
            f"{type(model).__name__} answers with several columns of classes: expected one label a "
            "row, or a 0/1 matrix with a column a label."
        )
    return Hierarchy.star(np.asarray(classes).tolist())


def node_proba_of(model: Any, hierarchy: Hierarchy) -> Callable[[Any], FloatArray] | None:
    """Return a function from rows to probabilities of all nodes, None where there are none.

    Parameters
    ----------
    model : fitted classifier
    hierarchy : Hierarchy
        As from `hierarchy_of`.

    Returns
    -------
    callable or None
        Gives arrays of shape (n_samples, n_nodes), the root first.
    """
    if hasattr(model, "predict_node_proba"):
        return lambda X: np.asarray(model.predict_node_proba(X), dtype=np.float64)
    if getattr(model, "best_estimator_", None) is not None:
        return node_proba_of(model.best_estimator_, hierarchy)
    if hasattr(model, "steps") and hasattr(model.steps[-1][1], "predict_node_proba"):
        last = model.steps[-1][1]
        return lambda X: np.asarray(last.predict_node_proba(model[:-1].transform(X)), dtype=float)
    if hasattr(model, "predict_proba"):
        return _from_classes(model, hierarchy)
    return None


def _from_classes(model: Any, hierarchy: Hierarchy) -> Callable[[Any], FloatArray] | None:
    """Add probabilities of the classes up a tree, as they are those of exclusive labels."""
    classes = find_in_parts(model, "classes_")
    if classes is None or not hierarchy.is_tree:
        return None
    nodes = hierarchy.index(np.asarray(classes).tolist())
    order = np.argsort(nodes)
    space = LabelSpace(hierarchy, nodes[order])

    def node_proba(X: Any) -> FloatArray:
        proba = np.asarray(model.predict_proba(X), dtype=np.float64)
        table = np.zeros((len(proba), hierarchy.n_nodes))
        table[:, space.nodes] = space.marginals(proba[:, order]).T
        return table

    return node_proba
