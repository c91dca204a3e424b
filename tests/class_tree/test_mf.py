from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import Nystroem
from tests.class_tree.clades import clades, hard_cases, in_turn

import palmette as pm
from palmette.class_tree import MFTree, _similarity
from palmette.exceptions import PalmetteError
from palmette.metrics import clade_purity

CASES = list(hard_cases())
SHAPES = [{}, {"branching": 4, "leaf_size": 6}]


def relabelled(X, y, **parameters):
    """Return the groups of a tree over renamed classes, under the original names."""
    classes, codes = np.unique(y, return_inverse=True)
    order = np.random.default_rng(0).permutation(len(classes))
    tree = MFTree(**parameters).fit(X, order[codes])
    own = classes[np.argsort(order)]
    return {frozenset(own[list(group)].tolist()) for group in clades(tree)}


def in_single_precision(X):
    return X.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("parameters", SHAPES)
class TestInvariance:
    def test_digits(self, parameters):
        X, y = load_digits(return_X_y=True)
        X = X / 17
        expected = clades(MFTree(**parameters).fit(X, y))
        assert relabelled(X, y, **parameters) == expected
        assert clades(MFTree(**parameters).fit(in_single_precision(X), y)) == expected
        assert clades(MFTree(**parameters).fit(X.astype(np.float32), y)) == expected
        assert clades(MFTree(**parameters).fit(sparse.csr_array(X), y)) == expected
        assert clades(MFTree(**parameters).fit(X * 1e6, y)) == expected

    @pytest.mark.data
    @pytest.mark.parametrize(
        "name", ["letter", "imclef07a", "omniglot_small", "diatoms", "clinc150"]
    )
    def test_real_data(self, name, parameters, data_home):
        bunch = pm.datasets.fetch(name, data_home=data_home)
        X, y = (bunch.X, bunch.y) if "X" in bunch else (bunch.X_train, bunch.y_train)
        if name == "clinc150":
            X = TfidfVectorizer(min_df=2).fit_transform(X)
        y = np.array([str(label) for label in y])
        expected = clades(MFTree(**parameters).fit(X, y))
        assert relabelled(X, y, **parameters) == expected
        assert clades(MFTree(**parameters).fit(in_single_precision(X), y)) == expected


class TestHardInput:
    OPTIONS = (
        {},
        {"branching": 3},
        {"kernel": "rbf"},
        {"kernel": Nystroem(n_components=3)},
        {"tau": 2},
    )

    @pytest.mark.parametrize("option", range(len(OPTIONS)), ids=map(str, OPTIONS))
    @pytest.mark.parametrize("case", range(len(CASES)), ids=[case[0] for case in CASES])
    @pytest.mark.filterwarnings("ignore:n_components")
    def test_gives_a_tree(self, case, option):
        _, X, y = CASES[case]
        form = in_turn(case + option)
        tree = MFTree(**self.OPTIONS[option], random_state=0).fit(form(X), y)
        leaves = tree.hierarchy_.names[tree.hierarchy_.leaves]
        assert sorted(leaves.tolist()) == sorted(set(np.asarray(y).tolist()))

    @pytest.mark.parametrize(("name", "X", "y"), list(hard_cases()))
    def test_published_settings_give_a_tree(self, name, X, y):
        tree = MFTree.preset("published").fit(X, y)
        assert len(tree.hierarchy_.leaves) == len(set(np.asarray(y).tolist()))

    @pytest.mark.parametrize("value", [0.0, 0.1, -1e9])
    def test_classes_that_are_all_equal_are_halved(self, value):
        tree = MFTree().fit(np.full((64, 3), value), np.arange(32).repeat(2))
        assert tree.hierarchy_.max_depth == 5

    def test_sums_that_vanish_after_centring(self):
        half = np.random.default_rng(0).normal(size=(16, 3))
        tree = MFTree().fit(np.concatenate([half, -half]), np.tile(np.arange(16), 2))
        assert tree.hierarchy_.max_depth == 4

    def test_one_class_is_refused(self):
        with pytest.raises(PalmetteError, match="one class only"):
            MFTree().fit(np.zeros((3, 2)), ["a"] * 3)


class TestDepth:
    @pytest.mark.parametrize("min_side", [0.05, 0.1, 0.25, 0.5])
    @pytest.mark.parametrize("weights", ["means", "sums"])
    def test_is_bounded_by_the_least_side(self, min_side, weights):
        # every class is far from all that come before: a chain, without a least side
        X, y = (3.0 ** np.arange(100))[:, None], np.arange(100)
        tree = MFTree(min_side=min_side, weights=weights).fit(X, y)
        assert tree.hierarchy_.max_depth <= np.ceil(np.log(100) / -np.log(1 - min_side))


@pytest.mark.parametrize("factor", [1e-250, 1e-150, 1e150, 1e300])
def test_values_whose_squares_have_no_number(factor):
    X, y = load_digits(return_X_y=True)
    expected = clades(MFTree().fit(X, y))
    for form in (np.asarray, sparse.csr_array):
        assert clades(MFTree().fit(form(X * factor), y)) == expected


def test_planted_groups_in_families_are_found_among_a_thousand_classes():
    # Without families, groups equally far from each other, the eigenvalues are equal too: which two
    # eigenvectors lead is chance, and cuts go through groups (purity .87 to .97, exact or not).
    rng = np.random.default_rng(0)
    group = np.sort(rng.integers(30, size=1000))
    of_group = rng.integers(3000, size=(30, 150))[group]
    of_family = rng.integers(3000, size=(5, 400))[group % 5]
    columns = np.concatenate(
        [
            np.take_along_axis(of_group, rng.integers(150, size=(1000, 40)), axis=1),
            np.take_along_axis(of_family, rng.integers(400, size=(1000, 60)), axis=1),
            rng.integers(3000, size=(1000, 20)),
        ],
        axis=1,
    ).ravel()
    rows = np.repeat(np.arange(1000), 120)
    X = sparse.coo_array((np.ones(120_000), (rows, columns)), (1000, 3000))
    tree = MFTree().fit(X, np.arange(1000))
    planted = pm.Hierarchy.from_paths([(f"g{g}", int(k)) for k, g in enumerate(group)])
    assert clade_purity(tree.hierarchy_, planted) > 0.98


def test_wider_trees_are_shallower_and_leaves_have_their_size():
    X, y = load_digits(return_X_y=True)
    tree = MFTree(3, leaf_size=4).fit(X, y)
    children = np.bincount(np.asarray(tree.tree_.parents[1:]))
    assert children.max() <= 3
    inner = set(tree.tree_.parents)
    last = [len(group) for i, group in enumerate(tree.tree_.groups) if i not in inner]
    assert max(last) <= 4
    assert tree.hierarchy_.max_depth < MFTree().fit(X, y).hierarchy_.max_depth


def test_published_settings_have_a_name():
    published = MFTree.preset("published", leaf_size=2)
    assert (published.rule, published.weights, published.centring) == ("abs", "sums", "global")
    assert published.leaf_size == 2


@pytest.mark.parametrize(("n_classes", "branching", "leaf_size"), [(49, 5, 1), (50, 8, 16)])
def test_the_shape_may_depend_on_the_number_of_classes(n_classes, branching, leaf_size):
    X = np.random.default_rng(0).normal(size=(n_classes, 6))
    learner = MFTree("auto", leaf_size="auto").fit(X, np.arange(n_classes))
    same = MFTree(branching, leaf_size=leaf_size).fit(X, np.arange(n_classes))
    assert learner.hierarchy_ == same.hierarchy_


@pytest.mark.parametrize("rule", ["kmeans", "abs"])
def test_threads_grow_the_same_tree(rule, monkeypatch):
    monkeypatch.setattr(_similarity, "_BLOCK", 12)  # large groups, and small ones with products
    rng = np.random.default_rng(0)
    X = sparse.random_array((180, 300), density=0.1, random_state=rng, format="csr")
    y = np.arange(180) % 60
    shape = {"branching": 2 if rule == "abs" else 4, "rule": rule, "min_side": 0.1}
    one, several = (MFTree(**shape, n_jobs=n_jobs).fit(X, y).tree_ for n_jobs in (None, 3))
    assert one.parents == several.parents
    assert all(map(np.array_equal, one.groups, several.groups))
    dense = [MFTree(**shape, n_jobs=n).fit(X.toarray(), y).hierarchy_ for n in (None, 3)]
    assert dense[0] == dense[1]
