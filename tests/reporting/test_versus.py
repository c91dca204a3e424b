"""Two models on the same rows."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    DOG,
    KnownAnswers,
    animals,
    numbered,
    random_case,
)

from palmette import metrics
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting import report
from palmette.reporting._markdown import to_markdown


def pair_of(several=False, n_rows=300):
    """Return two models on the same rows; the second one is right more often."""
    first, X, y = random_case(0, n_rows, several)
    answers = first.predict(X)
    mended = [label if row % 3 == 0 else answers[row] for row, label in enumerate(y)]
    second = KnownAnswers(first.hierarchy_, mended, first.predict_node_proba(X), several)
    return first, second, X, y


@cache
def versus(several=False):
    """Return the facts of both; tests only read them."""
    first, second, X, y = pair_of(several)
    return report(first, X, y, other=second, n_bootstrap=60, names=("old", "new")).facts


@pytest.mark.parametrize("several", [False, True])
def test_differences_are_those_of_the_metrics(several):
    first, second, X, y = pair_of(several)
    found = versus(several)["versus"]
    f1 = [
        metrics.hierarchical_f1_score(y, model.predict(X), hierarchy=model.hierarchy_)
        for model in (first, second)
    ]
    figure = found["figures"][0]
    assert [figure["first"], figure["second"]] == pytest.approx(f1)
    assert figure["difference"] == pytest.approx(f1[1] - f1[0])
    assert figure["low"] < figure["difference"] < figure["high"]


def test_the_first_model_is_reported_as_if_it_were_alone():
    first, _, X, y = pair_of()
    alone = report(first, X, y, n_bootstrap=60).facts
    found = versus()
    for key in alone:
        if key not in ("made", "versus"):
            assert found[key] == alone[key], key


def test_intervals_are_paired():
    """A model that differs in one row differs by 0 or a little in every resample."""
    model, X, y = random_case(0, 300)
    answers = model.predict(X)
    row = next(k for k, (a, b) in enumerate(zip(answers, y, strict=True)) if a == b)
    worse = [("a0",) if k == row else each for k, each in enumerate(answers)]
    other = KnownAnswers(model.hierarchy_, worse)
    found = report(model, X, y, other=other, n_bootstrap=200).facts["versus"]
    accuracy = next(each for each in found["figures"] if each["name"] == "accuracy")
    assert accuracy["difference"] == pytest.approx(-1 / 300)
    assert -4.5 / 300 < accuracy["low"] <= accuracy["high"] <= 0
    assert found["n_differing"] == 1
    assert "not clear" in found["verdict"]


def test_rows_that_only_one_gets_right():
    model, X, y = animals()
    other = KnownAnswers(ANIMALS, [DOG, CAT, *model.predict(X)[2:]])  # 0 is lost, 1 is gained
    found = report(model, X, y, other=other, n_bootstrap=0).facts["versus"]
    assert found["right"] == {
        "both": 1, "only_first": 1, "only_second": 1, "neither": 4, "p_value": 1.0,
    }  # fmt: skip
    assert [each["row"] for each in found["rows"]] == [0, 1]
    assert [each["right"] for each in found["rows"]] == [[True, False], [False, True]]
    assert found["accepted"][1] is None  # without probabilities


def test_classes_that_changed():
    facts = versus()
    classes, nodes = facts["versus"]["classes"], facts["nodes"]
    first, second, X, y = pair_of()
    truth, old, new = (
        np.array(["/".join(p) for p in v]) for v in (y, first.predict(X), second.predict(X))
    )
    h = first.hierarchy_
    for node, lost, gained in zip(classes["node"], classes["lost"], classes["gained"], strict=True):
        mine = truth == "/".join(h.path(node))
        assert lost == np.count_nonzero(mine & (old == truth) & (new != truth))
        assert gained == np.count_nonzero(mine & (new == truth) & (old != truth))
    assert classes["better"] > classes["worse"]
    assert len(classes["node"]) <= len(nodes["name"])


def test_the_verdict_names_both_and_is_clear_where_it_should_be():
    found = versus()["versus"]
    words = found["verdict"]
    assert words.startswith("new is right for ")
    assert "and old for " in words
    assert "more (95 % interval of the difference +" in words
    assert "p < .001" in words
    assert "not clear" not in words


def test_markdown_has_both():
    text = to_markdown(versus())
    assert "## Two models on the same rows" in text
    assert "| score | old | new | difference |" in text


def test_hierarchies_may_differ_by_nodes():
    first, X, y = animals()
    wider = Hierarchy.from_paths([CAT, DOG, ("plant", "oak"), ("plant", "rose"), ("fungus",)])
    other = KnownAnswers(wider, [CAT, ("fungus",), ("plant", "rose"), *[DOG] * 4])
    facts = report(first, X, y, other=other, n_bootstrap=0).facts
    names = facts["nodes"]["name"]
    assert {"fungus", "rose"} <= set(names)
    shown = {
        each["row"]: [names[node] for node in each["second"]] for each in facts["versus"]["rows"]
    }
    assert (shown[1], shown[2]) == (["fungus"], ["rose"])
    assert facts["setting"]["hierarchy"]["nodes"] == 6  # those of the first model


def test_models_that_cannot_be_compared():
    first, X, y = animals()
    learned = KnownAnswers(ANIMALS, y)
    learned.learnt_ = True
    with pytest.raises(PalmetteError, match="that of the second model was learned"):
        report(first, X, y, other=learned)
    sets = KnownAnswers(ANIMALS, [{CAT}] * 7, several=True)
    with pytest.raises(PalmetteError, match="expected two models of the same kind"):
        report(first, numbered(7), y, other=sets)
