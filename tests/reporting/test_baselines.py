"""Baselines beside the scores, and the verdict in one sentence."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    DOG,
    FERN,
    KnownAnswers,
    animals,
    numbered,
    random_case,
)

from palmette import metrics
from palmette.reporting import report


def table_model(board=None, model="class-tree", **summary):
    """Return a model that looks like one of `palmette fit`."""
    known, X, y = animals()
    known.summary_ = {"model": model, "leaderboard": board, **summary}
    known.class_paths_ = [CAT, DOG, FERN]
    return known, X, y


def entry(model, f1, folds=3, rows=900):
    return {"model": model, "folds": folds, "rows": rows, "hierarchical_f1": f1, "accuracy": f1 / 2}


def bases(case, **options):
    return report(*case, n_bootstrap=0, **options).facts["baselines"]


def test_the_most_frequent_class_of_training_is_scored_on_these_rows():
    [majority, _] = bases(table_model(class_rows=[2, 9, 1]))
    assert (
        "Always answering animal > dog, the most frequent class of the training"
        in (majority["words"])
    )
    _, _, y = animals()
    dogs = [DOG] * len(y)
    wanted = metrics.hierarchical_f1_score(y, dogs, hierarchy=ANIMALS)
    assert majority["scores"]["hierarchical_f1"] == pytest.approx(wanted)
    assert majority["scores"]["accuracy"] == pytest.approx(2 / 7)
    assert majority["levels"][0] == pytest.approx(5 / 7)


@pytest.mark.parametrize("rows", [None, [1, 2], [1, 2, -3], [1, 2, "3"], {"a": 1}, [1, 2, True]])
def test_otherwise_it_is_that_of_the_rows_of_the_report(rows):
    majority = bases(table_model(class_rows=rows))[0]
    assert "of the rows of this report" in majority["words"]
    assert "animal > cat" in majority["words"]  # the first of two with equally many rows


def test_every_headline_score_has_a_baseline():
    for several in (False, True):
        facts = report(*random_case(0, several=several), n_bootstrap=0).facts
        names = {each["name"] for each in facts["figures"]}
        assert names == set(facts["baselines"][0]["scores"])


def test_the_area_of_constant_scores():
    model, X, y = random_case(3, several=True)
    [majority] = bases((model, X, y))
    counts = np.zeros(model.hierarchy_.n_nodes)
    for labels in y:
        nodes = {int(n) for path in labels for n in model.hierarchy_.index([path])}
        above = model.hierarchy_.closure[sorted(nodes)].toarray().any(axis=0) if nodes else 0
        counts += above
    scores = np.tile(counts / len(y), (len(y), 1))
    wanted = metrics.micro_auprc(y, scores, hierarchy=model.hierarchy_)
    assert majority["scores"]["micro_auprc"] == pytest.approx(wanted)


def test_the_flat_linear_model_comes_from_the_leaderboard_and_says_so():
    board = [entry("class-tree", 0.8), entry("flat-linear", 0.7)]
    flat = bases(table_model(board))[1]
    assert flat["measured"] == "cross-validation"
    assert flat["scores"] == {"hierarchical_f1": 0.7, "accuracy": 0.35}
    assert flat["own"] == {"hierarchical_f1": 0.8, "accuracy": 0.4}
    assert "cross-validated in the fit, on 3 folds with 900 training rows." in flat["words"]


def test_a_flat_linear_model_that_was_tried_with_less_has_no_scores_beside_those_of_more():
    board = [entry("class-tree", 0.8), entry("flat-linear", 0.7, folds=1, rows=300)]
    flat = bases(table_model(board))[1]
    assert (flat["measured"], flat["scores"]) == (None, {})
    assert "on 1 fold with 300 training rows only, and this model on 3 folds" in flat["words"]
    assert "--train" in flat["words"]


@pytest.mark.parametrize("board", [None, [], "nonsense", [entry("flat-linear", 0.0, folds=0)]])
def test_a_flat_linear_model_that_is_unknown_has_no_scores(board):
    flat = bases(table_model(board))[1]
    assert (flat["measured"], flat["scores"]) == (None, {})
    assert "--train" in flat["words"]


def test_a_flat_linear_model_is_not_its_own_baseline():
    assert len(bases(table_model(model="flat-linear"))) == 1


def test_given_baselines_are_measured_on_the_same_rows():
    model, X, y = table_model([entry("flat-linear", 0.7)])
    cats = KnownAnswers(ANIMALS, [CAT] * 7)
    [_, flat] = bases((model, X, y), baselines={"flat linear model": cats})
    assert flat["measured"] == "report"
    assert flat["scores"]["accuracy"] == pytest.approx(2 / 7)
    assert len(flat["scores"]) == 6


# ---------------------------------------------------------------------- the verdict


def verdict_of(case, **options):
    return report(*case, **{"n_bootstrap": 50, **options}).facts["verdict"]


def test_few_rows_are_told_as_they_are():
    words = verdict_of(animals())
    assert words.startswith("Right for 2 of 7 rows (95 % interval ")
    assert "as many as always answering the most frequent class" in words
    assert words.endswith("no rows could be accepted automatically at 95 % precision.")
    assert words.count(".") == 1  # one sentence


def test_many_rows_are_told_of_a_hundred():
    tree = random_case(0)[0].hierarchy_
    leaves = [tree.path(int(leaf)) for leaf in tree.leaves]
    true = [leaves[k % 20] for k in range(1000)]
    proba = tree.closure[[tree.index(label) for label in true]].toarray() * 0.9
    proba[:, 0] = 1
    answers = [label if k % 4 else leaves[0] for k, label in enumerate(true)]
    words = verdict_of((KnownAnswers(tree, answers, proba), numbered(1000), true))
    wrong = sum(a != b for a, b in zip(true, answers, strict=True))
    assert words.startswith(f"Right for {100 - wrong / 10:.0f} of 100 rows (95 % interval ")
    assert f"{100 - wrong / 10 - 5:.0f} more than always answering the most frequent" in words
    assert "of rows could be accepted automatically at 95 % precision" in words


def test_a_baseline_that_is_better_is_told():
    model, X, y = animals()
    words = verdict_of((model, X, y), baselines={"oracle": KnownAnswers(ANIMALS, y)})
    assert "and 5 fewer than the oracle" in words


def test_label_sets():
    words = verdict_of(random_case(0, several=True), precision=0.5)
    assert words.startswith("All labels are right for ")
    assert "hierarchical F1 is 0." in words
    assert "predicted labels could be accepted automatically at 50 % precision" in words
