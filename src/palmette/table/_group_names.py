"""What are the groups of a learned hierarchy called? By words that tell them from their siblings.

The nodes keep their generated names ("group 7"), by which classes are found and trees compared; the
words are labels of the vocabulary of the hierarchy, which drawings and reports show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, is_text
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.table._texts import UNSPACED

_WORDS = 3  # of a name
_ROWS = 10_000  # whose words are read, the same number of every class
_CHARACTERS = 300  # of a cell
_PER_CLASS = 15  # words of a class
_MOST = 2**21  # words of all groups, which limits the memory
_RARE = 0.02  # share of rows below which a word is as good as absent
_COVERED = 0.1  # share of the rows of a group that has each of its words
_TELLING = 1.5  # how many times as frequent as in the siblings a word is
_WIDE = 30  # characters of a class in the name of a group
# letters, and the marks of letters of scripts from Hebrew to Khmer, which no \w is
_LETTERS = r"[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0670\u0900-\u109f\u1780-\u17ff]"
_ASCII = re.compile("[a-z]{3,}")
_RUN = re.compile(rf"(?:{_LETTERS})+")
_UNSPACED_RUN = re.compile(f"[{''.join(f'{a}-{b}' for a, b in UNSPACED)}]+")
_MARKS = re.compile(r"\s*[/\\|>:;»›→▸]+\s*|\s+-+\s+|\s+")


def name_groups(hierarchy: Hierarchy, columns: Iterable[Any], members: Any) -> Hierarchy:
    """Return a learned hierarchy whose groups have words for labels.

    Parameters
    ----------
    hierarchy : Hierarchy
        Its leaves are the classes.
    columns : iterable of sequences of n_samples cells
        Texts and categories; other cells have no words.
    members : sparse array of shape (n_samples, n_nodes)
        Not zero where a row has a class.

    Returns
    -------
    Hierarchy
        Equal to the given one. Groups without telling words are called by their classes. Names are
        distinct, also from those of classes, and no mark in them separates the names of a path.

    Examples
    --------
    >>> edges = [("root", "group 1"), ("group 1", "a"), ("group 1", "b"), ("root", "c")]
    >>> tree = Hierarchy.from_edges(edges)
    >>> texts = ["red apple pie", "red apple", "grey nail"]
    >>> rows = sparse.csr_array((np.ones(3), (range(3), tree.index(["a", "b", "c"]))))
    >>> print(name_groups(tree, [texts], rows))
    root
    ├─ apple, red, pie
    │  ├─ a
    │  └─ b
    └─ c
    """
    h = hierarchy
    groups = np.flatnonzero(~h.is_leaf)[1:]
    if not len(groups):
        return h
    given = sparse.csc_array(members)[:, h.leaves]
    sizes = np.diff(given.indptr)
    below = sparse.csc_array(h.closure[h.leaves]).astype(np.float64)  # leaves by nodes
    per_class = min(_PER_CLASS, _MOST // max(int(below[:, groups].nnz), 1))
    words: list[str] = []
    chosen: dict[int, list[str]] = {}
    if per_class >= _WORDS:
        table, words, rarity = _words_of_classes(h.names[h.leaves], columns, given, per_class)
        if words:
            chosen = _telling(h, groups, below, table, words, rarity)
    taken = {str(name) for name in h.names.tolist()}
    labels: dict[str, str] = {}
    for node in groups.tolist():
        leaves = below.indices[below.indptr[node] : below.indptr[node + 1]]
        found = chosen.get(node, [])
        if len(found) == 1:  # no class has such a name
            found = [*found, f"{len(leaves):,} classes"]
        text = ", ".join(found) or _listed(h.names[h.leaves[leaves]], sizes[leaves])
        labels[str(h.names[node])] = text = _distinct(text, taken)
        taken.add(text)
    return h.with_vocabulary(Vocabulary({"": labels}))


def columns_with_words(X: Any) -> list[Any]:
    """Return the columns of rows of any form that may have words.

    Parameters
    ----------
    X : DataFrame, texts, array or sparse array of n_samples rows

    Examples
    --------
    >>> columns_with_words(["red apple", "saw"]), columns_with_words(np.eye(2))
    ([['red apple', 'saw']], [])
    """
    if hasattr(X, "columns"):
        return [X[name] for name in X.columns if X[name].dtype.kind not in "biufmMc"]
    return [X] if is_text(X) else []


def _words_of_classes(
    names: NDArray[Any], columns: Iterable[Any], given: Any, per_class: int
) -> tuple[Any, list[str], FloatArray]:
    """Return the share of rows of each class with a word, the words, and how rare they are.

    Of every class the words are kept that are most frequent in it and rare in others; those of its
    name are as if all of its rows had them.

    Returns
    -------
    table : sparse array of shape (n_classes, n_words)
    words : list of n_words str
    rarity : array of shape (n_words,)
        0 for those that all classes have, such as "the".
    """
    n_classes, sizes = len(names), np.diff(given.indptr)
    n_read = np.minimum(max(_ROWS // n_classes, 1), sizes)
    owner = np.repeat(np.arange(n_classes), n_read)
    place = np.arange(len(owner)) - (np.cumsum(n_read) - n_read)[owner]
    rows = given.indices[given.indptr[owner] + place * sizes[owner] // n_read[owner]]
    place_of: dict[str, int] = {}

    def matrix(texts: Iterable[list[str]], classes: NDArray[Any], weights: FloatArray) -> Any:
        found: list[int] = []
        counts: list[int] = []
        for words in texts:
            before = len(found)
            found += [place_of.setdefault(word, len(place_of)) for word in dict.fromkeys(words)]
            counts.append(len(found) - before)
        cells = np.repeat(classes, counts), np.array(found, dtype=np.int64)
        values = np.repeat(weights, counts)
        return sparse.csr_array((values, cells), shape=(n_classes, len(place_of)))

    cells = [np.asarray(column, dtype=object)[rows].tolist() for column in columns]
    texts = ([word for cell in row for word in words_in(cell)] for row in zip(*cells, strict=True))
    in_rows = matrix(texts, owner, 1.0 / n_read[owner]) if cells else None
    names_of = map(words_in, map(str, names.tolist()))
    table = matrix(names_of, np.arange(n_classes), np.ones(n_classes))
    if not place_of:
        return None, [], np.zeros(0)
    if in_rows is not None:
        in_rows.resize(table.shape)
        table = sparse.csr_array(in_rows.maximum(table))
    words = sorted(place_of)  # so that ties are broken by the alphabet
    table = table[:, [place_of[word] for word in words]]
    n_with = np.bincount(table.indices, minlength=len(words))
    rarity = np.log(n_classes / np.maximum(n_with, 1))
    weight = table.data * np.sqrt(rarity[table.indices])
    row = np.repeat(np.arange(n_classes), np.diff(table.indptr))
    kept = np.lexsort((table.indices, -np.round(weight, 9), row))
    place = np.arange(len(kept)) - table.indptr[row[kept]]
    kept = kept[place < per_class]
    cell = row[kept], table.indices[kept]
    return sparse.csr_array((table.data[kept], cell), shape=table.shape), words, rarity


def _telling(
    h: Hierarchy,
    groups: NDArray[Any],
    below: Any,
    table: Any,
    words: list[str],
    rarity: FloatArray,
) -> dict[int, list[str]]:
    """Return the words of each group that are more frequent than in its siblings."""
    n_below = np.diff(below.indptr)
    parents = np.array([int(np.atleast_1d(h.parents_of(node))[0]) for node in groups.tolist()])
    parents[n_below[parents] == n_below[groups]] = 0  # an only child is told from all others
    sums = sparse.csr_array(below.T @ table)  # nodes by words
    sums.sort_indices()
    node = np.repeat(np.arange(h.n_nodes), np.diff(sums.indptr))
    inside = sums.data / n_below[node]
    place_of_node = np.full(h.n_nodes, -1)
    place_of_node[groups] = np.arange(len(groups))
    kept = (place_of_node[node] >= 0) & (inside >= _COVERED)
    node, place, inside = node[kept], sums.indices[kept], inside[kept]
    parent = parents[place_of_node[node]]
    n_others = np.maximum(n_below[parent] - n_below[node], 1)
    of_parent = np.asarray(sums[parent, place]).ravel() if len(node) else np.zeros(0)
    outside = np.maximum(of_parent - sums.data[kept], 0.0) / n_others
    score = inside * np.log((inside + _RARE) / (outside + _RARE)) * np.sqrt(rarity[place])
    score = np.round(score, 9)  # so that sums in another order break no tie
    best = np.flatnonzero((score > 0) & (inside >= _TELLING * outside))
    best = best[np.lexsort((place[best], -score[best], node[best]))]
    chosen: dict[int, list[str]] = {}
    for group, at in zip(node[best].tolist(), place[best].tolist(), strict=True):
        found, word = chosen.setdefault(group, []), words[at]
        if len(found) < _WORDS and all(word[:5] != other[:5] for other in found):
            found.append(word)  # not both of card and cards
    return chosen


def words_in(cell: Any) -> list[str]:
    """Return the words of a cell in lower case; pairs of characters where there are no spaces.

    Examples
    --------
    >>> words_in("Red apples, 2 kg"), words_in("番茄炒蛋"), words_in(3.5)
    (['red', 'apples'], ['番茄', '茄炒', '炒蛋'], [])
    """
    if not isinstance(cell, str):
        return []
    text = cell[:_CHARACTERS].lower()
    if text.isascii():
        return _ASCII.findall(text)
    found = []
    for run in _RUN.findall(text):
        if _UNSPACED_RUN.fullmatch(run):
            found += [run[i : i + 2] for i in range(max(len(run) - 1, 1))]
        elif len(run) > 2 or not run.isascii():
            found.append(run)
    return found


def _listed(names: NDArray[Any], sizes: NDArray[Any]) -> str:
    """Return the largest classes of a group as its name."""
    most = _WORDS if len(names) > _WORDS + 1 else len(names)  # "and 1 more" would be as long
    order = np.argsort(-sizes, kind="stable")[:most].tolist()
    shown = []
    for name in map(str, names[order].tolist()):
        text = _MARKS.sub(" ", name).strip()
        shown.append(text if len(text) <= _WIDE else text[: _WIDE - 1] + "…")
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _distinct(text: str, taken: set[str]) -> str:
    number, found = 1, text
    while found in taken:
        number += 1
        found = f"{text} ({number})"
    return found
