"""The authors' protocol: scores by hand, and the printed figures of DD to every digit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from palmette.compare import Problem, find_problem
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from papers.cells import Cells
from papers.hirr_fs.authors import Parity, cross_validate, score_folds
from papers.hirr_fs.methods import METHODS, PAPER_CHOSEN, PAPER_GRID, make_parts
from papers.hirr_fs.parity import find_parity


def test_the_printed_error_is_a_tenth_of_that_of_a_row(problem):
    tree = problem.hierarchy
    a, b, d = (tree.index(name) for name in "abd")
    truth = NodeLabels.encode(["a", "a", "a", "d"], tree)
    predicted = np.array([a, b, d, d], dtype=np.int32)
    # errors 0, 2, 4, 0; F1 with the root 1, 2/3, 1/3, 1
    scores = score_folds(truth, predicted, np.array([0, 0, 1, 1]))
    assert scores.tie == pytest.approx(6 / 4)
    assert scores.tie_as_printed == pytest.approx(scores.tie / 2)  # two folds
    assert scores.f1 == pytest.approx((5 / 6 + 2 / 3) / 2)


def test_folds_of_unequal_size_weigh_alike_in_f1(problem):
    tree = problem.hierarchy
    truth = NodeLabels.encode(["a", "a", "a"], tree)
    predicted = np.array([tree.index(name) for name in "aad"], dtype=np.int32)
    scores = score_folds(truth, predicted, np.array([0, 0, 1]))
    assert scores.f1 == pytest.approx((1 + 1 / 3) / 2)


def test_rows_are_led_from_the_root_to_a_leaf(problem):
    truth = NodeLabels.encode(problem.y_test, problem.hierarchy).terminals
    folds = np.arange(len(truth)) // 5 % 5
    chosen = {node: np.arange(5) for node in Parity(problem).nodes}
    found = cross_validate(problem.X_test, truth, folds, problem.hierarchy, chosen)
    assert set(found) <= set(problem.hierarchy.leaves)
    assert np.mean(found == truth) > 0.5


def test_deeper_trees_are_refused():
    tree = Hierarchy.from_paths([("p", "q", "a"), ("p", "q", "b"), ("p", "c"), ("d",)])
    X, y = np.eye(4), ["a", "b", "c", "d"]
    with pytest.raises(PalmetteError, match="more than two levels"):
        Parity(Problem("deep", tree, X, y, X, y))


@pytest.fixture(scope="module")
def dd(data_home):
    return Parity(find_problem("protein_dd"))


@pytest.mark.data
@pytest.mark.parametrize(
    ("method", "f1", "tie"),
    [
        ("HierFisher", 0.7741347905, 0.1355),
        ("HierMRMR", 0.8467941712, 0.0919),
        ("Hier-FS", 0.8584244080, 0.0850),
        ("HiRRsib-FS", 0.8578779599, 0.0853),
        ("HiRRfam-FS", 0.8606193078, 0.0836),
    ],
)
def test_tables_4_and_5_come_out(dd, method, f1, tie):
    scores = dd.evaluate(dd.orders(method, 40), 40)
    assert scores.f1 == pytest.approx(f1, abs=1e-9)
    assert round(scores.tie_as_printed, 4) == tie
    assert scores.tie == pytest.approx(10 * scores.tie_as_printed)


@pytest.mark.data
@pytest.mark.parametrize(("method", "f1"), [("HierFisher", 0.8440), ("Hier-FS", 0.8816)])
def test_standardized_features_with_our_settings(data_home, method, f1):
    problem = find_problem("protein_dd")
    (part,) = make_parts(problem, seed=0)
    dd = Parity(replace(problem, X_train=part.X_train, X_test=part.X_test))
    scores = dd.evaluate(dd.orders_by(METHODS[method](), 40), 40)
    assert scores.f1 == pytest.approx(f1, abs=1e-4)


@pytest.mark.data
def test_table_6_comes_out_but_for_two_features(dd):
    orders = dd.orders("HiRRfam-FS", 24)
    common = [
        len({*(orders[node][:24] + 1).tolist()} & set(printed))
        for node, printed in zip(dd.nodes, PAPER_CHOSEN.values(), strict=True)
    ]
    assert common == [23, 24, 23, 24, 24]


@pytest.mark.data
@pytest.mark.parametrize(("alpha", "beta", "cell"), [(100.0, 10.0, (4, 3))])
def test_table_8_comes_out_with_alpha_and_beta_exchanged(dd, alpha, beta, cell):
    scores = dd.evaluate(dd.orders_of(dd.sweep(alpha, beta)), 95)
    assert round(scores.f1, 4) == PAPER_GRID[cell[0]][cell[1]]


def test_everything_of_the_protocol_is_kept(problem):
    seen = []
    cells = Cells(None, {}, lambda *names: seen.append(names))
    found = find_parity(problem, cells, with_grid=False)
    assert len(seen) == 11
    assert list(found.curves["HiRRpar-FS"]) == [1, 2, 4, 5]
    assert list(found.curves["all features"]) == [10]
    assert len(found.objective) == 10
    assert found.lowest <= found.from_ridge[-1] * (1 + 1e-6)
    assert found.standardized.keys() == METHODS.keys()
    assert {(one.node, one.rank) for one in found.exchanges} == {
        (name, rank) for name in found.chosen for rank in range(3, 9)
    }
    assert list(found.chosen) == [str(problem.hierarchy.names[node]) for node in (0, 1, 5)]
