"""From scores to labels: all traversals of a hierarchy at predict time.

A *route* returns, for one family of a `LabelSpace` and some rows, the probability of each option,
given that the path reaches the parent of the family. All functions here use routes or the
probabilities of the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray, IntArray, row_chunks
from palmette.labels._space import LabelSpace

_PATHS_AT_ONCE = 2**22  # paths of an exact search if no branch could be pruned
_SLACK = 1e-9  # larger than the rounding differences of probabilities between batches of rows


class Route(Protocol):
    """Conditional probabilities of the options of one family."""

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        """Return probabilities of shape (n_rows, n_options); each row sums to 1.

        Parameters
        ----------
        parent : int
            Position of the parent of the family in the space.
        options : int array of shape (n_options,)
            Positions of its options.
        rows : int array or None
            Rows of the data; None for all of them.
        """


class RouteByMarginals:
    """The route given by the marginal probabilities of a flat model.

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
        chosen = np.arange(len(self._proba)) if rows is None else rows
        values = self._marginals[np.ix_(options, chosen)].T
        if options[0] == parent:  # stopping at the parent, not reaching it
            values[:, 0] = self._proba[chosen, self._space.class_at[parent]]
        return normalize_rows(values)


def normalize_rows(values: FloatArray) -> FloatArray:
    """Scale rows so that they sum to 1; a row of zeros becomes uniform."""
    totals = values.sum(axis=1, keepdims=True)
    empty = totals[:, 0] <= 0
    if empty.any():
        values = values.copy()
        values[empty] = 1.0
        totals = values.sum(axis=1, keepdims=True)
    shares: FloatArray = values / totals
    return shares


def path_product(space: LabelSpace, route: Route, n_samples: int) -> FloatArray:
    """Return the exact probabilities of all classes by the chain rule.

    Returns
    -------
    array of shape (n_samples, n_classes)
        Rows sum to 1. The memory used is (n_active + n_classes) x n_samples numbers.
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
    childless = np.flatnonzero(~space.has_children[space.class_place])
    ends[childless] = reach[space.class_place[childless]]
    return ends.T


def top_down(
    space: LabelSpace, route: Route, n_samples: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Choose the most probable option at every step from the root; ties go to the first.

    Parameters
    ----------
    space : LabelSpace
    route : Route
    n_samples : int

    Returns
    -------
    classes : int array of shape (n_samples,)
    proba : array of shape (n_samples,)
        Probability of the chosen path.
    rival : array of shape (n_samples,)
        Largest probability of a branch that was not chosen, an upper bound for all other paths.
    """
    families = dict(space.families)
    place = np.zeros(n_samples, dtype=np.int32)
    value, rival = np.ones(n_samples), np.zeros(n_samples)
    walking = np.arange(n_samples if families else 0, dtype=np.int32)
    while walking.size:
        still = []
        for parent, group in _by_place(place[walking]):
            rows, options = walking[group], families[parent]
            if len(options) > 1:
                chances = route(parent, options, rows) * value[rows, None]
                best, value[rows], second = _two_best(chances)
                rival[rows] = np.maximum(rival[rows], second)
                place[rows] = options[best]
            else:
                place[rows] = options[0]
            still.append(rows[space.has_children[place[rows]] & (place[rows] != parent)])
        walking = np.concatenate(still)
    return space.class_at[place], value, rival


def best_path(space: LabelSpace, route: Route, n_samples: int) -> tuple[IntArray, FloatArray]:
    """Find the exact most probable class of every row, evaluating few families.

    Probabilities only decrease along a path, so the value of the greedy path is a lower bound:
    branches below it are pruned, and if none is left it is the best. Ties go to the first class.

    Returns
    -------
    classes : int array of shape (n_samples,)
    proba : array of shape (n_samples,)
        Their probabilities.
    """
    route = _CachedRoute(route)
    classes, proba, rival = top_down(space, route, n_samples)
    bound = proba * (1 - _SLACK)
    unsure = np.flatnonzero(rival >= bound).astype(np.int32)
    route.caches = False

    def may_win(paths: _Paths) -> NDArray[np.intp]:
        ended = paths.done
        np.maximum.at(bound, paths.row[ended], paths.value[ended] * (1 - _SLACK))
        return np.flatnonzero(paths.value >= bound[paths.row])

    for chunk in row_chunks(len(unsure), space.n_classes, at_once=_PATHS_AT_ONCE):
        paths = _search(space, route, unsure[chunk], may_win)
        best = paths.take(_best_per_row(paths, width=1))
        classes[best.row], proba[best.row] = space.class_at[best.place], best.value
    return classes, proba


class _CachedRoute:
    """A route that caches the first result of each family while `caches` is true.

    Parameters
    ----------
    route : Route
        The first call per family must have ascending rows.
    """

    def __init__(self, route: Route) -> None:
        self.caches = True
        self._route = route
        self._first: dict[int, tuple[IntArray, FloatArray]] = {}

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        assert rows is not None  # searches always pass rows
        if parent not in self._first:
            answer = self._route(parent, options, rows)
            if self.caches:
                self._first[parent] = rows, answer
            return answer
        known, chances = self._first[parent]
        place = np.searchsorted(known, rows).clip(max=len(known) - 1)
        new = known[place] != rows
        shares: FloatArray = chances[place]
        if new.any():
            shares[new] = self._route(parent, options, rows[new])
        return shares


def beam_search(
    space: LabelSpace, route: Route, n_samples: int, width: int
) -> tuple[IntArray, FloatArray]:
    """Follow the `width` best paths from the root down; a width of 1 is greedy top-down.

    Only the families on the kept paths are evaluated, so the cost grows with the depth and not
    with the number of classes. A beam as wide as the number of classes is exact.

    Returns
    -------
    classes : int array of shape (n_samples, width)
        Best first; -1 if there were fewer paths.
    proba : array of shape (n_samples, width)
        Probabilities of these paths.
    """
    rows = np.arange(n_samples, dtype=np.int32)
    paths = _search(space, route, rows, lambda paths: _best_per_row(paths, width))
    paths = paths.take(_best_per_row(paths, width))
    rank = _rank_in_row(paths.row)
    classes = np.full((n_samples, width), -1, dtype=np.int32)
    proba = np.zeros((n_samples, width))
    classes[paths.row, rank] = space.class_at[paths.place]
    proba[paths.row, rank] = paths.value
    return classes, proba


@dataclass(frozen=True, eq=False)
class _Paths:
    """Paths from the root, several per row; all arrays have shape (n_paths,)."""

    row: IntArray
    place: IntArray  # current end of the path
    value: FloatArray
    done: NDArray[np.bool_]

    def take(self, kept: NDArray[np.intp] | NDArray[np.bool_]) -> _Paths:
        return _Paths(self.row[kept], self.place[kept], self.value[kept], self.done[kept])


def _search(
    space: LabelSpace, route: Route, rows: IntArray, keep: Callable[[_Paths], NDArray[np.intp]]
) -> _Paths:
    """Extend paths from the root step by step; `keep` chooses the paths to extend further."""
    families = dict(space.families)
    n_rows = len(rows)
    paths = _Paths(
        rows, np.zeros(n_rows, dtype=np.int32), np.ones(n_rows), np.full(n_rows, not families)
    )
    while not paths.done.all():
        paths = _expand(space, families, route, paths)
        paths = paths.take(keep(paths))
    return paths


def _expand(
    space: LabelSpace, families: dict[int, IntArray], route: Route, paths: _Paths
) -> _Paths:
    """Replace every unfinished path by its continuations, one family at a time."""
    pieces = [paths.take(paths.done)]
    unfinished = paths.take(~paths.done)
    for parent, group in _by_place(unfinished.place):
        options = families[parent]
        row, value = unfinished.row[group], unfinished.value[group, None]
        chances = value if len(options) == 1 else route(parent, options, row) * value
        ended = ~space.has_children[options] | (options == parent)
        n_paths, n_options = chances.shape
        pieces.append(
            _Paths(
                np.repeat(row, n_options),
                np.tile(options, n_paths),
                chances.ravel(),
                np.tile(ended, n_paths),
            )
        )
    return _Paths(
        np.concatenate([piece.row for piece in pieces]),
        np.concatenate([piece.place for piece in pieces]),
        np.concatenate([piece.value for piece in pieces]),
        np.concatenate([piece.done for piece in pieces]),
    )


def _by_place(places: IntArray) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield every distinct place, ascending, with the positions where it occurs."""
    order = np.argsort(places, kind="stable")
    first = np.flatnonzero(np.diff(places[order], prepend=-1))
    for group in np.split(order, first[1:]):
        yield int(places[group[0]]), group


def _two_best(chances: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Return the best option of every row, its value, and the value of the second best."""
    rows = np.arange(len(chances))
    best = chances.argmax(axis=1)
    value = chances[rows, best]
    chances[rows, best] = -1.0
    return best, value, chances.max(axis=1)


def _best_per_row(paths: _Paths, width: int) -> NDArray[np.intp]:
    """Return the best paths of every row, best first; ties go to the first in the tree."""
    order = np.lexsort((paths.place, -paths.value, paths.row))
    return order[_rank_in_row(paths.row[order]) < width]


def _rank_in_row(sorted_rows: IntArray) -> NDArray[np.intp]:
    """Return 0, 1, 2, ... within each run of equal rows."""
    first = np.flatnonzero(np.diff(sorted_rows, prepend=-1))
    lengths = np.diff(np.r_[first, len(sorted_rows)])
    return np.arange(len(sorted_rows)) - np.repeat(first, lengths)


def top_classes(proba: FloatArray, k: int) -> IntArray:
    """Return the `k` most probable classes of every row, best first, of shape (n_samples, k).

    Ties go to the first class.
    """
    k = min(k, proba.shape[1])
    least = -np.partition(-proba, k - 1, axis=1)[:, k - 1 : k]
    better, equal = proba > least, proba == least
    # argpartition would choose any of the ties: choose the first ones until there are k
    n_free = k - better.sum(axis=1, keepdims=True)
    chosen = better | (equal & (np.cumsum(equal, axis=1) <= n_free))
    some = np.nonzero(chosen)[1].reshape(len(proba), k)
    order = np.argsort(-np.take_along_axis(proba, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1).astype(np.int32)
