"""Words, pairs of words and pieces of words as hashes, and rows of tf-idf weights of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, kernel
from palmette.trees._random import Word, mix

_SPACE = 32  # stands at both ends of a word
_TOP = np.uint64(1) << np.uint64(63)  # set in the hashes of pieces of words, clear in others
_LOW_BITS = _TOP - np.uint64(1)
_PRIME = np.uint64(0x100000001B3)
_BASIS = np.uint64(0xCBF29CE484222325)


@inner
def _hash_piece(codes: NDArray[np.uint32], start: int, stop: int, first: int, length: int) -> Word:
    """Hash `length` characters from place `first` of the word codes[start:stop], put in spaces."""
    h = _BASIS + np.uint64(length)
    for place in range(start + first - 1, start + first - 1 + length):
        code = codes[place] if start <= place < stop else np.uint32(_SPACE)
        h = (h ^ np.uint64(code)) * _PRIME
    return mix(h)


@kernel
def count_grams(
    codes: NDArray[np.uint32],
    is_word: NDArray[np.uint8],
    starts: NDArray[np.int64],
    low: int,
    high: int,
    counts: NDArray[np.int64],
) -> None:
    """Count the grams of every row, copies included.

    Parameters
    ----------
    codes : uint32 array, IN
        Characters of all rows, one row after the other.
    is_word : uint8 array, IN
        Whether each character that occurs belongs to words, by its code.
    starts : int64 array of shape (n_rows + 1,), IN
        Where rows begin.
    low, high : int
        Smallest and largest length of pieces of words; none where `high` is 0.
    counts : int64 array of shape (n_rows,), OUT
    """
    for row in range(len(starts) - 1):
        found = 0
        words = 0
        at, end = starts[row], starts[row + 1]
        while at < end:
            if not is_word[codes[at]]:
                at += 1
                continue
            begin = at
            while at < end and is_word[codes[at]]:
                at += 1
            words += 1
            width = at - begin + 2
            for length in range(low, high + 1):
                if length >= width:
                    found += 1
                    break
                found += width - length + 1
        counts[row] = found + max(2 * words - 1, 0)


@kernel
def hash_grams(
    codes: NDArray[np.uint32],
    is_word: NDArray[np.uint8],
    starts: NDArray[np.int64],
    low: int,
    high: int,
    first: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    spans: NDArray[np.int64],
) -> None:
    """Hash words, pairs of neighbouring words, and pieces of words with the spaces around them.

    Parameters
    ----------
    codes, is_word, starts, low, high : in
        As in `count_grams`.
    first : int64 array of shape (n_rows + 1,), IN
        Where the hashes of a row begin: sums of what `count_grams` counts.
    hashes : uint64 array of shape (n_grams,), OUT
        The highest bit says that the gram is a piece of a word.
    spans : int64 array of shape (n_grams, 2), OUT
        Places of the characters of each gram, spaces around a word included: [begin, end). Left
        alone where it has no rows.
    """
    keep = len(spans) > 0
    for row in range(len(starts) - 1):
        out = first[row]
        at, end = starts[row], starts[row + 1]
        before = np.uint64(0)
        before_begin = -1
        while at < end:
            if not is_word[codes[at]]:
                at += 1
                continue
            begin = at
            while at < end and is_word[codes[at]]:
                at += 1
            word = _hash_piece(codes, begin, at, 1, at - begin)
            hashes[out] = word & _LOW_BITS
            if keep:
                spans[out, 0], spans[out, 1] = begin, at
            out += 1
            if before_begin >= 0:
                hashes[out] = mix(before * _PRIME + word) & _LOW_BITS
                if keep:
                    spans[out, 0], spans[out, 1] = before_begin, at
                out += 1
            before, before_begin = word, begin
            width = at - begin + 2
            for length in range(low, high + 1):
                n_pieces = max(width - length + 1, 1)
                for place in range(n_pieces):
                    size = min(length, width)
                    hashes[out] = _hash_piece(codes, begin, at, place, size) | _TOP
                    if keep:
                        spans[out, 0], spans[out, 1] = begin - 1 + place, begin - 1 + place + size
                    out += 1
                if length >= width:
                    break


@kernel
def count_rows(
    hashes: NDArray[np.uint64],
    first: NDArray[np.int64],
    row: int,
    n_before: int,
    n_found: int,
    keys: NDArray[np.uint64],
    last: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> tuple[int, int]:
    """Count the rows of every hash, in a table with open addressing.

    Parameters
    ----------
    hashes : uint64 array of shape (n_grams,), IN
    first : int64 array of shape (n_rows + 1,), IN
        Where the hashes of a row begin.
    row : int
        First row to count.
    n_before : int
        Number of rows of earlier calls.
    n_found : int
        Number of distinct hashes in the table.
    keys, last, counts : arrays of shape (2 ** k,), IN and OUT
        Hash, last row and number of rows of each entry; entries of no rows are free.

    Returns
    -------
    row : int
        The first row that was not counted, since the table may have become more than half full.
    n_found : int
    """
    mask = np.uint64(len(keys) - 1)
    for at in range(row, len(first) - 1):
        if 2 * (n_found + first[at + 1] - first[at]) > len(keys):
            return at, n_found
        number = n_before + at
        for i in range(first[at], first[at + 1]):
            slot = hashes[i] & mask
            while counts[slot] > 0 and keys[slot] != hashes[i]:
                slot = (slot + np.uint64(1)) & mask
            if counts[slot] == 0:
                keys[slot], counts[slot], last[slot] = hashes[i], 1, number
                n_found += 1
            elif last[slot] != number:
                counts[slot] += 1
                last[slot] = number
    return len(first) - 1, n_found


@kernel
def copy_counts(
    keys: NDArray[np.uint64],
    last: NDArray[np.int64],
    counts: NDArray[np.int64],
    new_keys: NDArray[np.uint64],
    new_last: NDArray[np.int64],
    new_counts: NDArray[np.int64],
) -> None:
    """Copy the entries of a table of `count_rows` to a larger one, which is empty."""
    mask = np.uint64(len(new_keys) - 1)
    for i in range(len(keys)):
        if counts[i] > 0:
            slot = keys[i] & mask
            while new_counts[slot] > 0:
                slot = (slot + np.uint64(1)) & mask
            new_keys[slot], new_last[slot], new_counts[slot] = keys[i], last[i], counts[i]


@kernel
def first_places(columns: NDArray[np.int32], known: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Find the columns that occur for the first time, and their places.

    Parameters
    ----------
    columns : int32 array of shape (n_grams,), IN
        Columns below 0 do not count.
    known : uint8 array of shape (n_columns,), IN and OUT
        Whether each column has occurred.

    Returns
    -------
    int64 array of shape (n_new, 2)
        Columns and places of their first gram.
    """
    n_new = 0
    found = np.empty((len(known), 2), dtype=np.int64)
    for i in range(len(columns)):
        column = columns[i]
        if column >= 0 and not known[column]:
            known[column] = 1
            found[n_new, 0], found[n_new, 1] = column, i
            n_new += 1
    return found[:n_new]


@kernel
def make_slots(known: NDArray[np.uint64], slots: NDArray[np.int32]) -> None:
    """Lay hashes out so that they are found in a step or two.

    Parameters
    ----------
    known : uint64 array of shape (n_columns,), IN
        Distinct hashes.
    slots : int32 array of shape (2 ** k,), OUT
        Column of the hash in each slot, -1 where there is none; at least twice as many as hashes.
    """
    for i in range(len(slots)):
        slots[i] = -1
    mask = np.uint64(len(slots) - 1)
    for column in range(len(known)):
        slot = known[column] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = column


@kernel
def find_columns(
    hashes: NDArray[np.uint64],
    known: NDArray[np.uint64],
    slots: NDArray[np.int32],
    columns: NDArray[np.int32],
) -> None:
    """Find the column of every hash, -1 where it is not known.

    Parameters
    ----------
    hashes : uint64 array of shape (n_grams,), IN
    known, slots : in
        As in `make_slots`.
    columns : int32 array of shape (n_grams,), OUT
    """
    mask = np.uint64(len(slots) - 1)
    for i in range(len(hashes)):
        slot = hashes[i] & mask
        while slots[slot] >= 0 and known[slots[slot]] != hashes[i]:
            slot = (slot + np.uint64(1)) & mask
        columns[i] = slots[slot]


@kernel
def weigh_rows(
    columns: NDArray[np.int32],
    first: NDArray[np.int64],
    idf: NDArray[np.float64],
    n_words: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
) -> int:
    """Weigh the distinct columns of every row: (1 + log count) x idf, rows of length one.

    Words and pieces of words have length one each, before both together have.

    Parameters
    ----------
    columns : int32 array of shape (n_grams,), IN and OUT
        Columns of the grams; those below 0 do not count. Sorted row by row.
    first : int64 array of shape (n_rows + 1,), IN
    idf : float64 array of shape (n_columns,), IN
    n_words : int
        Columns below it are of words.
    indptr : int64 array of shape (n_rows + 1,), OUT
    indices, values : int32 and float64 arrays of shape (n_grams,), OUT
        Used as far as is returned.
    """
    out = 0
    indptr[0] = 0
    for row in range(len(first) - 1):
        grams = columns[first[row] : first[row + 1]]
        grams.sort()
        begin, at = out, 0
        words, pieces = 0.0, 0.0
        while at < len(grams):
            column, copies = grams[at], 0
            while at < len(grams) and grams[at] == column:
                at += 1
                copies += 1
            if column < 0:
                continue
            value = idf[column]
            if copies > 1:
                value *= 1.0 + np.log(copies)
            indices[out], values[out] = column, value
            out += 1
            if column < n_words:
                words += value * value
            else:
                pieces += value * value
        kinds = (1 if words > 0 else 0) + (1 if pieces > 0 else 0)
        of_words, of_pieces = np.sqrt(kinds * words), np.sqrt(kinds * pieces)
        for i in range(begin, out):
            values[i] /= of_words if indices[i] < n_words else of_pieces
        indptr[row + 1] = out
    return out
