"""Trees of three kinds take turns: all features alike, relevant ones first, single features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.forest.problems import labelled

from palmette import PalmetteError
from palmette.forest import StructuredForestClassifier
from palmette.routing import Hellinger

X, Y = labelled()
MOSTLY_ZERO = np.where(np.abs(X) > 1.2, X, 0.0)


def forest(n_trees=6, **parameters):
    return StructuredForestClassifier(n_trees, **{"random_state": 0, "decoding": 0.5, **parameters})


def tree_of(model, tree):
    """Weights and biases of one tree."""
    trees = model.trees_
    first, last = trees.tree_starts[tree : tree + 2]
    weights = slice(trees.weight_starts[first], trees.weight_starts[last])
    parts = trees.weight_features[weights], trees.weight_values[weights], trees.bias[first:last]
    return [part.tolist() for part in parts]


def test_trees_take_turns():
    mixed = forest(mixed=True, relevance=0.5).fit(X, Y)
    alike = forest(mixed=False, relevance=0.0).fit(X, Y)
    relevant = forest(mixed=False, relevance=0.5).fit(X, Y)
    for tree in (0, 3):
        assert tree_of(mixed, tree) == tree_of(alike, tree) != tree_of(relevant, tree)
        assert tree_of(mixed, tree + 1) == tree_of(relevant, tree + 1) != tree_of(alike, tree + 1)
        features, values, bias = tree_of(mixed, tree + 2)
        assert len(features) == len(bias) // 2  # one weight per split
        assert set(values) == {1.0}


def test_they_do_by_default():
    mixed = forest(mixed=True).fit(X, Y)
    for model in (forest(), forest(router=Hellinger())):
        assert tree_of(model.fit(X, Y), 2) == tree_of(mixed, 2)
    axis = forest(router="axis").fit(X, Y)
    assert tree_of(axis, 2) == tree_of(forest(router="axis", mixed=False).fit(X, Y), 2)


@pytest.mark.parametrize(("rows", "power"), [(X, 0.5), (MOSTLY_ZERO, 0.0)])
def test_relevance_depends_on_the_share_of_zeros(rows, power):
    for given in (rows, sparse.csr_array(rows)):
        auto = forest(4, mixed=False).fit(given, Y)
        told = forest(4, mixed=False, relevance=power).fit(given, Y)
        assert tree_of(auto, 1) == tree_of(told, 1)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("rows", [X, MOSTLY_ZERO])
def test_trees_send_training_rows_where_they_grew(rows, as_rows):
    rows = np.round(rows, 1)  # many values are equal, also to the cuts
    model = forest(9, max_samples=1.0, standardize=False).fit(as_rows(rows), Y)
    for tree, column in enumerate(model.apply(as_rows(rows)).T):
        start, stop = model.trees_.tree_starts[tree : tree + 2]
        grown = model.trees_.row_weight[start:stop]
        np.testing.assert_array_equal(np.bincount(column, minlength=stop - start), grown)


def test_the_cut_of_a_feature_explains_the_most():
    x, label = X[:, 0].astype(np.float32), Y[:, 0]
    model = forest(3, max_depth=1, max_samples=1.0, max_labels=1.0, standardize=False)
    model.fit(x[:, None], np.column_stack([label, 1 - label]))
    _, _, (bias, *_) = tree_of(model, 2)

    def unexplained(cut):
        return sum(np.sum((part - part.mean()) ** 2) for part in (label[x > cut], label[x <= cut]))

    values = np.unique(x)
    cuts = (values[1:] + values[:-1]) / 2
    fine = [cut for cut in cuts if 3 <= (x > cut).sum() <= len(x) - 3]
    best = min(unexplained(cut) for cut in fine)
    assert unexplained(np.nextafter(np.float32(-bias), np.float32(-np.inf))) == pytest.approx(best)


def test_a_label_of_all_rows_needs_no_split():
    model = forest(3).fit(X, np.ones((len(X), 2), dtype=int))
    assert model.trees_.tree_starts.tolist() == [0, 1, 2, 3]


def test_the_parameters_are_checked():
    with pytest.raises(PalmetteError, match=r"mixed='both': expected True, False or 'auto'"):
        forest(mixed="both").fit(X, Y)
    with pytest.raises(PalmetteError, match=r"relevance='both': expected a number .* or 'auto'"):
        forest(relevance="both").fit(X, Y)
