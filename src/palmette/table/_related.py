"""Columns that say the target in other words: levels above it, parts of it, and copies of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette._text import listed
from palmette.table._kinds import Distinct, is_named_id

if TYPE_CHECKING:
    import pandas as pd

IntArray = NDArray[np.integer[Any]]

ABOVE = "it follows from the target"
SAME = "it says the same as the target"
BELOW = "the target follows from it"
_HOLDS = 0.999  # share of the rows in which one column follows from another
_EVIDENCE = 20  # rows in which that could fail
_LEAK = 0.98  # share of the rows that an input predicts by itself
_ROWS = 20_000  # which are looked at before all others
_LEAST_ROWS = 30
_COLUMNS = 200  # the nearest to the target, and the first inputs, that are looked at
_TRIED = 1_000  # rows that an input is to predict alone
_LABELS = 30  # most classes of a tree
_WORDS = 3  # of a name
# words of yes and no: what is so for all rows of a class is a property, and no level
_FLAGS = {"yes", "no", "true", "false", "y", "n", "t", "f", "on", "off", "x", "1", "0"}


class Related(NamedTuple):
    """Columns that follow from the target, or from which the target follows.

    Parameters
    ----------
    levels : list of str
        Columns whose values are groups of classes, from the top, each within the one before it.
    copies : dict of str to str
        Other columns that are not to be used, with the reason.
    """

    levels: list[str]
    copies: dict[str, str]


def find_related(
    frame: pd.DataFrame, columns: Collection[str], codes: IntArray, place: int
) -> Related:
    """Find columns that are related to the target.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
    columns : collection of str
        Columns that are looked at.
    codes : int array of shape (n_samples,)
        Class of every row.
    place : int
        Place of the target in the table; of several chains of levels, the nearest one is taken.

    Returns
    -------
    Related

    Examples
    --------
    >>> import pandas as pd
    >>> species = ["cat", "lion", "dog", "wolf"] * 10
    >>> family = ["felids", "felids", "canids", "canids"] * 10
    >>> frame = pd.DataFrame({"family": family, "weight": np.arange(40) ** 0.5})
    >>> find_related(frame, ["family", "weight"], pd.Series(species).factorize()[0], 2).levels
    ['family']
    """
    places = {name: abs(k - place) for k, name in enumerate(frame.columns)}
    near = sorted(columns, key=places.__getitem__)[:_COLUMNS]
    few = np.linspace(0, len(frame) - 1, min(len(frame), _ROWS)).astype(np.int64)
    cells = {name: _codes(frame[name].iloc[few]) for name in near}
    once = _first_of_equal_rows(list(cells.values()))  # rows that repeat are no evidence
    few, classes = few[once], codes[few[once]]
    related, above = Related([], {}), {}
    ids = set()
    if len(few) < _LEAST_ROWS or classes.min() == classes.max():
        return related
    for name, column in cells.items():
        relation = ""
        if frame[name].dtype.kind not in "fcbmM":
            relation = _relation(column[once], classes)
        if relation and len(few) < len(frame):
            relation = _relation(_codes(frame[name]), codes)
        texts = Distinct.of(frame[name].iloc[few]).texts.tolist() if relation else []
        has_names = _are_groups(texts)
        is_group = has_names or is_named_id(name)
        if (relation == ABOVE and not is_group) or (relation == BELOW and not _are_names(texts)):
            continue
        if relation == ABOVE and column.min() >= 0:
            above[name] = column
            ids.update([] if has_names else [name])
        elif relation:
            related.copies[name] = relation
    related.levels.extend(_chain(above, places, ids))
    related.copies.update(dict.fromkeys(above.keys() - set(related.levels), ABOVE))
    return related


def in_order(frame: pd.DataFrame, columns: list[str]) -> list[str]:
    """Return levels from the top, if another order than the given one is certain.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
    columns : list of str
        Levels of a path.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"kind": ["cat", "lion", "dog", "wolf"] * 9,
    ...                       "family": ["felids", "felids", "canids", "canids"] * 9})
    >>> in_order(frame, ["kind", "family"])
    ['family', 'kind']
    """
    few = np.linspace(0, len(frame) - 1, min(len(frame), _ROWS)).astype(np.int64)
    codes = {name: _codes(frame[name].iloc[few]) for name in columns}
    whole = np.all([column >= 0 for column in codes.values()], axis=0)
    codes = {name: column[whole] for name, column in codes.items()}
    if whole.sum() < _EVIDENCE:
        return columns
    sizes = {name: len(np.unique(column)) for name, column in codes.items()}
    coarse_first = sorted(columns, key=sizes.__getitem__)
    is_chain = all(
        sizes[above] < sizes[below] and _relation(codes[above], codes[below]) == ABOVE
        for above, below in pairwise(coarse_first)
    )
    return coarse_first if is_chain else columns


def find_leaks(frame: pd.DataFrame, kinds: Mapping[str, str], codes: IntArray) -> dict[str, float]:
    """Find inputs that predict the target almost perfectly by themselves.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
        As `Schema.cast` returns it.
    kinds : dict of str to str
    codes : int array of shape (n_samples,)
        Class of every row.

    Returns
    -------
    dict of str to float
        Columns, with the share of rows that they predict.
    """
    few = np.linspace(0, len(frame) - 1, min(len(frame), _TRIED)).astype(np.int64)
    classes = np.unique(codes[few], return_inverse=True)[1]
    sizes = np.bincount(classes)
    if len(few) < _LEAST_ROWS or sizes.max() > 0.9 * len(few):
        return {}
    leaks = {}
    for name, kind in list(kinds.items())[:_COLUMNS]:
        share = 0.0
        if kind == "category":
            share = _predicted(Distinct.of(frame[name].iloc[few]).codes, classes)
        elif kind == "number" and len(sizes) <= _LABELS:
            share = _predicted_by_tree(frame[name].to_numpy(dtype=np.float64)[few], classes)
        if share >= _LEAK:
            leaks[name] = share
    return leaks


def _codes(column: pd.Series[Any]) -> IntArray:
    """Return a number for each distinct value, -1 for missing ones."""
    if column.dtype.kind in "fcbmM":
        return np.asarray(column.factorize()[0])
    return Distinct.of(column).codes


def _first_of_equal_rows(columns: list[IntArray]) -> IntArray:
    keys = np.zeros(len(columns[0]) if columns else 0, dtype=np.uint64)
    for codes in columns:
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + (codes + 2).astype(np.uint64)
    return np.sort(np.unique(keys, return_index=True)[1])


def _are_groups(texts: list[str]) -> bool:
    """Return whether values could be names of groups; yes and no are properties."""
    words = {text.strip().casefold() for text in texts}
    return not words <= _FLAGS and any(each.isalpha() for word in words for each in word)


def _are_names(texts: list[str]) -> bool:
    """Return whether values could be names of classes, rather than texts about a row."""
    return bool(np.median([len(text.split()) for text in texts]) <= _WORDS)


def _relation(column: IntArray, codes: IntArray) -> str:
    """Return how a column is related to the target; empty for not at all, or too few rows."""
    has_value = column >= 0
    if has_value.mean() < 0.5:
        return ""
    column, codes = column[has_value], codes[has_value]
    n, counts, sizes = len(codes), np.bincount(column), np.bincount(codes)
    values, classes = np.count_nonzero(counts), np.count_nonzero(sizes)
    if min(values, classes) < 2:
        return ""
    varies = min(n - counts.max(), n - sizes.max()) >= _EVIDENCE / 2
    follows = varies and n - classes >= _EVIDENCE and _follows(column, codes)
    if follows and values < classes:
        return ABOVE
    leads = varies and n - values >= max(_EVIDENCE, 2 * n / 3) and _follows(codes, column)
    if leads and follows:
        return SAME
    return BELOW if leads and values > classes else ""


def _follows(column: IntArray, other: IntArray) -> bool:
    """Return whether the values of a column follow from those of another one."""
    return _n_explained(column, other) >= _HOLDS * len(column)


def _n_explained(column: IntArray, other: IntArray) -> int:
    """Count the rows whose value is the most frequent one of their value in another column."""
    pairs, counts = np.unique(
        other.astype(np.int64) * (int(column.max()) + 1) + column, return_counts=True
    )
    most = np.zeros(int(other.max()) + 1, dtype=np.int64)
    np.maximum.at(most, pairs // (int(column.max()) + 1), counts)
    return int(most.sum())


def _chain(above: dict[str, IntArray], places: dict[str, int], ids: set[str]) -> list[str]:
    """Return the most columns that lie within each other, from the top.

    Of equals the nearest is taken, but names before identifiers.
    """
    coarse_first = sorted(
        above, key=lambda name: (int(above[name].max()), name in ids, -places[name])
    )
    best: dict[str, list[str]] = {}
    for k, name in enumerate(coarse_first):
        longer = [
            best[other]
            for other in coarse_first[:k]
            if above[other].max() < above[name].max() and _follows(above[other], above[name])
        ]
        best[name] = [*max(longer, key=len, default=[]), name]
    nearest = sorted(best.values(), key=lambda c: (-len(c), c[-1] in ids, places[c[-1]]))
    return nearest[0] if nearest else []


def _predicted(cells: IntArray, codes: IntArray) -> float:
    """Return the share of rows whose class the same value has in the other half of the rows."""
    half = np.arange(len(cells)) % 2
    size, n_right, n_known = int(codes.max()) + 1, 0, 0
    for part in (0, 1):
        learned, asked = (half == part) & (cells >= 0), (half != part) & (cells >= 0)
        pairs, counts = np.unique(cells[learned] * size + codes[learned], return_counts=True)
        order = np.argsort(counts, kind="stable")
        class_of = np.full(int(cells.max(initial=0)) + 1, -1)
        class_of[pairs[order] // size] = pairs[order] % size
        guess = class_of[cells[asked]]
        n_right += int((guess == codes[asked]).sum())
        n_known += int((guess >= 0).sum())
    return n_right / n_known if n_known >= 0.5 * len(cells) else 0.0


def _predicted_by_tree(cells: NDArray[np.float64], codes: IntArray) -> float:
    """Return the share of rows that a small tree of the other half predicts from a number."""
    if (
        not np.isfinite(cells).all()
        or _n_changes(cells, codes) > 0.2 * len(cells) + 2 * codes.max()
    ):
        return 0.0
    from sklearn.tree import DecisionTreeClassifier  # most tables need none, and it takes a second

    x = np.unique(cells, return_inverse=True)[1].reshape(-1, 1).astype(np.float32)
    half, n_right = np.arange(len(cells)) % 2 == 0, 0
    for part in (half, ~half):
        tree = DecisionTreeClassifier(max_leaf_nodes=2 * (int(codes.max()) + 1), random_state=0)
        right = tree.fit(x[part], codes[part]).predict(x[~part]) == codes[~part]
        if right.mean() < _LEAK - 0.05:  # most columns: one tree is enough
            return 0.0
        n_right += int(right.sum())
    return n_right / len(cells)


def _n_changes(cells: NDArray[np.float64], codes: IntArray) -> int:
    """Count the changes of class along ascending numbers: at most two per row that a tree misses,
    and one per leaf. To count them takes a tenth of the time of a tree."""
    along = codes[np.lexsort([codes, cells])]
    return int((along[1:] != along[:-1]).sum())


def sentences(related: Related, leaks: Mapping[str, float], target: str) -> list[str]:
    """Say what was found, and what to do.

    Parameters
    ----------
    related : Related
    leaks : dict of str to float
        As from `find_leaks`.
    target : str
        Name of the column.

    Examples
    --------
    >>> related = Related(["family"], {})
    >>> for sentence in sentences(related, {"code": 0.991}, "species"):
    ...     print(sentence)  # doctest: +NORMALIZE_WHITESPACE
    The column 'family' follows from the target: it is read as the level above it, family > species,
    and is no input. If it is one, pass --column family=category
    The column 'code' alone predicts 99.1 % of the rows. If it is not known for new rows, pass
    --drop code
    """
    lines = []
    if related.levels:
        one = len(related.levels) == 1
        names = listed([repr(name) for name in related.levels])
        lines.append(
            f"The column{'' if one else 's'} {names} {'follows' if one else 'follow'} from the "
            f"target: {'it is read as the level' if one else 'they are read as the levels'} above "
            f"it, {' > '.join([*related.levels, target])}, and {'is' if one else 'are'} no "
            f"input{'' if one else 's'}. If {'it is one' if one else 'one of them is'}, pass "
            f"--column {related.levels[0]}=category"
        )
    for name, why in related.copies.items():
        lines.append(
            f"The column {name!r} is left out: {why}. If it is an input, pass "
            f"--column {name}=category"
        )
    for name, share in leaks.items():
        lines.append(
            f"The column {name!r} alone predicts {100 * share:.1f} % of the rows. If it is not "
            f"known for new rows, pass --drop {name}"
        )
    return lines
