from __future__ import annotations

import numpy as np
import pytest
from tests.class_tree.clades import clades, newick

import palmette as pm
from palmette.class_tree import BHCTree
from palmette.exceptions import PalmetteError


def rows_of(name, data_home):
    bunch = pm.datasets.fetch(name, data_home=data_home)
    return (bunch.X, bunch.y) if "X" in bunch else (bunch.X_train, bunch.y_train)


@pytest.mark.data
class TestStablePartitions:
    @pytest.mark.parametrize("start", ["eigenvector", "first_class"])
    @pytest.mark.parametrize("ridge", [1e-8, 1e-3, 1e-2])
    def test_glass_parts_windows_from_the_rest(self, start, ridge, data_home):
        tree = BHCTree(start, ridge=ridge).fit(*rows_of("glass", data_home))
        names = [set(map(str, tree.classes_[group])) for group in tree.tree_.groups[1:3]]
        assert {"1", "2", "3"} in names
        assert {"5", "6", "7"} in names

    @pytest.mark.parametrize("start", ["eigenvector", "first_class"])
    def test_page_blocks(self, start, data_home):
        X, y = rows_of("page_blocks", data_home)
        assert newick(BHCTree(start).fit(X, y)) == "(1 ((2 4) (3 5)))"

    def test_page_blocks_in_any_order_of_classes(self, data_home):
        X, y = rows_of("page_blocks", data_home)
        expected = clades(BHCTree().fit(X, y))
        classes, codes = np.unique(y, return_inverse=True)
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(5)
            tree = BHCTree("first_class").fit(X, order[codes])
            names = dict(zip(order.tolist(), classes.tolist(), strict=True))
            assert {frozenset(names[k] for k in group) for group in clades(tree)} == expected

    def test_landsat_from_the_first_class(self, data_home):
        X, y = rows_of("landsat", data_home)
        assert newick(BHCTree("first_class").fit(X, y)) == "(1 (((2 5) 7) (3 4)))"


@pytest.mark.data
def test_diatoms_are_no_chain(data_home):
    bunch = pm.datasets.fetch("diatoms", data_home=data_home)
    names = np.array([str(path) for path in bunch.y_train])
    tree = BHCTree(min_side=0.0).fit(bunch.X_train, names)
    assert len(tree.classes_) == 306
    assert tree.hierarchy_.max_depth <= 12


def test_one_class_is_refused():
    with pytest.raises(PalmetteError, match="one class only"):
        BHCTree().fit(np.zeros((3, 2)), [1, 1, 1])


def test_leaves_may_hold_several_classes():
    rng = np.random.default_rng(0)
    tree = BHCTree(leaf_size=3).fit(rng.normal(size=(40, 2)), np.repeat(np.arange(10), 4))
    parents = set(tree.tree_.parents)
    last = [len(group) for i, group in enumerate(tree.tree_.groups) if i not in parents]
    assert max(last) <= 3
    assert sum(last) == 10
