"""Missing, distinct and sorted values."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import any_names, quick

from palmette.exceptions import LabelError
from palmette.hierarchy._names import distinct, is_padding, object_array, shown, sorted_labels


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        np.str_(""),
        float("nan"),
        np.float16("nan"),
        np.float32("nan"),
        complex("nan"),
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        pd.NA,
        pd.NaT,
        np.ma.masked,
    ],
)
def test_missing(value):
    assert is_padding(value) is True


@pytest.mark.parametrize(
    "value", [0, False, " ", "nan", "None", b"", (), [], np.int64(0), np.inf, decimal.Decimal(0)]
)
def test_not_missing(value):
    assert is_padding(value) is False


@quick
@given(st.lists(any_names))
def test_distinct_values_in_order_with_their_codes(values):
    unique, codes = distinct(values)
    assert unique == list(dict.fromkeys(values))
    assert [unique[code] for code in codes] == values


def test_what_cannot_be_a_label_is_named_with_its_place():
    with pytest.raises(LabelError, match=r"y\[1\] = \[\] of type list is not a label"):
        distinct(["a", []])
    with pytest.raises(LabelError, match=r"there 2 = \(1, \{\}\)"):
        distinct(["a", "b", (1, {})], "there {}".format)


@quick
@given(st.lists(any_names, max_size=6), st.randoms())
def test_sorting_does_not_depend_on_the_order_that_came(values, random):
    values = list(dict.fromkeys(values))
    shuffled = random.sample(values, len(values))
    assert sorted_labels(shuffled) == sorted_labels(values)
    assert sorted(map(repr, sorted_labels(values))) == sorted(map(repr, values))


def test_sorting_by_hand():
    assert sorted_labels([10, 9]) == [9, 10]
    assert sorted_labels(["b", 1, "a"]) == [1, "a", "b"]
    assert sorted_labels([("b",), (1, "x"), ("a",)]) == [(1, "x"), ("a",), ("b",)]


def test_object_arrays_are_flat():
    assert object_array([(1, 2), (3, 4)]).shape == (2,)
    assert object_array([[1], [2]]).tolist() == [[1], [2]]
    assert object_array([]).dtype == object


def test_long_values_are_cut():
    assert shown("a") == "'a'"
    assert len(shown("a" * 1000)) == 160
