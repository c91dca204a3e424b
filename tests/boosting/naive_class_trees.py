"""Slow twins of the kernels of class trees, of votes and of histograms, in plain numpy."""

from __future__ import annotations

import numpy as np
from tests.boosting.naive import draw

CLEARLY = 1.00001


def first_clear_best(values):
    """Index of the leader when one takes the lead only by being clearly better; None for none."""
    best = None
    for index, value in enumerate(values):
        if best is None or value > values[best] * CLEARLY:
            best = index
    return best


# ---------------------------------------------------------------------- histograms


def best_stumps(codes_by_feature, signed, features):
    """Return (feature, cut, edge) of every column; feature -1 where no stump beats a constant."""
    found = []
    for column in signed.T.astype(float):
        total = column.sum()
        candidates = [(-1, 0, abs(total))]
        for feature in features:
            codes = codes_by_feature[feature]
            cuts = np.unique(codes)[:-1]
            if len(cuts):
                edges = [abs(2 * column[codes <= cut].sum() - total) for cut in cuts]
                best = first_clear_best(edges)
                candidates.append((feature, cuts[best], edges[best]))
        found.append(candidates[first_clear_best([edge for *_, edge in candidates])])
    return [np.array(part) for part in zip(*found, strict=True)]


def best_shared_split(codes_by_feature, gradients, weights, rows, features, criterion, min_leaf):
    """Return (feature, cut, gain, rows that go left); feature -1 where no split is allowed."""
    gradients, weights = gradients[rows].astype(float), weights[rows].astype(float)

    def worth(side):
        sums = gradients[side].sum(axis=0)
        return (sums**2).sum() / weights[side].sum() if criterion == 0 else np.abs(sums).sum()

    leaders = []
    for feature in features:
        codes = codes_by_feature[feature, rows]
        splits = []
        for cut in np.unique(codes)[:-1]:
            left = codes <= cut
            if min(left.sum(), (~left).sum()) >= min_leaf:
                splits.append((feature, cut, worth(left) + worth(~left), left.sum()))
        if splits:
            leaders.append(splits[first_clear_best([gain for _, _, gain, _ in splits])])
    best = first_clear_best([gain for _, _, gain, _ in leaders])
    return (-1, 0, 0.0, 0) if best is None else leaders[best]


# ---------------------------------------------------------------------- class trees


def grow_class_tree(
    codes_by_feature, signed, rows, max_depth, features, n_draws, random_cuts, min_leaf, seed
):
    """Return {place: (feature, cut)} of the splits and {place: rows} of the leaves."""
    splits, leaves = {}, {}
    signed = signed.astype(float)

    def visit(node, rows):
        split = choose(node, rows) if node < 2**max_depth else None
        if split is None:
            leaves[node] = rows
            return
        splits[node] = split
        goes_left = codes_by_feature[split[0], rows] <= split[1]
        visit(2 * node, rows[goes_left])
        visit(2 * node + 1, rows[~goes_left])

    def choose(node, rows):
        one_sign = not (signed[rows] > 0).any() or not (signed[rows] < 0).any()
        if len(rows) < max(2, 2 * min_leaf) or one_sign:
            return None
        leaders = []
        for feature, cuts in drawn(node, rows):
            allowed = [(feature, int(cut)) for cut in cuts if enough(rows, feature, cut)]
            if allowed:
                gains = [gain(rows, *split) for split in allowed]
                best = first_clear_best(gains)
                leaders.append((allowed[best], gains[best]))
        best = first_clear_best([value for _, value in leaders])
        return None if best is None else leaders[best][0]

    def drawn(node, rows):
        """Features that compete, each with its cuts."""
        key = seed + node * 0xD1B54A32D192ED03
        state = [key % 2**64]
        order = [int(feature) for feature in features]
        found = []
        for place in range(len(order)):
            if len(found) == n_draws:
                break
            if n_draws < len(order):
                other = place + draw(state, len(order) - place)
                order[place], order[other] = order[other], order[place]
            feature = order[place]
            weighs = rows[signed[rows] != 0]
            present = np.unique(codes_by_feature[feature, weighs]).astype(int)
            low, high = present[0], present[-1]
            if low < high:
                own = [(key + (feature + 1) * 0x8CB92BA72F3D8DD7) % 2**64]
                cuts = [low + draw(own, high - low)] if random_cuts else present[:-1]
                found.append((feature, cuts))
        return found

    def enough(rows, feature, cut):
        n_left = (codes_by_feature[feature, rows] <= cut).sum()
        return min(n_left, len(rows) - n_left) >= min_leaf

    def gain(rows, feature, cut):
        side = codes_by_feature[feature, rows] <= cut
        parts = signed[rows[side]], signed[rows[~side]]
        return sum(part.sum() ** 2 / np.abs(part).sum() for part in parts)

    visit(1, rows)
    return splits, leaves


def find_class_leaves(codes, features, cuts):
    """Return the place of the leaf of every row in every column's tree."""
    places = np.ones((len(codes), len(features)), dtype=int)
    rows, columns = np.arange(len(codes))[:, None], np.arange(len(features))
    while (features[columns, places] >= 0).any():
        feature = features[columns, places]
        right = codes[rows, feature] > cuts[columns, places]
        places = np.where(feature >= 0, 2 * places + right, places)
    return places


def mask_places(places, signs, parents, need_all):
    """Return masked places; `parents` lists the parents of every column."""
    masked = places.copy()
    for column, above in enumerate(parents):
        positive = [(masked[:, p] > 0) & (signs[p, masked[:, p]] > 0) for p in above]
        if positive:
            allowed = np.all(positive, axis=0) if need_all else np.any(positive, axis=0)
            masked[~allowed, column] = 0
    return masked


# ---------------------------------------------------------------------- votes


def leaf_sums(signed, places, n_places):
    """Return the weights of positive and of negative rows, each of shape (n_columns, n_places)."""
    here = places[:, :, None] == np.arange(n_places)
    positive = (np.maximum(signed, 0)[:, :, None] * here).sum(axis=0)
    negative = (np.maximum(-signed, 0)[:, :, None] * here).sum(axis=0)
    return positive, negative


def reweigh(signed, votes):
    """Return the weights moved by the votes of their cells."""
    return signed * np.exp(-np.sign(signed) * votes)
