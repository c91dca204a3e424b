"""What kind of classifier is wrapped: whether it is ours, reads labels, or learns its hierarchy."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from palmette.core.hierarchy import Hierarchy
from palmette.engine.classifier import HierarchicalClassifier
from palmette.exceptions import PalmetteError

__all__ = [
    "check_wrapped",
    "final_step",
    "hierarchy_of_fitted",
    "learns_its_tree",
    "places_of_hierarchy",
    "takes_node_labels",
]


def final_step(estimator: Any) -> Any:
    """Return the classifier at the end of a pipeline, or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def _has_a_tree(classifier: Any) -> bool:
    """Whether a classifier is one over class trees, which reads labels by itself."""
    return isinstance(getattr(type(classifier), "hierarchy", None), property)


def takes_node_labels(estimator: Any) -> bool:
    """Whether `fit` takes labels that have been read."""
    last = final_step(estimator)
    if not isinstance(last, HierarchicalClassifier):
        return False
    inner = getattr(last, "estimator", None)
    is_wrapper = isinstance(final_step(inner), HierarchicalClassifier)
    return not _has_a_tree(last) and (not is_wrapper or takes_node_labels(inner))


def learns_its_tree(estimator: Any, *, from_names: bool) -> bool:
    """Whether an estimator, or one inside of it, learns a hierarchy while it is fitted.

    Parameters
    ----------
    estimator : classifier
    from_names : bool
        Whether y holds plain names: classifiers over class trees then learn a tree if none is set.
    """
    last = final_step(estimator)
    if not isinstance(last, HierarchicalClassifier):
        return False
    setting = last.hierarchy
    if setting is not None:
        return hasattr(setting, "fit")
    if _has_a_tree(last):
        return from_names
    return learns_its_tree(getattr(last, "estimator", None), from_names=from_names)


def places_of_hierarchy(estimator: Any) -> list[str]:
    """Names of the parameters that a hierarchy is given under: of the outermost part that has one.

    Parts inside of that are its own business: it may show them other labels.
    """
    found = estimator.get_params(deep=True)
    places = [name for name in found if name.rpartition("__")[2] == "hierarchy"]
    trees = [name for name in found if name.rpartition("__")[2] == "tree"]
    places += [name for name in trees if _has_a_tree(_owner(estimator, found, name))]
    outermost = min((name.count("__") for name in places), default=0)
    return [name for name in places if name.count("__") == outermost]


def _owner(estimator: Any, parameters: dict[str, Any], name: str) -> Any:
    """Part of an estimator that a parameter belongs to."""
    prefix = name.rpartition("__")[0]
    return parameters[prefix] if prefix else estimator


def hierarchy_of_fitted(estimator: Any) -> Hierarchy | None:
    """Hierarchy that a fitted classifier answers along, None where it knows of none."""
    found = getattr(final_step(estimator), "hierarchy_", None)
    return found if isinstance(found, Hierarchy) else None


def check_wrapped(estimator: Any) -> None:
    """Refuse what is no classifier with scores."""
    if not hasattr(estimator, "fit"):
        raise PalmetteError(
            f"estimator is {estimator!r}: expected a classifier, such as "
            "LocalPerParentClassifier(LogisticRegression()) or LogisticRegression()."
        )
    last = final_step(estimator)
    if isinstance(last, HierarchicalClassifier):
        own, base = type(last), HierarchicalClassifier
        scored = (
            own._class_proba_of is not base._class_proba_of
            or own._node_proba_of is not base._node_proba_of
        )
    else:
        scored = hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")
    if not scored:
        raise PalmetteError(
            f"{type(last).__name__} has neither probabilities nor margins: expected a classifier "
            "with predict_proba or decision_function."
        )
