"""Features made ready: laws of the small drawings, and the sets of the data home."""

from __future__ import annotations

import numpy as np
import pytest

from papers.mf_tree.methods import (
    _shares,
    describe_preparation,
    has_taxonomy,
    read_set,
    small_drawings,
)


@pytest.mark.parametrize("n_pixels", [1, 7, 16, 33])
def test_parts_of_a_side_are_averages(n_pixels):
    shares = _shares(n_pixels)
    assert shares.shape == (16, n_pixels)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares.sum(axis=0), 16 / n_pixels)


def test_a_drawing_may_stand_anywhere():
    ink = np.random.default_rng(0).random((20, 12)) < 0.4
    ink[[0, -1]] = ink[:, [0, -1]] = True
    pages = np.zeros((2, 40, 40), dtype=np.uint8)
    pages[0, 3:23, 5:17] = ink
    pages[1, 20:40, 0:12] = ink
    first, second = small_drawings(pages)
    np.testing.assert_array_equal(first, second)
    assert np.linalg.norm(first) == pytest.approx(1.0)


def test_a_block_of_ink_is_even():
    page = np.zeros((1, 30, 30))
    page[0, 4:9, 2:28] = 1
    np.testing.assert_allclose(small_drawings(page), 1 / 16)


@pytest.mark.data
@pytest.mark.usefixtures("data_home")
@pytest.mark.parametrize(
    ("name", "shapes", "n_classes", "given"),
    [
        ("letter", ((16000, 16), (4000, 16)), 26, False),
        ("imclef07a", ((10000, 80), (1006, 80)), 63, True),
        ("omniglot_small", ((2040, 256), (680, 256)), 136, True),
    ],
)
def test_sets_of_the_data_home(name, shapes, n_classes, given):
    problem = read_set(name)
    assert (problem.X_train.shape, problem.X_test.shape) == shapes
    assert len(np.unique(problem.y_train)) == n_classes
    assert set(problem.y_test) <= set(problem.y_train)
    assert has_taxonomy(problem) == given
    assert describe_preparation(name) != "as they came"
