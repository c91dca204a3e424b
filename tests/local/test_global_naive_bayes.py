"""Global-model naive Bayes beside a literal version, and beside plain naive Bayes on a star."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from palmette import GlobalNaiveBayesClassifier, Hierarchy
from palmette.exceptions import PalmetteError

PATHS = [("a", "x"), ("a", "y"), ("b", "z"), ("b", "z", "u"), ("c",)]
TREE = Hierarchy.from_paths(PATHS)


def make_rows(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(len(PATHS), size=n_rows)
    return rng.normal(size=(n_rows, 3)) + np.eye(5, 3)[codes], [PATHS[code] for code in codes]


def literal_answers(X, y, X_new, usefulness, smoothing):
    """Follow the definition node by node: rows count for a label and for all above it."""
    prefixes = {path[:k] for path in y for k in range(1, len(path) + 1)}
    spread = X.var(axis=0)
    below = {node: sum(other[: len(node)] == node for other in prefixes) for node in prefixes}
    largest = max(np.log2(size) for size in below.values())
    scores = {}
    for node in sorted(prefixes):
        rows = X[[path[: len(node)] == node for path in y]]
        variance = rows.var(axis=0) + smoothing * spread
        density = -0.5 * ((X_new - rows.mean(axis=0)) ** 2 / variance + np.log(variance))
        factor = 1 - usefulness * np.log2(below[node]) / largest
        with np.errstate(divide="ignore"):
            scores[node] = np.log(len(rows)) + density.sum(axis=1) + np.log(factor)
    nodes, table = list(scores), np.array(list(scores.values()))
    return [nodes[best] for best in table.argmax(axis=0)]


@pytest.mark.parametrize("usefulness", [0.0, 0.5, 1.0])
def test_the_definition_node_by_node(usefulness):
    X, y = make_rows()
    new, _ = make_rows(seed=1)
    clf = GlobalNaiveBayesClassifier(TREE, usefulness=usefulness, var_smoothing=0.01).fit(X, y)
    answers = clf.predict(new)
    assert answers == literal_answers(X, y, new, usefulness, 0.01)
    if usefulness == 0:  # inner nodes that no row ends at are answers, too
        assert {("a",), ("b",)} & set(answers)


def test_usefulness_makes_answers_deeper():
    X, y = make_rows()
    depth = [
        np.mean(
            [
                len(path)
                for path in GlobalNaiveBayesClassifier(TREE, usefulness=u).fit(X, y).predict(X)
            ]
        )
        for u in (0.0, 1.0)
    ]
    assert depth[0] < depth[1]


def test_on_a_star_it_is_naive_bayes():
    X, y = make_rows()
    names = np.array(["/".join(path) for path in y])
    star = Hierarchy.star(sorted(set(names)))
    clf = GlobalNaiveBayesClassifier(star, var_smoothing=1e-9).fit(X, names)
    bayes = GaussianNB(var_smoothing=1e-9).fit(X, names)
    assert clf.predict(X).tolist() == bayes.predict(X).tolist()
    np.testing.assert_allclose(clf.predict_proba(X), bayes.predict_proba(X), atol=1e-6)


def test_words_of_a_sparse_matrix():
    X = sparse.csr_array([[2.0, 0, 0], [1, 1, 0], [0, 0, 2], [0, 1, 2]])
    clf = GlobalNaiveBayesClassifier(TREE).fit(X, [("a", "x"), ("a", "y"), ("c",), ("c",)])
    assert clf.predict(X[2:]) == [("c",), ("c",)]
    # of class a, 3 counts of word 0 and 1 of word 1; alpha is .01
    expected = np.log([3.01 / 4.03, 1.01 / 4.03, 0.01 / 4.03])
    column = clf.bayes_.word_coef_[:, [0]].toarray().ravel() + clf.bayes_.word_base_[0]
    np.testing.assert_allclose(column, expected)


def test_other_rules_choose_among_labels():
    X, y = make_rows()
    clf = GlobalNaiveBayesClassifier(TREE, usefulness=0.0, decoding="best_path").fit(X, y)
    labels = [tuple(path) for path in PATHS]
    assert all(path in labels for path in clf.predict(X))
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


def test_usefulness_by_hand():
    """b has three classes and most of all, a too; u, x and y have one: 1 - log2(3) / log2(3)."""
    X, y = make_rows()
    clf = GlobalNaiveBayesClassifier(TREE).fit(X, y)
    found = {
        TREE.path(node): factor
        for node, factor in zip(clf.bayes_.classes_, clf.usefulness_, strict=True)
    }
    middle = 1 - np.log2(2) / np.log2(3)
    assert found == pytest.approx(
        {
            ("a",): 0.0,
            ("b",): 0.0,
            ("c",): 1.0,
            ("a", "x"): 1.0,
            ("a", "y"): 1.0,
            ("b", "z"): middle,
            ("b", "z", "u"): 1.0,
        }
    )
    assert not {("a",), ("b",)} & set(clf.predict(X))


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), "1", None, True, [0.5]])
def test_usefulness_is_checked(value):
    X, y = make_rows(10)
    with pytest.raises(PalmetteError, match="expected a number from 0 to 1"):
        GlobalNaiveBayesClassifier(TREE, usefulness=value).fit(X, y)


@pytest.mark.parametrize("name", ["alpha", "var_smoothing"])
@pytest.mark.parametrize("value", [0, -1.0, float("nan"), "small", None, False])
def test_smoothing_is_checked(name, value):
    X, y = make_rows(10)
    with pytest.raises(PalmetteError, match=f"{name}=.*: expected a positive number"):
        GlobalNaiveBayesClassifier(TREE, **{name: value}).fit(X, y)


def test_an_error_about_texts_names_the_classifier():
    X, y = make_rows(10)
    texts = np.array([["red"] * 3] * 10, dtype=object)
    with pytest.raises(PalmetteError, match="GlobalNaiveBayesClassifier accepts numbers only"):
        GlobalNaiveBayesClassifier(TREE).fit(texts, y)
    clf = GlobalNaiveBayesClassifier(TREE).fit(X, y)
    with pytest.raises(PalmetteError, match="GlobalNaiveBayesClassifier accepts numbers only"):
        clf.predict(texts)
