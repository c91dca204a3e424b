"""Every public estimator obeys scikit-learn's rules and ours."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
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

# one test per estimator, not one per check: thousands of tests cost more than what they run


@pytest.mark.parametrize("estimator", list(as_first_met()), ids=label)
def test_it_passes_the_checks_of_scikit_learn(estimator):
    excused = expected_failures(estimator)
    results = check_estimator(estimator, expected_failed_checks=excused, on_skip=None, on_fail=None)
    assert len(results) > 20
    failed = [each for each in results if each["status"] == "failed"]
    for each in failed:
        each["exception"].add_note(f"in {each['check_name']}")
    if failed:
        raise ExceptionGroup("checks that fail", [each["exception"] for each in failed])


def cases():
    """Every estimator with its laws; with other parameters those on probabilities."""
    seen = set()
    for estimator in instances():
        laws = [
            law
            for law in laws_of(estimator)
            if type(estimator) not in seen or law in ON_PROBABILITIES
        ]
        seen.add(type(estimator))
        if laws:
            yield estimator, laws


@pytest.mark.parametrize(("estimator", "laws"), list(cases()), ids=label)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_obeys_the_laws(estimator, laws):
    broken = []
    for law in laws:
        try:
            law(clone(estimator))
        except Exception as error:
            error.add_note(f"in the law {law.__name__}")
            broken.append(error)
    if broken:
        raise ExceptionGroup("laws that are broken", broken)


def test_the_table_of_parameters_names_public_estimators_only():
    assert set(PARAMETERS) <= set(palmette.__all__)


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_a_public_estimator_has_laws_to_obey(estimator):
    assert list(laws_of(estimator()))


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_an_estimator_has_at_most_five_classes_of_palmette_among_its_bases(estimator):
    own = [base for base in estimator.__mro__ if base.__module__.startswith("palmette.")]
    assert len(own) <= 5, [base.__name__ for base in own]
