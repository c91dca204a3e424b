"""Random halves, and the objective of trees."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import tree_hsic
from papers.cells import Cells, Options
from papers.mf_tree.methods import methods, plain_trees
from papers.mf_tree.outcome import find_outcome, macro_f1_interval
from papers.mf_tree.run import reproduce
from papers.mf_tree.samples import Samples, halved, judge_objectives, judge_samples, tables_of

CHOSEN = [each for each in methods() if each.key in ("MF-Tree, binary", "MF-Tree, one-hot router")]


def test_halves_have_all_classes(problem):
    both = np.concatenate([problem.y_train, problem.y_test])
    half = halved(problem, 0)
    names, sizes = np.unique(both, return_counts=True)
    common = names[sizes > 1]
    for part in (half.y_train, half.y_test):
        assert set(part) == set(common)
    assert abs(len(half.y_train) - len(half.y_test)) <= 1
    other = halved(problem, 1)
    assert other.y_train.tolist() != half.y_train.tolist()
    assert halved(problem, 0).y_train.tolist() == half.y_train.tolist()


def test_objectives_are_those_of_the_training_rows(problem):
    outcome = find_outcome(problem, [*CHOSEN, *plain_trees()], Options(), Cells(None, {}))
    trees = {key: grown.tree for key, grown in outcome.grown.items()}
    trees["the given tree"] = problem.hierarchy
    assert outcome.objectives.keys() == trees.keys()
    for key, (value, relative) in outcome.objectives.items():
        tree = trees[key]
        assert value == tree_hsic(problem.X_train, problem.y_train, tree)
        assert relative == tree_hsic(problem.X_train, problem.y_train, tree, relative=True)
    (table,) = tables_of([outcome])
    assert table.rows[0][1] == "1.000"
    claims = list(judge_objectives([outcome]))
    assert len(claims) == 2
    assert not any("the given tree" in claim.words for claim in claims)
    assert all("maximizes it" in claim.words for claim in claims)


def test_samples_are_a_table_of_their_own(problem):
    result = reproduce([problem], chosen=CHOSEN, splits=2)
    (table,) = [each for each in result.tables if "2 samples" in each.title]
    assert {row[0] for row in table.rows} == {
        "MF-Tree, one-hot router",
        "MF-Tree, binary, greedy",
        "MF-Tree, binary, beam 5",
    }
    assert all("±" in str(cell) for row in table.rows for cell in row[1:])


def test_a_dag_keeps_the_best_parents(problem, outcome_of):
    edges = [(0, 1), (0, 2), (0, 9), (1, 3), (1, 4), (1, 5), (2, 5), (2, 6), (9, 7), (9, 8)]
    names = ["root", "g", "h", "p/a", "p/b", "q/c", "q/d", "r/e", "r/f", "k"]
    dag = Hierarchy.from_edges([(names[a], names[b]) for a, b in edges])
    outcome = outcome_of([], {"DRHL": dag})
    trees = [
        Hierarchy.from_edges([(names[a], names[b]) for a, b in edges if (a, b) != dropped])
        for dropped in ((1, 5), (2, 5))
    ]
    one, other = (tree_hsic(problem.X_train, problem.y_train, tree) for tree in trees)
    assert one != pytest.approx(other)
    # q/c is nearer to q/d than to p/a and p/b
    assert outcome.objectives["DRHL, best parents"][0] == pytest.approx(one)


@pytest.mark.parametrize(
    ("ours", "verdict"), [((0.6, 0.4), "does not hold"), ((0.8, 0.6), "holds")]
)
def test_means_of_samples_are_compared(outcome_of, tells, ours, verdict):
    outcomes = [
        outcome_of(
            [
                tells("MF-Tree as published", macro_f1=f1, us=10 * f1),
                tells("RDM as published", macro_f1=0.6, us=6.0),
                tells("RDM", "beam 5", macro_f1=0.9, us=1.0),
                tells("one-vs-rest", macro_f1=0.99, us=1.0),
            ]
        )
        for f1 in ours
    ]
    f1, time = judge_samples([Samples("toy", outcomes)])
    mean = sum(ours) / 2
    assert f"macro F1 {mean:.3f} ± 0.141 by MF-Tree as published, 0.600 ± 0.000" in f1.words
    best = "RDM as published, the best of 1 rivals"
    what = f"that it has the best F1 of the methods as published, {verdict}."
    assert f1.words.endswith(f"{best}: {what}")
    assert f1.where == "Table 2, toy, 2 samples"
    assert f"µs per row {10 * mean:.1f} ± 1.4 by MF-Tree as published, 6.0 ± 0.0" in time.words
    assert time.holds == (mean < 0.6)


def test_the_interval_is_that_of_draws():
    """A literal version: F1 by scikit-learn of rows drawn class by class, around that of all."""
    truth = np.array(list("aabbbcccc"), dtype=object)
    predicted = np.array(list("abbbacccx"), dtype=object)
    draws = np.random.default_rng(0)
    first = np.searchsorted(truth, truth)
    sizes = np.array([np.count_nonzero(truth == name) for name in truth])
    values = []
    for _ in range(200):
        rows = first + draws.integers(sizes)
        assert (truth[rows] == truth).all()
        values.append(f1_score(truth, predicted[rows], average="macro", labels=list("abc")))
    value = f1_score(truth, predicted, average="macro", labels=list("abc"))
    quantiles = np.quantile(values, [0.025, 0.975])
    low, high = quantiles - np.mean(values) + value
    assert macro_f1_interval(truth, predicted) == pytest.approx((low, min(high, 1.0)))
    assert macro_f1_interval(truth, truth) == (1.0, 1.0)


def test_the_interval_contains_the_value():
    """Over many classes of few rows, F1 of draws of all rows is below that of the rows."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(1000), 4)
    predicted = np.where(rng.random(4000) < 0.6, truth, rng.permutation(truth))
    value = f1_score(truth, predicted, average="macro")
    low, high = macro_f1_interval(truth, predicted)
    assert low < value < high
    assert high - value == pytest.approx(value - low, rel=0.5)
    plain = []
    for _ in range(40):
        rows = rng.integers(4000, size=4000)
        labels = np.unique(truth[rows])
        plain.append(f1_score(truth[rows], predicted[rows], average="macro", labels=labels))
    assert value > np.quantile(plain, 0.975)
