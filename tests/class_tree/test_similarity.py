from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from tests.class_tree.literal_similarity import literal_similarity

from palmette.class_tree import _similarity
from palmette.class_tree._similarity import ClassSimilarity
from palmette.partition import ClassProblem, SpectralPartition

POWERS = {"means": 0.0, "roots": 0.5, "sums": 1.0}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.arange(9), rng.integers(9, size=91)]).astype(np.int32)
    X = rng.normal(size=(100, 5)) + rng.normal(size=(9, 5))[codes]
    return np.where(X > 0, X, 0.0), codes


def similarity(partition, X, codes, weights=None):
    return partition.begin(ClassProblem(X, codes, codes.max() + 1, weights)).similarity


class TestAgainstTheKernelOfAllRows:
    @pytest.mark.parametrize("weights", POWERS)
    @pytest.mark.parametrize("centring", ["node", "global"])
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("classes", [np.arange(9), np.array([1, 4, 5, 8])], ids=len)
    def test_linear(self, rows, weights, centring, form, classes):
        X, codes = rows
        partition = SpectralPartition(weights=weights, centring=centring)
        found = similarity(partition, form(X), codes)
        found.matrix(np.arange(9))  # what is kept of a group serves those below it
        expected = literal_similarity(X @ X.T, codes, classes, POWERS[weights], centring == "node")
        np.testing.assert_allclose(found.matrix(classes), expected, rtol=0, atol=1e-10)

    @pytest.mark.parametrize("centring", ["node", "global"])
    @pytest.mark.parametrize("kernel", ["rbf", lambda a, b: rbf_kernel(a, b, gamma=0.3)])
    def test_explicit(self, rows, kernel, centring):
        X, codes = rows
        params = {"gamma": 0.3} if kernel == "rbf" else None
        partition = SpectralPartition(kernel=kernel, kernel_params=params, centring=centring)
        classes = np.array([0, 2, 3, 7])
        expected = literal_similarity(
            rbf_kernel(X, gamma=0.3), codes, classes, 0.0, centring == "node"
        )
        found = similarity(partition, X, codes).matrix(classes)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)

    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_a_weight_of_two_is_two_copies(self, rows, kernel):
        X, codes = rows
        weights = np.random.default_rng(1).integers(1, 4, size=len(codes))
        copies = np.repeat(np.arange(len(codes)), weights)
        partition = SpectralPartition(kernel=kernel)
        weighted = similarity(partition, X, codes, weights.astype(float)).matrix(np.arange(9))
        copied = similarity(partition, X[copies], codes[copies]).matrix(np.arange(9))
        np.testing.assert_allclose(weighted, copied, rtol=0, atol=1e-10)

    def test_eigenvectors(self, rows):
        X, codes = rows
        classes = np.array([0, 1, 3, 6, 7])
        values, vectors = similarity(SpectralPartition(), X, codes).leading(classes, 2)
        D = literal_similarity(X @ X.T, codes, classes, 0.0, True)
        expected, axes = np.linalg.eigh(D)
        np.testing.assert_allclose(values, expected[::-1][:2], rtol=0, atol=1e-10)
        turned = np.abs((vectors * axes[:, ::-1][:, :2]).sum(axis=0))
        np.testing.assert_allclose(turned, 1.0, rtol=0, atol=1e-10)
        assert (vectors[np.abs(vectors).argmax(axis=0), [0, 1]] > 0).all()


class TestManyClasses:
    """Above a number of classes D is not formed; here the number is three."""

    @pytest.fixture
    def small_blocks(self, monkeypatch):
        monkeypatch.setattr(_similarity, "_BLOCK", 3)

    @pytest.mark.parametrize("narrow", [1024, 0], ids=["features", "iteration"])
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("per_node", [True, False])
    def test_eigenvectors_are_those_of_the_matrix(
        self, small_blocks, monkeypatch, form, narrow, per_node
    ):
        monkeypatch.setattr(_similarity, "_NARROW", narrow)
        rng = np.random.default_rng(0)
        group = rng.integers(3, size=80)
        means = 4 * rng.normal(size=(3, 30))[group] + 0.2 * rng.normal(size=(80, 30))
        weight, scale = rng.uniform(1, 3, size=(2, 80))
        found = ClassSimilarity(weight, scale, per_node, means=form(means))
        classes = np.arange(5, 80)
        values, vectors = found.leading(classes, 2)
        D = found.matrix(classes)
        # one percent is promised of the values; groups this far apart give more
        np.testing.assert_allclose(values, np.linalg.eigvalsh(D)[::-1][:2], rtol=1e-2)
        residual = D @ vectors - vectors * values
        assert np.linalg.norm(residual, axis=0).max() < 1e-2 * values[0]

    def test_product_with_a_vector(self, small_blocks):
        rng = np.random.default_rng(0)
        means, weight, scale = rng.normal(size=(20, 6)), *rng.uniform(1, 3, size=(2, 20))
        classes, vector = np.arange(2, 19), rng.normal(size=17)
        for form in (np.asarray, sparse.csr_array):
            found = ClassSimilarity(weight, scale, True, means=form(means))
            np.testing.assert_allclose(found.times(classes)(vector), found.matrix(classes) @ vector)


class TestRounding:
    def test_far_from_the_origin_no_digits_are_lost(self):
        rng = np.random.default_rng(0)
        means, ones = rng.normal(size=(8, 3)), np.ones(8)
        near = ClassSimilarity(ones, ones, True, means=means).matrix(np.arange(8))
        far = ClassSimilarity(ones, ones, True, means=means + 2.0**30).matrix(np.arange(8))
        np.testing.assert_allclose(far, near, atol=1e-5)

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
    def test_equal_classes_have_no_spectrum(self, form, value):
        ones = np.ones(6)
        found = ClassSimilarity(ones, ones, True, means=form(np.full((6, 3), value)))
        assert (found.leading(np.arange(6), 2)[0] == 0).all()
