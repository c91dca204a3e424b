"""How `ClassTreeClassifier` fits and answers with label sets: functions of the classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, count_rows, take_rows
from palmette.base._answers import lists_as_matrix
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
from palmette.class_tree._chosen_router import ChosenRouter
from palmette.class_tree._k_means_tree import KMeansTree
from palmette.class_tree._label_tree import LabelTree, LabelTreeFit, set_router
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._routing import Router
from palmette.class_tree._set_routing import Divide, LabelOptions, TermScale
from palmette.decisions._thresholds import Threshold
from palmette.decisions._tuned import is_label_rule
from palmette.exceptions import LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.persistence.checks import require

SEARCHES = ("beam", "greedy", "exact")


def read_sets(model: Any, y: Any, used: Any) -> NodeLabels | None:
    """Return the label sets of used rows; None if every row has one path.

    Parameters
    ----------
    model : ClassTreeClassifier
    y : labels of n_samples rows
    used : bool array of shape (n_samples,), optional
    """
    tree = model._make_tree()
    is_given = isinstance(tree, Hierarchy)
    if isinstance(y, NodeLabels):
        labels = y
    else:
        y = check_target(lists_as_matrix(y, tree if is_given else None))
        column = label_column(y)
        if column.ndim == 1 and not has_rows_of_labels(column):
            return None
        labels = NodeLabels.encode(y, tree) if is_given else NodeLabels.encode(y, flat=True)
    if not labels.form.several:
        return None
    if used is not None:
        labels = NodeLabels(labels.hierarchy, labels.given[used], labels.form)
    learns = tree is not None and not is_given
    return labels if learns or is_label_rule(model.decoding) or has_several(labels) else None


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
    learns = tree is not None and not isinstance(tree, Hierarchy)
    if learns or (tree is None and labels.hierarchy.depth.max() <= 1):
        learner = KMeansTree() if tree is None else tree
        labels = _learn_tree(model, learner, X, labels, weights, rng, chooses)
        learns = True
    answers, targets = node_target(labels)
    model._set_answers(answers)
    divide = None if learns else _divide_wide_nodes(X, targets, weights, chooses)
    is_star = bool(labels.hierarchy.depth.max() <= 1)
    exponent = float(model.calibration) if isinstance(model.calibration, Real) else None
    with Threads(model.n_jobs) as threads:
        found = LabelTreeFit(
            LabelOptions.of(answers.columns, targets, divide),
            targets,
            weights,
            linear,
            chooses,
            learns or is_star,
            2 * model.beam_width,
            exponent,
            model.decoding in SEARCHES,
            0 if rng is None else int(rng.randint(2**31 - 1)),
            threads.map,
        ).fit(X)
    model.label_tree_, model.router_, model.router_scores_ = found
    model.options_, model.routes_ = model.label_tree_.table, model.label_tree_.routes
    model.exponent_, model.threshold_ = model.label_tree_.exponent, model.label_tree_.threshold


def takes_sets(router: Router) -> bool:
    """Return whether a router has a form for label sets: only linear classifiers have."""
    if isinstance(router, LinearRouter):
        return (router.against, router.siblings) == ("rest", False)
    return isinstance(router, ChosenRouter)


def _router_of_sets(setting: Any, router: Any, labels: NodeLabels, X: Any) -> LinearRouter:
    """Return the router for label sets."""
    if not takes_sets(router):
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
    weights: FloatArray | None,
    rng: Any,
    chooses: bool,
) -> NodeLabels:
    """Learn a tree over the labels, and return the labels as its leaves."""
    if not getattr(learner, "learns_from_label_sets", False):
        raise LabelError(
            f"tree={learner!r} is learnt over labels, but y has label sets: expected one label per "
            "row, or a learner that takes label sets, such as palmette.KMeansTree()."
        )
    if rng is not None and "random_state" in learner.get_params():
        learner.set_params(random_state=int(rng.randint(2**31 - 1)))
    model.hierarchy_learner_ = learner.fit(
        _rows_of_tree(X, weights, chooses), labels, sample_weight=weights
    )
    encoded: NodeLabels = learner.encode(labels)
    return encoded


def _rows_of_tree(X: Any, weights: FloatArray | None, chooses: bool) -> Any:
    """Return the rows that a tree over labels is learnt from: sparse ones of length one."""
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


def decide_sets(model: Any, X: Any) -> sparse.csr_array | None:
    """Choose the nodes of rows that have been read: sparse bool, (n_samples, n_nodes).

    None if the classifier has another rule than its own threshold.
    """
    if model.decoding not in SEARCHES:
        return None
    beam, tree = _beam(model), model.label_tree_
    if beam is None:
        chosen: sparse.csr_array = model._answers.decide(
            model._tables(X), Threshold(tree.threshold)
        )
        return chosen
    columns, proba = _search(model, X, tree.n_answers, beam)
    row, place = np.nonzero((columns >= 0) & (proba > tree.threshold))
    return closed_sets(model, row, model._answers.nodes[columns[row, place]], count_rows(X))


def closed_sets(model: Any, rows: Any, nodes: Any, n_samples: int) -> sparse.csr_array:
    """Return nodes that are chosen for rows, with their ancestors: bool, (n_samples, n_nodes)."""
    flags = np.ones(len(rows), dtype=bool)
    shape = (n_samples, model.hierarchy_.n_nodes)
    found = sparse.csr_array((flags, (rows, nodes)), shape=shape)
    closed = sparse.csr_array(NodeLabels(model.hierarchy_, found, model.label_form_).closed)
    closed.data &= closed.indices > 0  # without the root
    closed.eliminate_zeros()
    return closed


def best_of_sets(model: Any, X: Any, k: int) -> tuple[Any, FloatArray] | None:
    """Return nodes and probabilities of the best labels; None if all nodes must be evaluated."""
    beam = _beam(model) if model.decoding in SEARCHES else _beam(model, "beam")
    if beam is None:
        return None
    columns, proba = _search(model, X, k, beam)
    wanted = min(k, len(model._answers.class_nodes))
    if columns.shape[1] < wanted or (columns < 0).any():  # the beam reached too few labels
        return None
    return model._answers.nodes[columns], proba


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

    def find(part: Any) -> tuple[Any, FloatArray]:
        return tree.best(model._rows_of(model._prepare(part)), k, beam)

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
        classes.append(number[model._answers.nodes[columns[row, place]]])
        votes.append(proba[row, place] / len(models))
    every = np.concatenate(votes), (np.concatenate(rows), np.concatenate(classes))
    return sparse.coo_array(every, (count_rows(X), len(models[0].classes_))).tocsr()


def check_sets(model: Any) -> None:
    """Check the label tree of a classifier that was read from a file."""
    tree = model.label_tree_
    require(isinstance(tree, LabelTree), "label_tree_ is no LabelTree")
    fits = tree.routes.n_features == model.n_features_in_ or hasattr(model, "feature_map_")
    require(fits, "the routes have another number of features")
    require(model._answers.by_node, "a model of one path per row has a label tree")
    fits = tree.n_columns == len(model._answers.nodes)
    require(fits, "the label tree has another number of nodes than the model")
