from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from tests.class_tree.clades import clades, groups_of, hard_cases
from tests.class_tree.literal_fisher import literal_clades

import palmette as pm
from palmette.class_tree import BHCTree, _fisher
from palmette.exceptions import PalmetteError
from palmette.partition import ClassProblem, FisherPartition

STARTS = ["eigenvector", "first_class"]


def problem(X, y):
    classes, codes = np.unique(y, return_inverse=True)
    return ClassProblem(np.asarray(X, dtype=float), codes.astype(np.int32), len(classes))


def root(partition, X, y):
    here = problem(X, y)
    return groups_of(partition.split(partition.begin(here), np.arange(here.n_classes), 0))


def varying(X):
    return X[:, X.std(axis=0) > 0]


def gaussians(n_classes, n_features, seed=0, rows=8):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), rows)
    return rng.normal(size=(len(y), n_features)) + 2 * rng.normal(size=(n_classes, n_features))[
        y
    ], y


class TestAgainstTheLiteralAlgorithm:
    @pytest.mark.parametrize("start", STARTS)
    @pytest.mark.parametrize(
        "data",
        [
            load_iris(return_X_y=True),
            load_wine(return_X_y=True),
            load_digits(return_X_y=True),
            make_classification(600, 12, n_informative=9, n_classes=12, random_state=1),
            gaussians(40, 6),
            gaussians(9, 60),  # fewer classes than features: covariances are projected once
            gaussians(50, 40, rows=3),
        ],
        ids=["iris", "wine", "digits", "hypercube", "narrow", "wide", "few rows"],
    )
    def test_the_tree_is_the_same(self, data, start):
        X, y = varying(data[0]), data[1]
        fast = clades(BHCTree(start, min_side=0.0).fit(X, y))
        assert fast == literal_clades(X, y, start)

    @pytest.mark.data
    @pytest.mark.parametrize("start", STARTS)
    @pytest.mark.parametrize(
        "name", ["glass", "page_blocks", "vehicle", "ecoli", "landsat", "pendigits"]
    )
    def test_the_tree_is_the_same_on_real_data(self, name, start, data_home):
        bunch = pm.datasets.fetch(name, data_home=data_home)
        X, y = (bunch.X, bunch.y) if "X" in bunch else (bunch.X_train, bunch.y_train)
        tree = BHCTree(start, min_side=0.0).fit(X, y)
        codes = np.unique(y, return_inverse=True)[1]
        named = literal_clades(varying(X), codes, start)
        assert clades(tree) == {frozenset(tree.classes_[list(each)].tolist()) for each in named}


class TestInvariance:
    def test_the_eigenvector_start_does_not_know_the_order_of_classes(self):
        X, y = load_digits(return_X_y=True)
        expected = clades(BHCTree().fit(X, y))
        for seed in range(5):
            names = np.random.default_rng(seed).permutation(10)
            found = clades(BHCTree().fit(X, names[y]))
            old = np.argsort(names)
            assert {frozenset(old[list(group)].tolist()) for group in found} == expected

    @pytest.mark.parametrize("factor", [1e-9, 1e9])
    def test_units_do_not_count(self, factor):
        X, y = load_wine(return_X_y=True)
        X = np.column_stack([X, X[:, :2] + 0.0])
        scale = np.where(np.arange(X.shape[1]) % 2, factor, 1.0)
        assert clades(BHCTree().fit(X * scale + 3 * scale, y)) == clades(BHCTree().fit(X, y))

    def test_a_weight_of_two_is_two_copies(self):
        X, y = gaussians(12, 5)
        weight = np.random.default_rng(1).integers(1, 4, size=len(y))
        copies = np.repeat(np.arange(len(y)), weight)
        weighted = BHCTree().fit(X, y, sample_weight=weight)
        assert clades(weighted) == clades(BHCTree().fit(X[copies], y[copies]))

    def test_a_constant_feature_changes_nothing(self):
        X, y = gaussians(12, 5)
        wider = np.column_stack([X, np.full(len(y), 0.1)])
        assert clades(BHCTree().fit(wider, y)) == clades(BHCTree().fit(X, y))


class TestWhatIsKeptOfTheScatter:
    def test_diagonal_by_classes_and_by_features_are_one(self):
        # 30 features and 20 classes: the root is factorized by classes, as wide data are
        X, y = gaussians(20, 30)
        partition = FisherPartition(covariance="diagonal")
        state = partition.begin(problem(X, y))
        full = type(state)(
            state.weight,
            state.mean,
            "scatter",
            np.stack([np.diag(each) for each in state.covariance]),
        )
        for n_here in (3, 10, 20):
            classes = np.arange(n_here)
            assert groups_of(partition.split(state, classes, 0)) == groups_of(
                partition.split(full, classes, 0)
            )

    def test_pooled_is_the_same_where_classes_have_one_scatter(self):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(30, 6))
        means = 3 * rng.normal(size=(15, 6))
        X, y = (means[:, None] + rows).reshape(-1, 6), np.repeat(np.arange(15), 30)
        expected = root(FisherPartition(covariance="scatter"), X, y)
        assert root(FisherPartition(covariance="pooled"), X, y) == expected

    @pytest.mark.parametrize(("most", "kind"), [(300, "pooled"), (100, "diagonal")])
    def test_less_is_stored_above_a_bound_with_a_warning(self, monkeypatch, most, kind):
        X, y = gaussians(9, 6)
        monkeypatch.setattr(_fisher, "_MOST", most)
        with pytest.warns(UserWarning, match=f"covariance='{kind}'"):
            found = root(FisherPartition(), X, y)
        assert found == root(FisherPartition(covariance=kind), X, y)

    def test_means_that_do_not_fit_are_refused(self, monkeypatch):
        monkeypatch.setattr(_fisher, "_MOST", 10)
        with pytest.raises(PalmetteError, match="MFTree"):
            root(FisherPartition(), *gaussians(8, 6))


class TestGuards:
    @pytest.mark.parametrize("start", STARTS)
    @pytest.mark.parametrize("covariance", ["scatter", "diagonal", "pooled"])
    @pytest.mark.parametrize(("name", "X", "y"), list(hard_cases()))
    def test_hard_input_gives_a_tree(self, name, X, y, start, covariance):
        with np.errstate(invalid="raise", divide="raise"):
            tree = BHCTree(start, covariance=covariance).fit(X, y)
        leaves = tree.hierarchy_.names[tree.hierarchy_.leaves]
        assert sorted(leaves.tolist()) == sorted(set(np.asarray(y).tolist()))

    def test_a_temperature_that_collapses_still_divides_in_two(self):
        X, y = load_digits(return_X_y=True)
        sides = root(FisherPartition(T0=100.0), X, y)
        assert len(sides) == 2

    def test_identical_classes_stay_together(self):
        X, y = gaussians(6, 3)
        X, y = np.concatenate([X, X[:8], X[:8]]), np.concatenate([y, np.repeat([6, 7], 8)])
        (side,) = (group for group in root(FisherPartition(), X, y) if 0 in group)
        assert {0, 6, 7} <= side

    @pytest.mark.parametrize("min_side", [0.1, 0.25, 0.5])
    def test_the_smaller_side_has_its_share(self, min_side):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(20), 4)
        X = rng.normal(size=(80, 2)) * 0.1 + np.where(y == 7, 100.0, 0.1 * y)[:, None]
        sizes = sorted(map(len, root(FisherPartition(min_side=min_side), X, y)))
        assert sizes[0] == 20 * min_side

    @pytest.mark.parametrize(
        "wrong",
        [
            {"start": "last"},
            {"covariance": "full"},
            {"T0": 0.0},
            {"cooling": 1.0},
            {"theta_H": 0.0},
            {"ridge": -1.0},
        ],
    )
    def test_parameters_are_checked(self, wrong):
        (name,) = wrong
        with pytest.raises(PalmetteError, match=name):
            FisherPartition(**wrong).begin(problem(*gaussians(3, 2)))
