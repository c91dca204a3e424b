"""Label trees and a hierarchy of labels: answers that are closed, and inner nodes as labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

import palmette as pm
from palmette.class_tree import ClassTreeClassifier, ClassTreeEnsemble, KMeansTree, MFTree
from palmette.exceptions import HierarchyError
from palmette.persistence import load, save
from palmette.routing import LinearRouter

DAG = pm.Hierarchy.from_edges(
    [
        *[("root", "a"), ("root", "b"), ("root", "c"), ("a", "x"), ("a", "y"), ("b", "z")],
        *[("b", "y"), ("c", "d"), ("d", "e"), ("x", "w")],
    ]
)
NAMES = [str(name) for name in DAG.names[1:]]
INNER = ["a", "b", "d", "x"]  # labels of some rows, with children that have rows
EXACT = LinearRouter(C=1.0, tol=1e-8, max_iter=10_000)
SMALL = KMeansTree(2, leaf_size=2)


def corpus(n_rows=160, seed=0):
    """Rows of words: every node has two; rows list inner nodes, too, but never c."""
    rng = np.random.default_rng(seed)
    listed = [name for name in NAMES if name != "c"]
    y = [set(rng.choice(listed, rng.integers(0, 3), replace=False).tolist()) for _ in range(n_rows)]
    counts = rng.poisson(0.1, (n_rows, 2 * len(NAMES)))
    for row, labels in enumerate(y):
        for label in labels:
            place = 2 * NAMES.index(label)
            counts[row, place : place + 2] += rng.poisson(1.5, 2)
    return sparse.csr_array(counts.astype(float)), y


@pytest.fixture(scope="module")
def data():
    return corpus()


@pytest.fixture(scope="module")
def closed(data):
    X, y = data
    return ClassTreeClassifier(SMALL, router=EXACT, closure=DAG).fit(X, y)


@pytest.fixture(scope="module")
def given(data):
    X, y = data
    return ClassTreeClassifier(DAG, router=EXACT).fit(X, y)


def below(name):
    """A node and everything below it."""
    found = {name}
    for child in DAG.names[DAG.children(name)]:
        found |= below(child)
    return found


def test_a_closure_changes_no_label_and_adds_any_of_those_below(data, closed):
    X, y = data
    plain = ClassTreeClassifier(SMALL, router=EXACT).fit(X, y)
    own = dict(zip(plain.classes_, plain.predict_proba(X).T, strict=True))
    assert closed.classes_.tolist() == plain.classes_.tolist()
    assert closed.hierarchy_ == DAG
    nodes = closed.predict_node_proba(X)
    for name in NAMES:
        none = np.ones(len(y))
        for each in below(name) & set(own):
            none = none * (1.0 - own[each])
        np.testing.assert_allclose(nodes[:, DAG.index(name)], 1.0 - none, atol=1e-12)
    for parent, child in DAG.names[DAG.edges].tolist():
        assert (nodes[:, DAG.index(child)] <= nodes[:, DAG.index(parent)]).all()
    assert closed.threshold_ == pytest.approx(plain.threshold_)
    assert closed.exponent_ == pytest.approx(plain.exponent_)


@pytest.mark.parametrize("decoding", ["beam", "exact"])
def test_predictions_are_closed_sets(data, decoding):
    X, y = data
    plain = ClassTreeClassifier(SMALL, router=EXACT, decoding=decoding).fit(X, y).predict(X)
    closed = ClassTreeClassifier(SMALL, router=EXACT, decoding=decoding, closure=DAG).fit(X, y)
    sets = closed.predict_node_sets(X).toarray()
    for row, labels in enumerate(plain):
        expected = {name for name in NAMES if below(name) & labels}
        assert set(DAG.names[np.flatnonzero(sets[row])[1:]]) == expected
    # in the form of y, which does not list ancestors: the labels themselves, as without a closure
    assert list(closed.predict(X)) == list(plain)


@pytest.mark.parametrize("decoding", ["beam", "exact", 0.5])
def test_closed_labels_are_ranked_as_without_a_closure(data, closed, decoding):
    X, y = data
    plain = ClassTreeClassifier(SMALL, router=EXACT, decoding=decoding).fit(X, y)
    model = ClassTreeClassifier(SMALL, router=EXACT, decoding=decoding, closure=DAG).fit(X, y)
    column = {name: k for k, name in enumerate(plain.classes_)}
    own = plain.predict_proba(X)
    for k in (1, 4, 100):
        (labels, proba), (_, expected) = (each.predict_top_k(X, k) for each in (model, plain))
        np.testing.assert_allclose(proba, expected, rtol=1e-12)
        for row, each, values in zip(own, labels, proba, strict=True):
            np.testing.assert_allclose(values, row[[column[name] for name in each]], rtol=1e-12)
    assert {len(each) for each in labels} == {len(plain.classes_)}


def test_a_closed_matrix_has_closed_answers(data, closed):
    X, y = data
    flags = np.array([[bool(below(name) & labels) for name in NAMES] for labels in y]).astype(int)
    model = ClassTreeClassifier(SMALL, router=EXACT, closure=DAG).fit(X, flags)
    found = model.predict(X)
    assert found.shape == flags.shape
    assert (found == flags).mean() > 0.9
    columns = {name: k for k, name in enumerate(NAMES)}
    for child, parent in ((c, p) for p in NAMES for c in DAG.names[DAG.children(p)]):
        assert (found[:, columns[child]] <= found[:, columns[parent]]).all()


def literal_own(X, y):
    """Probabilities of nodes and of the very labels, by one classifier after the other."""
    true = {name: np.array([bool(below(name) & labels) for labels in y]) for name in NAMES}
    whole = {"root": np.ones(X.shape[0])}
    here = {"root": np.ones(X.shape[0], bool), **true}
    own = {}

    def link(reached, target):
        if target[reached].all():
            return np.ones(len(target))
        svm = LinearSVC(C=1.0, tol=1e-10, max_iter=100_000, intercept_scaling=1.0)
        svm.fit(X[reached], target[reached])
        margin = X @ svm.coef_[0] + svm.intercept_[0]
        return np.exp(-(np.maximum(0, 1 - margin) ** 2))

    for name in [str(each) for each in DAG.names[1:]]:  # parents first
        parents = [str(DAG.names[p]) for p in np.atleast_1d(DAG.parents_of(name))]
        rarest = min(parents, key=lambda p: (here[p].sum(), DAG.index(p) if p != "root" else 0))
        whole[name] = whole[rarest] * link(here[rarest], true[name])
        own[name] = whole[name]
        if name in INNER:
            very = np.array([name in labels for labels in y])
            own[name] = whole[name] * link(here[name], very)
    return whole, own


def test_inner_nodes_are_ranked_by_classifiers_of_the_very_label(data):
    X, y = data
    settings = {"router": EXACT, "decoding": 0.5, "calibration": 1.0}
    model = ClassTreeClassifier(DAG, **settings).fit(X, y)
    tree = model.label_tree_
    assert sorted(DAG.names[tree.nodes[tree.n_whole :]]) == INNER
    whole, own = literal_own(X, y)
    labels, proba = model.predict_top_k(X, len(model.classes_))
    for i, (each, values) in enumerate(zip(labels, proba, strict=True)):
        np.testing.assert_allclose(values, [own[name][i] for name in each], atol=2e-4)
    found = model.predict_node_proba(X)
    for name in NAMES:
        expected = np.max([whole[each] for each in below(name)], axis=0)
        np.testing.assert_allclose(found[:, DAG.index(name)], expected, atol=2e-4)


def test_ancestors_no_longer_come_first(data, given):
    X, y = data
    true = [labels for labels in y if labels]
    rows = np.flatnonzero([bool(labels) for labels in y])
    best = given.predict_top_k(X[rows], 2)[0]
    order = np.argsort(-given.predict_proba(X[rows]), axis=1)[:, :2]
    by_node = [given.classes_[row].tolist() for row in order]
    first = pm.metrics.precision_at_k(true, best, k=1)
    assert first > 0.85
    assert first > pm.metrics.precision_at_k(true, by_node, k=1) + 0.2


def test_labels_that_list_their_ancestors_need_no_further_classifiers(data):
    X, y = data
    listed = [{name for name in NAMES if below(name) & labels} for labels in y]
    model = ClassTreeClassifier(DAG, router=EXACT).fit(X, listed)
    assert model.label_tree_.nodes is None
    _, proba = model.predict_top_k(X, 3)
    np.testing.assert_allclose(proba, -np.sort(-model.predict_proba(X), axis=1)[:, :3])


def test_trees_of_an_ensemble_have_the_mean_of_whole_nodes(data):
    X, y = data
    model = ClassTreeEnsemble(DAG, n_trees=2, router=EXACT, random_state=0).fit(X, y)
    nodes = [each.predict_node_proba(X) for each in model.estimators_]
    np.testing.assert_allclose(model.predict_node_proba(X), np.mean(nodes, axis=0))
    assert model.predict_top_k(X, 2)[1].shape == (len(y), 2)


@pytest.mark.parametrize("which", ["closed", "given"])
def test_models_are_the_same_after_reading(which, data, request, tmp_path):
    X, _ = data
    model = request.getfixturevalue(which)
    save(model, tmp_path / "m.palmette")
    again = load(tmp_path / "m.palmette")
    assert np.array_equal(again.predict_node_proba(X), model.predict_node_proba(X))
    assert np.array_equal(again.predict_top_k(X, 4)[1], model.predict_top_k(X, 4)[1])
    assert again.label_tree_.check_arrays() is None
    again.label_tree_.nodes[-1] = again.label_tree_.nodes[-2]
    with pytest.raises(ValueError, match="a node has two columns"):
        again.label_tree_.check_arrays()
    again.label_tree_.nodes = model.label_tree_.nodes + 100
    with pytest.raises(ValueError, match="not a node of the model"):
        again.check_arrays()


def test_chunks_and_threads_change_nothing(data, closed, given):
    X, y = data
    for model in (closed, given):
        whole = model.predict_top_k(X, 3)[1]
        parts = [model.predict_top_k(X[[i]], 3)[1] for i in range(5)]
        assert np.array_equal(np.concatenate(parts), whole[:5])
    several = ClassTreeClassifier(SMALL, router=EXACT, closure=DAG, n_jobs=3).fit(X, y)
    assert np.array_equal(several.predict_node_proba(X), closed.predict_node_proba(X))


def test_with_one_path_per_row_a_closure_is_the_tree(data):
    X, _ = data
    tree = pm.Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
    y = np.resize(["x", "y", "z"], X.shape[0])
    closed, plain = (ClassTreeClassifier(**each) for each in ({"closure": tree}, {"tree": tree}))
    settings = {"router": EXACT}
    found = closed.set_params(**settings).fit(X, y).predict_node_proba(X)
    assert np.array_equal(found, plain.set_params(**settings).fit(X, y).predict_node_proba(X))


def test_wrong_closures_are_refused(data):
    X, y = data
    with pytest.raises(HierarchyError, match="closure is a dict: expected a"):
        ClassTreeClassifier(closure={}).fit(X, y)
    with pytest.raises(HierarchyError, match="both tree and closure are hierarchies"):
        ClassTreeClassifier(DAG, closure=DAG).fit(X, y)
    with pytest.raises(HierarchyError, match="'unknown'"):
        ClassTreeClassifier(closure=DAG).fit(X[:2], [{"a"}, {"unknown"}])
    tree = ClassTreeClassifier(MFTree(), closure=DAG).fit(X, y)
    assert isinstance(tree.hierarchy_learner_, MFTree)


def test_a_label_is_predicted_beside_one_below_it(data, closed, given):
    X, y = data
    inner = [(name, each) for name in INNER for each in below(name) - {name}]
    assert any({name, each} <= labels for labels in y for name, each in inner)
    for model in (closed, given):
        written = model.predict(X)
        assert any({name, each} <= labels for labels in written for name, each in inner)
        assert any(
            each in labels and name not in labels for labels in written for name, each in inner
        )
        nodes = model.predict_node_sets(X).toarray()  # closed in any case
        for row, labels in zip(nodes, written, strict=True):
            above = DAG.closure[[0, *map(DAG.index, labels)]].toarray().any(axis=0)
            assert np.array_equal(row, above)
