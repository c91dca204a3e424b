"""Which rows of a table have the same inputs, or texts that are nearly the same?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette.table._schema import Schema, Unread

if TYPE_CHECKING:
    import pandas as pd

IntArray = NDArray[np.int64]

# blanks and punctuation; vowel signs and emoji are none
_MARKS = re.compile(
    r"[\s\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a1-\u00bf\u2000-\u206f\u3000-\u303f]+"
)
_LONG = 40  # characters without marks from which texts alone say that rows are nearly equal
_PIECE = 5  # characters
_BINS = 64  # each has the smallest hash of the pieces that fall into it
_PER_BAND = 4  # bins that are equal in two rows before their texts are compared
_EMPTY = np.uint16(0xFFFF)
_BATCH = 2**21  # characters whose pieces are hashed at a time
_COMPARED = 2**16  # rows whose bins are compared at a time
_FACTORS = np.array([0x9E3779B97F4A7C15 ** (i + 1) % 2**64 for i in range(_PIECE)], dtype=np.uint64)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


class NearRows:
    """Collects the rows of a table chunk by chunk, and groups those that are nearly equal.

    Rows are equal if all their inputs are: numbers and dates by value, texts and categories without
    regard to case, punctuation and blanks. Texts of at least 40 other characters in a cell are also
    compared by themselves, whatever the other inputs: by the share of their pieces of five
    characters that both have, the Jaccard index. It is estimated by one permutation of hashes with
    64 bins, with a standard error of at most .06. A row takes about 140 bytes.

    Parameters
    ----------
    schema : Schema
        The inputs.
    similarity : float
        Share from which texts are nearly equal; 1 for equal inputs only.

    Examples
    --------
    >>> import pandas as pd
    >>> near = NearRows(Schema({"title": "text"}), 0.8)
    >>> near.add(pd.DataFrame({"title": ["Red apple!", "red  apple", "green apple"]}))
    >>> near.groups().tolist()
    [0, 0, 1]
    """

    def __init__(self, schema: Schema, similarity: float) -> None:
        self._schema, self._similarity = schema, similarity
        self._keys: list[NDArray[np.uint64]] = []
        self._rows: list[IntArray] = []  # those with long texts
        self._bins: list[NDArray[np.uint16]] = []
        self._n_rows = 0

    def add(self, frame: pd.DataFrame) -> None:
        """Add the next rows of the table."""
        import pandas as pd

        cast = self._schema.cast(frame, unread=Unread())
        for name in self._schema.names("text") + self._schema.names("category"):
            cast[name] = _without_marks(cast[name])
        self._keys.append(
            pd.util.hash_pandas_object(cast, index=False, categorize=False).to_numpy()
        )
        if self._similarity < 1:
            self._add_long([cast[name].tolist() for name in self._schema.names("text")])
        self._n_rows += len(frame)

    def _add_long(self, columns: list[list[str | None]]) -> None:
        import pandas as pd

        cells = zip(*columns, strict=True)
        texts = ["".join(cell for cell in row if cell and len(cell) >= _LONG) for row in cells]
        long = np.flatnonzero([bool(text) for text in texts])
        if len(long):
            codes, distinct = pd.factorize(np.array(texts, dtype=object)[long])
            self._rows.append(self._n_rows + long)
            self._bins.append(smallest_hashes(list(distinct))[codes])

    def groups(self, among: IntArray | None = None) -> IntArray:
        """Number the groups of rows, from 0, in the order of their first rows.

        Parameters
        ----------
        among : int array of shape (n_rows,), optional
            Rows with equal numbers are in one group, too; those with -1 need not be.
        """
        import pandas as pd
        from scipy import sparse

        codes = pd.factorize(np.concatenate(self._keys))[0]
        sides = [(np.arange(self._n_rows), _first_rows(codes))]
        if among is not None:
            chosen = np.flatnonzero(among >= 0)
            sides.append((chosen, chosen[_first_rows(pd.factorize(among[chosen])[0])]))
        if self._rows:
            rows = np.concatenate(self._rows)
            sides += [(rows[a], rows[b]) for a, b in self._similar(np.concatenate(self._bins))]
        left, right = (np.concatenate(side) for side in zip(*sides, strict=True))
        shape = (self._n_rows, self._n_rows)
        links = sparse.coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=shape)
        found = sparse.csgraph.connected_components(links, directed=False)[1]
        numbers: IntArray = pd.factorize(found)[0].astype(np.int64)
        return numbers

    def _similar(self, bins: NDArray[np.uint16]) -> list[tuple[IntArray, IntArray]]:
        """Return pairs of rows of bins that are nearly equal: of each band, with its first row."""
        import pandas as pd

        pairs = []
        for start in range(0, _BINS, _PER_BAND):
            band = np.ascontiguousarray(bins[:, start : start + _PER_BAND])
            codes = pd.factorize(band.view(np.uint64).ravel())[0]
            first = _first_rows(codes)
            others = np.flatnonzero((first != np.arange(len(first))) & (band != _EMPTY).any(axis=1))
            for part in range(0, len(others), _COMPARED):
                some = others[part : part + _COMPARED]
                a, b = bins[some], bins[first[some]]
                known = ((a != _EMPTY) | (b != _EMPTY)).sum(axis=1)
                equal = ((a == b) & (a != _EMPTY)).sum(axis=1)
                near = some[equal >= self._similarity * known]
                pairs.append((near, first[near]))
        return pairs


def _first_rows(codes: NDArray[Any]) -> IntArray:
    """Return, for each row, the first one with its code; codes count in the order of rows."""
    found: IntArray = np.unique(codes, return_index=True)[1][codes]
    return found


def _without_marks(column: pd.Series[Any]) -> Any:
    """Return texts in lower case without blanks and punctuation, unless nothing else is left."""
    import pandas as pd

    codes, texts = pd.factorize(column.to_numpy(dtype=object))
    plain = [_MARKS.sub("", text.casefold()) or text for text in texts.tolist()]
    return pd.Series(np.array([*plain, None], dtype=object)[codes], index=column.index)


def smallest_hashes(texts: list[str]) -> NDArray[np.uint16]:
    """Return the smallest hash of the pieces of each text, by bin: shape (n_texts, 64).

    Two texts have equal hashes in about as large a share of the bins as they share of their pieces.

    Examples
    --------
    >>> a, b = smallest_hashes(["the quick brown fox jumps", "the quick brown fox jumped"])
    >>> 0.6 < float((a == b).mean()) < 1
    True
    """
    found = np.empty((len(texts), _BINS), dtype=np.uint16)
    start = size = 0
    for end, text in enumerate(texts, start=1):
        size += len(text)
        if size >= _BATCH or end == len(texts):
            found[start:end] = _hash_batch(texts[start:end])
            start, size = end, 0
    return found


def _hash_batch(texts: list[str]) -> NDArray[np.uint16]:
    characters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    n_pieces = np.maximum(sizes - _PIECE + 1, 0)
    ends = np.cumsum(sizes)
    starts = np.repeat(ends - sizes - np.cumsum(n_pieces) + n_pieces, n_pieces)
    starts += np.arange(len(starts))
    hashes = np.zeros(len(starts), dtype=np.uint64)
    for i in range(_PIECE):
        hashes += characters[starts + i].astype(np.uint64) * _FACTORS[i]
    for shift in (30, 27):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * _MIX
    places = np.repeat(np.arange(len(texts)) * _BINS, n_pieces) + (hashes >> np.uint64(58)).astype(
        np.int64
    )
    smallest = np.full(len(texts) * _BINS, 2**32 - 1, dtype=np.uint32)
    np.minimum.at(smallest, places, (hashes >> np.uint64(16)).astype(np.uint32))
    mixed = (smallest * np.uint32(0x9E3779B1) >> np.uint32(16)).astype(np.uint16)
    mixed[mixed == _EMPTY] = 0
    mixed[smallest == 2**32 - 1] = _EMPTY
    return mixed.reshape(len(texts), _BINS)
