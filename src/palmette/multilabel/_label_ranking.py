"""CalibratedLabelRanking: ranking of labels by pairwise comparison with a virtual label."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette._arrays import FloatArray
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._presets import Preset, preset, presets
from palmette.exceptions import PalmetteError
from palmette.multilabel._c45 import MULAN, j48
from palmette.multilabel._members import (
    fit_member,
    in_threads,
    make_members,
    part_to_fit,
    positive_proba,
    rows_to_predict,
    rows_to_share,
)

_TOLERANCE = 1e-9  # votes that differ by less are equal up to rounding errors


class CalibratedLabelRanking(MultilabelClassifier):
    """Calibrated label ranking (CLR).

    For each pair of labels, a classifier is fitted on the rows that have exactly one of them, and
    predicts which one. A virtual label separates the labels of a row from the others: its
    comparison with a label predicts whether the label is true. With :math:`p_{ij}` the vote for
    label :math:`i` against :math:`j`, and the virtual label :math:`0`,

    .. math:: v_i = p_{i0} + \\sum_{j \\ne i} p_{ij}, \\qquad v_0 = \\sum_i (1 - p_{i0}),

    and the labels with :math:`v_i \\ge v_0` are predicted. Scores are
    :math:`\\tfrac 1 2 \\bigl((v_i + \\tfrac 1 2) / (L + 1) + [v_i \\ge v_0]\\bigr)` for :math:`L`
    labels: the virtual label is at one half, and labels on either side of it are ordered by their
    votes, between rows too.

    Parameters
    ----------
    estimator : classifier, optional
        Base estimator of the comparisons; `C45Tree` by default.
    voting : {"hard", "soft", "mulan"}
        Whether votes are 0 or 1, as published, or probabilities. A tie of hard votes is half a vote
        for either side. "mulan", as in the library of that name: it is a vote for the label against
        the virtual one, and for the first of two labels; a pair without rows to learn from has no
        vote.
    hierarchy : Hierarchy, learner of one, or None
        Ancestors of labels are labels too, and predictions are coherent. None: taken from y.
    decoding : "auto", number or decision rule
        "auto" predicts labels with scores above one half, those ranked above the virtual label.
    n_jobs : int, optional
        Number of labels at a time, in threads; -1 for all cores.
    random_state : int, RandomState or None
    verbose : int
        Passed to joblib: positive numbers print the progress.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    label_models_ : list of fitted classifiers
        Comparisons of each column of ``nodes_`` with the virtual label.
    pair_models_ : list of lists
        ``pair_models_[i][j - i - 1]`` compares columns i < j; its class 1 is i. None if no row has
        exactly one of the two: both then get half a vote, or none with ``voting="mulan"``.

    References
    ----------
    J. Fürnkranz, E. Hüllermeier, E. Loza Mencía, K. Brinker (2008). Multilabel classification via
    calibrated label ranking. Machine Learning 73, 133-153. doi:10.1007/s10994-008-5064-8

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b", "c"}, {"b", "c"}, {"b", "c"}]
    >>> ranking = CalibratedLabelRanking(random_state=0).fit(X, y)
    >>> ranking.predict([[0.0], [1.3]]) == [{"a"}, {"b", "c"}]
    True
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "mulan": Preset(
            "J48's trees, and ties for the first label, as in MULAN",
            {"estimator": j48(), "voting": "mulan"},
            MULAN,
        )
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        voting: Literal["hard", "soft", "mulan"] = "hard",
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.voting = voting
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if self.voting not in ("soft", "hard", "mulan"):
            raise PalmetteError(f"voting={self.voting!r}: expected 'soft', 'hard' or 'mulan'.")

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        rng, flags = check_random_state(self.random_state), np.asfortranarray(Y.toarray())
        n_labels, shared = flags.shape[1], rows_to_share(X, self.estimator)
        rows = part_to_fit(shared, self.estimator)
        members = make_members(self.estimator, n_labels, rng)
        jobs = ((member, rows, flags[:, i], weights) for i, member in enumerate(members))
        self.label_models_ = in_threads(fit_member, jobs, self.n_jobs, self.verbose)
        pairs = (
            (make_members(self.estimator, n_labels - i - 1, rng), shared, flags, i, weights)
            for i in range(n_labels - 1)
        )
        self.pair_models_ = in_threads(self._fit_pairs, pairs, self.n_jobs, self.verbose)

    def _fit_pairs(
        self,
        members: list[Any],
        X: Any,
        flags: NDArray[np.bool_],
        i: int,
        weights: FloatArray | None,
    ) -> list[Any]:
        """Fit the comparisons of a label with all later labels."""
        models: list[Any] = []
        for j, member in enumerate(members, start=i + 1):
            rows = np.flatnonzero(flags[:, i] != flags[:, j])
            if not len(rows):
                models.append(None)
                continue
            here = part_to_fit(X, self.estimator, rows)
            own = None if weights is None else weights[rows]
            models.append(fit_member(member, here, flags[rows, i], own))
        return models

    def _node_proba_of(self, X: Any) -> FloatArray:
        X = rows_to_predict(X, self.estimator)
        true = np.column_stack(self._all_votes([self.label_models_], X)[0])
        votes, virtual = true.copy(), (1.0 - true).sum(axis=1)
        for i, won in enumerate(self._all_votes(self.pair_models_, X)):
            for j, share in enumerate(won, start=i + 1):
                if self.voting == "mulan" and self.pair_models_[i][j - i - 1] is None:
                    continue
                votes[:, i] += share
                votes[:, j] += 1.0 - share
        relevant = votes >= virtual[:, None] - _TOLERANCE
        return np.asarray(((votes + 0.5) / (votes.shape[1] + 1.0) + relevant) / 2.0)

    def _all_votes(self, models: list[list[Any]], X: Any) -> list[list[FloatArray]]:
        return in_threads(self._votes_of, ((some, X) for some in models), self.n_jobs)

    def _votes_of(self, models: list[Any], X: Any) -> list[FloatArray]:
        """Return the votes of models for their class 1, each of shape (n_samples,)."""
        even = np.full(X.shape[0], 0.5)
        shares = [even if model is None else positive_proba(model, X) for model in models]
        if self.voting == "soft":
            return shares
        if self.voting == "mulan":
            return [(share >= 0.5).astype(np.float64) for share in shares]
        return [np.where(share == 0.5, 0.5, share > 0.5) for share in shares]

    def _numbers_over_nodes(self) -> int:
        return len(self.nodes_) * (4 + len(self.nodes_) // 2)  # the votes of all comparisons
