"""The columns of the class tree."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    KnownAnswers,
    animals,
    numbered,
    random_case,
)

from palmette import metrics
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting._calibration import node_facts
from palmette.reporting._confidence import read_cell_confidence, read_path_confidence
from palmette.reporting._evaluation import evaluate


def test_the_animals_by_hand():
    model, X, y = animals()
    evaluation = evaluate(model, X, y)
    found = node_facts(evaluation, read_path_confidence(model.predict_node_proba, X, evaluation))
    assert found["name"] == ["root", "animal", "cat", "dog", "plant", "oak", "fern"]
    assert found["parent"] == [-1, 0, 1, 1, 0, 4, 4]
    assert found["support"] == [7, 5, 2, 2, 2, 1, 1]
    assert found["predicted"] == [7, 4, 3, 1, 3, 1, 1]
    assert found["correct"] == [7, 4, 1, 0, 2, 0, 1]
    assert found["precision"][4] == pytest.approx(2 / 3, abs=1e-5)
    assert found["recall"][1] == 0.8
    assert found["f1"][3] == 0.0
    # cat is predicted in rows 0, 4 and 6
    assert found["confidence"][2] == pytest.approx((0.8 + 0.6 + 0.5) / 3, abs=1e-5)
    assert found["confidence"][0] == 1.0
    assert found["unseen"] == []


@pytest.mark.parametrize("several", [False, True])
def test_columns_are_the_counts_of_the_metrics(several):
    model, X, y = random_case(3, several=several)
    counts = metrics.node_counts(y, model.predict(X), hierarchy=model.hierarchy_)
    found = node_facts(evaluate(model, X, y), None)
    assert found["support"] == counts.support.tolist()
    assert found["predicted"] == (counts.tp + counts.fp).tolist()
    assert found["correct"] == counts.tp.tolist()
    f1 = metrics.hierarchical_f1_score(
        y, model.predict(X), hierarchy=model.hierarchy_, average=None, zero_division=np.nan
    )
    np.testing.assert_allclose(np.array(found["f1"][1:], dtype=float), f1, atol=1e-5)
    assert set(found["confidence"]) == {None}


def test_mean_confidence_of_several_paths():
    model, X, y = random_case(4, several=True)
    evaluation = evaluate(model, X, y)
    cells = read_cell_confidence(model.predict_node_proba, X, evaluation)
    found = node_facts(evaluation, cells)["confidence"]
    given = evaluation.pair.pred.closed.toarray()
    proba = model.predict_node_proba(X)
    wanted = [proba[given[:, node], node].mean() for node in range(1, given.shape[1])]
    np.testing.assert_allclose(found[1:], wanted, atol=1e-5)


def test_nodes_of_a_dag_name_their_other_parents():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    found = node_facts(evaluate(KnownAnswers(dag, ["c"]), numbered(1), ["c"]), None)
    place = found["name"].index("c")
    both = {found["parent"][place], *found["more_parents"][place]}
    assert {found["name"][node] for node in both} == {"a", "b"}


def test_unseen_nodes_are_named():
    model = KnownAnswers(ANIMALS, [CAT])
    found = node_facts(evaluate(model, numbered(1), [("animal", "wolf")]), None)
    assert [found["name"][node] for node in found["unseen"]] == ["wolf"]
