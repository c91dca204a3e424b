"""RAkEL: an ensemble of label powerset classifiers over small random sets of labels."""

from __future__ import annotations

from math import comb
from numbers import Integral
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
    class_proba,
    fit_member,
    in_threads,
    make_members,
    part_to_fit,
    rows_to_predict,
    rows_to_share,
    ties_to_positive,
)

IntArray = NDArray[np.int64]

_MAX_LABELS = 62  # of a set: combinations are encoded as 64-bit integers
_MAX_TRIES = 100  # draws per set; if nearly all sets are drawn, some may be missed


class RAkEL(MultilabelClassifier):
    """Random k-labelsets.

    Each model is a label powerset classifier of a random set of k labels: its classes are the
    combinations of these labels that occur. The score of a label is the mean vote of the models
    whose sets contain it. The first sets are a random partition of the labels, so that every label
    is in a set; further sets are drawn at random without repetition.

    Parameters
    ----------
    k : int
        Number of labels per set, at most the number of labels.
    n_models : int, optional
        Number of sets, at least as many as the partition has; by default twice the number of
        labels, but at most the number of different sets. Used only if sets overlap.
    overlapping : bool
        Whether sets may have labels in common. If not (RAkELd), only the partition is used.
    estimator : classifier, optional
        Base estimator of the models; `C45Tree` by default.
    voting : {"soft", "hard"}
        Whether models vote by the probabilities of the combinations, or for the most probable one,
        as first published. A tie of hard votes counts as positive.
    hierarchy : Hierarchy, learner of one, or None
        Ancestors of labels are labels too, and predictions are coherent. None: taken from y.
    decoding : "auto", number or decision rule
        "auto" predicts labels with scores above one half.
    n_jobs : int, optional
        Number of models at a time, in threads; -1 for all cores.
    random_state : int, RandomState or None
    verbose : int
        Passed to joblib: positive numbers print the progress.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    labelsets_ : list of int arrays
        Columns of ``nodes_`` in each set, ascending.
    combinations_ : list of bool arrays of shape (n_combinations, k)
        Combinations of the labels of each set that occur: the classes of its model.
    models_ : list of fitted classifiers

    References
    ----------
    G. Tsoumakas, I. Vlahavas (2007). Random k-labelsets: An ensemble method for multilabel
    classification. ECML 2007, 406-417. doi:10.1007/978-3-540-74958-5_38

    G. Tsoumakas, I. Katakis, I. Vlahavas (2011). Random k-labelsets for multilabel classification.
    IEEE Transactions on Knowledge and Data Engineering 23(7), 1079-1089. doi:10.1109/TKDE.2010.164

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b", "c"}, {"b", "c"}, {"b", "c"}]
    >>> RAkEL(k=2, random_state=0).fit(X, y).predict([[0.0], [1.3]]) == [{"a"}, {"b", "c"}]
    True
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "mulan": Preset(
            "J48's trees and hard votes, as in MULAN",
            {"estimator": j48(), "voting": "hard"},
            MULAN,
        )
    }

    def __init__(
        self,
        k: int = 3,
        n_models: int | None = None,
        *,
        overlapping: bool = True,
        estimator: Any = None,
        voting: Literal["soft", "hard"] = "soft",
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.n_models = n_models
        self.overlapping = overlapping
        self.estimator = estimator
        self.voting = voting
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if not isinstance(self.k, Integral) or not 1 <= self.k <= _MAX_LABELS:
            raise PalmetteError(f"k={self.k!r}: expected an integer from 1 to {_MAX_LABELS}.")
        if self.n_models is not None and (
            not isinstance(self.n_models, Integral) or self.n_models < 1
        ):
            raise PalmetteError(f"n_models={self.n_models!r}: expected a positive integer or None.")
        if self.voting not in ("soft", "hard"):
            raise PalmetteError(f"voting={self.voting!r}: expected 'soft' or 'hard'.")

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        rng = check_random_state(self.random_state)
        self.labelsets_ = self._draw_sets(Y.shape[1], rng)
        members = make_members(self.estimator, len(self.labelsets_), rng)
        rows, columns = rows_to_share(X, self.estimator), sparse.csc_array(Y)
        rows = part_to_fit(rows, self.estimator)
        self.combinations_, jobs = [], []
        for member, labels in zip(members, self.labelsets_, strict=True):
            combinations, codes = _combinations(columns[:, labels].toarray())
            self.combinations_.append(combinations)
            jobs.append((member, rows, codes, weights))
        self.models_ = in_threads(fit_member, jobs, self.n_jobs, self.verbose)

    def _draw_sets(self, n_labels: int, rng: np.random.RandomState) -> list[IntArray]:
        k = min(int(self.k), n_labels)
        order = rng.permutation(n_labels)
        sets = [np.sort(order[start : start + k]) for start in range(0, n_labels, k)]
        if not self.overlapping:
            return sets
        sets[-1] = np.sort(order[-k:])  # the last set has k labels too
        wanted = 2 * n_labels if self.n_models is None else int(self.n_models)
        wanted = min(wanted, comb(n_labels, k))
        seen = {tuple(labels.tolist()) for labels in sets}
        for _ in range(_MAX_TRIES * wanted):
            if len(sets) >= wanted:
                break
            labels = np.sort(rng.permutation(n_labels)[:k])
            if tuple(labels.tolist()) not in seen:
                seen.add(tuple(labels.tolist()))
                sets.append(labels)
        return sets

    def _node_proba_of(self, X: Any) -> FloatArray:
        X = rows_to_predict(X, self.estimator)
        votes = np.zeros((X.shape[0], len(self.nodes_)))
        n_votes = np.zeros(len(self.nodes_))
        jobs = zip(self.models_, self.combinations_, strict=True)
        answers = in_threads(self._votes_of, ((*job, X) for job in jobs), self.n_jobs)
        for labels, found in zip(self.labelsets_, answers, strict=True):
            votes[:, labels] += found
            n_votes[labels] += 1
        shares = np.clip(votes / n_votes, 0.0, 1.0)
        return ties_to_positive(shares) if self.voting == "hard" else shares

    def _votes_of(self, model: Any, combinations: NDArray[np.bool_], X: Any) -> FloatArray:
        """Return the votes of a model for the labels of its set, of shape (n_samples, k)."""
        shares = class_proba(model, X, len(combinations))
        if self.voting == "hard":
            return np.asarray(combinations[np.argmax(shares, axis=1)], dtype=np.float64)
        return np.asarray(shares @ combinations.astype(np.float64))

    def _numbers_over_nodes(self) -> int:
        return 4 * len(self.nodes_) + sum(map(len, self.labelsets_))


def _combinations(flags: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return the distinct rows of flags, and the index of the distinct row of each row."""
    numbers = flags.astype(np.int64) @ (1 << np.arange(flags.shape[1], dtype=np.int64))
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    return flags[first], codes
