"""Models that were saved by earlier releases go on loading, and answer as they did."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from tests.instances import public_estimators
from tests.laws.problems import SINGLE_PRECISION
from tests.persistence.make_stored import STORED, as_json
from tests.persistence.models import answers

from palmette.persistence import inspect, load

NAMES = [each.__name__ for each in public_estimators()]


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_model_answers_as_it_did(name):
    file = STORED / f"{name}.palmette"
    assert file.exists(), (
        f"there is no stored model of {name}: run python -m tests.persistence.make_stored, and add "
        f"stored/{name}.palmette and stored/{name}.json"
    )
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        # a later scikit-learn says that it is another one; the answers tell whether that matters
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = load(file)
    told = answers(model, np.array(expected["X"]))
    assert list(told) == list(expected["answers"])
    for method, answer in told.items():
        assert_alike(as_json(answer), expected["answers"][method], model)


def assert_alike(told, expected, model):
    """Labels are the same; numbers up to what another processor rounds differently."""
    is_number = expected and isinstance(np.ravel(expected[0])[0], float)
    if is_number:
        # Another processor adds in another order. In single precision, with coefficients up to 60,
        # a sum of 96 products is right up to 96 * 60 * 6e-8 = 3e-4; 1e-5 was seen.
        atol = 1e-4 if type(model).__name__ in SINGLE_PRECISION else 1e-9
        np.testing.assert_allclose(told, expected, rtol=1e-6, atol=atol)
    else:
        assert told == expected


def test_the_stored_models_are_those_of_public_estimators_and_small():
    stored = sorted(STORED.glob("*.palmette"))
    assert {file.stem for file in stored} <= set(NAMES)
    assert {file.stem for file in STORED.glob("*.json")} == {file.stem for file in stored}
    assert sum(file.stat().st_size for file in STORED.iterdir()) < 1_500_000


def test_a_stored_model_names_the_versions_that_wrote_it():
    facts = inspect(STORED / "LocalPerParentClassifier.palmette")
    assert facts["version"] == 1
    assert set(facts["libraries"]) >= {"palmette", "numpy", "scipy", "scikit-learn", "python"}
