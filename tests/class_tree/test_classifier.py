from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests.class_tree.clades import hard_cases
from tests.class_tree.routing_literal import all_paths, diamond, random_hierarchy

import palmette as pm
from palmette import decoding
from palmette.class_tree import BHCTree, MFTree, RandomTree, RelaxedTree
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.routing import LinearRouter, SpectralRouter

ROUTERS = ["linear", "logistic", "spectral", GaussianNB()]
N_CLASSES = 12


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat(np.arange(N_CLASSES), 15))
    X = rng.normal(size=(len(codes), 6)) + 2.5 * rng.normal(size=(N_CLASSES, 6))[codes]
    return X, np.array([f"c{k}" for k in range(N_CLASSES)])[codes]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order] / 16, y[order]
    return X[:500], y[:500], X[500:900], y[500:900]


def literal_scores(clf, X):
    """Return the best sum over all paths to every class, from the scores of all nodes."""
    table, routes = clf.options_, clf.routes_
    scores = np.empty((len(X), table.n_options))
    rows = np.arange(len(X))
    for node, size in enumerate(table.sizes):
        nodes, starts = np.full(len(X), node, dtype=np.int32), np.arange(len(X) + 1) * size
        found = routes.score(clf._routed(X), rows, nodes, starts)
        scores[:, table.first[node] : table.first[node + 1]] = found.reshape(len(X), size)
    best = np.full((len(X), table.n_classes), -np.inf)
    for label, options in all_paths(table):
        best[:, label] = np.maximum(best[:, label], scores[:, options].sum(axis=1))
    return best


def names_of(clf, codes):
    return clf.hierarchy_.names[clf.space_.classes[codes]]


@pytest.mark.parametrize("router", ROUTERS, ids=str)
@pytest.mark.parametrize("tree", ["tree", "dag"])
class TestAnswers:
    @pytest.fixture
    def fitted(self, router, tree, blobs):
        rng = np.random.default_rng(5)
        h = random_hierarchy(rng, N_CLASSES, dag=tree == "dag")
        assert h.is_tree == (tree == "tree")
        return ClassTreeClassifier(h, router=router).fit(*blobs)

    def test_exact_is_the_best_of_all_paths(self, fitted, blobs):
        X, _ = blobs
        expected = literal_scores(fitted, X)
        chosen = fitted.set_params(decoding="exact").predict(X)
        assert np.array_equal(chosen, names_of(fitted, expected.argmax(axis=1)))

    def test_probabilities_come_from_the_scores_of_the_best_paths(self, fitted, blobs):
        X, _ = blobs
        proba = fitted.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        expected = softmax(literal_scores(fitted, X), axis=1)
        names = names_of(fitted, np.arange(N_CLASSES)).tolist()
        columns = [names.index(name) for name in fitted.classes_.tolist()]
        np.testing.assert_allclose(proba, expected[:, columns], atol=1e-9)

    def test_a_beam_that_is_wide_enough_is_exact(self, fitted, blobs):
        X, _ = blobs
        exact = fitted.set_params(decoding="exact").predict(X)
        wide = fitted.set_params(decoding=decoding.Beam(fitted.options_.n_options)).predict(X)
        assert np.array_equal(wide, exact)

    def test_greedy_is_a_beam_of_one(self, fitted, blobs):
        X, _ = blobs
        greedy = fitted.set_params(decoding="greedy").predict(X)
        assert np.array_equal(greedy, fitted.set_params(decoding="beam", beam_width=1).predict(X))
        assert np.array_equal(greedy, fitted.set_params(decoding="top_down").predict(X))

    def test_top_k_begins_with_the_answer(self, fitted, blobs):
        X, _ = blobs
        for rule in ("beam", "exact"):
            fitted.set_params(decoding=rule)
            labels, shares = fitted.predict_top_k(X, 3)
            labels = np.array(labels)
            assert np.array_equal(labels[:, 0], fitted.predict(X))
            assert shares.shape == (len(X), 3)
            assert (np.diff(shares, axis=1) <= 1e-12).all()
            assert (labels[:, 0] != labels[:, 1]).all()

    def test_node_probabilities_are_those_of_the_classes_below(self, fitted, blobs):
        X, _ = blobs
        proba, nodes = fitted.predict_proba(X), fitted.predict_node_proba(X)
        h = fitted.hierarchy_
        for node in range(h.n_nodes):
            below = [name in set(h.names[h.leaves]) for name in fitted.classes_]
            member = (
                h.closure[h.index(fitted.classes_[below].tolist())][:, [node]].toarray().ravel()
            )
            np.testing.assert_allclose(nodes[:, node], proba @ member, atol=1e-9)


class TestTree:
    def test_is_learnt_inside_of_fit(self, blobs):
        X, y = blobs
        tree = BHCTree()
        clf = ClassTreeClassifier(tree, router="linear").fit(X, y)
        assert not hasattr(tree, "hierarchy_")
        assert clf.hierarchy_ == BHCTree().fit(X, y).hierarchy_

    def test_by_default_is_wide(self, blobs):
        X, y = blobs
        clf = ClassTreeClassifier(router="linear").fit(X, y)
        assert isinstance(clf.hierarchy_learner_, MFTree)
        assert clf.score(X, y) > 0.9

    def test_may_come_with_the_labels(self, blobs):
        X, y = blobs
        paths = [("low" if name < "c4" else "high", name) for name in y]
        clf = ClassTreeClassifier(router="linear").fit(X, paths)
        assert clf.hierarchy_ == pm.Hierarchy.from_paths(sorted(set(paths)))
        assert not hasattr(clf, "hierarchy_learner_")
        assert clf.score(X, paths) > 0.7  # the groups have nothing in common

    def test_may_overlap(self, digits):
        X, y, Z, t = digits
        clf = ClassTreeClassifier(
            RelaxedTree(n_starts=1, max_iter=2, random_state=0), router="linear"
        ).fit(X, y)
        assert clf.score(Z, t) > 0.85
        assert clf.predict(Z).dtype == y.dtype

    def test_may_hold_inner_labels(self, blobs):
        X, y = blobs
        paths = [("g",) if name == "c0" else ("g", name) for name in y]
        clf = ClassTreeClassifier(decoding="exact", router="linear").fit(X, paths)
        assert clf.score(X, paths) > 0.7  # the groups have nothing in common
        assert ("g",) in clf.predict(X)

    def test_of_another_kind_is_refused(self, blobs):
        with pytest.raises(HierarchyError, match=r"tree is a str: expected a palmette\.Hierarchy"):
            ClassTreeClassifier("mf", router="linear").fit(*blobs)

    def test_is_learnt_over_labels_not_paths(self, blobs):
        X, y = blobs
        with pytest.raises(LabelError, match="learned over labels, but y has paths"):
            ClassTreeClassifier(RandomTree(), router="linear").fit(X, [("top", name) for name in y])


class TestCalibration:
    @pytest.mark.parametrize("router", ROUTERS[:2])
    def test_out_of_fold_makes_held_out_rows_more_likely(self, router, digits):
        X, y, Z, t = digits
        plain = ClassTreeClassifier(router=router).fit(X, y)
        fitted = ClassTreeClassifier(router=router, calibration="out_of_fold").fit(X, y)
        rows = np.arange(len(t))
        before, after = (np.log(clf.predict_proba(Z))[rows, t].mean() for clf in (plain, fitted))
        assert after > before
        assert np.array_equal(fitted.predict(Z), plain.predict(Z))

    def test_a_number_is_the_power(self, blobs):
        X, y = blobs
        one, two = (
            ClassTreeClassifier(calibration=c, router="linear").fit(X, y) for c in (None, 2.0)
        )
        squared = one.predict_proba(X) ** 2
        expected = squared / squared.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(two.predict_proba(X), expected)
        assert (one.exponent_, two.exponent_) == (1.0, 2.0)

    def test_without_rows_to_hold_out_changes_nothing(self):
        X = np.random.default_rng(0).normal(size=(8, 3))
        clf = ClassTreeClassifier(calibration="out_of_fold", router="linear").fit(
            X, np.arange(8) // 2
        )
        assert clf.exponent_ == 1.0

    @pytest.mark.parametrize("given", [0.0, -1, np.nan, "platt", [1.0]])
    def test_of_another_kind_is_refused(self, given, blobs):
        with pytest.raises(
            PalmetteError, match="expected None, a positive number or 'out_of_fold'"
        ):
            ClassTreeClassifier(calibration=given, router="linear").fit(*blobs)


class TestRows:
    @pytest.mark.parametrize("router", ROUTERS[:3])
    def test_sparse_are_dense(self, router, digits):
        X, y, Z, _ = digits
        dense = ClassTreeClassifier(router=router, standardize=False).fit(X, y)
        by_sparse = ClassTreeClassifier(router=router).fit(sparse.csr_matrix(X), y)
        one, other = dense.predict_proba(Z), by_sparse.predict_proba(sparse.csc_array(Z))
        np.testing.assert_allclose(one, other, atol=0.02)  # within the accuracy of `tol`
        assert np.mean(dense.predict(Z) == by_sparse.predict(sparse.csr_array(Z))) > 0.995

    @pytest.mark.parametrize("router", [*ROUTERS[:3], LinearSVC(random_state=0)], ids=str)
    def test_jobs_change_nothing(self, router, digits):
        X, y, Z, _ = digits
        one, two = (ClassTreeClassifier(router=router, n_jobs=j).fit(X, y) for j in (1, 2))
        assert np.array_equal(one.predict_proba(Z), two.predict_proba(Z))
        assert np.array_equal(one.predict(Z), two.predict(Z))

    @pytest.mark.parametrize("router", ROUTERS, ids=str)
    def test_a_weight_of_k_is_k_copies_and_zero_none(self, router, blobs):
        X, y = blobs
        weights = np.random.default_rng(0).integers(0, 3, size=len(y))
        weights[y == "c3"] = 0
        copies = np.repeat(np.arange(len(y)), weights)
        weighted = ClassTreeClassifier(router=router).fit(X, y, sample_weight=weights)
        copied = ClassTreeClassifier(router=router).fit(X[copies], y[copies])
        assert weighted.classes_.tolist() == copied.classes_.tolist()
        assert "c3" not in weighted.classes_
        one, other = weighted.predict_proba(X), copied.predict_proba(X)
        np.testing.assert_allclose(one, other, atol=1e-6)

    def test_of_a_frame_come_back_as_a_series(self, blobs):
        X, y = blobs
        frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(y)) + 5)
        clf = ClassTreeClassifier(router="linear").fit(
            frame, pd.Series(y, name="kind", index=frame.index)
        )
        part = frame.iloc[[7, 3]]
        predicted = clf.predict(part)
        assert isinstance(predicted, pd.Series)
        assert predicted.index.tolist() == [12, 8]
        assert clf.feature_names_in_.tolist() == list("abcdef")

    def test_any_rows_that_a_classifier_accepts(self, blobs):
        X, y = blobs
        texts = [" ".join(f"w{j}{int(v > 0)}" for j, v in enumerate(row)) for row in X]
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import MultinomialNB

        tree = random_hierarchy(np.random.default_rng(0), N_CLASSES)
        router = make_pipeline(CountVectorizer(), MultinomialNB())
        clf = ClassTreeClassifier(tree, router=router).fit(texts, y)
        assert clf.score(texts, y) > 0.5

    def test_are_never_copied_for_chunks_of_one_row(self, blobs):
        X, y = blobs
        clf = ClassTreeClassifier(router="linear").fit(X, y)
        one_by_one = np.concatenate([clf.predict(row[None]) for row in X[:20]])
        assert np.array_equal(one_by_one, clf.predict(X[:20]))


class TestHardInput:
    @pytest.mark.parametrize("router", ROUTERS[:3])
    @pytest.mark.parametrize(("name", "X", "y"), list(hard_cases()))
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_gives_probabilities(self, name, X, y, router):
        clf = ClassTreeClassifier(MFTree(branching=3, leaf_size=2), router=router).fit(X, y)
        proba = clf.predict_proba(X)
        assert proba.shape == (len(X), len(set(np.asarray(y).tolist())))
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert set(clf.predict(X)) <= set(np.asarray(y).tolist())

    def test_one_class_raises_an_error_if_a_tree_is_learnt(self):
        with pytest.raises(PalmetteError, match="one class only"):
            ClassTreeClassifier(router="linear").fit(np.zeros((3, 2)), ["a"] * 3)

    def test_one_class_of_a_given_tree_needs_no_model(self):
        tree = pm.Hierarchy.from_paths([("g", "a"), ("g", "b")])
        clf = ClassTreeClassifier(tree, router="linear").fit(np.zeros((3, 2)), ["a"] * 3)
        assert clf.predict(np.ones((2, 2))).tolist() == ["a", "a"]
        assert clf.predict_proba(np.ones((2, 2))).tolist() == [[1.0], [1.0]]

    def test_two_classes_need_one_classifier(self, blobs):
        X, y = blobs
        two = np.isin(y, ["c0", "c1"])
        clf = ClassTreeClassifier(router="linear", standardize=False).fit(X[two], y[two])
        expected = LinearSVC(C=3 / (X[two] ** 2).sum(axis=1).mean() ** 0.75, dual=False, tol=1e-9)
        expected.fit(X[two], y[two])
        np.testing.assert_allclose(clf.routes_.coef.toarray(), expected.coef_, atol=1e-5)


class TestParameters:
    def test_routers_are_objects_names_or_classifiers(self, blobs):
        X, y = blobs
        for router in (LinearRouter(C=0.5), SpectralRouter(one_hot=True)):
            clf = ClassTreeClassifier(router=router).fit(X, y)
            assert clf.get_params()["router"] is router
        with pytest.raises(PalmetteError, match="router='wood' is unknown: expected one of"):
            ClassTreeClassifier(router="wood").fit(X, y)

    def test_parts_can_be_set(self):
        clf = ClassTreeClassifier(MFTree(), router=LinearRouter())
        clf.set_params(tree__branching=3, router__C=7.0)
        assert (clf.tree.branching, clf.router.C) == (3, 7.0)

    @pytest.mark.parametrize("width", [0, 1.5, "wide"])
    def test_a_beam_has_a_width(self, width, blobs):
        with pytest.raises(PalmetteError, match="beam_width="):
            ClassTreeClassifier(beam_width=width, router="linear").fit(*blobs)

    @pytest.mark.parametrize(
        "kind", [ClassTreeClassifier, pm.AdaBoostBHCClassifier, pm.MFTreeClassifier]
    )
    def test_errors_of_fit_list_all_rules_and_name_the_classifier(self, kind, blobs):
        X, y = blobs
        with pytest.raises(PalmetteError, match=r"decoding='x' is unknown: .*'exact', 'greedy'"):
            kind(decoding="x").fit(X, y)
        texts = pd.DataFrame({"size": np.arange(len(y)), "title": "a title"})
        with pytest.raises(PalmetteError, match=f"^{kind.__name__} accepts numbers only"):
            kind().fit(texts, y)

    def test_verbose_prints_the_steps_and_changes_nothing(self, blobs, capsys):
        X, y = blobs
        quiet = ClassTreeClassifier(router="linear", random_state=0).fit(X, y)
        assert capsys.readouterr().out == ""
        loud = ClassTreeClassifier(router="linear", random_state=0, verbose=1).fit(X, y)
        lines = [f"tree of {len(loud.classes_)} classes", "classifiers trained"]
        assert capsys.readouterr().out.splitlines() == lines
        np.testing.assert_array_equal(loud.predict_proba(X), quiet.predict_proba(X))
        chosen = ClassTreeClassifier(random_state=0, verbose=1).fit(X, y)
        scores = [f"{k}: {v:.4f} on held-out rows" for k, v in chosen.router_scores_.items()]
        assert capsys.readouterr().out.splitlines() == [lines[0], *scores, lines[1]]
        pm.ClassTreeEnsemble(n_trees=2, verbose=1, random_state=0).fit(X, y)
        assert capsys.readouterr().out.splitlines() == ["tree 1 of 2", "tree 2 of 2"]

    def test_unknown_rules_are_refused(self, blobs):
        clf = ClassTreeClassifier(router="linear").fit(*blobs)
        for rule in ("boldest", "auto"):
            with pytest.raises(PalmetteError, match=f"decoding='{rule}' is unknown"):
                clf.set_params(decoding=rule).predict(blobs[0])

    def test_rules_over_probabilities_serve_trees_alone(self, blobs):
        X, y = blobs
        clf = ClassTreeClassifier(RandomTree(random_state=0), router="linear").fit(X, y)
        shy = clf.set_params(decoding=decoding.Confident(0.9)).predict_nodes(X)
        assert (clf.hierarchy_.depth[shy] < clf.hierarchy_.depth[clf.hierarchy_.leaves].min()).any()
        rows = np.flatnonzero(np.isin(y, ["c0", "c1", "c2", "c3"]))
        names = dict(zip(["c0", "c1", "c2", "c3"], "wxyz", strict=True))
        dag = ClassTreeClassifier(diamond(), router="linear").fit(
            X[rows], [names[name] for name in y[rows]]
        )
        with pytest.raises(
            HierarchyError, match="needs a tree, but in this hierarchy classes are below"
        ):
            dag.set_params(decoding=decoding.Confident(0.9)).predict(X)

    def test_scaling_in_a_pipeline(self, blobs):
        X, y = blobs
        clf = make_pipeline(StandardScaler(), ClassTreeClassifier(router="linear")).fit(X * 1e3, y)
        assert clf.score(X * 1e3, y) > 0.9
