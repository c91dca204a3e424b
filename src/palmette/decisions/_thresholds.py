"""Thresholds: the simplest decision rule for several paths per row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette._arrays import IntArray
from palmette.decisions._coherence import FloatArray, NodeColumns, threshold_sets
from palmette.exceptions import PalmetteError


class LabelRule(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that chooses any number of nodes for every row from the probabilities of the nodes."""

    sees_all_rows = False  # whether the prediction of a row depends on the other rows

    @abstractmethod
    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Coherent probabilities.
        columns : NodeColumns

        Returns
        -------
        sparse bool array of shape (n_samples, n_columns)
            With the ancestors that coherence requires.
        """

    def choose_labels(self, proba: FloatArray, columns: NodeColumns, labels: IntArray) -> IntArray:
        """Choose one label per row, by default as `Threshold(0.5)` does.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Coherent probabilities.
        columns : NodeColumns
        labels : int array of shape (n_labels,)
            Nodes to choose from.

        Returns
        -------
        int array of shape (n_samples,)
            Node numbers.
        """
        return Threshold().choose_labels(proba, columns, labels)


class Threshold(LabelRule):
    """Predict every node whose probability is above a threshold.

    The probabilities are coherent, and hence the predictions too.

    Parameters
    ----------
    value : float or array of shape (n_nodes,)
        From 0 to 1; one for all nodes, or one per node of the hierarchy. A threshold below that of
        an ancestor is raised to it.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> columns = NodeColumns(h, np.arange(1, h.n_nodes))
    >>> proba = np.array([[0.9, 0.6, 0.7, 0.2, 0.1]])
    >>> h.path_strings[columns.nodes[Threshold(0.5).choose(proba, columns).indices]].tolist()
    ['animal', 'animal/cat', 'animal/dog']
    """

    def __init__(self, value: float | ArrayLike = 0.5) -> None:
        self.value = value

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        return threshold_sets(proba, self._values(columns), columns)

    def choose_labels(self, proba: FloatArray, columns: NodeColumns, labels: IntArray) -> IntArray:
        """Choose the label per row whose path exceeds the thresholds the most in total.

        The excess of a node is its probability minus its threshold. With a threshold of 0.5, the
        chosen label has the smallest expected number of missed and wrong nodes.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Coherent probabilities.
        columns : NodeColumns
        labels : int array of shape (n_labels,)
            Nodes to choose from; ties go to the first.

        Returns
        -------
        int array of shape (n_samples,)
            Node numbers.
        """
        below = columns.hierarchy.closure[labels][:, columns.nodes].astype(proba.dtype)
        excess = below @ (proba - self._values(columns)).T.astype(proba.dtype)
        return np.asarray(labels[np.argmax(excess, axis=0)], dtype=np.int32)

    def _values(self, columns: NodeColumns) -> Any:
        values = np.asarray(self.value, dtype=np.float64)
        n_nodes = columns.hierarchy.n_nodes
        if values.shape not in ((), (n_nodes,)):
            raise PalmetteError(
                f"the threshold has shape {values.shape}: expected one number, or one per node of "
                f"the hierarchy ({n_nodes})."
            )
        if not ((values >= 0) & (values <= 1)).all():
            raise PalmetteError(f"Threshold({self.value!r}): expected numbers from 0 to 1.")
        return values[columns.nodes] if values.ndim else float(values)


def is_threshold(decoding: Any) -> bool:
    """Whether a rule is a threshold, given as an object or a number."""
    is_number = isinstance(decoding, Real) and not isinstance(decoding, bool | np.bool_)
    return is_number or isinstance(decoding, Threshold)


def resolve_threshold(decoding: Any) -> Threshold:
    """Return the threshold given by a number, an object, or ``"auto"``.

    Examples
    --------
    >>> resolve_threshold(0.3)
    Threshold(value=0.3)
    """
    if isinstance(decoding, Threshold):
        return decoding
    if is_threshold(decoding):
        return Threshold(float(decoding))
    if isinstance(decoding, str) and decoding == "auto":
        return Threshold()
    raise PalmetteError(
        f"decoding={decoding!r} is not a rule for several paths per row or a DAG: expected 'auto', "
        "a number from 0 to 1, or palmette.decoding.Threshold, TopK, ExpectedF, BestF ('f1'), "
        "ShrunkF ('shrunk_f1') or Youden ('youden')."
    )


def check_beta(rule: Any) -> float:
    """Return the parameter `beta` of a rule, after checking it."""
    beta = rule.beta
    if not isinstance(beta, Real) or isinstance(beta, bool) or not 0 < float(beta) < np.inf:
        raise PalmetteError(f"{rule!r}: expected beta to be a positive number.")
    return float(beta)
