"""Held-out rows of boosting: early stopping, and the choice of a decision rule by folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

from palmette._arrays import FloatArray, IntArray, count_rows, take_rows
from palmette.boosting._hypotheses import Samples
from palmette.decisions._rules import Marginal
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace


def split_rows(targets: Any, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """Split rows into training and validation rows, with every class in the training rows.

    Parameters
    ----------
    targets : int array of shape (n_samples,), or sparse bool array of shape (n_samples, n_columns)
    fraction : float
    seed : int

    Returns
    -------
    kept, held : int arrays, in ascending order
    """
    if not sparse.issparse(targets):
        n_classes = int(targets.max()) + 1
        starts = np.arange(len(targets) + 1)
        flags = np.ones(len(targets), dtype=bool)
        targets = sparse.csr_array((flags, targets, starts), shape=(len(targets), n_classes))
    n_samples = targets.shape[0]
    left = np.bincount(targets.indices, minlength=targets.shape[1])
    wanted = max(1, round(fraction * n_samples))
    held: list[int] = []
    for row in np.random.default_rng([seed, 5]).permutation(n_samples).tolist():
        if len(held) == wanted:
            break
        columns = targets.indices[targets.indptr[row] : targets.indptr[row + 1]]
        if (left[columns] > 1).all():
            left[columns] -= 1
            held.append(row)
    if not held:
        raise PalmetteError(
            "early stopping needs validation rows, but every class has one row only. Add more "
            "rows, or set n_iter_no_change=None."
        )
    aside = np.zeros(n_samples, dtype=bool)
    aside[held] = True
    return np.flatnonzero(~aside).astype(np.int32), np.flatnonzero(aside).astype(np.int32)


class HeldOutScores:
    """Scores of validation rows, and their loss.

    Parameters
    ----------
    samples : Samples
    loss : callable
        A function of scores of shape (n_samples, n_columns).
    start : float32 array of shape (n_columns,)
        Initial scores.
    """

    def __init__(
        self, samples: Samples, loss: Callable[[FloatArray], float], start: NDArray[np.float32]
    ) -> None:
        self._samples, self._loss_of = samples, loss
        self._scores = np.tile(start.astype(np.float64), (len(samples.codes), 1))

    def add(self, hypothesis: Any) -> None:
        """Add the votes of a round."""
        hypothesis.add_scores(self._samples, self._scores)

    def loss(self) -> float:
        """Return the loss of the scores."""
        return self._loss_of(self._scores)


class Validation:
    """Losses on the validation rows.

    Parameters
    ----------
    held_out : callable
        Makes the scores of the rows, such as `HeldOutScores`, given the initial ones.
    patience : int
        Number of rounds without improvement after which boosting stops.
    tol : float
        Minimum improvement.
    """

    def __init__(
        self, held_out: Callable[[NDArray[np.float32]], Any], patience: int, tol: float
    ) -> None:
        self._held_out = held_out
        self._patience = patience
        self._tol = tol
        self.losses: list[float] = []

    def begin(self, start: NDArray[np.float32], rounds: Sequence[Any], losses: FloatArray) -> None:
        """Start with the rounds of an earlier fit and the losses after each of them."""
        self._rows = self._held_out(start)
        for hypothesis in rounds:
            self._rows.add(hypothesis)
        self.losses = losses.tolist()
        self._best_loss, self.best = np.inf, 0
        for turn, loss in enumerate(self.losses, start=1):
            self._update_best(turn, loss)

    def add(self, hypothesis: Any) -> None:
        """Add a round and compute its loss."""
        self._rows.add(hypothesis)
        self.losses.append(self._rows.loss())
        self._update_best(len(self.losses), self.losses[-1])

    def _update_best(self, turn: int, loss: float) -> None:
        if loss < self._best_loss - self._tol:
            self._best_loss, self.best = loss, turn

    @property
    def is_over(self) -> bool:
        """Whether the last rounds have not improved the loss."""
        return len(self.losses) - self.best >= self._patience


_THRESHOLDS = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
_TEMPERATURES = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


def tune_marginal(
    rule: Marginal, estimator: Any, X: Any, nodes: IntArray, weights: FloatArray, seed: int
) -> Marginal:
    """Tune the open parameters of a rule by the hierarchical F1 in cross-validation.

    Parameters
    ----------
    rule : Marginal
    estimator : classifier
        Has ``hierarchy_``; models with its parameters are fitted on the folds.
    X : rows
    nodes : int array of shape (n_samples,)
        Label of each row, as a node of ``hierarchy_``.
    weights : array of shape (n_samples,)
    seed : int
        Seed of the folds.

    Returns
    -------
    Marginal
        With a threshold and a temperature.
    """
    n_samples = count_rows(X)
    if n_samples < 2 * rule.cv:
        raise PalmetteError(
            f"decoding={rule!r} is chosen by {rule.cv} folds, but there are {n_samples} rows: "
            f"expected at least {2 * rule.cv}. Set its threshold and temperature."
        )
    hierarchy = estimator.hierarchy_
    names = hierarchy.path_strings
    # constructed, not cloned: callbacks belong to the whole fit, not to the folds
    parameters = {**estimator.get_params(deep=False), **estimator._chosen_parameters()}
    own = {"hierarchy": hierarchy, "decoding": "best_path", "verbose": 0}
    plain = type(estimator)(**{**parameters, **own})
    held: list[tuple[Any, LabelSpace, Any, Any]] = []
    folds = KFold(rule.cv, shuffle=True, random_state=seed)
    for fold, (train, test) in enumerate(folds.split(nodes), start=1):
        if estimator.verbose:
            print(f"fold {fold} of {rule.cv}, to choose the decision rule", flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # folds may lack classes; the whole fit warns of that
            model = clone(plain).fit(take_rows(X, train), names[nodes[train]], weights[train])
        proba = model._class_proba_of(take_rows(X, test))
        held.append((proba, model.space_, nodes[test], weights[test]))
    thresholds = _THRESHOLDS if rule.threshold is None else (rule.threshold,)
    temperatures = _TEMPERATURES if rule.temperature is None else (rule.temperature,)
    candidates = [
        Marginal(threshold, temperature, rule.partial, rule.cv)
        for temperature in temperatures
        for threshold in thresholds
    ]
    return max(candidates, key=lambda candidate: _f1_of(candidate, held, hierarchy))


def _f1_of(rule: Marginal, held: list[Any], hierarchy: Hierarchy) -> float:
    """Return the hierarchical F1, micro-averaged over all folds."""
    common, total = 0.0, 0.0
    depth = hierarchy.depth
    for proba, space, true, weights in held:
        answer = rule.choose(proba, space)
        common += weights @ depth[hierarchy.lca(answer, true)]
        total += weights @ (depth[answer] + depth[true])
    return 2 * common / total if total else 0.0
