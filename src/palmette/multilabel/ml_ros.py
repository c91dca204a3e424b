"""ML-ROS: copies of rows with rare labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from palmette.core.labels import NodeLabels
from palmette.multilabel._resampler import Resampler, check_share, chosen_rows, is_minority

__all__ = ["MLROS"]


class MLROS(Resampler):
    """Random over-sampling of multi-label data: rows of rare labels are copied.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    Rare labels take turns: of each a random row is copied, until the label's ratio, copies
    included, is down at that mean, or until enough rows are added.

    Parameters
    ----------
    share : float, default=0.25
        Copies over rows, at most.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    sample_indices_ : int array of shape (n_resampled,)
        Rows of X: all of them, then the copies.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). Addressing imbalance in multilabel
    classification: measures and random resampling algorithms. Neurocomputing 163.

    Examples
    --------
    >>> X, y = np.arange(5)[:, None], [{"a"}, {"a"}, {"a"}, {"a"}, {"b"}]
    >>> X_more, y_more = MLROS(random_state=0).fit_resample(X, y)
    >>> X_more.ravel().tolist(), y_more[-1]
    ([0, 1, 2, 3, 4, 4], {'b'})
    """

    def __init__(self, *, share: float = 0.25, random_state: Any = None) -> None:
        self.share = share
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_share(self.share)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        copies = self._copies(labels)
        self.sample_indices_ = np.concatenate([np.arange(labels.n_samples), copies])
        return chosen_rows(X, y, self.sample_indices_)

    def _copies(self, labels: NodeLabels) -> NDArray[np.intp]:
        random = check_random_state(self.random_state)
        flags = labels.closed[:, 1:]
        of_row = np.split(flags.indices, flags.indptr[1:-1])
        by_label = flags.tocsc()
        bags = np.split(by_label.indices, by_label.indptr[1:-1])
        counts = np.diff(by_label.indptr).astype(np.int64)
        present = counts > 0
        rare = np.flatnonzero(is_minority(counts)).tolist()
        usual = (counts.max() / counts[present]).mean() if rare else 0.0
        left = int(self.share * labels.n_samples)
        copies: list[int] = []
        while rare and len(copies) < left:
            for label in rare[: left - len(copies)]:
                row = bags[label][random.randint(len(bags[label]))]
                counts[of_row[row]] += 1
                copies.append(row)
            rare = [label for label in rare if counts.max() / counts[label] > usual]
        return np.asarray(copies, dtype=np.intp)
