"""Every public estimator obeys scikit-learn's rules and ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.instances import (
    PARAMETERS,
    as_first_met,
    expected_failures,
    instances,
    label,
    public_estimators,
)
from tests.laws import laws_of
from tests.laws.poor_rows import poor_rows_are_learnt_from
from tests.laws.probabilities import ON_PROBABILITIES
from tests.laws.same_content import (
    FORMS,
    NAMED,
    names_and_columns_change_nothing_but_ties,
)
from tests.laws.shared import one_of
from tests.laws.units import BY_DEFINITION, CHANGES, units_change_nothing

import palmette
from palmette import decoding, routing, scoring, weak
from palmette.base._callbacks import CallbackSupportMixin

# one test per estimator, not one per check: thousands of tests cost more than what they run


_SPARSE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")


def checks_of(estimator: BaseEstimator) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks of scikit-learn with their names, and no check twice.

    All estimators read sparse matrices and sparse arrays with the same code: a half of them is
    checked on matrices, the others on arrays. Read-only rows are those of float32, and those of
    `check_readonly_memmap_input`.
    """
    excused = expected_failures(estimator)
    found = estimator_checks_generator(estimator, expected_failed_checks=excused, mark="skip")
    for model, check in found:
        name = getattr(check, "func", check).__name__
        options = getattr(check, "keywords", {})
        if name in _SPARSE and name not in one_of(_SPARSE, estimator):
            continue
        if name == "check_classifiers_train" and options == {"readonly_memmap": True}:
            continue
        yield name, partial(check, model)


# those that are checked in every run; all of them in `pytest -m thorough`
MAIN = (
    *(palmette.HierarchicalBoostingClassifier, palmette.HierarchicalAdaBoostClassifier),
    *(
        palmette.AdaBoostBHCClassifier,
        palmette.BHCTree,
        palmette.ClassTreeClassifier,
        palmette.MFTreeClassifier,
    ),
    *(
        palmette.LocalPerParentClassifier,
        palmette.LocalPerNodeClassifier,
        palmette.HierarchicalFeatureSelector,
    ),
    *(
        palmette.StructuredForestClassifier,
        palmette.CoherentForestClassifier,
        palmette.BinaryRelevance,
    ),
)


def parameter_of(estimator):
    """Return an estimator as a parameter, marked unless it is one of the main ones."""
    marks = () if isinstance(estimator, MAIN) else pytest.mark.thorough
    return pytest.param(estimator, marks=marks, id=label(estimator))


@pytest.mark.parametrize("estimator", [parameter_of(each) for each in as_first_met()])
def test_it_passes_the_checks_of_scikit_learn(estimator):
    n_passed, failed = 0, []
    for name, check in checks_of(estimator):
        try:
            check()
            n_passed += 1
        except SkipTest:
            pass
        except Exception as error:
            error.add_note(f"in {name}")
            failed.append(error)
    if failed:
        raise ExceptionGroup("checks that fail", failed)
    assert n_passed > 20


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


@pytest.mark.thorough
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


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_that_say_nothing_are_learnt_from(estimator):
    parameters = PARAMETERS.get(estimator.__name__, ({},))[0]
    poor_rows_are_learnt_from(estimator(**parameters), slice(0, None, 4))  # all in the laws


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_names_and_columns_change_nothing_but_ties(estimator):
    model = estimator(**PARAMETERS.get(estimator.__name__, ({},))[0])
    names_and_columns_change_nothing_but_ties(model, tuple(one_of(FORMS, model)))  # all in the laws


def test_those_whom_names_and_columns_change_are_public_and_change_by_what_is_tried():
    assert {name.partition("(")[0] for name in NAMED} <= set(palmette.__all__)
    assert {form for forms in NAMED.values() for form in forms} <= set(FORMS)


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_units_of_columns_change_nothing(estimator):
    model = estimator(**PARAMETERS.get(estimator.__name__, ({},))[0])
    one = one_of(("1e-30", "+ 1.7e9"), model)  # all in the laws
    units_change_nothing(model, (*one, "one 1e9"))


def test_those_whom_units_change_by_definition_are_public():
    assert set(BY_DEFINITION) <= set(palmette.__all__)
    assert {change for changes in BY_DEFINITION.values() for change in changes} <= {
        *CHANGES,
        "sparse",
    }


QUICK = {"n_estimators": 3, "random_state": 0}
WRONG = ("x", -1, None, [], float("nan"), object())  # for one parameter at a time
_OTHER_WORDS = {"random_state": "seed", "client": "scheduler"}  # of some errors


def unnamed(
    names: Iterable[str], fit: Callable[[dict[str, object]], object], step: int = 1
) -> list[str]:
    """Return the wrong parameters of which an error, if there is one, does not say the name.

    With a step, every parameter gets some of the wrong values only, the next one others.
    """
    found = []
    for place, name in enumerate(names):
        for wrong in WRONG[place % step :: step]:
            if (name, wrong) == ("n_jobs", -1):
                continue  # right, and starts processes
            words = name.lower(), _OTHER_WORDS.get(name, name)
            try:
                fit({name: wrong})
            except ValueError as error:  # as those of Palmette and of scikit-learn
                if not any(word in str(error).lower() for word in words):
                    found.append(f"{name}={wrong!r}: {type(error).__name__}: {error}")
            except Exception as error:
                found.append(f"{name}={wrong!r}: {type(error).__name__}: {error}")
    return found


def eight_clouds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(8), 5)
    return np.abs(rng.normal(size=(40, 3)) + codes[:, None]), np.array(list("abcdefgh"))[codes]


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_parameter_is_answered_by_an_error_that_names_it(estimator):
    check_wrong_parameters(estimator, step=3)


@pytest.mark.thorough
@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
@pytest.mark.filterwarnings("ignore")
def test_so_is_every_wrong_value_of_every_parameter(estimator):
    check_wrong_parameters(estimator)


def check_wrong_parameters(estimator: type, step: int = 1) -> None:
    X, y = eight_clouds()
    known = estimator().get_params(deep=False)
    right = dict(PARAMETERS.get(estimator.__name__, ({},))[0])
    right.update({name: value for name, value in QUICK.items() if name in known})
    failed = unnamed(known, lambda wrong: estimator(**{**right, **wrong}).fit(X, y), step)
    assert not failed, "\n".join(failed)


def _fit_with(part):
    """Fit an estimator with one of the parts that it may have, and predict."""
    X, y = eight_clouds()
    place = type(part).__module__.split(".")[1]
    if place == "decisions":
        return palmette.FlatClassifier(GaussianNB(), decoding=part).fit(X, y).predict(X)
    if place == "feature_selection":
        return palmette.HierarchicalFeatureSelector(part, n_features_to_select=2).fit(X, y)
    if place == "boosting":
        return palmette.AdaBoostMHClassifier(n_estimators=2, weak_learner=part).fit(X, y)
    if place == "forest":
        return palmette.StructuredForestClassifier(2, router=part, random_state=0).fit(X, y)
    return palmette.ClassTreeClassifier(router=part).fit(X, y).predict(X)


PARTS = (
    *(routing.LinearRouter, routing.KernelRouter, routing.ForestRouter, routing.ChosenRouter),
    *(routing.SpectralRouter, routing.AxisSplit, routing.FlatRouter, routing.AverageRouter),
    *(routing.EstimatorRouter, routing.Hellinger, routing.LogisticSplit),
    *(scoring.HirrScore, scoring.FsnmScore, scoring.MrmrScore, scoring.FisherScore),
    *(scoring.UnivariateScore, weak.CartPerClass, weak.EstimatorPerClass, weak.SharedTree),
    *(weak.StumpPerClass, weak.TreePerClass, decoding.Beam, decoding.Confident),
    decoding.MinExpectedLoss,
)


@pytest.mark.parametrize("part", PARTS, ids=label)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_parameter_of_a_part_is_answered_by_an_error_that_names_it(part):
    names = inspect.signature(part).parameters
    right = {"estimator": GaussianNB()} if "estimator" in names else {}
    failed = unnamed(names, lambda wrong: _fit_with(part(**{**right, **wrong})))
    assert not failed, "\n".join(failed)


def test_the_table_of_parameters_names_public_estimators_only():
    assert set(PARAMETERS) <= set(palmette.__all__)


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_a_public_estimator_has_laws_to_obey(estimator):
    assert list(laws_of(estimator()))


@pytest.mark.parametrize("estimator", public_estimators(), ids=label)
def test_an_estimator_has_at_most_five_classes_of_palmette_among_its_bases(estimator):
    own = [base for base in estimator.__mro__ if base.__module__.startswith("palmette.")]
    own = [base for base in own if base is not CallbackSupportMixin]  # scikit-learn's since 1.9
    assert len(own) <= 5, [base.__name__ for base in own]
