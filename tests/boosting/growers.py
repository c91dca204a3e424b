"""The variants of `grow_heap_tree`, each with the arguments that it reads."""

from __future__ import annotations

import numpy as np

from palmette.boosting._heap_tree import grow_heap_tree


def grow_random_tree(codes, gradients, weights, n_draws, min_leaf, absolute, seed, rows, bounds):
    """One tree for all columns, with random cuts; `codes` by sample."""
    arrays = codes, None, gradients, weights, None, np.arange(codes.shape[1], dtype=np.int32)
    return grow_heap_tree(*arrays, n_draws, True, absolute, min_leaf, seed, rows, bounds)


def grow_best_tree(codes, gradients, weights, n_draws, min_leaf, absolute, seed, rows, bounds):
    """One tree for all columns, with the best cuts; `codes` by feature."""
    arrays = None, codes, gradients, weights, None, np.arange(codes.shape[0], dtype=np.int32)
    return grow_heap_tree(*arrays, n_draws, False, absolute, min_leaf, seed, rows, bounds)


def grow_class_tree(codes, signed, rows, bounds, features, n_draws, random_cuts, min_leaf, seed):
    """The tree of one column; `codes` by feature."""
    arrays = None, codes, None, None, signed, features
    return grow_heap_tree(*arrays, n_draws, random_cuts, False, min_leaf, seed, rows, bounds)
