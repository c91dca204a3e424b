"""ClassTreeEnsemble: diversity of the trees, and the combination of their votes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from tests.class_tree.clades import clades

import palmette as pm
from palmette.class_tree import BHCTree, MFTree, RandomTree, RelaxedTree
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._ensemble import ClassTreeEnsemble, _draw_within
from palmette.class_tree._simple import ShuffledTree
from palmette.exceptions import PalmetteError

X, Y = load_digits(return_X_y=True)
X, Y, X_TEST, Y_TEST = X[:600] / 16, Y[:600], X[600:1200] / 16, Y[600:1200]


def ensemble(*args, **parameters):
    return ClassTreeEnsemble(*args, **{"n_trees": 3, "random_state": 0, **parameters})


def shapes(clf):
    """Return the distinct trees, without the order of children and the names of groups."""
    found = set()
    for member in clf.estimators_:
        h = member.hierarchy_
        below = h.closure[h.leaves].toarray().astype(bool).T
        found.add(frozenset(frozenset(h.names[h.leaves][each].tolist()) for each in below))
    return found


# ---------------------------------------------------------------------- what makes trees differ


def test_seeds_orders_and_rows_make_trees_differ():
    assert len(shapes(ensemble(RandomTree(random_state=7)).fit(X, Y))) == 3
    assert len(shapes(ensemble(BHCTree("first_class")).fit(X, Y))) == 3
    assert len(shapes(ensemble(MFTree()).fit(X, Y))) == 1
    assert len(shapes(ensemble(MFTree(), bootstrap=True).fit(X, Y))) > 1


def test_the_first_tree_is_that_of_all_rows_in_their_order():
    clf = ensemble(BHCTree("first_class"), bootstrap=True).fit(X, Y)
    one = BHCTree("first_class").fit(X, Y)
    assert clf.hierarchy_ == one.hierarchy_
    assert clf.hierarchy_ is clf.estimators_[0].hierarchy_


def test_a_given_tree_and_paths_are_all_trees():
    h = pm.Hierarchy.from_paths([("even", d) if d % 2 == 0 else ("odd", d) for d in range(10)])
    given = ensemble(h, bootstrap=True).fit(X, Y)
    assert all(member.hierarchy_ is h for member in given.estimators_)
    routes = [member.predict_proba(X_TEST) for member in given.estimators_]
    assert not np.allclose(routes[1], routes[2])
    paths = ensemble().fit(X, [("even" if d % 2 == 0 else "odd", int(d)) for d in Y])
    assert paths.predict(X_TEST[:1])[0][0] in ("even", "odd")


def test_a_shuffled_tree_is_the_tree_of_the_order_drawn():
    names = np.array(list("jihgfedcba"))[Y]
    one = ShuffledTree(BHCTree("first_class"), random_state=1).fit(X, names)
    assert sorted(one.hierarchy_.names[one.hierarchy_.leaves]) == list("abcdefghij")
    invariant = ShuffledTree(BHCTree(), random_state=1).fit(X, names)
    plain = BHCTree().fit(X, names)
    to_name = dict(enumerate(np.unique(names)[np.random.RandomState(1).permutation(10)]))
    found = {frozenset(to_name[k] for k in group) for group in clades(invariant.learner_)}
    assert found == clades(plain)


def test_rows_are_drawn_within_classes():
    codes = np.array([0, 1, 1, 0, -1, 2, 1, 1], dtype=np.int32)
    total = np.zeros(8)
    for seed in range(300):
        times = _draw_within(codes, np.random.default_rng(seed))
        assert np.bincount(codes[codes >= 0], times[codes >= 0]).tolist() == [2, 4, 1]
        total += times
    assert total[4] == 0
    np.testing.assert_allclose(total[codes >= 0] / 300, 1.0, atol=0.2)


# ---------------------------------------------------------------------- votes


def test_probabilities_are_means():
    clf = ensemble(router=GaussianNB(var_smoothing=0.1)).fit(X, Y)
    each = [member.predict_proba(X_TEST) for member in clf.estimators_]
    np.testing.assert_allclose(clf.predict_proba(X_TEST), np.mean(each, axis=0))
    assert clf.classes_.tolist() == list(range(10))


def test_greedy_votes_are_counted_by_hand():
    clf = ensemble(router=GaussianNB(var_smoothing=0.1), decoding="greedy").fit(X, Y)
    votes = np.zeros((len(X_TEST), 10))
    for member in clf.estimators_:
        labels, shares = member.predict_top_k(X_TEST, 1)
        votes[np.arange(len(X_TEST)), np.ravel(labels)] += shares[:, 0]
    assert np.array_equal(clf.predict(X_TEST), votes.argmax(axis=1))


def test_a_beam_as_wide_as_the_classes_is_exact():
    router = GaussianNB(var_smoothing=0.1)
    exact = ensemble(router=router, decoding="exact").fit(X, Y)
    wide = ensemble(router=router, beam_width=10).fit(X, Y)
    assert np.array_equal(exact.predict(X_TEST), wide.predict(X_TEST))
    best = exact.predict_proba(X_TEST).argmax(axis=1)
    assert np.array_equal(exact.predict(X_TEST), exact.classes_[best])


def test_the_rule_may_be_changed_after_fit():
    router = GaussianNB(var_smoothing=0.1)
    clf = ensemble(router=router, decoding="greedy").fit(X, Y).set_params(decoding="exact")
    exact = ensemble(router=router, decoding="exact").fit(X, Y)
    assert np.array_equal(clf.predict(X_TEST), exact.predict(X_TEST))
    with pytest.raises(PalmetteError, match="decoding='boldest' is unknown"):
        clf.set_params(decoding="boldest").predict(X_TEST)


def test_one_tree_is_the_classifier_along_it():
    clf = ensemble(RandomTree(), n_trees=1, calibration=3.0).fit(X, Y)
    (member,) = clf.estimators_
    seed = member.get_params()["random_state"]
    alone = ClassTreeClassifier(
        RandomTree(), router="linear", calibration=3.0, random_state=seed
    ).fit(X, Y)
    assert np.array_equal(clf.predict(X_TEST), alone.predict(X_TEST))
    assert np.array_equal(clf.predict_proba(X_TEST), alone.predict_proba(X_TEST))


def test_several_trees_are_better_than_one():
    clf = ensemble(n_trees=7, decoding="exact").fit(X, Y)
    assert clf.score(X_TEST, Y_TEST) > max(m.score(X_TEST, Y_TEST) for m in clf.estimators_)


def test_calibration_is_of_the_mean():
    plain = ensemble(decoding="exact").fit(X, Y)
    sure = ensemble(decoding="exact", calibration=2.0).fit(X, Y)
    squares = plain.predict_proba(X_TEST) ** 2
    expected = squares / squares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(sure.predict_proba(X_TEST), expected)
    found = ensemble(decoding="exact", calibration="out_of_fold").fit(X, Y)
    assert found.exponent_ > 1.5  # margins of a hinge loss are not sure enough
    assert np.array_equal(found.predict(X_TEST), plain.predict(X_TEST))


# ---------------------------------------------------------------------- rows and labels


@pytest.mark.parametrize("bootstrap", [True, False])
def test_rows_without_weight_do_not_count(bootstrap):
    weights = (Y != 4).astype(float)
    clf = ensemble(bootstrap=bootstrap, calibration="out_of_fold").fit(X, Y, weights)
    assert 4 not in clf.classes_
    junk = X.copy()
    junk[Y == 4] = 9.0
    again = ensemble(bootstrap=bootstrap, calibration="out_of_fold").fit(junk, Y, weights)
    np.testing.assert_allclose(clf.predict_proba(X_TEST), again.predict_proba(X_TEST), atol=1e-6)


def test_classes_of_one_row_are_in_every_tree():
    few = np.r_[np.flatnonzero(Y < 8), np.flatnonzero(Y == 8)[:1], np.flatnonzero(Y == 9)[:1]]
    clf = ensemble(bootstrap=True, calibration="out_of_fold").fit(X[few], Y[few])
    assert all(member.classes_.tolist() == list(range(10)) for member in clf.estimators_)


def test_threads_change_nothing():
    one, other = (ensemble(bootstrap=True, n_jobs=jobs).fit(X, Y) for jobs in (1, 3))
    assert np.array_equal(one.predict_proba(X_TEST), other.predict_proba(X_TEST))


def test_a_dag_has_votes_too():
    clf = ensemble(RelaxedTree(n_starts=1, max_iter=2)).fit(X, Y)
    assert clf.score(X_TEST, Y_TEST) > 0.85
    np.testing.assert_allclose(clf.predict_proba(X_TEST).sum(axis=1), 1.0)


def test_any_classifier_routes_and_sparse_rows_are_taken():
    router = GaussianNB(var_smoothing=0.1)
    assert ensemble(router=router).fit(X, Y).score(X_TEST, Y_TEST) > 0.75
    thin = ensemble().fit(sparse.csr_array(X), Y).predict(sparse.csr_array(X_TEST))
    dense = ensemble(standardize=False).fit(X, Y).predict(X_TEST)
    assert np.mean(thin == dense) > 0.99


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trees": 0}, "n_trees=0"),
        ({"n_trees": 1.5}, "n_trees=1.5"),
        ({"calibration": 0}, "calibration=0"),
        ({"tree": {}}, "tree is a dict"),
        ({"router": "any"}, "router='any'"),
    ],
)
def test_invalid_parameters_raise_an_error(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        ensemble(**parameters).fit(X, Y)
