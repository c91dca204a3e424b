"""Rows as a reader sees them: a name, and a text that is cut where it is long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from palmette.core.containers import column_names, row_index
from palmette.core.rows import count_rows, is_text, take_rows
from palmette.core.values import is_padding
from palmette.exceptions import PalmetteError
from palmette.reporting.plain import cut

__all__ = ["RowTexts"]

_LENGTH = 240  # characters of a row's text
_VALUE = 120  # characters of one cell in it
_NUMBERS = 8  # features that stand for a row of numbers


class RowTexts:
    """Writes rows of X for a report.

    Parameters
    ----------
    X : rows, as the model takes them
    names : sequence of length n_samples, optional
        What rows are called; by default their index in a pandas table, or their number.
    texts : sequence of length n_samples, optional
        What rows say; by default made from X.
    columns : list, optional
        Columns of a table to show; all by default.
    features : list of str, optional
        Names of the features, where X is an array.

    Examples
    --------
    >>> rows = RowTexts(np.array([[0.0, 1.5], [2.0, 0.0]]), features=["width", "height"])
    >>> rows.name(1), rows.text(1)
    ('1', 'width 2')
    """

    def __init__(
        self,
        X: Any,
        names: Sequence[Any] | None = None,
        texts: Sequence[Any] | None = None,
        *,
        columns: list[Any] | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        for what, given in (("sample_names", names), ("sample_texts", texts)):
            if given is not None and len(given) != count_rows(X):
                raise PalmetteError(
                    f"{what} has {len(given)} entries for {count_rows(X)} rows: expected one a row."
                )
        index = row_index(X)
        self._X = X
        self._names = list(index if names is None and index is not None else names or [])
        self._texts = None if texts is None else list(texts)
        self._columns = columns
        self._features = features

    def name(self, row: int) -> str:
        """Return what a row is called."""
        return cut(str(self._names[row] if self._names else row), 80)

    def text(self, row: int) -> str:
        """Return what a row says, cut."""
        if self._texts is not None:
            return _clean(self._texts[row], _LENGTH)
        one = take_rows(self._X, np.array([row], dtype=np.int32))
        if is_text(one):
            return _clean(next(iter(one)), _LENGTH)
        columns = column_names(one)
        if columns is not None:
            return cut(self._of_table(one, columns), _LENGTH)
        return cut(self._of_numbers(one), _LENGTH)

    def _of_table(self, one: Any, columns: list[Any]) -> str:
        shown = [name for name in columns if self._columns is None or name in self._columns]
        parts = []
        for name in shown:
            column = one[name]
            value = column[0].as_py() if hasattr(column, "to_pylist") else next(iter(column))
            if not is_padding(value):
                text = _clean(value, _VALUE)
                parts.append(text if len(shown) == 1 else f"{name}: {text}")
        return " · ".join(parts)

    def _of_numbers(self, one: Any) -> str:
        values = one.toarray()[0] if sparse.issparse(one) else np.asarray(one)[0]
        values = np.ravel(np.asarray(values))
        told = np.flatnonzero(values)[:_NUMBERS] if values.dtype.kind in "fiub" else range(_NUMBERS)
        parts = [f"{self._feature(j)} {_number(values[j])}" for j in told if j < len(values)]
        return " · ".join(parts)

    def _feature(self, column: int) -> str:
        return f"x{column}" if self._features is None else str(self._features[column])


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _clean(value: Any, length: int) -> str:
    """One line of text: white space of any kind becomes a single space."""
    return cut(" ".join(str(value).split()), length)
