"""CoherentKernelClassifier: choice of parameters, landmarks, weights."""

from __future__ import annotations

import numpy as np
import pytest
from tests.multipath.problems import DAG, TREE, dag_problem, tree_problem

from palmette import PalmetteError
from palmette.labels._labels import NodeLabels
from palmette.multipath import CoherentKernelClassifier
from palmette.multipath._kernel import cosine_kernel, unit_rows


def test_it_is_ridge_regression_of_closed_labels():
    X, y = tree_problem()
    model = CoherentKernelClassifier(0.5, 2.0, hierarchy=TREE).fit(X, y)
    new, _ = tree_problem(20, seed=4)
    rows, asked = (unit_rows(model.scaling_.transform(Z).astype(float)) for Z in (X, new))
    labels = NodeLabels.encode(y, TREE).closed.toarray()[:, 1:].astype(float)
    kernel = cosine_kernel(rows, rows, 2.0)
    dual = np.linalg.solve(kernel + 0.5 * np.eye(len(X)), labels - labels.mean(axis=0))
    expected = cosine_kernel(asked, rows, 2.0) @ dual + labels.mean(axis=0)
    raw = model._node_proba_of(new)
    assert raw == pytest.approx(np.clip(expected, 0, 1), abs=1e-4)


def test_a_weight_is_a_number_of_copies():
    X, y = tree_problem(60)
    weights = np.random.default_rng(0).integers(1, 4, size=len(X))
    model = CoherentKernelClassifier(0.5, 2.0, hierarchy=TREE)
    weighted = model.fit(X, y, sample_weight=weights).predict_node_proba(X)
    copies = [labels for labels, k in zip(y, weights, strict=True) for _ in range(k)]
    copied = model.fit(np.repeat(X, weights, axis=0), copies).predict_node_proba(X)
    assert weighted == pytest.approx(copied, abs=1e-4)


def test_noise_asks_for_a_larger_ridge():
    found = []
    for noise in (0.05, 3.0):
        X, y = tree_problem(200, noise=noise)
        model = CoherentKernelClassifier(gamma=2.0, hierarchy=TREE).fit(X, y)
        assert model.ridge_ == max(model.choices_, key=model.choices_.get)[1]
        found.append(model.ridge_)
    assert found[0] < found[1]


def test_landmarks_come_near_the_whole():
    X, y = tree_problem(300)
    whole = CoherentKernelClassifier(1.0, 2.0, hierarchy=TREE).fit(X, y)
    part = CoherentKernelClassifier(
        1.0, 2.0, max_rows=100, n_landmarks=150, hierarchy=TREE, random_state=0
    ).fit(X, y)
    assert part._rows.shape[0] == 150
    gap = np.abs(part.predict_node_proba(X) - whole.predict_node_proba(X))
    assert gap.mean() < 0.01


@pytest.mark.parametrize(("problem", "h"), [(tree_problem, TREE), (dag_problem, DAG)])
def test_no_child_exceeds_a_parent(problem, h):
    X, y = problem(noise=1.0)
    proba = CoherentKernelClassifier(0.1, 4.0, hierarchy=h).fit(X, y).predict_node_proba(X)
    parents, children = h.edges.T
    assert (proba[:, children] <= proba[:, parents]).all()


@pytest.mark.parametrize("bad", [{"ridge": 0}, {"gamma": "wide"}, {"ridge": -1.0}])
def test_bad_parameters_are_named(bad):
    X, y = tree_problem(20)
    with pytest.raises(PalmetteError, match=next(iter(bad))):
        CoherentKernelClassifier(**bad).fit(X, y)
