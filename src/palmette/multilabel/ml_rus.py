"""ML-RUS: fewer rows without rare labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from palmette.core.labels import NodeLabels
from palmette.multilabel._resampler import Resampler, check_share, chosen_rows, is_minority

__all__ = ["MLRUS"]


class MLRUS(Resampler):
    """Random under-sampling of multi-label data: rows of frequent labels alone are dropped.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    Rows with a rare label are all kept; of the others some are dropped at random.

    Parameters
    ----------
    share : float, default=0.25
        Rows to drop over rows; fewer are dropped where too many have rare labels.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    sample_indices_ : int array of shape (n_resampled,)
        Rows of X that are kept, ascending.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). Addressing imbalance in multilabel
    classification: measures and random resampling algorithms. Neurocomputing 163.

    Examples
    --------
    >>> X, y = np.arange(5)[:, None], [{"a"}, {"a"}, {"a"}, {"a"}, {"b"}]
    >>> X_fewer, y_fewer = MLRUS(share=0.4, random_state=0).fit_resample(X, y)
    >>> y_fewer
    [{'a'}, {'a'}, {'b'}]
    """

    def __init__(self, *, share: float = 0.25, random_state: Any = None) -> None:
        self.share = share
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_share(self.share, below_one=True)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        flags = labels.closed[:, 1:]
        counts = np.bincount(flags.indices, minlength=flags.shape[1])
        has_rare = flags @ is_minority(counts)
        free = np.flatnonzero(~has_rare)
        n_dropped = min(int(self.share * labels.n_samples), len(free))
        random = check_random_state(self.random_state)
        dropped = random.choice(free, n_dropped, replace=False) if n_dropped else free[:0]
        self.sample_indices_ = np.setdiff1d(np.arange(labels.n_samples), dropped)
        return chosen_rows(X, y, self.sample_indices_)
