"""The losses of HierarchicalBoostingClassifier: their objectives and their probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, log_softmax

from palmette._arrays import FloatArray
from palmette.base._scratch import Empty
from palmette.boosting._objectives import (
    AdaBoostWeights,
    GradientObjective,
    LeafSoftmax,
    Logistic,
    PathSoftmax,
)
from palmette.boosting._path_scores import path_scores
from palmette.decisions._losses import hierarchical_costs

_MANY_COLUMNS = 1024


class Member(ABC):
    """Base class of losses.

    Parameters
    ----------
    model : PathClassifier
        Has the attributes of its labels: ``nodes_``, ``several_paths_`` and, with one path per row,
        ``space_``.
    """

    several = False  # whether rows may have several paths
    by_gradients = True  # so that there are objectives for a device of torch, and for workers
    learning_rate = 0.1
    max_depth = 5
    criterion = "squared"

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of scores per row."""

    @abstractmethod
    def loss(self, targets: Any, weights: FloatArray) -> Any:
        """Return the loss of some rows."""

    def objective(
        self,
        targets: Any,
        weights: FloatArray,
        learning_rate: float,
        empty: Empty,
        device: Any = None,
        on_workers: bool = False,
    ) -> Any:
        """Return the objective of some rows.

        Its large arrays are on workers of a cluster, or on a device of torch, if one is given; else
        `empty` makes them.
        """
        loss = self.loss(targets, weights)
        if on_workers:
            from palmette.boosting._on_workers import WorkersObjective

            return WorkersObjective(loss, weights, learning_rate)
        if device is None:
            return GradientObjective(loss, weights, learning_rate, empty=empty)
        from palmette.boosting._device_objective import DeviceObjective

        return DeviceObjective(loss, weights, learning_rate, device)

    def mean_loss(self, targets: Any, weights: FloatArray) -> Any:
        """Return a function that computes the mean loss of scores on some rows."""
        loss = self.loss(targets, weights)
        buffer = np.empty((len(weights), self.n_columns), dtype=np.float32)
        return lambda scores: loss.gradients(scores.astype(np.float32), buffer) / weights.sum()

    @abstractmethod
    def log_proba(self, scores: FloatArray) -> FloatArray:
        """Return log-probabilities of classes, (n_samples, n_classes), with one path per row."""

    def node_proba(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities of nodes, (n_samples, n_columns), with several paths per row."""
        raise NotImplementedError

    def _positives(self, targets: Any) -> sparse.csr_array:
        """Return the nodes that are true for each row, (n_samples, n_columns)."""
        if sparse.issparse(targets):
            return targets
        model = self._model
        closure = model.hierarchy_.closure[model.space_.classes][:, model.nodes_]
        return sparse.csr_array(closure[targets])

    def _path_sums(self, scores: FloatArray) -> FloatArray:
        """Return the sums of scores on the paths to the classes, (n_samples, n_classes)."""
        space = self._model.space_
        at_nodes = np.zeros((space.n_active, len(scores)))
        at_nodes[1:] = scores.T
        return np.asarray(space.sum_down(at_nodes)[space.class_place].T)


class _Leaf(Member):
    @property
    def n_columns(self) -> int:
        return int(self._model.space_.n_classes)

    def loss(self, targets: Any, weights: FloatArray) -> LeafSoftmax:
        return LeafSoftmax(targets, weights, self.n_columns)

    def log_proba(self, scores: FloatArray) -> FloatArray:
        return np.asarray(log_softmax(scores, axis=1))


class _Path(Member):
    learning_rate = 0.07
    criterion = "absolute"

    @property
    def n_columns(self) -> int:
        return len(self._model.nodes_)

    def loss(self, targets: Any, weights: FloatArray) -> PathSoftmax:
        return PathSoftmax(targets, weights, self._model.space_)

    def log_proba(self, scores: FloatArray) -> FloatArray:
        return np.asarray(log_softmax(self._path_sums(scores), axis=1))


class _Logistic(Member):
    several = True
    learning_rate = 0.05
    max_depth = 8

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if self.n_columns > _MANY_COLUMNS:
            # every leaf stores one number per column: 800 such trees would need too much memory
            self.learning_rate, self.max_depth = 0.1, 5

    @property
    def n_columns(self) -> int:
        return len(self._model.nodes_)

    def loss(self, targets: Any, weights: FloatArray) -> Logistic:
        return Logistic(self._positives(targets), weights)

    def log_proba(self, scores: FloatArray) -> FloatArray:
        # given that the nodes form a path, its probability is proportional to exp(sum of scores)
        return np.asarray(log_softmax(self._path_sums(scores), axis=1))

    def node_proba(self, scores: FloatArray) -> FloatArray:
        return np.asarray(expit(scores))


class _Exponential(Member):
    several = True
    by_gradients = False
    learning_rate = 0.3
    max_depth = 6

    @property
    def n_columns(self) -> int:
        return len(self._model.nodes_)

    def _costs(self) -> FloatArray:
        model = self._model
        return np.asarray(hierarchical_costs(model.hierarchy_, nodes=model.nodes_)[model.nodes_])

    def loss(self, targets: Any, weights: FloatArray) -> Any:
        raise NotImplementedError

    def objective(
        self,
        targets: Any,
        weights: FloatArray,
        learning_rate: float,
        empty: Empty,
        device: Any = None,
        on_workers: bool = False,
    ) -> Any:
        return AdaBoostWeights(
            self._positives(targets),
            weights,
            self._costs(),
            votes="confidence",
            learning_rate=learning_rate,
            needs_edge=False,
            empty=empty,
        )

    def mean_loss(self, targets: Any, weights: FloatArray) -> Any:
        signs = np.where(self._positives(targets).toarray(), 1.0, -1.0)
        costs, shares = self._costs(), weights / weights.sum()
        return lambda scores: float(shares @ (np.exp(-signs * scores) @ costs))

    def log_proba(self, scores: FloatArray) -> FloatArray:
        return np.asarray(log_softmax(2.0 * path_scores(scores, self._model.space_), axis=1))

    def node_proba(self, scores: FloatArray) -> FloatArray:
        return np.asarray(expit(2 * scores))


LOSSES: dict[str, type[Member]] = {
    "exponential": _Exponential,
    "leaf_softmax": _Leaf,
    "logistic": _Logistic,
    "path_softmax": _Path,
}
