"""What could be accepted automatically: thresholds chosen on some rows, measured on others."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import KnownAnswers, cells_of, numbered, paths_of, random_case

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting import report
from palmette.reporting._acceptance import (
    Answers,
    accept,
    acceptance_facts,
    answers_of_cells,
    answers_of_paths,
    choose_thresholds,
    unreliable_labels,
    wilson_interval,
)

TREE = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
LEAVES = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def calibrated_case(n_rows, seed=0, flat_leaves=False):
    """Return a model whose probabilities are true, rows, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    leaves = rng.dirichlet(np.full(4, 0.2), n_rows)
    if flat_leaves:  # siblings cannot be told apart
        leaves = np.repeat(leaves.reshape(n_rows, 2, 2).mean(axis=2), 2, axis=1)
        leaves /= leaves.sum(axis=1, keepdims=True)
    true = [LEAVES[rng.choice(4, p=row)] for row in leaves]
    proba = leaves @ TREE.closure[TREE.leaves].toarray()
    answers = [LEAVES[k] for k in leaves.argmax(axis=1)]
    return KnownAnswers(TREE, answers, proba.clip(0, 1)), numbered(n_rows), true


def facts_of(case, precision=0.95, seed=0):
    return acceptance_facts(*paths_of(case), precision=precision, seed=seed)


def one_kind(right):
    """Return complete answers with falling probabilities."""
    rows = np.arange(len(right), dtype=np.int32)
    proba = np.linspace(1, 0.5, len(right))[:, None]
    return Answers(rows, np.zeros_like(rows), proba, np.array(right)[:, None], [(True, 1)])


def slow_threshold(answers, precision):
    """Try every probability, from the highest."""
    best = np.inf
    for threshold in sorted(set(answers.proba[:, 0].tolist()), reverse=True):
        chosen = answers.right[answers.proba[:, 0] >= threshold, 0]
        if (np.count_nonzero(~chosen) + 1) / (len(chosen) + 1) <= 1 - precision + 1e-12:
            best = threshold
    return best


@pytest.mark.parametrize("precision", [0.5, 0.8, 0.95])
def test_thresholds_are_the_lowest_that_hold(precision):
    rng = np.random.default_rng(0)
    for n_rows in (1, 18, 19, 200):
        answers = one_kind(rng.random(n_rows) < np.linspace(1, 0.4, n_rows))
        answers.proba[:] = np.round(answers.proba, 2)  # with ties
        found = choose_thresholds(answers, precision)
        assert found.tolist() == [slow_threshold(answers, precision)]


def test_a_few_rows_never_reach_a_high_precision():
    assert np.isinf(choose_thresholds(one_kind([True] * 18), 0.95)[0])
    assert np.isfinite(choose_thresholds(one_kind([True] * 19), 0.95)[0])


def test_the_measured_precision_is_about_the_one_asked_for():
    measured = [facts_of(calibrated_case(1500, seed), 0.9) for seed in range(4)]
    shares = [each["accepted"]["precision"] for each in measured]
    assert np.mean(shares) == pytest.approx(0.9, abs=0.015)
    assert all(0.3 < each["accepted"]["share"] < 1 for each in measured)
    inside = [each["accepted"]["low"] <= 0.9 <= each["accepted"]["high"] for each in measured]
    assert np.mean(inside) > 0.5


def test_thresholds_chosen_on_noise_accept_nothing_elsewhere():
    """On the rows that choose it, the best of many thresholds looks good; on others it is not."""
    rng = np.random.default_rng(1)
    true = [LEAVES[k] for k in rng.integers(4, size=400)]
    answers = [t if rng.random() < 0.7 else LEAVES[rng.integers(4)] for t in true]
    proba = np.ones((400, TREE.n_nodes)) * rng.random((400, 1))
    found = facts_of((KnownAnswers(TREE, answers, proba), numbered(400), true), 0.9)
    taken = found["accepted"]
    assert taken["share"] < 0.35
    if taken["count"]:
        assert taken["precision"] < 0.9


def test_every_row_is_accepted_in_one_way_or_goes_to_people():
    found = facts_of(calibrated_case(600), 0.8)
    counts = [each["count"] for each in found["answers"]]
    assert sum(counts) + found["people"] == found["count"] == 600
    assert found["accepted"]["count"] == sum(counts)
    whole = [each["count"] for each in found["answers"] if each["complete"]]
    assert found["whole"]["count"] == sum(whole)
    for point in found["points"]:
        assert sum(point[key] for key in ("complete", "coarser", "people")) == pytest.approx(1)
    assert 0.8 in [point["precision"] for point in found["points"]]


def test_coarser_answers_are_taken_where_siblings_look_alike():
    found = facts_of(calibrated_case(1500, flat_leaves=True), 0.9)
    assert found["whole"]["share"] < 0.05
    coarse = found["answers"][-1]
    assert (coarse["complete"], coarse["level"]) == (False, 1)
    assert coarse["share"] > 0.4
    assert coarse["precision"] > 0.87


def test_an_inner_prediction_may_be_accepted_as_a_coarser_answer():
    proba = np.tile([1.0, 0.99, 0.5, 0.49, 0.01, 0.0, 0.01], (60, 1))
    true = [("a", "x"), ("a", "y")] * 30
    model = KnownAnswers(TREE, [("a",)] * 60, proba)
    answers = answers_of_paths(*paths_of((model, numbered(60), true)))
    taken = accept(answers, choose_thresholds(answers, 0.95))
    assert [answers.kinds[k] for k in set(taken.tolist())] == [(False, 1)]


def test_unreliable_labels_do_not_spoil_the_others():
    """One label is right in half of the rows, however confident the model is; the others are."""
    rng = np.random.default_rng(2)
    codes = rng.integers(4, size=800)
    proba = np.zeros((800, TREE.n_nodes))
    proba[np.arange(800), TREE.leaves[codes]] = 0.9 + 0.09 * rng.random(800)
    true = [LEAVES[1 if code == 0 and rng.random() < 0.5 else code] for code in codes]
    case = KnownAnswers(TREE, [LEAVES[code] for code in codes], proba), numbered(800), true
    answers = answers_of_paths(*paths_of(case))
    assert unreliable_labels(answers, 0.95).tolist() == [int(TREE.index(("a", "x")))]
    found = facts_of(case)
    assert found["unreliable"] == [int(TREE.index(("a", "x")))]
    assert found["whole"]["share"] == pytest.approx(np.mean(codes != 0), abs=0.02)
    assert found["whole"]["precision"] == 1.0


def test_predicted_labels_are_accepted_where_rows_have_several():
    case = random_case(0, several=True)
    evaluation, confidence = cells_of(case)
    answers = answers_of_cells(confidence)
    n_predicted = evaluation.pair.pred.specific.sum()
    assert len(answers.row) == n_predicted
    found = acceptance_facts(evaluation, confidence, precision=0.6, seed=0)
    assert (found["of"], found["count"]) == ("labels", n_predicted)


def test_the_interval_of_a_share():
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == pytest.approx(1.0)
    assert np.isnan(wilson_interval(0, 0)).all()


@pytest.mark.parametrize("precision", [0, 1, 95, "high", None])
def test_a_precision_that_is_none(precision):
    with pytest.raises(PalmetteError, match="expected a number between 0 and 1"):
        report(*random_case(0), precision=precision)


def test_without_probabilities_nothing_is_said():
    model = KnownAnswers(TREE, LEAVES)
    facts = report(model, numbered(4), LEAVES, n_bootstrap=0).facts
    assert facts["acceptance"] is None
    assert facts["review"] is None
    assert "accepted" not in facts["verdict"]
