"""Several parents and several paths per row: tasks by hand, the written objective, all scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from tests.feature_selection.literal_hirr import centring, standardized

from palmette import Hierarchy, LocalPerNodeClassifier, LocalPerParentClassifier, NodeLabels
from palmette.exceptions import PalmetteError
from palmette.feature_selection import HierarchicalFeatureSelector
from palmette.feature_selection._base import ScoringProblem
from palmette.feature_selection._hirr import HirrScore
from palmette.feature_selection._univariate import FisherScore

# "ab" is below "a" and "b", and has two children; "c" has one
EDGES = "r-a r-b r-c a-x a-ab b-y b-ab ab-p ab-q c-z"
DAG = Hierarchy.from_edges([edge.split("-") for edge in EDGES.split()])
TREE = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")])
SCORES = ["fisher", "fsnm", "mrmr", "hirr", "f_classif"]


def rows_in_dag(n_rows: int = 60, seed: int = 0) -> tuple[np.ndarray, list[set[str]]]:
    """Return rows whose feature k tells label k; every fourth row has two labels."""
    rng = np.random.default_rng(seed)
    names = ["x", "y", "p", "q", "z"]
    codes = rng.permutation(np.arange(n_rows) % len(names))
    X = rng.normal(size=(n_rows, 8))
    sets = []
    for i, code in enumerate(codes):
        own = {names[code]} if i % 4 else {names[code], names[(code + 1) % 5]}
        for name in own:
            X[i, names.index(name)] += 4.0
        sets.append(own)
    return X, sets


def posed(labels, hierarchy, X=None, **options) -> ScoringProblem:
    true = NodeLabels.encode(labels, hierarchy).closed
    X = np.zeros((true.shape[0], 2)) if X is None else X
    return ScoringProblem(X, hierarchy, true, **options)


# ---------------------------------------------------------------------- tasks


def test_tasks_of_a_dag_by_hand():
    rows = posed([{"p"}, {"x"}, {"b"}, {"q", "z"}, set()], DAG)
    found = {str(DAG.names[task.node]): task for task in rows.tasks()}
    assert list(found) == ["r", "a", "b", "ab"]  # "c" has one child
    names = {key: DAG.names[task.options].tolist() for key, task in found.items()}
    assert names["r"] == ["a", "b", "c"]
    assert sorted(names["b"]) == ["ab", "b"]  # no row has "y", and one ends at "b"
    pairs = {
        key: sorted(zip(task.rows.tolist(), [names[key][c] for c in task.codes], strict=True))
        for key, task in found.items()
    }
    # a row below "ab" is below "a" and "b", and counts for both; the last one has no label
    assert pairs["r"] == [(0, "a"), (0, "b"), (1, "a"), (2, "b"), (3, "a"), (3, "b"), (3, "c")]
    assert pairs["a"] == [(0, "ab"), (1, "x"), (3, "ab")]
    assert pairs["b"] == [(0, "ab"), (2, "b"), (3, "ab")]
    assert pairs["ab"] == [(0, "p"), (3, "q")]
    above = dict(zip(found, rows.above, strict=True))
    assert above == {"r": [], "a": [0], "b": [0], "ab": [1, 2]}


def test_questions_of_a_dag_by_hand():
    rows = posed([{"p"}, {"x"}, {"b"}, {"q", "z"}, set()], DAG, yes_no=True)
    found = {
        str(DAG.names[task.node]): (
            task.rows.tolist(),
            DAG.names[task.options].tolist(),
            task.answers.toarray().astype(int).tolist(),
        )
        for task in rows.tasks()
    }
    assert found["r"][0] == [0, 1, 2, 3, 4]  # no is the answer for a row without labels
    assert found["r"][2] == [[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]]
    assert found["b"] == ([0, 2, 3], ["ab"], [[1], [0], [1]])
    assert found["ab"] == ([0, 3], ["p", "q"], [[1, 0], [0, 1]])
    assert "c" not in found  # all rows of "c" are below "z"


def test_parents_without_a_task_are_skipped():
    edges = "r-a r-b a-only only-s b-s b-t s-p s-q"
    chain = Hierarchy.from_edges([edge.split("-") for edge in edges.split()])
    rows = posed([{"p"}, {"q"}, {"t"}, {"a"}], chain)
    names = chain.names[rows.nodes].tolist()
    above = {name: [names[t] for t in own] for name, own in zip(names, rows.above, strict=True)}
    assert sorted(above["s"]) == ["a", "b"]  # "only" has one option


# ---------------------------------------------------------------------- HiRR-FS


def literal_objective(rows, Ws, lams, alpha, beta, standardize):
    """Equation 20 with a distance to every parent, and siblings that share any of them."""
    d, value = Ws[0].shape[1], 0.0
    H = centring(len(Ws[0]))
    for t, task in enumerate(rows.tasks()):
        X, Y = rows.X[task.rows], np.zeros((len(task.rows), d))
        if task.answers is None:
            Y[np.arange(len(Y)), task.codes] = 1
        else:
            Y[:, : task.n_options] = task.answers.toarray()
        if standardize:
            X, Y = standardized(X), Y - Y.mean(axis=0)
        value += np.sum((X @ Ws[t] - Y) ** 2) + lams[t] * np.linalg.norm(Ws[t], axis=1).sum()
        for parent in rows.above[t]:
            value += alpha * np.sum((Ws[t] - Ws[parent]) ** 2)
        for s in range(len(Ws)):
            if s != t and set(rows.above[s]) & set(rows.above[t]):
                value += beta * np.trace(Ws[t] @ Ws[t].T @ H @ Ws[s] @ Ws[s].T @ H)
    return value


@pytest.mark.parametrize(("yes_no", "standardize"), [(False, True), (True, False)])
@pytest.mark.parametrize("ties", [(0.0, 0.0), (3.0, 0.0), (3.0, 2.0)])
def test_both_solvers_minimize_the_written_objective(yes_no, standardize, ties):
    X, sets = rows_in_dag()
    rows = posed(sets, DAG, X, yes_no=yes_no)
    common = {"relative": "lam", "parent": ties[0], "sibling": ties[1], "standardize": standardize}
    values = []
    for settings in ({"solver": "bcd", "tol": 1e-9}, {"solver": "irls", "max_iter": 80}):
        score = HirrScore(0.1, **common, **settings)
        hirr, _ = score.pose(rows)
        solution = score.solve(hirr)
        assert np.all(np.diff(solution.objective) <= 1e-9 * solution.objective[0])
        Ws = [weights.toarray(X.shape[1]) for weights in solution.weights]
        width = max(W.shape[1] for W in Ws)
        Ws = [np.pad(W, ((0, 0), (0, width - W.shape[1]))) for W in Ws]
        values.append(literal_objective(rows, Ws, hirr.lam, *ties, standardize))
        assert solution.objective[-1] == pytest.approx(values[-1], rel=1e-9)
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_a_node_is_drawn_to_all_of_its_parents():
    X, sets = rows_in_dag()
    rows = posed(sets, DAG, X)
    weights = []
    for strength in (0.0, 50.0):
        score = HirrScore(0.1, relative="lam", parent=strength, tol=1e-5)
        hirr, _ = score.pose(rows)
        weights.append([each.toarray(X.shape[1]) for each in score.solve(hirr).weights])
    assert hirr.neighbours(3) == [1, 2]  # "ab": "a" and "b"
    assert hirr.neighbours(1) == [0, 3]
    assert hirr.siblings(1) == [2]
    assert hirr.siblings(3) == []
    for parent in (1, 2):
        np.testing.assert_allclose(weights[1][3], weights[1][parent], atol=0.1)
        assert not np.allclose(weights[0][3], weights[0][parent], atol=0.05)


def test_one_path_as_questions_is_the_same_regression():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.choice(["x", "y", "z", "w"], 40)
    one, other = (
        HierarchicalFeatureSelector("hirr", hierarchy=TREE, several=several).fit(X, y)
        for several in ("copies", "yes_no")
    )
    np.testing.assert_allclose(other.node_scores_.toarray(), one.node_scores_.toarray(), atol=1e-6)


def test_the_logistic_loss_takes_questions():
    X, sets = rows_in_dag()
    score = HirrScore(0.1, loss="logistic", standardize=True)
    selector = HierarchicalFeatureSelector(
        score, hierarchy=DAG, n_features_to_select=2, several="yes_no"
    ).fit(X, sets)
    assert selector.get_support("ab", indices=True).tolist() == [2, 3]


# ---------------------------------------------------------------------- the selector


@pytest.mark.parametrize("several", ["copies", "yes_no"])
@pytest.mark.parametrize("score", SCORES)
def test_every_score_takes_dags_and_sets(score, several):
    X, sets = rows_in_dag()
    settings = {"hierarchy": DAG, "n_features_to_select": 2, "several": several}
    selector = HierarchicalFeatureSelector(score, **settings).fit(X, sets)
    assert selector.hierarchy_ == DAG
    assert selector.get_support("ab", indices=True).tolist() == [2, 3]
    assert selector.skipped_nodes_.tolist() == [DAG.index("c")]
    single = [min(own) for own in sets]  # one label per row in a DAG
    assert HierarchicalFeatureSelector(score, **settings).fit(X, single).get_support("ab").any()
    thin = HierarchicalFeatureSelector(score, **settings).fit(sparse.csr_array(X), sets)
    assert (thin.node_supports_ != selector.node_supports_).nnz == 0


@pytest.mark.parametrize("several", ["copies", "yes_no"])
@pytest.mark.parametrize("score", ["fisher", "hirr"])
def test_weights_are_copies_in_a_dag(score, several):
    X, sets = rows_in_dag()
    weights = np.arange(len(X)) % 3
    copies = np.repeat(np.arange(len(X)), weights)
    selector = HierarchicalFeatureSelector(score, hierarchy=DAG, several=several)
    weighted = selector.fit(X, sets, sample_weight=weights).node_scores_.toarray()
    repeated = selector.fit(X[copies], [sets[i] for i in copies]).node_scores_.toarray()
    np.testing.assert_allclose(weighted, repeated, atol=1e-5)


def test_questions_are_scored_one_by_one():
    X, sets = rows_in_dag()
    rows = posed(sets, DAG, X, yes_no=True)
    for task, found in zip(rows.tasks(), FisherScore().score(rows).rows(), strict=True):
        by_hand = []
        for answers in task.answers.toarray().T:
            own = X[task.rows]
            means = [own[answers == side].mean(axis=0) for side in (False, True)]
            counts = [np.sum(answers == side) for side in (False, True)]
            within = sum(n * own[answers == s].var(axis=0) for s, n in enumerate(counts))
            apart = [(mean - own.mean(axis=0)) ** 2 for mean in means]
            between = sum(n * each for n, each in zip(counts, apart, strict=True))
            by_hand.append(between / within)
        np.testing.assert_allclose(found, np.mean(by_hand, axis=0))


@pytest.mark.parametrize("make", [LocalPerNodeClassifier, LocalPerParentClassifier])
@pytest.mark.parametrize("several", ["copies", "yes_no"])
def test_local_classifiers_take_it_in_a_dag(make, several):
    X, sets = rows_in_dag()
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=4, several=several)
    clf = make(LogisticRegression(), hierarchy=DAG, feature_selector=selector).fit(X, sets)
    assert clf.feature_selector_.hierarchy_ == DAG
    assert len(clf.predict(X)) == len(X)


def test_an_unknown_reading_is_named():
    X, sets = rows_in_dag()
    with pytest.raises(PalmetteError, match="several='once' is unknown"):
        HierarchicalFeatureSelector(hierarchy=DAG, several="once").fit(X, sets)
