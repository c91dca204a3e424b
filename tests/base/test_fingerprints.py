"""Laws of fingerprints: the same for the same fit, in every process, and for no other."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from palmette.boosting import _checkpoint as fingerprints
from palmette.boosting._checkpoint import fingerprint_of_arrays, fingerprint_of_parameters
from palmette.hierarchy._hierarchy import Hierarchy

A = np.arange(24.0).reshape(4, 6)


class Holder(BaseEstimator):
    """Has one parameter."""

    def __init__(self, value=None):
        self.value = value


def text_of(value):
    return fingerprint_of_parameters(Holder(value))


# ---------------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    "other",
    [
        A.T,
        A.reshape(6, 4),
        A.astype(np.float32),
        A.astype(">f8"),
        A + np.eye(4, 6) * 1e-12,
        A[:, ::-1],
        A[:3],
        A.ravel(),
        -A * 0,
        None,
    ],
)
def test_other_arrays_have_other_fingerprints(other):
    assert fingerprint_of_arrays(other) != fingerprint_of_arrays(A)


@pytest.mark.parametrize("rows_at_a_time", [1, 3, 100])
def test_the_layout_in_memory_does_not_count(monkeypatch, rows_at_a_time):
    monkeypatch.setattr(fingerprints, "_CHUNK", rows_at_a_time * A[0].nbytes)
    gaps = np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3]
    for same in (np.asfortranarray(A), gaps, A[::-1][::-1], A.tolist()):
        assert fingerprint_of_arrays(same) == fingerprint_of_arrays(A)


def test_the_order_and_number_of_arrays_count():
    b = A[:2]
    seen = [(), (A,), (A, None), (None, A), (A, A), (A, b), (b, A), (None,), (None, None)]
    assert len({fingerprint_of_arrays(*arrays) for arrays in seen}) == len(seen)


def test_arrays_without_values_have_fingerprints_too():
    empty = [np.empty((0, 3)), np.empty((3, 0)), np.empty((3, 0)).T, np.asfortranarray(A)[:0]]
    assert len({fingerprint_of_arrays(each) for each in empty}) == 3
    assert fingerprint_of_arrays(np.array(1.0)) != fingerprint_of_arrays(np.array([1.0]))


def test_sparse_matrices_count_by_their_values():
    matrix = sparse.csr_array(np.where(A % 3 == 0, A, 0))
    shuffled = sparse.coo_array(matrix)
    order = np.random.default_rng(0).permutation(shuffled.nnz)
    row, column = shuffled.coords
    shuffled = sparse.coo_array(
        (shuffled.data[order], (row[order], column[order])), shape=matrix.shape
    )
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for same in (matrix.tocsc(), shuffled, wide):
        assert fingerprint_of_arrays(same) == fingerprint_of_arrays(matrix)
    assert fingerprint_of_arrays(matrix * 2) != fingerprint_of_arrays(matrix)
    assert fingerprint_of_arrays(matrix.toarray()) != fingerprint_of_arrays(matrix)


def test_a_given_sparse_matrix_is_left_as_it_is():
    matrix = sparse.csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    same = sparse.csr_array(np.array([[2.0, 0.0, 1.0]]))
    assert fingerprint_of_arrays(matrix) == fingerprint_of_arrays(same)
    assert matrix.indices.tolist() == [2, 0, 0]


def test_texts_and_objects_are_refused():
    for array in (np.array(["a"]), np.array([None]), np.array([{}])):
        with pytest.raises(TypeError, match="expected numbers"):
            fingerprint_of_arrays(array)


# ---------------------------------------------------------------------- parameters


@given(st.dictionaries(st.text(), st.floats() | st.integers() | st.text() | st.booleans()))
def test_parameters_are_a_json_object_whatever_they_hold(values):
    text = text_of(values)
    assert list(json.loads(text)) == ["value"]
    shuffled = dict(sorted(values.items(), key=lambda item: item[0][::-1]))
    assert text_of(shuffled) == text  # the order of a mapping says nothing


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (0.1, np.float64(0.1)),
        (3, np.int64(3)),
        (True, np.True_),
        ("a", np.str_("a")),
        ({"a", "b", "c", "d"}, {"d", "c", "b", "a"}),
        (Hierarchy.star(["a", "b"]), Hierarchy.star(["a", "b"])),
        (A, A.copy(order="F")),
        (np.array(["a", None], dtype=object), ["a", None]),
        (lambda x: x, lambda x: x),
        (float("nan"), float("nan")),
    ],
)
def test_the_same_value_is_written_the_same(one, same):
    assert text_of(one) == text_of(same)


@dataclass
class Setting:
    depth: int


def test_other_values_are_written_otherwise():
    values = [
        *(None, True, 1, 1.0, "1", "None", [], [1], {1: 2}, {2: 1}),
        *(0.1, np.nextafter(0.1, 1), float("inf"), float("nan")),
        *(Hierarchy.star(["a", "b"]), Hierarchy.star(["a", "c"])),
        *(A, A + 1, A.T, Setting(1), Setting(2), np.mean, np.median, LogisticRegression),
        *(LogisticRegression(), LogisticRegression(C=2), [LogisticRegression()]),
        *([LogisticRegression(C=2)], {"a": LogisticRegression(C=2)}, list(range(1000))),
        *(list(range(1001)), "x" * 1000, "x" * 1001),
    ]
    assert len({text_of(value) for value in values}) == len(values)


def test_inner_estimators_are_told_by_class_and_parameters():
    def pipeline(**changes):
        return make_pipeline(StandardScaler(), DecisionTreeClassifier(**changes))

    one = json.loads(fingerprint_of_parameters(pipeline()))
    two = json.loads(fingerprint_of_parameters(pipeline(max_depth=3)))
    assert one["decisiontreeclassifier"] == "DecisionTreeClassifier"
    assert {n for n in one if one[n] != two[n]} == {"decisiontreeclassifier__max_depth", "steps"}


def test_what_has_no_effect_or_cannot_be_repeated_is_left_out():
    free = [None, np.random.RandomState(0), np.random.default_rng(0)]
    texts = {
        fingerprint_of_parameters(RandomForestClassifier(random_state=r, n_jobs=n, verbose=n))
        for r, n in zip(free, (1, 2, 3), strict=True)
    }
    assert len(texts) == 1
    seeded = [RandomForestClassifier(random_state=seed) for seed in (0, np.int64(0), 1)]
    assert len({*texts, *map(fingerprint_of_parameters, seeded)}) == 3
    inner = [Holder([RandomForestClassifier(n_jobs=n)]) for n in (1, 2)]
    assert len(set(map(fingerprint_of_parameters, inner))) == 1


def test_names_are_left_out_exactly():
    text = fingerprint_of_parameters(
        make_pipeline(DecisionTreeClassifier()), without=("steps", "max_depth")
    )
    assert "steps" not in json.loads(text)
    assert "decisiontreeclassifier__max_depth" in json.loads(text)


def test_what_is_long_is_kept_short():
    assert len(text_of({f"node{i}": i / 7 for i in range(10**4)})) < 300
    assert len(text_of(FunctionTransformer())) < 300
