"""Names of nodes: check, compare and sort them, join them to paths, and find nodes."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import IntArray, is_missing
from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._separators import SEPARATORS, split_path

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

_SHOWN = 160  # maximum length of a value in an error message


def is_padding(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, NA, masked or an empty string.

    Examples
    --------
    >>> [is_padding(value) for value in (None, float("nan"), "", 0, "nan")]
    [True, True, True, False, False]
    """
    return value == "" if isinstance(value, str) else is_missing(value)


def is_hashable(value: Any) -> bool:
    """Whether a value, with all its items, can be the key of a dictionary."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def shown(value: Any) -> str:
    """Format a value for an error message; a long one is truncated."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def object_array(values: Sequence[Any]) -> NDArray[np.object_]:
    """Make a 1-D array of any objects; np.array would make rows of equal length 2-D."""
    return np.fromiter(values, dtype=object, count=len(values))


def as_list(values: Any) -> list[Any]:
    """Return the values of a 1-D array as a list of Python values.

    Dates and durations stay numpy scalars: nanoseconds would become integers, and days other types.

    Examples
    --------
    >>> as_list(np.array(["2024-01-31"], dtype="datetime64[ns]")) == [np.datetime64("2024-01-31")]
    True
    """
    array = np.asarray(values)
    return list(array) if array.dtype.kind in "mM" else array.tolist()


def distinct(
    values: Sequence[Any], where: Callable[[int], str] = "y[{}]".format
) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values in order of appearance, and the code of every value.

    A dictionary is several times faster here than sorting, and it accepts mixed types.

    Parameters
    ----------
    values : sequence
    where : callable
        Returns the name of a position, for the error about an invalid label.

    Returns
    -------
    unique : list
    codes : int array of shape (n_values,)

    Examples
    --------
    >>> distinct(["b", "a", "b"])
    (['b', 'a'], array([0, 1, 0]))
    """
    try:
        table: dict[Any, int] = dict.fromkeys(values, 0)
    except TypeError:
        i = next(i for i, value in enumerate(values) if not is_hashable(value))
        raise LabelError(
            f"{where(i)} = {shown(values[i])} of type {type(values[i]).__name__} is not a label: "
            "expected a string, a number or another hashable value."
        ) from None
    for code, value in enumerate(table):
        table[value] = code
    codes = np.fromiter(map(table.__getitem__, values), dtype=np.int64, count=len(values))
    return list(table), codes


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Sort labels; mixed types are sorted by type first, so that the order is deterministic."""
    items = list(labels)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=_type_then_value)


def _type_then_value(label: Any) -> Any:
    if isinstance(label, tuple):
        return ("tuple", tuple(_type_then_value(part) for part in label))
    return (type(label).__name__, str(label))


SEPARATOR = "/"
_OTHER_MARKS = sorted({each.strip() for each in SEPARATORS} - {SEPARATOR})
_AMBIGUOUS = -1
_MAX_JOINED = 2**28  # characters of all path strings; a chain of 100,000 nodes would need 10**10
_SEARCHED = 5_000  # names compared for a suggestion: more would make an error slow


def check_names(names: Sequence[Any]) -> NDArray[np.object_]:
    """Return names as an object array of plain Python values, all hashable and not missing."""
    plain = [name.item() if _is_numpy_scalar(name) else name for name in names]
    if set(map(type, plain)) <= {str, int} and "" not in plain:
        return object_array(plain)  # the common case, without checking every name
    for i, name in enumerate(plain):
        if is_padding(name):
            raise HierarchyError(f"node {i} has the name {name!r}: expected a non-empty name.")
        if not is_hashable(name):
            raise HierarchyError(
                f"node {i} has the name {shown(name)} of type {type(name).__name__}: expected a "
                "string, a number or another hashable value."
            )
    return object_array(plain)


def _is_numpy_scalar(name: Any) -> bool:
    # item() would convert a date in nanoseconds to an integer
    return isinstance(name, np.generic) and not isinstance(name, np.datetime64 | np.timedelta64)


def require_distinct(names: Iterable[Any]) -> None:
    """Raise an error if a name occurs twice: without paths, nodes are identified by name."""
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise HierarchyError(
                f"two nodes have the name {name!r}: expected distinct names. Rename one, or give "
                "paths (Hierarchy.from_paths), which may repeat names."
            )
        seen.add(name)


def require_distinct_siblings(names: NDArray[np.object_], edges: IntArray) -> None:
    """Raise an error if two children of a node have the same name, and hence the same path."""
    steps = list(zip(edges[:, 0].tolist(), names[edges[:, 1]].tolist(), strict=True))
    if len(set(steps)) == len(steps):
        return
    seen: set[tuple[int, Any]] = set()
    for parent, name in steps:
        if (parent, name) in seen:
            raise HierarchyError(
                f"two children of {names[parent]!r} have the name {name!r}, and hence the same "
                "path. Rename one or merge them."
            )
        seen.add((parent, name))


def join_paths(names: NDArray[np.object_], parents: list[int] | None) -> NDArray[np.object_]:
    """Join names along every path; without `parents` (a DAG), return the names."""
    joined = [str(name) for name in names.tolist()]
    if parents is None:
        return object_array(joined)
    lengths = [len(name) + 1 for name in joined]
    for node, parent in enumerate(parents):
        if parent > 0:
            lengths[node] += lengths[parent]
    if sum(lengths) > _MAX_JOINED:
        raise HierarchyError(
            f"the path strings of this hierarchy of {len(names):,} nodes have {sum(lengths):,} "
            f"characters: expected at most {_MAX_JOINED:,}. Shorten long chains of only children."
        )
    for node, parent in enumerate(parents):
        if parent > 0:
            joined[node] = joined[parent] + SEPARATOR + joined[node]
    return object_array(joined)


class NodeLookup:
    """Find nodes by number, path string, unique name, or path tuple.

    A string that is neither a path string nor a name may be a path with another separator.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy

    # ------------------------------------------------------------------ numbers or names

    def number(self, node: Any) -> int:
        """Return the number of a node given by number, string or tuple."""
        if isinstance(node, str | tuple):
            return self.find(node)
        try:
            number = operator.index(node)
        except TypeError:
            raise HierarchyError(
                f"{shown(node)} of type {type(node).__name__} is not a node: expected a number, a "
                "name or a path tuple. Use index() to look up a name that is not a string."
            ) from None
        n_nodes = self._hierarchy.n_nodes
        if not 0 <= number < n_nodes:
            raise HierarchyError(
                f"node number {number} is out of range: expected 0 to {n_nodes - 1}. "
                "Use index() to look up an integer name."
            )
        return number

    def numbers(self, nodes: Any) -> tuple[IntArray, bool]:
        """Return an array of node numbers, of any shape, and whether any was given as a name."""
        if isinstance(nodes, str | tuple):
            return np.asarray(self.number(nodes), dtype=np.int32), True
        if isinstance(nodes, list) and any(isinstance(node, str | tuple) for node in nodes):
            nodes = object_array(nodes)  # numpy would convert tuples to a 2-D array
        try:
            array = np.asarray(nodes)
        except ValueError:  # rows of unequal length
            array = np.asarray(nodes, dtype=object)
        if array.dtype.kind in "iu" and array.size:
            self.number(array.min())
            self.number(array.max())
            return array.astype(np.int32), False
        flat = array.ravel().tolist()
        numbers = np.asarray([self.number(node) for node in flat], dtype=np.int32)
        return numbers.reshape(array.shape), any(isinstance(node, str | tuple) for node in flat)

    # ------------------------------------------------------------------ names

    def get(self, node: Any) -> int | None:
        """Return the number of a node; None if it does not exist or its name is ambiguous."""
        found = self._search(node)
        return None if found == _AMBIGUOUS else found

    def find(self, node: Any) -> int:
        """Return the number of a node, or raise an error with examples of existing nodes."""
        found = self._search(node)
        if found == _AMBIGUOUS:
            raise HierarchyError(self._describe_ambiguity(node))
        if found is None:
            raise HierarchyError(self._describe_missing(node))
        return found

    def _search(self, node: Any) -> int | None:
        try:
            if isinstance(node, tuple):
                # nodes are identified by path in a tree, by name, which may be a tuple, in a DAG
                ways = (self._walk, self._by_name.get)
                first, second = ways if self._hierarchy.is_tree else ways[::-1]
                found = first(node)
                return second(node) if found is None else found
            found = self._by_path.get(node) if isinstance(node, str) else None
            if found is not None and any(mark in node for mark in _OTHER_MARKS):
                return found if self._by_names(node) in (None, found) else _AMBIGUOUS
            if found is None:
                found = self._by_name.get(node)
            if found is None and isinstance(node, str):
                found = self._by_look.get(node)
            return self._by_names(node) if found is None else found
        except TypeError:  # unhashable
            return None

    def _by_names(self, label: Any) -> int | None:
        """Find a string of names with another separator, such as ``"animal > cat"``."""
        if not isinstance(label, str) or not self._hierarchy.is_tree:
            return None
        paths = {split_path(label, each) for each in SEPARATORS if each in label}
        found = {self._walk(path) for path in paths if len(path) > 1} - {None}
        return found.pop() if len(found) == 1 else (_AMBIGUOUS if found else None)

    def _walk(self, path: tuple[Any, ...]) -> int | None:
        node: int | None = 0
        for name in path:
            node = self._by_step.get((node, name)) if node is not None else None
        return node

    @cached_property
    def _by_step(self) -> dict[tuple[int, Any], int]:
        parents, children = self._hierarchy.edges.T
        steps = zip(parents.tolist(), self._hierarchy.names[children].tolist(), strict=True)
        return dict(zip(steps, children.tolist(), strict=True))

    @cached_property
    def _by_name(self) -> dict[Any, int]:
        return _unique((name, i) for i, name in enumerate(self._hierarchy.names.tolist()))

    @cached_property
    def _by_path(self) -> dict[str, int]:
        """Nodes by path string, if all names on the path are strings.

        The root is left out: its path is empty, and a child may have its name.
        """
        paths = self._hierarchy.path_strings.tolist()
        return _unique((paths[i], i) for i in np.flatnonzero(self._is_spelled).tolist())

    @cached_property
    def _by_look(self) -> dict[str, int]:
        """Nodes by path string, if some name is not a string but printed alike: 1 for ``"1"``."""
        paths = self._hierarchy.path_strings.tolist()
        return _unique((paths[i], i) for i in np.flatnonzero(~self._is_spelled).tolist())

    @cached_property
    def _is_spelled(self) -> NDArray[np.bool_]:
        """Whether all names on the path of each node are strings; always false in a DAG."""
        hierarchy = self._hierarchy
        spelled = [hierarchy.is_tree and isinstance(n, str) for n in hierarchy.names.tolist()]
        if hierarchy.is_tree:
            for node, parent in enumerate(hierarchy.parents.tolist()):
                if parent > 0:
                    spelled[node] &= spelled[parent]
        spelled[0] = False
        return np.asarray(spelled)

    # ------------------------------------------------------------------ errors

    def _describe_missing(self, node: Any) -> str:
        """Describe a missing node, with similar or other existing nodes as examples."""
        hierarchy = self._hierarchy
        label = SEPARATOR.join(map(str, node)) if isinstance(node, tuple) else node
        known = hierarchy.path_strings[:_SEARCHED].tolist()
        near = difflib.get_close_matches(str(label)[:200], known, n=2, cutoff=0.75)
        examples = [known.index(path) for path in near]
        examples += [leaf for leaf in hierarchy.leaves[:2].tolist() if leaf not in examples]
        return (
            f"{shown(label)} is not in the hierarchy ({hierarchy.n_nodes} nodes, e.g. "
            f"{', '.join(self._example(i) for i in sorted(examples[:2]))}). Add the node or drop "
            "the row."
        )

    def _example(self, node: int) -> str:
        name = self._hierarchy.names[node]
        is_top = not self._hierarchy.is_tree or self._hierarchy.parents[node] <= 0
        return shown(name if is_top else self._hierarchy.path_strings[node])

    def _describe_ambiguity(self, node: Any) -> str:
        hierarchy = self._hierarchy
        same = [i for i, name in enumerate(hierarchy.names.tolist()) if name == node]
        paths = [hierarchy.path_strings[i] for i in same]
        if len(set(paths)) > 1:
            return f"{shown(node)} is ambiguous: {', '.join(map(repr, paths[:3]))}. Give the path."
        return (
            f"{shown(node)} is ambiguous: several nodes have this path string, since a name "
            f"contains {SEPARATOR!r} or is not a string. Give the path as a tuple of names."
        )


def _unique(pairs: Iterable[tuple[Any, int]]) -> dict[Any, int]:
    numbers: dict[Any, int] = {}
    for key, number in pairs:
        numbers[key] = _AMBIGUOUS if key in numbers else number
    return numbers
