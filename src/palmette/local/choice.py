"""Which estimator a local task gets: the one given, one of a dict, or one that a factory makes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sklearn.linear_model import LogisticRegression

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError

__all__ = ["TaskKey", "default_estimator", "estimator_chooser", "known_estimators"]

DEFAULT = "default"  # the key of a dict for all tasks that it does not name


@dataclass(frozen=True)
class TaskKey:
    """What a task is called by those who choose its estimator.

    Parameters
    ----------
    name : str or int
        What a factory is given: the path of a node, or a depth.
    depth : int
    node : int or None
        Node number; None for a task of a whole level.
    """

    name: Any
    depth: int
    node: int | None


def default_estimator() -> LogisticRegression:
    """Return the estimator of those who give none."""
    return LogisticRegression(max_iter=1000)


def known_estimators(given: Any) -> list[Any]:
    """Estimators that can be known before fitting: none where a factory makes them."""
    if given is None:
        return [default_estimator()]
    if isinstance(given, dict):
        return list(given.values())
    return [given] if hasattr(given, "fit") and not inspect.isclass(given) else []


def estimator_chooser(
    given: Any, hierarchy: Hierarchy, *, by_node: bool, is_given: bool
) -> Callable[[TaskKey], Any]:
    """Return the function that gives a task's unfitted estimator.

    Parameters
    ----------
    given : estimator, dict, callable or None
        As the user passed it.
    hierarchy : Hierarchy
    by_node : bool
        Whether tasks belong to nodes, so that the keys of a dict may name them.
    is_given : bool
        Whether the user gave the hierarchy, so that a key that is not in it must be a mistake.
        A hierarchy taken from y may lack rare nodes, as in a fold of cross-validation.
    """
    if isinstance(given, dict):
        return _dict_chooser(given, hierarchy, by_node, is_given)
    if given is None:
        given = default_estimator()
    if inspect.isclass(given):
        name = given.__name__
        raise PalmetteError(f"estimator is the class {name}: expected an object, {name}().")
    if hasattr(given, "fit"):
        return lambda key: given
    if callable(given):
        return lambda key: _made_by(given, key)
    raise PalmetteError(
        f"estimator is a {type(given).__name__}: expected a scikit-learn classifier, a dict of "
        "them by node or depth, or a function that makes one."
    )


def _made_by(factory: Callable[[Any], Any], key: TaskKey) -> Any:
    estimator = factory(key.name)
    if not hasattr(estimator, "fit") or inspect.isclass(estimator):
        raise PalmetteError(
            f"the estimator function gave {estimator!r} for {key.name!r}: expected a scikit-learn "
            "classifier."
        )
    return estimator


def _dict_chooser(
    given: dict[Any, Any], hierarchy: Hierarchy, by_node: bool, is_given: bool
) -> Callable[[TaskKey], Any]:
    at_node: dict[int, Any] = {}
    at_depth: dict[int, Any] = {}
    for key, estimator in given.items():
        if isinstance(key, Integral):
            at_depth[int(key)] = estimator
        elif by_node and key in hierarchy:
            at_node[hierarchy.index(key)] = estimator
        elif key != DEFAULT and (is_given or not by_node):
            raise HierarchyError(_describe_key(key, hierarchy, by_node))

    def choose(key: TaskKey) -> Any:
        if key.node in at_node:
            return at_node[key.node]
        if key.depth in at_depth:
            return at_depth[key.depth]
        if DEFAULT in given:
            return given[DEFAULT]
        raise PalmetteError(
            f"estimator has no entry for {key.name!r} (depth {key.depth}) among "
            f"{sorted(map(str, given))}. Add it, or a {DEFAULT!r}."
        )

    return choose


def _describe_key(key: Any, hierarchy: Hierarchy, by_node: bool) -> str:
    if not by_node:
        return (
            f"estimator has the key {key!r}: expected depths, from 1 to {hierarchy.max_depth}, or "
            f"{DEFAULT!r}."
        )
    return (
        f"estimator has the key {key!r}, which is no node of the hierarchy (or a name that several "
        f"nodes share). Expected a node's path, a depth as an int, or {DEFAULT!r}."
    )
