"""TextVectorizer: texts as rows of tf-idf weights of words, pairs of words and pieces of words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from palmette.exceptions import PalmetteError
from palmette.persistence.checks import numbers, require

_TOP = np.uint64(1) << np.uint64(63)
# Thai, Lao, Tibetan and Burmese; Khmer; Chinese and Japanese
UNSPACED = (("\u0e00", "\u109f"), ("\u1780", "\u17ff"), ("\u2e80", "\u9fff"))
# signs, each of which is a word
_EMOJI = re.compile("[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
# marks of scripts without spaces, which are parts of texts there, and a space, which is a mark
_INNER_MARKS = re.compile("[\u00b7\u2010-\u2027\u3001-\u303f\u30fb\uff01-\uff0f\uff1a-\uff20]")
_LETTER = "[\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uff00-\uffef]"
_INNER_SPACE = re.compile(f"(?<={_LETTER})\\s+(?={_LETTER})")
_CHARACTERS_AT_ONCE = 2**21  # of texts that are hashed at a time, about 200 MiB of grams
_MOST_CHARACTERS = 2**20  # of a text: more of them change its weights little, and may take minutes
_LONG = 60  # mean number of characters from which texts are long
_FEW = 5000  # number of texts without spaces below which grams of a single one count, too
_MANY = 100  # number of texts from which frequent pieces are left out


class TextVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert texts to sparse rows of unit norm: tf-idf weights of words, word pairs and pieces.

    A piece is a character n-gram of a word and the spaces around it, so that endings, parts of
    compounds and misspelled words are found. Upper and lower case are equal. Of a text longer than
    a million characters (2**20), the first million are used.

    Parameters
    ----------
    method : {"tfidf", "hashing"}
        "tfidf" has one named column per gram that occurs in at least `min_rows` rows. With
        "hashing" grams share a fixed number of columns, so memory does not grow with the texts.
    pieces : "auto", tuple of two ints, or None
        Minimum and maximum number of characters of a piece; None for words and pairs only. "auto"
        is (3, 4) for texts of less than 60 characters on average, 4 for longer ones, and (1, 3) for
        scripts without spaces between words, of which "tfidf" has no words then.
    min_rows : "auto" or int
        Minimum number of rows of a gram, with "tfidf". "auto" is 2, 3 for long texts, and 1 for
        less than 5,000 texts without spaces.
    max_share : "auto" or float
        Maximum share of the rows that have a piece, with "tfidf": pieces in more of them are left
        out, words and pairs are not. "auto" is 0.2 for 100 or more long texts, else 1.
    max_columns : int
        Maximum number of columns with "tfidf", of which the most frequent are kept; the number of
        columns, a power of two, with "hashing".

    Attributes
    ----------
    pieces_ : tuple of two ints, or None
        The numbers of characters that are used.
    min_rows_ : int
        The minimum number of rows that is used.
    max_share_ : float
        The maximum share of rows that is used.
    idf_ : float array of shape (n_columns,)
    n_words_ : int
        Number of columns of words and pairs, which come before those of pieces.
    hashes_ : uint64 array of shape (n_columns,)
        With "tfidf", the grams of the columns, the most frequent first.
    names_ : object array of shape (n_columns,)
        With "tfidf", the grams as they first occurred; a star marks the rest of a word.

    Examples
    --------
    >>> texts = ["a red apple", "a red car", "an apple"]
    >>> vectorizer = TextVectorizer(pieces=None).fit(texts)
    >>> sorted(vectorizer.names_)
    ['a', 'a red', 'apple', 'red']
    >>> vectorizer.transform(["apple pie"]).toarray().max()
    np.float64(1.0)
    """

    def __init__(
        self,
        method: str = "tfidf",
        *,
        pieces: str | tuple[int, int] | None = "auto",
        min_rows: str | int = "auto",
        max_share: str | float = "auto",
        max_columns: int = 2**17,
    ) -> None:
        self.method = method
        self.pieces = pieces
        self.min_rows = min_rows
        self.max_share = max_share
        self.max_columns = max_columns

    def fit(self, X: Iterable[Any], y: Any = None) -> TextVectorizer:
        """Learn the columns and their weights.

        Parameters
        ----------
        X : texts of n_samples rows
            Anything but a string is an empty text.
        y : ignored

        Returns
        -------
        self
        """
        self._check()
        texts = _as_texts(X)
        self._set_grams(texts)
        if self.method == "hashing":
            self.n_words_ = self.max_columns // 2 if self.pieces_ else self.max_columns
            counts = np.zeros(self.max_columns)
            for grams in self._grams(texts):
                rows, columns = grams.rows(), self._buckets(grams.hashes)
                counts += np.bincount(_once_per_row(rows, columns), minlength=self.max_columns)
        else:
            counts = self._learn_grams(texts)
        self.idf_ = np.log((1.0 + len(texts)) / (1.0 + counts)) + 1.0
        return self

    def transform(self, X: Iterable[Any]) -> sparse.csr_array:
        """Convert texts to rows.

        Parameters
        ----------
        X : texts of n_samples rows

        Returns
        -------
        sparse array of shape (n_samples, n_columns)
        """
        from palmette.table._ngrams import weigh_rows

        check_is_fitted(self, "idf_")
        blocks = []
        for grams in self._grams(_as_texts(X)):
            columns = self._columns_of(grams.hashes)
            indptr = np.empty(len(grams.first), dtype=np.int64)
            indices, values = np.empty_like(columns), np.empty(len(columns))
            used = weigh_rows(
                columns, grams.first, self.idf_, self.n_words_, indptr, indices, values
            )
            if used < 2**31:  # liblinear and trees of scikit-learn need 32-bit indices
                indptr = indptr.astype(np.int32)
            shape = (len(indptr) - 1, len(self.idf_))
            blocks.append(sparse.csr_array((values[:used], indices[:used], indptr), shape=shape))
        if not blocks:
            return sparse.csr_array((0, len(self.idf_)))
        return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the grams of the columns; with "hashing" their numbers."""
        check_is_fitted(self, "idf_")
        if self.method == "hashing":
            return np.array([f"#{i}" for i in range(len(self.idf_))], dtype=object)
        return self.names_

    # ------------------------------------------------------------------ parts

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"max_share": 1.0, **state})  # a parameter that files may lack

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if not hasattr(self, "idf_"):
            return
        n_columns = len(numbers(self.idf_, np.float64, 1, "idf_"))
        n_words = self.n_words_
        is_number = type(n_words) is int and 0 <= n_words <= n_columns
        require(is_number, "n_words_ is not a number of columns")
        low, high = self.pieces_ or (1, 1)
        is_range = type(low) is int and type(high) is int and 1 <= low <= high < 2**31
        require(is_range, "pieces_ are not numbers of characters")
        if self.method == "hashing":
            n_used = 2 * n_words if self.pieces_ else n_words
            require(0 < n_used <= n_columns, "the columns of a text do not fit their weights")
        else:
            n_known = len(numbers(self.hashes_, np.uint64, 1, "hashes_"))
            require(n_known == n_columns, "the columns of a text do not fit their weights")

    def _check(self) -> None:
        if self.method not in ("tfidf", "hashing"):
            raise PalmetteError(f"method={self.method!r}: expected 'tfidf' or 'hashing'.")
        pieces = self.pieces
        if pieces not in ("auto", None) and (
            isinstance(pieces, str) or not 1 <= pieces[0] <= pieces[1]
        ):
            raise PalmetteError(
                f"pieces={pieces!r}: expected the minimum and maximum number of characters, such "
                "as (2, 4), or 'auto', or None."
            )
        if self.min_rows != "auto" and (isinstance(self.min_rows, str) or not self.min_rows >= 1):
            raise PalmetteError(f"min_rows={self.min_rows!r}: expected 'auto' or at least 1.")
        share = self.max_share
        if share != "auto" and (isinstance(share, str) or not 0 < share <= 1):
            raise PalmetteError(f"max_share={share!r}: expected 'auto' or a number in (0, 1].")
        if self.max_columns < 2 or (self.method == "hashing" and self.max_columns.bit_count() != 1):
            raise PalmetteError(
                f"max_columns={self.max_columns!r}: expected at least 2, and a power of two with "
                "method='hashing'."
            )

    def _grams(self, texts: list[str], spans: bool = False) -> Iterator[_Grams]:
        """Yield the grams of some texts at a time."""
        low, high = self._piece_range()
        start, size = 0, 0
        for stop, text in enumerate(texts, start=1):
            size += len(text)
            if size >= _CHARACTERS_AT_ONCE or stop == len(texts):
                yield _hash_texts(texts[start:stop], low, high, spans)
                start, size = stop, 0

    def _piece_range(self) -> tuple[int, int]:
        low, high = self.pieces_ or (1, 0)
        return int(low), int(high)

    def _set_grams(self, texts: list[str]) -> None:
        """Set which grams are used: as given, or by the length of the texts and their script."""
        is_long = sum(map(len, texts)) >= _LONG * len(texts) > 0
        unspaced = is_unspaced(texts)
        pieces = (1, 3) if unspaced else (4, 4) if is_long else (3, 4)
        frequent = is_long and not unspaced and len(texts) >= _MANY
        self.pieces_: Any = pieces if self.pieces == "auto" else self.pieces
        rare = 1 if unspaced and len(texts) < _FEW else 3 if is_long else 2
        self.min_rows_ = rare if self.min_rows == "auto" else int(self.min_rows)
        self.max_share_ = float(self.max_share) if self.max_share != "auto" else 0.2**frequent

    def _learn_grams(self, texts: list[str]) -> NDArray[np.float64]:
        """Choose the grams that become columns; return their numbers of rows."""
        found, counts = self._count_grams(texts)
        is_piece = found >= _TOP
        kept = np.flatnonzero(
            (counts >= self.min_rows_) & (~is_piece | (counts <= self.max_share_ * len(texts)))
        )
        if not len(kept):  # with very few texts all grams are kept
            kept = np.arange(len(found))
        order = np.lexsort([found[kept], -counts[kept]])  # frequent ones first: adjacent in memory
        kept = kept[order[: self.max_columns]]
        kept = kept[np.argsort(is_piece[kept], kind="stable")]
        if is_unspaced(texts) and is_piece[kept].any():
            kept = kept[is_piece[kept]]  # between marks are no words there, but parts of a text
        self.hashes_ = found[kept]
        self.n_words_ = int((~is_piece[kept]).sum())
        self.names_ = self._name_columns(texts)
        return counts[kept].astype(np.float64)

    def _count_grams(self, texts: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the distinct grams and their numbers of rows."""
        from palmette.table._ngrams import copy_counts, count_rows

        keys, last, counts = _empty_table(2**16)
        n_found, n_before = 0, 0
        for grams in self._grams(texts):
            row = 0
            while True:
                row, n_found = count_rows(
                    grams.hashes, grams.first, row, n_before, n_found, keys, last, counts
                )
                if row == len(grams.first) - 1:
                    break
                larger = _empty_table(2 * len(keys))
                copy_counts(keys, last, counts, *larger)
                keys, last, counts = larger
            n_before += row
        used = counts > 0
        return keys[used], counts[used]

    def _name_columns(self, texts: list[str]) -> NDArray[np.object_]:
        """Return the gram of every column as it first occurs."""
        from palmette.table._ngrams import first_places

        names = np.full(len(self.hashes_), None, dtype=object)
        known = np.zeros(len(names), dtype=np.uint8)
        for grams in self._grams(texts, spans=True):
            if known.all():
                break
            new = first_places(self._columns_of(grams.hashes), known)
            names[new[:, 0]] = grams.read(new[:, 1])
        return names

    def _columns_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        from palmette.table._ngrams import find_columns, make_slots

        if self.method == "hashing":
            return self._buckets(hashes)
        slots = np.empty(1 << max(2 * len(self.hashes_), 2).bit_length(), dtype=np.int32)
        make_slots(self.hashes_, slots)
        columns = np.empty(len(hashes), dtype=np.int32)
        find_columns(hashes, self.hashes_, slots, columns)
        return columns

    def _buckets(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Columns by hash: words in the first half, pieces in the second."""
        columns = (hashes & np.uint64(self.n_words_ - 1)).astype(np.int32)
        columns[hashes >= _TOP] += self.n_words_
        return columns


class _Grams(NamedTuple):
    """Hashes of the grams of some texts, row by row.

    Parameters
    ----------
    hashes : uint64 array of shape (n_grams,)
    first : int64 array of shape (n_rows + 1,)
    spans : int64 array of shape (n_grams, 2), or (0, 2)
    joined : str
        All texts; `spans` are positions in it.
    """

    hashes: NDArray[np.uint64]
    first: NDArray[np.int64]
    spans: NDArray[np.int64]
    joined: str

    def rows(self) -> NDArray[np.int64]:
        """Row of every gram."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def read(self, places: NDArray[np.int64]) -> list[str]:
        """Return grams as texts; a star marks the rest of the word of a piece."""
        # the pieces of a word follow it: to search for it from each would take hours for long ones
        words = np.flatnonzero(self.hashes < _TOP)
        rows = np.searchsorted(self.first, places, side="right") - 1
        found = np.searchsorted(words, places, side="right") - 1
        return [
            self._read(place, row, int(words[word]))
            for place, row, word in zip(places.tolist(), rows.tolist(), found.tolist(), strict=True)
        ]

    def _read(self, place: int, row: int, word: int) -> str:
        begin, end = self.spans[place].tolist()
        if place == word:
            return self.joined[begin:end]
        # the character before a word may be a comma, or the end of another text
        word_begin, word_end = self.spans[word].tolist()
        before = word - 1
        is_word = word > self.first[row] and self.hashes[before] < _TOP
        if is_word and self.spans[before][1] == word_end:
            word_begin = int(self.spans[before][0])  # a pair directly follows its second word
        head, tail = "*" * (begin >= word_begin), "*" * (end <= word_end)
        return str(head + self.joined[max(begin, word_begin) : min(end, word_end)] + tail)


def _empty_table(size: int) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the arrays of `count_rows` for a number of grams: hashes, last rows, counts."""
    return np.zeros(size, np.uint64), np.zeros(size, np.int64), np.zeros(size, np.int64)


def is_unspaced(texts: list[str]) -> bool:
    """Whether the script of texts has no spaces between words."""
    sample = "".join(texts[:1000])[:100_000]
    unspaced = sum(any(low <= c <= high for low, high in UNSPACED) for c in sample)
    return unspaced > 0.3 * max(len(sample), 1)


def _as_texts(values: Iterable[Any]) -> list[str]:
    texts = [value[:_MOST_CHARACTERS].lower() if isinstance(value, str) else "" for value in values]
    return [text if text.isascii() else _marked(text) for text in texts]


def _marked(text: str) -> str:
    """Return a text with spaces around emoji, and signs for spaces in scripts without them."""
    return _INNER_SPACE.sub(" _ ", _EMOJI.sub(r" \g<0> ", text))


def _hash_texts(texts: list[str], low: int, high: int, spans: bool) -> _Grams:
    from palmette.table._ngrams import count_grams, hash_grams

    joined = "".join(texts)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    is_word = _word_characters(codes)
    counts = np.empty(len(texts), dtype=np.int64)
    count_grams(codes, is_word, starts, low, high, counts)
    first = np.concatenate([[0], np.cumsum(counts)])
    hashes = np.empty(first[-1], dtype=np.uint64)
    places = np.empty((len(hashes) if spans else 0, 2), dtype=np.int64)
    hash_grams(codes, is_word, starts, low, high, first, hashes, places)
    return _Grams(hashes, first, places, joined)


def _word_characters(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Whether each code is a letter, a mark of one, a digit, an underscore or an emoji."""
    table = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.uint8)
    table[codes] = 1
    for code in np.flatnonzero(table).tolist():
        character = chr(code)
        is_mark = unicodedata.category(character).startswith("M")
        is_sign = character == "_" or any(f.match(character) for f in (_EMOJI, _INNER_MARKS))
        table[code] = character.isalnum() or is_mark or is_sign
    return table


def _once_per_row(rows: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    """Remove repeated values within a row."""
    order = np.lexsort([values, rows])
    rows, values = rows[order], values[order]
    new = np.ones(len(values), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])
    return values[new]
