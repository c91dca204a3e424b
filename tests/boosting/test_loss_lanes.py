"""Gradients in vectors of float32 numbers, compared with literal ones in float64."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logsumexp

from palmette import _kernel_files
from palmette._kernel_files import source_hash
from palmette.boosting import _loss_lanes, _objectives, _path_lanes

WIDTHS = [*range(1, 51), 100, 991, 992, 993, 1000, 2003]  # on both sides of all vectors and blocks
CLOSE = {"logistic": 3e-7, "softmax": 3e-6, "paths": 1e-5}


def drawn(n_samples, n_columns, seed=0):
    """Scores with huge and tiny ones, and weights of rows, in float32."""
    rng = np.random.default_rng([seed, n_columns])
    scores = 3 * rng.normal(size=(n_samples, n_columns))
    scores[0] *= 1e-30
    scores[1] *= 200.0
    scores[2] -= 60.0
    return rng, scores.astype(np.float32), rng.uniform(0.25, 4, n_samples).astype(np.float32)


class LogisticCase:
    def __init__(self, n_samples, n_columns):
        rng, self.scores, self.weights = drawn(n_samples, n_columns)
        truth = sparse.csr_array(rng.random((n_samples, n_columns)) < 0.2)
        self.truth = truth.toarray()
        self.starts, self.positives = truth.indptr.astype(np.int64), truth.indices.astype(np.int32)

    def fast(self, rows, out):
        part, starts = self.scores[rows], self.starts[rows.start : rows.stop + 1]
        return _loss_lanes.logistic_gradients(part, starts, self.positives, self.weights[rows], out)

    def literal(self):
        scores, weights = self.scores.astype(np.float64), self.weights.astype(np.float64)[:, None]
        losses = np.logaddexp(0.0, np.where(self.truth, -scores, scores))
        return (weights * losses).sum(), weights * (self.truth - expit(scores))


class SoftmaxCase:
    def __init__(self, n_samples, n_columns):
        rng, self.scores, self.weights = drawn(n_samples, n_columns)
        self.targets = rng.integers(0, n_columns, n_samples).astype(np.int32)

    def fast(self, rows, out):
        part = self.scores[rows], self.targets[rows], self.weights[rows]
        return _loss_lanes.softmax_gradients(*part, out)

    def literal(self):
        scores, weights = self.scores.astype(np.float64), self.weights.astype(np.float64)[:, None]
        log_p = scores - logsumexp(scores, axis=1, keepdims=True)
        truth = np.arange(scores.shape[1]) == self.targets[:, None]
        return -(weights * log_p)[truth].sum(), weights * (truth - np.exp(log_p))


class PathCase:
    def __init__(self, n_samples, n_columns):
        rng, scores, self.weights = drawn(n_samples, n_columns)
        scores[1:3] = np.rint(scores[1:3])  # so that huge sums are exact
        self.scores = scores
        parents = [int(rng.integers(-1, k)) for k in range(n_columns)]
        self.ends = rng.random(n_columns) < 0.5
        self.ends[-1] = True
        self.targets = rng.choice(np.flatnonzero(self.ends), n_samples).astype(np.int32)
        self.parents = np.array(parents, dtype=np.int32)

    def fast(self, rows, out):
        part = self.scores[rows], self.targets[rows], self.weights[rows]
        return _path_lanes.path_softmax_gradients(*part, self.parents, self.ends, out)

    def literal(self):
        above = np.eye(len(self.parents))  # row k: node k and its ancestors
        for k, parent in enumerate(self.parents):
            above[k] += above[parent] if parent >= 0 else 0.0
        weights = self.weights.astype(np.float64)[:, None]
        paths = np.where(self.ends, self.scores.astype(np.float64) @ above.T, -np.inf)
        log_p = paths - logsumexp(paths, axis=1, keepdims=True)
        truth = np.arange(len(above)) == self.targets[:, None]
        return -(weights * log_p)[truth].sum(), weights * ((truth - np.exp(log_p)) @ above)


CASES = {"logistic": LogisticCase, "softmax": SoftmaxCase, "paths": PathCase}


@pytest.mark.parametrize("name", CASES)
def test_gradients_and_losses_are_the_literal_ones(name):
    for n_columns in WIDTHS:
        case = CASES[name](6, n_columns)
        found = np.full(case.scores.shape, np.nan, dtype=np.float32)
        loss = case.fast(slice(0, 6), found)
        expected_loss, expected = case.literal()
        apart = np.abs(found - expected) / case.weights[:, None]
        assert apart.max() <= CLOSE[name], n_columns
        assert loss == pytest.approx(expected_loss, rel=1e-7, abs=1e-7 * 6), n_columns


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n_columns", [1, 3, 16, 37])
def test_rows_may_be_divided_among_calls(name, n_columns):
    case = CASES[name](50, n_columns)
    whole, parts = np.empty_like(case.scores), np.empty_like(case.scores)
    loss = case.fast(slice(0, 50), whole)
    bounds = [0, 1, 17, 33, 50]
    blocks = [slice(*pair) for pair in itertools.pairwise(bounds)]
    losses = [case.fast(rows, parts[rows]) for rows in reversed(blocks)]
    assert (whole == parts).all()
    assert loss == pytest.approx(sum(losses), rel=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_written_beyond_the_rows(name):
    for n_columns in (1, 2, 5, 17, 35):
        case = CASES[name](17, n_columns)
        room = np.full((21, n_columns), np.inf, dtype=np.float32)
        case.fast(slice(0, 17), room[:17])
        assert np.isfinite(room[:17]).all()
        assert np.isposinf(room[17:]).all()


def test_small_data_and_few_columns_have_plain_loops():
    assert _objectives.in_lanes(np.zeros((2, 8), dtype=np.float32))
    assert not _objectives.in_lanes(np.zeros((2, 7), dtype=np.float32))
    assert not _objectives.in_lanes(np.zeros((2, 8)))


@pytest.mark.parametrize("name", ["boosting._loss_lanes", "boosting._path_lanes"])
def test_stored_kernels_depend_on_the_code_generators(name, monkeypatch):
    before = source_hash(name)
    plain = _kernel_files._source
    monkeypatch.setattr(
        _kernel_files,
        "_source",
        lambda module: plain(module) + (b"#" if module == "boosting._lanes" else b""),
    )
    assert plain("boosting._lanes")
    assert source_hash.__wrapped__(name) != before
