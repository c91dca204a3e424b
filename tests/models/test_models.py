"""The registry: every model can be made, fitted and named; mistakes in names are told."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.compare._preparing import prepare
from palmette.exceptions import PalmetteError
from palmette.models import _registry as models
from palmette.models._registry import (
    ModelContext,
    ModelSpec,
    find_model,
    find_models,
    list_models,
    make_model,
    register_model,
)

NAMES = [spec.name for spec in list_models()]
NETWORKS = ("coherent-blend", "coherent-network")  # many epochs of few rows: half a minute
QUICK = [name for name in NAMES if name not in NETWORKS]


def few_trees(model):
    """Return a model of which no part has more than ten trees or rounds: no test needs more."""
    sizes = {n: v for n, v in model.get_params().items() if n.endswith("n_estimators")}
    return model.set_params(**{n: min(v, 10) for n, v in sizes.items()})


@pytest.mark.parametrize("name", QUICK)
def test_every_model_learns_numbers(name, toy):
    spec = find_model(name)
    model = few_trees(prepare(spec.make(ModelContext(toy.hierarchy)), spec, toy.X_train))
    predicted = model.fit(toy.X_train, toy.y_train).predict(toy.X_train)
    assert len(predicted) == len(toy.y_train)
    assert set(predicted) <= set(toy.y_train)
    right = sum(p == t for p, t in zip(predicted, toy.y_train, strict=True))
    assert right > len(toy.y_train) / 2


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_are_made_for_the_hierarchy(name, toy):
    model = make_model(name, toy.hierarchy, random_state=3)
    assert (model.hierarchy, model.random_state) == (toy.hierarchy, 3)


SEVERAL = [spec.name for spec in list_models() if spec.several_paths and spec.name in QUICK]
SLOW_ENSEMBLES = {"local-per-node-forest", "local-per-node-extra-trees", "cocoa", "adaboost-mi"}


@pytest.mark.parametrize("name", [name for name in SEVERAL if name not in SLOW_ENSEMBLES])
def test_models_of_several_paths_learn_label_sets(name):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (40, 3))
    Y[:, 0] |= Y.sum(axis=1) == 0
    X = Y + rng.normal(0, 0.2, Y.shape)
    spec = find_model(name)
    predicted = few_trees(prepare(spec.make(ModelContext()), spec, X)).fit(X, Y).predict(X)
    assert np.mean(np.asarray(predicted) == Y) > 0.8


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("flat")])
def test_every_base_learns_texts(name, texts):
    spec = find_model(name)
    context = ModelContext(texts.hierarchy, text=True)
    model = few_trees(prepare(spec.make(context), spec, texts.X_train, schema=texts.schema))
    assert model.fit(texts.X_train, texts.y_train).predict(texts.X_train) == texts.y_train


@pytest.mark.parametrize("name", ["flat", "local-per-node", "local-per-parent", "local-per-level"])
def test_a_structure_alone_is_the_one_with_logistic_regression(name):
    assert repr(make_model(name)) == repr(make_model(f"{name}-logistic"))
    assert find_model(name).summary == f"the same as {name}-logistic"


def test_context_reaches_the_model(toy):
    model = make_model("local-per-parent-forest", toy.hierarchy, random_state=7, n_jobs=2)
    assert model.hierarchy is toy.hierarchy
    assert model.n_jobs == 2
    assert model.estimator.random_state == 7


def test_texts_are_shrunk_less():
    assert make_model("flat", text=True).estimator.C > make_model("flat").estimator.C


def test_unknown_name_suggests_near_ones():
    with pytest.raises(PalmetteError, match=r"no model 'flat-forrest'.*Did you mean flat-forest"):
        find_model("flat-forrest")
    with pytest.raises(PalmetteError, match="palmette models") as caught:
        find_model("qqqq")
    assert "Did you mean" not in str(caught.value)


def test_names_are_found_in_order_and_once():
    assert [spec.name for spec in find_models(["local-per-node", "flat"])] == [
        "local-per-node",
        "flat",
    ]
    with pytest.raises(PalmetteError, match="'flat' is named twice"):
        find_models(["flat", "local-per-node", "flat"])
    with pytest.raises(PalmetteError, match="no model is named"):
        find_models([])


def test_register_adds_a_model_once(monkeypatch):
    monkeypatch.setattr(models, "_MODELS", dict(models._MODELS))
    spec = ModelSpec("mine", lambda context: context.random_state, "made here")
    register_model(spec)
    assert spec in list_models()
    assert make_model("mine", random_state=5) == 5
    with pytest.raises(PalmetteError, match="'mine' is registered already"):
        register_model(spec)


def test_models_are_listed_by_name():
    assert sorted(NAMES) == NAMES
