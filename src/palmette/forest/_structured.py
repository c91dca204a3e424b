"""Looking into the trees of a fitted forest: leaves, paths, importances."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from palmette.base._callbacks import IterativeFitMixin, monitored_fit, monitored_rounds
from palmette.base._fitting import Preset, preset, presets
from palmette.base._multilabel import MultilabelClassifier
from palmette.decisions._thresholds import LabelRule
from palmette.exceptions import PalmetteError
from palmette.forest._growing import ForestGrower
from palmette.forest._oblique_trees import ObliqueTrees, split_importances
from palmette.forest._outputs import OneValueEach, OutputAnswers, OutputTable
from palmette.forest._parameters import (
    PRESETS,
    check_forest,
    leaves_rows_out,
    tree_draws,
    tree_settings,
)
from palmette.forest._rows import ColumnScale, distinct_rows
from palmette.labels._labels import NodeLabels
from palmette.persistence.checks import numbers, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from palmette.forest._oblique_trees import ObliqueTrees
    from palmette.forest._rows import ColumnScale

__all__ = ["ForestLookingMixin", "StructuredForestClassifier"]


class ForestLookingMixin:
    """Gives a forest with ``trees_`` and ``scale_`` ways to look into its trees."""

    # of the forest
    trees_: ObliqueTrees
    scale_: ColumnScale
    n_jobs: int | None
    _read_features: Callable[..., Any]

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Find the leaf of every row in every tree.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        int array of shape (n_samples, n_trees)
            Numbers of nodes within each tree.
        """
        rows = self._rows_for_trees(X)
        return self.trees_.apply(rows, self.n_jobs)

    def decision_path(self, X: Any) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        """Find the nodes that every row goes through.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        indicator : sparse bool array of shape (n_samples, n_nodes)
            Nodes of all trees, one tree after the other.
        n_nodes_ptr : int array of shape (n_trees + 1,)
            Columns of tree t are ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]``.
        """
        rows = self._rows_for_trees(X)
        return self.trees_.decision_path(rows, self.n_jobs), self.trees_.tree_starts.copy()

    def _rows_for_trees(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.scale_.transform(self._read_features(X, reset=False))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importances of the features, of shape (n_features,), summing to one.

        What a split gains is the decrease of the labels' variance among the training rows that it
        sends left and right, summed over labels and rows; it is shared among the split's features
        by the size of their weights, times the features' deviations. All zero where no tree splits.
        """
        check_is_fitted(self)
        return split_importances(self.trees_, self.scale_.spread_)


FloatArray = NDArray[np.float64]


class StructuredForestClassifier(ForestLookingMixin, IterativeFitMixin, MultilabelClassifier):
    """Forest of trees that split the label sets at a node in two, and the rows by a sparse line.

    At every node the label sets of its rows are put into two clusters; then a line over some of the
    features is found that tells these clusters apart. A leaf keeps the share of its rows that have
    each label. Rare labels count in both steps: the clusters weigh labels by their rarity, and the
    Hellinger distance that the line is found by does not care how large the clusters are. With the
    presets "sf", "sf-lr", "sf-lr-cs", "sf-h" and "sf-h-cs" this is the structured forest and its
    variants as published, the last one being SOSHF.

    Parameters
    ----------
    n_estimators : int
        Trees.
    partition : "two_means" or `palmette.partition.LabelTwoMeans`
        How the label sets at a node fall into two.
    router : "hellinger", "logistic", "axis" or an object
        How a node tells the two apart: `palmette.routing.Hellinger`, `LogisticSplit` or
        `AxisSplit`.
    max_samples : float or int
        Rows drawn for a tree, as a share or a number.
    max_features : float, int or "sqrt"
        Features drawn for a tree.
    max_node_features : float, int or "sqrt"
        Features of these drawn anew for a node.
    max_labels : float or int
        Labels drawn for a tree, of those that vary: its splits see these alone, its leaves all.
    max_node_labels : float
        Share of these drawn anew for the clusters of a node.
    label_vote : float
        Votes of a tree for the labels that were drawn for it; for others it has one.
    min_samples_leaf : int
        Rows that a leaf has at least.
    max_depth : int, optional
        Of the trees.
    bootstrap : bool
        Whether rows are drawn with replacement.
    oob_score : bool
        Whether to keep ``oob_score_`` and ``oob_decision_function_``.
    standardize : bool
        Whether numeric columns are given a mean of 0 and a deviation of 1 first. Columns of 0 and 1
        stay as they are, and columns of mostly zeros keep their zeros.
    multioutput : bool
        Whether y is a table with a column for each of several classifications, any values in each.
        Answers are tables of that form, with the most probable value of each column.
    hierarchy : Hierarchy, optional
        Of the labels. Ancestors of labels are labels, and answers are coherent.
    decoding : str, float or object of `palmette.decoding`
        Which labels are answered. "auto" and "f1": those above the threshold, one for each label,
        of the best F1 on out-of-bag scores; "youden" likewise; a number is a threshold for all.
        Where no tree leaves a row out, "auto" is one half.
    warm_start : bool
        Whether `fit` adds trees to those of the last call, on the same data.
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState or None
    verbose : bool or int
        Whether to print a line for each tree.

    Attributes
    ----------
    trees_ : ObliqueTrees
        All trees in flat arrays; features as ``scale_`` leaves them.
    thresholds_ : array of shape (n_classes,)
        Of the labels; where y has several labels a row and `decoding` is tuned.
    classes_ : array of shape (n_classes,)
        With ``multioutput`` a list of arrays, one for each output.
    feature_importances_ : array of shape (n_features,)
        What splits gain in telling labels apart, shared among their features by weight.
    oob_score_ : float
        Share of rows whose labels are right, each asked of the trees that did not see it. A row
        that every tree saw is asked of all.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        The probabilities of these answers; with ``multioutput`` a list of arrays.
    scale_ : ColumnScale
    hierarchy_ : Hierarchy
    nodes_ : int array of shape (n_columns,)
        Labels of the hierarchy that the trees know.
    label_shares_ : array of shape (n_columns,)
        Share of the training rows that have each of them: one more vote, beside those of the trees.

    Notes
    -----
    Equal rows are drawn from as copies, in an order that depends on their values alone: the order
    of the rows changes nothing, and a weight of k is k copies.

    References
    ----------
    Daniels and Metaxas, Addressing imbalance in multi-label classification using structured
    Hellinger forests, AAAI 2017.
    Dollár and Zitnick, Structured forests for fast edge detection, ICCV 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_classes=3, random_state=0)
    >>> forest = StructuredForestClassifier(20, random_state=0).fit(X, Y)
    >>> forest.predict(X[:2]).shape
    (2, 3)
    >>> forest.thresholds_.shape
    (3,)
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar[dict[str, Preset]] = PRESETS

    classes_: Any  # an array of labels; with `multioutput` a list of arrays, one per output

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        partition: Any = "two_means",
        router: Any = "hellinger",
        max_samples: float = 0.75,
        max_features: Any = 1.0,
        max_node_features: Any = 0.5,
        max_labels: float = 0.5,
        max_node_labels: float = 1.0,
        label_vote: float = 1.0,
        min_samples_leaf: int = 3,
        max_depth: int | None = None,
        bootstrap: bool = False,
        oob_score: bool = False,
        standardize: bool = True,
        multioutput: bool = False,
        hierarchy: Any = None,
        decoding: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.partition = partition
        self.router = router
        self.max_samples = max_samples
        self.max_features = max_features
        self.max_node_features = max_node_features
        self.max_labels = max_labels
        self.max_node_labels = max_node_labels
        self.label_vote = label_vote
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.standardize = standardize
        self.multioutput = multioutput
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ fitting

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : labels of n_samples rows
            A 0/1 matrix, a list of sets, or any other form that `NodeLabels.encode` reads; with
            ``multioutput`` a table of values.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        before = self._learnt()
        self._check_parameters()
        outputs, labels = None, y
        if self.multioutput:
            outputs, matrix = OutputTable.read(y)
            labels = NodeLabels.encode(matrix, outputs.hierarchy)
        rows, Y, weights = self._read_fit(X, labels, sample_weight)
        if outputs is not None:
            self._set_answers(OutputAnswers(outputs, self._answers))
        trees = self.trees_ if self._goes_on(before) else None
        grower = self._make_grower(rows, Y, weights, is_new=trees is None)
        self.label_shares_ = grower.label_shares
        given = {"X": X, "y": y, "metadata": metadata}
        self.trees_ = self._grow(grower, trees, given, (Y, weights))
        self._keep_out_of_bag(grower, Y, weights)
        return self

    def _check_parameters(self) -> None:
        check_forest(self)

    def _make_grower(
        self, X: Any, Y: sparse.csr_array, weights: FloatArray | None, is_new: bool
    ) -> ForestGrower:
        settings, draws = tree_settings(self, X.shape[1]), tree_draws(self)
        rows = distinct_rows(X, Y, weights)
        distinct = X[rows.first]
        if is_new:
            self.scale_ = ColumnScale(self.standardize).fit(distinct, rows.copies * rows.unit)
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        scaled = self.scale_.transform(distinct)
        return ForestGrower(scaled, Y[rows.first], rows, draws, settings, self._seed)

    def _grow(
        self, grower: ForestGrower, before: ObliqueTrees | None, given: dict[str, Any], truth: Any
    ) -> ObliqueTrees:
        first = 0 if before is None else before.n_trees
        coming = grower.grow_all(first, self.n_estimators, self.n_jobs)
        grown: list[Any] = []

        def fitted() -> dict[str, Any]:
            """Return the forest as it is between two trees, its thresholds tuned."""
            model = copy(self)
            model.trees_ = ObliqueTrees.of(grown, before)
            model._keep_out_of_bag(grower, *truth)
            return dict(vars(model))

        for _ in monitored_rounds(self, first, self.n_estimators, **given, fitted=fitted):
            grown.append(next(coming))
            if self.verbose:
                print(f"tree {first + len(grown)} of {self.n_estimators}")
        coming.close()
        # without a new tree there are those of the earlier fit
        return before if before is not None and not grown else ObliqueTrees.of(grown, before)

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if not hasattr(self, "trees_"):
            return
        require(isinstance(self.trees_, ObliqueTrees), "the trees of a forest are no ObliqueTrees")
        shares = numbers(self.label_shares_, np.float64, 1, "label_shares_")
        require(shares.shape == self.trees_.drawn.shape[1:], "the trees are of other labels")
        largest = self.trees_.weight_features.max(initial=-1)
        require(largest < self.n_features_in_, "a tree uses a feature that does not exist")
        require(isinstance(self.scale_, ColumnScale), "the scale of a forest is no ColumnScale")

    # ------------------------------------------------------------------ out of bag

    def _tunes_itself(self) -> bool:
        return not self.multioutput and leaves_rows_out(self)

    def _out_of_bag_proba(self) -> Any:
        if not hasattr(self, "_out_of_bag"):
            raise PalmetteError("a model that has been saved has no out-of-bag scores: fit it.")
        return self._out_of_bag

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_out_of_bag"}

    def _keep_out_of_bag(
        self, grower: ForestGrower, truth: sparse.csr_array, weights: FloatArray | None
    ) -> None:
        """Set what follows from out-of-bag scores: thresholds and ``oob_*``."""
        for name in ("thresholds_", "oob_score_", "oob_decision_function_", "_out_of_bag"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if self.oob_score or (self._answers.by_node and self._tunes_itself()):
            scores = grower.out_of_bag(self.trees_, self.label_vote, self.n_jobs)
            self._out_of_bag = scores.astype(np.float32)
        if self._answers.by_node:
            self._tune(truth, weights)
        if self.oob_score:
            self._score_out_of_bag(truth, weights)

    def _score_out_of_bag(self, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        answers = self._answers

        def tables() -> Iterator[FloatArray]:
            for part in self._parts(self._out_of_bag):
                yield answers.table_from_nodes(part.astype(np.float64), self._dag_rule())

        proba = self._filled(tables(), len(self._out_of_bag), answers.label_proba)
        self.oob_decision_function_ = answers.arrange(proba)
        chosen = answers.node_sets(answers.decide(tables(), self._rule()))
        wrong = sparse.csr_array(chosen[:, self.nodes_] != Y)
        right = np.diff(wrong.indptr) == 0
        self.oob_score_ = float(np.average(right, weights=weights))

    # ------------------------------------------------------------------ going on

    def _learnt(self) -> Any:
        """Return what the last fit learnt the trees for: nodes and, with one path a row, labels."""
        if not hasattr(self, "trees_"):
            return None
        return self.nodes_, None if self.several_paths_ else self.space_.classes

    def _goes_on(self, before: Any) -> bool:
        """Whether trees are added to those of an earlier fit, which must be of the same labels."""
        if not self.warm_start or before is None:
            return False
        now = self._learnt()
        if not all(np.array_equal(a, b) for a, b in zip(before, now, strict=True)):
            raise PalmetteError(
                f"warm_start=True goes on with {len(before[0])} labels, but y has other ones "
                f"({len(now[0])}). Fit on the same data, or set warm_start=False."
            )
        if self.n_estimators < self.trees_.n_trees:
            raise PalmetteError(
                f"n_estimators={self.n_estimators} is less than the {self.trees_.n_trees} trees "
                "that warm_start=True would go on from. Ask for more, or set warm_start=False."
            )
        return True

    # ------------------------------------------------------------------ answering

    def _node_proba_of(self, X: Any) -> Any:
        rows = self.scale_.transform(X)
        return self.trees_.proba(rows, self.label_shares_, self.label_vote, self.n_jobs)

    def _threshold_rule(self) -> LabelRule:
        return OneValueEach() if self.multioutput else super()._threshold_rule()
