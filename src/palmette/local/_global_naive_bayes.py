"""GlobalNaiveBayesClassifier: naive Bayes whose classes are all nodes of a tree."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import softmax

from palmette._arrays import FloatArray, IntArray, read_rows, take_rows
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._column_units import Kind
from palmette.base._fitting import check_weights, used_rows
from palmette.base._parameters import is_number
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace
from palmette.local._naive_bayes import MixedNaiveBayes
from palmette.persistence.checks import numbers, require, within


class GlobalNaiveBayesClassifier(HierarchicalClassifier):
    """Global-model naive Bayes: one model whose classes are the nodes of all levels.

    A training row counts for its label and for all ancestors of it, both in the prior probabilities
    and in the distributions of the features. A prediction is the node with the highest posterior
    probability, of whatever level: it may be an inner node that no training row ends at. Columns
    have the distributions of `palmette.local.MixedNaiveBayes`. On a star it is naive Bayes.

    Parameters
    ----------
    hierarchy : Hierarchy, or a learner of one, optional
        A tree. By default that of the paths in y; a star if y has names.
    usefulness : float
        From 0 to 1. Posterior probabilities are multiplied by
        ``1 - usefulness * log2(s) / max(log2(s))``, where s is the number of classes at or below
        the node, and the maximum is over all classes, since deeper nodes are more informative. 1
        is as published: the class with the largest subtree is never the answer. 0 changes nothing.
    alpha, var_smoothing : float
        As in `palmette.local.MixedNaiveBayes`.
    decoding : str or object of `palmette.decoding`
        Decision rule. ``"auto"`` is the published one, the node with the highest posterior
        probability; others decide by the probabilities of labels.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels seen in training.
    bayes_ : MixedNaiveBayes
        Its classes are numbers of nodes: those with a training row at or below them, without the
        root unless it is a label itself.
    usefulness_ : array of shape (n_nodes_of_bayes,)
        Factors of the posterior probabilities.

    Notes
    -----
    `predict_proba` compares the posterior probabilities of labels with each other; those of nodes
    are sums of them, and so coherent. The posterior probabilities that ``"auto"`` compares are
    not: nodes of one path are not alternatives.

    References
    ----------
    C. N. Silla, A. A. Freitas (2009). A global-model naive Bayes approach to the hierarchical
    prediction of protein functions. ICDM 2009, 992-997. doi:10.1109/ICDM.2009.85

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> clf = GlobalNaiveBayesClassifier(usefulness=0.5, var_smoothing=0.1).fit(X, y)
    >>> clf.predict([[0.0, 0.0], [5.0, 1.0]])
    [('animal', 'cat'), ('plant', 'fern')]
    >>> clf.predict([[0.0, 0.5]])  # a cat or a dog
    [('animal',)]
    """

    _takes_several_paths: ClassVar[bool] = False

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        usefulness: float = 1.0,
        alpha: float = 0.01,
        var_smoothing: float = 1e-3,
        decoding: Any = "auto",
    ) -> None:
        self.hierarchy = hierarchy
        self.usefulness = usefulness
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.decoding = decoding

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GlobalNaiveBayesClassifier:
        """Fit the distributions of all nodes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : labels of n_samples rows
            One path per row.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = read_rows(self._read_features(X, reset=True), named=self, dtype=np.float64)
        weights = check_weights(sample_weight, X.shape[0] if hasattr(X, "shape") else len(X))
        codes = self._learn_target(X, y, weights)
        used = used_rows(weights)
        if used is not None and weights is not None:
            X, weights = take_rows(X, np.flatnonzero(used)), weights[used]
        classes = MixedNaiveBayes(self.alpha, var_smoothing=self.var_smoothing)
        classes.fit(X, codes, weights)
        places, groups = _nodes_over_classes(self.space_)
        self.bayes_ = classes.over_groups(groups, self.space_.nodes[places])
        sizes = np.bincount(_ancestors(self.space_), minlength=self.space_.n_active)
        bits = np.log2(sizes[places])
        most = float(bits.max(initial=0.0)) or 1.0  # on a star all are 0
        self.usefulness_ = 1.0 - float(self.usefulness) * bits / most
        return self

    def _kind_of_units(self) -> Kind:
        return "rows"  # counts of words are compared with one another

    def _check_parameters(self) -> None:
        if not (is_number(self.usefulness) and 0 <= self.usefulness <= 1):
            raise PalmetteError(f"usefulness={self.usefulness!r}: expected a number from 0 to 1.")
        for name in ("alpha", "var_smoothing"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0):
                raise PalmetteError(f"{name}={value!r}: expected a positive number.")

    def _node_scores(self, X: Any) -> FloatArray:
        """Log posterior probabilities of the nodes of ``bayes_``, up to a constant of each row."""
        return self.bayes_.joint_log_likelihood(read_rows(X, named=self, dtype=np.float64))

    def _class_proba_of(self, X: Any) -> FloatArray:
        columns = np.searchsorted(self.bayes_.classes_, self.space_.classes)
        return np.asarray(softmax(self._node_scores(X)[:, columns], axis=1))

    def _decide(self, X: Any) -> Any:
        if self.decoding != "auto":
            return super()._decide(X)
        with np.errstate(divide="ignore"):  # the largest subtree is never the answer
            factor = np.log(self.usefulness_)
        best = [np.argmax(self._node_scores(part) + factor, axis=1) for part in self._parts(X)]
        return self.bayes_.classes_[np.concatenate(best)]

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if not hasattr(self, "bayes_"):
            return
        require(isinstance(self.bayes_, MixedNaiveBayes), "bayes_ is not a MixedNaiveBayes")
        nodes = numbers(self.bayes_.classes_, np.int32, 1, "nodes of bayes_")
        require(within(nodes, self.hierarchy_.n_nodes), "a node does not exist")
        require(np.diff(nodes) > 0, "nodes are not ascending")
        require(np.isin(self.space_.classes, nodes), "a label has no distribution")
        factor = numbers(self.usefulness_, np.float64, 1, "usefulness_")
        require(len(factor) == len(nodes), "usefulness_ does not fit the nodes")
        require((factor >= 0) & (factor <= 1), "usefulness_ is not from 0 to 1")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _nodes_over_classes(space: LabelSpace) -> tuple[IntArray, sparse.csr_array]:
    """Return the places of nodes that are classes, and which labels are at or below them.

    The root is true of every row, and tells nothing: it is left out unless rows end there.
    """
    first, stop = space.class_range.T.astype(np.int64)
    places = np.arange(0 if space.is_class[0] else 1, space.n_active, dtype=np.int32)
    sizes = (stop - first)[places]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    labels = np.arange(starts[-1]) - np.repeat(starts[:-1] - first[places], sizes)
    groups = sparse.csr_array(
        (np.ones(len(labels)), labels, starts), shape=(len(places), space.n_classes)
    )
    return places, groups


def _ancestors(space: LabelSpace) -> IntArray:
    """Return every active node and all of its ancestors, by place, in one array."""
    found, here = [np.arange(space.n_active, dtype=np.int32)], space.parent
    while len(here := here[here >= 0]):
        found.append(here)
        here = space.parent[here]
    return np.concatenate(found)
