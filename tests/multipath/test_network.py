"""The network fits, is reproducible, and is the same in torch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.multipath.problems import DAG, TREE, dag_problem, tree_problem

from palmette import PalmetteError
from palmette.multipath import CoherentNetworkClassifier, _network
from palmette.multipath._layers import NumpyNetwork

SMALL = {"hidden": (16,), "n_epochs": 40, "batch_size": 16, "learning_rate": 0.01}


@pytest.mark.parametrize(("problem", "h"), [(tree_problem, TREE), (dag_problem, DAG)])
def test_it_learns_and_is_coherent(problem, h):
    X, y = problem(noise=0.1)
    model = CoherentNetworkClassifier(**SMALL, dropout=0.1, hierarchy=h, random_state=0).fit(X, y)
    assert len(model.loss_curve_) == model.n_epochs_ == 40
    assert model.loss_curve_[-1] < 0.2 * model.loss_curve_[0]
    proba = model.predict_node_proba(X)
    parents, children = h.edges.T
    assert (proba[:, children] <= proba[:, parents]).all()
    assert model.score(X, y) > 0.95


def test_the_same_seed_gives_the_same_network():
    X, y = tree_problem()
    one, other = (
        CoherentNetworkClassifier(**SMALL, hierarchy=TREE, random_state=4).fit(X, y)
        for _ in range(2)
    )
    assert np.array_equal(one.predict_node_proba(X), other.predict_node_proba(X))


def test_few_rows_of_one_path_are_gone_through_more_often():
    model = CoherentNetworkClassifier()

    def epochs(single, n_batches, growth, shared=False):
        return model._epochs(single, shared, n_batches, growth)

    assert epochs(single=False, n_batches=5, growth=1.0) == 25
    assert epochs(single=True, n_batches=32, growth=1.0) == 63
    assert epochs(single=True, n_batches=1000, growth=1.0) == 25
    assert epochs(single=True, n_batches=2, growth=2.0) == 500  # fewer, larger steps
    assert epochs(single=False, n_batches=5, growth=1.0, shared=True) == 15
    assert epochs(single=True, n_batches=32, growth=1.0, shared=True) == 63
    model.set_params(learning_rate=0.01)
    assert epochs(single=True, n_batches=2, growth=2.0) == 1000


@pytest.mark.parametrize(("n_rows", "width"), [(30, 64), (300, 150), (1200, 500)])
def test_layers_grow_with_the_rows(n_rows, width):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    model = CoherentNetworkClassifier(n_epochs=1, random_state=0).fit(X, X[:, 0] > 0)
    assert model.hidden_ == (width, width)
    assert [part.shape for part in model._network.parts[:4:2]] == [(2, width), (width, width)]


def test_larger_batches_have_larger_rates(monkeypatch):
    found = {}

    def train(self, X, Y, weights, batches, rates, *rest):
        found[len(rates[0])] = rates[0][0]

    monkeypatch.setattr(NumpyNetwork, "train", train)
    X = np.random.default_rng(0).normal(size=(1024, 2))
    for size in (32, 64, 256):
        model = CoherentNetworkClassifier((500,), n_epochs=1, batch_size=size, backend="numpy")
        model.fit(X, X[:, 0] > 0)
    assert found == pytest.approx({32: 0.001, 16: 0.001, 4: 0.002})


@pytest.mark.parametrize("name", ["hidden", "learning_rate"])
def test_words_other_than_auto_are_refused(name):
    X, y = tree_problem(20)
    with pytest.raises(PalmetteError, match=f"{name}='wide': expected 'auto' or"):
        CoherentNetworkClassifier(**{name: "wide"}).fit(X, y)


def test_rows_count_by_their_weight():
    X, y = tree_problem()
    weights = np.where([labels == {"a/c"} for labels in y], 50.0, 1.0)
    model = CoherentNetworkClassifier(**SMALL, hierarchy=TREE, random_state=0)
    model.set_params(n_epochs=5)
    plain = model.fit(X, y).predict_node_proba(X, ["a/c"])
    heavy = model.fit(X, y, sample_weight=weights).predict_node_proba(X, ["a/c"])
    assert heavy.mean() > plain.mean() + 0.1


@pytest.mark.parametrize(
    "bad", [{"n_epochs": 0}, {"dropout": 1.0}, {"backend": "abacus"}, {"missing": "guess"}]
)
def test_bad_parameters_are_named(bad):
    X, y = tree_problem(20)
    with pytest.raises(PalmetteError, match=next(iter(bad))):
        CoherentNetworkClassifier(**bad).fit(X, y)


def test_torch_comes_to_nearly_the_same():
    pytest.importorskip("torch")
    X, y = tree_problem(noise=0.1)
    scores = []
    for backend in ("numpy", "torch"):
        model = CoherentNetworkClassifier(
            **SMALL, dropout=0.0, backend=backend, hierarchy=TREE, random_state=0
        ).fit(X, y)
        assert model.backend_ == backend
        scores.append(model.predict_node_proba(X))
    assert np.abs(scores[0] - scores[1]).max() < 0.01


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_torch_drops_the_same_units_of_a_batch(form, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(_network, "_MANY_ROWS", 2)
    X, y = tree_problem(noise=0.1)
    settings = {**SMALL, "hidden": (16, 12), "dropout": 0.4, "random_state": 0}
    ours, theirs = (
        CoherentNetworkClassifier(**settings, backend=backend, hierarchy=TREE).fit(
            form(X), y, sample_weight=1.0 + np.arange(len(y)) % 3
        )
        for backend in ("numpy", "torch")
    )
    np.testing.assert_allclose(theirs.loss_curve_, ours.loss_curve_, rtol=1e-4)
    found, expected = theirs.predict_node_proba(X), ours.predict_node_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(("dropout", "shares"), [(0.5, True), (0.2, False)])
def test_rows_of_a_batch_drop_the_same_units_if_there_are_many(dropout, shares, monkeypatch):
    drawn = []
    draw = NumpyNetwork.draw_units
    monkeypatch.setattr(
        NumpyNetwork, "draw_units", lambda net, rng: drawn.append(1) or draw(net, rng)
    )
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 90)
    X = np.eye(3)[codes] + 0.1 * rng.normal(size=(90, 3))
    y = [{("a", "b")} if code else {("a", "c"), ("d",)} for code in codes]
    settings = {"dropout": dropout, "n_epochs": 40, "backend": "numpy", "random_state": 0}
    clf = CoherentNetworkClassifier((32,), batch_size=30, learning_rate=0.02, **settings)
    clf.fit(X, y)
    assert not drawn
    monkeypatch.setattr(_network, "_MANY_ROWS", 90)
    proba = clf.fit(X, y).predict_node_proba(X)
    assert len(drawn) == 120 * shares
    assert clf.loss_curve_[-1] < clf.loss_curve_[0]
    assert clf.score(X, y) > 0.9
    assert np.array_equal(clf.fit(X, y).predict_node_proba(X), proba)
