"""Scores in both spaces, against hand-worked cases and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from palmette.metrics import hmc_loss, hmc_ratio
from papers.h_ada_mh.scoring import errors_of_losses, losses_of_signs, top_k_precision


def test_the_truth_is_perfect(setting):
    for space in (setting.collapsed, setting.tree):
        scores = space.scores(space.truth)
        assert [scores[name] for name in ("micro_f1", "macro_f1", "macro_f1_by_level")] == [1, 1, 1]
        assert scores["hmc_loss"] == scores["hmc_loss_unscaled"] == 0
        assert space.level_accuracy(space.truth) == [1, 1, 1]


def test_the_truth_is_a_path_of_the_tree(setting):
    assert setting.tree.scores(setting.tree.truth)["one_path"] == 1
    assert setting.tree.scores(setting.tree.truth)["h_f"] == 1


def test_scores_of_classes_are_those_of_scikit_learn(setting):
    space = setting.tree
    predicted = np.random.default_rng(0).random(space.truth.shape) < 0.4
    scores = space.scores(predicted)
    assert scores["micro_f1"] == pytest.approx(f1_score(space.truth, predicted, average="micro"))
    assert scores["macro_f1"] == pytest.approx(f1_score(space.truth, predicted, average="macro"))
    levels = [
        f1_score(space.truth[:, space.level == n], predicted[:, space.level == n], average="macro")
        for n in (1, 2, 3)
    ]
    assert scores["macro_f1_by_level"] == pytest.approx(np.mean(levels))


def test_hmc_loss_of_paths_is_that_of_the_metric(setting):
    space, problem = setting.tree, setting.problem
    wrong = np.roll(space.truth, 1, axis=0)
    expected = hmc_loss(
        space.truth.astype(int),
        wrong.astype(int),
        hierarchy=problem.hierarchy,
        ratio=hmc_ratio(problem.y_train, hierarchy=problem.hierarchy),
    )
    assert space.scores(wrong)["hmc_loss"] == pytest.approx(expected)
    # costs of Eq. 6 are 1/2, 1/4, 1/4, 1/8 ... from the top: three levels of sum one at most
    assert space.scores(wrong)["hmc_loss_unscaled"] == pytest.approx(expected * space.costs.sum())


def test_symbols_are_read_as_a_path(setting):
    space = setting.collapsed.space
    row = setting.collapsed.paths.index(("1", "2", "0"))
    predicted = setting.collapsed.truth.copy()
    predicted[:, space.classes.index((2, "2"))] = False
    predicted[:, space.classes.index((2, "1"))] = True
    assert setting.collapsed.is_one_path(predicted)[row]  # 1/1/0 is in the tree
    predicted[row] = False
    for one in ((1, "2"), (2, "2"), (3, "0")):
        predicted[row, space.classes.index(one)] = True
    assert not setting.collapsed.is_one_path(predicted)[row]  # 2/2/0 is not


@pytest.mark.parametrize(
    ("names", "fine"),
    [
        (["1"], True),
        (["1", "1/1", "1/1/0"], True),
        (["1/1"], False),
        (["1", "2"], False),
        (["1", "1/1", "1/2"], False),
        ([], False),
    ],
)
def test_one_path_of_the_tree(setting, names, fine):
    predicted = setting.tree.truth.copy()
    predicted[0] = False
    predicted[0, setting.problem.hierarchy.index(list(names)) - 1] = True
    assert setting.tree.is_one_path(predicted)[0] == fine


def test_rows_that_no_level_reaches_do_not_count(setting):
    truth = setting.tree.truth
    shallow = truth.copy()
    shallow[:, setting.tree.level == 3] = False
    reached = truth[:, setting.tree.level == 3].any(axis=1)
    assert 0 < reached.sum() < len(truth)
    assert setting.tree.level_accuracy(shallow) == [1, 1, 0]


def test_an_error_spreads_downwards(setting):
    h, truth = setting.problem.hierarchy, setting.tree.truth
    scores = np.where(truth, 1.0, -1.0)
    assert losses_of_signs(setting.tree, scores) == (0, 0)
    scores[0, h.index("2") - 1] *= -1
    hamming, hierarchical = losses_of_signs(setting.tree, scores)
    assert hamming == pytest.approx(1 / truth.size)
    assert hierarchical == pytest.approx(5 / truth.size)  # 2, 2/1, 2/1/0, 2/1/3 and 2/3


def test_top_k_counts_true_ones():
    truth = np.array([[True, False, True], [False, True, False]])
    scores = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, -np.inf]])
    assert top_k_precision(truth, scores, 3) == pytest.approx([1.0, 0.5, 0.5])


def test_standard_errors_are_those_of_the_rows(setting):
    rng = np.random.default_rng(0)
    space = setting.tree
    scores = rng.normal(size=space.truth.shape)
    wrong = (scores > 0) != space.truth
    by_row = [row.sum() / len(row) for row in wrong]
    spread = (sum((each - sum(by_row) / len(by_row)) ** 2 for each in by_row) / len(by_row)) ** 0.5
    hamming, hierarchical = errors_of_losses(space, scores)
    assert hamming == pytest.approx(spread / len(by_row) ** 0.5)
    assert hierarchical > 0
