"""Where HiClass 5.0.8 is wrong we are right: each point with its proof on HiClass itself.

A test fails on the day when HiClass mends a point: then its half of the proof goes.
"""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from joblib import effective_n_jobs
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.spies import Spy

from palmette import (
    LocalPerLevelClassifier,
    LocalPerNodeClassifier,
    LocalPerParentClassifier,
    PalmetteError,
)

hiclass = pytest.importorskip("hiclass", reason="HiClass is not installed (the extra 'bench')")

PAIRS = [
    pytest.param(LocalPerParentClassifier, hiclass.LocalClassifierPerParentNode, id="per parent"),
    pytest.param(LocalPerNodeClassifier, hiclass.LocalClassifierPerNode, id="per node"),
    pytest.param(LocalPerLevelClassifier, hiclass.LocalClassifierPerLevel, id="per level"),
]


@pytest.fixture(scope="module")
def per_parent(three_levels):
    """Both per-parent classifiers, on three levels and with the same local models."""
    X, y = three_levels
    ours = LocalPerParentClassifier(LogisticRegression(), n_jobs=1).fit(X, y)
    theirs = hiclass.LocalClassifierPerParentNode(LogisticRegression()).fit(X, y)
    return ours, theirs


def chain_rule(theirs, X):
    """Probabilities of the leaves, multiplied along every path over HiClass's own models."""
    graph, leaves = theirs.hierarchy_, {}

    def walk(node, reach):
        if not list(graph.successors(node)):
            leaves[node.split(theirs.separator_)[-1]] = reach
            return
        model = graph.nodes[node]["classifier"]
        for child, share in zip(model.classes_, model.predict_proba(X).T, strict=True):
            walk(str(child), reach * share)

    walk(theirs.root_, np.ones(len(X)))
    return np.column_stack([leaves[name] for name in theirs.classes_[-1]])


def test_probabilities_are_the_chain_rule_over_the_local_models(per_parent, three_levels):
    X, _ = three_levels
    ours, theirs = per_parent
    expected = chain_rule(theirs, X)
    assert [path[-1] for path in ours.classes_] == theirs.classes_[-1].tolist()
    np.testing.assert_allclose(ours.predict_proba(X), expected, rtol=1e-4)
    assert np.abs(theirs.predict_proba(X) - expected).max() > 0.5


def test_probabilities_do_not_depend_on_the_batch(per_parent, three_levels):
    X = three_levels.X[:40]
    ours, theirs = per_parent

    def alone(model):
        return np.concatenate([model.predict_proba(row[None]) for row in X])

    np.testing.assert_allclose(ours.predict_proba(X), alone(ours), rtol=1e-9)
    assert np.abs(theirs.predict_proba(X) - alone(theirs)).max() > 0.5


@pytest.mark.parametrize(("our_class", "their_class"), PAIRS)
def test_the_most_probable_leaf_is_predicted_under_one_rule(our_class, their_class, three_levels):
    X, y = three_levels
    ours = our_class(LogisticRegression(), decoding="best_path").fit(X, y)
    best = ours.classes_[ours.predict_proba(X).argmax(axis=1)]
    assert [tuple(row) for row in ours.predict(X).tolist()] == best.tolist()
    theirs = their_class(LogisticRegression()).fit(X, y)
    names = theirs.classes_[-1][theirs.predict_proba(X).argmax(axis=1)]
    assert (theirs.predict(X)[:, -1] != names).mean() > 0.2


def test_top_down_their_only_rule_gives_their_predictions(per_parent, three_levels):
    X, y = three_levels
    ours = LocalPerParentClassifier(LogisticRegression(), decoding="top_down").fit(X, y)
    assert (ours.predict(X) == per_parent[1].predict(X)).all()


@pytest.mark.parametrize(("our_class", "their_class"), PAIRS)
def test_shallow_leaves_have_probability(our_class, their_class, three_levels):
    X, y = three_levels
    shallow = y[:, 0] == "q"
    y = np.where(shallow[:, None], np.array(["q", "", ""]), y)
    ours = our_class(LogisticRegression()).fit(X, y)
    proba = ours.predict_proba(X)
    q = ours.classes_.tolist().index(("q",))
    top = LogisticRegression().fit(X, y[:, 0])
    np.testing.assert_allclose(proba[:, q], top.predict_proba(X)[:, 1], rtol=1e-3)
    theirs = their_class(LogisticRegression()).fit(X, y)
    if our_class is LocalPerLevelClassifier:
        with pytest.raises(IndexError):
            theirs.predict_proba(X)
        return
    # its last level, which sums to one, has a column of zeros for all paths that end before
    column = theirs.classes_[-1].tolist().index("")
    assert (theirs.predict_proba(X)[:, column] == 0).all()
    np.testing.assert_allclose(theirs.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(("our_class", "their_class"), PAIRS)
def test_integers_come_back_as_integers(our_class, their_class):
    codes = np.arange(80) % 8
    X, y = 5.0 * np.eye(8)[codes], np.column_stack([codes // 4 + 1, codes // 2 + 10, codes + 20])
    ours = our_class(LogisticRegression()).fit(X, y).predict(X)
    assert ours.dtype == y.dtype
    assert np.array_equal(ours, y)
    theirs = their_class(LogisticRegression()).fit(X, y).predict(X)
    assert theirs.dtype.kind == "U"  # one column of them alone stays integer
    assert np.array_equal(theirs.astype(int), y)


@pytest.mark.parametrize(("our_class", "their_class"), PAIRS)
def test_reordered_columns_raise(our_class, their_class, three_levels):
    X, y = three_levels
    frame = pd.DataFrame(X, columns=list("abc"))
    mixed = frame[list("cab")]
    with pytest.raises(ValueError, match="must be in the same order"):
        our_class(GaussianNB()).fit(frame, y).predict(mixed)
    theirs = their_class(GaussianNB()).fit(frame, y)
    assert (theirs.predict(mixed) != theirs.predict(frame)).any()


@pytest.mark.parametrize(("our_class", "their_class"), PAIRS[:2])
def test_all_cores_means_all_cores(our_class, their_class, three_levels):
    if effective_n_jobs(-1) == 1:
        pytest.skip("this machine has one core")
    X, y = three_levels
    ours = our_class(Spy(pause=0.05), n_jobs=-1).fit(X, y)
    assert len({spy.process_ for spy in ours.estimators_.values()}) > 1
    theirs = their_class(Spy(), n_jobs=-1).fit(X, y)
    spies = [data["classifier"] for _, data in theirs.hierarchy_.nodes(data=True) if data]
    assert len(spies) > 1
    assert {spy.process_ for spy in spies} == {os.getpid()}


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")
@pytest.mark.parametrize(("our_class", "their_class"), PAIRS)
def test_weights_reach_the_estimator_by_name_or_raise(our_class, their_class, three_levels):
    X, y = three_levels.X[:40], three_levels.y[:40]
    weights = np.where(y[:, 0] == "p", 9.0, 1.0)

    def answers(make, estimator, **weighted):
        return make(estimator).fit(X, y, **weighted).predict_proba(X)

    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    plain, weighted = (answers(our_class, pipeline, sample_weight=w) for w in (None, weights))
    assert np.abs(plain - weighted).max() > 0.05
    # HiClass takes the TypeError of a pipeline for a reason to fit it without weights
    theirs = [answers(their_class, pipeline, sample_weight=w) for w in (None, weights)]
    np.testing.assert_array_equal(*theirs)

    with pytest.raises(PalmetteError, match="does not accept it"):
        answers(our_class, KNeighborsClassifier(), sample_weight=weights)
    theirs = [
        answers(their_class, KNeighborsClassifier(), sample_weight=w) for w in (None, weights)
    ]
    np.testing.assert_array_equal(*theirs)  # NaN where its scores sum to zero

    # the third argument of this estimator's fit is coef_init: HiClass passes weights by place
    our_class(SGDClassifier(random_state=0)).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="coef_init"):
        their_class(SGDClassifier(random_state=0)).fit(X, y, sample_weight=weights)
