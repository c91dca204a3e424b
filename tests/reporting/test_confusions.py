"""The most confused pairs, and rows that show errors."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    DOG,
    OAK,
    KnownAnswers,
    numbered,
    random_case,
)

from palmette.reporting import _errors as confusions
from palmette.reporting._errors import confusion_facts
from palmette.reporting._evaluation import RowTexts, evaluate


def facts_of(case, confidence=None):
    model, X, y = case
    evaluation = evaluate(model, X, y)
    return evaluation, *confusion_facts(evaluation, confidence, RowTexts(X))


def test_pairs_are_counted_and_ordered():
    model = KnownAnswers(ANIMALS, [DOG, DOG, CAT, OAK, CAT])
    _, pairs, _ = facts_of((model, numbered(5), [CAT, CAT, DOG, DOG, CAT]))
    names = ANIMALS.path_strings
    found = [(names[pair["true"]], names[pair["predicted"]], pair["rows"]) for pair in pairs]
    assert found == [
        ("animal/cat", "animal/dog", 2),
        ("animal/dog", "animal/cat", 1),
        ("animal/dog", "plant/oak", 1),
    ]


@pytest.mark.parametrize("several", [False, True])
def test_pairs_are_those_of_the_rows(several):
    model, X, y = random_case(0, several=several)
    evaluation, pairs, _ = facts_of((model, X, y))
    true, predicted = (side.specific for side in (evaluation.pair.true, evaluation.pair.pred))
    wanted = Counter()
    for row in range(len(y)):
        a = set(true.indices[true.indptr[row] : true.indptr[row + 1]].tolist())
        b = set(predicted.indices[predicted.indptr[row] : predicted.indptr[row + 1]].tolist())
        wanted.update((left, right) for left in a - b for right in b - a)
    best = sorted(wanted.items(), key=lambda item: (-item[1], item[0]))[: confusions.N_PAIRS]
    assert [((p["true"], p["predicted"]), p["rows"]) for p in pairs] == best


def test_examples_are_errors_of_their_pair():
    evaluation, pairs, examples = facts_of(random_case(1))
    wrong = set(np.flatnonzero(~evaluation.is_right).tolist())
    assert {example["row"] for example in examples} <= wrong
    for pair in pairs:
        assert 1 <= len(pair["examples"]) <= 3
        for place in pair["examples"]:
            assert examples[place]["true"] == [pair["true"]]
            assert examples[place]["predicted"] == [pair["predicted"]]


def test_every_label_with_errors_has_an_example():
    evaluation, _, examples = facts_of(random_case(2))
    wrong = ~evaluation.is_right
    missed = set(evaluation.pair.nodes[0][wrong].tolist())
    assert missed == {node for example in examples for node in example["true"]}


def test_the_surest_errors_come_first():
    model = KnownAnswers(ANIMALS, [DOG] * 5)
    confidence = np.array([0.5, 0.9, 0.7, 0.8, 0.6])
    _, pairs, examples = facts_of((model, numbered(5), [CAT] * 5), confidence)
    assert [examples[place]["row"] for place in pairs[0]["examples"]] == [1, 3, 2]
    assert examples[0]["confidence"] == 0.9


def test_there_are_not_too_many_examples(monkeypatch):
    monkeypatch.setattr(confusions, "N_PAIRS", 2)
    monkeypatch.setattr(confusions, "_MOST_EXAMPLES", 7)
    _, pairs, examples = facts_of(random_case(3))
    assert len(examples) == 7
    assert all(place < 7 for pair in pairs for place in pair["examples"])


def test_nothing_is_confused():
    _, pairs, examples = facts_of((KnownAnswers(ANIMALS, [CAT]), numbered(1), [CAT]))
    assert pairs == examples == []
