"""What a tournament keeps of the test rows of its folds, and the calibration that is learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette._arrays import row_chunks, take_rows
from palmette.base._adapters import hierarchy_of
from palmette.calibration._chains import ChainCalibration, HeldOutChains
from palmette.table._problem import TableProblem
from palmette.table.answers import PathAnswers, gives_node_proba

_MOST = 3_000  # maximum number of rows of a fold
_NUMBERS = 2**23  # maximum number of their probabilities


def held_out_chains(
    problem: TableProblem, estimator: Any, X: Any, rows: Any
) -> HeldOutChains | None:
    """Return how sure a fitted model is of rows that it was not fitted on, and what is right.

    Parameters
    ----------
    problem : TableProblem
    estimator : fitted classifier
    X : array or sparse array of shape (n_samples, n_features)
    rows : int array of shape (n_samples,)
        Numbers of these rows in the problem.

    Returns
    -------
    HeldOutChains or None
        Of some thousand rows; None if there are no probabilities, or several paths.
    """
    if problem.several_paths or not gives_node_proba(estimator):
        return None
    hierarchy = hierarchy_of(estimator)
    if not hierarchy.is_tree:
        return None
    answers = PathAnswers(estimator, hierarchy)
    n_rows = int(np.clip(_NUMBERS // answers.space.n_classes, 1, min(_MOST, len(rows))))
    some = np.linspace(0, len(rows) - 1, n_rows).astype(np.int32)
    labels = problem.truth if problem.learner is None else problem.y
    truth = [labels[rows[i]] for i in some.tolist()]
    if problem.learner is None:
        known = {path: hierarchy.index(path) for path in set(truth) if path in hierarchy}
    else:  # a tree of its own over the names of the labels
        classes = answers.space.classes
        known = dict(zip(map(str, hierarchy.names[classes]), classes.tolist(), strict=True))
    true = np.array([known.get(label, -1) for label in truth], dtype=np.int32)
    parts = []
    for chunk in row_chunks(n_rows, answers.space.n_classes):
        proba = answers.class_proba(take_rows(X, some[chunk]))
        parts.append(HeldOutChains.of(proba, answers.space, true[chunk]))
    return HeldOutChains.joined(parts)


def learned_calibration(parts: list[HeldOutChains | None]) -> ChainCalibration | None:
    """Learn the calibration of a model from its folds; None if nothing is known of it."""
    known = [part for part in parts if part is not None]
    return ChainCalibration.fit(HeldOutChains.joined(known)) if known else None
