"""Models whose arrays lead out of themselves are refused before a kernel walks them."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from tests.laws.problems import problem
from tests.persistence.round_trips import again

import palmette as pm
from palmette import PalmetteError, ReadError
from palmette.base._multilabel import _TunedAs
from palmette.boosting._hypotheses import ColumnParents, SharedTree
from palmette.forest._oblique_trees import ObliqueTrees
from palmette.persistence import load, save
from palmette.persistence.checkpoints import read_checkpoint, write_checkpoint
from palmette.persistence.checks import check_starts, integers, numbers, same_shapes, within
from palmette.routing import LinearRouter, OptionTable
from palmette.table import TextVectorizer
from palmette.trees._carts import Carts

FEW = {"n_estimators": 2, "random_state": 0}


@cache
def model(name: str) -> Any:
    X, paths = problem()
    made = {
        "shared": pm.HierarchicalBoostingClassifier(n_bags=1, **FEW),
        "classes": pm.AdaBoostMHClassifier(**FEW, weak_learner="stump"),
        "bundle": pm.HierarchicalBoostingClassifier(
            n_bags=1, **FEW, loss=("leaf_softmax", "path_softmax")
        ),
        "colours": pm.AdaBoostECCClassifier(**FEW, weak_learner="stump"),
        "carts": pm.AdaBoostBHCClassifier(**FEW),
        "cart votes": pm.AdaBoostMHClassifier(**FEW, weak_learner="cart"),
        "masked": pm.HierarchicalAdaBoostClassifier(**FEW, weak_learner="stump"),
        "linear": pm.ClassTreeClassifier(router="linear"),
        "pruned": pm.ClassTreeClassifier(router=LinearRouter(prune=1e-6)),
        "pairs": pm.DAGSVMClassifier(),
        "forest": pm.StructuredForestClassifier(**FEW),
        "label trees": pm.TreesMultilabel(**FEW, bootstrap=False),
    }[name]
    return made.fit(X, paths)


def part(name: str) -> Any:
    """Return the object of a model that kernels walk."""
    if name in ("linear", "pruned", "pairs"):
        return model(name).options_
    if name == "carts":
        return node_votes().carts
    if name == "forest":
        return model(name).trees_
    if name == "label trees":
        return model(name).forest_
    return model(name).rounds_[0]


def node_votes() -> Any:
    return model("carts").estimators_[0].routes_.models[0][0]


def spoilt(owner: Any, **others: Any) -> Any:
    """Return an object of the same class with some attributes changed."""
    made = object.__new__(type(owner))
    vars(made).update({**vars(owner), **others})
    return made


def changed(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    "name",
    [
        "shared",
        "classes",
        "bundle",
        "colours",
        "carts",
        "cart votes",
        "masked",
        "linear",
        "pruned",
        "pairs",
        "forest",
        "label trees",
    ],
)
def test_models_as_they_are_fitted_pass(name):
    owner = model(name).estimators_[0] if name == "carts" else model(name)
    owner.check_arrays()
    part(name).check_arrays()
    if hasattr(owner, "routes_"):
        owner.routes_.check_arrays()


@pytest.mark.parametrize(
    ("name", "field", "place", "value"),
    [
        ("shared", "features", -1, 0),  # a leaf at the end of the heap that goes on
        ("shared", "leaf_at", slice(None), 10**6),
        ("shared", "leaf_at", slice(None), -1),
        ("shared", "leaf_at", 0, 10**6),  # of no leaf: importances read it all the same
        ("classes", "features", (0, -1), 0),
        ("carts", "left", 0, 10**6),
        ("carts", "left", 0, -1),
        ("carts", "left", 1, 0),  # round in a circle
        ("carts", "cuts", -1, 0),  # a leaf at the end that a row can leave
        ("carts", "features", 0, -3),
        ("carts", "starts", 1, 10**6),
        ("linear", "targets", 0, 10**6),
        ("linear", "targets", 0, 0),  # round in a circle
        ("linear", "ends", slice(None), 10**6),
        ("linear", "first", 1, 10**6),
        ("forest", "left", 0, 10**6),
        ("forest", "right", 0, 0),  # round in a circle
        ("forest", "weight_starts", 1, 10**6),
        ("forest", "share_labels", 0, 10**6),
        ("forest", "tree_starts", 1, -5),
        ("label trees", "left", 0, 10**6),
        ("label trees", "right", 0, 0),  # round in a circle
        ("label trees", "right", 0, -1),
        ("label trees", "features", 0, 10**6),
        ("label trees", "features", 0, -1),
        ("label trees", "share_starts", 1, 10**6),
        ("label trees", "share_labels", 0, 10**6),
        ("label trees", "share_values", 0, np.nan),
        ("label trees", "tree_starts", 1, -5),
    ],
)
def test_a_place_that_there_is_not_is_refused(name, field, place, value):
    whole = part(name)
    other = replace(whole, **{field: changed(getattr(whole, field), place, value)})
    with pytest.raises(ValueError, match=r"."):
        other.check_arrays()


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("shared", "cuts"),
        ("shared", "cover"),
        ("classes", "values"),
        ("classes", "cover"),
        ("carts", "says"),
        ("cart votes", "values"),
        ("forest", "bias"),
        ("label trees", "thresholds"),
        ("label trees", "share_values"),
        ("linear", "ends"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(name, field):
    whole = part(name)
    array = getattr(whole, field)
    short = array[:-1] if array.ndim == 1 or name == "cart votes" else array[..., :-1]
    with pytest.raises(ValueError, match=r"fit together|different shapes"):
        replace(whole, **{field: np.ascontiguousarray(short)}).check_arrays()


KINDS = ["shared", "classes", "carts", "cart votes", "linear", "forest", "colours", "bundle"]
KINDS += ["label trees"]


@pytest.mark.parametrize("name", KINDS)
def test_whatever_stands_for_an_array_is_refused(name):
    whole = part(name)
    for field in fields(whole):
        now = getattr(whole, field.name)
        for other in (None, 7, "text", [1, 2], {}, *wrong_arrays(now)):
            if field.name == "parents" and other is None:
                continue
            with pytest.raises((ValueError, AttributeError, TypeError)) as caught:
                replace(whole, **{field.name: other}).check_arrays()
            assert not isinstance(now, np.ndarray) or caught.type is ValueError


def wrong_arrays(array: Any) -> list[Any]:
    """Arrays of another type, of more dimensions, of objects, of the other byte order."""
    if not isinstance(array, np.ndarray):
        return []
    others = [array.astype(float if array.dtype.kind in "iub" else int), array[None]]
    others += [array.astype(object), array.astype("U")]
    if array.ndim == 2 and min(array.shape) > 1:
        others.append(np.asfortranarray(array))
    if array.dtype.kind in "iu":
        others += [array.astype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
        others = [
            other for other in others if other.dtype != array.dtype or other.ndim != array.ndim
        ]
    if array.dtype.itemsize > 1:
        others.append(array.astype(array.dtype.newbyteorder(">")))
    return others


def test_a_column_has_parents_that_are_columns():
    trees = part("classes")
    n_columns = len(trees.features)
    starts = np.clip(np.arange(n_columns + 1) - 1, 0, 1)  # the first is above the second
    good = ColumnParents(starts, np.array([0], dtype=np.int32))
    for each in (good, replace(trees, parents=good)):
        each.check_arrays()
    bad = ColumnParents(starts, np.array([n_columns], dtype=np.int32))
    with pytest.raises(ValueError, match="a parent that does not exist"):
        bad.check_arrays()
    own = ColumnParents(starts, np.array([1], dtype=np.int32))
    with pytest.raises(ValueError, match="comes before its parent"):
        own.check_arrays()
    few = ColumnParents(starts[:-1], np.array([0], dtype=np.int32))
    for other in (few, "parents"):
        with pytest.raises(ValueError, match="parents"):
            replace(trees, parents=other).check_arrays()


def test_rounds_fit_the_model():
    fitted = model("shared")
    with pytest.raises(ValueError, match="other columns"):
        spoilt(fitted, start_=fitted.start_[:-1]).check_arrays()
    tree = part("shared")
    wide = replace(tree, features=np.where(tree.features >= 0, 99, tree.features).astype(np.int32))
    with pytest.raises(ValueError, match="uses a feature"):
        spoilt(fitted, rounds_=[wide]).check_arrays()
    for rounds in ([None], [tree, part("classes")], [fitted], [{}], (tree,), 3):
        with pytest.raises(ValueError, match=r"round"):
            spoilt(fitted, rounds_=rounds).check_arrays()
    for name, other in (("bins_", None), ("start_", None), ("start_", 3.0)):
        with pytest.raises(ValueError, match=r"bins|scores"):
            spoilt(fitted, **{name: other}).check_arrays()
    pm.HierarchicalBoostingClassifier().check_arrays()


def test_the_parts_of_a_round_fit_it():
    bundle = part("bundle")
    with pytest.raises(ValueError, match="parts of a round"):
        replace(bundle, bounds=bundle.bounds[::-1].copy()).check_arrays()
    for parts in ((), None, (3,), list(bundle.parts)):
        with pytest.raises(ValueError, match="round"):
            replace(bundle, parts=parts).check_arrays()
    with pytest.raises(ValueError, match="more than one column"):
        replace(part("colours"), binary=part("shared")).check_arrays()


def test_the_votes_of_a_node_fit_its_trees():
    votes = node_votes()
    with pytest.raises(ValueError, match="fit together"):
        replace(votes, coefficients=votes.coefficients[:-1]).check_arrays()
    with pytest.raises(ValueError, match="not Carts"):
        replace(votes, carts=None).check_arrays()
    routes = model("carts").estimators_[0].routes_
    wide = replace(votes.carts, features=votes.carts.features + np.int32(99))
    for models in ({0: [replace(votes, carts=wide)]}, {0: [None]}, [votes]):
        with pytest.raises(ValueError, match=r"feature|NodeVotes|dictionary"):
            spoilt(routes, models=models).check_arrays()


def test_routes_fit_their_options():
    fitted = model("linear")
    for name, other in (("linear", "pairs"), ("pairs", "linear")):
        with pytest.raises(ValueError, match="another number of features"):
            spoilt(model(name), n_features_in_=1).check_arrays()
        with pytest.raises(ValueError, match="do not fit"):
            spoilt(model(name), options_=model(other).options_).check_arrays()
    with pytest.raises(ValueError, match="not an OptionTable"):
        spoilt(fitted, options_=None).check_arrays()
    with pytest.raises(ValueError, match="routes"):
        spoilt(fitted, routes_=None).check_arrays()


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("features", 0, 99), ("lanes", 0, 99), ("first_lane", 1, 5), ("first_entry", 1, 10**6)],
)
def test_linear_routes_have_weights_of_their_own(field, place, value):
    refuses_other_arrays(model("pruned").routes_, field, place, value)


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("features", 0, 99), ("first_feature", 1, 10**6), ("first_lane", 1, 5)],
)
def test_linear_routes_of_whole_nodes_have_weights_of_their_own(field, place, value):
    refuses_other_arrays(model("linear").routes_, field, place, value)


def refuses_other_arrays(routes, field, place, value):
    with pytest.raises(ValueError, match=r"."):
        spoilt(routes, **{field: changed(getattr(routes, field), place, value)}).check_arrays()
    for other in (None, *wrong_arrays(getattr(routes, field))):
        with pytest.raises(ValueError, match=field):
            spoilt(routes, **{field: other}).check_arrays()


def test_linear_routes_are_whole_or_pruned():
    whole, pruned = model("linear").routes_, model("pruned").routes_
    assert whole.lanes is None
    assert whole.first_entry is None
    with pytest.raises(ValueError, match="wrong number of weights"):
        spoilt(whole, weights=whole.weights[:-1].copy()).check_arrays()
    with pytest.raises(ValueError, match="wrong number of weights"):
        spoilt(pruned, lanes=None, first_entry=None, weights=whole.weights[:3]).check_arrays()
    with pytest.raises(ValueError, match="first_entry"):
        spoilt(whole, lanes=pruned.lanes).check_arrays()
    with pytest.raises(ValueError, match="lanes"):
        spoilt(whole, first_entry=pruned.first_entry).check_arrays()


def test_a_forest_fits_its_labels_and_features():
    forest = model("forest")
    others = {"n_features_in_": 1, "label_shares_": np.zeros(2), "trees_": 3, "scale_": None}
    for name, value in others.items():
        with pytest.raises(ValueError, match=r"."):
            spoilt(forest, **{name: value}).check_arrays()
    pm.StructuredForestClassifier().check_arrays()


def test_trees_of_labels_fit_the_labels_and_features_of_their_model():
    trees = model("label trees")
    varies = trees._varies
    others = [("n_features_in_", 1), ("forest_", 3), ("_varies", varies[:-1]), ("_varies", None)]
    others += [("_varies", changed(varies, 0, 10**6)), ("_varies", changed(varies, 0, -1))]
    others += [("forest_", replace(trees.forest_, n_outputs_=trees.forest_.n_outputs_ + 1))]
    others += [("forest_", replace(trees.forest_, left=trees.forest_.left + np.int32(1)))]
    for name, value in others:
        with pytest.raises(ValueError, match=r"."):
            spoilt(trees, **{name: value}).check_arrays()
    pm.TreesMultilabel().check_arrays()


def test_the_columns_of_texts_fit_their_weights():
    texts = ["a red apple", "a red car", "an apple"] * 3
    for method in ("tfidf", "hashing"):
        for pieces in ("auto", None):
            made = TextVectorizer(method, pieces=pieces, max_columns=64).fit(texts)
            again(made).transform(texts)
            others = {"idf_": made.idf_[:3], "n_words_": -1, "pieces_": (0, 3)}
            others |= {"n_words_": 1.0} if method == "tfidf" else {"n_words_": 65}
            for name, value in others.items():
                with pytest.raises(ValueError, match=r"columns|characters"):
                    spoilt(made, **{name: value}).check_arrays()


# ---------------------------------------------------------------------- wherever it stands


def test_every_object_of_a_file_is_checked_wherever_it_stands(tmp_path):
    good = part("shared")
    bad = replace(good, leaf_at=np.full_like(good.leaf_at, 10**6))
    places = {
        "alone": bad,
        "in a list": [bad],
        "in a tuple": ((1, (bad,)),),
        "in a dictionary": {"a": {3: bad}},
        "in an array": np.array([bad, None], dtype=object),
        "in an object": spoilt(model("shared"), extra_=(bad,)),
        "in a pipeline": make_pipeline(pm.FlatClassifier(), spoilt(model("shared"), rounds_=[bad])),
        "in a named tuple": _TunedAs(*[bad] * len(_TunedAs._fields)),
    }
    for where, value in places.items():
        save(value, tmp_path / "bad.palmette")
        with pytest.raises(ReadError, match="a leaf that does not exist"):
            load(tmp_path / "bad.palmette")
        write_checkpoint(tmp_path / "bad.ckpt", {}, {"state": bad if "pipe" in where else value})
        with pytest.raises(ReadError, match="a leaf that does not exist"):
            read_checkpoint(tmp_path / "bad.ckpt")


def test_an_object_without_its_attributes_is_refused(tmp_path):
    for kind in (SharedTree, Carts, ObliqueTrees, OptionTable):
        save([object.__new__(kind)], tmp_path / "empty.palmette")
        with pytest.raises(ReadError, match=kind.__name__):
            load(tmp_path / "empty.palmette")


# ---------------------------------------------------------------------- parts of checks


def test_starts_are_in_order_and_end_where_all_ends():
    assert check_starts(np.array([0, 2, 2, 5]), 3, 5).tolist() == [2, 0, 3]
    assert check_starts(np.array([0], dtype=np.int32), 0, 0).tolist() == []
    for starts in ([], [1, 2], [0, 3, 2], [0, -1], [[0, 1]], [0.0, 1.0]):
        with pytest.raises(ValueError, match="starts"):
            check_starts(np.array(starts), None, None)
    with pytest.raises(ValueError, match="ends before it starts"):
        check_starts(np.array([0, 3, 2], dtype=np.uint64), None, None)
    for n_parts, n_all in ((2, 5), (3, 4)):
        with pytest.raises(ValueError, match=r"expected 2 parts|not end at 4"):
            check_starts(np.array([0, 2, 2, 5]), n_parts, n_all)


def test_arrays_are_of_the_type_that_is_asked_for():
    assert numbers(np.zeros(2, np.float32), np.float32, 1, "x").shape == (2,)
    for other in (
        np.zeros(2),
        np.zeros((2, 1), np.float32),
        [0.0],
        None,
        np.float32(1),
        bytearray(4),
    ):
        with pytest.raises(ValueError, match="x: expected an array of float32 with 1"):
            numbers(other, np.float32, 1, "x")
    assert integers(np.arange(3, dtype=np.uint8), "y").tolist() == [0, 1, 2]
    for other in (np.zeros(2), np.zeros((1, 1), int), np.arange(3).astype(">i8"), 3, True):
        with pytest.raises(ValueError, match="y: expected integers"):
            integers(other, "y")
    assert within(np.array([-1, 0, 2, 3]), 3).tolist() == [False, True, True, False]
    with pytest.raises(ValueError, match="different shapes"):
        same_shapes(np.zeros(2), np.zeros(2), np.zeros(3))


# ---------------------------------------------------------------------- numbers that wrap


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "u4", "u8"])
def test_narrow_and_unsigned_starts_do_not_wrap(kind):
    assert check_starts(np.array([0, 2, 3], dtype=kind), 2, 3).tolist() == [2, 1]
    with pytest.raises(ValueError, match="ends before it starts"):
        check_starts(np.array([0, 3, 2], dtype=kind), 2, 2)
    wide = np.array([0, np.iinfo(kind).max // 2 + 1, np.iinfo(kind).max], dtype=kind)
    if kind != "u8":
        assert check_starts(wide, 2, None).sum() == np.iinfo(kind).max
        return
    with pytest.raises(ValueError, match="too large"):
        check_starts(wide, 2, None)


def test_options_lead_to_the_classes_of_the_model():
    changed = again(model("linear"))
    below = changed.options_.below.copy()
    below.resize((below.shape[0], 10**9))
    object.__setattr__(changed.options_, "below", below)
    with pytest.raises(ValueError, match="other classes"):
        changed.check_arrays()


def test_routes_take_rows_of_their_features_only():
    routes = model("linear").routes_
    with pytest.raises(PalmetteError, match="X has 1 features"):
        routes.prepare(np.zeros((2, 1)))


def test_rounds_are_not_nested():
    coloured, bundle = part("colours"), part("bundle")
    for whole, parts in ((coloured, {"binary": coloured}), (bundle, {"parts": (bundle, bundle)})):
        with pytest.raises(ValueError, match=r"in rounds|has parts"):
            replace(whole, **parts).check_arrays()


# ---------------------------------------------------------------------- what is not checked


def test_a_model_of_a_changed_file_fails_with_an_error_of_ours(tmp_path):
    X, _ = problem()
    whole = model("linear")
    changed = again(whole)
    assert changed.predict(X) == whole.predict(X)
    with pytest.raises(ValueError, match="expecting") as refused:
        changed.predict(X[:, :1])
    assert not isinstance(refused.value, PalmetteError)  # X is wrong, not the file
    for each in (changed, again(whole)):
        del each._answers.class_order
        with pytest.raises(PalmetteError, match=r"predict_proba failed \(AttributeError.*file"):
            each.predict_proba(X)
    fitted = pm.ClassTreeClassifier(router="linear").fit(*problem())
    del fitted._answers.class_order
    with pytest.raises(AttributeError):  # not from a file: an error of its own
        fitted.predict_proba(X)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": -1},
        {"seed": "1"},
        {"rounds": "text"},
        {"rounds": [7]},
        {"losses": np.zeros(7)},
        {"losses": [0.5, 0.5]},
        {"edges": np.zeros(2, dtype=np.float32)},
        {"validation": np.zeros(2)},
        {"seed": None, "rounds": None},
    ],
)
def test_a_fit_does_not_continue_from_a_changed_checkpoint(change, tmp_path):
    X, paths = problem()
    file = tmp_path / "run"
    clf = pm.HierarchicalBoostingClassifier(n_bags=1, **FEW).set_callbacks(pm.Checkpoint(file))
    clf.fit(X, paths)
    fingerprint, state = read_checkpoint(file)
    write_checkpoint(file, fingerprint, {**state, **change})
    with pytest.raises(PalmetteError, match="delete it to start over"):
        clf.fit(X, paths)


@pytest.mark.parametrize("other", ["classes", "cart votes", "colours", "bundle"])
def test_rounds_of_another_fit_are_not_continued(other, tmp_path):
    X, paths = problem()
    file = tmp_path / "run"
    clf = pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=3, random_state=0)
    clf.set_callbacks(pm.Checkpoint(file)).fit(X, paths)
    fingerprint, state = read_checkpoint(file)
    rounds = model(other).rounds_
    short = {name: state[name][: len(rounds)] for name in ("losses", "edges")}
    write_checkpoint(file, fingerprint, {**state, **short, "rounds": rounds})
    with pytest.raises(PalmetteError, match="delete it to start over"):
        clf.fit(X, paths)


def test_a_bundle_has_the_parts_of_the_fit(tmp_path):
    X, paths = problem()
    file = tmp_path / "run"
    clf = pm.HierarchicalBoostingClassifier(n_bags=1, **FEW, loss=("leaf_softmax", "path_softmax"))
    clf.set_callbacks(pm.Checkpoint(file)).fit(X, paths)
    fingerprint, state = read_checkpoint(file)
    bundle = state["rounds"][0]
    swapped = replace(
        bundle, parts=bundle.parts[::-1], bounds=bundle.bounds[-1] - bundle.bounds[::-1]
    )
    if not np.array_equal(swapped.bounds, bundle.bounds):
        write_checkpoint(file, fingerprint, {**state, "rounds": [swapped] * len(state["rounds"])})
        with pytest.raises(PalmetteError, match="other parts"):
            clf.set_params(n_estimators=3).fit(X, paths)
