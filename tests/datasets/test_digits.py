"""The digits keep their integers and their hierarchy of shapes."""

from __future__ import annotations

import numpy as np

from palmette.core.labels import NodeLabels
from palmette.datasets.digits import load_digits_hierarchy


def test_shapes_and_types():
    digits = load_digits_hierarchy()
    assert digits.X.shape == (1797, 64)
    assert len(digits.feature_names) == 64
    assert digits.y.dtype == np.int64
    assert digits.hierarchy.level_sizes.tolist() == [1, 2, 6, 6]


def test_leaves_are_the_ten_digits_as_integers():
    h = load_digits_hierarchy().hierarchy
    leaves = h.names[h.leaves].tolist()
    assert sorted(leaves) == list(range(10))
    assert {type(leaf) for leaf in leaves} == {int}


def test_labels_encode_and_come_back_as_integers():
    digits = load_digits_hierarchy()
    labels = NodeLabels.encode(digits.y, digits.hierarchy)
    assert digits.hierarchy.is_leaf[labels.terminals].all()
    back = labels.decode()
    assert back.dtype == np.int64
    np.testing.assert_array_equal(back, digits.y)
