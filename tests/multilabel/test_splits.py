"""Iterative stratification: proportions of labels, forms of y, splitter interface."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

from palmette.exceptions import LabelError, PalmetteError
from palmette.multilabel import (
    IterativeStratifiedKFold,
    IterativeStratifiedShuffleSplit,
    iterative_train_test_split,
)


def make_labels(n_rows: int = 300, n_labels: int = 8, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((n_rows, n_labels)) < np.geomspace(0.5, 0.02, n_labels)).astype(int)


def test_the_rarest_label_is_shared_out_first_by_hand() -> None:
    # label 1 has rows 2 and 3: one each. Label 0 wants 1.5 rows in each part; row 2 being in the
    # first, row 0 goes to the second, and row 1 to the first again, which lacks more rows
    y = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    (train, test), (other_train, other_test) = IterativeStratifiedKFold(2).split(y, y)
    assert test.tolist() == [1, 2, 4]
    assert other_test.tolist() == [0, 3]
    assert other_train.tolist() == test.tolist()
    assert train.tolist() == other_test.tolist()


@settings(max_examples=40, deadline=None)
@given(
    n_rows=st.integers(4, 60),
    n_labels=st.integers(1, 6),
    n_splits=st.integers(2, 4),
    order=st.sampled_from([1, 2]),
    shuffle=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_every_row_is_tested_once(
    n_rows: int, n_labels: int, n_splits: int, order: int, shuffle: bool, seed: int
) -> None:
    y = sparse.csr_array(make_labels(n_rows, n_labels, seed))
    folds = IterativeStratifiedKFold(
        n_splits, shuffle=shuffle, random_state=seed if shuffle else None, order=order
    )
    pairs = list(folds.split(None, y))
    assert len(pairs) == folds.get_n_splits() == n_splits
    np.testing.assert_array_equal(np.sort(np.concatenate([t for _, t in pairs])), range(n_rows))
    for train, test in pairs:
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(n_rows))
        assert not np.intersect1d(train, test).size


@pytest.mark.parametrize("order", [1, 2])
def test_every_label_has_its_share_of_every_fold(order: int) -> None:
    y = make_labels()
    folds = IterativeStratifiedKFold(5, shuffle=True, random_state=3, order=order)
    counts = np.array([y[test].sum(axis=0) for _, test in folds.split(y, y)])
    assert np.abs(counts - y.sum(axis=0) / 5).max() < 2
    sizes = [len(test) for _, test in folds.split(y, y)]
    assert max(sizes) - min(sizes) <= 2


def test_pairs_of_labels_have_their_share_with_order_2() -> None:
    y = make_labels(seed=5)
    together = {
        order: [
            (y[test].T @ y[test])
            for _, test in IterativeStratifiedKFold(
                3, shuffle=True, random_state=0, order=order
            ).split(y, y)
        ]
        for order in (1, 2)
    }
    spread = {order: np.ptp(counts, axis=0).sum() for order, counts in together.items()}
    assert spread[2] < spread[1]


def test_one_label_a_row_is_plain_stratification() -> None:
    y = np.repeat(["a", "b", "c"], [30, 9, 3])
    for _, test in IterativeStratifiedKFold(3, shuffle=True, random_state=0).split(y, y):
        assert {c: (y[test] == c).sum() for c in "abc"} == {"a": 10, "b": 3, "c": 1}


def test_the_form_of_y_changes_nothing() -> None:
    y = make_labels(60, 5)
    sets = [set(np.flatnonzero(row).tolist()) for row in y]
    forms = [y, y.astype(bool), sparse.csc_matrix(y), pd.DataFrame(y), sets]
    answers = [
        [test.tolist() for _, test in IterativeStratifiedKFold(3).split(None, form)]
        for form in forms
    ]
    assert all(answer == answers[0] for answer in answers)


def test_nodes_above_the_labels_are_shared_out_too() -> None:
    y = [("a", f"a{i}") for i in range(10)] + [("b", f"b{i}") for i in range(10)]
    for _, test in IterativeStratifiedKFold(2, shuffle=True, random_state=0).split(None, y):
        assert sum(y[i][0] == "a" for i in test) == 5


def test_seeds_decide() -> None:
    y = make_labels(80)

    def tests_of(seed: int) -> list[list[int]]:
        folds = IterativeStratifiedKFold(4, shuffle=True, random_state=seed)
        return [test.tolist() for _, test in folds.split(None, y)]

    assert tests_of(0) == tests_of(0) != tests_of(1)


def test_shuffle_splits_differ_and_keep_to_the_sizes() -> None:
    y = make_labels()
    splitter = IterativeStratifiedShuffleSplit(3, test_size=60, train_size=0.5, random_state=0)
    parts = list(splitter.split(y, y))
    assert len(parts) == splitter.get_n_splits() == 3
    assert len({tuple(test) for _, test in parts}) == 3
    for train, test in parts:
        assert abs(len(train) - 150) <= 3
        assert abs(len(test) - 60) <= 3
        assert not np.intersect1d(train, test).size
        assert np.abs(y[test].sum(axis=0) - y.sum(axis=0) * 60 / 300).max() < 2


def test_train_and_test_parts_of_anything() -> None:
    y = make_labels(40, 3)
    X = sparse.coo_array(np.arange(80.0).reshape(40, 2))
    table = pd.DataFrame({"row": np.arange(40)}, index=np.arange(40) + 100)
    names = [f"row {i}" for i in range(40)]
    parts = iterative_train_test_split(X, y, table, names, random_state=0)
    X_train, X_test, y_train, y_test, t_train, t_test, n_train, n_test = parts
    assert X_test.shape[0] == len(y_test) == len(t_test) == len(n_test) == 10
    rows = t_test["row"].to_numpy()
    np.testing.assert_array_equal(X_test.toarray()[:, 0], 2 * rows)
    np.testing.assert_array_equal(y_test, y[rows])
    assert n_test == [f"row {i}" for i in rows]
    assert X_train.shape[0] == len(y_train) == len(t_train) == len(n_train) == 30


def test_scikit_learn_takes_the_splitters() -> None:
    y = make_labels(60, 3)
    X = np.zeros((60, 1))
    for cv in (IterativeStratifiedKFold(4), IterativeStratifiedShuffleSplit(4, random_state=0)):
        assert len(cross_val_score(DummyClassifier(), X, y, cv=cv)) == 4
    assert repr(IterativeStratifiedKFold(3)).startswith("IterativeStratifiedKFold(n_splits=3")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: IterativeStratifiedKFold(1), "n_splits=1"),
        (lambda: IterativeStratifiedKFold(2.5), "n_splits=2.5"),
        (lambda: IterativeStratifiedKFold(random_state=0), "shuffle=True"),
        (lambda: IterativeStratifiedKFold(order=3), "order=3"),
        (lambda: IterativeStratifiedShuffleSplit(0), "n_splits=0"),
        (lambda: iterative_train_test_split([0, 1], ["a", "b"], test_size=1.5), "test_size=1.5"),
        (lambda: iterative_train_test_split([0, 1], ["a", "b"], test_size=3), "test_size=3"),
        (lambda: iterative_train_test_split([0, 1], ["a", "b"], [1]), "argument 3 has 1 rows"),
        (lambda: next(IterativeStratifiedKFold(3).split(None, ["a", "b"])), "2 rows"),
    ],
)
def test_bad_parameters_are_named(call, message: str) -> None:
    with pytest.raises(PalmetteError, match=message):
        call()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (None, None, "y is None"),
        (np.zeros(3), ["a", "b"], "3 rows and y has 2"),
        (None, sparse.csr_array([[2, 0], [0, 1]]), "contains 2"),
    ],
)
def test_bad_labels_are_named(X, y, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        next(IterativeStratifiedKFold(2).split(X, y))
