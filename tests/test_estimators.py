"""Every public estimator obeys scikit-learn's rules and ours."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.instances import (
    PARAMETERS,
    as_first_met,
    expected_failures,
    instances,
    label,
    public_estimators,
)
from tests.laws import laws_of
from tests.laws.probabilities import ON_PROBABILITIES

import palmette


@parametrize_with_checks(list(as_first_met()), expected_failed_checks=expected_failures)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def cases():
    """Every estimator with every law; with other parameters those on probabilities."""
    seen = set()
    for estimator in instances():
        for law in laws_of(estimator):
            if type(estimator) not in seen or law in ON_PROBABILITIES:
                yield estimator, law
        seen.add(type(estimator))


@pytest.mark.parametrize(("estimator", "law"), list(cases()), ids=label)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_law(estimator, law):
    law(clone(estimator))


def test_the_table_of_parameters_names_public_estimators_only():
    assert set(PARAMETERS) <= set(palmette.__all__)


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_a_public_estimator_has_laws_to_obey(estimator):
    assert list(laws_of(estimator()))


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_an_estimator_has_at_most_five_classes_of_palmette_among_its_bases(estimator):
    own = [base for base in estimator.__mro__ if base.__module__.startswith("palmette.")]
    assert len(own) <= 5, [base.__name__ for base in own]
