"""COCOA: cross-coupling aggregation, for rare labels."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette._arrays import FloatArray
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._parameters import from_paper
from palmette.base._presets import Preset, preset, presets
from palmette.decisions._tuned import BestF, TunedRule
from palmette.exceptions import PalmetteError
from palmette.multilabel._c45 import SOSHF_TABLE, j48
from palmette.multilabel._members import (
    RowDraws,
    class_proba,
    fit_member,
    in_threads,
    make_members,
    part_to_fit,
    rows_to_predict,
    rows_to_share,
)


class COCOA(MultilabelClassifier):
    """Cross-coupling aggregation (COCOA), for rare labels.

    Each label :math:`j` has one binary ensemble, and is coupled with K other labels drawn at
    random, each by an ensemble with three classes: :math:`j` is true, only the other label is true,
    or neither. The score of :math:`j` is the mean of the probabilities that it is true,

    .. math:: f_j(x) = \\frac 1 {K + 1} \\Bigl(P(j \\mid x) + \\sum_k P_k(j \\mid x)\\Bigr),

    and its threshold is the lowest one that maximizes F1 on the training rows. Each member of an
    ensemble is fitted on a balanced sample, with at most as many rows per class as the smaller one
    of the two classes of :math:`j` has.

    Parameters
    ----------
    n_couplings : int
        K, at most the number of other labels.
    n_models : int
        Number of members of an ensemble.
    estimator : classifier, optional
        Base estimator of the ensembles; `C45Tree` by default.
    hierarchy : Hierarchy, learner of one, or None
        Ancestors of labels are labels too, and predictions are coherent. None: taken from y.
    decoding : "auto", number or decision rule
        "auto" predicts labels with scores above ``thresholds_``, those of the best F1; a tuned
        rule tunes these.
    n_jobs : int, optional
        Number of ensembles at a time, in threads; -1 for all cores.
    random_state : int, RandomState or None
    verbose : int
        Passed to joblib: positive numbers print the progress.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    couplings_ : list of int arrays
        Columns that each column of ``nodes_`` is coupled with.
    ensembles_ : list of lists of lists of fitted classifiers
        By column, then ensemble (the binary one first), then member.
    thresholds_ : array of shape (n_classes,)

    References
    ----------
    M.-L. Zhang, Y.-K. Li, H. Yang, X.-Y. Liu (2022). Towards class-imbalance aware multi-label
    learning. IEEE Transactions on Cybernetics 52; first at IJCAI 2015.
    doi:10.1109/TCYB.2020.3027509

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b", "c"}, {"b", "c"}, {"b", "c"}]
    >>> COCOA(random_state=0).fit(X, y).predict([[0.0], [1.3]]) == [{"a"}, {"b", "c"}]
    True
    """

    _tunes_on_seen_rows = True  # as in the paper

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "soshf": Preset(
            "10 couplings of 50 of J48's trees, as in the comparison of SOSHF",
            {"n_models": 50, "estimator": j48(), "decoding": BestF(cut="lowest")},
            f"{SOSHF_TABLE}, COCOA",
            "Where several thresholds have the best F is not printed: the lowest is taken, as in "
            "MATLAB. The paper has 10 trees instead of 50 on TMC2007 and Mediamill.",
        )
    }

    @from_paper(K="n_couplings")
    def __init__(
        self,
        n_couplings: int = 10,
        n_models: int = 10,
        estimator: Any = None,
        *,
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_couplings = n_couplings
        self.n_models = n_models
        self.estimator = estimator
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    def _check_parameters(self) -> None:
        for name, least in (("n_couplings", 0), ("n_models", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise PalmetteError(f"{name}={value!r}: expected an integer of at least {least}.")

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(
        self, X: Any, Y: sparse.csr_array, weights: FloatArray | None
    ) -> FloatArray | None:
        rng, n_labels = check_random_state(self.random_state), Y.shape[1]
        n_couplings = min(int(self.n_couplings), n_labels - 1)
        self.couplings_ = [
            np.delete(np.arange(n_labels), j)[rng.permutation(n_labels - 1)[:n_couplings]]
            for j in range(n_labels)
        ]
        tuned = self.several_paths_ and isinstance(self._several_rule(), TunedRule)
        scored_rows = rows_to_predict(X, self.estimator) if tuned else None
        shared = rows_to_share(X, self.estimator)
        jobs = ((*job, shared, scored_rows) for job in self._jobs(X, Y, weights, rng))
        parts = in_threads(self._fit_ensemble, jobs, self.n_jobs, self.verbose)
        fitted = _grouped(parts, n_couplings + 1)
        self.ensembles_ = [[models for models, _ in group] for group in fitted]
        if not tuned:
            return None
        # as published, the scores include members that were fitted on the row
        return np.column_stack([_mean([part for _, part in group]) for group in fitted])

    def _jobs(
        self, X: Any, Y: sparse.csr_array, weights: FloatArray | None, rng: np.random.RandomState
    ) -> Iterator[tuple[list[Any], list[int], NDArray[np.int8], float, RowDraws]]:
        """Yield members, seeds, classes of the rows and size of a class, per ensemble."""
        draws, columns = RowDraws(X, weights), sparse.csc_array(Y)
        own = np.ones(X.shape[0]) if weights is None else weights
        for j, others in enumerate(self.couplings_):
            label = _column(columns, j)
            true = float(own[label == 1].sum())
            size = min(true, float(own.sum()) - true)
            # class 2: the label is true; 1: only the other label; 0: neither
            coupled = [np.maximum(2 * label, _column(columns, k)) for k in others.tolist()]
            for codes in (2 * label, *coupled):
                seeds = rng.randint(2**31 - 1, size=self.n_models).tolist()
                yield make_members(self.estimator, self.n_models, rng), seeds, codes, size, draws

    def _fit_ensemble(
        self,
        members: list[Any],
        seeds: list[int],
        codes: NDArray[np.int8],
        size: float,
        draws: RowDraws,
        X: Any,
        scored_rows: Any,
    ) -> tuple[list[Any], FloatArray | None]:
        """Fit the members of an ensemble; return them and their mean scores of `scored_rows`."""
        models = []
        for member, seed in zip(members, seeds, strict=True):
            rows, weights = draws.balanced(seed, codes, size)
            part = part_to_fit(X, self.estimator, rows)
            models.append(fit_member(member, part, codes[rows], weights))
        return models, None if scored_rows is None else _predict_ensemble(models, scored_rows)

    def _tunes_itself(self) -> bool:
        return True

    def _auto_rule(self) -> TunedRule:
        # the paper does not say which of the best thresholds: this one agrees with published scores
        return BestF(cut="lowest")

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        X = rows_to_predict(X, self.estimator)
        jobs = ((models, X) for group in self.ensembles_ for models in group)
        answers = in_threads(_predict_ensemble, jobs, self.n_jobs)
        groups = _grouped(answers, len(self.ensembles_[0]))
        return np.column_stack([_mean(group) for group in groups])

    def _numbers_over_nodes(self) -> int:
        return len(self.nodes_) * (4 + len(self.couplings_[0]))


def _grouped(items: list[Any], size: int) -> list[list[Any]]:
    """Split a list into parts of equal size."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def _column(Y: sparse.csc_array, j: int) -> NDArray[np.int8]:
    return np.asarray(Y[:, [j]].toarray().ravel(), dtype=np.int8)


def _predict_ensemble(models: list[Any], X: Any) -> FloatArray:
    """Return the mean probability that the label is true, of shape (n_samples,)."""
    return _mean([class_proba(model, X, 3)[:, 2] for model in models])


def _mean(parts: list[FloatArray]) -> FloatArray:
    total = np.zeros_like(parts[0])
    for part in parts:
        total += part
    mean: FloatArray = total / len(parts)
    return mean
