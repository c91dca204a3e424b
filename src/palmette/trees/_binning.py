"""BinMapper: features as one-byte codes, so that splits can be found from histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import BIN, OFFSET, BinArray, CountArray
from palmette.exceptions import PalmetteError

__all__ = ["MAX_BINS", "MISSING", "BinMapper"]

MAX_BINS = 255
MISSING = 255  # the highest code: missing values are above every threshold and go right
_SAMPLED_ROWS = 200_000  # more rows would hardly change the quantiles


class BinMapper:
    """Divide every feature into at most 255 bins.

    The thresholds of a feature with few distinct values are the midpoints between them, so that
    nothing is lost; those of other features are quantiles. A value equal to a threshold goes left.

    Parameters
    ----------
    thresholds : sequence of float arrays
        Thresholds of each feature, ascending.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, np.nan]])
    >>> mapper = BinMapper.fit(X)
    >>> mapper.transform(X)
    array([[  0,   0],
           [  1,   0],
           [  2, 255]], dtype=uint8)
    >>> mapper.threshold(0, 1)
    2.5
    """

    def __init__(self, thresholds: list[CountArray]) -> None:
        self.starts: NDArray[np.int64] = np.zeros(len(thresholds) + 1, dtype=OFFSET)
        np.cumsum([len(cuts) for cuts in thresholds], out=self.starts[1:])
        self.cuts: CountArray = np.concatenate([np.empty(0), *thresholds])

    @classmethod
    def fit(cls, X: Any, max_bins: int = MAX_BINS, random_state: int = 0) -> BinMapper:
        """Find the thresholds of features.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Missing values are NaN.
        max_bins : int
            At most 255.
        random_state : int
            Seed of the sample of rows from which quantiles are computed if there are very many.

        Returns
        -------
        BinMapper
        """
        if not 2 <= max_bins <= MAX_BINS:
            raise PalmetteError(f"max_bins={max_bins!r}: expected an integer from 2 to {MAX_BINS}.")
        columns = _columns(X)
        n_samples = X.shape[0]
        rows = None
        if n_samples > _SAMPLED_ROWS:
            rng = np.random.default_rng(random_state)
            rows = np.sort(rng.choice(n_samples, _SAMPLED_ROWS, replace=False))
        return cls([_cut(columns(j), rows, max_bins) for j in range(X.shape[1])])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.starts) - 1

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """Number of bins of every feature, without the bin of missing values."""
        return np.diff(self.starts) + 1

    def threshold(self, feature: int, code: int) -> float:
        """Threshold between the codes up to `code` and those above; infinite for the last bin."""
        cuts = self.cuts[self.starts[feature] : self.starts[feature + 1]]
        return float(cuts[code]) if code < len(cuts) else float("inf")

    def transform(self, X: Any) -> BinArray:
        """Return the codes of features.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        uint8 array of shape (n_samples, n_features)
        """
        if X.shape[1] != self.n_features:
            raise PalmetteError(
                f"X has {X.shape[1]} features, but BinMapper was fitted with {self.n_features}."
            )
        columns = _columns(X)
        codes = np.empty(X.shape, dtype=BIN)
        for j in range(self.n_features):
            values = columns(j)
            cuts = self.cuts[self.starts[j] : self.starts[j + 1]]
            codes[:, j] = np.searchsorted(cuts, values, side="left")
            codes[np.isnan(values), j] = MISSING
        return codes


def _columns(X: Any) -> Any:
    """Return a function that gives one dense column at a time."""
    if sparse.issparse(X):
        by_column = sparse.csc_array(X)
        return lambda j: by_column[:, [j]].toarray().ravel().astype(np.float64)
    array = np.asarray(X)
    return lambda j: array[:, j].astype(np.float64)


def _cut(values: CountArray, rows: NDArray[np.int64] | None, max_bins: int) -> CountArray:
    known = values if rows is None else values[rows]
    known = known[~np.isnan(known)]
    distinct = np.unique(known)
    if len(distinct) <= max_bins:
        below, above = distinct[:-1], distinct[1:]
        cuts = below + (above - below) / 2
        cuts = np.where(cuts < above, cuts, below)  # no float lies between adjacent floats
    else:
        shares = np.linspace(0, 1, max_bins + 1)[1:-1]
        cuts = np.unique(np.quantile(known, shares, method="midpoint"))
        cuts = cuts[cuts < distinct[-1]]  # a threshold at the largest value separates nothing
    return np.asarray(cuts, dtype=np.float64)
