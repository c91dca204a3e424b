"""Columns of plain numbers, read together: one by one, pandas takes seconds for thousands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import row_chunks
from palmette.table._kinds import has_leading_zeros
from palmette.table._numbers import floats

if TYPE_CHECKING:
    import pandas as pd

_CELLS_AT_ONCE = 2**22
_LEAST = 0.5  # share of the cells that have a value


def number_columns(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of those columns that have no cells but plain numbers and empty ones.

    They are what `guess_kind` and `Schema.cast` would find. Columns that need a closer look are
    left out: those with other cells, mostly empty ones, and those of codes such as 01067.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
        With distinct names of columns.
    names : sequence of str
        Columns that are looked at.

    Returns
    -------
    dict of str to float array of shape (n_samples,)
        Empty cells are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["2.5", "1e3", None], "b": ["x", "2", "3"]}, dtype=object)
    >>> {name: cells.tolist() for name, cells in number_columns(frame, ["a", "b"]).items()}
    {'a': [2.5, 1000.0, nan]}
    """
    found: dict[str, NDArray[np.float64]] = {}
    wanted = frame.columns.get_indexer(list(names))
    kinds = np.array([d.kind if isinstance(d, np.dtype) else "" for d in frame.dtypes])[wanted]
    for part in row_chunks(len(names), len(frame), _CELLS_AT_ONCE):
        for kind, read in (("O", _of_strings), ("iuf", _of_numbers)):
            chosen = np.arange(len(names))[part][np.isin(kinds[part], list(kind))]
            if not len(chosen):
                continue
            cells = frame.iloc[:, wanted[chosen]]
            columns = cells.to_numpy(dtype=object if kind == "O" else np.float64)
            for place, column in zip(chosen.tolist(), columns.T, strict=True):
                values = read(column)
                if values is not None:
                    found[names[place]] = values
    return found


def _of_numbers(cells: NDArray[np.float64]) -> NDArray[np.float64] | None:
    known = cells[~np.isnan(cells)]
    return cells if len(known) and np.isfinite(known).all() else None


def _of_strings(cells: NDArray[Any]) -> NDArray[np.float64] | None:
    texts = cells.tolist()
    kinds = set(map(type, texts))
    has_value: Any = slice(None)
    if kinds == {str, type(None)}:
        has_value = np.array([cell is not None for cell in texts])
        texts = [cell for cell in texts if cell is not None]
    elif kinds != {str}:
        return None
    if len(texts) < _LEAST * len(cells) or not np.isfinite(floats(texts[:1])[0]):
        return None
    if has_leading_zeros(texts):
        return None
    values = np.full(len(cells), np.nan)
    values[has_value] = floats(texts)
    return values if np.isfinite(values[has_value]).all() else None
