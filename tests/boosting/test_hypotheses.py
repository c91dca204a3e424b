"""Laws of hypotheses: votes by hand, in blocks and in stacks; files give back what they got."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from tests.boosting import boosted

from palmette.boosting._hypotheses import (
    CartVotes,
    ClassModels,
    ClassTrees,
    ColumnParents,
    Samples,
    SharedTree,
    add_class_trees,
    extent_of,
)
from palmette.exceptions import PalmetteError
from palmette.persistence.checkpoints import read_checkpoint, write_checkpoint
from palmette.trees._carts import Carts

KINDS = {
    "shared trees": (boosted.shared_tree, 4, None),
    "class trees": (boosted.class_trees, 4, None),
    "stumps": (lambda seed: boosted.class_trees(seed, max_depth=1), 4, None),
    "masked class trees": (
        lambda seed: boosted.class_trees(seed, parents=boosted.PARENTS),
        4,
        boosted.PARENTS,
    ),
    "full trees": (boosted.cart_votes, 4, None),
    "masked full trees": (
        lambda seed: boosted.cart_votes(seed, parents=boosted.PARENTS),
        4,
        boosted.PARENTS,
    ),
    "coloured class trees": (boosted.coloured, 4, None),
    "coloured shared trees": (
        lambda seed: boosted.coloured(seed, boosted.shared_tree),
        4,
        None,
    ),
    "coloured full trees": (
        lambda seed: boosted.coloured(seed, boosted.cart_votes),
        4,
        None,
    ),
    "bundles": (boosted.bundle, 9, None),
    "wide bundles": (lambda seed: boosted.bundle(seed, (1,) * 12), 12, None),
}


def votes(hypothesis, rows, n_columns, dtype=np.float64):
    scores = np.zeros((len(rows.codes), n_columns), dtype=dtype)
    hypothesis.add_scores(rows, scores)
    return scores


# ---------------------------------------------------------------------- votes by hand


def test_a_shared_tree_votes_for_all_columns_by_its_leaf():
    features = np.array([-1, 1, -1, -1], dtype=np.int32)
    tree = SharedTree(
        features,
        np.array([0, 4, 0, 0], dtype=np.uint8),
        np.array([-1, -1, 0, 1], dtype=np.int32),
        np.array([[1, 2], [-3, 4]], dtype=np.float32),
        np.ones(2, dtype=np.float32),
    )
    rows = Samples(np.array([[9, 4], [0, 5], [0, 255]], dtype=np.uint8))
    assert votes(tree, rows, 2).tolist() == [[1, 2], [-3, 4], [-3, 4]]
    assert tree.table().tolist() == [[1, -3], [2, 4]]
    assert votes(tree, rows, 2, np.float32).dtype == np.float32


@pytest.mark.parametrize(("need_all", "second"), [(True, -5.0), (False, 5.0)])
def test_class_trees_vote_column_by_column_under_the_mask(need_all, second):
    """Stumps on features 0, 1 and 2; the third column is below both of the others."""
    features = np.full((3, 4), -1, dtype=np.int32)
    features[:, 1] = [0, 1, 2]
    cuts = np.zeros((3, 4), dtype=np.uint8)
    signs = np.array([[-1, -1, -1, 1]] * 3, dtype=np.int8)
    parents = ColumnParents(np.array([0, 0, 0, 2]), np.array([0, 1], dtype=np.int32), need_all)
    values = signs * np.array([[1.0], [2.0], [5.0]])
    trees = ClassTrees(features, cuts, signs, values, np.ones((3, 4), np.float32), parents)
    rows = Samples(np.array([[1, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=np.uint8))
    assert votes(trees, rows, 3)[:, :2].tolist() == [[1, 2], [1, -2], [-1, -2], [1, 2]]
    assert votes(trees, rows, 3)[:, 2].tolist() == [5.0, second, -5.0, -5.0]


def test_class_models_vote_what_they_predict_and_masked_rows_stand_at_place_0():
    hypothesis = boosted.class_models(0)
    rows = boosted.samples(seed=3)
    said = np.column_stack([model.predict(rows.X) for model in hypothesis.models])
    assert np.array_equal(votes(hypothesis, rows, 4), said * hypothesis.values[:, 2])
    masked = ClassModels(hypothesis.models, hypothesis.signs, hypothesis.values, boosted.PARENTS)
    places = masked.places(rows.X)
    let_through = (said[:, 0] > 0) & (said[:, 1] > 0)
    assert ((places[:, 3] == 0) == ~let_through).all()
    expected = np.where(let_through, said[:, 3], -1) * hypothesis.values[3, 2]
    assert np.array_equal(votes(masked, rows, 4)[:, 3], expected)
    assert 0 < let_through.sum() < len(said)


@pytest.mark.parametrize(("need_all", "second"), [(True, -5.0), (False, 5.0)])
def test_full_trees_vote_column_by_column_under_the_mask(need_all, second):
    """A leaf that says yes, a stump, and a tree of two splits that is below both of them."""
    yes = ([0], [255], [0], [1])
    stump = ([1, 0, 0], [4, 255, 255], [1, 1, 2], [-1, -1, 1])
    deep = ([0, 0, 2, 0, 0], [2, 255, 2, 255, 255], [1, 1, 3, 3, 4], [1, -1, 1, -1, 1])
    kinds = (np.int32, np.uint8, np.int32, np.int8)
    carts = Carts.of(
        tuple(np.array(part, dtype=kind) for part, kind in zip(tree, kinds, strict=True))
        for tree in (yes, stump, deep)
    )
    parents = ColumnParents(np.array([0, 0, 0, 2]), np.array([0, 1], dtype=np.int32), need_all)
    values = np.array([[-1.0, -1.0, 1.0], [-2.0, -2.0, 2.0], [-5.0, -5.0, 5.0]])
    trees = CartVotes(carts, values, parents)
    rows = Samples(np.array([[3, 5, 3], [3, 4, 3], [3, 5, 2], [2, 255, 255]], dtype=np.uint8))
    assert votes(trees, rows, 3)[:, :2].tolist() == [[1, 2], [1, -2], [1, 2], [1, 2]]
    assert votes(trees, rows, 3)[:, 2].tolist() == [5.0, second, -5.0, -5.0]


@pytest.mark.parametrize("binary", [boosted.class_trees, boosted.shared_tree, boosted.cart_votes])
def test_a_coloured_hypothesis_votes_for_a_colour(binary):
    hypothesis, rows = boosted.coloured(2, binary), boosted.samples()
    one = votes(hypothesis.binary, rows, 1)
    assert np.array_equal(votes(hypothesis, rows, 4), one * hypothesis.code)


def test_a_bundle_votes_in_blocks():
    hypothesis, rows = boosted.bundle(1), boosted.samples()
    parts = [votes(part, rows, n) for part, n in zip(hypothesis.parts, (4, 2, 3), strict=True)]
    assert np.array_equal(votes(hypothesis, rows, 9), np.hstack(parts))


@pytest.mark.parametrize("kind", KINDS)
def test_votes_are_added_to_what_is_there(kind):
    make, n_columns, _ = KINDS[kind]
    rows, hypothesis = boosted.samples(), make(1)
    scores = np.full((len(rows.codes), n_columns), 7.0)
    hypothesis.add_scores(rows, scores)
    np.testing.assert_allclose(scores - 7.0, votes(hypothesis, rows, n_columns), atol=1e-12)


@pytest.mark.parametrize("parents", [None, boosted.PARENTS], ids=["plain", "masked"])
def test_rounds_stacked_are_rounds_one_by_one(parents):
    rounds = [boosted.class_trees(seed, parents=parents) for seed in range(7)]
    rows = boosted.samples(300)
    stacked, single = np.zeros((300, 4)), np.zeros((300, 4))
    add_class_trees(rounds, rows, stacked)
    for each in rounds:
        each.add_scores(rows, single)
    assert np.array_equal(stacked, single)
    assert np.unique(stacked).size > 20


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS)
def test_rounds_come_back_from_a_checkpoint(kind, tmp_path):
    make, n_columns, parents = KINDS[kind]
    rounds, rows = [make(seed) for seed in range(5)], boosted.samples()
    write_checkpoint(tmp_path / "rounds", {"estimator": "none"}, {"rounds": rounds})
    again = read_checkpoint(tmp_path / "rounds")[1]["rounds"]
    assert len(again) == 5
    for one, other in zip(rounds, again, strict=True):
        assert_same_hypothesis(one, other)
        assert extent_of(other)[0] == n_columns
        expected, found = (votes(each, rows, n_columns) for each in (one, other))
        assert found.tobytes() == expected.tobytes()
    if parents is not None:  # written once, and one object for all rounds
        assert len({id(getattr(each, "parents", None)) for each in again}) == 1


def assert_same_hypothesis(one, other):
    assert type(one) is type(other)
    for field in fields(one):
        before, after = getattr(one, field.name), getattr(other, field.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype, field.name
            assert before.shape == after.shape, field.name
            assert before.tobytes() == after.tobytes(), field.name
        elif isinstance(before, tuple):
            for part, part_again in zip(before, after, strict=True):
                assert_same_hypothesis(part, part_again)
        elif is_dataclass(before):
            assert_same_hypothesis(before, after)
        else:
            assert before == after


def test_models_of_other_libraries_are_refused_by_name(tmp_path):
    with pytest.raises(
        PalmetteError, match=r"DummyClassifier.*Use a weak learner of palmette.weak"
    ):
        write_checkpoint(tmp_path / "rounds", {}, {"rounds": [boosted.class_models(0)]})


# ---------------------------------------------------------------------- tables


@pytest.mark.parametrize(
    "kind", ["shared trees", "class trees", "masked class trees", "masked full trees"]
)
def test_the_table_holds_every_vote(kind):
    make, n_columns, _ = KINDS[kind]
    table = make(3).table()
    assert table.dtype == np.float64
    assert len(table) == n_columns
    for column, cast in enumerate(votes(make(3), boosted.samples(400), n_columns).T):
        assert set(cast.tolist()) <= set(table[column].tolist())
