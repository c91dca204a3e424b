from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier
from tests.instances import public_estimators

from palmette.base._presets import Preset, preset, presets
from palmette.decisions._tuned import is_label_rule
from palmette.exceptions import PalmetteError

WITH_PRESETS = [each for each in public_estimators() if hasattr(each, "presets")]


class Model(BaseEstimator):
    preset, presets = classmethod(preset), classmethod(presets)
    _presets = {  # noqa: RUF012
        "deep": Preset(
            "deep ones", {"part": DecisionTreeClassifier(max_depth=9)}, "Somebody, 1999"
        ),
        "plain": Preset("nothing changed", {}),
    }

    def __init__(self, part=None, size=1):
        self.part = part
        self.size = size


def test_a_preset_is_an_estimator_with_its_parameters_and_defaults():
    model = Model.preset("deep")
    assert type(model) is Model
    assert model.part.max_depth == 9
    assert model.size == 1
    assert Model.preset("plain").part is None


def test_parameters_given_win():
    model = Model.preset("deep", size=5, part=None)
    assert (model.part, model.size) == (None, 5)


def test_parts_of_an_estimator_are_its_own():
    Model.preset("deep").part.set_params(max_depth=1)
    assert Model.preset("deep").part.max_depth == 9
    assert Model.presets()["deep"].parameters["part"].max_depth == 9


def test_unknown_names_and_parameters_are_told():
    with pytest.raises(PalmetteError, match=r"Model has no preset 'wide': .*\['deep', 'plain'\]"):
        Model.preset("wide")
    with pytest.raises(TypeError, match="width"):
        Model.preset("deep", width=3)


def test_presets_are_told_with_summary_and_reference():
    told = Model.presets()
    assert list(told) == ["deep", "plain"]
    assert told["deep"].summary == "deep ones"
    assert told["deep"].reference == "Somebody, 1999"
    told.clear()
    assert Model.presets()


def sizes_of_parts(model: BaseEstimator) -> dict[str, int]:
    """Few trees for the classifiers inside a model: these data need no more."""
    few = {"estimator__n_estimators": 8}
    if "n_couplings" in model.get_params():
        few["n_models"] = 3
    if "estimator__max_leaf_nodes" in model.get_params():  # boosted ones, and forests
        few["estimator__max_iter"] = 8
    return {name: value for name, value in few.items() if name in model.get_params()}


@pytest.mark.parametrize("estimator", WITH_PRESETS, ids=lambda each: each.__name__)
def test_every_preset_of_a_public_estimator_learns(estimator):
    X = np.repeat(np.eye(4), 24, axis=0)
    paths = [path for path in [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z")] for _ in range(24)]
    y = paths if "hierarchy" in estimator().get_params() else ["".join(path) for path in paths]
    few = {"n_estimators": 20, "random_state": 0}
    few = {name: value for name, value in few.items() if name in estimator().get_params()}
    assert estimator.presets()
    for name, known in estimator.presets().items():
        assert known.summary
        model = estimator.preset(name, **few)
        for parameter, value in known.parameters.items():
            if parameter != "n_estimators":
                assert repr(getattr(model, parameter)) == repr(value)
        # a threshold decides on several labels per row
        several = is_label_rule(known.parameters.get("decoding", "auto"))
        target = [{label} for label in y] if several else y
        model.set_params(**sizes_of_parts(model)).fit(X, target)
        if hasattr(model, "predict"):
            # projections on eigenvectors, as published, err even here
            literal = getattr(model, "router", None) == "spectral"
            assert model.score(X, target) >= (0.5 if literal else 1.0), name
        else:
            assert len(model.hierarchy_.leaves) == 4, name


def test_there_are_public_estimators_with_presets():
    assert len(WITH_PRESETS) >= 5
