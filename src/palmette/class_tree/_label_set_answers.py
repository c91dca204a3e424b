"""How `ClassTreeClassifier` fits and answers with label sets: functions of the classifier."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, count_rows, take_rows
from palmette.base._answers import best_of, lists_as_matrix, nodes_in
from palmette.base._fitting import (
    Threads,
    check_target,
    has_rows_of_labels,
    has_several,
    label_column,
    node_target,
)
from palmette.base._grow import GrownTree, grow_class_tree
from palmette.base._label_sets import LabelSetsProblem
from palmette.base._one_path import check_single_paths
from palmette.class_tree._boosted_router import BoostedRouter
from palmette.class_tree._chosen_router import ChosenRouter
from palmette.class_tree._k_means_tree import KMeansTree
from palmette.class_tree._label_tree import LabelTree, LabelTreeFit, set_router
from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._routing import Router
from palmette.class_tree._set_routing import Divide, LabelOptions, TermScale
from palmette.decisions._thresholds import Threshold
from palmette.decisions._tuned import is_label_rule
from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import Container
from palmette.labels._forms import LabelForm, node_csr
from palmette.labels._labels import NodeLabels
from palmette.persistence.checks import require

SEARCHES = ("beam", "greedy", "exact")
_MANY_LABELS = 10  # labels per row from which groups of labels are larger
_LARGE_LEAVES = 300


def read_sets(model: Any, y: Any, used: Any) -> NodeLabels | None:
    """Return the label sets of used rows; None if every row has one path.

    Parameters
    ----------
    model : ClassTreeClassifier
    y : labels of n_samples rows
    used : bool array of shape (n_samples,), optional
    """
    tree = model._make_tree()
    given = _closure_of(model, tree)
    if given is None and isinstance(tree, Hierarchy):
        given = tree
    labels = None
    if isinstance(y, NodeLabels):
        labels = y
    else:
        y = check_target(lists_as_matrix(y, given))
        column = label_column(y)
        if column.ndim != 1 or has_rows_of_labels(column):
            flat = given is None
            labels = NodeLabels.encode(y, flat=True) if flat else NodeLabels.encode(y, given)
    if labels is None or not labels.form.several:
        return None
    if used is not None:
        labels = NodeLabels(labels.hierarchy, labels.given[used], labels.form)
    learns = model.closure is not None or (tree is not None and not isinstance(tree, Hierarchy))
    return labels if learns or is_label_rule(model.decoding) or has_several(labels) else None


def _closure_of(model: Any, tree: Any) -> Hierarchy | None:
    """Return the hierarchy along which answers are closed, if any."""
    given = model.closure
    if given is not None and not isinstance(given, Hierarchy):
        raise HierarchyError(
            f"closure is a {type(given).__name__}: expected a palmette.Hierarchy or None."
        )
    if given is not None and isinstance(tree, Hierarchy):
        raise HierarchyError(
            "both tree and closure are hierarchies: expected tree=None or a learner of a tree with "
            "closure, since answers along a given tree are closed anyway."
        )
    return given


def fit_sets(
    model: Any, X: Any, labels: NodeLabels, weights: FloatArray | None, router: Router, rng: Any
) -> None:
    """Fit the label tree of a classifier, and set its attributes.

    Parameters
    ----------
    model : ClassTreeClassifier
    X : array or CSR matrix of shape (n_samples, n_features)
    labels : NodeLabels
    weights : array of shape (n_samples,), optional
        All positive.
    router : Router
    rng : RandomState or None
    """
    if model.decoding not in SEARCHES:
        model._threshold_rule()  # raises an error for a rule of one path
    chooses = isinstance(router, ChosenRouter) or model.router == "linear"
    linear = _router_of_sets(model.router, router, labels, X)
    tree = model._make_tree()
    learns = model.closure is not None or (tree is not None and not isinstance(tree, Hierarchy))
    if learns or (tree is None and labels.hierarchy.depth.max() <= 1):
        learner = _default_tree(labels) if tree is None else tree
        grow = partial(_learn_tree, model, learner, X, weights=weights, rng=rng, chooses=chooses)
        problem = _learnt(model, labels, grow)
        learns = True
    else:
        problem = _along_given(model, X, labels, weights, chooses)
    is_star = bool(labels.hierarchy.depth.max() <= 1)
    exponent = float(model.calibration) if isinstance(model.calibration, Real) else None
    listed = np.concatenate([[0], np.cumsum(labels.given.indices > 0)])[labels.given.indptr]
    each = np.diff(listed)  # labels per row
    with Threads(model.n_jobs) as threads:
        found = LabelTreeFit(
            problem.options,
            problem.targets,
            weights,
            linear,
            chooses,
            learns or is_star,
            2 * model.beam_width,
            exponent,
            model.decoding in SEARCHES,
            0 if rng is None else int(rng.randint(2**31 - 1)),
            threads.map,
            problem.nodes,
            problem.n_whole,
            int(each.min() > 0),
            int(each.min() == 1 and each.max() == 1),
        ).fit(X)
    model.label_tree_, model.router_, model.router_scores_ = found
    model.options_, model.routes_ = model.label_tree_.table, model.label_tree_.routes
    model.exponent_, model.threshold_ = model.label_tree_.exponent, model.label_tree_.threshold


def _default_tree(labels: NodeLabels) -> KMeansTree:
    """Return the learner of a tree over label sets.

    Rows with many labels reach most groups anyway: small ones save little time there.
    """
    each = np.diff(labels.given.indptr)
    many = int(each.sum()) >= _MANY_LABELS * max(1, int(np.count_nonzero(each)))
    return KMeansTree(leaf_size=_LARGE_LEAVES) if many else KMeansTree()


class _Problem(NamedTuple):
    """The options of a tree and what is true of rows; see `LabelTreeFit`."""

    options: LabelOptions
    targets: sparse.csr_array
    nodes: NDArray[np.int32] | None = None
    n_whole: int = 0


def _learnt(model: Any, labels: NodeLabels, grow: Any) -> _Problem:
    """Learn a tree over the labels, and set the answers of a model."""
    if model.closure is None:
        answers, targets = node_target(grow(labels))
        model._set_answers(answers)
        return _Problem(LabelOptions.of(answers.columns, targets), targets)
    answers, _ = node_target(labels)  # raises the errors of labels, too
    model._set_answers(answers)
    nodes = answers.class_nodes[np.isin(answers.class_nodes, nodes_in(labels.given))]
    star = Hierarchy.star(range(len(nodes)))  # in the order of the labels
    column = np.zeros(labels.hierarchy.n_nodes, dtype=np.int32)
    column[nodes] = star.index(list(range(len(nodes))))
    below = labels.given.indices > 0
    starts = np.concatenate([[0], np.cumsum(below)])[labels.given.indptr]
    given = node_csr(column[labels.given.indices[below]], starts, star.n_nodes)
    form = LabelForm("sets", Container("list"), row_type=set)
    inside, targets = node_target(grow(NodeLabels(star, given, form)))
    options = LabelOptions.of(inside.columns, targets)
    leaves = inside.nodes[options.leaves]
    own = nodes[inside.hierarchy.names[leaves].astype(np.int64)]
    return _Problem(options.over_leaves(), sparse.csr_array(targets[:, options.leaves]), own)


def _along_given(
    model: Any, X: Any, labels: NodeLabels, weights: FloatArray | None, chooses: bool
) -> _Problem:
    """Return the options of a given hierarchy; inner nodes that are labels have two."""
    answers, targets = node_target(labels)
    model._set_answers(answers)
    columns = answers.columns
    shares: Any = answers.own_shares
    listed = columns.place(answers.class_nodes[shares < 1.0])
    own: Any = np.intersect1d(listed, columns.edges[:, 0]).astype(np.intp)
    own = own[np.isin(answers.nodes[own], labels.given.indices)]
    if not len(own):
        divide = _divide_wide_nodes(X, targets, weights, chooses)
        return _Problem(LabelOptions.of(columns, targets, divide), targets)
    very = labels.given[:, answers.nodes[own]]
    targets = sparse.csr_array(sparse.hstack([targets, very], format="csr"))
    divide = _divide_wide_nodes(X, targets, weights, chooses)
    nodes = np.concatenate([answers.nodes, answers.nodes[own]])
    options = LabelOptions.of(columns, targets, divide, own)
    return _Problem(options, targets, nodes, len(answers.nodes))


def takes_sets(router: Router) -> bool:
    """Return whether a router has a form for label sets: only linear classifiers have."""
    if isinstance(router, LinearRouter):
        return (router.against, router.siblings) == ("rest", False)
    return isinstance(router, ChosenRouter)


def _router_of_sets(setting: Any, router: Any, labels: NodeLabels, X: Any) -> LinearRouter:
    """Return the router for label sets."""
    if not takes_sets(router):
        if isinstance(router, BoostedRouter):
            check_single_paths(labels, router.used_by)
        n_paths = np.diff(labels.specific.indptr)
        raise LabelError(
            f"{np.count_nonzero(n_paths != 1)} of {len(n_paths)} rows do not have one path, but "
            f"router={setting!r} takes one label per row: expected 'auto', 'linear', 'logistic' or "
            "palmette.routing.LinearRouter with against='rest' and siblings=False."
        )
    if isinstance(router, ChosenRouter) or setting == "linear":
        return set_router(sparse.issparse(X))
    if setting == "logistic":
        return set_router(sparse.issparse(X), "logistic")
    linear: LinearRouter = router
    return linear


def _learn_tree(
    model: Any,
    learner: Any,
    X: Any,
    labels: NodeLabels,
    *,
    weights: FloatArray | None,
    rng: Any,
    chooses: bool,
) -> NodeLabels:
    """Learn a tree over the labels, and return the labels as its leaves."""
    if not getattr(learner, "learns_from_label_sets", False):
        raise LabelError(
            f"tree={learner!r} is learned over labels, but y has label sets: expected one label "
            "per row, or a learner that takes label sets, such as palmette.KMeansTree()."
        )
    if rng is not None and "random_state" in learner.get_params():
        learner.set_params(random_state=int(rng.randint(2**31 - 1)))
    size = learner.leaf_size if isinstance(learner, KMeansTree) else 0
    is_whole = isinstance(size, Integral) and labels.hierarchy.n_nodes <= size
    rows = X if is_whole else _rows_of_tree(X, weights, chooses)  # a whole one needs no rows
    if type(learner).fit is ClassTreeLearner.fit:
        model.hierarchy_learner_ = learner.fit_read(rows, labels, weights)
    else:
        model.hierarchy_learner_ = learner.fit(rows, labels, sample_weight=weights)
    encoded: NodeLabels = learner.encode(labels)
    return encoded


def _rows_of_tree(X: Any, weights: FloatArray | None, chooses: bool) -> Any:
    """Return the rows that a tree over labels is learned from: sparse ones of length one."""
    if not chooses or not sparse.issparse(X):
        return X
    return TermScale(not (X.data < 0).any()).fit(X, weights).transform(X)


def _divide_wide_nodes(
    X: Any, targets: sparse.csr_array, weights: FloatArray | None, chooses: bool
) -> Divide:
    """Return a function that learns groups of the children of a node if it has many."""
    columns, learner = sparse.csc_array(targets), KMeansTree()
    rows: list[Any] = []  # scaled when the first wide node is found

    def divide(children: NDArray[np.intp]) -> GrownTree | None:
        if len(children) <= learner.leaf_size:
            return None
        if not rows:
            rows.append(_rows_of_tree(X, weights, chooses))
        members = sparse.csr_array(columns[:, children])
        problem = LabelSetsProblem(rows[0], members, weights)
        return grow_class_tree(learner._partition(), problem, leaf_size=learner.leaf_size)

    return divide


# ---------------------------------------------------------------------- prediction


Decision = tuple[sparse.csr_array, sparse.csr_array | None]


def decide_sets(model: Any, X: Any) -> Decision | None:
    """Choose the nodes of rows that have been read.

    Returns
    -------
    closed : sparse bool array of shape (n_samples, n_nodes)
        The nodes with their ancestors.
    listed : sparse bool array of shape (n_samples, n_nodes) or None
        Labels that were chosen themselves, also those above others. None if only leaves can be.
    None, if the classifier has another rule than its own threshold.
    """
    if model.decoding not in SEARCHES:
        return None
    tree = model.label_tree_
    if tree.max_labels == 1:
        return one_label_each(model, X)
    return fill_empty_sets(model, X, _decide_any(model, X), tree.min_labels)


def _decide_any(model: Any, X: Any) -> Decision:
    """Choose the nodes above the threshold, any number per row."""
    beam, tree, n = _beam(model), model.label_tree_, count_rows(X)
    if beam is None and tree.has_whole_nodes:
        return _decide_whole(model, X)
    # labels alone are decided, and closed
    if beam is None:
        proba = np.concatenate([_proba_of_columns(model, part) for part in model._parts(X)])
        columns = np.broadcast_to(np.arange(tree.n_columns), proba.shape)
    else:
        columns, proba = _search(model, X, tree.n_answers, beam)
    row, place = np.nonzero((columns >= 0) & (proba > tree.threshold))
    nodes = _nodes(model)[columns[row, place]]
    listed = None if tree.nodes is None else node_sets(model, row, nodes, n)
    return closed_sets(model, row, nodes, n), listed


def one_label_each(model: Any, X: Any) -> Decision:
    """Choose the most probable label of every row."""
    nodes, rows = model._top_k(X, 1)[0][:, 0], np.arange(count_rows(X))
    return closed_sets(model, rows, nodes, len(rows)), node_sets(model, rows, nodes, len(rows))


def fill_empty_sets(model: Any, X: Any, decision: Decision, min_labels: int) -> Decision:
    """Choose the most probable label where none was chosen, if `min_labels` is 1."""
    closed, listed = decision
    written, columns = closed.indices, model.label_form_.columns
    rows = np.repeat(np.arange(closed.shape[0]), np.diff(closed.indptr))
    if columns is not None:  # a matrix may lack columns for inner nodes
        rows = rows[np.isin(written, columns)]
    empty = np.setdiff1d(np.arange(closed.shape[0]), rows)
    if not min_labels or not len(empty):
        return decision
    nodes = model._top_k(take_rows(X, empty), 1)[0][:, 0]
    closed = sparse.csr_array(closed + closed_sets(model, empty, nodes, closed.shape[0]))
    if listed is not None:
        listed = sparse.csr_array(listed + node_sets(model, empty, nodes, closed.shape[0]))
    return closed, listed


def _decide_whole(model: Any, X: Any) -> Decision:
    """Choose nodes along a given hierarchy, and labels of inner nodes that are listed as such."""
    tree, rule = model.label_tree_, Threshold(model.label_tree_.threshold)
    if tree.nodes is None:
        return model._answers.decide(model._tables(X), rule), None
    own = []

    def tables() -> Iterator[FloatArray]:
        for part in model._parts(X):
            proba = _proba_of_columns(model, part)
            own.append(sparse.csr_array(proba[:, tree.n_whole :] > tree.threshold))
            whole = tree.whole_proba(proba, model._answers.columns)
            yield np.asarray(model._answers.table_from_nodes(whole, model._dag_rule()))

    closed = model._answers.decide(tables(), rule)
    found = sparse.csr_array(sparse.vstack(own)).tocoo()
    row, column = found.coords
    listed = node_sets(model, row, tree.nodes[tree.n_whole :][column], count_rows(X))
    return closed, sparse.csr_array(listed.multiply(closed))  # a rule may have left nodes out


def node_sets(model: Any, rows: Any, nodes: Any, n_samples: int) -> sparse.csr_array:
    """Return nodes of rows as a sparse bool array of shape (n_samples, n_nodes)."""
    shape = (n_samples, model.hierarchy_.n_nodes)
    return sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, nodes)), shape=shape)


def closed_sets(model: Any, rows: Any, nodes: Any, n_samples: int) -> sparse.csr_array:
    """Return nodes that are chosen for rows, with their ancestors: bool, (n_samples, n_nodes)."""
    found = node_sets(model, rows, nodes, n_samples)
    closed = sparse.csr_array(NodeLabels(model.hierarchy_, found, model.label_form_).closed)
    closed.data &= closed.indices > 0  # without the root
    closed.eliminate_zeros()
    return closed


def best_of_sets(model: Any, X: Any, k: int) -> tuple[Any, FloatArray] | None:
    """Return nodes and probabilities of the best labels; None if those of all nodes tell them."""
    beam = _beam(model) if model.decoding in SEARCHES else _beam(model, "beam")
    wanted = min(k, np.count_nonzero(model._answers.class_nodes))
    if beam is not None:
        columns, proba = _search(model, X, k, beam)
        if columns.shape[1] >= wanted and (columns >= 0).all():
            return _nodes(model)[columns], proba
        # the beam reached too few labels
    tree, labels = model.label_tree_, model._answers.class_nodes
    if tree.nodes is None:
        return None
    parts = [
        best_of(tree.own_proba(_proba_of_columns(model, part), labels), labels, k)
        for part in model._parts(X)
    ]
    nodes, scores = zip(*parts, strict=True)
    return np.concatenate(nodes), np.concatenate(scores)


def _proba_of_columns(model: Any, X: Any) -> FloatArray:
    return np.asarray(model.label_tree_.proba(model._rows_of(model._prepare(X))))


def _nodes(model: Any) -> Any:
    """Return the node of every column of a label tree."""
    nodes = model.label_tree_.nodes
    return model._answers.nodes if nodes is None else nodes


def _beam(model: Any, search: str | None = None) -> int | None:
    """Return the beam width of a search for labels; None if all nodes are evaluated."""
    search = model.decoding if search is None else search
    if not model.label_tree_.searches:
        return None
    if search == "beam":
        model._check_width()
        return 2 * int(model.beam_width)
    return 1 if search == "greedy" else None


def _search(model: Any, X: Any, k: int, beam: int) -> tuple[Any, FloatArray]:
    """Return the columns and probabilities of the best labels, of shape (n_samples, k)."""
    tree: LabelTree = model.label_tree_

    # a group of a learned DAG is a leaf of the tree if all its labels are below other groups, too
    is_label = np.isin(_nodes(model), model._answers.class_nodes)
    n_groups = int(np.count_nonzero(~is_label[tree.leaves]))

    def find(part: Any) -> tuple[Any, FloatArray]:
        columns, proba = tree.best(model._rows_of(model._prepare(part)), k + n_groups, beam)
        if not n_groups:
            return columns, proba
        no_answer = (columns < 0) | ~is_label[columns]
        columns = np.where(no_answer, -1, columns)
        order = np.argsort(no_answer, axis=1, kind="stable")[:, :k]
        found = np.take_along_axis(columns, order, 1), np.take_along_axis(proba, order, 1)
        return found[0], np.where(found[0] < 0, 0.0, found[1])

    per_row = 2 * max(k, beam) * int(tree.table.sizes.max())  # numbers held in memory
    with Threads(model.n_jobs) as threads:
        share = -(-count_rows(X) // threads.n_threads)
        starts = range(0, count_rows(X), share)
        pieces = [take_rows(X, slice(start, start + share)) for start in starts]
        parts = [part for each in pieces for part in model._parts(each, per_row)]
        columns, proba = zip(*threads.map(find, parts), strict=True)
    return np.concatenate(columns), np.concatenate(proba)


def votes_for_sets(models: list[Any], X: Any, k: int | None = None) -> sparse.csr_array | None:
    """Return mean probabilities of the labels that searches of several trees find.

    Parameters
    ----------
    models : list of ClassTreeClassifier
        Fitted on the same labels.
    X : rows that have been read
    k : int, optional
        Number of labels that every tree looks for at least.

    Returns
    -------
    sparse array of shape (n_samples, n_classes)
        Or None if all nodes must be evaluated.
    """
    rows, classes, votes = [], [], []
    for model in models:
        beam = _beam(model)
        if beam is None:
            return None
        columns, proba = _search(model, X, max(k or 1, model.label_tree_.n_answers), beam)
        row, place = np.nonzero(columns >= 0)
        number = np.full(model.hierarchy_.n_nodes, -1)
        number[model._answers.class_nodes] = np.arange(len(model._answers.class_nodes))
        rows.append(row)
        classes.append(number[_nodes(model)[columns[row, place]]])
        votes.append(proba[row, place] / len(models))
    every = np.concatenate(votes), (np.concatenate(rows), np.concatenate(classes))
    return sparse.coo_array(every, (count_rows(X), len(models[0].classes_))).tocsr()


def check_sets(model: Any) -> None:
    """Check the label tree of a classifier that was read from a file."""
    tree = model.label_tree_
    require(isinstance(tree, LabelTree), "label_tree_ is not a LabelTree")
    fits = tree.routes.n_features == model.n_features_in_ or hasattr(model, "feature_map_")
    require(fits, "the routes have another number of features")
    require(model._answers.by_node, "a model of one path per row has a label tree")
    nodes = model._answers.nodes
    if tree.nodes is not None:
        require(np.isin(tree.nodes, nodes), "a column of the label tree is not a node of the model")
    else:
        fits = tree.n_columns == len(nodes)
        require(fits, "the label tree has another number of nodes than the model")
