"""Hierarchy: the immutable tree or DAG of classes, and how to build and query it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from palmette._arrays import IntArray
from palmette.exceptions import HierarchyError
from palmette.hierarchy import _graph as graph
from palmette.hierarchy._drawing import draw, summarize
from palmette.hierarchy._graph import (
    check_pairs,
    distinct_edges,
    edges_by_name,
    edges_of_parent_array,
    edges_of_parent_mapping,
    edges_of_paths,
    order_nodes,
)
from palmette.hierarchy._names import (
    NodeLookup,
    as_list,
    check_names,
    join_paths,
    require_distinct,
    require_distinct_siblings,
    shown,
)

if TYPE_CHECKING:
    import networkx

    from palmette.hierarchy._vocabulary import Languages, Vocabulary
    from palmette.hierarchy.files._source import Rows

_Scalar = TypeVar("_Scalar", bound=np.generic)


def read_only(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


class Structure:
    """Base of `Hierarchy`: its shape, the relatives of a node, and the check that it is a tree.

    Nodes are numbered in topological order, those of a tree in preorder. Properties are computed
    when first used, and cached.
    """

    names: NDArray[np.object_]
    edges: IntArray  # parent, child; sorted by child, then parent
    is_tree: bool

    def _number(self, node: Any) -> int:
        raise NotImplementedError

    def require_tree(self, who: str) -> None:
        """Raise an error that names the algorithm `who`, unless this is a tree."""
        if self.is_tree:
            return
        n_parents = np.bincount(self.edges[:, 1], minlength=self.n_nodes)
        several = np.flatnonzero(n_parents > 1)
        example = several[0]
        raise HierarchyError(
            f"{who} needs a tree, but {len(several)} of {self.n_nodes} nodes have several parents "
            f"(e.g. {self.names[example]!r} has {n_parents[example]}). Use a method for DAGs, or "
            "keep one parent per node."
        )

    # ------------------------------------------------------------------ shape

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including the root."""
        return len(self.names)

    @cached_property
    def parents(self) -> IntArray:
        """Parent of every node of a tree, -1 for the root."""
        self.require_tree("Hierarchy.parents")
        parents = np.full(self.n_nodes, -1, dtype=np.int32)
        parents[self.edges[:, 1]] = self.edges[:, 0]
        return read_only(parents)

    @cached_property
    def _parent_list(self) -> list[int]:
        # indexing single elements of numpy arrays is slow
        parents: list[int] = self.parents.tolist()
        return parents

    @cached_property
    def depth(self) -> IntArray:
        """Number of edges from the root to every node, along the longest path."""
        return read_only(graph.longest_depth(self.n_nodes, self.edges))

    @cached_property
    def max_depth(self) -> int:
        """Largest depth."""
        return int(self.depth.max())

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node has no children."""
        leaf = np.ones(self.n_nodes, dtype=bool)
        leaf[self.edges[:, 0]] = False
        return read_only(leaf)

    @cached_property
    def leaves(self) -> IntArray:
        """Nodes without children, ascending."""
        return read_only(np.flatnonzero(self.is_leaf).astype(np.int32))

    @property
    def n_leaves(self) -> int:
        """Number of nodes without children."""
        return len(self.leaves)

    @cached_property
    def level_sizes(self) -> NDArray[np.int64]:
        """Number of nodes at depth 0, 1, ..."""
        return read_only(np.bincount(self.depth))

    @cached_property
    def subtree_end(self) -> IntArray:
        """End of the slice ``node : end`` of every node and its descendants; trees only."""
        self.require_tree("Hierarchy.subtree_end")
        return read_only(graph.subtree_ends(self._parent_list))

    # ------------------------------------------------------------------ relatives

    @cached_property
    def _children(self) -> graph.Adjacency:
        return graph.Adjacency.of(self.edges[:, 0], self.edges[:, 1], self.n_nodes)

    @cached_property
    def _parents(self) -> graph.Adjacency:
        return graph.Adjacency.of(self.edges[:, 1], self.edges[:, 0], self.n_nodes)

    def children(self, node: Any) -> IntArray:
        """Return the children of a node, ascending."""
        return self._children[self._number(node)]

    def parents_of(self, node: Any) -> IntArray:
        """Return the parents of a node: one in a tree, none for the root."""
        return self._parents[self._number(node)]

    def siblings(self, node: Any) -> IntArray:
        """Return the other children of the parents of a node, ascending."""
        number = self._number(node)
        families = [self._children[parent] for parent in self._parents[number]]
        if not families:
            return np.empty(0, dtype=np.int32)
        return np.setdiff1d(np.concatenate(families), [number])

    def ancestors(self, node: Any, include_self: bool = False) -> IntArray:
        """Return the nodes above a node, the root first."""
        number = self._number(node)
        if self.is_tree:
            closed = np.asarray(self._path_to(number), dtype=np.int32)
        else:
            closed = graph.reach(number, self._parents)
        return closed if include_self else closed[:-1]

    def _path_to(self, node: int) -> list[int]:
        """Return the nodes from the root down to a node of a tree."""
        parents = self._parent_list
        upwards = []
        while node >= 0:
            upwards.append(node)
            node = parents[node]
        return upwards[::-1]

    def descendants(self, node: Any, include_self: bool = False) -> IntArray:
        """Return the nodes below a node, ascending."""
        number = self._number(node)
        if self.is_tree:
            return np.arange(number + (not include_self), self.subtree_end[number], dtype=np.int32)
        below = graph.reach(number, self._children)
        return below if include_self else below[1:]

    @property
    def closure(self) -> sparse.csr_array:
        """Boolean matrix of shape (n_nodes, n_nodes): [i, j] is true if j is i or above i."""
        # the matrix object is mutable although its arrays are read-only: return a new one each time
        return graph.share_csr(self._closure)

    @cached_property
    def _closure(self) -> sparse.csr_array:
        if self.is_tree:
            return graph.tree_closure(self.parents, self.depth)
        return graph.dag_closure(self.n_nodes, self.edges, self.depth)


class Hierarchy(Structure):
    """An immutable hierarchy of classes: a tree, or a DAG if a node has several parents.

    Build one with `from_paths`, `from_edges`, `from_parents`, `from_networkx`, `star` or `read`.

    Nodes are numbered in topological order, and node 0 is the root. In a tree they are in
    preorder, so that the subtree of node ``i`` is the slice ``i : subtree_end[i]``. In every method
    an ``int`` is a node number; a ``str`` is a path joined by ``/``, a unique name, or a path with
    another separator, such as ``" > "``; a ``tuple`` is a path of names below the root. `index`
    converts anything else, such as an integer name, to a number.

    In a tree, nodes are identified by their path, and two branches may use the same name. In a DAG,
    where a node has several paths, they are identified by their name.

    Attributes
    ----------
    n_nodes, n_leaves, max_depth : int
        The root counts as a node; its depth is 0.
    names : object array of shape (n_nodes,)
    parents : int array of shape (n_nodes,)
        The root has -1. Trees only: see `parents_of` for DAGs.
    depth : int array of shape (n_nodes,)
        Number of edges from the root; along the longest path in a DAG.
    leaves : int array of shape (n_leaves,)
    is_leaf : bool array of shape (n_nodes,)
    vocabulary : Vocabulary or None
        Labels in languages, notations and schemes of the nodes, if the hierarchy was read from a
        SKOS file or made by `with_vocabulary`. It changes neither nodes nor predictions.

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

    def __init__(
        self,
        names: Sequence[Hashable],
        edges: ArrayLike,
        *,
        vocabulary: Vocabulary | None = None,
        _ordered: bool = False,
    ):
        checked = check_names(names)
        if not len(checked):
            raise HierarchyError("the hierarchy is empty: expected at least a root.")
        pairs = check_pairs(edges, len(checked))
        if not _ordered:
            pairs = distinct_edges(pairs)
            order = order_nodes(checked, pairs[:, 0], pairs[:, 1])
            checked = checked[order]
            place = np.empty_like(order)
            place[order] = np.arange(len(order), dtype=np.int32)
            pairs = place[pairs]
        # sorted by child, then parent, so that equal hierarchies have equal arrays
        pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
        # every node but the root has a parent, so any further edge is a second parent
        self.is_tree: bool = len(pairs) == len(checked) - 1
        if self.is_tree:
            require_distinct_siblings(checked, pairs)
        else:
            require_distinct(checked)
        self.names: NDArray[np.object_] = read_only(checked)
        self.edges: IntArray = read_only(pairs)
        self.vocabulary: Vocabulary | None = vocabulary
        self._frozen = True

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[Any]], root: Hashable = "root") -> Hierarchy:
        """Build a tree from paths of names; prefixes are implied and duplicates are ignored.

        Parameters
        ----------
        paths : iterable of sequences
            From the top down, without the root. Trailing None, NaN and ``''`` are padding.
        root : hashable
            Name of the root.

        Returns
        -------
        Hierarchy
            Siblings in order of first appearance.

        Examples
        --------
        >>> Hierarchy.from_paths([("a", "b"), ("c",)]).names.tolist()
        ['root', 'a', 'b', 'c']
        """
        names, edges = edges_of_paths(paths, root)
        return cls(names, edges)

    @classmethod
    def from_edges(
        cls, edges: Iterable[tuple[Hashable, Hashable]], root: Hashable | None = None
    ) -> Hierarchy:
        """Build a tree or DAG from (parent, child) names; names must be unique.

        Parameters
        ----------
        edges : iterable of (parent, child)
        root : hashable, optional
            Parent of all nodes without a parent, added if it is not in the edges. By default,
            several nodes without a parent are an error.

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).is_tree
        False
        """
        names, pairs = edges_by_name(edges, root)
        return cls(names, pairs)

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[Hashable, Hashable | None] | ArrayLike,
        names: Sequence[Hashable] | None = None,
    ) -> Hierarchy:
        """Build a tree from the parent of every node.

        Parameters
        ----------
        parents : mapping of name to name of the parent, or int array of shape (n_nodes,)
            The parent of the root is None in a mapping, -1 in an array of node numbers.
        names : sequence of length n_nodes, optional
            Names of the nodes of an array; the numbers 0, 1, ... by default.

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
            node_names, pairs = edges_of_parent_mapping(parents)
        else:
            node_names, pairs = edges_of_parent_array(parents, names)
        return cls(node_names, pairs)

    @classmethod
    def from_networkx(cls, digraph: networkx.DiGraph, root: Hashable | None = None) -> Hierarchy:
        """Build from a networkx directed graph whose edges go from parent to child.

        Parameters
        ----------
        digraph : networkx.DiGraph
            Its nodes are the names; attributes are ignored.
        root : hashable, optional
            As in `from_edges`.

        Returns
        -------
        Hierarchy
        """
        if not hasattr(digraph, "is_directed"):
            raise HierarchyError(f"got {shown(digraph)}: expected a networkx.DiGraph.")
        if not digraph.is_directed():
            raise HierarchyError(
                "the graph is undirected: expected a networkx.DiGraph with edges from parent to "
                "child. Use networkx.bfs_tree(graph, root) to direct a tree."
            )
        lone = [node for node, degree in digraph.degree() if degree == 0]
        names, pairs = edges_by_name(digraph.edges(), root, more_nodes=lone)
        return cls(names, pairs)

    @classmethod
    def star(cls, names: Iterable[Hashable], root: Hashable = "root") -> Hierarchy:
        """Build the hierarchy of a flat problem: every class is a child of the root.

        Examples
        --------
        >>> Hierarchy.star(["a", "b"]).parents.tolist()
        [-1, 0, 0]
        """
        if not isinstance(names, Iterable):
            raise HierarchyError(f"names is {shown(names)}: expected a list of names.")
        children = list(names)
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
        *,
        language: Languages | None = None,
        scheme: str | Sequence[str] | None = None,
    ) -> Hierarchy:
        """Read a hierarchy from a file: paths, indented text, edges, JSON, OBO, XML, SKOS ...

        Parameters
        ----------
        path : path-like
            May be compressed: .zip, and, under any name, xz, gzip and bzip2.
        format : str, optional
            ``paths``, ``indented``, ``edges``, ``json``, ``newick``, ``obo``, ``arff``, ``mulan``,
            ``codes``, ``icd10-xml``, ``icd10-codes`` or ``go-sqlite``; ``obo+part_of`` and
            ``go-sqlite+part_of`` use these edges too; names of OBO terms are labels in
            `vocabulary`. SKOS is read from ``turtle``, ``rdf-xml``, ``n-triples``,
            ``json-ld``, ``trig`` and ``n-quads``: nodes are the URIs of concepts, labels are kept
            in `vocabulary`, deprecated concepts are left out. Detected from suffix and content by
            default.
        root : hashable, optional
            Name of the root above all nodes without a parent. By default nested formats use their
            single top node as the root and put several under ``"root"``, formats of paths and
            codes always add ``"root"``, as SKOS does, and several top nodes in a list of edges are
            an error.
        language : str or sequence of str, optional
            Language of labels in drawings, such as "fi"; several in the order of preference. Labels
            in all languages are kept. By default the language with the most labels.
        scheme : str or sequence of str, optional
            URI, or title, of the SKOS concept schemes to read. All by default.

        Returns
        -------
        Hierarchy

        Raises
        ------
        ReadError
            If the file cannot be parsed; it names the file, line and position.
        HierarchyError
            If the file can be parsed, but has a cycle or more than one root.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "taxonomy.txt"
        ...     _ = file.write_text("animal > cat\\nanimal > dog\\nplant\\n")
        ...     print(Hierarchy.read(file))
        root
        ├─ animal
        │  ├─ cat
        │  └─ dog
        └─ plant
        """
        from palmette.hierarchy.files import read_rows

        found = assemble(read_rows(path, format, scheme), root)
        return found if language is None else found.with_language(language)

    # ------------------------------------------------------------------ measures

    @cached_property
    def _range_minima(self) -> list[IntArray]:
        return graph.range_minima(self.parents)

    def lca(self, a: Any, b: Any) -> Any:
        """Return the lowest common ancestor, elementwise; the deepest one in a DAG.

        Parameters
        ----------
        a, b : node or array of nodes
            The result is a number for numbers, and a path string for names.

        Returns
        -------
        int, str or array of them
        """
        left, right, by_name = self._pair(a, b)
        if self.is_tree:
            found = graph.tree_lca(left, right, self._range_minima)
        else:
            found = graph.dag_lca(left, right, self.closure, self.depth)
        if by_name:
            return self.path_strings[found]
        return found if np.ndim(found) else int(found)

    def distance(self, a: Any, b: Any) -> Any:
        """Return the number of edges on the shortest path between two nodes, elementwise.

        Parameters
        ----------
        a, b : node or array of nodes

        Returns
        -------
        int or int array
        """
        left, right, _ = self._pair(a, b)
        if self.is_tree:
            meeting = graph.tree_lca(left, right, self._range_minima)
            hops = self.depth[left] + self.depth[right] - 2 * self.depth[meeting]
        else:
            hops = graph.dag_distance(left, right, self.n_nodes, self.edges)
        return hops if np.ndim(hops) else int(hops)

    # ------------------------------------------------------------------ names

    def path(self, node: Any) -> tuple[Any, ...]:
        """Return the names from below the root down to a node, ``()`` for the root; trees only."""
        self.require_tree("Hierarchy.path")
        return tuple(self.names[above] for above in self._path_to(self._number(node))[1:])

    @cached_property
    def path_strings(self) -> NDArray[np.object_]:
        """Path of every node joined by ``/``; in a DAG, and for the root, its name."""
        parents = self._parent_list if self.is_tree else None
        return read_only(join_paths(self.names, parents))

    @cached_property
    def _lookup(self) -> NodeLookup:
        return NodeLookup(self)

    def index(self, node: Any) -> Any:
        """Return the number of a node given by name, path string or path tuple, or of a list.

        Examples
        --------
        >>> h = Hierarchy.from_paths([(2019, 1), (2020, 1)])
        >>> h.index(2020), h.index((2020, 1)), h.index(["2019/1", "2020"]).tolist()
        (3, 4, [2, 3])
        """
        if hasattr(node, "__array__") and np.ndim(node) > 0:
            if np.ndim(node) > 1:
                raise HierarchyError(f"nodes have shape {np.shape(node)}: expected one dimension.")
            node = as_list(node)
        if isinstance(node, list):
            return np.fromiter(map(self._lookup.find, node), dtype=np.int32, count=len(node))
        return self._lookup.find(node)

    def _number(self, node: Any) -> int:
        return self._lookup.number(node)

    def _pair(self, a: Any, b: Any) -> tuple[IntArray, IntArray, bool]:
        """Return the numbers of two arrays, broadcast, and whether any was given as a name."""
        (left, named_left), (right, named_right) = self._lookup.numbers(a), self._lookup.numbers(b)
        try:
            left, right = np.broadcast_arrays(left, right)
        except ValueError:
            raise HierarchyError(
                f"got nodes of shapes {left.shape} and {right.shape}: expected equal shapes, or "
                "one node."
            ) from None
        return left, right, named_left or named_right

    # ------------------------------------------------------------------ labels

    def with_vocabulary(self, vocabulary: Vocabulary | None) -> Hierarchy:
        """Return the same hierarchy with other labels, or without any."""
        return Hierarchy(
            self.names.tolist(), np.array(self.edges), vocabulary=vocabulary, _ordered=True
        )

    def with_language(self, language: Languages) -> Hierarchy:
        """Return the same hierarchy whose drawings have labels in a language; see `in_language`."""
        from palmette.hierarchy._vocabulary import choose_language

        return self.with_vocabulary(choose_language(self, language))

    def in_language(self, language: Languages | None = None) -> Hierarchy:
        """Return the hierarchy with labels in the place of names, in the same order of nodes.

        Parameters
        ----------
        language : str or sequence of str, optional
            Such as "fi"; several in the order of preference. A node without a label in these gets
            one in another language (`Vocabulary.fallbacks`), or keeps its name. By default the
            language that `read` was given, or the one with the most labels.

        Returns
        -------
        Hierarchy
            Without a vocabulary. Equal labels are made distinct by notation or name. A hierarchy
            without labels is returned as it is, if no language is given.

        Examples
        --------
        >>> from palmette import Vocabulary
        >>> words = Vocabulary({"en": {"u:1": "cat"}, "fi": {"u:1": "kissa"}})
        >>> print(Hierarchy.star(["u:1"]).with_vocabulary(words).in_language("fi"))
        root
        └─ kissa
        """
        if self.vocabulary is None and language is None:
            return self
        from palmette.hierarchy._vocabulary import names_in_language

        names = names_in_language(self, language)
        return Hierarchy(names, np.array(self.edges), _ordered=True)

    # ------------------------------------------------------------------ export

    def draw(
        self,
        max_lines: int | None = 40,
        annotations: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        language: Languages | None = None,
    ) -> str:
        """Draw the hierarchy as text; see `palmette.hierarchy._drawing.draw`.

        Nodes with labels are shown by them, in the language of `in_language`.
        """
        shown_as = self.in_language(language)
        return draw(shown_as, max_lines=max_lines, annotations=annotations, weights=weights)

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
        """Return the tree in Newick format; names are quoted where needed."""
        from palmette.hierarchy.files import to_newick

        return to_newick(self)

    def to_dot(self) -> str:
        """Return the hierarchy in the DOT language of Graphviz."""
        from palmette.hierarchy.files import to_dot

        return to_dot(self)

    def write(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        excel_safe: bool = False,
        language: Languages | None = None,
    ) -> None:
        """Write the hierarchy atomically as JSON, Newick, text, edges, SKOS, SVG, ..., by suffix.

        See `palmette.hierarchy.files.write_hierarchy` for the formats.
        """
        from palmette.hierarchy.files import write_hierarchy

        write_hierarchy(self, path, format=format, excel_safe=excel_safe, language=language)

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
        raise AttributeError(f"Hierarchy is immutable: {name!r} cannot be changed.")

    def __copy__(self) -> Hierarchy:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Hierarchy:
        return self  # immutable: scikit-learn's clone may share it

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.names.tolist(), self.edges, self.vocabulary)

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

    def _repr_html_(self) -> str:
        """Show a collapsible tree in a notebook."""
        from palmette.hierarchy._pictures import to_html

        return to_html(self.in_language())


def _rebuild(names: list[Any], edges: IntArray, vocabulary: Vocabulary | None = None) -> Hierarchy:
    return Hierarchy(names, edges, vocabulary=vocabulary, _ordered=True)


def assemble(rows: Rows, root: Hashable | None = None) -> Hierarchy:
    """Build a hierarchy from the rows returned by a file parser.

    Parameters
    ----------
    rows : PlaceRows, LinkRows or NumberedRows
    root : hashable, optional
        Name of the root above all nodes without a parent; depends on the format by default.

    Returns
    -------
    Hierarchy
    """
    from palmette.hierarchy.files._source import nodes_and_edges

    try:
        return Hierarchy(*nodes_and_edges(rows, root), vocabulary=rows.vocabulary)
    except HierarchyError as error:
        raise HierarchyError(f"{rows.source.path}: {error}") from error
