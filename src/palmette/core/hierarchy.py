"""Hierarchy: the immutable tree or DAG of classes on which everything stands."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from palmette.core import graph, lookup
from palmette.core.drawing import draw, summarize
from palmette.core.ordering import order_nodes
from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    import networkx

__all__ = ["Hierarchy"]

IntArray = NDArray[np.int32]
_Scalar = TypeVar("_Scalar", bound=np.generic)


class Hierarchy:
    """An immutable hierarchy of classes: a tree, or a DAG where a node has several parents.

    Build one with `from_paths`, `from_edges`, `from_parents`, `from_networkx`, `star` or `read`.

    Nodes are numbered in topological order, node 0 being the root. In a tree they stand in
    preorder, so that the subtree of node ``i`` is the slice ``i : subtree_end[i]``. In every method
    an ``int`` is a node number; a ``str`` is a path joined by ``/`` or a name that occurs once; a
    ``tuple`` is a path of names below the root. `index` turns anything else, such as an integer
    name, into a number.

    In a tree the path is a node's identity, and two branches may use the same name. In a DAG, where
    a node has many paths, the name is.

    Attributes
    ----------
    n_nodes, n_leaves, max_depth : int
        The root counts as a node; its depth is 0.
    names : object array of shape (n_nodes,)
    parents : int array of shape (n_nodes,)
        The root has -1. Trees only: see `parents_of` for DAGs.
    depth : int array of shape (n_nodes,)
        Edges from the root; the longest way in a DAG.
    leaves : int array of shape (n_leaves,)
    is_leaf : bool array of shape (n_nodes,)

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> print(h)
    root
    ├─ animal
    │  ├─ cat
    │  └─ dog
    └─ plant
       └─ oak
    >>> h.lca("animal/cat", "animal/dog"), h.distance("animal/cat", "plant/oak")
    ('animal', 4)
    """

    _frozen = False

    def __init__(self, names: Sequence[Hashable], edges: ArrayLike, *, _ordered: bool = False):
        pairs = np.asarray(edges, dtype=np.int32).reshape(-1, 2)
        checked = lookup.check_names(names)
        if not len(checked):
            raise HierarchyError("the hierarchy is empty: expected at least a root.")
        if not _ordered:
            pairs = graph.distinct_edges(pairs)
            order, is_tree = order_nodes(checked, pairs[:, 0], pairs[:, 1])
            checked = checked[order]
            place = np.empty_like(order)
            place[order] = np.arange(len(order), dtype=np.int32)
            pairs = place[pairs]
        else:
            is_tree = len(pairs) == len(checked) - 1
        if not is_tree:
            lookup.require_distinct(checked)
        # ordered by child, then parent, so that equal hierarchies have equal arrays
        pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
        self.names: NDArray[np.object_] = _read_only(checked)
        self.edges: IntArray = _read_only(pairs)
        self.is_tree: bool = is_tree
        self._frozen = True

    # ------------------------------------------------------------------ builders

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[Any]], root: Hashable = "root") -> Hierarchy:
        """Build a tree from paths of names; prefixes are implied and repeats ignored.

        Parameters
        ----------
        paths : iterable of sequences
            From the top downwards, without the root. Trailing None, NaN and ``''`` are padding.
        root : hashable
            Name of the root, which no path mentions.

        Returns
        -------
        Hierarchy
            Siblings in order of first appearance.

        Examples
        --------
        >>> Hierarchy.from_paths([("a", "b"), ("c",)]).names.tolist()
        ['root', 'a', 'b', 'c']
        """
        names, edges = graph.edges_of_paths(paths, root)
        return cls(names, edges)

    @classmethod
    def from_edges(
        cls, edges: Iterable[tuple[Hashable, Hashable]], root: Hashable | None = None
    ) -> Hierarchy:
        """Build a tree or DAG from (parent, child) names; here a name is a node's identity.

        Parameters
        ----------
        edges : iterable of (parent, child)
        root : hashable, optional
            If given, nodes without a parent are put under this node, which is made where it is
            not there. If not, two of them are an error.

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).is_tree
        False
        """
        names, pairs = graph.edges_by_name(edges, root)
        return cls(names, pairs)

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[Hashable, Hashable | None] | ArrayLike,
        names: Sequence[Hashable] | None = None,
    ) -> Hierarchy:
        """Build a tree from every node's parent.

        Parameters
        ----------
        parents : mapping of name to parent's name, or int array of shape (n_nodes,)
            The root's parent is None in a mapping, -1 in an array of node numbers.
        names : sequence of length n_nodes, optional
            Names for the array form; the numbers 0, 1, ... by default.

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> h = Hierarchy.from_parents({"cat": "animal", "animal": None})
        >>> h.names.tolist(), h.parents.tolist()
        (['animal', 'cat'], [-1, 0])
        """
        if isinstance(parents, Mapping):
            node_names, pairs = graph.edges_of_parent_mapping(parents)
        else:
            node_names, pairs = graph.edges_of_parent_array(parents, names)
        return cls(node_names, pairs)

    @classmethod
    def from_networkx(cls, digraph: networkx.DiGraph, root: Hashable | None = None) -> Hierarchy:
        """Build from a networkx directed graph whose edges go from parent to child."""
        if not digraph.is_directed():
            raise HierarchyError(
                "the graph is undirected: expected a networkx.DiGraph with edges from parent to "
                "child. networkx.bfs_tree(graph, root) directs a tree."
            )
        lone = [node for node in digraph.nodes if digraph.degree(node) == 0]
        names, pairs = graph.edges_by_name(digraph.edges, root, more_nodes=lone)
        return cls(names, pairs)

    @classmethod
    def star(cls, names: Iterable[Hashable], root: Hashable = "root") -> Hierarchy:
        """Build the hierarchy of a flat problem: every class directly under the root.

        Examples
        --------
        >>> Hierarchy.star(["a", "b"]).parents.tolist()
        [-1, 0, 0]
        """
        children = list(names)
        if len(set(children)) < len(children):
            lookup.require_distinct(lookup.check_names(children))
        edges = np.column_stack(
            [np.zeros(len(children), np.int32), np.arange(1, len(children) + 1, dtype=np.int32)]
        )
        return cls([root, *children], edges, _ordered=True)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        format: str | None = None,
        root: Hashable | None = None,
    ) -> Hierarchy:
        """Read a hierarchy from a file: paths, indented text, edges, JSON, OBO, XML, ARFF ...

        Parameters
        ----------
        path : path-like
            May be packed as .xz, .gz, .bz2 or .zip.
        format : str, optional
            Name of the format; found out from suffix and content by default.
        root : hashable, optional
            Joins several parentless nodes; otherwise two of them are an error.

        Returns
        -------
        Hierarchy
        """
        from palmette.core.taxonomy import read_hierarchy

        return read_hierarchy(path, format=format, root=root)

    # ------------------------------------------------------------------ shape

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the root among them."""
        return len(self.names)

    @cached_property
    def parents(self) -> IntArray:
        """Parent of every node of a tree, -1 for the root."""
        self.require_tree("Hierarchy.parents")
        parents = np.full(self.n_nodes, -1, dtype=np.int32)
        parents[self.edges[:, 1]] = self.edges[:, 0]
        return _read_only(parents)

    @cached_property
    def depth(self) -> IntArray:
        """Edges from the root to every node, by the longest way."""
        return _read_only(graph.longest_depth(self.n_nodes, self.edges))

    @cached_property
    def max_depth(self) -> int:
        """Largest depth."""
        return int(self.depth.max())

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node has no children."""
        leaf = np.ones(self.n_nodes, dtype=bool)
        leaf[self.edges[:, 0]] = False
        return _read_only(leaf)

    @cached_property
    def leaves(self) -> IntArray:
        """Nodes without children, ascending."""
        return _read_only(np.flatnonzero(self.is_leaf).astype(np.int32))

    @property
    def n_leaves(self) -> int:
        """Number of nodes without children."""
        return len(self.leaves)

    @cached_property
    def level_sizes(self) -> NDArray[np.int64]:
        """Number of nodes at depth 0, 1, ..."""
        return _read_only(np.bincount(self.depth))

    @cached_property
    def subtree_end(self) -> IntArray:
        """End of each node's slice ``node : end`` of descendants in a tree, itself included."""
        self.require_tree("Hierarchy.subtree_end")
        return _read_only(graph.subtree_ends(self.parents))

    # ------------------------------------------------------------------ relatives

    @cached_property
    def _children(self) -> graph.Adjacency:
        return graph.Adjacency.of(self.edges[:, 0], self.edges[:, 1], self.n_nodes)

    @cached_property
    def _parents(self) -> graph.Adjacency:
        return graph.Adjacency.of(self.edges[:, 1], self.edges[:, 0], self.n_nodes)

    def children(self, node: Any) -> IntArray:
        """Children of a node, ascending."""
        return self._children[self._number(node)]

    def parents_of(self, node: Any) -> IntArray:
        """Parents of a node: one in a tree, none for the root."""
        return self._parents[self._number(node)]

    def siblings(self, node: Any) -> IntArray:
        """Other children of a node's parents, ascending."""
        number = self._number(node)
        families = [self._children[parent] for parent in self._parents[number]]
        if not families:
            return np.empty(0, dtype=np.int32)
        return np.setdiff1d(np.concatenate(families), [number])

    def ancestors(self, node: Any, include_self: bool = False) -> IntArray:
        """Nodes above a node, the root first."""
        number = self._number(node)
        closed = graph.reach_up(number, self._parents)
        return closed if include_self else closed[:-1]

    def descendants(self, node: Any, include_self: bool = False) -> IntArray:
        """Nodes below a node, ascending."""
        number = self._number(node)
        if self.is_tree:
            return np.arange(number + (not include_self), self.subtree_end[number], dtype=np.int32)
        below = np.sort(graph.reach_down(number, self._children))
        return below if include_self else below[1:]

    @cached_property
    def closure(self) -> sparse.csr_array:
        """Boolean matrix of shape (n_nodes, n_nodes): [i, j] where j is i or an ancestor of i."""
        if self.is_tree:
            return graph.tree_closure(self.parents, self.depth)
        return graph.dag_closure(self.n_nodes, self.edges, self.max_depth)

    # ------------------------------------------------------------------ measures

    @cached_property
    def _range_minima(self) -> list[IntArray]:
        return graph.range_minima(self.parents)

    def lca(self, a: Any, b: Any) -> Any:
        """Lowest common ancestor, elementwise; the deepest one in a DAG.

        Parameters
        ----------
        a, b : node or array of nodes
            Numbers give numbers, names give path strings.

        Returns
        -------
        int, str or array of them
        """
        (left, right), by_name = self._pair(a, b)
        if self.is_tree:
            found = graph.tree_lca(left, right, self._range_minima)
        else:
            found = graph.dag_lca(left, right, self.closure, self.depth)
        if by_name:
            return self.path_strings[found]
        return found if np.ndim(found) else int(found)

    def distance(self, a: Any, b: Any) -> Any:
        """Edges between two nodes, elementwise: by the common ancestor, the shortest way in a DAG.

        Parameters
        ----------
        a, b : node or array of nodes

        Returns
        -------
        int or int array
        """
        (left, right), _ = self._pair(a, b)
        if self.is_tree:
            meeting = graph.tree_lca(left, right, self._range_minima)
            hops = self.depth[left] + self.depth[right] - 2 * self.depth[meeting]
        else:
            hops = graph.dag_distance(left, right, self.n_nodes, self.edges)
        return hops if np.ndim(hops) else int(hops)

    # ------------------------------------------------------------------ names

    def path(self, node: Any) -> tuple[Any, ...]:
        """Names from below the root down to a node; ``()`` for the root. Trees only."""
        self.require_tree("Hierarchy.path")
        return tuple(self.names[self.ancestors(node, include_self=True)[1:]].tolist())

    @cached_property
    def path_strings(self) -> NDArray[np.object_]:
        """Every node's path joined by ``/``; in a DAG, and for the root, its name."""
        parents = self.parents if self.is_tree else None
        return _read_only(lookup.join_paths(self.names, parents))

    @cached_property
    def _lookup(self) -> lookup.NodeLookup:
        return lookup.NodeLookup(self)

    def index(self, node: Any) -> Any:
        """Number of a node given by name, path string or path tuple; an array for a list of them.

        Examples
        --------
        >>> h = Hierarchy.from_paths([(2019, 1), (2020, 1)])
        >>> h.index(2020), h.index((2020, 1)), h.index(["2019/1", "2020"]).tolist()
        (3, 4, [2, 3])
        """
        if isinstance(node, list | np.ndarray):
            return np.asarray([self._lookup.find(item) for item in node], dtype=np.int32)
        return self._lookup.find(node)

    def _number(self, node: Any) -> int:
        if isinstance(node, str | tuple):
            return self._lookup.find(node)
        number = int(node)
        if not 0 <= number < self.n_nodes:
            raise HierarchyError(
                f"node number {number} is out of range: expected 0 to {self.n_nodes - 1}. "
                "Use index() to look up an integer name."
            )
        return number

    def _pair(self, a: Any, b: Any) -> tuple[tuple[IntArray, IntArray], bool]:
        (left, named_left), (right, named_right) = self._numbers(a), self._numbers(b)
        left, right = np.broadcast_arrays(left, right)
        return (left, right), named_left or named_right

    def _numbers(self, nodes: Any) -> tuple[IntArray, bool]:
        if isinstance(nodes, str | tuple):
            return np.int32(self._lookup.find(nodes)), True  # type: ignore[return-value]
        array = np.asarray(nodes)
        if array.dtype.kind in "OUS":
            return np.asarray(self.index(array.ravel().tolist())).reshape(array.shape), True
        if array.dtype.kind not in "iu" and array.size:
            raise HierarchyError(f"expected node numbers or names, got {array.dtype} values.")
        if array.size and (array.min() < 0 or array.max() >= self.n_nodes):
            raise HierarchyError(
                f"node numbers reach from {array.min()} to {array.max()}: expected 0 to "
                f"{self.n_nodes - 1}."
            )
        return array.astype(np.int32), False

    # ------------------------------------------------------------------ demands

    def require_tree(self, who: str) -> None:
        """Raise, naming the algorithm `who`, unless this is a tree."""
        if self.is_tree:
            return
        n_parents = np.bincount(self.edges[:, 1], minlength=self.n_nodes)
        several = np.flatnonzero(n_parents > 1)
        example = several[0]
        raise HierarchyError(
            f"{who} needs a tree, but {len(several)} of {self.n_nodes} nodes have several parents "
            f"(e.g. {self.names[example]!r} has {n_parents[example]}). Use a method for DAGs, or "
            "keep one parent of each."
        )

    # ------------------------------------------------------------------ out

    def draw(self, max_lines: int | None = 40, annotations: Sequence[str] | None = None) -> str:
        """Draw the hierarchy as text; see `palmette.core.drawing.draw`."""
        return draw(self, max_lines=max_lines, annotations=annotations)

    def to_networkx(self) -> networkx.DiGraph:
        """Return a networkx.DiGraph with node numbers as nodes and their names as ``name``."""
        import networkx as nx

        digraph = nx.DiGraph()
        paths = self.path_strings
        digraph.add_nodes_from(
            (i, {"name": name, "path": paths[i]}) for i, name in enumerate(self.names.tolist())
        )
        digraph.add_edges_from(self.edges.tolist())
        return digraph

    def to_newick(self) -> str:
        """Return the tree in Newick's format, names quoted where they need it."""
        from palmette.core.taxonomy import to_newick

        return to_newick(self)

    def to_dot(self) -> str:
        """Return the hierarchy in Graphviz's DOT language."""
        from palmette.core.taxonomy import to_dot

        return to_dot(self)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the hierarchy whole or not at all: JSON, Newick, DOT or text, by suffix."""
        from palmette.core.taxonomy import write_hierarchy

        write_hierarchy(self, path, format=format)

    # ------------------------------------------------------------------ identity

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of names and edges, the same in every process."""
        digest = hashlib.sha256(np.ascontiguousarray(self.edges, dtype="<i4").tobytes())
        for name in self.names.tolist():
            digest.update(f"{type(name).__name__}:{name!r};".encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen:
            self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        raise AttributeError(f"a Hierarchy is immutable: {name!r} cannot be changed.")

    def __copy__(self) -> Hierarchy:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Hierarchy:
        return self  # immutable: scikit-learn's clone may share it

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.names.tolist(), self.edges)

    def __len__(self) -> int:
        return self.n_nodes

    def __bool__(self) -> bool:
        return True

    def __contains__(self, node: Any) -> bool:
        return self._lookup.get(node) is not None

    def __repr__(self) -> str:
        return f"<Hierarchy: {summarize(self)}>"

    def __str__(self) -> str:
        return self.draw()


def _rebuild(names: list[Any], edges: IntArray) -> Hierarchy:
    return Hierarchy(names, edges, _ordered=True)


def _read_only(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    array.setflags(write=False)
    return array
