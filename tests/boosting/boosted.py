"""Hypotheses of every kind, drawn at random, and rows to try them on."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from palmette.boosting._hypotheses import (
    Bundle,
    CartVotes,
    ClassModels,
    ClassTrees,
    Coloured,
    ColumnParents,
    Samples,
    SharedTree,
    answer_signs,
)
from palmette.trees._carts import Carts

__all__ = [
    "PARENTS",
    "arrays_of",
    "bundle",
    "cart_votes",
    "class_models",
    "class_trees",
    "coloured",
    "samples",
    "shared_tree",
]

# columns 0 and 1 are below the root, 2 below 0, 3 below both
PARENTS = ColumnParents(
    np.array([0, 0, 0, 1, 3], dtype=np.int64), np.array([0, 0, 1], dtype=np.int32), True
)


def samples(n_samples=50, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, size=(n_samples, n_features)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.1] = 255
    return Samples(codes, codes.astype(float))


def heap(rng, max_depth, n_features=5):
    """Features and cuts of a tree; a place below a leaf holds nothing."""
    n_places = 2 ** (max_depth + 1)
    features = np.full(n_places, -1, dtype=np.int32)
    for place in range(1, n_places // 2):
        if (place == 1 or features[place // 2] >= 0) and rng.random() < 0.8:
            features[place] = rng.integers(n_features)
    cuts = rng.integers(0, 8, n_places).astype(np.uint8)
    return features, np.where(features >= 0, cuts, 0).astype(np.uint8)


def shared_tree(seed, n_columns=4, max_depth=3):
    rng = np.random.default_rng(seed)
    features, cuts = heap(rng, max_depth)
    places = np.arange(1, len(features))
    below_split = (places == 1) | (features[places // 2] >= 0)
    leaves = places[below_split & (features[places] < 0)]
    leaf_at = np.full(len(features), -1, dtype=np.int32)
    leaf_at[leaves] = np.arange(len(leaves))
    values = rng.normal(size=(len(leaves), n_columns)).astype(np.float32)
    return SharedTree(features, cuts, leaf_at, values, rng.random(len(leaves)).astype(np.float32))


def class_trees(seed, n_columns=4, max_depth=2, parents=None):
    rng = np.random.default_rng(seed)
    heaps = [heap(rng, max_depth) for _ in range(n_columns)]
    features, cuts = (np.stack(part) for part in zip(*heaps, strict=True))
    signs = rng.choice([-1, 1], size=features.shape).astype(np.int8)
    signs[:, 0] = -1
    values = signs * rng.random(n_columns)[:, None]
    cover = rng.random(features.shape).astype(np.float32)
    return ClassTrees(features, cuts, signs, values, cover, parents)


def class_models(seed, n_columns=4, parents=None):
    rng = np.random.default_rng(seed)
    X = samples(seed=seed).X
    models = [DummyClassifier(strategy="constant", constant=1).fit([[0.0]], [1])]
    for _ in range(n_columns - 1):
        y = np.where(rng.random(len(X)) < 0.4, -1, 1)
        models.append(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y))
    signs = np.tile(np.array([-1, -1, 1], dtype=np.int8), (n_columns, 1))
    return ClassModels(models, signs, signs * rng.random(n_columns)[:, None], parents)


def cart(rng, n_splits, n_features=5):
    """A full tree: leaves lead to themselves, children of a place stand side by side."""
    n_places = 2 * n_splits + 1
    features, cuts = np.zeros(n_places, dtype=np.int32), np.full(n_places, 255, dtype=np.uint8)
    left = np.arange(n_places, dtype=np.int32)
    for k in range(n_splits):
        place = rng.choice(np.flatnonzero(left[: 2 * k + 1] == np.arange(2 * k + 1)))
        features[place], cuts[place] = rng.integers(n_features), rng.integers(0, 8)
        left[place] = 2 * k + 1
    return features, cuts, left, rng.choice([-1, 1], n_places).astype(np.int8)


def cart_votes(seed, n_columns=4, parents=None):
    rng = np.random.default_rng(seed)
    carts = Carts.of([cart(rng, n_splits) for n_splits in rng.integers(0, 9, n_columns)])
    return CartVotes(carts, answer_signs(n_columns) * rng.random(n_columns)[:, None], parents)


def coloured(seed, binary=class_trees, n_columns=4):
    code = np.random.default_rng(seed).choice([-1, 1], n_columns).astype(np.int8)
    return Coloured(binary(seed, n_columns=1), code)


def bundle(seed, widths=(4, 2, 3)):
    parts = tuple(shared_tree(seed + i, n_columns=n) for i, n in enumerate(widths))
    return Bundle(parts, np.cumsum([0, *widths]))


def arrays_of(name, value):
    """Arrays of rounds and of the parts that they are made of, by where they are."""
    if isinstance(value, np.ndarray):
        return {name: value}
    parts = enumerate(value) if isinstance(value, list | tuple) else ()
    if is_dataclass(value):
        parts = [(field.name, getattr(value, field.name)) for field in fields(value)]
    return {n: a for key, part in parts for n, a in arrays_of(f"{name}/{key}", part).items()}
