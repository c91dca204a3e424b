"""What the columns of a training table looked like, in a few numbers that a model keeps."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette.persistence.checks import require
from palmette.table._kinds import KINDS
from palmette.table._texts import is_unspaced

if TYPE_CHECKING:
    import pandas as pd

    from palmette.table._schema import Schema

FloatArray = NDArray[np.float64]

N_POINTS = 32  # quantiles
N_VALUES = 50  # categories
N_BITS = 2**16  # of the words of a column of texts
_ROWS = 20_000  # that are looked at, and of texts
_TEXTS = 5_000
_COLUMNS = 200  # the first ones, more than anybody reads about
_LONGEST_VALUE = 200  # characters
_WORD = re.compile(r"\w+")


@dataclass
class ColumnProfile:
    """The distribution of a column of the training rows.

    Parameters
    ----------
    kind : str
        As in `Schema`.
    n_rows : int
        Rows that were looked at.
    n_missing : int
    points, shares : float arrays of shape (n_points,)
        Of numbers, of dates (microseconds since 1970) and of the lengths of texts: values, and the
        share of the rows with a value that have at most this one.
    values : list of str
        The most frequent categories.
    counts : int array of shape (n_values,)
        Rows of each.
    unseen : float
        Share to expect of new values, or on average of the words of a text, that no row here has.
    unseen_variance : float
        Variance of this share over the texts.
    words : uint8 array of shape (8192,), or of shape (0,)
        Bits of the hashes of all words.
    """

    kind: str
    n_rows: int
    n_missing: int
    points: NDArray[np.float64]
    shares: NDArray[np.float64]
    values: list[str]
    counts: NDArray[np.int64]
    unseen: float
    unseen_variance: float
    words: NDArray[np.uint8]

    def check_arrays(self) -> None:
        """Raise ValueError for a profile from a file that no table has."""
        require(self.kind in KINDS, "a column of the profile has an unknown kind")
        require(0 <= self.n_missing <= self.n_rows, "a profile has a wrong number of rows")
        for array, kind, most in (
            (self.points, "f", N_POINTS),
            (self.shares, "f", N_POINTS),
            (self.counts, "i", N_VALUES),
        ):
            is_right = array.ndim == 1 and array.dtype.kind == kind and len(array) <= most
            require(is_right and np.isfinite(array).all(), "an array of a profile is wrong")
        require(self.points.shape == self.shares.shape, "points of a profile have no shares")
        require(len(self.values) == len(self.counts), "values of a profile have no counts")
        is_set = self.words.dtype == np.uint8 and self.words.shape in ((0,), (N_BITS // 8,))
        require(is_set, "the words of a profile are wrong")
        require(
            0 <= self.unseen <= 1 and 0 <= self.unseen_variance <= 1, "a share is not within 0 to 1"
        )


def profile_of(frame: pd.DataFrame, schema: Schema) -> dict[str, ColumnProfile]:
    """Return the profiles of the columns of a table, of its rows or an even sample of them.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
        As from `Schema.cast`.
    schema : Schema
    """
    found = {}
    for name in schema.names()[:_COLUMNS]:
        kind = schema.kinds[name]
        column = _some(frame[name], _TEXTS if kind == "text" else _ROWS)
        found[name] = _profile(column, kind)
    return found


def _some(column: pd.Series[Any], n_rows: int) -> Any:
    if len(column) <= n_rows:
        return column
    return column.iloc[np.linspace(0, len(column) - 1, n_rows).astype(np.int64)]


def _profile(column: Any, kind: str) -> ColumnProfile:
    empty = np.zeros(0)
    made = ColumnProfile(
        kind, len(column), int(column.isna().sum()), empty, empty, [],
        np.zeros(0, dtype=np.int64), 0.0, 0.0, np.zeros(0, dtype=np.uint8),
    )  # fmt: skip
    if kind == "category":
        counts = Counter(column.dropna().tolist())
        best = [pair for pair in counts.most_common(N_VALUES) if len(pair[0]) <= _LONGEST_VALUE]
        made.values = [value for value, _ in best]
        made.counts = np.array([count for _, count in best], dtype=np.int64)
        n_single = sum(count == 1 for count in counts.values())
        made.unseen = n_single / max(sum(counts.values()), 1)
        return made
    values = measures(column, kind)
    if len(values):
        order = np.sort(values)
        places = np.linspace(0, len(order) - 1, N_POINTS).astype(np.int64)
        made.points = np.unique(order[places])
        made.shares = np.searchsorted(order, made.points, side="right") / len(order)
    if kind == "text":
        _add_words(made, column.dropna().tolist())
    return made


def measures(column: Any, kind: str) -> FloatArray:
    """Return the values of a column that are there as numbers; lengths of texts."""
    known = column[column.notna()]
    if kind == "date":
        known = known.to_numpy().astype("datetime64[us]").astype(np.int64)
    elif kind == "text":
        known = [len(text) for text in known.tolist()]
    return np.asarray(known, dtype=np.float64)


def hashes_of_words(texts: list[str]) -> list[list[int]]:
    """Return a hash of each distinct word of each text; of pairs of characters without words.

    Examples
    --------
    >>> [len(row) for row in hashes_of_words(["red red apple", ""])]
    [2, 0]
    """
    found = []
    for text in texts:
        words = set(_WORD.findall(text.casefold()))
        if is_unspaced([text]):
            words = {text[i : i + 2] for i in range(max(len(text) - 1, 1))}
        found.append([zlib.crc32(w.encode("utf-8", "replace")) % N_BITS for w in words])
    return found


def _add_words(made: ColumnProfile, texts: list[str]) -> None:
    """Add the words of some texts, and which share of them a further text lacks on average.

    A word of a text that no other text has would be unseen, were it not for this text.
    """
    rows = [row for row in hashes_of_words(texts) if row]
    if not rows:
        return
    counts = np.bincount(np.concatenate(rows), minlength=N_BITS)
    shares = np.array([np.mean(counts[row] == 1) for row in rows])
    made.words = np.packbits(counts > 0)
    made.unseen, made.unseen_variance = float(shares.mean()), float(shares.var())
