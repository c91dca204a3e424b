"""The methods on a small set: what they answer has the right shape, and easy rows are right."""

from __future__ import annotations

import json

import numpy as np
import pytest

from papers.h_ada_mh.collapsed import collapsed_methods
from papers.h_ada_mh.methods import tree_methods
from papers.h_ada_mh.outcome import Setting
from papers.h_ada_mh.tables import METHODS, paper_set

ALL = {method.key: method for method in (*collapsed_methods(), *tree_methods())}


def test_keys_and_titles_are_told_apart():
    answers = [item for method in ALL.values() for item in method.answers.items()]
    assert len({key for key, _ in answers}) == len({title for _, title in answers}) == len(answers)
    assert len(ALL) == len([*collapsed_methods(), *tree_methods()])


@pytest.mark.parametrize("key", ALL)
def test_results_are_plain_and_of_the_right_shape(setting, key):
    method = ALL[key]
    found = method.work(setting, method.make(setting))
    assert json.loads(json.dumps(found)) == found
    truth = setting.answers(method.space).truth
    assert found["predicted"].keys() == method.answers.keys()
    for rows in found["predicted"].values():
        assert len(rows) == len(truth)
        assert all(0 <= one < truth.shape[1] for row in rows for one in row)
    assert len(found["top_k"]) == 3


@pytest.mark.parametrize(
    "key", ["forest per level", "naive Bayes per level", "forest of all classes"]
)
def test_one_symbol_on_every_level(setting, key):
    method = ALL[key]
    ((_, rows),) = method.work(setting, method.make(setting))["predicted"].items()
    levels = setting.space.level
    assert all(levels[row].tolist() == [1, 2, 3] for row in rows)


@pytest.mark.parametrize("key", ["forest per level, top-down", "AdaBoost.MH", "mask in the search"])
def test_easy_rows_are_right(problem, key):
    setting = Setting(problem, rounds=50)
    method = ALL[key]
    found = method.work(setting, method.make(setting))["predicted"]
    for rows in found.values():
        predicted = np.zeros_like(setting.tree.truth)
        for row, classes in enumerate(rows):
            predicted[row, classes] = True
        assert (predicted == setting.tree.truth).all(axis=1).mean() > 0.7


def test_errors_by_round_end_with_the_last_one(setting):
    method = ALL["AdaBoost.MH"]
    stages = method.work(setting, method.make(setting))["stages"]
    assert stages["rounds"] == [1, 2, 3, 4, 5]
    assert len(stages["hamming"]) == len(stages["hierarchical_hamming"]) == 5
    pairs = zip(stages["hamming"], stages["hierarchical_hamming"], strict=True)
    assert all(plain <= spread for plain, spread in pairs)


@pytest.mark.parametrize("name", ["imclef07a", "imclef07d", "diatoms"])
def test_the_paper_has_all_figures(name):
    paper = paper_set(name)
    assert set(paper.scores) == set(METHODS)
    assert all(0 < value < 1 for scores in paper.scores.values() for value in scores)
    assert paper_set("iris") is None
