"""NumberScaler: columns of numbers on one scale, without outliers and missing values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import row_chunks
from palmette.persistence.checks import integers, numbers, require, same_shapes, within

FloatArray = NDArray[np.float64]

_LARGEST = 3.0  # absolute value of a number, however far from the median it is
_BEYOND = 1e150  # whose square is finite


class NumberScaler:
    """Centres columns by their median, divides them by their interquartile range, and squashes.

    Where both quartiles are equal, half of the range takes the place of the interquartile range; a
    constant column becomes zero. Missing values become zero too, and columns of 0 and 1 show where
    they were. The scale is that of `skrub.SquashingScaler`, for all columns at once: a table with
    thousands of columns is scaled in a fraction of the time.

    Parameters
    ----------
    centres, factors : float array of shape (n_columns,)
        What is subtracted, and what the difference is multiplied by.
    missing : int array of shape (n_missing,)
        Columns that had missing values in training.

    Examples
    --------
    >>> X = np.array([[2.0, 1.0], [3.0, np.nan], [4.0, 1.0]])
    >>> NumberScaler.of(X).transform(X).round(3).tolist()
    [[-0.949, 0.0, 0.0], [0.0, 0.0, 1.0], [0.949, 0.0, 0.0]]
    """

    def __init__(
        self, centres: FloatArray, factors: FloatArray, missing: NDArray[np.int64]
    ) -> None:
        self.centres = centres
        self.factors = factors
        self.missing = missing

    @classmethod
    def of(cls, X: FloatArray) -> NumberScaler:
        """Find the scale of training rows of shape (n_samples, n_columns)."""
        by_column = np.where(np.isfinite(X.T), X.T, np.nan)
        by_column.sort(axis=1)  # missing values are last
        known = X.shape[0] - np.isnan(by_column).sum(axis=1)
        low, middle, high = (_quantile(by_column, known, share) for share in (0.25, 0.5, 0.75))
        least, most = (_quantile(by_column, known, share) for share in (0.0, 1.0))
        spread = np.where(high > low, high - low, (most - least) / 2)
        is_flat = spread <= np.finfo(np.float64).tiny
        factors = np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, spread))
        return cls(middle, factors, np.flatnonzero(np.isnan(X).any(axis=0)))

    def transform(self, X: FloatArray) -> FloatArray:
        """Return rows on this scale: (n_samples, n_columns + n_missing)."""
        n_rows, n_columns = X.shape
        found = np.empty((n_rows, n_columns + len(self.missing)))
        for part in row_chunks(n_rows, n_columns):
            far = np.clip(X[part] - self.centres, -_BEYOND, _BEYOND) * self.factors
            far /= np.sqrt(1.0 + (far / _LARGEST) ** 2)
            found[part, :n_columns] = np.nan_to_num(far, copy=False)
            found[part, n_columns:] = np.isnan(X[part][:, self.missing])
        return found

    def names_of(self, columns: NDArray[np.object_]) -> list[str]:
        """Return the names of the features, given those of the columns."""
        flags = [f"missingindicator_{columns[i]}" for i in self.missing.tolist()]
        return [*columns.tolist(), *flags]

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        centres = numbers(self.centres, np.float64, 1, "centres of columns")
        factors = numbers(self.factors, np.float64, 1, "factors of columns")
        same_shapes(centres, factors)
        missing = integers(self.missing, "columns with missing values")
        require(within(missing, len(centres)).all(), "a column with missing values is not there")


def _quantile(by_column: FloatArray, known: NDArray[np.int64], share: float) -> FloatArray:
    """Return a quantile of the known values of every column, which are ascending and come first."""
    place = share * np.maximum(known - 1, 0)
    before = np.floor(place).astype(np.int64)
    after = np.minimum(before + 1, np.maximum(known - 1, 0))
    columns = np.arange(len(by_column))
    low, high = by_column[columns, before], by_column[columns, after]
    found = low + (high - low) * (place - before)
    return np.where(known > 0, found, 0.0)
