"""Label trees: class trees of rows with label sets, against a literal version."""

import copy
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import palmette as pm
from palmette._arrays import row_chunks
from palmette.class_tree import (
    BHCTree,
    ClassTreeClassifier,
    ClassTreeEnsemble,
    KMeansTree,
    MFTree,
    MFTreeClassifier,
    RandomTree,
)
from palmette.class_tree._k_means_tree import _balanced_k_means
from palmette.class_tree._label_tree import (
    _are_true,
    _best_exponent,
    _best_threshold,
    _measure,
    _ndcg,
)
from palmette.class_tree._set_routing import TermScale
from palmette.exceptions import LabelError, PalmetteError
from palmette.metrics import ndcg_at_k
from palmette.routing import ForestRouter, LinearRouter

EXACT = LinearRouter(C=1.0, tol=1e-8, max_iter=10_000)
SMALL = KMeansTree(3, leaf_size=3)


def words(n_rows=150, n_labels=9, seed=0):
    """Rows of counts: a label has two words of its own; some rows have no label."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.2).astype(int)
    counts = rng.poisson(0.15, (n_rows, 2 * n_labels)) + rng.poisson(1.2 * np.repeat(Y, 2, axis=1))
    return sparse.csr_array(counts.astype(float)), Y


@pytest.fixture(scope="module")
def data():
    return words()


def literal_margins(X, y, C=1.0):
    """The margin of every row for a yes/no label, with a regularized bias."""
    svm = LinearSVC(C=C, tol=1e-10, max_iter=100_000, intercept_scaling=1.0).fit(X, y)
    return lambda Z: Z @ svm.coef_[0] + svm.intercept_[0]


def literal_proba(hierarchy, X, Y, Z, C=1.0):
    """The product of exp(-max(0, 1 - margin)^2) along the path of every label, node by node."""
    leaf = {name: k for k, name in enumerate(range(Y.shape[1]))}
    below = {}
    for node in reversed(range(hierarchy.n_nodes)):
        children = hierarchy.children(node)
        name = hierarchy.names[node]
        below[node] = (
            sorted(set().union(*(below[c] for c in children))) if len(children) else [leaf[name]]
        )
    found = {0: np.ones(len(Z))}
    for node in range(hierarchy.n_nodes):
        children = hierarchy.children(node)
        here = np.ones(len(X), bool) if node == 0 else Y[:, below[node]].any(axis=1)
        for child in children:
            target = Y[:, below[child]].any(axis=1)[here]
            if target.all():
                found[child] = found[node]
                continue
            margin = literal_margins(X[here], target, C)(Z)
            found[child] = found[node] * np.exp(-(np.maximum(0, 1 - margin) ** 2))
    leaves = {hierarchy.names[node]: node for node in hierarchy.leaves}
    return np.column_stack([found[leaves[k]] for k in range(Y.shape[1])])


@pytest.mark.parametrize("dense", [False, True])
def test_probabilities_are_products_of_links_along_the_path(data, dense):
    X, Y = data
    X = X.toarray() if dense else X
    model = ClassTreeClassifier(SMALL, router=EXACT, calibration=1.0, standardize=False)
    model.fit(X[:100], Y[:100])
    rows = np.asarray(X.toarray() if not dense else X)
    expected = literal_proba(model.hierarchy_, rows[:100], Y[:100], rows[100:])
    np.testing.assert_allclose(model.predict_proba(X[100:]), expected, atol=2e-5)


def test_one_leaf_is_one_versus_rest(data):
    X, Y = data
    model = ClassTreeClassifier(KMeansTree(), router=EXACT, calibration=1.0).fit(X, Y)
    assert model.hierarchy_.depth.max() == 1
    margins = np.column_stack(
        [literal_margins(X.toarray(), Y[:, k])(X.toarray()) for k in range(Y.shape[1])]
    )
    expected = np.exp(-(np.maximum(0, 1 - margins) ** 2))
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=2e-5)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("tree", [SMALL, RandomTree(2, random_state=0)], ids=["k-means", "random"])
def test_a_beam_as_wide_as_the_tree_scores_every_label(data, tree, loss):
    X, Y = data
    model = ClassTreeClassifier(tree, router=LinearRouter(loss), beam_width=50).fit(X, Y)
    proba = model.predict_proba(X)
    labels, found = model.predict_top_k(X, 9)
    np.testing.assert_allclose(found, -np.sort(-proba, axis=1), rtol=1e-9)
    chosen = np.searchsorted(model.classes_, labels)
    np.testing.assert_allclose(np.take_along_axis(proba, chosen, axis=1), found, rtol=1e-9)
    exact = clone(model).set_params(decoding="exact").fit(X, Y)
    np.testing.assert_array_equal(exact.predict(X), model.predict(X))


def test_more_labels_than_the_beam_is_wide(data):
    X, Y = data
    model = ClassTreeClassifier(SMALL, beam_width=1).fit(X, Y)
    proba = model.predict_top_k(X, 6)[1]
    assert proba.shape == (150, 6)
    assert (np.diff(proba, axis=1) <= 0).all()
    first, two = model.predict_top_k(X, 1)[1], clone(model).set_params(decoding="greedy").fit(X, Y)
    assert (two.predict_top_k(X, 1)[1] <= first + 1e-12).all()


def test_predictions_are_the_labels_above_the_threshold(data):
    X, Y = data
    model = ClassTreeClassifier(SMALL).fit(X, Y)
    expected = (model.predict_proba(X) > model.threshold_).astype(int)
    np.testing.assert_array_equal(model.predict(X), expected)
    fixed = clone(model).set_params(decoding=0.7).fit(X, Y)
    np.testing.assert_array_equal(fixed.predict(X), (fixed.predict_proba(X) > 0.7).astype(int))
    top = clone(model).set_params(decoding=pm.decoding.TopK(2)).fit(X, Y)
    assert (top.predict(X).sum(axis=1) == 2).all()
    assert 0.5 * Y.sum() < model.predict(X).sum() < 2 * Y.sum()


@pytest.mark.parametrize("decoding", ["beam", "exact"])
@pytest.mark.parametrize("n_trees", [1, 2])
def test_predictions_have_labels_if_all_training_rows_have(data, decoding, n_trees):
    X, Y = data
    order = np.argsort(Y.sum(axis=1) == 0, kind="stable")  # rows without labels last
    X, Y = X[order], Y[order]
    n_full = int(np.count_nonzero(Y.sum(axis=1)))
    empty, found = sparse.vstack([X, sparse.csr_array((1, X.shape[1]))]).tocsr(), []
    for rows in (np.arange(n_full), np.arange(len(Y))):
        settings = {"decoding": decoding, "beam_width": 20, "random_state": 0}
        model = ClassTreeClassifier(SMALL, **settings)
        if n_trees > 1:
            model = ClassTreeEnsemble(SMALL, n_trees=n_trees, router="linear", **settings)
        model.fit(X[rows], Y[rows])
        proba = model.predict_proba(empty)
        expected = (proba > model.threshold_).astype(int)
        if len(rows) == n_full:
            none = expected.sum(axis=1) == 0
            expected[none, proba[none].argmax(axis=1)] = 1
        np.testing.assert_array_equal(model.predict(empty), expected)
        found.append(model.predict(empty).sum(axis=1).min())
    assert n_full < len(Y)
    assert found == [1, 0]


@pytest.mark.parametrize("form", ["sets", "matrix"])
@pytest.mark.parametrize("decoding", ["beam", "exact"])
@pytest.mark.parametrize("n_trees", [1, 2])
def test_predictions_have_one_label_if_all_training_rows_have(data, form, decoding, n_trees):
    X, Y = data
    code = (Y * np.arange(1, 10)).argmax(axis=1)
    y = np.eye(9, dtype=int)[code] if form == "matrix" else [{int(k)} for k in code]
    settings = {"decoding": decoding, "beam_width": 20, "random_state": 0}
    model = MFTreeClassifier(**settings)
    if n_trees > 1:
        model = ClassTreeEnsemble(MFTree(2), n_trees=n_trees, router="linear", **settings)
    model.fit(X, y)
    best = model.classes_[model.predict_proba(X).argmax(axis=1)]
    found = model.predict(X)
    found = found.argmax(axis=1) if form == "matrix" else [each for (each,) in found]
    np.testing.assert_array_equal(found, best)


def test_the_settings_are_chosen_on_held_out_rows(data):
    X, Y = data
    model = ClassTreeClassifier(SMALL).fit(X, Y)
    assert len(model.router_scores_) >= 3
    best = max(model.router_scores_, key=model.router_scores_.get)
    assert best.startswith(f"C={model.router_.C:.3g}")
    assert all(0 < score <= 1 for score in model.router_scores_.values())
    given = ClassTreeClassifier(SMALL, router=LinearRouter(C=0.2)).fit(X, Y)
    assert given.router_.C == 0.2
    assert len(given.router_scores_) == 1  # only for the threshold


@pytest.mark.parametrize("form", ["sets", "lists", "frame", "sparse", "labels", "objects"])
def test_all_forms_of_label_sets(data, form):
    X, Y = data
    sets = [{f"l{k}" for k in np.flatnonzero(row)} for row in Y]
    y = {
        "sets": sets,
        "lists": Y.tolist(),
        "frame": pd.DataFrame(Y, columns=[f"l{k}" for k in range(9)]),
        "sparse": sparse.csr_array(Y),
        "labels": pm.NodeLabels.encode(sets, flat=True),
        "objects": pd.Series(sets),
    }[form]
    found = ClassTreeClassifier(SMALL).fit(X, y).predict(X)
    expected = ClassTreeClassifier(SMALL).fit(X, Y).predict(X)
    if form in ("sets", "labels", "objects"):
        found = [{int(label[1:]) for label in row} for row in found]
        assert found == [set(np.flatnonzero(row)) for row in expected]
    elif form == "frame":
        assert found.columns.tolist() == [f"l{k}" for k in range(9)]
        np.testing.assert_array_equal(found.to_numpy(), expected)
    else:
        found = found.toarray() if sparse.issparse(found) else np.asarray(found)
        np.testing.assert_array_equal(found, expected)


def test_edge_cases_of_labels(data):
    X, Y = data
    Y = Y.copy()
    Y[:, 3] = 0  # no row
    Y[:, 4] = Y[:, 5]  # equal labels
    Y[:, 6] = 1  # every row
    with pytest.warns(UserWarning, match="1 of the 9 columns of y has no positive row"):
        model = ClassTreeClassifier(KMeansTree()).fit(X, Y)
    proba = model.predict_proba(X)
    assert (proba[:, 3] == 0).all()
    np.testing.assert_array_equal(proba[:, 4], proba[:, 5])
    assert (proba[:, 6] == 1).all()
    assert not model.predict(X)[:, 3].any()
    assert model.predict(X)[:, 6].all()
    empty = sparse.csr_array((3, X.shape[1]))
    assert np.isfinite(model.predict_proba(empty)).all()
    assert len(np.unique(model.predict_proba(empty), axis=0)) == 1


def test_few_rows_have_no_held_out_rows():
    model = ClassTreeClassifier(RandomTree(random_state=0)).fit(
        [[0.0], [1.0]], [{"a", "b"}, {"b", "c"}]
    )
    assert model.threshold_ == 0.5
    assert model.predict_proba([[0.0]]).shape == (1, 3)
    with pytest.raises(LabelError, match="none of the 2 rows of y has a label"):
        ClassTreeClassifier().fit([[0.0], [1.0]], np.zeros((2, 3), dtype=int))


def test_a_given_tree_makes_coherent_answers(data):
    X, Y = data
    paths = [("a", "x"), ("a", "y"), ("b", "x2"), ("b", "z"), ("c",), ("b", "z", "w")]
    y = [[paths[k] for k in np.flatnonzero(row[:6])] for row in Y]
    model = ClassTreeClassifier().fit(X, y)
    assert model.several_paths_
    proba, h = model.predict_node_proba(X), model.hierarchy_
    for node in range(1, h.n_nodes):
        assert (proba[:, node] <= proba[:, h.parents[node]] + 1e-12).all()
    sets = model.predict_node_sets(X).toarray()
    assert (sets[:, h.index([("b",)])] >= sets[:, h.index([("b", "z", "w")])]).all()
    given = ClassTreeClassifier(h).fit(X, y)
    np.testing.assert_array_equal(given.predict_node_proba(X), proba)


def test_nodes_of_a_dag_are_below_their_rarest_parent(data):
    X, Y = data
    h = pm.Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    sets = [{name for name, flag in zip("abxy", row[:4], strict=True) if flag} for row in Y]
    model = ClassTreeClassifier(h).fit(X, sets)
    nodes = model.predict_node_proba(X)
    a, b, x = (h.index([name])[0] for name in "abx")
    assert (nodes[:, x] <= np.minimum(nodes[:, a], nodes[:, b]) + 1e-12).all()
    sizes = pm.NodeLabels.encode(sets, h).closed.sum(axis=0)
    parent = a if sizes[a] < sizes[b] else b
    option = int(np.flatnonzero(model.label_tree_.columns == x - 1)[0])
    table = model.options_
    owner = np.searchsorted(table.first, option, side="right") - 1
    assert table.nodes[owner] == parent - 1  # its column


def test_wide_nodes_of_a_given_hierarchy_are_divided(monkeypatch):
    X, Y = words(300, 24)
    monkeypatch.setattr(
        KMeansTree.__init__,
        "__kwdefaults__",
        {**KMeansTree.__init__.__kwdefaults__, "leaf_size": 4},
    )
    star = pm.Hierarchy.star([f"l{k}" for k in range(24)])
    sets = [{f"l{k}" for k in np.flatnonzero(row)} for row in Y]
    model = ClassTreeClassifier(star, beam_width=20).fit(X, sets)
    assert model.hierarchy_ == star
    assert model.options_.n_nodes > 4  # groups between the root and the labels
    assert set(model.label_tree_.columns) == {-1, *range(24)}
    proba = model.predict_proba(X)
    assert proba.shape == (300, 24)
    order = np.argsort([int(label[1:]) for label in model.classes_])
    assert ndcg_at_k(Y, proba[:, order], k=3) > 0.8
    values = model.predict_top_k(X, 5)[1]
    np.testing.assert_allclose(values, -np.sort(-proba, axis=1)[:, :5], rtol=1e-9)
    exact = copy.copy(model).set_params(decoding="exact")
    assert exact.predict(X) == model.predict(X)
    deep = [
        [("a", label) if int(label[1:]) % 2 else ("b", label) for label in each] for each in sets
    ]
    model = ClassTreeClassifier().fit(X, deep)
    assert model.options_.n_nodes > 6
    nodes, parents = model.predict_node_proba(X), model.hierarchy_.parents
    assert (nodes[:, 1:] <= nodes[:, parents[1:]] + 1e-12).all()
    assert nodes.shape[1] == 27


@pytest.mark.parametrize(
    "tree", [MFTree(), BHCTree(), RandomTree(4, random_state=1), pm.HOMERTree(random_state=0)]
)
def test_any_learner_of_label_sets_gives_the_tree(data, tree):
    X, Y = data
    rows = X.toarray() if isinstance(tree, BHCTree) else X
    model = ClassTreeClassifier(tree).fit(rows, Y)
    assert type(model.hierarchy_learner_) is type(tree)
    assert ndcg_at_k(Y, model.predict_proba(rows), k=3) > 0.8


def test_it_learns(data):
    X, Y = data
    new_X, new_Y = words(200, seed=1)
    chance = ndcg_at_k(new_Y, np.tile(Y.mean(axis=0), (200, 1)), k=3)
    for model in (ClassTreeClassifier(SMALL), MFTreeClassifier()):
        found = ndcg_at_k(new_Y, model.fit(X, Y).predict_proba(new_X), k=3)
        assert found > chance + 0.3


@pytest.mark.parametrize("tree", [None, MFTree(2), RandomTree(4)], ids=["k-means", "MF", "random"])
def test_several_trees_vote(data, tree):
    X, Y = data
    model = ClassTreeEnsemble(tree, n_trees=3, beam_width=20, random_state=0).fit(X, Y)
    proba = model.predict_proba(X)
    mean = np.mean([each.predict_proba(X) for each in model.estimators_], axis=0)
    np.testing.assert_allclose(proba, mean, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (mean > model.threshold_).astype(int))
    values = model.predict_top_k(X, 4)[1]
    np.testing.assert_allclose(values, -np.sort(-mean, axis=1)[:, :4], rtol=1e-9)
    exact = copy.copy(model).set_params(decoding="exact")
    np.testing.assert_array_equal(exact.predict(X), model.predict(X))
    nodes = model.predict_node_proba(X)
    parents = model.hierarchy_.parents
    assert (nodes[:, 1:] <= nodes[:, parents[1:]] + 1e-12).all()
    if tree is not None:
        first, second = (each.hierarchy_ for each in model.estimators_[:2])
        assert first != second
    drawn = ClassTreeEnsemble(tree, n_trees=2, bootstrap=True, random_state=0).fit(X, Y)
    assert ndcg_at_k(Y, drawn.predict_proba(X), k=3) > 0.8


@pytest.mark.parametrize("dense", [False, True])
def test_jobs_weights_and_chunks_change_nothing(data, dense, monkeypatch):
    X, Y = data
    X = X.toarray() if dense else X
    model = ClassTreeClassifier(SMALL, random_state=0).fit(X, Y)
    proba = model.predict_proba(X)
    for other in (
        clone(model).set_params(n_jobs=2).fit(X, Y),
        clone(model).fit(X, Y, np.full(150, 1e-200)),
        clone(model).fit(X, Y, np.full(150, 1e200)),
    ):
        np.testing.assert_array_equal(other.predict_proba(X), proba)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    answers, best = model.predict(X), model.predict_top_k(X, 3)[1]
    few = partial(row_chunks, at_once=500)
    monkeypatch.setattr("palmette.base._classifier.row_chunks", few)
    assert len(list(model._parts(X))) > 5
    np.testing.assert_array_equal(model.predict(X), answers)
    np.testing.assert_array_equal(model.predict_top_k(X, 3)[1], best)
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-12)
    weights = np.r_[np.ones(150), np.zeros(20)]
    more = sparse.vstack([X, X[:20]]).tocsr() if not dense else np.vstack([X, X[:20]])
    other = clone(model).fit(more, np.vstack([Y, 1 - Y[:20]]), weights)
    np.testing.assert_array_equal(other.predict_proba(X), proba)


def test_a_model_is_saved_and_read(data, tmp_path):
    X, Y = data
    for model in (
        ClassTreeClassifier(SMALL),
        MFTreeClassifier(),
        ClassTreeClassifier(router=EXACT),
    ):
        model.fit(X, Y)
        pm.save(model, tmp_path / "model.palmette")
        read = pm.load(tmp_path / "model.palmette")
        np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(read.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tree: setattr(tree, "columns", tree.columns[::-1][:-1].copy()), "do not fit"),
        (lambda tree: setattr(tree, "leaves", tree.leaves + 100), "does not exist"),
        (lambda tree: setattr(tree, "exponent", np.nan), "exponent"),
        (lambda tree: setattr(tree, "n_answers", 0), "n_answers"),
        (lambda tree: setattr(tree, "min_labels", 2), "min_labels"),
        (lambda tree: setattr(tree, "max_labels", "1"), "max_labels"),
        (lambda tree: setattr(tree.routes, "link", "squared_hinge"), "not those of label sets"),
        (lambda tree: setattr(tree.scale, "weights_", tree.scale.weights_[1:].copy()), "scale"),
    ],
)
def test_crafted_label_trees_are_refused(data, change, message):
    X, Y = data
    tree = ClassTreeClassifier(SMALL).fit(X, Y).label_tree_
    tree.check_arrays()
    change(tree)
    with pytest.raises(ValueError, match=message):
        tree.check_arrays()


def test_bad_settings_are_told(data):
    X, Y = data
    with pytest.raises(LabelError, match="rows do not have one path, but router=ForestRouter"):
        ClassTreeClassifier(router=ForestRouter()).fit(X, Y)
    with pytest.raises(PalmetteError, match="is not a rule for several paths per row"):
        ClassTreeClassifier(decoding=pm.decoding.MinExpectedLoss()).fit(X, Y)
    for name, value in (("branching", 1), ("max_iter", 0)):
        with pytest.raises(PalmetteError, match=f"{name}={value}: expected an integer"):
            KMeansTree(leaf_size=2).set_params(**{name: value}).fit(X, Y)


def test_a_model_of_labels_may_be_fitted_again_on_sets(data):
    X, Y = data
    model = ClassTreeClassifier(SMALL, router="linear").fit(X, Y.argmax(axis=1))
    one = model.predict(X)
    model.fit(X, Y)
    assert model.predict(X).shape == (150, 9)
    np.testing.assert_array_equal(model.fit(X, Y.argmax(axis=1)).predict(X), one)
    assert not hasattr(model, "label_tree_")


# ---------------------------------------------------------------------- parts


def test_groups_are_balanced_and_the_same_for_equal_seeds(data):
    X, _ = data
    points = normalize(X)
    part = _balanced_k_means(points, 7, 20, np.random.default_rng(0))
    assert np.bincount(part).max() <= -(-150 // 7)
    again = _balanced_k_means(points.toarray(), 7, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(part, again)
    tree = KMeansTree(4, leaf_size=5).fit(X, np.arange(150) % 40)
    assert max(map(len, tree.tree_.groups[1:])) <= 10
    assert KMeansTree(4, leaf_size=5).fit(X, np.arange(150) % 40).hierarchy_ == tree.hierarchy_


def test_rows_with_many_labels_have_larger_groups(data):
    X, Y = data
    wide = np.hstack([Y] * 6)  # 54 columns, about 11 per row
    sizes = [
        ClassTreeClassifier(router=LinearRouter(C=1.0, tol=0.5)).fit(X, each).hierarchy_learner_
        for each in (Y, wide)
    ]
    assert [tree.leaf_size for tree in sizes] == [100, 300]


def test_columns_are_weighted_by_rarity(data):
    X, _ = data
    weights = np.random.default_rng(0).integers(0, 3, X.shape[0])
    repeated = X[np.repeat(np.arange(150), weights)]
    found = TermScale(True).fit(X, weights.astype(float)).weights_
    np.testing.assert_allclose(found, TermScale(True).fit(repeated).weights_, rtol=1e-12)
    counts = (repeated.toarray() > 0).sum(axis=0)
    expected = np.log((1 + len(repeated.toarray())) / (1 + counts)) + 1
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    lengths = np.linalg.norm(TermScale(True).fit(X).transform(X).toarray(), axis=1)
    np.testing.assert_allclose(lengths[np.diff(X.indptr) > 0], 1.0)


def test_measures_on_held_out_rows_are_the_public_ones():
    rng = np.random.default_rng(0)
    truth = rng.random((40, 8)) < 0.3
    scores = rng.random((40, 8))
    order = np.argsort(-scores, axis=1)
    hits = _are_true(sparse.csr_array(truth), order)
    np.testing.assert_array_equal(hits, np.take_along_axis(truth, order, axis=1))
    found = _ndcg(hits[:, :5], truth.sum(axis=1), np.ones(40))
    has = truth.any(axis=1)
    assert found == pytest.approx(ndcg_at_k(truth[has].astype(int), scores[has], k=5))
    weights = rng.random(320)
    threshold = _best_threshold(
        scores.ravel(), truth.ravel(), weights, float(weights @ truth.ravel())
    )

    def f1(cut):
        chosen = scores.ravel() > cut
        right = weights @ (chosen & truth.ravel())
        return 2 * right / (weights @ chosen + weights @ truth.ravel())

    assert f1(threshold) == pytest.approx(max(f1(cut) for cut in [0, *scores.ravel()]))


def test_along_a_given_hierarchy_settings_are_compared_by_the_area_of_all_nodes(data):
    X, Y = data
    paths = [("a", "x"), ("a", "y"), ("b",), ("b", "z")]  # an inner node is a label, too
    y = [{paths[k] for k in np.flatnonzero(row[:4])} for row in Y]
    model = ClassTreeClassifier(router="linear", decoding="exact").fit(X, y)
    labels = pm.NodeLabels.encode(y, model.hierarchy_)
    truth = sparse.csr_array(labels.closed)[:, model._answers.nodes]
    own = sparse.csr_array(labels.given)[:, model.label_tree_.nodes[model.label_tree_.n_whole :]]
    columns = sparse.csr_array(sparse.hstack([truth, own], format="csr"))
    weights = np.random.default_rng(0).random(150)
    fit = SimpleNamespace(searches=False)
    n_labels = np.diff(columns.indptr)
    found = _measure(model.label_tree_, X, columns, n_labels, weights, fit).score
    # literally: the mean precision at the true nodes, from the most probable one down
    proba = model.label_tree_.proba(X)[:, : model.label_tree_.n_whole].ravel()
    hits, each = truth.toarray().ravel(), np.repeat(weights, truth.shape[1])
    at = [proba >= score for score in proba[hits]]
    precision = [(each * hits)[above].sum() / each[above].sum() for above in at]
    assert found == pytest.approx(np.average(precision, weights=each[hits]), rel=1e-9)
    names = list(model.router_scores_)
    assert names[0].startswith("C=0.3,")


def test_the_exponent_recovers_a_known_one():
    rng = np.random.default_rng(0)
    proba = rng.random(20_000)
    hits = rng.random(20_000) < proba**1.7
    assert _best_exponent(proba, hits, np.ones(20_000)) == pytest.approx(1.7, rel=0.03)


def test_rows_of_length_one_are_compared_without_idf(data):
    X, Y = data
    names = ClassTreeClassifier(SMALL).fit(sparse.csr_array(normalize(X)), Y).router_scores_
    assert names
    assert not any("idf" in name for name in names)
    assert any("idf" in name for name in ClassTreeClassifier(SMALL).fit(X, Y).router_scores_)


def test_labels_with_few_rows_begin_with_more_weight(data):
    X, Y = data
    few = ClassTreeClassifier(SMALL).fit(X[:40], Y[:40])  # at most 8 rows per label
    assert next(iter(few.router_scores_)).startswith("C=3,")
    assert next(iter(ClassTreeClassifier(SMALL).fit(X, Y).router_scores_)).startswith("C=1,")


def test_large_problems_compare_fewer_settings(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr("palmette.class_tree._label_tree._LARGE", 100)
    model = ClassTreeClassifier(SMALL).fit(X, Y)
    assert len(model.router_scores_) <= 4  # with and without idf, a step up and one down


def test_rows_that_were_read_give_the_tree_of_all_rows(data):
    X, Y = data
    for rows in (X, sparse.csr_array(X)):
        for learner in (pm.KMeansTree(2, leaf_size=2), pm.KMeansTree()):
            labels = pm.NodeLabels.encode(Y, flat=True)
            found = clone(learner).fit_read(rows, labels, None)
            wanted = clone(learner).fit(rows, Y)
            assert found.hierarchy_ == wanted.hierarchy_
            assert found.n_features_in_ == wanted.n_features_in_
            model = ClassTreeClassifier(learner).fit(rows, Y)
            assert model.hierarchy_learner_.hierarchy_ == model.hierarchy_
