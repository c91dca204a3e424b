"""A law for every public estimator: what is loaded is what was saved."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from tests.instances import label, public_estimators
from tests.persistence.models import answers, fitted, same, small_instances

from palmette.persistence import load, save


@pytest.mark.parametrize("estimator", small_instances(), ids=label)
def test_a_loaded_model_answers_bit_by_bit_as_the_saved_one(estimator, tmp_path):
    model, X = fitted(estimator, n_each=5)
    first, second = tmp_path / "first.palmette", tmp_path / "second.palmette"
    save(model, first)
    again = load(first)
    save(again, second)
    assert first.read_bytes() == second.read_bytes()
    asked, told = answers(model, X), answers(again, X)
    assert list(asked) == list(told)
    for name in asked:
        assert same(asked[name], told[name]), name
    assert repr(again) == repr(model)


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_an_unfitted_estimator_comes_back_as_it_was(estimator, tmp_path):
    file = tmp_path / "unfitted.palmette"
    save(estimator(), file)
    again = load(file)
    assert repr(again) == repr(estimator())
    assert repr(clone(again)) == repr(estimator())
    assert not hasattr(again, "hierarchy_")
