"""Labels by number of rows, and the rows to review first."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    DOG,
    FERN,
    OAK,
    KnownAnswers,
    animals,
    cells_of,
    numbered,
    paths_of,
    random_case,
)

from palmette.reporting import report
from palmette.reporting._classes import class_facts, count_labels, training_rows
from palmette.reporting._errors import find_suspects
from palmette.reporting._evaluation import evaluate

# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize("several", [False, True])
def test_labels_are_counted_once(several):
    model, X, y = random_case(0, several=several)
    evaluation = evaluate(model, X, y)
    counts = count_labels(evaluation)
    answers = model.predict(X)
    for node in range(1, model.hierarchy_.n_nodes):
        path = model.hierarchy_.path(node)
        true, pred = ([specific(row, path, several) for row in rows] for rows in (y, answers))
        assert counts.true[node] == sum(true)
        assert counts.predicted[node] == sum(pred)
        assert counts.right[node] == np.count_nonzero(np.logical_and(true, pred))


def specific(row, path, several):
    """Whether a path is a label of a row, and not an ancestor of another label."""
    if not several:
        return row == path
    return path in row and not any(o[: len(path)] == path and o != path for o in row)


def test_groups_hold_every_label_and_row():
    evaluation = evaluate(*random_case(0))
    found = class_facts(evaluation, None)
    assert found["source"] == "report"
    assert sum(each["labels"] for each in found["groups"]) == found["labels"] == len(found["node"])
    assert sum(each["rows"] for each in found["groups"]) == found["total"] == 200
    right = sum(each["right"] for each in found["groups"])
    assert right == np.count_nonzero(evaluation.is_right)
    assert found["rows"] == sorted(found["rows"], reverse=True)
    assert sum(found["rows"][: found["half"]]) >= 100 > sum(found["rows"][: found["half"] - 1])


def test_training_rows_of_a_table_model_reach_the_nodes():
    model, X, y = animals()
    model.summary_ = {"class_rows": [30, 4, 1, 7]}
    model.class_paths_ = [CAT, DOG, OAK, FERN]
    evaluation = evaluate(model, X, [*y[:-1], ("animal", "wolf")])  # one label is unseen
    rows = training_rows(model, evaluation)
    found = class_facts(evaluation, rows)
    names = [evaluation.hierarchy.names[node] for node in found["node"]]
    assert dict(zip(names, found["train"], strict=True)) == {
        "cat": 30, "fern": 7, "dog": 4, "oak": 1, "wolf": 0, "plant": 0,
    }  # fmt: skip
    assert found["total"] == 42
    facts = report(model, X, y, n_bootstrap=0).facts
    assert facts["nodes"]["train"] == [42, 34, 30, 4, 8, 1, 7]
    assert "class_rows" not in facts["setting"]["fitted"]


def test_nodes_are_counted_without_the_root_and_without_unseen_ones():
    model, X, y = animals()
    facts = report(model, X, [*y[:-1], ("animal", "wolf")], n_bootstrap=0).facts
    assert facts["setting"]["hierarchy"]["nodes"] == 6
    assert [each["nodes"] for each in facts["levels"]] == [2, 4]
    assert facts["setting"]["data"]["rows_with_unseen_labels"] == 1


# ---------------------------------------------------------------------- rows to review


def test_expected_distances_are_those_of_drawn_truths():
    """The measure equals the mean distance to labels that are drawn from the probabilities."""
    case = random_case(1, n_rows=12)
    evaluation, confidence = paths_of(case)
    h = evaluation.hierarchy
    true, predicted = evaluation.pair.nodes
    leaves = case[0].predict_node_proba(case[1])[:, h.leaves]
    for row in range(12):
        to_leaf = [
            leaves[row] @ [h.distance(int(node), int(leaf)) for leaf in h.leaves]
            for node in (true[row], predicted[row])
        ]
        assert confidence.doubt[row] == pytest.approx(to_leaf[1])
        assert confidence.excess[row] == pytest.approx(to_leaf[0] - to_leaf[1])


def test_a_far_label_ranks_above_a_sibling_and_a_sure_answer_above_an_unsure_one():
    sure, unsure = [1, 0.95, 0.95, 0, 0.05, 0.05, 0], [1, 0.7, 0.6, 0.1, 0.3, 0.2, 0.1]
    true = [DOG, FERN, FERN, DOG, CAT, ("animal", "wolf")]
    model = KnownAnswers(ANIMALS, [CAT] * 6, [sure, sure, unsure, unsure, sure, sure])
    evaluation, confidence = paths_of((model, numbered(6), true))
    # far and sure, sibling and sure, far and unsure; the sibling that is not sure is no suspect
    assert find_suspects(evaluation, confidence).tolist()[:3] == [1, 0, 2]
    assert set(find_suspects(evaluation, confidence)) <= {0, 1, 2, 3}  # 4 is right, 5 is unseen


def test_suspects_are_wrong_rows_of_the_report():
    facts = report(*random_case(0), n_bootstrap=0).facts
    suspects = facts["review"]["suspects"]
    assert suspects
    excess = [each["excess"] for each in suspects]
    assert excess == sorted(excess, reverse=True)
    for each in suspects:
        example = facts["examples"][each["example"]]
        assert example["true"] != example["predicted"]
    unsure = facts["review"]["unsure"]
    assert {each["right"] for each in unsure} == {True, False}


def test_label_sets_have_suspects_too():
    evaluation, confidence = cells_of(random_case(0, several=True))
    found = find_suspects(evaluation, confidence)
    assert len(found)
    assert not evaluation.is_right[found].any()


def test_all_wrong_rows_are_listed():
    facts = report(*random_case(0), n_bootstrap=0).facts
    rows = [example["row"] for example in facts["examples"]]
    assert len(rows) == len(set(rows)) == facts["errors"]["wrong"]
