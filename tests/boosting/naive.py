"""Slow twins of the kernels, in plain Python."""

from __future__ import annotations

import numpy as np


def draw(state, bound):
    """splitmix64, in Python's unbounded integers."""
    mask = 2**64 - 1
    state[0] = (state[0] + 0x9E3779B97F4A7C15) & mask
    z = state[0]
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    return (z >> 32) % bound


def node_key(seed, node):
    """State of the generator that a node of a tree begins with."""
    return (seed + node * 0xD1B54A32D192ED03) % 2**64


def grow_random_tree(codes, gradients, weights, max_depth, n_draws, min_leaf, absolute, seed):
    """Return {place: (feature, cut)} of the splits and {place: rows} of the leaves."""
    splits, leaves = {}, {}

    def visit(node, rows):
        split = choose(node, rows) if node < 2**max_depth else None
        if split is None:
            leaves[node] = rows
            return
        splits[node] = split
        goes_left = codes[rows, split[0]] <= split[1]
        visit(2 * node, rows[goes_left])
        visit(2 * node + 1, rows[~goes_left])

    def choose(node, rows):
        if len(rows) < max(2, 2 * min_leaf):
            return None
        candidates = drawn(node, rows)
        if not candidates:
            return None
        gains = [gain(rows, *candidate) for candidate in candidates]
        best = 0
        for q, value in enumerate(gains):
            if q and value > gains[best] * 1.00001:
                best = q
        n_left = (codes[rows, candidates[best][0]] <= candidates[best][1]).sum()
        enough = n_left >= min_leaf and len(rows) - n_left >= min_leaf
        return candidates[best] if enough else None

    def drawn(node, rows):
        state = [node_key(seed, node)]
        left = list(range(codes.shape[1]))
        found = []
        while left and len(found) < n_draws:
            place = draw(state, len(left))
            feature = left[place]
            left[place] = left[-1]
            left.pop()
            here = codes[rows, feature].astype(int)
            known = here[here < 255]  # missing values come right after the largest of them
            if not len(known):
                continue
            low, high = int(known.min()), int(known.max()) + (len(known) < len(here))
            if low < high:
                found.append((feature, low + draw(state, high - low)))
        return found

    def gain(rows, feature, cut):
        side = codes[rows, feature] <= cut
        total = 0.0
        for part in (rows[side], rows[~side]):
            sums = gradients[part].astype(float).sum(axis=0)
            total += np.abs(sums).sum() if absolute else (sums**2).sum() / weights[part].sum()
        return total

    visit(1, np.arange(len(codes)))
    return splits, leaves


def grow_best_tree(codes, gradients, weights, max_depth, n_draws, min_leaf, absolute, seed):
    """Return {place: (feature, cut)} of the splits; `codes` is (n_features, n_samples)."""
    from tests.boosting.naive_class_trees import best_shared_split

    splits = {}

    def visit(node, rows):
        features = drawn(node, rows)
        if node >= 2**max_depth or not features:
            return
        feature, cut, *_ = best_shared_split(
            codes, gradients, weights, rows, features, int(absolute), min_leaf
        )
        if feature < 0:
            return
        splits[node] = int(feature), int(cut)
        goes_left = codes[feature, rows] <= cut
        visit(2 * node, rows[goes_left])
        visit(2 * node + 1, rows[~goes_left])

    def drawn(node, rows):
        state, left, found = [node_key(seed, node)], list(range(len(codes))), []
        while left and len(found) < n_draws:
            place = draw(state, len(left))
            feature = left[place]
            left[place] = left[-1]
            left.pop()
            if len(set(codes[feature, rows])) > 1:
                found.append(feature)
        return sorted(found)

    visit(1, np.arange(codes.shape[1]))
    return splits


def newton_sums(gradients, weights, leaf, n_leaves):
    """Return sums of gradients and of curvatures, p being found again from each gradient."""
    members = np.arange(n_leaves)[:, None] == leaf
    p = np.abs(gradients) / weights[:, None]  # or one minus it, which has the same curvature
    return members @ gradients, members @ (weights[:, None] * p * (1 - p))


def path_log_likelihood(scores, targets, weights, parents, ends):
    """Weighted sum of -log p of the true paths, one path at a time."""
    total = 0.0
    for row, target, weight in zip(scores, targets, weights, strict=True):
        sums = {}
        for end in np.flatnonzero(ends):
            node, sums[end] = end, 0.0
            while node >= 0:
                sums[end] += row[node]
                node = parents[node]
        total -= weight * (sums[target] - np.log(sum(np.exp(list(sums.values())))))
    return total


def logistic_log_likelihood(scores, truth, weights):
    """Weighted sum of -log p of the truth, (n_samples, n_columns), over all cells."""
    p = 1 / (1 + np.exp(-scores))
    return -(weights[:, None] * np.where(truth, np.log(p), np.log(1 - p))).sum()


def slopes(function, at, step=1e-5):
    """Derivatives of a function by every cell of an array, by central differences."""
    found = np.zeros_like(at)
    for cell in np.ndindex(at.shape):
        moved = [at.copy(), at.copy()]
        moved[0][cell] -= step
        moved[1][cell] += step
        found[cell] = (function(moved[1]) - function(moved[0])) / (2 * step)
    return found
