"""Sparse oblique structured Hellinger forests, equation by equation: a slow reference.

Numbers of equations are those of Daniels and Metaxas (2017). Eq. 8 is read with a plus, as the
smooth absolute value of Schmidt et al. (2007), which it cites.
"""

from __future__ import annotations

from itertools import product

import numpy as np

CLAMP = 1e-8

# ---------------------------------------------------------------------- step 1: clusters


def idf(n_positive, n_rows):
    """One of the two terms of Eq. 1; labels without positives weigh 1."""
    n_positive = np.asarray(n_positive, dtype=float)
    seen = n_positive > 0
    weights = np.ones(len(n_positive))
    if seen.any():
        logs = np.log(1 + n_rows / n_positive[seen])
        weights[seen] = logs / logs.max()
    return weights


def label_weights(Y_all, Y_node, beta):
    """Eq. 1."""
    return beta * idf(Y_all.sum(0), len(Y_all)) + (1 - beta) * idf(Y_node.sum(0), len(Y_node))


def sum_of_squares(points, second):
    """Sum of squared distances to the mean of the own cluster."""
    return sum(
        ((points[side] - points[side].mean(axis=0)) ** 2).sum() for side in (second, ~second)
    )


def two_means(points):
    """The best two clusters of all there are, or None where all points are the same."""
    distinct, of_point = np.unique(points, axis=0, return_inverse=True)
    of_point = of_point.reshape(-1)  # a column in numpy 2.0
    of_point = of_point.ravel()
    best, best_second = np.inf, None
    for rest in product([False, True], repeat=len(distinct) - 1):
        second = np.array([False, *rest])[of_point]
        if second.any():
            loss = sum_of_squares(points, second)
            if loss < best - 1e-12:
                best, best_second = loss, second
    return best_second


# ---------------------------------------------------------------------- step 2: a split


def phi(alpha, w, X):
    """Eq. 3; X has a last column of ones."""
    return (np.tanh(alpha * (X @ w)) + 1) / 2


def phi_gradients(alpha, w, X):
    """Eq. 4 before the sum over rows, of shape (n_rows, n_weights)."""
    return alpha * X * ((1 - np.tanh(alpha * (X @ w)) ** 2) / 2)[:, None]


def soft_rates(alpha, w, X, y):
    """Eq. 5: the soft true positive rate and the soft false positive rate."""
    soft = phi(alpha, w, X)
    return soft[y == 1].mean(), soft[y == -1].mean()


def squared_distance(tpr, fpr):
    """Eq. 2, squared."""
    root = lambda rate: np.sqrt(np.maximum(rate, CLAMP))  # noqa: E731
    return (root(tpr) - root(fpr)) ** 2 + (root(1 - tpr) - root(1 - fpr)) ** 2


def loss(alpha, w, X, y):
    """Eq. 6."""
    return -squared_distance(*soft_rates(alpha, w, X, y))


def loss_gradient(alpha, w, X, y):
    """Eq. 7."""
    tpr, fpr = soft_rates(alpha, w, X, y)
    root = lambda rate: np.sqrt(max(rate, CLAMP))  # noqa: E731
    by_row = phi_gradients(alpha, w, X)
    of_true, of_false = by_row[y == 1].mean(axis=0), by_row[y == -1].mean(axis=0)
    return (root(fpr) - root(tpr)) * (of_true / root(tpr) - of_false / root(fpr)) + (
        root(1 - fpr) - root(1 - tpr)
    ) * (-of_true / root(1 - tpr) + of_false / root(1 - fpr))


def smooth_l1(w, eta):
    """Eq. 8 of all weights, in the form that does not overflow."""
    return (np.abs(w) + 2 / eta * np.log1p(np.exp(-eta * np.abs(w)))).sum()


def smooth_l1_gradient(w, eta):
    """Derivative of Eq. 8."""
    return np.tanh(eta * w / 2)


def gamma(rho, distance, w):
    """Eq. 10; w without the bias."""
    return rho * distance / np.abs(w).sum()


def rho_heuristic(n_features, n_rows):
    """How much sparsity counts at a node."""
    return min(np.log(1 + n_features / n_rows), 0.4)


def alphas(first, factor, last, stage, n_iterations):
    """Sharpness of the sigmoid at every iteration."""
    return [min(first * factor ** (k // stage), last) for k in range(n_iterations)]


def adam(X, y, w, penalty, eta, sharpness, learning_rate=0.05):
    """Minimize Eq. 9 by Adam on all rows; the last weight, the bias, is not penalized."""
    w, mean, spread = w.copy(), np.zeros(len(w)), np.zeros(len(w))
    for k, alpha in enumerate(sharpness, start=1):
        slope = loss_gradient(alpha, w, X, y)
        slope[:-1] += penalty * smooth_l1_gradient(w[:-1], eta)
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        w -= learning_rate * (mean / (1 - 0.9**k)) / (np.sqrt(spread / (1 - 0.999**k)) + 1e-8)
    return w


def learn_split(X, y, rho=None, eta=1e6, sharpness=None, learning_rate=0.05):
    """Both stages of a split; return the least-squares start and the solution."""
    ones = np.column_stack([X, np.ones(len(X))])
    sharpness = alphas(0.1, 1.5, 4.0, 10, 100) if sharpness is None else sharpness
    rho = rho_heuristic(X.shape[1], len(X)) if rho is None else rho
    start = np.linalg.lstsq(ones, y.astype(float), rcond=None)[0]
    w = adam(ones, y, start, 0.0, eta, sharpness, learning_rate)
    penalty = gamma(rho, -loss(sharpness[-1], w, ones, y), w[:-1])
    return start, adam(ones, y, w, penalty, eta, sharpness, learning_rate)


# ---------------------------------------------------------------------- a tree


def grow(X, Y, rows, features, labels, beta=0.5, min_leaf=3, **split):
    """Grow a tree; return its leaves as a list of arrays of rows.

    Parameters
    ----------
    X, Y : arrays of shape (n_samples, n_features) and (n_samples, n_labels)
        All training rows, which the global term of Eq. 1 is computed from.
    rows, features, labels : int arrays
        What the tree was given.
    beta, min_leaf, split
        Settings; the last of `learn_split`.
    """
    rows, leaves = np.asarray(rows), []

    def descend(own):
        parts = _parted(X, Y[:, labels], own, features, beta, min_leaf, split)
        if parts is None:
            leaves.append(own)
        else:
            for part in parts:
                descend(part)

    descend(rows)
    return leaves


def _parted(X, Y, own, features, beta, min_leaf, split):
    """Rows of both sides of a node's split, or None where it is a leaf."""
    if len(own) < 2 * min_leaf:
        return None
    second = two_means(Y[own] * label_weights(Y, Y[own], beta))
    if second is None:
        return None
    start, w = learn_split(X[np.ix_(own, features)], np.where(second, 1, -1), **split)
    for weights in (w, start):
        right = X[np.ix_(own, features)] @ weights[:-1] + weights[-1] >= 0
        if min_leaf <= right.sum() <= len(own) - min_leaf:
            return own[~right], own[right]
    return None
