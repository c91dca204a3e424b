"""HiRRfam-FS with couplings that act: strengths chosen on the training rows of every part.

In the units of the paper alpha = beta = 1 is next to nothing where a node has thousands of rows.
Here strengths are relative to the data, and cross-validation within the training rows chooses them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from palmette.compare import Problem, Split
from palmette.feature_selection._hirr import HirrScore
from papers.hirr_fs.couplings import (
    CANDIDATES,
    MAX_ROWS,
    MAX_SWEEPS,
    STRENGTH_NAMES,
    classifier_of,
    search_strengths,
)
from papers.hirr_fs.methods import FAMILY_ACCURACY

__all__ = ["ChosenStrengths"]


class ChosenStrengths:
    """Make the score of every part of a problem.

    Parameters
    ----------
    problem : Problem
    n_features : int
        Features of a node, with which strengths are compared.

    Attributes
    ----------
    strengths : list of list of float
        Weights of parents and of siblings that were chosen, by part.
    """

    def __init__(self, problem: Problem, n_features: int) -> None:
        self._problem, self._n_features = problem, n_features
        self.strengths: list[list[float]] = []

    def settings(self) -> dict[str, Any]:
        """Return everything that the scores depend on besides the data."""
        return {"candidates": list(CANDIDATES), "max_rows": MAX_ROWS, "max_iter": MAX_SWEEPS}

    def score_of(self, part: Split) -> HirrScore:
        """Choose strengths by the training rows of a part; without couplings it is Hier-FS."""
        coupled = HirrScore(tol=FAMILY_ACCURACY, max_iter=MAX_SWEEPS)
        model = classifier_of(self._problem, coupled, self._n_features)
        model.set_params(decoding="top_down")  # as the classifiers that are scored
        y = np.asarray(part.y_train)
        search = search_strengths(model, self._problem.hierarchy, part.X_train, y, MAX_ROWS)
        parent, sibling = (float(search.best_params_[name]) for name in STRENGTH_NAMES)
        self.strengths.append([parent, sibling])
        scaling = "auto" if sparse.issparse(part.X_train) else True
        if parent == sibling == 0.0:
            return HirrScore(standardize=scaling)
        coupled.set_params(parent=parent, sibling=sibling, standardize=scaling)
        return coupled
