"""Random halves, and the objective of trees."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from palmette.metrics import tree_hsic
from papers.cells import Cells
from papers.mf_tree.methods import Options, methods, plain_trees
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
    for key, (value, relative) in outcome.objectives.items():
        tree = outcome.grown[key].tree
        assert value == tree_hsic(problem.X_train, problem.y_train, tree)
        assert relative == tree_hsic(problem.X_train, problem.y_train, tree, relative=True)
    (table,) = tables_of([outcome])
    assert table.rows[0][1] == "1.000"
    claims = list(judge_objectives([outcome]))
    assert len(claims) == 2
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


@pytest.mark.parametrize(
    ("ours", "verdict"), [((0.6, 0.4), "does not hold"), ((0.8, 0.6), "holds")]
)
def test_means_of_samples_are_compared(outcome_of, tells, ours, verdict):
    outcomes = [
        outcome_of(
            [
                tells("MF-Tree as published", macro_f1=f1),
                tells("RDM", "greedy", macro_f1=0.6),
                tells("RDM", "beam 5", macro_f1=0.9),
                tells("one-vs-rest", macro_f1=0.99),
            ]
        )
        for f1 in ours
    ]
    (claim,) = judge_samples([Samples("toy", outcomes)], ("RDM",))
    mean = sum(ours) / 2
    assert f"macro F1 {mean:.3f} ± 0.141 by MF-Tree as published, 0.600 ± 0.000" in claim.words
    assert claim.words.endswith(f"RDM, greedy: that it has the best F1 {verdict}.")
    assert claim.where == "Table 2, toy, 2 samples"


def test_the_interval_is_that_of_draws():
    """A literal version: F1 of the drawn rows by scikit-learn, quantiles of 200 draws."""
    truth = np.array(list("aabbbcccc"), dtype=object)
    predicted = np.array(list("abbbacccx"), dtype=object)
    draws = np.random.default_rng(0)
    values = []
    for _ in range(200):
        rows = draws.integers(9, size=9)
        labels = np.unique(truth[rows])
        values.append(f1_score(truth[rows], predicted[rows], average="macro", labels=labels))
    assert macro_f1_interval(truth, predicted) == pytest.approx(np.quantile(values, [0.025, 0.975]))
    assert macro_f1_interval(truth, truth) == (1.0, 1.0)
