"""What a boosted model has learnt, and why it says what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from palmette.boosting.explain import explain
from palmette.boosting.importances import node_importances, overall_importances
from palmette.boosting.node_scores import node_map
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from palmette.core.hierarchy import Hierarchy

__all__ = ["InsightsMixin"]

FloatArray = NDArray[np.float64]


class InsightsMixin:
    """Gives boosted classifiers scores of nodes, importances of features and explanations."""

    # of the classifier
    hierarchy_: Hierarchy
    nodes_: NDArray[np.int32]
    _read_features: Callable[..., Any]
    _scores_of: Callable[[Any], FloatArray]
    _parts: Callable[..., Iterator[Any]]

    def predict_node_scores(self, X: Any) -> FloatArray:
        """Scores of nodes, which the votes of the rounds add up to.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_columns)
            Columns as in ``nodes_``: the nodes with a training row, without the root. A model that
            votes for labels has the mean over the labels at or below a node; one of several losses
            or bags the mean over its models.
        """
        check_is_fitted(self)
        to_nodes = node_map(self, self.nodes_)
        X = self._read_features(X, reset=False)
        return np.concatenate([self._scores_of(part) @ to_nodes for part in self._parts(X)])

    @property
    def feature_importances_(self) -> FloatArray:
        """Importances of the features for all nodes together, of shape (n_features,).

        A split is worth what it takes off the variance of the votes, over the training rows and
        summed over nodes or labels. Importances sum to one, or to zero where nothing was split.
        Computed anew whenever they are asked for; see `feature_importances`.
        """
        check_is_fitted(self)
        try:
            return overall_importances(self)
        except PalmetteError as error:  # so that hasattr answers
            raise AttributeError(str(error)) from error

    def feature_importances(self, nodes: Any = None) -> FloatArray:
        """Importances of the features for single nodes.

        Parameters
        ----------
        nodes : list of names or paths, optional
            Nodes wanted; those of ``nodes_`` by default.

        Returns
        -------
        array of shape (n_wanted, n_features)
            Rows sum to one. They are zeros for nodes that nothing was split for, such as the root
            and those without a training row.

        Notes
        -----
        A split that sends training rows of weight a left and b right, with mean votes x and y, is
        worth ``a b / (a + b) (x - y)**2`` to its feature: what it takes off the variance of the
        votes. Rows are weighted as when the tree was grown: of one tree for all nodes by
        their own weights, of a tree for every node by the weights of that round. A model that votes
        for labels is asked for the mean vote over the labels at or below a node. With several
        losses or bags the importances are means over the models. The votes of a mask belong to no
        feature. Where a round fits estimators of other libraries, their own importances, or the
        sizes of their coefficients, are weighted by the squares of their votes.

        Examples
        --------
        >>> from palmette import AdaBoostMHClassifier
        >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> clf = AdaBoostMHClassifier(n_estimators=4).fit(X, ["a", "b", "a", "b"])
        >>> clf.feature_importances(["a"]).tolist()
        [[1.0, 0.0]]
        """
        check_is_fitted(self)
        numbers = self.nodes_ if nodes is None else self._node_numbers(nodes)
        return node_importances(self, numbers)

    def explain(
        self, X: Any, nodes: Any = None, *, by: str = "rule", max_rows: int | None = 20
    ) -> pd.DataFrame:
        """Tell what moved the scores of nodes, for one row or a few.

        A tree gives every row its mean vote over the training rows; every split on the way to
        the leaf moves that to the mean of the side taken. So contributions add up to what
        `predict_node_scores` says, exactly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        nodes : list of names or paths, optional
            Nodes to explain; by default those that are predicted for each row, ancestors included.
        by : "rule", "feature" or "round"
            Whether to add up over the rounds what a rule contributed, or a feature, or to list the
            rules of every round.
        max_rows : int, optional
            Most lines for a row and node; the least of them are then added up in the last one. None
            lists all.

        Returns
        -------
        DataFrame with a line for every rule
            ``row`` is the number of the row in X; ``node`` a path, or in a DAG a name; ``round``
            counts from 1, or is "all"; ``feature`` is a name or number; ``rule`` says what is true
            of the row, and ``contribution`` what that added to the score of the node. The first
            line, "start", is the score that rows begin with, and the mean votes of the trees
            unless they are listed by round; the others follow by size. Lines that no feature is
            behind, as "masked by" a parent that voted -1, have an empty one.

        Examples
        --------
        >>> from palmette import AdaBoostMHClassifier
        >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> clf = AdaBoostMHClassifier(n_estimators=1).fit(X, ["a", "b", "a", "b"])
        >>> table = clf.explain(X[:1])
        >>> table[["node", "round", "feature", "rule"]]
          node round feature              rule
        0    a   all                     start
        1    a   all       0  feature 0 <= 0.5
        >>> bool(np.isclose(table["contribution"].sum(), clf.predict_node_scores(X)[0, 0]))
        True
        """
        check_is_fitted(self)
        numbers = None if nodes is None else self._node_numbers(nodes)
        return explain(self, self._read_features(X, reset=False), numbers, by, max_rows)

    def _node_numbers(self, nodes: Any) -> NDArray[np.int32]:
        listed = [nodes] if isinstance(nodes, str | tuple) else list(nodes)
        return np.asarray(self.hierarchy_.index(listed), dtype=np.int32)
