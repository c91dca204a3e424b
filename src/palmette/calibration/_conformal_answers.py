"""Conformal prediction: quantiles of calibration scores, and the answers that they allow.

`ConformalPaths` answers where rows have one path, `ConformalNodeSets` where they have several. Both
have the same methods, each for some rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.base._answers import NodeSets, OnePath
from palmette.base._parameters import is_number
from palmette.base._wrapping import WrappedClassifier
from palmette.calibration._chains import Chains
from palmette.calibration._nonconformity import (
    LABEL_SCORES,
    cover_of_sets,
    set_nonconformity,
)
from palmette.calibration._unseen import UnseenLabels, with_unseen_leaves
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import node_csr
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace
from palmette.persistence.checks import array, held

BoolArray = NDArray[np.bool_]

_TOLERANCE = 1e-9  # of sums of weights: 0.9 * 10 counts as 9 in spite of rounding


def check_coverage(coverage: float) -> float:
    """Raise an error unless the coverage is strictly between 0 and 1."""
    if not (is_number(coverage) and 0 < coverage < 1):
        raise PalmetteError(
            f"coverage={coverage!r}: expected a probability between 0 and 1, such as 0.9."
        )
    return float(coverage)


# ---------------------------------------------------------------------- quantiles


class CalibrationScores:
    """Nonconformity of the true labels of calibration rows, under models that had not seen them.

    Parameters
    ----------
    parts : list of arrays of shape (n_rows,)
        Scores by one model each.
    weights : list of arrays of shape (n_rows,)
        Of the same rows, with a mean of one over all parts: a new row then weighs as much as a
        calibration row does on average.

    Examples
    --------
    >>> nine = CalibrationScores([np.arange(1.0, 10.0)], [np.ones(9)])  # a new row is the tenth
    >>> nine.quantile(0.8), nine.quantile(0.9), nine.quantile(0.95)
    (8.0, 9.0, inf)
    """

    in_files: ClassVar = {
        "parts": held(list, each=(np.ndarray,)),
        "_reached": held(list, shape=("parts",), each=(np.ndarray,)),
    }

    def __init__(self, parts: list[FloatArray], weights: list[FloatArray]) -> None:
        orders = [np.argsort(scores, kind="stable") for scores in parts]
        self.parts = [scores[order] for scores, order in zip(parts, orders, strict=True)]
        self._reached = [
            np.concatenate([[0.0], np.cumsum(share[order])])  # weight of the k lowest
            for share, order in zip(weights, orders, strict=True)
        ]

    @property
    def scores(self) -> FloatArray:
        """All scores, ascending."""
        return np.sort(np.concatenate(self.parts))

    @property
    def total(self) -> float:
        """Total weight of the rows, which equals their number."""
        return float(sum(reached[-1] for reached in self._reached))

    @property
    def missed(self) -> float:
        """Weight of the rows with a label that no set can hold: their score is infinite."""
        return self.total - float(
            sum(
                reached[np.searchsorted(scores, np.inf)]
                for scores, reached in zip(self.parts, self._reached, strict=True)
            )
        )

    def can_keep(self, coverage: float) -> bool:
        """Return whether the quantile is finite: few enough rows have labels that are in no set."""
        return self._required_weight(coverage) <= self.total - self.missed

    def _required_weight(self, coverage: float) -> float:
        """Return the weight of the rows, out of n + 1, whose scores bound that of a new row."""
        return check_coverage(coverage) * (self.total + 1) - _TOLERANCE

    def suffices(self, coverage: float) -> bool:
        """Return whether there are enough rows for a finite quantile."""
        return self._required_weight(coverage) <= self.total

    def quantile(self, coverage: float) -> float:
        """Return the lowest score that a new row does not exceed with probability `coverage`.

        The score of one of n + 1 exchangeable rows is among the k lowest with a probability of at
        least k / (n + 1). The quantile is infinite where there are too few rows.
        """
        scores = np.concatenate(self.parts)
        order = np.argsort(scores, kind="stable")
        weights = np.concatenate([np.diff(reached) for reached in self._reached])[order]
        place = int(np.searchsorted(np.cumsum(weights), self._required_weight(coverage)))
        return float(scores[order][place]) if place < len(scores) else float("inf")

    def includes(self, values: list[FloatArray], coverage: float) -> BoolArray:
        """Return whether new scores are low enough to be included in an answer.

        Parameters
        ----------
        values : list of arrays of one shape
            Scores of the same candidates by every model, each ranked among the calibration scores
            of that model.
        coverage : float

        Returns
        -------
        bool array of the same shape
            With one model, whether a score is at most the quantile.
        """
        below = np.zeros(values[0].shape)
        for scores, reached, new in zip(self.parts, self._reached, values, strict=True):
            below += reached[np.searchsorted(scores, new, side="left")]
        included: BoolArray = below < self._required_weight(coverage)
        return included


class MissedShares:
    """Probabilities of true labels, several per row, and the loss of leaving them out.

    Conformal risk control: the expected share of the labels of a row that are missed is at most
    one minus the coverage.

    Parameters
    ----------
    proba : array of shape (n_labels,)
        Of the true nodes of all calibration rows.
    lengths : int array of shape (n_rows,)
        Number of true nodes of every row, in that order.
    weights : array of shape (n_rows,)
        With a mean of one.

    References
    ----------
    A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster (2024). Conformal risk control.
    ICLR.

    Examples
    --------
    >>> shares = MissedShares(np.tile([0.9, 0.2], 4), np.full(4, 2), np.ones(4))
    >>> shares.threshold(0.5), shares.threshold(0.4), shares.threshold(0.9)
    (0.2, 0.9, -inf)
    """

    in_files: ClassVar = {
        "proba": array("f", None),
        "lost": array("f", "proba"),
        "n_rows": held(int, below=2**62),
    }

    def __init__(self, proba: FloatArray, lengths: IntArray, weights: FloatArray) -> None:
        order = np.argsort(proba, kind="stable")
        costs = np.repeat(weights / np.maximum(lengths, 1), lengths)
        self.proba = proba[order]
        self.lost = np.cumsum(costs[order])  # if this label and all less probable ones are missed
        self.n_rows = len(lengths)

    def suffices(self, coverage: float) -> bool:
        """Return whether there are enough rows for a finite threshold."""
        return self._allowed_loss(coverage) >= 0

    def _allowed_loss(self, coverage: float) -> float:
        """Return the total loss that is allowed, with the new row counted as lost."""
        return (1 - check_coverage(coverage)) * (self.n_rows + 1) - 1 + _TOLERANCE

    def threshold(self, coverage: float) -> float:
        """Return the highest probability threshold at which the risk is controlled."""
        if not self.suffices(coverage):
            return float("-inf")
        place = int(np.searchsorted(self.lost, self._allowed_loss(coverage), side="right"))
        return float(self.proba[place]) if place < len(self.proba) else float("inf")


# ---------------------------------------------------------------------- answers


@dataclass(frozen=True)
class ConformalPaths:
    """Conformal answers of models with one path per row.

    Parameters
    ----------
    answers : OnePath
    models : list of WrappedClassifier
        One, or one per fold.
    set_score : {"lac", "aps"}
    scores : dict of str to CalibrationScores
        By kind of answer, "node" and "set"; empty before calibration.
    novelties : list of float
        Estimated share of rows with a label that a model has not seen, for every model.
    """

    answers: OnePath
    models: list[WrappedClassifier]
    set_score: str
    scores: dict[str, CalibrationScores] = field(default_factory=dict)
    novelties: list[float] = field(default_factory=list)

    score_kinds = ("node", "set")

    def kind_of(self, answer: str) -> str:
        """Return the kind of answer, "node" or "set", that is given where the user sets one."""
        return answer

    def check_method(self, method: str) -> None:
        """Do nothing: every method is defined for one path per row."""

    def require_paths(self, name: str) -> ConformalPaths:
        """Return these answers, which the public method `name` needs."""
        return self

    # ------------------------------------------------------------------ calibration

    def nonconformity(
        self, model: WrappedClassifier, X: Any, labels: NodeLabels
    ) -> dict[str, FloatArray]:
        """Return the scores of the true labels of some rows, by kind of answer."""
        proba, in_sets = self._of_labels(model, X)
        rows, wide, space = np.arange(len(proba)), self.wide_space, self.answers.space
        codes = np.searchsorted(space.classes, labels.terminals).astype(np.int32)
        at_nodes = Chains(self._narrow(proba), space).scores_of(codes)
        in_sets = in_sets[rows, np.searchsorted(wide.classes, labels.terminals)]
        return {"node": at_nodes, "set": in_sets}

    @cached_property
    def wide_space(self) -> LabelSpace:
        """The labels of y, and the leaves of the hierarchy that y lacks: both may be in sets."""
        return with_unseen_leaves(self.answers.space)

    @property
    def numbers_per_row(self) -> int:
        """How many numbers the tables of one row have."""
        return max(self.wide_space.n_active, int(self.answers.numbers_per_row))

    def _of_labels(self, model: WrappedClassifier, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return probabilities and scores of the labels of the wide space, as arrays."""
        space = self.wide_space
        proba = model.class_proba(X, space)
        place = next(i for i, each in enumerate(self.models) if each is model)
        share = self.novelties[place] if self.novelties else 0.0
        is_closed = space is not self.answers.space
        unseen = UnseenLabels(space, model.known_nodes(), share, is_closed=is_closed)
        scores = LABEL_SCORES[self.set_score](unseen.ranked(proba))
        scores[:, unseen.missed] = np.inf
        return proba, scores

    def _narrow(self, proba: FloatArray) -> FloatArray:
        """Return the probabilities of the labels of y, of those of the wide space."""
        space = self.answers.space
        if self.wide_space is space:
            return proba
        return proba[:, np.searchsorted(self.wide_space.classes, space.classes)]

    def missed(
        self, parts: list[dict[str, FloatArray]], labels: NodeLabels, weights: FloatArray
    ) -> MissedShares | None:
        """Return None: risk control is for several paths per row."""
        return None

    # ------------------------------------------------------------------ answers for new rows

    def nodes(self, X: Any, coverage: float) -> IntArray:
        """Return the deepest node per row that contains the true label: (n_samples,)."""
        space, scores = self.answers.space, self.scores["node"]
        tables = [model.class_proba(X, space) for model in self.models]
        chains = [Chains(proba, space) for proba in tables]
        if len(chains) == 1:
            places = chains[0].deepest_above(scores.quantile(coverage))
        else:
            members = scores.includes([chain.scores() for chain in chains], coverage)
            places = _lowest_common_ancestor(_with_best(members, tables), space)
        return np.asarray(space.nodes[places], dtype=np.int32)

    def sets(self, X: Any, coverage: float) -> sparse.csr_array:
        """Return the nodes of the labels in the set of every row: bool, (n_samples, n_nodes)."""
        space = self.wide_space
        return _as_node_sets(self._members(X, coverage), space.classes, space.hierarchy)

    def covers(self, X: Any, coverage: float) -> sparse.csr_array:
        """Return the fewest nodes that cover the set of every row: bool, (n_samples, n_nodes)."""
        space = self.wide_space
        cover = cover_of_sets(self._members(X, coverage), space)
        return _as_node_sets(cover, space.nodes, space.hierarchy)

    def _members(self, X: Any, coverage: float) -> BoolArray:
        """Return whether labels of the wide space are in sets: (n_samples, n_classes)."""
        tables = [self._of_labels(model, X) for model in self.models]
        members = self.scores["set"].includes([scores for _, scores in tables], coverage)
        return _with_best(members, [proba for proba, _ in tables])

    def labels_in(self, sets: sparse.csr_array) -> sparse.csr_array:
        """Return the nodes of sets that users see: all of them."""
        return sets


@dataclass(frozen=True)
class ConformalNodeSets:
    """Conformal answers of a model with several paths per row, or a DAG: sets of nodes only.

    Parameters
    ----------
    answers : NodeSets
    models : list of one WrappedClassifier
    control : {"row", "label"}
    dag_rule : {"all", "any"}
    scores : dict of str to CalibrationScores
        Under "set"; empty before calibration.
    missed_shares : MissedShares, optional
    """

    answers: NodeSets
    models: list[WrappedClassifier]
    control: str
    dag_rule: str
    scores: dict[str, CalibrationScores] = field(default_factory=dict)
    missed_shares: MissedShares | None = None

    score_kinds = ("set",)

    def kind_of(self, answer: str) -> str:
        """Return the kind of answer that is given where the user sets one: always "set"."""
        return "set"

    def check_method(self, method: str) -> None:
        """Raise an error for the method that needs one path per row."""
        if method == "cross":
            raise PalmetteError(
                "method='cross' is for one path per row, but y has several, or its hierarchy is a "
                "DAG: expected 'split' or 'prefit'."
            )

    def require_paths(self, name: str) -> NoReturn:
        """Raise an error for the public method `name`, which needs one path per row."""
        raise PalmetteError(
            f"{name} is for one path per row, but this model was fitted on several paths per row, "
            "or a DAG. Use predict_set."
        )

    # ------------------------------------------------------------------ calibration

    def nonconformity(
        self, model: WrappedClassifier, X: Any, labels: NodeLabels
    ) -> dict[str, FloatArray]:
        """Return the scores of the true sets of some rows, and the values of their nodes."""
        proba = self._proba(model, X)
        unseen = ~np.isin(self.answers.nodes, model.known_nodes())
        proba[:, unseen] = -np.inf  # new rows may have nodes that are in no set
        return set_nonconformity(proba, labels.closed[:, self.answers.nodes])

    def missed(
        self, parts: list[dict[str, FloatArray]], labels: NodeLabels, weights: FloatArray
    ) -> MissedShares | None:
        """Return the loss of leaving out true nodes of the calibration rows."""
        lengths = np.diff(labels.closed[:, self.answers.nodes].indptr)
        return MissedShares(parts[0]["label"], lengths, weights)

    # ------------------------------------------------------------------ answers for new rows

    def sets(self, X: Any, coverage: float) -> sparse.csr_array:
        """Return the nodes in the set of every row, without the root: (n_samples, n_nodes)."""
        members = self._proba(self.models[0], X) >= self._threshold(coverage)
        return self.answers.columns.sets_of_nodes(sparse.csr_array(members))

    @property
    def numbers_per_row(self) -> int:
        """How many numbers the tables of one row have."""
        return int(self.answers.numbers_per_row)

    def _proba(self, model: WrappedClassifier, X: Any) -> FloatArray:
        """Return coherent probabilities of the columns: (n_samples, n_columns)."""
        proba = model.node_proba(X, self.answers.nodes)
        return np.asarray(self.answers.table_from_nodes(proba, self.dag_rule))

    def _threshold(self, coverage: float) -> float:
        """Return the minimum probability of a node in a set."""
        if self.control == "label":
            assert self.missed_shares is not None
            return self.missed_shares.threshold(coverage)
        return 1.0 - self.scores["set"].quantile(coverage)

    def labels_in(self, sets: sparse.csr_array) -> sparse.csr_array:
        """Return the nodes of sets that users see: with ancestors only where y lists them."""
        form = self.answers.form
        if form.lists_ancestors:
            return sets
        return NodeLabels(self.answers.hierarchy, sets, form).specific


def _with_best(members: BoolArray, tables: list[FloatArray]) -> BoolArray:
    """Add the most probable label of every row to its set, so that no set is empty."""
    best = sum(tables[1:], tables[0]).argmax(axis=1)
    members[np.arange(len(members)), best] = True
    return members


def _lowest_common_ancestor(members: BoolArray, space: LabelSpace) -> IntArray:
    """Return the place of the deepest node above all labels of a set: (n_samples,)."""
    n_classes = members.shape[1]
    first = members.argmax(axis=1)
    last = n_classes - 1 - members[:, ::-1].argmax(axis=1)
    places = space.class_place[first].copy()
    end = space.class_range[:, 1]
    while (outside := end[places] <= last).any():
        places[outside] = space.parent[places[outside]]
    return np.asarray(places, dtype=np.int32)


def _as_node_sets(members: BoolArray, nodes: IntArray, hierarchy: Hierarchy) -> sparse.csr_array:
    """Return sparse sets of nodes, (n_samples, n_nodes), from flags over some of the nodes."""
    flags = sparse.csr_array(members)
    return node_csr(nodes[flags.indices], flags.indptr, hierarchy.n_nodes)
