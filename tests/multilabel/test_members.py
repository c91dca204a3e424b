from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from palmette import PalmetteError
from palmette.multilabel._c45 import C45Tree
from palmette.multilabel._members import (
    class_proba,
    fit_member,
    in_threads,
    make_members,
    positive_proba,
    rows_to_fit,
    rows_to_predict,
)

X = np.array([[0.0], [1.0], [2.0], [3.0]])


def test_members_have_seeds_of_their_own_that_repeat():
    one, other = (make_members(None, 3, np.random.RandomState(0)) for _ in range(2))
    seeds = [member.random_state for member in one]
    assert all(isinstance(member, C45Tree) for member in one)
    assert len(set(seeds)) == 3
    assert seeds == [member.random_state for member in other]


def test_one_class_needs_no_model():
    model = fit_member(LogisticRegression(), X, np.ones(4, dtype=np.int8))
    assert positive_proba(model, X).tolist() == [1.0] * 4
    model = fit_member(LogisticRegression(), X, np.full(4, 2), np.ones(4))
    assert class_proba(model, X, 3).tolist() == [[0, 0, 1]] * 4


def test_classes_that_a_model_never_saw_have_no_share():
    model = fit_member(LogisticRegression(), X, np.array([0, 0, 2, 2]))
    shares = class_proba(model, X, 4)
    assert (shares[:, [1, 3]] == 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_answers_serve_where_there_are_no_probabilities():
    margins = fit_member(LinearSVC(), X, np.array([0, 0, 1, 1]))
    assert np.array_equal(positive_proba(margins, X) > 0.5, margins.predict(X) == 1)
    answers = fit_member(LinearSVC(), X, np.array([0, 0, 1, 2]))
    assert class_proba(answers, X, 3).argmax(axis=1).tolist() == answers.predict(X).tolist()


def test_weights_need_an_estimator_that_takes_them():
    with pytest.raises(PalmetteError, match=r"KNeighborsClassifier\.fit does not accept it"):
        fit_member(KNeighborsClassifier(1), X, np.array([0, 0, 1, 1]), np.ones(4))


def test_rows_for_trees_are_narrow_once():
    compressed = sparse.csr_array(X)
    compressed.indices, compressed.indptr = (
        compressed.indices.astype(np.int64),
        compressed.indptr.astype(np.int64),
    )
    for rows in (rows_to_fit(compressed, None), rows_to_predict(compressed, C45Tree())):
        assert rows.dtype == np.float32
        assert rows.indices.dtype == np.int32
        assert np.array_equal(rows.toarray(), X)
    assert rows_to_fit(compressed, LogisticRegression()).indices.dtype == np.int32
    assert rows_to_fit(X, LogisticRegression()) is X
    assert rows_to_fit(X, None).flags.f_contiguous


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_answers_stand_in_the_order_of_the_jobs(n_jobs):
    assert in_threads(divmod, ((i, 3) for i in range(5)), n_jobs) == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
    ]
