"""The two clusters of a node's rows: 2-means of its distinct label sets, weighted by Eq. 1.

Many rows have the same label set, so a node clusters distinct sets, weighted by their rows. Labels
are numbered within a tree; ``starts`` and ``labels`` are the label sets of its rows (CSR).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette.forest._settings import TreeSettings
from palmette.trees._random import STRIDE, State, mix, next_below

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Sums: TypeAlias = NDArray[np.float64]

_RESOLUTION = 2**31 - 1  # number of different random numbers between 0 and 1


@njit(cache=True, nogil=True, error_model="numpy")
def select_labels(
    indptr: Offsets, indices: Indices, rows: Indices, drawn: Indices, n_labels: int
) -> tuple[Offsets, Indices]:
    """Return the label sets of some rows, restricted to and numbered by the labels drawn (CSR).

    Parameters
    ----------
    indptr, indices : arrays, IN
        The label matrix of all rows (CSR).
    rows : int32 array of shape (n_rows,), IN
    drawn : int32 array of shape (n_drawn,), IN
    n_labels : int
        Number of columns of the label matrix.
    """
    number = np.full(n_labels, -1, dtype=np.int32)
    for j in range(len(drawn)):
        number[drawn[j]] = j
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        n_own = 0
        for k in range(indptr[rows[i]], indptr[rows[i] + 1]):
            n_own += number[indices[k]] >= 0
        starts[i + 1] = starts[i] + n_own
    labels, place = np.empty(starts[-1], dtype=np.int32), 0
    for row in rows:
        for k in range(indptr[row], indptr[row + 1]):
            if number[indices[k]] >= 0:
                labels[place] = number[indices[k]]
                place += 1
    return starts, labels


@njit(cache=True, nogil=True, error_model="numpy")
def distinct_sets(starts: Offsets, labels: Indices) -> tuple[Indices, Indices]:
    """Number the distinct label sets; the order of the labels within a row does not matter.

    Sets are compared by 64-bit sums of hashed labels: among a million sets, the probability of a
    collision is below 1e-7.

    Returns
    -------
    set_of : int32 array of shape (n_rows,)
    row_of : int32 array of shape (n_sets,)
        One row per set.
    """
    n_rows = len(starts) - 1
    hashes = np.zeros(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        for k in range(starts[i], starts[i + 1]):
            hashes[i] += mix(np.uint64(labels[k]) + STRIDE)
    order = np.argsort(hashes, kind="mergesort")
    set_of, row_of, n_sets = np.empty(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.int32), 0
    for place in range(n_rows):
        i = order[place]
        if place == 0 or hashes[i] != hashes[order[place - 1]]:
            row_of[n_sets] = i
            n_sets += 1
        set_of[i] = n_sets - 1
    return set_of, row_of[:n_sets].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def count_labels(
    starts: Offsets, labels: Indices, rows: Indices, weights: Sums, n_labels: int
) -> Sums:
    """Return the total weight of the rows that have each label."""
    counts = np.zeros(n_labels)
    for i in range(len(rows)):
        for k in range(starts[rows[i]], starts[rows[i] + 1]):
            counts[labels[k]] += weights[i]
    return counts


@njit(cache=True, nogil=True, error_model="numpy")
def idf_weights(counts: Sums, total: float) -> Sums:
    """Return one term of Eq. 1: ``log(1 + total / count)``, divided by the maximum.

    A label without positive rows has weight 1, the maximum.
    """
    weights, largest = np.ones(len(counts)), 0.0
    for j in range(len(counts)):
        if counts[j] > 0.0:
            weights[j] = np.log1p(total / counts[j])
            largest = max(largest, weights[j])
    for j in range(len(counts)):
        weights[j] = weights[j] / largest if counts[j] > 0.0 else 1.0
    return weights


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(masses: Sums, state: State) -> int:
    """Draw an index with probabilities proportional to the masses."""
    total = 0.0
    for mass in masses:
        total += mass
    point, reached = total * (next_below(state, _RESOLUTION) / _RESOLUTION), 0.0
    for i in range(len(masses)):
        reached += masses[i]
        if reached > point:
            return i
    for i in range(len(masses) - 1, -1, -1):  # after rounding errors: the last positive mass
        if masses[i] > 0.0:
            return i
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def _first_centres(
    starts: Offsets,
    labels: Indices,
    rows: Indices,
    masses: Sums,
    weights: Sums,
    norms: Sums,
    state: State,
    centres: Sums,
) -> None:
    """Draw two sets as initial centres (k-means++)."""
    centres[:] = 0.0
    first = _draw(masses, state)
    for k in range(starts[rows[first]], starts[rows[first] + 1]):
        centres[0, labels[k]] = weights[labels[k]]
    distances = np.empty(len(rows))
    for s in range(len(rows)):
        shared = 0.0
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            shared += weights[labels[k]] * centres[0, labels[k]]
        distance = max(norms[s] + norms[first] - 2 * shared, 0.0)
        distances[s] = 0.0 if s == first else masses[s] * distance
    second = _draw(distances, state)
    for k in range(starts[rows[second]], starts[rows[second] + 1]):
        centres[1, labels[k]] = weights[labels[k]]


@njit(cache=True, nogil=True, error_model="numpy")
def _assign(
    starts: Offsets, labels: Indices, rows: Indices, weights: Sums, centres: Sums, second: Flags
) -> int:
    """Assign every set to the nearer centre; return how many sets changed their cluster."""
    difference, middle = np.empty(len(weights)), 0.0
    for j in range(len(weights)):
        difference[j] = weights[j] * (centres[1, j] - centres[0, j])
        middle += 0.5 * (centres[1, j] ** 2 - centres[0, j] ** 2)
    moved = 0
    for s in range(len(rows)):
        score = -middle
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            score += difference[labels[k]]
        moved += second[s] != (score > 0.0)
        second[s] = score > 0.0
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def _move_centres(
    starts: Offsets,
    labels: Indices,
    rows: Indices,
    masses: Sums,
    weights: Sums,
    second: Flags,
    centres: Sums,
) -> float:
    """Set the centres to the means; return the sum of squares they explain, -1 if one is empty."""
    centres[:] = 0.0
    total = np.zeros(2)
    for s in range(len(rows)):
        side = 1 if second[s] else 0
        total[side] += masses[s]
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            centres[side, labels[k]] += masses[s]
    if total[0] == 0.0 or total[1] == 0.0:
        return -1.0
    explained = 0.0
    for side in range(2):
        for j in range(len(weights)):
            centres[side, j] *= weights[j] / total[side]
            explained += total[side] * centres[side, j] ** 2
    return explained


@njit(cache=True, nogil=True, error_model="numpy")
def cluster_sets(
    starts: Offsets,
    labels: Indices,
    rows: Indices,
    masses: Sums,
    weights: Sums,
    n_starts: int,
    max_iterations: int,
    state: State,
    second: Flags,
) -> float:
    """Cluster distinct label sets in two by 2-means, the best of several initialisations.

    Parameters
    ----------
    starts, labels : arrays, IN
        Label sets (CSR).
    rows : int32 array of shape (n_sets,), IN
        One row per distinct set.
    masses : float64 array of shape (n_sets,), IN
        Total weight of the rows of each set.
    weights : float64 array of shape (n_labels,), IN
    n_starts, max_iterations : int
    state : uint64 array of shape (1,), IN and OUT
    second : bool array of shape (n_sets,), OUT
        Whether a set is in the second cluster.

    Returns
    -------
    float
        The sum of squares explained by the centres: larger for tighter clusters. -1 if there are
        fewer than two clusters.
    """
    n_sets = len(rows)
    second[:] = False
    if n_sets < 2:
        return -1.0
    norms = np.zeros(n_sets)
    for s in range(n_sets):
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            norms[s] += weights[labels[k]] ** 2
    centres, trial, best = np.empty((2, len(weights))), np.empty(n_sets, dtype=np.bool_), -1.0
    for _ in range(n_starts if n_sets > 2 else 1):
        _first_centres(starts, labels, rows, masses, weights, norms, state, centres)
        trial[:] = False
        explained = -1.0
        for iteration in range(max_iterations):
            moved = _assign(starts, labels, rows, weights, centres, trial)
            if moved == 0 and iteration > 0:
                break
            explained = _move_centres(starts, labels, rows, masses, weights, trial, centres)
            if explained < 0.0:
                break
        if explained > best:
            best = explained
            for i in range(len(trial)):
                second[i] = trial[i]
    return best


# ------------------------------------------------------------------------------- the rows of a node


@njit(cache=True, nogil=True, error_model="numpy")
def _drop_labels(share: float, state: State, weights: Sums) -> None:
    """Set the weights of a random part of the labels to zero."""
    n_left = min(max(int(np.rint(share * len(weights))), 1), len(weights))
    if n_left == len(weights):
        return
    for j in range(len(weights)):
        if next_below(state, len(weights) - j) < n_left:
            n_left -= 1
        else:
            weights[j] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def cluster_rows(
    settings: TreeSettings,
    starts: Offsets,
    labels: Indices,
    overall: Sums,
    set_of: Indices,
    row_of: Indices,
    place_of_set: Indices,
    rows: Indices,
    weights: Sums,
    state: State,
    second: Flags,
) -> bool:
    """Write the cluster of every row of a node; return whether there are two clusters.

    Parameters
    ----------
    settings : TreeSettings
    starts, labels : arrays, IN
        Label sets of the tree's rows (CSR).
    overall : float64 array of shape (n_labels,), IN
        The global term of Eq. 1.
    set_of, row_of : int32 arrays, IN
        As returned by `distinct_sets`.
    place_of_set : int32 array of shape (n_sets,), IN and OUT
        Buffer that is -1 everywhere, before and after.
    rows : int32 array of shape (n_rows,), IN
        Rows of the node, as indices among the rows of the tree.
    weights : float64 array of shape (n_rows,), IN
    state : uint64 array of shape (1,), IN and OUT
    second : bool array of shape (n_rows,), OUT
    """
    n_sets, set_rows, masses = 0, np.empty(len(rows), dtype=np.int32), np.empty(len(rows))
    for i in range(len(rows)):
        own = set_of[rows[i]]
        if place_of_set[own] < 0:
            place_of_set[own] = n_sets
            set_rows[n_sets], masses[n_sets] = row_of[own], 0.0
            n_sets += 1
        masses[place_of_set[own]] += weights[i]
    set_rows, masses = set_rows[:n_sets], masses[:n_sets]
    set_is_second = np.empty(n_sets, dtype=np.bool_)
    label_weights = np.ones(len(overall))
    if n_sets > 1 and settings.idf:
        counts = count_labels(starts, labels, set_rows, masses, len(overall))
        local = idf_weights(counts, masses.sum())
        for j in range(len(overall)):
            label_weights[j] = settings.beta * overall[j] + (1.0 - settings.beta) * local[j]
    all_weights = label_weights.copy()
    _drop_labels(settings.label_share, state, label_weights)
    n_starts, n_iterations, explained = settings.n_starts, settings.cluster_iterations, -1.0
    for candidate in (label_weights, all_weights):
        if explained < 0.0:
            explained = cluster_sets(
                starts,
                labels,
                set_rows,
                masses,
                candidate,
                n_starts,
                n_iterations,
                state,
                set_is_second,
            )
    for i in range(len(rows)):
        second[i] = set_is_second[place_of_set[set_of[rows[i]]]]
    for row in set_rows:
        place_of_set[set_of[row]] = -1
    return explained >= 0.0
