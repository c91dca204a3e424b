from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator
from tests.class_tree.mf_tree_literal import KERNELS, Reading, grow, predict
from tests.class_tree.routing_literal import random_hierarchy
from tests.class_tree.routing_problems import blobs, problem_of
from tests.persistence.round_trips import again

import palmette as pm
from palmette.class_tree import ClassTreeClassifier, MFTree, MFTreeClassifier
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.routing import RoutingProblem, SpectralRouter

TAUS = (0, 1, 3, 6)
N_CLASSES = 9
EMBEDDED = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
FETCHED = ("letter", "imclef07a", "pendigits", "landsat", "vehicle", "ecoli", "diatoms", "glass")


# ---------------------------------------------------------------------- the literal reading


def halves(X, y, n_train, n_test=120):
    """Return standardized training and test rows and their classes, drawn at random."""
    order = np.random.default_rng(0).permutation(len(X))
    n_train = min(n_train, len(X) * 2 // 3)
    A, B = order[:n_train], order[n_train : n_train + n_test]
    X = (X - X[A].mean(axis=0)) / np.maximum(X[A].std(axis=0), 1e-9)
    return X[A], y[A], X[B], y[B]


def published(reading, **also):
    """Return the classifier of a reading."""
    return MFTreeClassifier.preset(
        "published",
        kernel=reading.kernel,
        rule=reading.rule,
        tau=reading.tau,
        centring=reading.centring,
        router=SpectralRouter(one_hot=reading.one_hot),
        **also,
    )


def differing(rows, **reading):
    """Return the kernels and taus by which the library and the paper's text predict other rows."""
    X, y, Z, _ = rows
    gamma = 1.0 / X.var(axis=0).sum()
    wrong = []
    for kernel in KERNELS:
        for tau in TAUS:
            read = Reading(kernel, gamma, tau, **reading)
            ours = published(read).fit(X, y).predict(Z)
            if not np.array_equal(ours, predict(grow(X, y, read), Z)):
                wrong.append((kernel, tau))
    return wrong


@pytest.mark.parametrize("name", EMBEDDED)
def test_predictions_are_those_of_the_papers_text(name):
    assert not differing(halves(*EMBEDDED[name](return_X_y=True), 200, 60))


READINGS = (
    {"rule": "max"},
    {"one_hot": True},
    {"rule": "max", "one_hot": True},
    {"rule": "max", "one_hot": True, "centring": "node"},
)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_other_readings_are_followed_too(reading):
    assert not differing(halves(*load_digits(return_X_y=True), 150, 40), **reading)


def fetched(name, data_home):
    bunch = pm.datasets.fetch(name, data_home=data_home)
    part = "" if "X" in bunch else "_train"
    X, y = np.asarray(bunch["X" + part], dtype=float), bunch["y" + part]
    return np.nan_to_num(X), np.unique([str(label) for label in y], return_inverse=True)[1]


@pytest.mark.data
@pytest.mark.parametrize("name", FETCHED)
def test_predictions_on_real_data_are_those_of_the_papers_text(name, data_home):
    X, y = fetched(name, data_home)
    assert not differing(halves(X, y, 250, 80))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["published", "one-hot"])
def test_the_origin_of_the_rows_does_not_matter(kernel, name):
    X, y, Z, _ = halves(*load_digits(return_X_y=True), 300)
    shift = np.random.default_rng(1).normal(scale=100.0, size=X.shape[1])
    for tau in TAUS:
        model = MFTreeClassifier.preset(name, kernel=kernel, tau=tau)
        expected = model.fit(X, y).predict(Z)
        assert np.array_equal(model.fit(X + shift, y).predict(Z + shift), expected)


def test_the_quick_division_decides_by_itself():
    """Rows are nearer to the mean of their side at nodes that were divided by distance."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    clf = MFTreeClassifier.preset("published", tau=4).fit(X[:900], y[:900])
    assert clf.score(X[900:], y[900:]) >= 0.70


@pytest.mark.data
def test_letters_by_a_kernel_whose_width_is_chosen_on_training_rows(data_home):
    bunch = pm.datasets.fetch("letter", data_home=data_home)
    X, y = np.asarray(bunch.X, dtype=float), np.asarray(bunch.y)
    X = (X - X[:16000].mean(axis=0)) / X[:16000].std(axis=0)
    widths = {"kernel_params": [{"gamma": 4.0**k / X.shape[1]} for k in range(4)]}
    clf = MFTreeClassifier.preset("one-hot", kernel="rbf")
    best = GridSearchCV(clf, widths, cv=3, refit=False).fit(X[:2000], y[:2000]).best_params_
    clf.set_params(**best).fit(X[:8000], y[:8000])
    assert clf.score(X[16000:], y[16000:]) >= 0.78


# ---------------------------------------------------------------------- the router


def literal_projections(problem, node, X):
    """Return the projections of Y'Hk(x) on eigenvectors of D = Y'KY over a node's classes."""
    classes, within = problem.table.family(node)
    Y = (problem.codes[:, None] == classes).astype(float)
    centred = problem.X - problem.X.mean(axis=0)
    values, vectors = np.linalg.eigh(Y.T @ centred @ centred.T @ Y)
    products = Y.T @ centred @ (X - problem.X.mean(axis=0)).T
    return values[::-1], vectors[:, ::-1], products, within.toarray()


@pytest.fixture(scope="module")
def problem():
    X, codes = blobs(N_CLASSES, n_features=12)
    return problem_of(random_hierarchy(np.random.default_rng(3), N_CLASSES), X, codes)


def margins(routes, node, X):
    lanes = slice(routes.first_lane[node], routes.first_lane[node + 1])
    return routes.coef[lanes].toarray() @ X.T + routes.bias[lanes, None]


def test_every_option_projects_on_an_eigenvector_with_most_of_its_classes(problem):
    routes = SpectralRouter().train(problem)
    for node in range(problem.table.n_nodes):
        _, vectors, products, within = literal_projections(problem, node, problem.X)
        n_options = len(within)
        leading = np.abs(vectors[:, :n_options].T @ products)  # signs are ours to choose
        gaps = np.abs(np.abs(margins(routes, node, problem.X))[:, None] - leading[None]).max(axis=2)
        assert gaps.min(axis=1).max() < 1e-9 * leading.max()
        order = gaps.argmin(axis=1)
        assert sorted(order) == list(range(n_options))
        strengths = within @ np.abs(vectors[:, :n_options])
        for a in range(n_options):
            for b in range(a):
                swapped = strengths[a, order[b]] + strengths[b, order[a]]
                assert strengths[a, order[a]] + strengths[b, order[b]] >= swapped - 1e-9


def test_one_hot_adds_up_the_kernel_over_the_options_classes(problem):
    routes = SpectralRouter(one_hot=True).train(problem)
    for node in range(problem.table.n_nodes):
        _, _, products, within = literal_projections(problem, node, problem.X)
        ours = margins(routes, node, problem.X)
        np.testing.assert_allclose(ours, within @ products, rtol=1e-10, atol=1e-8)


def test_a_kernel_of_products_is_the_linear_one(problem):
    kernel = MFTree.preset("published", kernel=lambda A, B: A @ B.T)
    for one_hot in (False, True):
        linear = SpectralRouter(one_hot=one_hot).train(problem)
        routes = SpectralRouter(one_hot=one_hot, tree=kernel).train(problem)
        ours, theirs = (all_scores(each, problem) for each in (routes, linear))
        np.testing.assert_allclose(ours, theirs, atol=1e-8)


def all_scores(routes, problem):
    sizes = problem.table.sizes
    n_rows = len(problem.codes)
    nodes = np.repeat(np.arange(len(sizes), dtype=np.int32), n_rows)
    starts = np.concatenate([[0], np.cumsum(np.repeat(sizes, n_rows))])
    rows = np.tile(np.arange(n_rows), len(sizes))
    return routes.score(routes.prepare(problem.X), rows, nodes, starts)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_are_dense_rows(problem, kernel):
    X = problem.X * (np.abs(problem.X) > 1)
    tree = MFTree.preset("published", kernel=kernel)
    found = []
    for rows in (X, sparse.csr_array(X)):
        same = RoutingProblem(rows, problem.codes, problem.table)
        routes = SpectralRouter(tree=tree).train(same)
        found.append(all_scores(routes, same))
    np.testing.assert_allclose(*found, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_are_copies(kernel):
    X, y, Z, _ = halves(*load_iris(return_X_y=True), 90, 50)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    clf = MFTreeClassifier.preset("published", kernel=kernel)
    weighted = clf.fit(X, y, times).predict_proba(Z)
    copied = clf.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_proba(Z)
    np.testing.assert_allclose(weighted, copied, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_classes_that_are_all_equal_give_finite_scores(kernel, value):
    codes = np.repeat(np.arange(4, dtype=np.int32), 3)
    problem = problem_of(Hierarchy.star(list("abcd")), np.full((12, 2), value), codes)
    routes = SpectralRouter(tree=MFTree(kernel=kernel)).train(problem)
    np.testing.assert_allclose(np.exp(all_scores(routes, problem)).reshape(12, 4).sum(axis=1), 1.0)


def test_a_precomputed_kernel_is_a_named_one():
    X, y, Z, _ = halves(*load_digits(return_X_y=True), 300)
    named = MFTreeClassifier.preset("published", kernel="rbf", kernel_params={"gamma": 0.01})
    known = MFTreeClassifier.preset("published", kernel="precomputed")
    expected = named.fit(X, y).predict_proba(Z)
    found = known.fit(rbf_kernel(X, gamma=0.01), y).predict_proba(rbf_kernel(Z, X, gamma=0.01))
    np.testing.assert_allclose(found, expected, atol=1e-8)
    search = GridSearchCV(known, {"rule": ["abs", "max"]}, cv=2).fit(rbf_kernel(X, gamma=0.01), y)
    assert search.best_score_ > 0.3
    with pytest.raises(PalmetteError, match="a square matrix"):
        known.fit(X, y)


def test_a_model_does_not_change_with_the_rows_of_the_user():
    X, y, Z, _ = halves(*load_iris(return_X_y=True), 90, 50)
    clf = MFTreeClassifier.preset("published", kernel="rbf").fit(X, y)
    expected = clf.predict_proba(Z)
    X[:] = 0.0
    assert np.array_equal(clf.predict_proba(Z), expected)


def test_predictions_do_not_depend_on_the_number_of_jobs():
    X, y, Z, _ = halves(*load_digits(return_X_y=True), 300)
    one, two = (
        MFTreeClassifier.preset("one-hot", kernel="rbf", n_jobs=n).fit(X, y) for n in (1, 2)
    )
    assert np.array_equal(one.predict_proba(Z), two.predict_proba(Z))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed", Nystroem()])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_models_that_decide_by_projections_are_saved(kernel, as_rows):
    """At a node with two options there are two projections, where other routers have one."""
    X, codes = blobs(N_CLASSES, n_features=12)
    X = as_rows(rbf_kernel(X) if kernel == "precomputed" else X)
    model = MFTreeClassifier.preset("published", kernel=kernel).fit(X, codes)
    assert 2 in model.options_.sizes
    assert np.array_equal(again(model).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("coef", np.zeros((2, 2))),
        ("bias", np.zeros(3)),
        ("marks", np.zeros((3, 4))),
        ("marks", None),
        ("kernel.kernel", "os.system"),
        ("kernel.params", {"n_jobs": 2}),
        ("kernel.origin", np.zeros(2)),
    ],
)
def test_changed_files_are_refused(path, value, tmp_path):
    X, codes = blobs(N_CLASSES, n_features=12)
    model = MFTreeClassifier.preset("published", kernel="rbf").fit(X, codes)
    owner, *rest = path.split(".")
    part = model.routes_ if not rest else model.routes_.kernel
    object.__setattr__(part, rest[0] if rest else owner, value)
    pm.save(model, tmp_path / "model")
    with pytest.raises(PalmetteError):
        pm.load(tmp_path / "model")


@pytest.mark.filterwarnings("ignore")
def test_a_kernel_keeps_the_rules_of_scikit_learn():
    check_estimator(MFTreeClassifier.preset("one-hot", kernel="rbf"))


# ---------------------------------------------------------------------- kernels that differ


def test_decisions_with_another_kernel_than_the_tree_are_told():
    X, y, _, _ = halves(*load_iris(return_X_y=True), 90, 50)
    tree = MFTree(kernel="rbf")
    for clf in (
        MFTreeClassifier(kernel="rbf"),
        ClassTreeClassifier(tree, router=SpectralRouter(tree=MFTree())),
        ClassTreeClassifier(MFTree(kernel=Nystroem(n_components=5)), router="spectral"),
    ):
        with pytest.warns(UserWarning, match="decisions have kernel='linear'"):
            clf.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for clf in (
            MFTreeClassifier(kernel=Nystroem(n_components=5)),
            MFTreeClassifier(kernel="rbf", router="kernel"),
            ClassTreeClassifier(tree, router="spectral"),
            ClassTreeClassifier(tree, router=SpectralRouter(tree=tree)),
        ):
            clf.fit(X, y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kernel": "gaussian"}, "kernel='gaussian'"),
        ({"kernel": "rbf", "kernel_params": {"gamma": "auto"}}, "gamma is not a number or 'scale'"),
        ({"kernel": "rbf", "kernel_params": {"width": 1.0}}, "a kernel has no 'width'"),
        ({"kernel": lambda A, B: np.ones(3)}, "a number for every two"),
        ({"router": SpectralRouter(tree="mf")}, "expected an MFTree, or None"),
    ],
)
def test_wrong_kernels_are_errors(wrong, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(PalmetteError, match=message):
        MFTreeClassifier.preset("published", **wrong).fit(X, y)
