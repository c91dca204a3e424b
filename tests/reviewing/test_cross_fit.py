"""Held-out probabilities: every row once, equal rows together, and similarities by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.table.goods import make_goods

from palmette.reviewing import _cross_fit
from palmette.reviewing._cross_fit import HeldOut, class_similarity, equal_rows
from palmette.table import fit_table
from palmette.table._problem import find_groups


@pytest.fixture(scope="module")
def goods():
    return make_goods(60)[["title", "kind"]]


@pytest.fixture(scope="module")
def model(goods):
    return fit_table(goods, "kind", model="class-tree", folds=0, columns={"title": "text"})


def hold_out(model, frame, labelled=None, **options):
    nodes = np.asarray(model.hierarchy_.index(model.read_target(frame)))
    labels = np.unique(nodes)
    labelled = np.ones(len(frame), dtype=bool) if labelled is None else labelled
    groups = equal_rows(model, frame)
    return HeldOut(model, frame, labels, labelled, nodes, groups, **options), groups


def test_every_row_once_by_a_model_that_has_not_seen_it(model, goods, monkeypatch):
    frame = pd.concat([goods, goods.iloc[:9]], ignore_index=True)
    seen = []
    refit = _cross_fit._refit

    def note(kind, rows):
        seen.append(set(rows["title"]))
        return refit(kind, rows)

    monkeypatch.setattr(_cross_fit, "_refit", note)
    held, _ = hold_out(model, frame, n_folds=3)
    rows = []
    for part in held:
        rows += part.rows.tolist()
        assert not seen[part.fold] & set(frame["title"].iloc[part.rows])
        np.testing.assert_allclose(part.proba.sum(axis=1), 1.0, atol=1e-6)
        assert part.known.all()
    assert sorted(rows) == list(range(69))
    assert held.smallest_share == 1.0


def test_rows_without_a_label_are_only_predicted(model, goods, monkeypatch):
    labelled = np.arange(60) >= 20
    counts = []
    refit = _cross_fit._refit
    monkeypatch.setattr(
        _cross_fit, "_refit", lambda kind, rows: counts.append(len(rows)) or refit(kind, rows)
    )
    held, _ = hold_out(model, goods, labelled, n_folds=2)
    assert sum(len(part.rows) for part in held) == 60
    assert sum(counts) == 40  # each labelled row in one of two training sets


def test_no_folds_use_the_model_itself(model, goods):
    held, _ = hold_out(model, goods, n_folds=0)
    proba = np.concatenate([part.proba for part in held])
    np.testing.assert_allclose(proba, model.predict_proba(goods))


def test_a_short_time_means_fewer_training_rows(model, goods, monkeypatch):
    monkeypatch.setattr(_cross_fit, "_MIN_ROWS", 10)
    held, _ = hold_out(model, goods, n_folds=2, seconds=1e-3)
    assert sum(len(part.rows) for part in held) == 60
    assert held.smallest_share == pytest.approx(1 / 3)


def test_equal_rows_ignore_white_space_but_not_the_column():
    frame = pd.DataFrame({"a": ["x  y", "x y", None, "", "x"], "b": ["", None, "x y", "x y", "y"]})
    assert find_groups(frame).tolist() == [0, 0, 1, 1, 2]
    assert find_groups(frame.iloc[1:3]) is None


@pytest.mark.parametrize("dense", [False, True])
def test_similarity_leaves_the_row_itself_out(dense):
    rng = np.random.default_rng(0)
    X = rng.random((12, 5)) * (rng.random((12, 5)) < 0.6)
    X[3] = 0.0
    codes = rng.integers(0, 3, 12)
    Y = np.eye(3, dtype=bool)[codes]
    Y[5] = False  # no label
    found = class_similarity(X if dense else sparse.csr_array(X), sparse.csr_array(Y))
    means = np.full((12, 3), np.nan)
    distances = np.full((12, 3), np.inf)
    for row in range(12):
        for label in range(3):
            others = [i for i in range(12) if i != row and Y[i, label]]
            mean = X[others].mean(axis=0)
            size = np.linalg.norm(mean) * np.linalg.norm(X[row])
            means[row, label] = X[row] @ mean / size if size else 0.0
            distances[row, label] = ((X[row] - mean) ** 2).sum()
    if dense:
        scale = np.median(distances[Y])
        expected = 1 / (1 + distances.min(axis=1) / scale)
    else:
        expected = means.max(axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-9)
