"""Rows and classes of a problem whose complexity is measured, read, scaled and joined."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length

from palmette._arrays import FloatArray, is_missing, read_rows
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

_BLOCK = 2**21  # numbers of a block of dense columns


def read_problem(X: Any, y: Any) -> tuple[Any, NDArray[np.intp], int]:
    """Check rows and classes; return the rows, codes of the classes and their number."""
    rows = read_rows(X, named="the complexity of a problem", dtype=np.float64)
    labels = _one_class_per_row(y)
    check_consistent_length(rows, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise LabelError(f"y has one class only, {classes[0]!r}: expected two classes or more.")
    return rows, codes, len(classes)


def _one_class_per_row(y: Any) -> NDArray[Any]:
    """Return an array of classes that can be sorted, or raise an error."""
    if y is None:
        raise LabelError("y is None: expected one class per row.")
    try:
        labels = np.asarray(y)
    except ValueError:  # of paths or label sets of different lengths
        labels = np.empty((0, 2))
    values = list(y) if isinstance(y, list | tuple) else labels.ravel().tolist()
    if labels.ndim != 1 or any(isinstance(one, list | tuple | set | frozenset) for one in values):
        raise LabelError(
            "y has several labels per row: expected one class per row. For paths and label sets "
            "measure one node or label at a time, or use node_complexity."
        )
    for row, value in enumerate(values):
        if is_missing(value):
            raise LabelError(
                f"y has no class in row {row}, counted from 0: it is {value!r}. Every row needs a "
                "class; leave out the rows without one."
            )
    texts = [isinstance(value, str) for value in values]
    if len(set(texts)) > 1:
        text, other = (values[texts.index(kind)] for kind in (True, False))
        raise LabelError(
            f"y has texts, such as {text!r}, and other values, such as {other!r}: expected classes "
            "of one type. Convert them, for instance with str."
        )
    return labels


def check_max_rows(max_rows: Any) -> None:
    """Raise an error for a number of rows out of range."""
    if max_rows is not None and (not isinstance(max_rows, Integral) or max_rows < 2):
        raise PalmetteError(
            f"max_rows={max_rows!r}: expected an integer of at least 2, or None for all rows."
        )


def require_hierarchy(tree: Any, hierarchy: Any) -> Hierarchy:
    """Return the tree that was given under either name; raise an error if it is none."""
    if tree is not None and hierarchy is not None:
        raise PalmetteError("tree and hierarchy are two names of one argument: give one of them.")
    given = hierarchy if tree is None else tree
    if isinstance(given, Hierarchy):
        given.require_tree("node_complexity")
        return given
    if given is None:
        hint = "Pass a hierarchy, or learn one: BHCTree().fit(X, y).hierarchy_."
    elif hasattr(given, "hierarchy_"):
        hint = f"Pass the hierarchy_ of the fitted {type(given).__name__}."
    elif hasattr(given, "fit") and not isinstance(given, type):
        hint = f"Fit it, and pass its hierarchy: {type(given).__name__}(...).fit(X, y).hierarchy_."
    else:
        hint = "Hierarchy.read reads files; Hierarchy.from_paths and from_edges take lists."
    what = "None" if given is None else f"a {type(given).__name__}"
    raise PalmetteError(f"tree is {what}: node_complexity expects a Hierarchy. {hint}")


def blocks(rows: Any) -> Iterator[tuple[slice, FloatArray]]:
    """Yield slices of columns, and these columns as dense arrays."""
    columns = rows.tocsc() if sparse.issparse(rows) else rows
    width = max(1, _BLOCK // max(1, rows.shape[0]))
    for start in range(0, rows.shape[1], width):
        part = slice(start, start + width)
        block = columns[:, part]
        yield part, block.toarray() if sparse.issparse(block) else block


def moments(rows: Any, codes: NDArray[np.intp]) -> tuple[FloatArray, ...]:
    """Return means, variances, minima and maxima, each of shape (n_classes, n_features)."""
    n_classes = int(codes.max()) + 1
    found = np.empty((4, n_classes, rows.shape[1]))
    for columns, block in blocks(rows):
        for code in range(n_classes):
            # every column adjacent in memory, so that numpy adds it alike in any block
            own = np.ascontiguousarray(block[codes == code].T)
            found[:, code, columns] = own.mean(axis=1), own.var(axis=1), own.min(1), own.max(1)
    return found[0], found[1], found[2], found[3]


def standardized(rows: Any) -> Any:
    """Return dense columns with mean zero and variance one; sparse rows as they are."""
    if sparse.issparse(rows):
        return rows
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(rows)


def spanning_tree(rows: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the ends of the edges of a minimum spanning tree, by Prim's algorithm.

    It needs the distances from one row at a time: n passes over the rows, and no n x n array.
    """
    n = rows.shape[0]
    lengths = _squared_lengths(rows)
    nearest = np.zeros(n, dtype=np.intp)  # row of the tree that each row outside is nearest to
    best = np.full(n, np.inf)
    outside = np.ones(n, dtype=bool)
    edges = np.empty((n - 1, 2), dtype=np.intp)
    last = 0
    for step in range(n - 1):
        outside[last] = False
        row = rows[[last]].toarray().ravel() if sparse.issparse(rows) else rows[last]
        distances = np.maximum(lengths - 2.0 * np.asarray(rows @ row) + lengths[last], 0.0)
        closer = distances < best
        nearest[closer], best[closer] = last, distances[closer]
        last = int(np.argmin(np.where(outside, best, np.inf)))
        edges[step] = nearest[last], last
    return edges[:, 0], edges[:, 1]


def _squared_lengths(rows: Any) -> FloatArray:
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def draw_rows(codes: NDArray[np.intp], max_rows: int | None, rng: Any) -> NDArray[np.intp]:
    """Return the rows that are measured, ascending."""
    n = len(codes)
    if max_rows is None or n <= max_rows:
        return np.arange(n)
    parts = []
    for code in range(int(codes.max()) + 1):
        own = np.flatnonzero(codes == code)
        wanted = min(len(own), max(2, round(len(own) * max_rows / n)))
        parts.append(rng.choice(own, wanted, replace=False))
    return np.sort(np.concatenate(parts))
