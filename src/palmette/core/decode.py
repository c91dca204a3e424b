"""From scores to labels: the only place that walks a hierarchy at predict time.

A *route* answers, for one family of a `LabelSpace` and some rows, how probable each of its options
is, given that the path reaches the family's parent. Everything here is made of routes or of the
probabilities of the classes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from palmette.core.space import LabelSpace

__all__ = ["Route", "RouteByMarginals", "beam_search", "path_product", "top_classes"]

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


class Route(Protocol):
    """Conditional probabilities of the options of one family."""

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        """Return probabilities of shape (n_rows, n_options), rows summing to one.

        Parameters
        ----------
        parent : int
            Place of the family's parent in the space.
        options : int array of shape (n_options,)
            Places of its options.
        rows : int array or None
            Rows of the data that ask; None for all of them.
        """


class RouteByMarginals:
    """The route that the marginal probabilities of a flat model imply.

    Parameters
    ----------
    space : LabelSpace
    proba : array of shape (n_samples, n_classes)
    """

    def __init__(self, space: LabelSpace, proba: FloatArray) -> None:
        self._space = space
        self._proba = proba
        self._marginals = space.marginals(proba)

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        """Return probabilities of shape (n_rows, n_options); see `Route`."""
        chosen = slice(None) if rows is None else rows
        values = self._marginals[options][:, chosen].T
        if options[0] == parent:  # what ends at the parent, not all that reaches it
            values[:, 0] = self._proba[chosen, self._space.class_at[parent]]
        return normalize_rows(values)


def normalize_rows(values: FloatArray) -> FloatArray:
    """Scale rows to sum to one; a row of zeros, which tells nothing, becomes uniform."""
    totals = values.sum(axis=1, keepdims=True)
    empty = totals[:, 0] <= 0
    if empty.any():
        values = values.copy()
        values[empty] = 1.0
        totals = values.sum(axis=1, keepdims=True)
    shares: FloatArray = values / totals
    return shares


def path_product(space: LabelSpace, route: Route, n_samples: int) -> FloatArray:
    """Probabilities of all classes by the chain rule, exactly.

    Parameters
    ----------
    space : LabelSpace
    route : Route
    n_samples : int

    Returns
    -------
    array of shape (n_samples, n_classes)
        Rows sum to one. Holds (n_active + n_classes) x n_samples numbers at a time.
    """
    reach = np.empty((space.n_active, n_samples))
    reach[0] = 1.0
    ends = np.zeros((space.n_classes, n_samples))
    for parent, options in space.families:
        if len(options) == 1:
            reach[options] = reach[parent]
            continue
        chances = route(parent, options, None).T * reach[parent]
        if options[0] == parent:
            ends[space.class_at[parent]] = chances[0]
            options, chances = options[1:], chances[1:]
        reach[options] = chances
    childless = _childless_classes(space)
    ends[childless] = reach[space.class_place[childless]]
    return ends.T


def _childless_classes(space: LabelSpace) -> NDArray[np.intp]:
    has_children = np.zeros(space.n_active, dtype=bool)
    has_children[space.parent[1:]] = True
    return np.flatnonzero(~has_children[space.class_place])


def beam_search(
    space: LabelSpace, route: Route, n_samples: int, width: int
) -> tuple[IntArray, FloatArray]:
    """Follow the `width` best paths from the root down; a width of 1 is greedy top-down.

    Only the families on surviving paths are asked, so the cost grows with the depth and not with
    the number of classes. A beam as wide as the number of classes is exact.

    Returns
    -------
    classes : int array of shape (n_samples, width)
        Best first; -1 where there were fewer paths.
    proba : array of shape (n_samples, width)
        Probabilities of these paths.
    """
    families = dict(space.families)
    row = np.arange(n_samples, dtype=np.int32)
    place = np.zeros(n_samples, dtype=np.int32)
    done = np.full(n_samples, 0 not in families)
    value = np.ones(n_samples)
    while not done.all():
        row, place, value, done = _expand(families, route, row, place, value, done)
        kept = _best_per_row(row, value, width)
        row, place, value, done = row[kept], place[kept], value[kept], done[kept]
    order = np.lexsort((place, -value, row))
    row, place, value = row[order], place[order], value[order]
    rank = _rank_in_row(row)
    classes = np.full((n_samples, width), -1, dtype=np.int32)
    proba = np.zeros((n_samples, width))
    classes[row, rank] = space.class_at[place]
    proba[row, rank] = value
    return classes, proba


def _expand(
    families: dict[int, IntArray],
    route: Route,
    row: IntArray,
    place: IntArray,
    value: FloatArray,
    done: NDArray[np.bool_],
) -> tuple[IntArray, IntArray, FloatArray, NDArray[np.bool_]]:
    """Replace every unfinished path by its continuations, one family at a time."""
    pieces = [(row[done], place[done], value[done], done[done])]
    open_paths = np.flatnonzero(~done)
    open_paths = open_paths[np.argsort(place[open_paths], kind="stable")]
    first = np.flatnonzero(np.diff(place[open_paths], prepend=-1))
    for group in np.split(open_paths, first[1:]):
        parent = int(place[group[0]])
        options = families[parent]
        if len(options) == 1:
            chances = value[group][:, None]
        else:
            chances = route(parent, options, row[group]) * value[group][:, None]
        ended = np.array([int(o) == parent or int(o) not in families for o in options])
        pieces.append(
            (
                np.repeat(row[group], len(options)),
                np.tile(options, len(group)),
                chances.ravel(),
                np.tile(ended, len(group)),
            )
        )
    rows, places, values, ends = zip(*pieces, strict=True)
    return (
        np.concatenate(rows),
        np.concatenate(places),
        np.concatenate(values),
        np.concatenate(ends),
    )


def _best_per_row(row: IntArray, value: FloatArray, width: int) -> NDArray[np.intp]:
    order = np.lexsort((-value, row))
    return order[_rank_in_row(row[order]) < width]


def _rank_in_row(sorted_rows: IntArray) -> NDArray[np.intp]:
    """0, 1, 2, ... within each run of equal rows."""
    first = np.flatnonzero(np.diff(sorted_rows, prepend=-1))
    lengths = np.diff(np.r_[first, len(sorted_rows)])
    return np.arange(len(sorted_rows)) - np.repeat(first, lengths)


def top_classes(proba: FloatArray, k: int) -> IntArray:
    """Return the `k` most probable classes of every row, best first: (n_samples, k)."""
    k = min(k, proba.shape[1])
    some = np.argpartition(-proba, k - 1, axis=1)[:, :k]
    # ties go to the first class, whatever argpartition did with them
    some.sort(axis=1)
    order = np.argsort(-np.take_along_axis(proba, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1).astype(np.int32)
