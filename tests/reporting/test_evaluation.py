"""Truth and answers on one hierarchy."""

from __future__ import annotations

from tests.reporting.known_answers import ANIMALS, CAT, KnownAnswers, animals, numbered

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting._evaluation import evaluate, primary_parents


def test_right_and_wrong_rows():
    found = evaluate(*animals())
    assert found.is_right.tolist() == [True, False, False, False, False, True, False]
    assert not found.several
    assert found.n_unseen == 0


def test_labels_that_the_model_never_saw_are_wrong_rows_of_a_larger_hierarchy():
    model = KnownAnswers(ANIMALS, [CAT, CAT])
    found = evaluate(model, numbered(2), [CAT, ("animal", "wolf")])
    assert found.is_right.tolist() == [True, False]
    assert found.n_unseen == 1
    assert found.hierarchy.path_strings[~found.is_known].tolist() == ["animal/wolf"]
    names = found.hierarchy.path_strings[found.node_place]
    assert names.tolist() == ANIMALS.path_strings.tolist()


def test_answers_at_the_root_are_answers():
    found = evaluate(KnownAnswers(ANIMALS, [(), CAT]), numbered(2), [CAT, CAT])
    assert found.overlap.pred.tolist() == [0, 2]


def test_several_paths_are_told_by_the_labels_or_by_the_model():
    assert evaluate(KnownAnswers(ANIMALS, [{CAT}]), numbered(1), [{CAT, ("plant",)}]).several
    assert evaluate(KnownAnswers(ANIMALS, [{CAT}], several=True), numbered(1), [{CAT}]).several
    assert not evaluate(KnownAnswers(ANIMALS, [{CAT}]), numbered(1), [{CAT}]).several


def test_every_node_of_a_dag_is_shown_below_its_deepest_parent():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    parents = primary_parents(dag)
    assert dag.names[parents[dag.index("d")]] == "c"
    assert (dag.depth[parents[1:]] == dag.depth[1:] - 1).all()
