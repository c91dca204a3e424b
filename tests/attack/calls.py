"""What users do with a loaded object, found by reflection: all public methods and properties.

A new method is called unasked, with its required arguments by their names, and once more with each
optional one that `_OF_NODES` names.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import traceback
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator, clone

import palmette as pm
from palmette.exceptions import PalmetteError
from palmette.persistence import save
from palmette.table import TableModel

__all__ = ["Arguments", "Call", "arguments_of", "calls_of", "required"]

_CHANGES = ("fit", "partial_fit", "set_", "check_arrays")  # prefixes of what changes an object
_OF_NODES = ("node", "nodes")


class Call(NamedTuple):
    """Something to do with an object."""

    name: str
    do: Callable[[], Any]


class Arguments(NamedTuple):
    """Values of arguments by name, from the unchanged object, and what it has."""

    values: dict[str, Any]
    kind: type
    has: frozenset[str]


def arguments_of(whole: Any, X: Any) -> Arguments:
    """Return the arguments that suit an unchanged object and rows, which None stands for."""
    values = {} if X is None else dict.fromkeys(("X", "frame", "table"), X)
    tree = whole if isinstance(whole, pm.Hierarchy) else getattr(whole, "hierarchy_", None)
    if isinstance(tree, pm.Hierarchy):
        last = tree.path(tree.n_nodes - 1) if tree.is_tree else tree.names[-1]
        values |= {"node": last, "nodes": [last], "a": last, "b": last, "y": [last] * 3}
    if X is not None and hasattr(whole, "predict"):
        values["y"] = whole.predict(X)
    return Arguments(values, type(whole), frozenset(filter(partial(_has, whole), dir(whole))))


def _has(whole: Any, name: str) -> bool:
    try:
        return hasattr(whole, name)
    except PalmetteError:  # what a hierarchy has only where it is a tree
        return True


def required(method: Any) -> dict[str, inspect.Parameter]:
    """Return the arguments that a method cannot do without."""
    return {
        name: each
        for name, each in inspect.signature(method).parameters.items()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }


def calls_of(found: Any, arguments: Arguments) -> Iterator[Call]:
    """Yield what users do with an object, whatever its class has become."""
    values = arguments.values
    is_whole = isinstance(found, BaseEstimator) or type(found) is arguments.kind
    names = {*dir(type(found)), *getattr(found, "__dict__", ())}  # `dir` would read properties
    for name in sorted(names) if is_whole else ():  # a part of a model has no public methods
        if name.startswith(("_", *_CHANGES)) or _is_of_class(found, name):
            continue
        try:
            part = getattr(found, name)
        except AttributeError as error:
            is_lost = type(found) is arguments.kind and name in arguments.has
            if is_lost and not _is_of_a_condition(error):
                yield Call(name, _raising(error))
            continue
        except BaseException as error:  # of a property
            yield Call(name, _raising(error))
            continue
        if name == "inverse_transform":  # of rows as the object itself makes them
            yield Call(name, lambda: found.inverse_transform(found.transform(values["X"])))
        elif isinstance(part, types.MethodType | types.FunctionType):
            yield from _calls_of_method(name, part, values)
    yield Call("repr", lambda: repr(found))
    yield Call("save", lambda: _saved(found))
    if isinstance(found, BaseEstimator):
        yield Call("clone", lambda: clone(found))
        yield Call("page", lambda: found._repr_html_())
    if hasattr(found, "predict") and "y" in values and "X" in values:
        yield Call("report", lambda: pm.report(found, values["X"], values["y"], n_bootstrap=2))
    if isinstance(found, TableModel):
        yield Call("review", lambda: pm.review(found, values["X"], folds=2))


def _is_of_a_condition(error: AttributeError) -> bool:
    """Whether an estimator says that it has no such method, such as one without probabilities."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return frame.filename.endswith("_available_if.py") and error.__cause__ is None


def _calls_of_method(name: str, method: Any, values: dict[str, Any]) -> Iterator[Call]:
    needed = required(method)
    numbers = {each: 1 for each, parameter in needed.items() if parameter.annotation == "int"}
    if not {**values, **numbers}.keys() >= needed.keys():
        return
    given = {each: numbers.get(each, values.get(each)) for each in needed}
    yield Call(name, lambda: _all_of(method(**given)))
    for each in inspect.signature(method).parameters:
        if each in _OF_NODES and each in values and each not in needed:
            more = {**given, each: values[each]}
            yield Call(f"{name}({each})", lambda more=more: _all_of(method(**more)))


def _all_of(answer: Any) -> Any:
    """Return an answer; of stages, all."""
    return list(answer) if inspect.isgenerator(answer) else answer


def _is_of_class(found: Any, name: str) -> bool:
    return isinstance(inspect.getattr_static(found, name, None), classmethod | staticmethod)


def _raising(error: BaseException) -> Callable[[], None]:
    def do() -> None:
        raise error

    return do


def _saved(found: Any) -> None:
    file = Path(tempfile.gettempdir()) / f"again-{os.getpid()}.palmette"
    save(found, file)
    file.unlink()
