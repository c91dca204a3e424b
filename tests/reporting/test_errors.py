"""Every wrong row is counted once in every breakdown of the errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    DOG,
    OAK,
    KnownAnswers,
    animals,
    numbered,
    random_case,
)

from palmette import metrics
from palmette.reporting._errors import error_facts, find_divergences
from palmette.reporting._evaluation import evaluate


def facts_of(case):
    evaluation = evaluate(*case)
    return evaluation, error_facts(evaluation, find_divergences(evaluation))


def test_the_animals_by_hand():
    evaluation, found = facts_of(animals())
    names = evaluation.hierarchy.path_strings
    assert (found["rows"], found["right"], found["wrong"]) == (7, 2, 5)
    assert found["kinds"] == {"right": 2, "short": 1, "beyond": 1, "other_branch": 3}
    assert found["by_level"] == [{"level": 1, "rows": 1}, {"level": 2, "rows": 4}]
    by_node = {names[node]: place for place, node in enumerate(found["by_node"]["node"])}
    assert {name: found["by_node"]["rows"][place] for name, place in by_node.items()} == {
        "animal": 3,  # two siblings and one that went on
        "root": 1,
        "plant": 1,
    }
    place = by_node["animal"]
    kinds = [found["by_node"][key][place] for key in ("confused", "short", "beyond")]
    assert kinds == [2, 0, 1]
    siblings = zip(*(found["siblings"][key] for key in ("true", "predicted", "rows")), strict=True)
    assert {(names[a], names[b]): n for a, b, n in siblings} == {
        ("animal/cat", "animal/dog"): 1,
        ("animal/dog", "animal/cat"): 1,
        ("animal", "plant"): 1,
    }


@pytest.mark.parametrize("seed", range(5))
def test_single_paths_part_once_at_the_lowest_common_ancestor(seed):
    evaluation, found = facts_of(random_case(seed))
    true, predicted = evaluation.pair.nodes
    wrong = true != predicted
    meeting = evaluation.hierarchy.lca(true, predicted)[wrong]
    wanted = dict(zip(*map(np.ndarray.tolist, np.unique(meeting, return_counts=True)), strict=True))
    by_node = found["by_node"]
    assert dict(zip(by_node["node"], by_node["rows"], strict=True)) == wanted
    assert sum(by_node["rows"]) == found["wrong"] == wrong.sum()
    assert sum(each["rows"] for each in found["by_level"]) == found["wrong"]
    assert sum(found["kinds"].values()) == found["rows"]
    parts = [sum(by_node[key]) for key in ("confused", "short", "beyond")]
    assert sum(parts) == found["wrong"]
    assert parts == [found["kinds"][key] for key in ("other_branch", "short", "beyond")]
    assert sum(found["siblings"]["rows"]) == parts[0]


@pytest.mark.parametrize("seed", range(5))
def test_siblings_are_children_of_their_parent_and_differ(seed):
    evaluation, found = facts_of(random_case(seed, several=seed % 2 == 1))
    columns = (np.array(found["siblings"][key]) for key in ("parent", "true", "predicted"))
    parent, true, predicted = columns
    assert (evaluation.parents[true] == parent).all()
    assert (evaluation.parents[predicted] == parent).all()
    assert (true != predicted).all()


@pytest.mark.parametrize("seed", range(5))
def test_with_several_paths_rows_still_count_once_by_kind_and_level(seed):
    _, found = facts_of(random_case(seed, several=True))
    assert sum(found["kinds"].values()) == found["rows"]
    assert found["kinds"]["right"] == found["right"]
    assert sum(each["rows"] for each in found["by_level"]) == found["wrong"]
    assert sum(found["by_node"]["rows"]) >= found["wrong"]


def test_first_errors_are_those_of_the_h_loss():
    """With a cost of one for every node H-loss counts first errors."""
    model, X, y = random_case(7, several=True)
    evaluation = evaluate(model, X, y)
    divergences = find_divergences(evaluation)
    costs = np.ones(evaluation.hierarchy.n_nodes)
    loss = metrics.h_loss(y, model.predict(X), hierarchy=model.hierarchy_, costs=costs)
    assert divergences.missed.sum() + divergences.false.sum() == pytest.approx(loss * len(y))


def test_pairs_of_missed_and_false_children_of_one_row():
    model = KnownAnswers(ANIMALS, [{DOG, OAK}], several=True)
    evaluation = evaluate(model, numbered(1), [{CAT, ("plant", "fern")}])
    names = evaluation.hierarchy.names
    found = {tuple(names[list(each)]) for each in find_divergences(evaluation).siblings.tolist()}
    assert found == {("animal", "cat", "dog"), ("plant", "fern", "oak")}


def test_nothing_wrong():
    _, found = facts_of((KnownAnswers(ANIMALS, [CAT]), numbered(1), [CAT]))
    assert found["wrong"] == 0
    assert found["by_node"]["node"] == found["siblings"]["rows"] == []
    assert found["kinds"] == {"right": 1, "short": 0, "beyond": 0, "other_branch": 0}
