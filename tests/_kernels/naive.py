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


def grow_random_tree(codes, gradients, weights, max_depth, n_draws, min_leaf, seed):
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
        state = [(seed + node * 0xD1B54A32D192ED03) & (2**64 - 1)]
        left = list(range(codes.shape[1]))
        found = []
        while left and len(found) < n_draws:
            place = draw(state, len(left))
            feature = left[place]
            left[place] = left[-1]
            left.pop()
            low, high = int(codes[rows, feature].min()), int(codes[rows, feature].max())
            if low < high:
                found.append((feature, low + draw(state, high - low)))
        return found

    def gain(rows, feature, cut):
        side = codes[rows, feature] <= cut
        total = 0.0
        for part in (rows[side], rows[~side]):
            total += (gradients[part].astype(float).sum(0) ** 2).sum() / weights[part].sum()
        return total

    visit(1, np.arange(len(codes)))
    return splits, leaves
