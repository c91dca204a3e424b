"""Reference implementation of Algorithm 1 of AdaBoost.BHC, from rows instead of statistics."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

__all__ = ["literal_clades"]


def literal_clades(X, codes, start, ridge=1e-3):
    """Groups of two classes or more of the whole tree."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found, waiting = set(), [np.unique(codes)]
    with threadpool_limits(1):
        _divide_all(X, codes, start, ridge, found, waiting)
    return found


def _divide_all(X, codes, start, ridge, found, waiting):
    while waiting:
        classes = waiting.pop()
        found.add(frozenset(classes.tolist()))
        sides = [classes[:1], classes[1:]]
        if len(classes) > 2:
            here = np.isin(codes, classes)
            left = partition_node(X[here], np.searchsorted(classes, codes[here]), start, ridge)
            sides = [classes[left], classes[~left]]
        waiting += [side for side in sides if len(side) > 1]


def partition_node(X, codes, start, ridge):
    n_classes = codes.max() + 1
    total = np.cov(X.T, bias=True).reshape(X.shape[1], -1)
    added = ridge * np.trace(total) / X.shape[1] * np.eye(X.shape[1])
    if start == "first_class":
        a = np.full(n_classes, 0.5)
        a[0] = 1.0
    else:
        a = (eigenvector_places(X, codes, total + added) > 0).astype(float)
    temperature = 1.0
    for _ in range(60):
        before = -np.inf
        for _ in range(20):
            w, criterion = fisher(X, a[codes], added)
            likelihood = [log_likelihoods(X @ w, codes, side) for side in (a[codes], 1 - a[codes])]
            exponent = np.clip((likelihood[0] - likelihood[1]) / temperature, -500, 500)
            a = 1 / (1 + np.exp(-exponent))
            if criterion - before <= 1e-3 * abs(criterion):
                break
            before = criterion
        p = np.stack([a, 1 - a])
        if -(p * np.log2(np.maximum(p, 1e-300))).sum() / n_classes < 0.05:
            break
        temperature *= 0.8
    assert 0 < (a > 0.5).sum() < n_classes, "one-sided: not a case for this oracle"
    return a > 0.5


def eigenvector_places(X, codes, total):
    means = np.array([X[codes == k].mean(axis=0) for k in range(codes.max() + 1)])
    places = means[codes] - X.mean(axis=0)
    axis = eigh(places.T @ places / len(X), total)[1][:, -1]
    return (means - X.mean(axis=0)) @ axis


def fisher(X, left, added):
    """Discriminant and criterion of two soft sides."""
    within, means = added.copy(), []
    for side in (left, 1 - left):
        means.append(side @ X / side.sum())
        within += (side[:, None] * (X - means[-1])).T @ (X - means[-1]) / len(X)
    shift = means[0] - means[1]
    w = np.linalg.solve(within, shift)
    return w, (w @ shift) ** 2 / (w @ within @ w)


def log_likelihoods(z, codes, side):
    """Mean log-likelihood of every class under the Gaussian of a soft side."""
    mean = side @ z / side.sum()
    variance = max(side @ (z - mean) ** 2 / side.sum(), 1e-6 * z.var())
    density = -0.5 * np.log(2 * np.pi * variance) - (z - mean) ** 2 / (2 * variance)
    return np.bincount(codes, density) / np.bincount(codes)
