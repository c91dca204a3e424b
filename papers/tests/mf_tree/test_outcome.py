"""Outcomes: scores as scikit-learn has them, trees as given, nothing computed twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from palmette.compare import Problem, ResultStore
from palmette.hierarchy._hierarchy import Hierarchy
from papers.cells import Cells, Options
from papers.mf_tree import outcome as module
from papers.mf_tree.methods import methods, plain_trees
from papers.mf_tree.outcome import GIVEN, N_RANDOM, Grown, Outcome, find_outcome, rare_classes


def test_scores(problem, monkeypatch):
    labels = np.unique(problem.y_train)
    predicted = np.searchsorted(labels, problem.y_test)
    predicted[predicted == 1] = 0  # all of p/b for p/a
    told = {"predicted": predicted.tolist(), "us": 2.0, "dots": 3.0}
    found = {"edges": None, "tree_s": None, "fit_s": 1.0, "depth": 2, "answers": {"": told}}
    monkeypatch.setattr(module, "work", lambda *_: found)
    outcome = find_outcome(problem, methods()[:1], Options(), Cells(None, {}))
    (answer,) = outcome.answers.values()
    assert answer.title == "MF-Tree as published"
    assert answer.accuracy == pytest.approx(5 / 6)
    # precision 1/2 and recall 1 for one class, nothing for another, all for four
    assert answer.macro_f1 == pytest.approx((2 / 3 + 0 + 4) / 6)
    assert (answer.us, answer.dots, answer.depth, answer.fit_s) == (2.0, 3.0, 2, 1.0)


def test_nothing_is_computed_twice(problem, tmp_path):
    seen = []
    chosen = [methods()[3], *plain_trees()]

    def look() -> Outcome:
        store = ResultStore(tmp_path / "kept.jsonl")
        cells = Cells(store, {}, lambda *names: seen.append(names))
        return find_outcome(problem, chosen, Options(), cells)

    first, second = look(), look()
    assert seen == [("toy", method.key) for method in chosen]
    assert first.answers == second.answers
    assert first.qualities == second.qualities


def test_another_seed_is_another_cell(problem):
    seen = []
    cells = Cells(None, {}, lambda *names: seen.append(names))
    for seed in (0, 1, 0):
        find_outcome(problem, plain_trees()[1:2], Options(seed), cells)
    assert len(seen) == 2


def test_a_default_that_changes_is_another_cell(problem):
    seen = []
    cells = Cells(None, {}, lambda *names: seen.append(names))
    method = plain_trees()[1]
    find_outcome(problem, [method], Options(), cells)
    grow = method.grow
    changed = replace(method, grow=lambda options: grow(options).set_params(leaf_size=2))
    find_outcome(problem, [changed], Options(), cells)
    assert len(seen) == 2


def regrouped(*groups: str) -> Hierarchy:
    given = {"a": "p/a", "b": "p/b", "c": "q/c", "d": "q/d", "e": "r/e", "f": "r/f"}
    edges = [("root", f"group {i}") for i in range(len(groups))]
    edges += [(f"group {i}", given[one]) for i, group in enumerate(groups) for one in group]
    return Hierarchy.from_edges(edges)


def test_the_given_tree_is_the_nearest(outcome_of):
    trees = {"same": regrouped("ab", "cd", "ef"), "other": regrouped("ac", "be", "df")}
    qualities = outcome_of([], trees).qualities
    assert qualities["same"] == {"mse": 0.0, "triplets": 1.0, "purity": 1.0, "depth": 2}
    # three pairs are 4 apart instead of 2, and three others 2 instead of 4
    assert qualities["other"]["mse"] == pytest.approx(2 * 6 * (1 / 4) ** 2 / 36)
    # is the mate of a class nearer than each of the four others? one of these is nearer here, and
    # three are as near
    assert qualities["other"]["triplets"] == pytest.approx((3 * 0.5) / 4)
    assert qualities["other"]["purity"] == pytest.approx(1 / 3)


def test_random_trees_are_those_of_the_method(outcome_of):
    """Twenty of them; the first is that of the learner for the same seed and rows."""
    outcome = outcome_of([])
    problem = outcome.problem
    whole = find_outcome(problem, plain_trees()[1:2], Options(0), Cells(None, {}))
    assert all(len(values) == N_RANDOM for values in outcome.chance.values())
    for name, value in whole.qualities["random"].items():
        assert outcome.chance[name][0] == value
    assert len(set(outcome.chance["triplets"])) > 3


def test_rare_classes_are_a_quarter_of_unequal_ones():
    y = np.repeat(np.array(list("abcdefgh"), dtype=object), [40, 3, 30, 2, 30, 20, 20, 10])
    X = np.zeros((len(y), 1))
    star = Hierarchy.star(list("abcdefgh"))
    assert rare_classes(Problem("p", star, X, y, X, y)).tolist() == ["b", "d"]
    tested = y[y != "d"]
    assert rare_classes(Problem("p", star, X, y, X, tested)).tolist() == ["b"]
    even = np.repeat(y[np.unique(y, return_index=True)[1]], 9)
    assert len(rare_classes(Problem("p", star, X, even, X, even))) == 0


def test_the_f1_of_rare_classes(problem, monkeypatch):
    labels = np.unique(problem.y_train)
    few = np.flatnonzero((problem.y_train != "p/b") | (np.arange(len(problem.y_train)) < 6))
    some = replace(problem, X_train=problem.X_train[few], y_train=problem.y_train[few])
    assert rare_classes(some).tolist() == ["p/b"]
    predicted = np.searchsorted(labels, problem.y_test)
    predicted[np.flatnonzero(predicted == 1)[::2]] = 0  # half of p/b for p/a
    told = {"predicted": predicted.tolist(), "us": 2.0, "dots": 3.0}
    found = {"edges": None, "tree_s": None, "fit_s": 1.0, "depth": 2, "answers": {"": told}}
    monkeypatch.setattr(module, "work", lambda *_: found)
    (answer,) = find_outcome(some, methods()[:1], Options(), Cells(None, {})).answers.values()
    assert answer.rare_f1 == pytest.approx(2 / 3)


def test_no_given_tree_no_qualities(problem, outcome_of):
    tree = regrouped("ab", "cd", "ef")
    flat = Problem("flat", Hierarchy.star(list("ab")), problem.X_train, problem.y_train)
    assert Outcome(flat, {}, {"x": Grown("x", tree, None)}).qualities == {}


def test_dags_have_no_quality(outcome_of):
    dag = Hierarchy.from_edges(
        [("root", "g"), ("root", "h"), ("g", "p/a"), ("h", "p/a"), ("h", "p/b")]
    )
    assert outcome_of([], {"DRHL": dag}).qualities == {}


def test_the_objective_of_a_given_tree_with_equal_names_in_two_places():
    h = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("q", "a"), ("q", "b")])
    y = np.array(["p/a", "p/b", "q/a", "q/b"] * 2, dtype=object)
    X = np.arange(16.0).reshape(8, 2)
    problem = Problem("toy", h, X, y, X, y)
    assert GIVEN in Outcome(problem, {}, {}).objectives
