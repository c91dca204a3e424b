"""Codecs of objects of Palmette: hierarchies, classes, named tuples, enumerations, types, columns.

An object is written as the stable name of its class and its attributes. It is created without
``__init__``; only ``check_arrays`` and a ``__setstate__`` of a class of Palmette are called. In
``__setstate__`` a class that has changed reads the attributes of its earlier versions.
"""

from __future__ import annotations

import enum
import inspect
from dataclasses import fields
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette.decisions._coherence import NodeColumns
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import NodeLookup
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.labels._forms import LabelForm
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace
from palmette.persistence import _codecs
from palmette.persistence._acting import defaults_of_acting, without_acting
from palmette.persistence._graph import Codec, Decoder, Encoder
from palmette.persistence._guarded import add_new_parameters, guard
from palmette.persistence._types import (
    TABLE_CODECS,
    find_function,
    find_type,
    name_of_function,
    name_of_type,
)
from palmette.persistence.checks import STATED, array, check_attributes, held, integers, within
from palmette.persistence.names import find_class, full_name, is_of_palmette, stable_name


class Hierarchies(Codec):
    """Hierarchies, as names, edges and labels, with the checks of the constructor."""

    tag, shared, opaque = "hierarchy", True, True

    def takes(self, value: Any) -> bool:
        return type(value) is Hierarchy

    def write(self, value: Hierarchy, encoder: Encoder) -> dict[str, Any]:
        edges = encoder.inside(".edges", np.array(value.edges))
        content = {"names": encoder.values(value.names.tolist()), "edges": edges}
        if value.vocabulary is not None:
            content["vocabulary"] = encoder.inside(".vocabulary", value.vocabulary.to_dict())
        return content

    def read(self, content: Any, decoder: Decoder) -> Hierarchy:
        edges, words = decoder.value(content["edges"]), None
        if "vocabulary" in content:
            words = Vocabulary.from_dict(decoder.value(content["vocabulary"]))
        made = Hierarchy(decoder.values(content["names"]), edges, vocabulary=words)
        if not np.array_equal(made.edges, edges):
            raise ValueError("the nodes of a hierarchy are not in order")
        return made


class Derived(Codec):
    """Objects that depend on a hierarchy and some of its nodes only: they are computed again."""

    tag, shared, opaque = "derived", True, True

    def takes(self, value: Any) -> bool:
        return type(value) in _NODES_OF

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        nodes = getattr(value, _NODES_OF[type(value)])
        return {
            "class": stable_name(type(value)),
            "hierarchy": encoder.inside(".hierarchy", value.hierarchy),
            "nodes": encoder.inside(".nodes", np.array(nodes)),
        }

    def read(self, content: Any, decoder: Decoder) -> Any:
        kind = find_class(content["class"])
        hierarchy, nodes = (decoder.value(content[key]) for key in ("hierarchy", "nodes"))
        if kind not in _NODES_OF or not isinstance(hierarchy, Hierarchy):
            raise ValueError(f"{content['class']} does not have a hierarchy and nodes")
        numbers = integers(nodes, "nodes")
        is_good = (np.diff(numbers) > 0).all() and within(numbers, hierarchy.n_nodes).all()
        if not is_good or nodes.dtype.kind != "i" or nodes.itemsize < 4:
            raise ValueError("nodes are not ascending nodes of the hierarchy")
        return kind(hierarchy, nodes)


# by class, the attribute with the nodes
_NODES_OF = {LabelSpace: "classes", NodeColumns: "nodes"}


class NamedTuples(Codec):
    """Named tuples of Palmette."""

    tag = "namedtuple"

    def takes(self, value: Any) -> bool:
        return (
            isinstance(value, tuple)
            and hasattr(value, "_fields")
            and stable_name(type(value)) is not None
        )

    def write(self, value: Any, encoder: Encoder) -> list[Any]:
        parts = [encoder.inside(f".{n}", v) for n, v in zip(value._fields, value, strict=True)]
        return [stable_name(type(value)), *parts]

    def read(self, content: Any, decoder: Decoder) -> Any:
        kind = find_class(content[0])
        parts = decoder.values(content[1:])
        if not issubclass(kind, tuple) or len(getattr(kind, "_fields", ())) != len(parts):
            raise ValueError(f"{content[0]} is not a named tuple of {len(parts)}")
        return tuple.__new__(kind, parts)


class Enums(Codec):
    """Members of enumerations of Palmette."""

    tag = "enum"

    def takes(self, value: Any) -> bool:
        return isinstance(value, enum.Enum) and stable_name(type(value)) is not None

    def write(self, value: enum.Enum, encoder: Encoder) -> list[Any]:
        return [stable_name(type(value)), value.name]

    def read(self, content: Any, decoder: Decoder) -> enum.Enum:
        kind = find_class(content[0])
        if not issubclass(kind, enum.Enum):
            raise ValueError(f"{content[0]} is not an enumeration")
        return kind[content[1]]


class Objects(Codec):
    """Objects of all other classes of Palmette, as their attributes."""

    tag, shared = "object", True

    def takes(self, value: Any) -> bool:
        return stable_name(type(value)) is not None

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        state = attributes_of(value)
        return {
            "class": stable_name(type(value)),
            "state": {name: encoder.inside(f".{name}", state[name]) for name in sorted(state)},
        }

    def read(self, content: Any, decoder: Decoder) -> Any:
        kind: Any = find_class(content["class"])
        if kind is Hierarchy or kind in _NODES_OF or issubclass(kind, tuple | enum.Enum):
            raise ValueError(f"{content['class']} is not written by its attributes")
        made = object.__new__(kind)
        if issubclass(kind, BaseEstimator):
            guard(made)
        return made

    def fill(self, made: Any, content: Any, decoder: Decoder) -> None:
        state = read_attributes(type(made), content["state"], decoder)
        if not isinstance(state.get("hierarchy_"), Hierarchy | None):
            raise ValueError("hierarchy_ is not a Hierarchy")
        kind: Any = type(made)
        if _has_own_setstate(kind):
            made.__setstate__(state)
        else:
            for name, each in state.items():
                object.__setattr__(made, name, each)  # also for a class that is frozen or has slots
        if isinstance(made, BaseEstimator):
            add_new_parameters(made)


STATED[LabelForm] = {
    "kind": held(str, among=("names", "paths", "table", "sets", "indicator")),
    "style": held(str, among=("name", "path", "tuple")),
    "width": held(int, below=2**31),
}
STATED[NodeLabels] = {
    "hierarchy": held(Hierarchy),
    "given": held(sparse.csr_array, shape=(None, "hierarchy.n_nodes")),
    "form": held(LabelForm),
    "_index": held(object),
    "_listed": array("i", "given.indices", or_none=True),
}
STATED[NodeLookup] = {"_hierarchy": held(Hierarchy)}


# ---------------------------------------------------------------------- attributes


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, without cached properties; those that act have defaults.

    Parameters
    ----------
    value : object

    Returns
    -------
    dict of str to object
    """
    state = value.__getstate__()
    in_slots: dict[str, Any] = {}
    if isinstance(state, tuple):
        state, in_slots = state
    elif isinstance(state, list):  # a frozen dataclass with slots
        state = {field.name: each for field, each in zip(fields(value), state, strict=True)}
    found = {**(state or {}), **in_slots}
    kind: Any = type(value)
    cached = _cached_names(kind)
    return without_acting(kind, {n: v for n, v in found.items() if n not in cached})


def read_attributes(kind: type, written: Any, decoder: Decoder) -> dict[str, Any]:
    """Return the attributes of an object from a file; those that act have their defaults.

    Parameters
    ----------
    kind : type
    written : dict of str to JSON value
    decoder : Decoder

    Raises
    ------
    ValueError
        If an attribute replaces a method, or is special to Python.
    """
    check_attributes(kind, written)
    acting = defaults_of_acting(kind)
    state = {n: None if n in acting else decoder.value(v) for n, v in written.items()}
    return without_acting(kind, state)


@cache
def _cached_names(kind: type) -> frozenset[str]:
    found = {name: inspect.getattr_static(kind, name) for name in dir(kind)}
    return frozenset(name for name, each in found.items() if isinstance(each, cached_property))


@cache
def _has_own_setstate(kind: type) -> bool:
    ours = (
        vars(each).get("__setstate__")
        for each in kind.__mro__
        if is_of_palmette(each) or stable_name(each) is not None
    )
    # that of the dataclass decorator takes a list, and only sets attributes
    return any(each is not None and each.__module__ != "dataclasses" for each in ours)


# ---------------------------------------------------------------------- types and functions


class Types(Codec):
    """Types of labels, and classes of Palmette."""

    tag, by_type = "type", False

    def takes(self, value: Any) -> bool:
        return inspect.isclass(value)

    def write(self, value: type, encoder: Encoder) -> str:
        name = name_of_type(value)
        if name is None:
            raise encoder.refusal(
                value, f"it is the class {full_name(value)}. Use an instance of that class."
            )
        return name

    def read(self, content: Any, decoder: Decoder) -> Any:
        return find_type(content)


class Functions(Codec):
    """Functions of a short list, by name."""

    tag, by_type = "function", False

    def takes(self, value: Any) -> bool:
        return not inspect.isclass(value) and (
            inspect.isroutine(value) or type(value).__name__ in _FUNCTION_LIKE
        )

    def write(self, value: Any, encoder: Encoder) -> str:
        name = name_of_function(value)
        if name is None:
            called = getattr(value, "__qualname__", type(value).__name__)
            raise encoder.refusal(
                value,
                f"it is the function {called}, and files contain no code. Set it to None before "
                "saving, or use the name of a rule or an object instead.",
            )
        return name

    def read(self, content: Any, decoder: Decoder) -> Any:
        return find_function(content)


_FUNCTION_LIKE = frozenset({"ufunc", "_ArrayFunctionDispatcher", "partial", "CPUDispatcher"})

# all codecs except those of other libraries; the first one that takes an object writes it
OWN_CODECS: list[Codec] = [
    *_codecs.CODECS,
    *TABLE_CODECS,
    Types(),
    Functions(),
    Hierarchies(),
    Derived(),
    NamedTuples(),
    Enums(),
    Objects(),
]
