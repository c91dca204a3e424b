from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.class_tree.routing_literal import diamond, random_hierarchy
from tests.class_tree.routing_problems import blobs, problem_of, sparse_rows

from palmette.class_tree import _linear
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.routing import LinearRouter

LOSSES = ["squared_hinge", "logistic"]
ROWS = {"few features": blobs, "sparse": sparse_rows}


def objective(loss, line, X, signs, costs):
    """Return the objective of a classifier; the bias is the last weight and regularized."""
    margins = signs * (X @ line[:-1] + line[-1])
    if loss == "squared_hinge":
        lost = np.maximum(0.0, 1.0 - margins) ** 2
    else:
        lost = np.logaddexp(0.0, -margins)
    return 0.5 * line @ line + costs @ lost


def least_by_scikit_learn(loss, X, signs, C, weights=None):
    if loss == "squared_hinge":
        model = LinearSVC(C=C, dual=False, tol=1e-10, max_iter=10_000)
    else:
        model = LogisticRegression(C=C, solver="liblinear", tol=1e-10, max_iter=10_000)
    model.fit(X, signs, sample_weight=weights)
    line = np.append(model.coef_.ravel(), model.intercept_)
    return objective(
        loss, line, X, signs, C * (np.ones(len(signs)) if weights is None else weights)
    )


def lanes_of(routes, node):
    lanes = slice(routes.first_lane[node], routes.first_lane[node + 1])
    return np.column_stack([routes.coef[lanes].toarray(), routes.bias[lanes]])


def targets_of(problem, node):
    """Return the rows below a node and, for every option, whether they are below it."""
    table = problem.table
    below = table.below[table.first[node] : table.first[node + 1]].toarray().astype(bool)
    rows = np.flatnonzero(below.any(axis=0)[problem.codes])
    return rows, np.where(below[:, problem.codes[rows]], 1, -1)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("C", [0.1, 10.0])
class TestObjective:
    def test_is_as_low_as_scikit_learn_finds_it_at_every_node(self, loss, rows, C):
        h = random_hierarchy(np.random.default_rng(1), 9)
        problem = problem_of(h, *ROWS[rows](9))
        routes = LinearRouter(loss, C=C, tol=1e-7, max_iter=100_000).train(problem)
        for node in range(problem.table.n_nodes):
            seen, signs = targets_of(problem, node)
            lanes = lanes_of(routes, node)
            assert len(lanes) == (1 if len(signs) == 2 else len(signs))
            for line, target in zip(lanes, signs[-len(lanes) :], strict=True):
                X = problem.X[seen]
                reached = objective(loss, line, X, target, np.full(len(seen), C))
                best = least_by_scikit_learn(loss, X, target, C)
                assert reached == pytest.approx(best, rel=1e-6)

    def test_counts_rows_by_their_weights(self, loss, rows, C):
        weights = np.random.default_rng(0).integers(1, 4, size=36).astype(float)
        X, codes = ROWS[rows](3)
        star = Hierarchy.star(list("abc"))
        router = LinearRouter(loss, C=C, tol=1e-8, max_iter=100_000)
        weighted = router.train(problem_of(star, X, codes, weights=weights))
        copies = np.repeat(np.arange(36), weights.astype(int))
        copied = router.train(problem_of(star, X[copies], codes[copies]))
        np.testing.assert_allclose(lanes_of(weighted, 0), lanes_of(copied, 0), atol=1e-6)


class TestNodes:
    def test_of_two_options_without_a_common_class_have_one_classifier(self):
        X, codes = blobs(3)
        h = Hierarchy.from_paths([("g", "a"), ("g", "b"), ("c",)])
        routes = LinearRouter().train(problem_of(h, X, codes))
        assert np.diff(routes.first_lane).tolist() == [1, 1]

    def test_of_one_option_have_none(self):
        X, codes = blobs(2)
        h = Hierarchy.from_paths([("g", "a"), ("g", "b")])
        problem = problem_of(h, X, codes)
        routes = LinearRouter().train(problem)
        assert np.diff(routes.first_lane).tolist() == [0, 1]
        nodes = np.zeros(3, dtype=np.int32)
        scores = routes.score(routes.prepare(X), np.arange(3), nodes, np.arange(4))
        assert scores.tolist() == [0.0, 0.0, 0.0]

    def test_of_two_options_that_share_classes_have_two(self):
        X, codes = blobs(4)
        problem = problem_of(diamond(), X, codes)
        routes = LinearRouter(C=1.0).train(problem)
        seen, signs = targets_of(problem, 0)
        assert (signs == 1).all(axis=0).any()  # rows of classes on both sides
        for line, target in zip(lanes_of(routes, 0), signs, strict=True):
            if (target == 1).all():
                continue
            reached = objective("squared_hinge", line, X[seen], target, np.ones(len(seen)))
            best = least_by_scikit_learn("squared_hinge", X[seen], target, 1.0)
            assert reached == pytest.approx(best, rel=1e-6)

    def test_of_many_options_are_trained_a_few_at_a_time(self):
        X, codes = blobs(40, n_rows=4)
        star = Hierarchy.star([f"c{k:02}" for k in range(40)])
        routes = LinearRouter(C=1.0).train(problem_of(star, X, codes))
        for k in (0, 15, 16, 39):
            target = np.where(codes == k, 1, -1)
            reached = objective("squared_hinge", lanes_of(routes, 0)[k], X, target, np.ones(160))
            best = least_by_scikit_learn("squared_hinge", X, target, 1.0)
            assert reached == pytest.approx(best, rel=1e-6)


class TestPairs:
    @pytest.mark.parametrize("rows", ROWS)
    def test_are_told_apart_on_their_own_rows_and_score_their_mean(self, rows):
        h = random_hierarchy(np.random.default_rng(1), 9)
        problem = problem_of(h, *ROWS[rows](9))
        router = LinearRouter(against="each", C=1.0, tol=1e-8, max_iter=100_000)
        routes = router.train(problem)
        assert not routes.are_log_proba
        for node in range(problem.table.n_nodes):
            seen, signs = targets_of(problem, node)
            n = len(signs)
            expected = np.zeros((len(problem.codes), n))
            for p, q in combinations(range(n), 2):
                mine = seen[(signs[[p, q]] == 1).any(axis=0)]
                target = signs[q][(signs[[p, q]] == 1).any(axis=0)]
                model = LinearSVC(C=1.0, dual=False, tol=1e-10, max_iter=10_000)
                margins = model.fit(problem.X[mine], target).decision_function(problem.X)
                expected[:, p] -= np.maximum(0, 1 + margins) ** 2 / (n - 1)
                expected[:, q] -= np.maximum(0, 1 - margins) ** 2 / (n - 1)
            nodes = np.full(len(expected), node, dtype=np.int32)
            places = np.arange(len(expected) + 1) * n
            every = np.arange(len(expected))
            scores = routes.score(routes.prepare(problem.X), every, nodes, places)
            np.testing.assert_allclose(scores, expected.ravel(), atol=1e-4)

    def test_leave_out_what_both_options_have(self):
        X, codes = blobs(4)
        routes = LinearRouter(against="each").train(problem_of(diamond(), X, codes))
        assert np.isfinite(routes.weights).all()
        sizes = np.diff(routes.first_option)
        assert np.array_equal(np.diff(routes.first_lane), sizes * (sizes - 1) // 2)


@pytest.mark.parametrize("n_rows", [40, 600])  # one by one, and as one product
def test_scores_with_siblings_are_half_normalized(n_rows):
    h = random_hierarchy(np.random.default_rng(3), 9)
    X, codes = ROWS["sparse"](9)
    problem = problem_of(h, X, codes)
    plain, shared = (LinearRouter(siblings=s).train(problem) for s in (False, True))
    many = sparse.vstack([problem.X] * 20, format="csr")[:n_rows]
    table, n = problem.table, many.shape[0]
    for node, size in enumerate(table.sizes.tolist()):
        if size < 2:
            continue
        asked = (np.arange(n), np.full(n, node, np.int32), np.arange(n + 1) * size)
        s = 2 * plain.score(plain.prepare(many), *asked).reshape(n, size)
        expected = s - 0.5 * np.log(np.exp(s).sum(axis=1, keepdims=True))
        found = shared.score(shared.prepare(many), *asked).reshape(n, size)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        all_scores = shared.score_all(shared.prepare(many))
        assert (all_scores is not None) == (n_rows == 600)
        if all_scores is not None:
            options = slice(table.first[node], table.first[node + 1])
            np.testing.assert_allclose(all_scores[:, options], expected, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_rows_are_dense_rows(loss):
    X, codes = sparse_rows(5)
    star = Hierarchy.star(list("abcde"))
    router = LinearRouter(loss, tol=1e-8, max_iter=100_000)
    by_sparse = router.train(problem_of(star, X, codes))
    by_dense = router.train(problem_of(star, X.toarray(), codes))
    np.testing.assert_allclose(lanes_of(by_sparse, 0), lanes_of(by_dense, 0), atol=1e-6)


@pytest.mark.parametrize("size", [1, 7])
def test_threads_that_share_the_rows_of_a_node_change_no_bit(size, monkeypatch):
    X, codes = sparse_rows(5)
    problem = problem_of(Hierarchy.star(list("abcde")), X, codes)
    alone = LinearRouter().train(problem)
    monkeypatch.setattr(_linear, "_ROWS_TO_READ", size)
    shared = LinearRouter().train(problem)
    np.testing.assert_array_equal(lanes_of(shared, 0), lanes_of(alone, 0))


class TestScale:
    @pytest.mark.parametrize("form", [sparse.csr_array, lambda Z: Z.toarray()])
    def test_goes_by_the_mean_squared_length(self, form):
        X, codes = sparse_rows(3)
        X = sparse.vstack([X[:5] * 0.0, X[5:]], format="csr")  # rows without an entry too
        weights = np.arange(36) % 3 + 1.0
        mean = np.average((X.toarray() ** 2).sum(axis=1), weights=weights)
        problem = problem_of(Hierarchy.star(list("abc")), form(X), codes, weights=weights)
        by_scale = LinearRouter().train(problem)
        by_number = LinearRouter(C=3 / mean**0.75).train(problem)
        np.testing.assert_allclose(lanes_of(by_scale, 0), lanes_of(by_number, 0), atol=1e-9)

    def test_of_nothing_is_one(self):
        problem = problem_of(Hierarchy.star(["a", "b"]), np.zeros((6, 2)), np.arange(6) % 2)
        one = LinearRouter(C=1.0).train(problem)
        assert LinearRouter().train(problem).bias.tolist() == one.bias.tolist()


class TestPrune:
    def test_drops_small_weights_and_no_others(self):
        X, codes = sparse_rows(6)
        star = Hierarchy.star(list("abcdef"))
        whole = LinearRouter().train(problem_of(star, X, codes))
        pruned = LinearRouter(prune=0.05).train(problem_of(star, X, codes))
        expected = whole.coef.toarray()
        expected[np.abs(expected) <= 0.05] = 0.0
        assert np.array_equal(pruned.coef.toarray(), expected)
        assert 0 < pruned.n_weights < whole.n_weights

    def test_auto_changes_a_classifier_by_less_than_a_twentieth(self):
        X, codes = sparse_rows(6)
        tree = Hierarchy.from_paths([("g", name) for name in "abc"] + [("h", n) for n in "def"])
        routes = [
            LinearRouter(prune=each).train(problem_of(tree, X, codes)) for each in (0, "auto")
        ]
        whole, brief = (each.coef.toarray() for each in routes)
        assert np.array_equal(routes[0].bias, routes[1].bias)
        assert routes[1].lanes is None  # weights of one node are stored together, as without
        assert np.count_nonzero(brief) < np.count_nonzero(whole)
        change, norms = (np.linalg.norm(each, axis=1) for each in (brief - whole, whole))
        assert (change < 0.05 * norms).all()
        large = brief != 0
        assert np.allclose(brief[large], whole[large], rtol=2**-8, atol=0)
        assert (np.frexp(brief)[0] * 2**8 % 1 == 0).all()

    def test_of_nothing_is_stored_whole_and_scores_the_same(self):
        # two levels, and more rows than a table of all features pays for
        X, codes = sparse_rows(6)
        tree = Hierarchy.from_paths([("g", name) for name in "abc"] + [("h", n) for n in "def"])
        whole = LinearRouter().train(problem_of(tree, X, codes))
        larger = LinearRouter(prune=1e-300).train(problem_of(tree, X, codes))
        assert whole.lanes is None
        assert larger.lanes is not None
        assert np.array_equal(whole.bias, larger.bias)
        assert np.array_equal(whole.coef.toarray(), larger.coef.toarray())
        nodes = np.repeat(np.arange(3, dtype=np.int32), 4)
        rows, starts = np.tile(np.arange(4), 3), np.cumsum([0, *np.diff(whole.first_option)[nodes]])
        prepared = whole.prepare(X)
        assert np.array_equal(
            whole.score(prepared, rows, nodes, starts), larger.score(prepared, rows, nodes, starts)
        )

    def test_many_options_are_stored_as_they_are_trained(self):
        rng = np.random.default_rng(0)  # 40 options are three tasks of one node
        X = sparse.random_array((120, 50), density=0.3, random_state=rng, format="csr")
        star = Hierarchy.star([f"{k:02}" for k in range(40)])
        codes = np.arange(120) % 40
        routes = LinearRouter().train(problem_of(star, X, codes))
        assert routes.lanes is not None
        assert routes.coef.shape == (40, 50)
        margins = X.toarray() @ routes.coef.toarray().T + routes.bias
        scores = routes.score(
            routes.prepare(X), np.arange(120), np.zeros(120, np.int32), np.arange(0, 4801, 40)
        )
        expected = -(np.maximum(0.0, 1.0 - margins) ** 2)
        np.testing.assert_allclose(scores.reshape(120, 40), expected, atol=1e-12)

    def test_of_everything_leaves_the_biases(self):
        X, codes = sparse_rows(3)
        star = Hierarchy.star(list("abc"))
        routes = LinearRouter(prune=1e9).train(problem_of(star, X, codes))
        assert routes.n_weights == 0
        nodes = np.zeros(2, dtype=np.int32)
        scores = routes.score(routes.prepare(X), np.arange(2), nodes, np.array([0, 3, 6]))
        assert np.array_equal(scores[:3], scores[3:])


class TestMistakes:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"loss": "hinge"}, "loss='hinge' is unknown"),
            ({"C": 0.0}, "C=0.0: expected 'scale' or a positive number"),
            ({"C": "auto"}, "C='auto': expected 'scale' or a positive number"),
            ({"tol": -1.0}, "tol=-1.0: expected a positive"),
            ({"max_iter": 0}, "max_iter=0: expected 'auto' or a positive"),
            ({"max_iter": "few"}, "max_iter='few': expected 'auto' or a positive number"),
            ({"against": "all"}, "against='all' is unknown: expected 'rest' or 'each'"),
            ({"loss": "logistic", "against": "each"}, "against='each' with loss='logistic'"),
            ({"siblings": True, "loss": "logistic"}, "siblings=True with loss='logistic'"),
            ({"prune": -0.1}, "prune=-0.1: expected a number of at least 0, or 'auto'"),
            ({"prune": "some"}, "prune='some': expected a number of at least 0, or 'auto'"),
        ],
    )
    def test_are_named(self, parameters, message):
        X, codes = blobs(2)
        with pytest.raises(PalmetteError, match=message):
            LinearRouter(**parameters).train(problem_of(Hierarchy.star(["a", "b"]), X, codes))

    def test_of_no_convergence_are_none_for_texts(self):
        X, codes = sparse_rows(3)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            router = LinearRouter(max_iter="auto", tol=1e-12, C=100.0)
            routes = router.train(problem_of(Hierarchy.star(list("abc")), X, codes))
        assert routes.n_passes == 8

    def test_no_convergence_gives_a_warning(self):
        X, codes = sparse_rows(3)
        star = Hierarchy.star(list("abc"))
        with pytest.warns(ConvergenceWarning, match="did not converge within max_iter=2"):
            LinearRouter(tol=1e-9, max_iter=2).train(problem_of(star, X, codes))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [0.0, 1e-150, 1e8])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_rows_give_finite_weights(loss, scale):
    X, codes = sparse_rows(3)
    for form in (sparse.csr_array, lambda Z: Z.toarray(), lambda Z: Z.toarray()[:, :4]):
        problem = problem_of(Hierarchy.star(list("abc")), form(X * scale), codes)
        with np.errstate(all="raise", under="ignore"):
            routes = LinearRouter(loss, max_iter=50).train(problem)
        assert np.isfinite(routes.weights).all()
        assert np.isfinite(routes.bias).all()
