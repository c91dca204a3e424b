"""From the scores of a model to its predictions: one path per row, or any set of nodes.

A fitted classifier has an object of one of the two classes here, with the same methods. They decide
by a *table*, an array of scores of shape (n_samples, n_columns) for some of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.decisions._coherence import NodeColumns, add_root, make_coherent
from palmette.decisions._decode import RouteByMarginals, normalize_rows, path_product, top_classes
from palmette.decisions._rules import Decoding
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import as_list
from palmette.labels._containers import Container
from palmette.labels._forms import LabelForm, as_dtype, node_csr, sorted_labels
from palmette.labels._labels import NodeLabels
from palmette.labels._readers import is_indicator
from palmette.labels._space import LabelSpace
from palmette.persistence.checks import array, held

Chosen = Any  # nodes of shape (n_samples,), or a sparse bool array of shape (n_samples, n_nodes)


class Answers(Protocol):
    """Interface of `OnePath` and `NodeSets`.

    Attributes
    ----------
    by_node : bool
        Whether a table has the probability that each node is true; otherwise it has probabilities
        of classes, whose rows sum to one.
    hierarchy : Hierarchy
    form : LabelForm
        Form of the labels.
    classes : array of shape (n_classes,)
        Labels, in the order in which probabilities are given to users.
    nodes : int array of shape (n_nodes,)
        Nodes of the model, without the root, ascending.
    """

    by_node: bool
    hierarchy: Hierarchy
    form: LabelForm
    classes: Any

    @property
    def nodes(self) -> IntArray:
        """Nodes of the model."""

    @property
    def numbers_per_row(self) -> int:
        """Number of values per row in tables over all nodes."""

    def table_from_nodes(self, proba: Any, dag_rule: str) -> FloatArray:
        """Return a table from raw probabilities of `nodes`, which are changed in place."""

    def decide(self, tables: Iterable[FloatArray], rule: Any) -> Chosen:
        """Choose the answers of all rows by a decision rule."""

    def check_one_node(self) -> None:
        """Raise an error if predictions are sets, not one node per row."""

    def node_sets(self, chosen: Chosen) -> sparse.csr_array:
        """Return chosen nodes with all of their ancestors: bool, (n_samples, n_nodes)."""

    def write(self, chosen: Chosen, index: Any) -> Any:
        """Write chosen nodes in the form of y."""

    def write_nodes(self, nodes: IntArray, index: Any) -> Any:
        """Write one node per row in the form of y."""

    def label_proba(self, table: FloatArray) -> FloatArray:
        """Return probabilities of `classes`: (n_samples, n_classes)."""

    def arrange(self, proba: FloatArray) -> Any:
        """Return label probabilities in the form in which users get them."""

    def node_proba(self, table: FloatArray, nodes: IntArray) -> FloatArray:
        """Return probabilities of any nodes: (n_samples, n_wanted)."""

    def best_labels(self, table: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return the nodes and probabilities of the `k` best labels: both (n_samples, k)."""

    def are_right(self, chosen: Chosen, y: Any, *, is_given: bool) -> NDArray[np.bool_]:
        """Compare chosen nodes with true labels: (n_samples,)."""


class OnePath:
    """Answers of a model with one path per row in a tree.

    Parameters
    ----------
    space : LabelSpace
        Its classes are the columns of a table.
    form : LabelForm

    Attributes
    ----------
    class_order : int array of shape (n_classes,)
        Place of every label of `classes` in ``space.classes``.

    Examples
    --------
    >>> labels = NodeLabels.encode([("animal", "dog"), ("animal", "cat"), ("plant", "oak")])
    >>> answers = OnePath(LabelSpace(labels.hierarchy, labels.terminals), labels.form)
    >>> answers.node_proba(np.array([[0.5, 0.2, 0.3]]), labels.hierarchy.index(["animal"]))
    array([[0.7]])
    """

    by_node = False

    in_files: ClassVar = {
        "space": held(LabelSpace),
        "form": held(LabelForm),
        "form.columns": array("i", None, below="hierarchy.n_nodes", or_none=True),
        "class_order": array("i", "space.classes", below="space.classes"),
        "classes": array("", "space.classes"),
    }

    def __init__(self, space: LabelSpace, form: LabelForm) -> None:
        names = form.class_labels(space.classes, space.hierarchy)
        self.space = space
        self.form = form.as_answer()
        self.class_order = label_order(names)
        self.classes = names[self.class_order]

    @property
    def hierarchy(self) -> Hierarchy:
        """Hierarchy of the labels."""
        return self.space.hierarchy

    @property
    def nodes(self) -> IntArray:
        """Nodes with a label at or below them, without the root, ascending."""
        return self.space.nodes[1:]

    @cached_property
    def columns(self) -> NodeColumns:
        """The nodes as columns, for models that learn node by node."""
        return NodeColumns(self.hierarchy, self.nodes)

    @property
    def numbers_per_row(self) -> int:
        """Number of values per row in tables over all nodes and classes."""
        return 2 * self.space.n_active + self.space.n_classes

    def with_nodes(self, known: IntArray, listed: IntArray) -> OnePath:
        """Return answers with more classes; `listed` matters for node sets only."""
        classes = np.union1d(self.space.classes, known).astype(np.int32)
        return OnePath(LabelSpace(self.hierarchy, classes), self.form)

    # ------------------------------------------------------------------ deciding

    def table_from_nodes(self, proba: Any, dag_rule: str = "all") -> FloatArray:
        """Return probabilities of the classes from raw ones of nodes: (n_samples, n_classes).

        The options of a family share the probability of their parent; a label that has children
        gets the rest.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Columns as in `nodes`; changed in place.
        dag_rule : str
            Without effect in a tree.
        """
        coherent = make_coherent(proba, self.columns)
        return path_product(self.space, NodeRoute(coherent), len(proba))

    def decide(self, tables: Iterable[FloatArray], rule: Any) -> IntArray:
        """Choose one node per row, of shape (n_samples,)."""
        return np.concatenate([self._choose(table, rule) for table in tables])

    def _choose(self, table: FloatArray, rule: Any) -> IntArray:
        if isinstance(rule, Decoding):
            return rule.choose(table, self.space)
        chosen: IntArray = rule.follow(RouteByMarginals(self.space, table), len(table), self.space)
        return chosen

    def check_one_node(self) -> None:
        """Do nothing: every prediction is one node."""

    # ------------------------------------------------------------------ writing

    def node_sets(self, chosen: IntArray) -> sparse.csr_array:
        """Return nodes with all of their ancestors: sparse bool, (n_samples, n_nodes)."""
        return sparse.csr_array(self.hierarchy.closure[chosen])

    def write(self, chosen: IntArray, index: Any) -> Any:
        """Write one node per row, with its ancestors where y lists them."""
        return self.form.write_answers(chosen, self.hierarchy, index)

    write_nodes = write

    # ------------------------------------------------------------------ probabilities

    def label_proba(self, table: FloatArray) -> FloatArray:
        """Return the table with its columns in the order of `classes`."""
        return table[:, self.class_order]

    def arrange(self, proba: FloatArray) -> Any:
        """Return label probabilities as users get them: unchanged."""
        return proba

    def node_proba(self, table: FloatArray, nodes: IntArray) -> FloatArray:
        """Return probabilities of nodes, the sums over the classes at or below them."""
        space = self.space
        place = np.searchsorted(space.nodes, nodes).clip(max=space.n_active - 1)
        active = space.nodes[place] == nodes
        proba = np.zeros((len(table), len(nodes)))
        proba[:, active] = space.marginals(table)[place[active]].T
        return proba

    def best_labels(self, table: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return nodes and probabilities of the `k` best classes, best first."""
        chosen = top_classes(table, k)
        return self.space.classes[chosen], np.take_along_axis(table, chosen, axis=1)

    def margins(
        self, scores: FloatArray, to_classes: Callable[[FloatArray], FloatArray] | None = None
    ) -> FloatArray:
        """Return the scores of labels, as `decision_function` gives them.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns)
        to_classes : callable, optional
            Makes scores of classes from scores of nodes.

        Returns
        -------
        array of shape (n_samples, n_classes)
            With two labels the difference, of shape (n_samples,).
        """
        by_class = (scores if to_classes is None else to_classes(scores))[:, self.class_order]
        return by_class[:, 1] - by_class[:, 0] if by_class.shape[1] == 2 else by_class

    # ------------------------------------------------------------------ scoring

    def are_right(self, chosen: IntArray, y: Any, *, is_given: bool) -> NDArray[np.bool_]:
        """Return whether the most specific node of each row is the one chosen.

        Parameters
        ----------
        chosen : int array of shape (n_samples,)
        y : labels of n_samples rows
        is_given : bool
            Whether the user set the hierarchy, so that a label that it lacks is an error.
        """
        return np.asarray(chosen == true_nodes(self.hierarchy, self.form, y, is_given))


class NodeSets:
    """Answers of a model that decides every node separately: several paths per row, or a DAG.

    If y has one name per row in a DAG, predictions are one node per row; otherwise sets.

    Parameters
    ----------
    columns : NodeColumns
        Columns of a table.
    form : LabelForm
    class_nodes : int array of shape (n_classes,)
        Nodes of the labels.
    classes : array of shape (n_classes,)
        The labels as written in y.
    lists_root : bool
        Whether an indicator matrix has a column for the root.
    own_shares : array of shape (n_classes,), optional
        Of the rows for which something below the node of a label is true, the share that lists the
        label itself, too; by default all of them. See `own_proba`.
    """

    by_node = True
    own_shares: FloatArray | None = None  # files may lack it

    in_files: ClassVar = {
        "columns": held(NodeColumns),
        "form": held(LabelForm),
        "form.columns": array("i", None, below="hierarchy.n_nodes", or_none=True),
        "class_nodes": array("i", None, below="hierarchy.n_nodes"),
        "classes": array("", "class_nodes"),
        "lists_root": held(bool),
        "own_shares": array("f", "class_nodes", or_none=True),
    }

    def __init__(
        self,
        columns: NodeColumns,
        form: LabelForm,
        class_nodes: IntArray,
        classes: NDArray[Any],
        *,
        lists_root: bool = False,
        own_shares: FloatArray | None = None,
    ) -> None:
        self.columns = columns
        self.form = form.as_answer()
        self.class_nodes = class_nodes
        self.classes = classes
        self.lists_root = lists_root
        self.own_shares = own_shares

    @classmethod
    def of(cls, labels: NodeLabels) -> NodeSets:
        """Return the answers of a model that is fitted on some labels."""
        classes, class_nodes = labels_listed(labels)
        columns = NodeColumns(labels.hierarchy, nodes_in(labels.closed))
        lists_root = bool((labels.given.indices == 0).any())
        return cls(
            columns, labels.form, class_nodes, classes,
            lists_root=lists_root, own_shares=own_shares_of(labels)[class_nodes],
        )  # fmt: skip

    @property
    def hierarchy(self) -> Hierarchy:
        """Hierarchy of the labels."""
        return self.columns.hierarchy

    @property
    def nodes(self) -> IntArray:
        """Nodes of the columns, ascending."""
        return self.columns.nodes

    @property
    def numbers_per_row(self) -> int:
        """Number of values per row in tables: raw, coherent, flags, and intermediate ones."""
        return 4 * self.columns.n_columns

    def with_nodes(self, known: IntArray, listed: IntArray) -> NodeSets:
        """Return answers with more columns, and more labels unless y is a matrix."""
        nodes = np.union1d(self.nodes, known[known > 0]).astype(np.int32)
        class_nodes, classes = self.class_nodes, self.classes
        shares = None
        if self.own_shares is not None:
            shares = np.zeros(self.hierarchy.n_nodes)
            shares[self.class_nodes] = self.own_shares
        if self.form.columns is None:
            class_nodes = np.union1d(class_nodes, listed).astype(np.int32)
            names = self.form.class_labels(class_nodes, self.hierarchy)
            order = label_order(names)
            class_nodes, classes = class_nodes[order], names[order]
        columns = NodeColumns(self.hierarchy, nodes)
        return NodeSets(
            columns, self.form, class_nodes, classes,
            lists_root=self.lists_root, own_shares=None if shares is None else shares[class_nodes],
        )  # fmt: skip

    # ------------------------------------------------------------------ deciding

    def table_from_nodes(self, proba: Any, dag_rule: str = "all") -> Any:
        """Make raw probabilities of nodes coherent, in place."""
        return make_coherent(proba, self.columns, dag_rule)

    def decide(self, tables: Iterable[FloatArray], rule: Any) -> Chosen:
        """Choose the nodes of every row by a rule.

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes) or int array of shape (n_samples,)
            Nodes below the root that are true; where labels are names, one node per row.
        """
        if not self.form.several:
            labels = [rule.choose_labels(each, self.columns, self.class_nodes) for each in tables]
            return np.concatenate(labels)
        if rule.sees_all_rows:
            tables = [np.concatenate(list(tables))]
        parts = [rule.choose(table, self.columns) for table in tables]
        return self.columns.sets_of_nodes(sparse.vstack(parts, format="csr"))

    def check_one_node(self) -> None:
        """Raise an error if predictions are sets, not one node per row."""
        if self.form.several:
            raise PalmetteError(
                "predict_nodes predicts one node per row, but this model was fitted on several "
                "paths per row. Use predict_node_sets."
            )

    # ------------------------------------------------------------------ writing

    def node_sets(self, chosen: Chosen) -> sparse.csr_array:
        """Return nodes with the root and all ancestors: sparse bool, (n_samples, n_nodes)."""
        if self.form.several:
            return add_root(chosen)
        return sparse.csr_array(self.hierarchy.closure[chosen])

    def write(self, chosen: Chosen, index: Any, listed: sparse.csr_array | None = None) -> Any:
        """Write the predictions: all chosen nodes if y lists ancestors, else the most specific.

        Nodes of `listed`, sparse bool of shape (n_samples, n_nodes), are written, too, even if they
        are above others.
        """
        if not self.form.several:
            return self.write_nodes(chosen, index)
        nodes = self._writable(chosen)
        if not self.form.lists_ancestors:
            nodes = NodeLabels(self.hierarchy, nodes, self.form).specific
            if listed is not None:
                nodes = sparse.csr_array(nodes + self._writable(listed))
                nodes.sort_indices()
        if self.form.kind == "indicator" and self.lists_root:
            nodes = add_root(nodes)
        return self.form.write_sets(nodes.indptr, nodes.indices, self.hierarchy, index)

    def write_nodes(self, nodes: IntArray, index: Any) -> Any:
        """Write one node per row, with its ancestors where y lists them."""
        return self.form.write_answers(nodes, self.hierarchy, index)

    def _writable(self, chosen: sparse.csr_array) -> sparse.csr_array:
        """Return the chosen nodes that the form of y can write: of a matrix, its columns."""
        if self.form.columns is not None:
            chosen.data &= np.isin(chosen.indices, self.form.columns)
            chosen.eliminate_zeros()
        return chosen

    # ------------------------------------------------------------------ probabilities

    def label_proba(self, table: FloatArray) -> FloatArray:
        """Return probabilities of the labels; 0 for a node without rows."""
        return self.columns.pick(table, self.class_nodes)

    def arrange(self, proba: FloatArray) -> Any:
        """Return label probabilities as users get them: unchanged."""
        return proba

    def node_proba(self, table: FloatArray, nodes: IntArray) -> FloatArray:
        """Return probabilities of nodes; that of the root is 1."""
        return self.columns.pick(table, nodes)

    def best_labels(self, table: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return nodes and probabilities of the `k` most probable labels, best first.

        A label is ranked by the probability that a row lists it, not that it lists anything below
        it: else the first labels of most rows would be the top of the hierarchy.
        """
        return best_of(self.own_proba(table), self.class_nodes, k)

    def own_proba(self, table: FloatArray) -> FloatArray:
        """Return probabilities that rows list a label itself: (n_samples, n_classes).

        A row for which a node is true, and none of its children, lists the node; of the other
        ones, a share of the training rows did (`own_shares`). The probability that a child is
        true, given the node, is ``1 - prod(1 - p_child / p_node)``.
        """
        proba = self.columns.pick(table, self.class_nodes)
        if self.own_shares is None:
            return proba
        label = np.full(self.columns.n_columns, -1)
        place = self.columns.place(self.class_nodes)
        label[place[place >= 0]] = np.flatnonzero(place >= 0)
        edges = self.columns.edges[label[self.columns.edges[:, 0]] >= 0]
        edges = edges[self.own_shares[label[edges[:, 0]]] < 1.0]
        if not len(edges):
            return proba
        edges = edges[np.argsort(edges[:, 0], kind="stable")]
        first = np.flatnonzero(np.diff(edges[:, 0], prepend=-1))
        node = np.asarray(table[:, edges[:, 0]], dtype=np.float64)
        ratio = np.divide(table[:, edges[:, 1]], node, out=np.zeros_like(node), where=node > 0)
        none = np.multiply.reduceat(1.0 - np.minimum(ratio, 1.0), first, axis=1)
        inner = label[edges[first, 0]]
        proba[:, inner] *= none + (1.0 - none) * self.own_shares[inner]
        return proba

    def margins(
        self, scores: FloatArray, to_classes: Callable[[FloatArray], FloatArray] | None = None
    ) -> FloatArray:
        """Return the scores of the labels' nodes: (n_samples, n_classes)."""
        return self.columns.pick(scores, self.class_nodes, root=np.inf, absent=-np.inf)

    # ------------------------------------------------------------------ scoring

    def are_right(self, chosen: Chosen, y: Any, *, is_given: bool) -> NDArray[np.bool_]:
        """Return whether all nodes of a row are the chosen ones, ancestors included.

        Parameters
        ----------
        chosen : as from `decide`
        y : labels of n_samples rows
        is_given : bool
            Whether the user set the hierarchy, so that a label that it lacks is an error.
        """
        form, hierarchy = self.form, self.hierarchy
        if not form.several:
            return np.asarray(chosen == true_nodes(hierarchy, form, y, is_given))
        if form.kind == "indicator":
            y = lists_as_matrix(y, hierarchy)
        known: Any = True
        if is_given:
            true = NodeLabels.encode(y, hierarchy).closed
        else:
            true, known = closed_on(hierarchy, y, form.columns)
        predicted = self._writable(chosen)
        compared: NDArray[np.signedinteger[Any]] = np.arange(1, hierarchy.n_nodes)
        if not form.lists_ancestors:
            predicted = NodeLabels(hierarchy, predicted, form).closed
        elif form.columns is not None:
            compared = form.columns[form.columns > 0]
        wrong = sparse.csr_array(predicted[:, compared] != true[:, compared])
        return np.asarray((np.diff(wrong.indptr) == 0) & known)


class NodeRoute:
    """The route that coherent probabilities of nodes imply for one path per row.

    The options of a family share the probability of their parent; a label that has children takes
    what they leave.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        Columns are the active nodes of a `LabelSpace`, in its order, without the root.
    """

    def __init__(self, proba: Any) -> None:
        self._proba = proba

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        """Return probabilities of shape (n_rows, n_options); see `Route`."""
        proba = self._proba if rows is None else self._proba[rows]
        values = proba[:, options - 1].astype(np.float64)
        if options[0] == parent:
            values[:, 0] = np.maximum(values[:, 0] - values[:, 1:].sum(axis=1), 0.0)
        return normalize_rows(values)


# ---------------------------------------------------------------------- labels


def label_order(names: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order of labels: names are sorted, as scikit-learn expects; paths stay."""
    if isinstance(names[0], tuple):
        return np.arange(len(names))
    if names.dtype != object:
        return np.argsort(names, kind="stable")
    rank = {name: i for i, name in enumerate(sorted_labels(names.tolist()))}
    return np.argsort([rank[name] for name in names.tolist()], kind="stable")


def labels_listed(labels: NodeLabels) -> tuple[NDArray[Any], IntArray]:
    """Return the labels that occur, and their nodes: both of shape (n_labels,).

    Those of an indicator matrix are its columns, in their order, also if no row has them.
    """
    form, hierarchy = labels.form, labels.hierarchy
    if form.columns is not None:
        names = np.empty(len(form.columns), dtype=object)
        names[:] = [form.spell(node, hierarchy) for node in form.columns.tolist()]
        # the dtype of the zeros and ones is not that of the names
        return as_dtype(names, np.dtype(np.int64)), form.columns
    nodes = nodes_in(labels.given)
    names = form.class_labels(nodes, hierarchy)
    order = label_order(names)
    return names[order], nodes[order]


def own_shares_of(labels: NodeLabels) -> FloatArray:
    """Return how often rows with something below a node list the node, too: (n_nodes,).

    Examples
    --------
    >>> y = [{"animal"}, {"animal", "cat"}, {"cat"}]
    >>> h = Hierarchy.from_paths([("animal", "cat")])
    >>> own_shares_of(NodeLabels.encode(y, h)).tolist()
    [0.0, 0.5, 0.0]
    """
    given, closed, ends = (
        np.bincount(sets.indices, minlength=labels.hierarchy.n_nodes)
        for sets in (labels.given, labels.closed, labels.specific)
    )
    below = closed - ends  # rows with a child of the node
    shares: FloatArray = np.divide(given - ends, below, out=np.zeros(len(below)), where=below > 0)
    return shares


def best_of(proba: FloatArray, nodes: IntArray, k: int) -> tuple[IntArray, FloatArray]:
    """Return the nodes and probabilities of the `k` best columns but the root, best first.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
    nodes : int array of shape (n_columns,)
    k : int
    """
    if (nodes == 0).any():
        proba, nodes = proba[:, nodes > 0], nodes[nodes > 0]
    chosen = top_classes(proba, k)
    return nodes[chosen], np.take_along_axis(proba, chosen, axis=1)


def nodes_in(sets: sparse.csr_array) -> IntArray:
    """Return the nodes below the root that occur in sparse sets of nodes, ascending."""
    counts = np.bincount(sets.indices, minlength=1)
    counts[0] = 0
    return np.flatnonzero(counts).astype(np.int32)


def lists_as_matrix(y: Any, hierarchy: Hierarchy | None) -> Any:
    """Convert lists of 0 and 1 to an indicator matrix, as scikit-learn does; others are paths.

    Examples
    --------
    >>> lists_as_matrix([[0, 1], [1, 1]], None)
    array([[0, 1], [1, 1]])
    >>> lists_as_matrix([[2019, 1], [2020, 1]], None)
    [[2019, 1], [2020, 1]]
    """
    if not isinstance(y, list) or not all(isinstance(row, list | np.ndarray) for row in y):
        return y
    if len(set(map(len, y))) != 1 or not all(isinstance(cell, Real) for cell in y[0]):
        return y
    matrix = np.asarray(y)
    is_numeric = matrix.ndim == 2 and matrix.shape[1] > 1 and matrix.dtype.kind in "biuf"
    return matrix if is_numeric and is_indicator(matrix, Container("numpy"), hierarchy) else y


def true_nodes(hierarchy: Hierarchy, form: LabelForm, y: Any, is_given: bool) -> IntArray:
    """Return the most specific node of every row of y, for one path per row: int (n_samples,).

    Parameters
    ----------
    hierarchy : Hierarchy
    form : LabelForm
        Of the labels that a model was fitted on.
    y : labels of n_samples rows
    is_given : bool
        Whether the user set the hierarchy. A label that it lacks is then an error; otherwise its
        rows get -1.
    """
    if form.kind == "indicator":
        y = lists_as_matrix(y, hierarchy)
    if is_given:
        return NodeLabels.encode(y, hierarchy).terminals
    labels = NodeLabels.encode(y, flat=True)
    seen, codes = np.unique(labels.terminals, return_inverse=True)
    names = labels.form.class_labels(seen, labels.hierarchy)
    known = [hierarchy.index(name) if name in hierarchy else -1 for name in as_list(names)]
    return np.asarray(known, dtype=np.int32)[codes]


def closed_on(
    hierarchy: Hierarchy, y: Any, columns: IntArray | None = None
) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
    """Read labels on a hierarchy that may lack some of them.

    Parameters
    ----------
    hierarchy : Hierarchy
    y : labels of n_samples rows
    columns : int array of shape (n_columns,), optional
        Nodes of the columns of a matrix whose columns have no names.

    Returns
    -------
    closed : sparse bool array of shape (n_samples, n_nodes)
        Labels that the hierarchy has, and their ancestors.
    known : bool array of shape (n_samples,)
        Whether the hierarchy has all labels of a row.
    """
    labels = NodeLabels.encode(y, flat=True)
    if labels.form.kind == "indicator":
        container, nodes = labels.form.container, labels.given.indices
        unnamed = container.columns is None or container.is_numbered
        if columns is not None and unnamed and labels.form.width == len(columns):
            given = node_csr(columns[nodes - 1], labels.given.indptr, hierarchy.n_nodes)
            labels = NodeLabels(hierarchy, given, labels.form)
        else:
            labels = NodeLabels.encode(y, hierarchy)
        return labels.closed, np.ones(len(labels), dtype=bool)
    seen, codes = np.unique(labels.given.indices, return_inverse=True)
    names = labels.form.class_labels(seen, labels.hierarchy)
    numbers = [hierarchy.index(name) if name in hierarchy else -1 for name in as_list(names)]
    nodes = np.asarray(numbers, dtype=np.int32)[codes]
    rows = np.repeat(np.arange(len(labels)), np.diff(labels.given.indptr))
    there = nodes >= 0
    known = np.bincount(rows, ~there, minlength=len(labels)) == 0
    flags = np.ones(int(there.sum()), dtype=bool)
    shape = (len(labels), hierarchy.n_nodes)
    given = sparse.csr_array((flags, (rows[there], nodes[there])), shape=shape)
    return NodeLabels(hierarchy, given, labels.form).closed, known
