"""The data sets, their parts, and how many features are chosen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from palmette.compare import Problem
from palmette.labels._labels import NodeLabels
from papers.hirr_fs.methods import make_parts, numbers_of, read_set


def without_test(problem: Problem, name: str = "toy") -> Problem:
    return Problem(name, problem.hierarchy, problem.X_train, problem.y_train)


@pytest.mark.parametrize(("name", "n_folds"), [("toy", 3), ("protein_x", 10)])
def test_every_row_is_tested_once(problem, name, n_folds):
    parts = list(make_parts(without_test(problem, name), seed=0))
    assert len(parts) == n_folds
    assert sorted(np.concatenate([part.y_test for part in parts])) == sorted(problem.y_train)
    for part in parts:
        np.testing.assert_allclose(part.X_train.mean(axis=0), 0.0, atol=1e-9)
        assert len(part.y_train) + len(part.y_test) == len(problem.y_train)


def test_the_published_part_is_scaled_by_its_training_rows(problem):
    (part,) = make_parts(problem, seed=0)
    np.testing.assert_allclose(part.X_train.std(axis=0), 1.0)
    assert not np.allclose(part.X_test.mean(axis=0), 0.0)


def test_sparse_rows_stay_as_they_are(problem):
    X = sparse.csr_array(problem.X_train)
    part = next(make_parts(Problem("texts", problem.hierarchy, X, problem.y_train, X, []), 0))
    assert part.X_train is X


@pytest.mark.parametrize(
    ("name", "X", "k", "grid"),
    [
        ("protein_x", np.zeros((1, 473)), 40, (24, 40, 95, 166, 236)),
        ("pictures", np.zeros((1, 80)), 16, (4, 8, 16, 28, 40)),
        ("texts", sparse.csr_array((1, 26214)), 300, (30, 100, 300, 1000)),
        ("short", sparse.csr_array((1, 90)), 90, (30, 90)),
    ],
)
def test_numbers_are_those_of_the_paper(problem, name, X, k, grid):
    numbers = numbers_of(Problem(name, problem.hierarchy, X, ["a"]))
    assert (numbers.k, numbers.grid) == (k, grid)


@pytest.mark.data
@pytest.mark.usefixtures("data_home")
@pytest.mark.parametrize(
    ("name", "shape", "n_nodes", "has_split"),
    [
        ("bridges", (65, 11), 8, True),
        ("protein_f194_test_only", (1420, 473), 202, False),
        ("news20_951", (951, 26214), 25, False),
    ],
)
def test_sets_of_the_data_home(name, shape, n_nodes, has_split):
    problem = read_set(name)
    assert problem.X_train.shape == shape
    assert problem.hierarchy.n_nodes == n_nodes
    assert problem.has_split == has_split
    assert sparse.issparse(problem.X_train) == (name == "news20_951")


def test_newsgroups_that_stand_alone_have_no_group(monkeypatch):
    names = ["misc.forsale", "rec.autos", "rec.motorcycles"]
    texts = ["sale sale", "car car", "bike bike"]
    bunch = Bunch(X_train=2 * texts, y_train=2 * names, X_test=texts, y_test=names, hierarchy=None)
    monkeypatch.setattr("palmette.datasets.fetch", lambda name: bunch)
    problem = read_set("20newsgroups_bydate")
    assert problem.hierarchy.path("misc.forsale") == ("misc.forsale",)
    assert problem.hierarchy.path("rec.autos") == ("rec", "rec.autos")
    assert problem.X_test.shape == (3, 3)
    assert problem.y_test.tolist() == names


@pytest.mark.data
def test_rows_without_a_class_are_left_out(data_home):
    problem = read_set("saiapr5000")
    labels = NodeLabels.encode(problem.y_train, problem.hierarchy)
    assert labels.terminals.min() > 0
    assert problem.X_train.shape[0] == len(labels) == 4999
