"""The decision rule for several paths per row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from tests.spaces import numbers, seeds
from tests.strategies import dags, quick

from palmette import Hierarchy, decoding
from palmette.decisions._coherence import NodeColumns, make_coherent
from palmette.decisions._thresholds import Threshold, is_threshold, resolve_threshold
from palmette.exceptions import PalmetteError

H = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])
COLUMNS = NodeColumns(H, np.arange(1, 5))
PROBA = np.array([[0.9, 0.6, 0.5, 0.2], [0.4, 0.3, 0.0, 0.5]])


def chosen(rule):
    sets = rule.choose(PROBA, COLUMNS).toarray()
    return [H.names[COLUMNS.nodes[row]].tolist() for row in sets]


def test_a_node_is_true_where_it_is_above_the_threshold():
    assert chosen(Threshold()) == [["animal", "cat"], []]
    assert chosen(Threshold(0.25)) == [["animal", "cat", "dog"], ["animal", "cat", "plant"]]
    assert chosen(Threshold(1.0)) == [[], []]


def test_every_node_may_have_its_own():
    values = np.array([0.0, 0.3, 0.1, 0.55, 0.1])  # the root first; 'cat' counts as 'animal' does
    assert chosen(Threshold(values)) == [["animal", "cat", "plant"], ["animal", "plant"]]


def test_one_label_is_chosen_by_the_worth_of_its_ancestors():
    labels = H.index(["animal", "cat", "dog", "plant"])
    # animal .4, cat .4 + .1, dog .4 + .0, plant -.3; then -.1, -.3, -.6, .0
    assert H.names[Threshold().choose_labels(PROBA, COLUMNS, labels)].tolist() == ["cat", "plant"]
    shy = Threshold(0.7).choose_labels(PROBA, COLUMNS, labels)
    assert H.names[shy].tolist() == ["animal", "plant"]


@quick
@given(dags().filter(lambda h: h.n_nodes > 1), seeds, st.floats(0, 1))
def test_the_label_chosen_has_the_fewest_errors_to_be_expected(h, seed, value):
    columns = NodeColumns(h, np.arange(1, h.n_nodes))
    proba = make_coherent(numbers(seed).random((5, columns.n_columns)), columns)
    labels = columns.nodes
    answers = Threshold(value).choose_labels(proba, columns, labels)
    for row, answer in zip(proba, answers, strict=True):
        worth = {
            int(label): sum(
                row[a - 1] - value for a in h.ancestors(int(label), include_self=True)[1:]
            )
            for label in labels
        }
        assert worth[int(answer)] == pytest.approx(max(worth.values()), abs=1e-12)


def test_numbers_are_thresholds_and_names_of_other_rules_are_not():
    assert resolve_threshold(0.25).value == 0.25
    assert resolve_threshold(np.float32(0.25)).value == 0.25
    assert resolve_threshold("auto").value == 0.5
    rule = Threshold(0.1)
    assert resolve_threshold(rule) is rule
    assert is_threshold(rule)
    assert is_threshold(1)
    for other in ("auto", "best_path", decoding.Confident(), True, None):
        assert not is_threshold(other)
    for other in ("best_path", decoding.Confident(0.7), True, None):
        with pytest.raises(
            PalmetteError, match=r"not a rule for several paths.*expected 'auto', a n"
        ):
            resolve_threshold(other)


def test_values_that_are_no_probabilities_are_refused():
    for value in (-0.1, 1.5, np.nan):
        with pytest.raises(PalmetteError, match="expected numbers from 0 to 1"):
            Threshold(value).choose(PROBA, COLUMNS)
    with pytest.raises(PalmetteError, match=r"shape \(4,\).*one per node of the hierarchy \(5\)"):
        Threshold(np.zeros(4)).choose(PROBA, COLUMNS)


def test_it_is_cloned_like_any_parameter():
    assert clone(Threshold(0.3)).value == 0.3
    assert Threshold().set_params(value=0.2).value == 0.2
