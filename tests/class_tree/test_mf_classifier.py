from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from tests.class_tree.clades import hard_cases

import palmette as pm
from palmette.class_tree import MFTree
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._mf_classifier import MFTreeClassifier
from palmette.exceptions import LabelError


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order] / 16, y[order]
    return X[:500], y[:500], X[500:900], y[500:900]


def test_is_a_class_tree_classifier_over_its_tree(digits):
    X, y, Z, _ = digits
    shape = {"branching": 3, "leaf_size": 2, "weights": "roots", "tau": 1}
    one = MFTreeClassifier(**shape, beam_width=2).fit(X, y)
    other = ClassTreeClassifier(MFTree(**shape), router="linear", beam_width=2).fit(X, y)
    assert one.hierarchy_ == other.hierarchy_
    assert np.array_equal(one.predict_proba(Z), other.predict_proba(Z))


def test_the_published_router_errs_where_trained_ones_do_not(digits):
    X, y, Z, t = digits
    published = MFTreeClassifier.preset("published").fit(X, y)
    assert published.hierarchy_ == MFTree.preset("published").fit(X, y).hierarchy_
    assert published.score(Z, t) < 0.8 < MFTreeClassifier.preset("refitted").fit(X, y).score(Z, t)
    for clf in (MFTreeClassifier(), MFTreeClassifier.preset("wide")):
        assert clf.fit(X, y).score(Z, t) > 0.88


def test_a_feature_map_serves_the_tree_and_the_routers(digits):
    X, y, Z, t = digits
    kernel = Nystroem(gamma=0.05, n_components=150, random_state=0)
    clf = MFTreeClassifier(kernel=kernel).fit(X, y)
    assert not hasattr(kernel, "components_")
    assert clf.n_features_in_ == 64
    by_hand = MFTreeClassifier(standardize=False).fit(clf.feature_map_.transform(X), y)
    assert clf.hierarchy_ == by_hand.hierarchy_
    expected = by_hand.predict(clf.feature_map_.transform(Z))
    for rule in ("beam", "exact"):
        assert np.mean(clf.set_params(decoding=rule).predict(Z) == expected) > 0.99
    assert clf.score(Z, t) > MFTreeClassifier().fit(X, y).score(Z, t)
    assert clf.predict_proba(Z[:3]).shape == (3, 10)
    assert np.shape(clf.predict_top_k(Z[:3], 2)[0]) == (3, 2)


def test_the_seed_reaches_the_feature_map(digits):
    X, y, Z, _ = digits
    clf = MFTreeClassifier(kernel=Nystroem(n_components=20), random_state=0)
    one, again = clone(clf).fit(X, y), clone(clf).fit(X, y)
    assert np.array_equal(one.predict_proba(Z), again.predict_proba(Z))


def test_a_named_kernel_shapes_the_tree_alone(digits):
    X, y, Z, t = digits
    clf = MFTreeClassifier(2, kernel="rbf", kernel_params={"gamma": 0.1}, standardize=False)
    clf.fit(X[:300], y[:300])
    tree = MFTree(kernel="rbf", kernel_params={"gamma": 0.1}).fit(X[:300], y[:300])
    assert clf.hierarchy_ == tree.hierarchy_
    assert clf.score(Z, t) > 0.8


@pytest.mark.parametrize(("name", "X", "y"), list(hard_cases()))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [MFTreeClassifier, lambda: MFTreeClassifier.preset("published")])
def test_hard_input_gives_answers(name, X, y, make):
    clf = make().fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    assert len(clf.predict(X)) == len(X)


def test_paths_are_refused(digits):
    X, y, _, _ = digits
    with pytest.raises(LabelError, match="learned over labels, but y has paths"):
        MFTreeClassifier().fit(X, [("top", int(k)) for k in y])


@pytest.mark.data
def test_letters_as_well_as_one_against_the_rest_or_better(data_home):
    bunch = pm.datasets.fetch("letter", data_home=data_home)
    X, y = np.asarray(bunch.X, dtype=float), np.asarray(bunch.y)
    X = (X - X[:16000].mean(axis=0)) / X[:16000].std(axis=0)
    clf = MFTreeClassifier().fit(X[:16000], y[:16000])
    assert clf.score(X[16000:], y[16000:]) >= 0.723  # one against the rest: .697
