"""Preparation of the data sets, even splits, Table 1."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from scipy import sparse

from papers.registry import find_published
from papers.soshf.methods import (
    DATASETS,
    even_split,
    facts_of,
    prepare,
    read_set,
)
from papers.soshf.published import PAPER_SETS


def columns_with(*counts: int, n_rows: int = 1000) -> np.ndarray:
    """Make a 0/1 matrix whose columns have some numbers of ones."""
    matrix = np.zeros((n_rows, len(counts)), dtype=int)
    for column, count in enumerate(counts):
        matrix[:count, column] = 1
    return matrix


def test_labels_need_twenty_rows_and_a_ratio_of_fifty_at_most():
    Y = columns_with(19, 20, 500, 981, 980, n_rows=1000)
    found = prepare("toy", np.zeros((1000, 1)), Y, list("abcde"), is_numeric=True)
    assert found.hierarchy.names[1:].tolist() == ["b", "c", "e"]
    # 20 of 1,020 is a ratio of 50, of 1,021 a little more
    for n_rows, kept in ((1020, 1), (1021, 0)):
        Y = columns_with(20, 300, n_rows=n_rows)
        problem = prepare("toy", np.zeros((n_rows, 1)), Y, list("ab"), is_numeric=True)
        assert problem.y_train.shape[1] == 1 + kept


@pytest.mark.parametrize(("kept", "expected"), [("all", 4), ("from 1%", 3), ("above 1%", 2)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rare_features_go_where_the_paper_drops_them(kept, expected, form):
    X = form(columns_with(9, 10, 11, 500).astype(float))
    Y = form(columns_with(300, 400))
    found = prepare("toy", X, Y, ["a", "b"], is_numeric=False, kept_features=kept)
    assert found.X_train.shape == (1000, expected)
    assert found.categorical.all()


def test_halves_are_disjoint_and_differ_by_number_and_seed(problem):
    rows = np.arange(len(problem.X_train), dtype=float)
    marked = prepare("toy", rows[:, None], problem.y_train, list("abcd"), is_numeric=False)
    split = even_split(marked, 0, seed=3)
    assert (split.name, split.seed) == ("even-0", 3)
    assert len(split.X_train) == len(split.X_test) == 60
    both = np.concatenate([split.X_train, split.X_test]).ravel()
    np.testing.assert_array_equal(np.sort(both), rows)
    chosen = split.X_train.ravel().astype(int)
    np.testing.assert_array_equal(split.y_train, marked.y_train[chosen])
    assert not np.array_equal(even_split(marked, 1, seed=3).X_train, split.X_train)
    np.testing.assert_array_equal(even_split(marked, 1, seed=2).X_train, split.X_train)


def test_numbers_are_standardized_by_the_training_rows(problem):
    problem.X_train[:, 9] = 5.0
    split = even_split(problem, 0, seed=0)
    np.testing.assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.X_train[:, :9].std(axis=0), 1)
    assert (split.X_test[:, 9] == 0).all()
    assert abs(split.X_test.mean(axis=0)[:9]).max() > 1e-3


def test_facts_by_hand():
    Y = columns_with(250, 410)
    found = facts_of(prepare("toy", np.zeros((1000, 7)), Y, ["a", "b"], is_numeric=True))
    assert asdict(found.table) == {
        "instances": 1000,
        "features": 7,
        "labels": 2,
        "density": 0.33,  # 660 of 2,000
        "distinct": 0.0,  # 3 of 1,000
        "min_ir": 1.44,  # 590 over 410
        "max_ir": 3.0,
        "mean_ir": 2.22,
    }
    assert found.mean_imbalance == pytest.approx((1 + 410 / 250) / 2)


def test_the_registry_names_the_same_sets():
    paper = find_published("soshf")
    assert (*paper.datasets, *paper.more) == DATASETS
    assert set(paper.quick) <= set(paper.datasets)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["cal500", "emotions", "medical", "enron", "scene", "yeast", "corel5k"]
)
def test_table_1_comes_out_exactly(data_home, name):
    assert facts_of(read_set(name)).table == PAPER_SETS[name]


@pytest.mark.data
@pytest.mark.parametrize("name", ["rcv1subset1_top944", "rcv1subset2_top944"])
def test_all_of_table_1_but_the_features_where_the_version_is_another(data_home, name):
    ours, paper = asdict(facts_of(read_set(name)).table), asdict(PAPER_SETS[name])
    assert {key for key in ours if ours[key] != paper[key]} == {"features"}
