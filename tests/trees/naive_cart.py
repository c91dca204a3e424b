"""Slow twins of the kernels of full trees, in plain Python."""

from __future__ import annotations

import math

import numpy as np
from tests.boosting.naive import draw, node_key

from palmette.trees._carts import draw_rows, weigh_rows

__all__ = ["boost_carts", "grow_cart", "leaf_of"]


def grow_cart(codes, rows, weights, positive, n_tried, max_depth, seed):
    """Return (features, cuts, left, says) as lists."""
    features, cuts, left, says = [], [], [], []
    waiting = [(np.arange(len(rows)), 0)]
    node = 0

    def add():
        features.append(0)
        cuts.append(255)
        left.append(len(left))
        says.append(-1)

    add()
    while node < len(waiting):
        own, depth = waiting[node]
        up = sum(int(weights[i]) for i in own if positive[i])
        down = sum(int(weights[i]) for i in own if not positive[i])
        says[node] = 1 if up > down else -1
        if up and down and depth < max_depth:
            split = best_split(codes, rows, weights, positive, own, n_tried, node_key(seed, node))
            if split is not None:
                goes_left = np.array([codes[rows[i], split[0]] <= split[1] for i in own])
                features[node], cuts[node], left[node] = *split, len(left)
                add()
                add()
                waiting += [(own[goes_left], depth + 1), (own[~goes_left], depth + 1)]
        node += 1
    return features, cuts, left, says


def best_split(codes, rows, weights, positive, own, n_tried, key):
    """Try features as they are drawn, until enough of them vary; return (feature, cut) or None."""
    state, best, best_gain = [key], None, -1.0
    left, varied = list(range(codes.shape[1])), 0
    while left and varied < n_tried:
        place = draw(state, len(left))
        left[0], left[place] = left[place], left[0]
        feature = left.pop(0)
        here = [int(codes[rows[i], feature]) for i in own]
        values = sorted(set(here))
        varied += len(values) > 1
        cut, gain = best_cut(own, here, values, weights, positive)
        if cut is not None and gain > best_gain * 1.00001:
            best, best_gain = (feature, cut), gain
    return best


def best_cut(own, here, values, weights, positive):
    best, best_gain = None, -1.0
    for cut in values[:-1]:
        gain = 0.0
        for side in (True, False):
            kept = [i for i, code in zip(own, here, strict=True) if (code <= cut) == side]
            lead = sum(int(weights[i]) if positive[i] else -int(weights[i]) for i in kept)
            gain += lead * lead / sum(int(weights[i]) for i in kept)
        if gain > best_gain * 1.00001:
            best, best_gain = cut, gain
    return best, best_gain


def leaf_of(row_codes, tree):
    """Place of the leaf that one row comes to."""
    features, cuts, left, _ = tree
    place = 0
    while left[place] != place:
        place = left[place] + int(row_codes[features[place]] > cuts[place])
    return place


def boost_carts(codes, index, n_positive, weights, n_draws, *growth_and_seeds):
    """Return the trees and their coefficients as lists, and the last weights."""
    n_tried, max_depth, least_error, seeds = growth_and_seeds
    weights, trees, coefficients = [float(weight) for weight in weights], [], []
    signs = np.where(np.arange(len(index)) < n_positive, 1, -1)
    order = np.arange(len(index), dtype=np.int32)
    for seed in seeds:
        given = np.array(weights) * signs, order
        state = np.array([seed], dtype=np.uint64)
        drawn = draw_rows(*given, n_draws, state) if n_draws else weigh_rows(*given)
        seen, times, positive = drawn
        tree = grow_cart(codes, index[seen], times, positive, n_tried, max_depth, int(seed))
        said = [tree[3][leaf_of(codes[row], tree)] for row in index]
        right = [bool(says == sign) for says, sign in zip(said, signs, strict=True)]
        lead = total = 0.0
        for weight, agrees in zip(weights, right, strict=True):
            lead += weight if agrees else -weight
            total += weight
        edge = min(lead / total, 1.0 - 2.0 * least_error)
        coefficients.append(math.atanh(edge) if edge > 0 else 0.0)
        if edge > 0:
            costs = [math.exp(coefficients[-1]), math.exp(-coefficients[-1])]
            pairs = zip(weights, right, strict=True)
            weights = [weight * costs[agrees] for weight, agrees in pairs]
            total = 0.0
            for weight in weights:
                total += weight
            weights = [weight * (1.0 / total) for weight in weights]
        trees.append(tree)
    return trees, coefficients, weights
