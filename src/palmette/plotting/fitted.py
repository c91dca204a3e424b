"""What pictures need of a fitted model, however it is wrapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError

__all__ = ["find_attribute", "hierarchy_of", "node_proba_of", "truth_of"]


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and what it wraps: the best of a search, the end of a pipeline."""
    seen: list[int] = []
    while estimator is not None and id(estimator) not in seen:
        seen.append(id(estimator))
        yield estimator
        inner = getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", None))
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if inner is None and steps else inner


def find_attribute(estimator: Any, name: str) -> Any:
    """Return an attribute of an estimator or of what it wraps; None where there is none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> find_attribute(make_pipeline(LogisticRegression(C=3.0)), "C")
    3.0
    """
    for part in _parts(estimator):
        value = getattr(part, name, None)
        if value is not None:
            return value
    return None


def hierarchy_of(estimator: Any) -> Hierarchy:
    """Return the hierarchy of a fitted model; that of a flat classifier is a star."""
    found = find_attribute(estimator, "hierarchy_")
    if isinstance(found, Hierarchy):
        return found
    classes = find_attribute(estimator, "classes_")
    if classes is None:
        raise PalmetteError(
            f"{type(estimator).__name__} has neither hierarchy_ nor classes_: expected a fitted "
            "classifier. Call fit first."
        )
    return Hierarchy.star(list(classes))


def node_proba_of(estimator: Any, X: Any) -> Any:
    """Return probabilities of nodes, of shape (n_samples, n_nodes), through pipelines too."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if hasattr(estimator, "predict_node_proba"):
        return estimator.predict_node_proba(X)
    if hasattr(estimator, "steps") and hasattr(estimator.steps[-1][1], "predict_node_proba"):
        return estimator[-1].predict_node_proba(estimator[:-1].transform(X))
    raise PalmetteError(
        f"{type(estimator).__name__} has no predict_node_proba: pass probabilities of nodes to "
        "from_predictions, or use a classifier of palmette."
    )


def truth_of(estimator: Any, X: Any, y: Any) -> Any:
    """Return the labels: y, or those that a model of tables reads from the rows."""
    if y is None and hasattr(estimator, "read_target"):
        return estimator.read_target(X)
    if y is None:
        raise PalmetteError("y is missing: pass the true label of every row.")
    return y
