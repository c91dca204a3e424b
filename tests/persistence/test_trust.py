"""Which classes of other libraries a file may name."""

from __future__ import annotations

import pytest
from sklearn.base import BaseEstimator

from palmette.persistence._foreign import trusted_class
from palmette.persistence._parts import REVIEWED, Untrusted


@pytest.mark.parametrize(
    "name", ["sklearn.pipeline.Pipeline", "sklearn.model_selection._search.GridSearchCV"]
)
def test_estimators_of_scikit_learn_are_trusted(name):
    assert issubclass(trusted_class(name, ()), BaseEstimator)


@pytest.mark.parametrize(
    "name",
    [
        "subprocess.Popen",
        "sklearn.externals._packaging.version.Version",
        "sklearn.utils.tests.test_mocking.Whatever",
        "sklearn.utils._mocking.MockDataFrame",
        "lightgbm.sklearn.LGBMClassifier",
        "sklearn.ensemble._iforest.IsolationForest",
        "sklearn.preprocessing._label.MultiLabelBinarizer",
        "tests.persistence.test_trust.Nothing",
    ],
)
def test_others_are_not(name):
    with pytest.raises(Untrusted, match=name):
        trusted_class(name, ())


def test_what_the_caller_trusts_is_found_by_its_name():
    assert trusted_class("fractions.Fraction", {"fractions.Fraction"}).__name__ == "Fraction"
    with pytest.raises(ValueError, match=r"there is no class fractions\.Nothing"):
        trusted_class("fractions.Nothing", {"fractions.Nothing"})
    with pytest.raises(ValueError, match=r"there is no class fractions\.gcd"):
        trusted_class("fractions.gcd", {"fractions.gcd"})
    with pytest.raises(ValueError, match="is not the name of a class"):
        trusted_class(["a"], ())


def test_nothing_that_reaches_outside_was_reviewed_in():
    modules = {name.partition(".")[0] for name in REVIEWED}
    assert modules == {"collections", "numpy", "scipy", "sklearn", "skrub"}
    assert not {"numpy.load", "numpy.save"} & REVIEWED
