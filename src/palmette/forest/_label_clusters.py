"""The two clusters of a node's rows: 2-means of its distinct label sets, weighted by Eq. 1.

Many rows have the same label set, so a node clusters distinct sets, weighted by their rows. Labels
are numbered within a tree; ``starts`` and ``labels`` are the label sets of its rows (CSR).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, kernel
from palmette.forest._settings import ClusterSettings, Nodes
from palmette.trees._random import STRIDE, State, mix_array, next_below

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Sums: TypeAlias = NDArray[np.float64]

_RESOLUTION = 2**31 - 1  # number of different random numbers between 0 and 1


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
    number[drawn] = np.arange(len(drawn), dtype=np.int32)
    first = indptr[rows]
    sizes = indptr[rows + 1] - first
    ends = np.cumsum(sizes)
    places = np.repeat(first - ends + sizes, sizes)
    places += np.arange(len(places))
    labels = number[indices[places]]
    is_drawn = labels >= 0
    n_before = np.zeros(len(labels) + 1, dtype=np.int64)
    np.cumsum(is_drawn, out=n_before[1:])
    return n_before[np.concatenate([[0], ends])], labels[is_drawn]


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
    sums = np.zeros(len(labels) + 1, dtype=np.uint64)
    np.cumsum(mix_array(labels.astype(np.uint64) + STRIDE), out=sums[1:])  # they may overflow
    hashes = sums[starts[1:]] - sums[starts[:-1]]
    _, row_of, set_of = np.unique(hashes, return_index=True, return_inverse=True)
    return set_of.astype(np.int32), row_of.astype(np.int32)


@inner(error_model="numpy")
def count_labels(
    starts: Offsets, labels: Indices, rows: Indices, weights: Sums, counts: Sums
) -> None:
    """Write the total weight of the rows that have each label."""
    for j in range(len(counts)):
        counts[j] = 0.0
    for i in range(len(rows)):
        for k in range(starts[rows[i]], starts[rows[i] + 1]):
            counts[labels[k]] += weights[i]


@inner(error_model="numpy")
def idf_weights(total: float, weights: Sums) -> None:
    """Replace counts by one term of Eq. 1: ``log(1 + total / count)``, divided by the maximum.

    A label without positive rows has weight 1, the maximum.
    """
    largest = 0.0
    for j in range(len(weights)):
        if weights[j] > 0.0:
            weights[j] = np.log1p(total / weights[j])
            if weights[j] > largest:
                largest = weights[j]
    for j in range(len(weights)):
        weights[j] = weights[j] / largest if weights[j] > 0.0 else 1.0


def overall_weights(shares: Sums) -> Sums:
    """Return the global term of Eq. 1, given the proportions of all rows that have each label.

    Parameters
    ----------
    shares : float64 array of shape (n_labels,), IN

    Returns
    -------
    float64 array of shape (n_labels,)

    Examples
    --------
    >>> overall_weights(np.array([0.5, 0.125, 0.0])).round(6).tolist()
    [0.5, 1.0, 1.0]
    """
    weights = np.ones(len(shares))
    seen = shares > 0
    logs = np.log1p(1.0 / shares[seen])
    weights[seen] = logs / logs.max(initial=0.0)
    return weights


@inner(error_model="numpy")
def _draw(masses: Sums, state: State) -> int:
    """Draw an index with probabilities proportional to the masses."""
    total = 0.0
    for i in range(len(masses)):
        total += masses[i]
    point, reached = total * (next_below(state, _RESOLUTION) / _RESOLUTION), 0.0
    for i in range(len(masses)):
        reached += masses[i]
        if reached > point:
            return i
    for i in range(len(masses) - 1, -1, -1):  # after rounding errors: the last positive mass
        if masses[i] > 0.0:
            return i
    return 0


@inner(error_model="numpy")
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
    for j in range(len(weights)):
        centres[0, j] = centres[1, j] = 0.0
    first = _draw(masses, state)
    for k in range(starts[rows[first]], starts[rows[first] + 1]):
        centres[0, labels[k]] = weights[labels[k]]
    distances = np.empty(len(rows), np.float64)
    for s in range(len(rows)):
        shared = 0.0
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            shared += weights[labels[k]] * centres[0, labels[k]]
        distance = norms[s] + norms[first] - 2 * shared
        distances[s] = 0.0 if s == first or distance < 0.0 else masses[s] * distance
    second = _draw(distances, state)
    for k in range(starts[rows[second]], starts[rows[second] + 1]):
        centres[1, labels[k]] = weights[labels[k]]


@inner(error_model="numpy")
def _assign(
    starts: Offsets, labels: Indices, rows: Indices, weights: Sums, centres: Sums, second: Flags
) -> int:
    """Assign every set to the nearer centre; return how many sets changed their cluster."""
    difference, middle = np.empty(len(weights), np.float64), 0.0
    for j in range(len(weights)):
        difference[j] = weights[j] * (centres[1, j] - centres[0, j])
        middle += 0.5 * (centres[1, j] * centres[1, j] - centres[0, j] * centres[0, j])
    moved = 0
    for s in range(len(rows)):
        score = -middle
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            score += difference[labels[k]]
        moved += second[s] != (score > 0.0)
        second[s] = score > 0.0
    return moved


@inner(error_model="numpy")
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
    for j in range(len(weights)):
        centres[0, j] = centres[1, j] = 0.0
    of_first, of_second = 0.0, 0.0
    for s in range(len(rows)):
        side = 1 if second[s] else 0
        if second[s]:
            of_second += masses[s]
        else:
            of_first += masses[s]
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            centres[side, labels[k]] += masses[s]
    if of_first == 0.0 or of_second == 0.0:
        return -1.0
    explained = 0.0
    for side in range(2):
        total = of_second if side else of_first
        for j in range(len(weights)):
            centres[side, j] *= weights[j] / total
            explained += total * (centres[side, j] * centres[side, j])
    return explained


@inner(error_model="numpy")
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
    """Cluster distinct label sets in two by 2-means, the best of several initializations.

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
    for s in range(n_sets):
        second[s] = False
    if n_sets < 2:
        return -1.0
    norms = np.empty(n_sets, np.float64)
    for s in range(n_sets):
        norms[s] = 0.0
        for k in range(starts[rows[s]], starts[rows[s] + 1]):
            norms[s] += weights[labels[k]] * weights[labels[k]]
    centres, trial = np.empty((2, len(weights)), np.float64), np.empty(n_sets, np.bool_)
    best = -1.0
    for _ in range(n_starts if n_sets > 2 else 1):
        _first_centres(starts, labels, rows, masses, weights, norms, state, centres)
        for s in range(n_sets):
            trial[s] = False
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
            for s in range(n_sets):
                second[s] = trial[s]
    return best


# ------------------------------------------------------------------------------- the rows of a node


@inner(error_model="numpy")
def _drop_labels(share: float, state: State, weights: Sums) -> None:
    """Set the weights of a random part of the labels to zero."""
    n_labels = len(weights)
    n_left = int(np.rint(share * n_labels))
    if n_left < 1:
        n_left = 1
    if n_left >= n_labels:
        return
    for j in range(n_labels):
        if next_below(state, n_labels - j) < n_left:
            n_left -= 1
        else:
            weights[j] = 0.0


@inner(error_model="numpy")
def sample_weights(max_rows: int, state: State, weights: Sums) -> bool:
    """Set the weights of all rows but a random sample to zero; return whether some were left out.

    Parameters
    ----------
    max_rows : int
        Size of the sample; negative: all rows.
    state : uint64 array of shape (1,), IN and OUT
        Nothing is drawn where all rows are kept.
    weights : float64 array of shape (n_rows,), IN and OUT
    """
    n_rows = len(weights)
    if max_rows < 0 or max_rows >= n_rows:
        return False
    n_left = max_rows
    for i in range(n_rows):
        if next_below(state, n_rows - i) < n_left:
            n_left -= 1
        else:
            weights[i] = 0.0
    return True


@inner(error_model="numpy")
def _cluster_sample(
    settings: ClusterSettings,
    starts: Offsets,
    labels: Indices,
    overall: Sums,
    set_rows: Indices,
    masses: Sums,
    state: State,
    set_is_second: Flags,
) -> float:
    """Cluster the sets of a node given their weights; return what `cluster_sets` returns."""
    n_labels = len(overall)
    all_weights, some_weights = np.empty(n_labels, np.float64), np.empty(n_labels, np.float64)
    if len(set_rows) > 1 and settings.idf:
        count_labels(starts, labels, set_rows, masses, all_weights)
        total = 0.0
        for s in range(len(set_rows)):
            total += masses[s]
        idf_weights(total, all_weights)
        for j in range(n_labels):
            local = (1.0 - settings.beta) * all_weights[j]
            all_weights[j] = settings.beta * overall[j] + local
    else:
        for j in range(n_labels):
            all_weights[j] = 1.0
    for j in range(n_labels):
        some_weights[j] = all_weights[j]
    _drop_labels(settings.label_share, state, some_weights)
    explained = -1.0
    for attempt in range(2):
        if explained < 0.0:
            explained = cluster_sets(
                starts,
                labels,
                set_rows,
                masses,
                all_weights if attempt else some_weights,
                settings.n_starts,
                settings.iterations,
                state,
                set_is_second,
            )
    return explained


@inner(error_model="numpy")
def _cluster_rows(
    settings: ClusterSettings,
    starts: Offsets,
    labels: Indices,
    overall: Sums,
    set_of: Indices,
    row_of: Indices,
    place_of_set: Indices,
    rows: Indices,
    row_weights: Sums,
    state: State,
    second: Flags,
) -> bool:
    """Write the cluster of every row of a node; return whether there are two clusters."""
    n_rows, n_sets, max_rows = len(rows), 0, settings.max_rows
    set_rows, place_of_row = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    for i in range(n_rows):
        own = set_of[rows[i]]
        if place_of_set[own] < 0:
            place_of_set[own] = n_sets
            set_rows[n_sets] = row_of[own]
            n_sets += 1
        place_of_row[i] = place_of_set[own]
    set_rows, masses = set_rows[:n_sets], np.empty(n_sets, np.float64)
    for s in range(n_sets):
        place_of_set[set_of[set_rows[s]]] = -1
    set_is_second, weights = np.empty(n_sets, np.bool_), np.empty(n_rows, np.float64)
    explained, is_sample = -1.0, True
    while explained < 0.0 and is_sample:  # all rows, if those drawn have one cluster only
        for i in range(n_rows):
            weights[i] = row_weights[rows[i]]
        is_sample = sample_weights(max_rows, state, weights)
        max_rows = -1
        for s in range(n_sets):
            masses[s] = 0.0
        for i in range(n_rows):
            masses[place_of_row[i]] += weights[i]
        explained = _cluster_sample(
            settings, starts, labels, overall, set_rows, masses, state, set_is_second
        )
    for i in range(n_rows):
        second[i] = set_is_second[place_of_row[i]]
    return explained >= 0.0


@kernel(error_model="numpy")
def cluster_nodes(
    settings: ClusterSettings,
    starts: Offsets,
    labels: Indices,
    set_of: Indices,
    row_of: Indices,
    place_of_set: Indices,
    overall: Sums,
    order: Indices,
    row_weights: Sums,
    nodes: Nodes,
    begin: int,
    end: int,
    min_rows: int,
    second: Flags,
) -> None:
    """Cluster the rows of several nodes, each node in two.

    Parameters
    ----------
    settings : ClusterSettings
    starts, labels : arrays, IN
        Label sets of the tree's rows (CSR).
    set_of, row_of : int32 arrays, IN
        As returned by `distinct_sets`.
    place_of_set : int32 array of shape (n_sets,), IN and OUT
        Buffer that is -1 everywhere, before and after.
    overall : float64 array of shape (n_labels,), IN
        The global term of Eq. 1.
    order : int32 array of shape (n_rows,), IN
        Rows of the tree by node.
    row_weights : float64 array of shape (n_rows,), IN
    nodes : Nodes, IN and OUT
        A node is marked as split if it has two clusters.
    begin, end : int
        First node, and the node after the last.
    min_rows : int
        Nodes with fewer rows are not split.
    second : bool array of shape (n_rows,), OUT
        Whether a row of ``order`` is in the second cluster of its node.
    """
    state = np.empty(1, np.uint64)
    for node in range(begin, end):
        first, last = nodes.first[node], nodes.last[node]
        nodes.is_split[node] = False
        if last - first >= min_rows:
            state[0] = nodes.seed[node]
            nodes.is_split[node] = _cluster_rows(
                settings,
                starts,
                labels,
                overall,
                set_of,
                row_of,
                place_of_set,
                order[first:last],
                row_weights,
                state,
                second[first:last],
            )
            nodes.state[node] = state[0]
