"""StructuredForestClassifier: a forest of oblique trees for multi-label data."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray
from palmette.base._callbacks import IterativeFitMixin, monitored_fit, monitored_rounds
from palmette.base._column_scale import ColumnScale
from palmette.base._fitting import check_jobs
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._presets import Preset
from palmette.decisions._thresholds import LabelRule
from palmette.exceptions import PalmetteError
from palmette.forest._growing import ForestGrower
from palmette.forest._oblique_trees import ObliqueTrees, Votes, split_importances
from palmette.forest._outputs import OneValueEach, OutputAnswers, OutputTable
from palmette.forest._parameters import (
    PRESETS,
    NestedParameters,
    beta_candidates,
    beta_scores,
    check_continued,
    check_forest,
    check_out_of_bag,
    grower_of,
    has_out_of_bag_rows,
)
from palmette.forest._rows import distinct_rows
from palmette.labels._labels import NodeLabels
from palmette.persistence.checks import numbers, require


class StructuredForestClassifier(
    NestedParameters,
    IterativeFitMixin,  # type: ignore[misc]
    MultilabelClassifier,
):
    """Structured forest: oblique trees whose splits separate clusters of label sets.

    At every node the label sets of its rows are clustered in two, and a sparse linear split over
    some of the features is fitted to separate the two clusters. A leaf stores the proportion of its
    rows that have each label. Rare labels count in both steps: labels are weighted by their rarity
    in the clustering, and the Hellinger distance that the split maximizes does not depend on the
    sizes of the clusters. The presets "sf", "sf-lr", "sf-lr-cs", "sf-h" and "sf-h-cs" are the
    published structured forest and its variants; the last one is SOSHF.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    partition : "two_means" or `palmette.partition.LabelTwoMeans`
        How the label sets at a node are clustered in two.
    router : "hellinger", "logistic", "axis" or an object
        How a node separates the two clusters: `palmette.routing.Hellinger`, `LogisticSplit` or
        `AxisSplit`.
    max_samples : float or int
        Proportion or number of rows drawn per tree.
    max_features : float, int or "sqrt"
        Proportion or number of features drawn per tree.
    max_node_features : float, int or "sqrt"
        Proportion or number of the tree's features drawn again at each node.
    max_labels : float or int
        Proportion or number of labels drawn per tree, among those that vary. The splits of the tree
        use these labels only; its leaves store all labels.
    max_node_labels : float
        Proportion of the tree's labels drawn again for the clusters of each node.
    label_vote : float
        Weight of a tree's vote for the labels that were drawn for it; other labels have weight 1.
    prior_vote : float
        Weight of one more vote, the proportions of all training rows that have each label: it keeps
        probabilities of rare labels off 0. 0, in the presets: only trees vote, as published.
    min_samples_leaf : int
        Minimum number of rows in a leaf.
    max_depth : int, optional
        Maximum depth of a tree.
    bootstrap : bool
        Whether rows are drawn with replacement.
    oob_score : bool
        Whether to compute ``oob_score_`` and ``oob_decision_function_``.
    standardize : bool
        Whether to standardize numeric columns to mean 0 and standard deviation 1 first. Columns of
        0 and 1 are left unchanged, and columns of mostly zeros are scaled but not centred.
    relevance : float or "auto"
        How much splits prefer features that are related to the labels by themselves: values are
        multiplied by this power of the relevance of their feature, the mean over labels of rows
        times squared correlation, less 1, on the rows of the tree. 0 treats all features equally.
        "auto" is 0.5, and 0 if more than half of the values are zero, as in texts.
    mixed : bool or "auto"
        Whether trees of three kinds take turns: the first splits by `router` and treats all
        features alike; the second prefers relevant features; the third cuts single features, as a
        random forest does. The mix is more accurate where features are weak or noisy, and hardly
        worse elsewhere. False: all trees split by `router` with `relevance`. "auto" is True for
        the router "hellinger", by name or as an object.
    multioutput : bool
        Whether y is a table with one column per output, each a classification of its own with any
        values. Predictions are tables of the same form, with the most probable value per output.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels. Ancestors of labels are labels too, and predictions are coherent.
    decoding : str, float or object of `palmette.decoding`
        How labels are chosen. "auto" predicts the labels above their thresholds, chosen on
        out-of-bag scores by `palmette.decoding.ShrunkF` ("shrunk_f1"); "f1" for the best F1 of each
        label, "youden" for Youden's index; a number is a threshold for all labels. If no tree
        leaves a row out, "auto" is one half.
    warm_start : bool
        Whether `fit` adds trees to those of the previous call, on the same data.
    n_jobs : int, optional
        Number of threads.
    random_state : int, RandomState or None
    verbose : bool or int
        Whether to print one line per tree.
    client : distributed.Client or str, optional
        Dask cluster, or the address of its scheduler, on whose workers the trees are grown. The
        result is the same, and has no part of the cluster.

    Attributes
    ----------
    trees_ : ObliqueTrees
        All trees in flat arrays; they split features transformed by ``scale_``.
    thresholds_ : array of shape (n_classes,)
        Thresholds of the labels, if y has several labels per row and `decoding` is tuned.
    classes_ : array of shape (n_classes,)
        With ``multioutput`` a list of arrays, one per output.
    feature_importances_ : array of shape (n_features,)
        Decrease of the labels' variance by the splits that use each feature, normalized to sum 1.
    oob_score_ : float
        Proportion of rows whose prediction by the trees that were not fitted on them is correct,
        of the rows that some tree left out; NaN if there is none.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Out-of-bag probabilities, by all trees for rows that no tree left out; with
        ``multioutput`` a list of arrays.
    scale_ : ColumnScale
    hierarchy_ : Hierarchy
    nodes_ : int array of shape (n_columns,)
        Nodes of the hierarchy that the trees predict.
    beta_scores_ : dict of float to float
        Scores of the candidates of beta, if `partition` has several; the best one is ``beta_``.
    label_shares_ : array of shape (n_columns,)
        Proportion of the training rows that have each node, the vote of `prior_vote`.

    Notes
    -----
    Equal rows are merged, and are sampled as copies in an order that depends on their values only.
    Hence the order of the rows does not change the model, and a weight of k equals k copies.

    References
    ----------
    Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification using
    structured Hellinger forests. AAAI 2017, 1826-1832. doi:10.1609/aaai.v31i1.10908

    P. Dollár, C. L. Zitnick (2013). Structured forests for fast edge detection. ICCV 2013.
    doi:10.1109/ICCV.2013.231

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_classes=3, random_state=0)
    >>> from palmette import StructuredForestClassifier
    >>> forest = StructuredForestClassifier(20, random_state=0).fit(X, Y)
    >>> forest.predict(X[:2]).shape
    (2, 3)
    >>> forest.thresholds_.shape
    (3,)
    """

    _presets: ClassVar[dict[str, Preset]] = PRESETS

    trees_: ObliqueTrees
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
        prior_vote: float = 1.0,
        min_samples_leaf: int = 3,
        max_depth: int | None = None,
        bootstrap: bool = False,
        oob_score: bool = False,
        standardize: bool = True,
        relevance: float | str = "auto",
        mixed: bool | str = "auto",
        multioutput: bool = False,
        hierarchy: Any = None,
        decoding: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Any = None,
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
        self.prior_vote = prior_vote
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.standardize = standardize
        self.relevance = relevance
        self.mixed = mixed
        self.multioutput = multioutput
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.warm_start = warm_start
        self.verbose = verbose
        self.client = client

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
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        before = self._fitted_labels()
        check_jobs(self)
        self._check_parameters()
        outputs, labels = None, y
        if self.multioutput:
            outputs, matrix = OutputTable.read(y)
            labels = NodeLabels.encode(matrix, outputs.hierarchy)
        rows, Y, weights = self._read_fit(X, labels, sample_weight)
        if outputs is not None:
            self._set_answers(OutputAnswers(outputs, self._answers))
        trees = self.trees_ if self._continues(before) else None
        grower = self._make_grower(rows, Y, weights, is_new=trees is None)
        self._check_out_of_bag(grower)
        grower = self._with_best_beta(grower, Y, weights, is_new=trees is None)
        self.label_shares_ = grower.label_shares
        given = {"X": X, "y": y, "metadata": metadata}
        self.trees_ = self._grow(grower, trees, given, (Y, weights))
        self._keep_out_of_bag(grower, Y, weights)
        return self

    def _check_parameters(self) -> None:
        self.__dict__.pop("_uses_all_rows", None)  # of an earlier fit
        check_forest(self)

    def _check_out_of_bag(self, grower: ForestGrower) -> None:
        """Note that no tree leaves a row out, as the number of rows tells, and check for it."""
        if not grower.leaves_rows_out and has_out_of_bag_rows(self):
            self._uses_all_rows = True
            check_out_of_bag(self, grower.n_rows)
            self._check_decoding(self.several_paths_)

    def _make_grower(
        self, X: Any, Y: sparse.csr_array, weights: FloatArray | None, is_new: bool
    ) -> ForestGrower:
        rows = distinct_rows(X, Y, weights)
        distinct = X[rows.first]
        if is_new:
            self.scale_ = ColumnScale(self.standardize).fit(distinct, rows.copies * rows.unit)
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        scaled = self.scale_.transform(distinct)
        return grower_of(self, distinct, scaled, Y[rows.first], rows, self._seed)

    def _with_best_beta(
        self, grower: ForestGrower, Y: sparse.csr_array, weights: FloatArray | None, is_new: bool
    ) -> ForestGrower:
        """Choose among the candidates of beta, where there are several, on out-of-bag rows."""
        betas = beta_candidates(self)
        if is_new:
            self.__dict__.pop("beta_", None)
            self.__dict__.pop("beta_scores_", None)
        if len(betas) < 2:
            return grower
        if not hasattr(self, "beta_"):
            self.beta_scores_ = beta_scores(self, grower, Y, weights, self._votes())
            self.beta_ = max(self.beta_scores_, key=self.beta_scores_.__getitem__)
        return grower.with_beta(self.beta_)

    def _grow(
        self, grower: ForestGrower, before: ObliqueTrees | None, given: dict[str, Any], truth: Any
    ) -> ObliqueTrees:
        first = 0 if before is None else before.n_trees
        if self.client is None:
            coming = grower.grow_all(first, self.n_estimators, self.n_jobs)
        else:
            coming = grower.grow_on(self.client, first, self.n_estimators)
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
        # a warm start that adds no tree keeps the earlier ones
        return before if before is not None and not grown else ObliqueTrees.of(grown, before)

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if not hasattr(self, "trees_"):
            return
        require(isinstance(self.trees_, ObliqueTrees), "trees_ is not of type ObliqueTrees")
        shares = numbers(self.label_shares_, np.float64, 1, "label_shares_")
        require(
            shares.shape == self.trees_.drawn.shape[1:],
            "label_shares_ and trees_ have different numbers of labels",
        )
        largest = self.trees_.weight_features.max(initial=-1)
        require(largest < self.n_features_in_, "a tree uses a feature that does not exist")
        require(isinstance(self.scale_, ColumnScale), "scale_ is not of type ColumnScale")

    # ------------------------------------------------------------------ out of bag

    def _tunes_itself(self) -> bool:
        has_some = has_out_of_bag_rows(self) and not getattr(self, "_uses_all_rows", False)
        return has_some and not self.multioutput

    def _out_of_bag_proba(self) -> Any:
        if not hasattr(self, "_out_of_bag"):
            raise PalmetteError(
                "out-of-bag scores are not stored in saved models: fit the model again."
            )
        return self._out_of_bag

    def __setstate__(self, state: dict[str, Any]) -> None:
        # parameters that files of earlier versions lack
        super().__setstate__({"relevance": 0.0, "mixed": False, "prior_vote": 1.0, **state})

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_out_of_bag"}

    def _keep_out_of_bag(
        self, grower: ForestGrower, truth: sparse.csr_array, weights: FloatArray | None
    ) -> None:
        """Compute out-of-bag scores, and set the thresholds and ``oob_*`` from them."""
        for name in ("thresholds_", "oob_score_", "oob_decision_function_", "_out_of_bag"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if self.oob_score or (self._answers.by_node and self._tunes_itself()):
            scores = grower.out_of_bag(self.trees_, self._votes(), self.n_jobs)
            self._out_of_bag = scores.astype(np.float32)
        if self._answers.by_node:
            self._tune(truth, weights)
        if self.oob_score:
            self._score_out_of_bag(truth, weights, grower.are_left_out(self.trees_.n_trees))

    def _score_out_of_bag(
        self, Y: sparse.csr_array, weights: FloatArray | None, left_out: NDArray[np.bool_]
    ) -> None:
        answers = self._answers

        def tables() -> Iterator[FloatArray]:
            for part in self._parts(self._out_of_bag):
                yield answers.table_from_nodes(part.astype(np.float64), self._dag_rule())

        proba = self._filled(tables(), len(self._out_of_bag), answers.label_proba)
        self.oob_decision_function_ = answers.arrange(proba)
        chosen = answers.node_sets(answers.decide(tables(), self._rule()))
        wrong = sparse.csr_array(chosen[:, self.nodes_] != Y)
        right = np.diff(wrong.indptr) == 0
        counted = left_out if weights is None else left_out * weights
        self.oob_score_ = float(np.average(right, weights=counted)) if counted.any() else np.nan

    # ------------------------------------------------------------------ warm start

    def _fitted_labels(self) -> Any:
        """Return the nodes of the last fit and, with one path per row, its labels."""
        if not hasattr(self, "trees_"):
            return None
        return self.nodes_, None if self.several_paths_ else self.space_.classes

    def _continues(self, before: Any) -> bool:
        """Return whether trees are added to an earlier fit; its labels must be the same."""
        if not self.warm_start or before is None:
            return False
        check_continued(self, before, self._fitted_labels())
        return True

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> Any:
        rows = self.scale_.transform(X)
        return self.trees_.proba(rows, self.label_shares_, self._votes(), self.n_jobs)

    def _votes(self) -> Votes:
        return Votes(float(self.label_vote), float(self.prior_vote))

    def _threshold_rule(self) -> LabelRule:
        return OneValueEach() if self.multioutput else super()._threshold_rule()

    # ------------------------------------------------------------------ inspection

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of every row in every tree.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        int array of shape (n_samples, n_trees)
            Indices of nodes within each tree.
        """
        rows = self._rows_for_trees(X)
        return self.trees_.apply(rows, self.n_jobs)

    def decision_path(self, X: Any) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        """Return the nodes on the path of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        indicator : sparse bool array of shape (n_samples, n_nodes)
            The nodes of all trees, one tree after the other.
        n_nodes_ptr : int array of shape (n_trees + 1,)
            The columns of tree t are ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]``.
        """
        rows = self._rows_for_trees(X)
        return self.trees_.decision_path(rows, self.n_jobs), self.trees_.tree_starts.copy()

    def _rows_for_trees(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.scale_.transform(self._read_features(X, reset=False))

    @property
    def feature_importances_(self) -> FloatArray:
        """Importances of the features, of shape (n_features,), summing to one.

        The gain of a split is the decrease of the labels' variance, summed over labels and training
        rows. It is divided among the features of the split in proportion to the absolute values of
        their weights times their standard deviations. All zero if no tree splits.
        """
        check_is_fitted(self)
        return split_importances(self.trees_, self.scale_.spread_)
