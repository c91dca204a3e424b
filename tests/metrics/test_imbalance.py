"""Imbalance measures: hand-worked values, forms of y, laws, bad input."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette import metrics
from palmette.exceptions import LabelError, PalmetteError

# counts 6, 3, 2, 1: ratios 1, 2, 3, 6
ROWS = [{"a"}, {"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "d"}, {"a", "b", "c"}, set(), set()]
MATRIX = np.array([[label in row for label in "abcd"] for row in ROWS], dtype=int)
CONCURRENCE = [
    0.0,
    0.0,
    1 - np.sqrt(2) / 1.5,
    1 - np.cbrt(6) / 2,
    1 - np.sqrt(6) / 3.5,
    1 - np.cbrt(6) / 2,
    0.0,
    0.0,
]
FORMS = {
    "sets": ROWS,
    "ints": MATRIX,
    "flags": MATRIX.astype(bool),
    "sparse": sparse.csc_array(MATRIX),
    "sparse matrix": sparse.csr_matrix(MATRIX),
    "table": pd.DataFrame(MATRIX, columns=list("abcd")),
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_values_worked_by_hand(y):
    np.testing.assert_allclose(metrics.imbalance_ratios(y), [1, 2, 3, 6])
    assert metrics.mean_imbalance_ratio(y) == pytest.approx(3.0)
    # deviations -2, -1, 0, 3: squares sum to 14, over 3
    assert metrics.cvir(y) == pytest.approx(np.sqrt(14 / 3) / 3)
    np.testing.assert_allclose(metrics.scumble(y, per="row"), CONCURRENCE, atol=1e-15)
    assert metrics.scumble(y) == pytest.approx(np.mean(CONCURRENCE))
    np.testing.assert_allclose(
        metrics.scumble(y, per="label"),
        [
            np.sum(CONCURRENCE) / 6,
            (CONCURRENCE[2] + 2 * CONCURRENCE[3]) / 3,
            CONCURRENCE[3],
            CONCURRENCE[4],
        ],
    )
    np.testing.assert_allclose(metrics.within_label_imbalance_ratios(y), [3, 5 / 3, 3, 7])
    assert metrics.label_cardinality(y) == 12 / 8
    assert metrics.label_density(y) == 12 / 32
    assert metrics.label_diversity(y) == 5
    assert metrics.proportion_of_distinct_label_sets(y) == 5 / 8


def test_the_description_is_all_of_them():
    assert asdict(metrics.describe_labels(MATRIX)) == {
        "n_samples": 8,
        "n_labels": 4,
        "cardinality": metrics.label_cardinality(MATRIX),
        "density": metrics.label_density(MATRIX),
        "diversity": 5,
        "distinct": 5 / 8,
        "mean_imbalance": metrics.mean_imbalance_ratio(MATRIX),
        "max_imbalance": 6.0,
        "cvir": metrics.cvir(MATRIX),
        "scumble": metrics.scumble(MATRIX),
        "min_within": 5 / 3,
        "mean_within": np.mean(metrics.within_label_imbalance_ratios(MATRIX)),
        "max_within": 7.0,
    }


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_copies_of_the_rows_change_nothing_but_the_share_of_distinct_sets(seed, copies):
    y = np.random.default_rng(seed).random((12, 4)) < 0.4
    y[0] = True
    once, often = metrics.describe_labels(y), metrics.describe_labels(np.tile(y, (copies, 1)))
    assert often.diversity == once.diversity
    assert often.distinct == pytest.approx(once.distinct / copies)
    for name in ("cardinality", "density", "mean_imbalance", "cvir", "scumble", "mean_within"):
        assert getattr(often, name) == pytest.approx(getattr(once, name), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_bounds(seed):
    y = np.random.default_rng(seed).random((12, 4)) < 0.4
    y[0] = True
    assert (metrics.imbalance_ratios(y) >= 1).all()
    assert metrics.imbalance_ratios(y).min() == 1
    assert (metrics.within_label_imbalance_ratios(y) >= 1).all()
    rows = metrics.scumble(y, per="row")
    assert ((rows >= 0) & (rows < 1)).all()


def test_labels_that_no_row_or_every_row_has():
    y = np.array([[1, 0, 1], [1, 0, 0]])
    assert metrics.imbalance_ratios(y).tolist() == [1, np.inf, 2]
    assert metrics.within_label_imbalance_ratios(y).tolist() == [np.inf, np.inf, 1]
    assert metrics.mean_imbalance_ratio(y) == 1.5
    assert np.isnan(metrics.scumble(y, per="label")[1])
    assert metrics.cvir(y[:, :1]) == 0


def test_equally_frequent_labels_are_not_imbalanced():
    y = np.eye(3, dtype=int)
    assert metrics.mean_imbalance_ratio(y) == 1
    assert metrics.cvir(y) == 0
    assert metrics.scumble(np.ones((3, 2))) == 0


def test_nodes_above_the_labels_count_as_labels():
    y = [("a", "a1"), ("a", "a2"), ("b",)]
    assert metrics.imbalance_ratios(y).tolist() == [1, 2, 2, 2]


@pytest.mark.parametrize("y", [np.zeros((3, 2)), [set(), set()]], ids=["zeros", "empty sets"])
def test_without_any_label_there_is_no_mean(y):
    with pytest.raises(LabelError, match=r"no row has a label|0 labels"):
        metrics.mean_imbalance_ratio(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([[0, 2], [1, 0]]), "other than 0 and 1"),
        (np.array([[0.5, 1.0]]), "other than 0 and 1"),
        (np.zeros((0, 3)), "0 rows and 3 labels"),
        (np.array([[np.nan, 1.0]]), "other than 0 and 1"),
    ],
)
def test_bad_labels_are_named(y, message):
    with pytest.raises(LabelError, match=message):
        metrics.describe_labels(y)


def test_bad_choices_are_named():
    with pytest.raises(PalmetteError, match="per='column'"):
        metrics.scumble(MATRIX, per="column")
