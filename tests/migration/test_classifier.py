"""A fitted classifier over a changed tree: what is carried over, and what is fitted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.persistence.round_trips import again, bytes_of

import palmette as pm
from palmette import PalmetteError, migrate
from palmette.base._adapters import OverLabels
from palmette.persistence import load

PATHS = [("food", "fruit", "apple"), ("food", "fruit", "pear"), ("food", "nuts"),
         ("tools", "saws"), ("tools", "nails")]  # fmt: skip
APPLE, PEAR, NUTS, SAWS, NAILS = PATHS


def make_rows():
    rng = np.random.default_rng(0)
    codes = np.arange(150) % 5
    return np.eye(5)[codes] + 0.5 * rng.normal(size=(150, 5)), [PATHS[code] for code in codes]


X, Y = make_rows()
SETS = [{path, PATHS[(i * i) % 5]} for i, path in enumerate(Y)]

ONE_PATH = {
    "local": pm.LocalPerParentClassifier(GaussianNB()),
    "tree": pm.ClassTreeClassifier(router="linear", decoding="greedy"),
    "boosting": pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=12, random_state=0),
    "calibrated": pm.CalibratedHierarchicalClassifier(
        pm.LocalPerParentClassifier(GaussianNB()), cv=2, random_state=0
    ),
    "conformal": pm.ConformalHierarchicalClassifier(
        pm.LocalPerParentClassifier(GaussianNB()), coverage=0.8, random_state=0
    ),
    "pipeline": make_pipeline(StandardScaler(), pm.FlatClassifier(GaussianNB())),
    "labels": OverLabels(GaussianNB()),
}
BY_NODE = {
    "relevance": pm.BinaryRelevance(GaussianNB()),
    "nodes": pm.LocalPerNodeClassifier(GaussianNB()),
    "thresholds": pm.ThresholdedMultilabel(pm.BinaryRelevance(GaussianNB()), cv=2, random_state=0),
}


@cache
def fitted(name):
    if name in BY_NODE:
        return BY_NODE[name].fit(X, SETS)
    return ONE_PATH[name].fit(X, Y)


def by_label(model):
    """Return the probabilities of the labels of a model by label."""
    return dict(zip(map(tuple, model.classes_), model.predict_proba(X).T, strict=True))


def by_path(model):
    """Return the probabilities of the nodes of a model by path."""
    return dict(zip(model.hierarchy_.path_strings, model.predict_node_proba(X).T, strict=True))


# ---------------------------------------------------------------------- one path per row


@pytest.mark.parametrize("name", ONE_PATH)
def test_new_names_change_nothing_else(name):
    model = fitted(name)
    new = migrate(model, [("food > fruit", "food > fruits"), ("tools", "hardware")])
    names = {"fruit": "fruits", "tools": "hardware"}
    renamed = [tuple(names.get(part, part) for part in path) for path in model.predict(X)]
    assert list(map(tuple, new.predict(X))) == renamed
    np.testing.assert_array_equal(new.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", ONE_PATH)
def test_moved_labels_keep_their_probability_and_merged_ones_have_the_sum(name):
    before = by_label(fitted(name))
    changes = [("food > fruit", "tools > fruit"), ("tools > saws", "tools > metal"),
               ("tools > nails", "tools > metal")]  # fmt: skip
    new = migrate(fitted(name), changes)
    after = by_label(new)
    np.testing.assert_array_equal(after["tools", "fruit", "apple"], before[APPLE])
    np.testing.assert_array_equal(after["food", "nuts"], before[NUTS])
    np.testing.assert_array_equal(after["tools", "metal"], before[SAWS] + before[NAILS])
    np.testing.assert_allclose(by_path(new)["food"], before[NUTS])
    assert {path[:2] for path in new.predict(X)} <= {*after, ("tools", "fruit"), ("tools",)}


def test_removed_labels_leave_the_others_in_proportion():
    before = by_label(fitted("local"))
    after = by_label(migrate(fitted("local"), [("tools > nails", "")]))
    assert ("tools", "nails") not in after
    np.testing.assert_allclose(after[APPLE], before[APPLE] / (1 - before[NAILS]))
    np.testing.assert_allclose(sum(after.values()), 1.0)


def split_labels():
    """Return labels in a tree in which nuts are split, and long saws are a leaf of their own."""
    kinds = np.where(X[:, 0] > 0, "hazel", "wal")
    new = [("food", kind) if path == NUTS else path for kind, path in zip(kinds, Y, strict=True)]
    return [("tools", "drills") if path == SAWS and row[4] > 0.3 else path
            for path, row in zip(new, X, strict=True)]  # fmt: skip


SPLIT = [("food > nuts", "food > hazel"), ("food > nuts", "food > wal")]


@pytest.mark.parametrize("name", ONE_PATH)
def test_a_split_label_stops_above_its_parts_until_there_are_rows(name):
    before = by_label(fitted(name))
    waiting = migrate(fitted(name), SPLIT)
    np.testing.assert_array_equal(by_label(waiting)["food",], before[NUTS])
    y = split_labels()
    assert migrate(fitted(name), SPLIT, X, Y).steps_ == []  # labels of the old tree have no parts
    whole = migrate(waiting, table=X, y=[SAWS if p[-1] == "drills" else p for p in y])
    after = by_label(whole)
    assert ("food",) not in after
    for path in (APPLE, PEAR, SAWS, NAILS):  # bit by bit
        np.testing.assert_array_equal(after[path], before[path])
    np.testing.assert_allclose(after["food", "hazel"] + after["food", "wal"], before[NUTS])
    is_hazel = [path == ("food", "hazel") for path in y]
    is_wal = [path == ("food", "wal") for path in y]
    share = after["food", "hazel"] / before[NUTS]
    assert share[is_hazel].mean() > share[is_wal].mean() + 0.3
    assert len(whole.steps_) == 1


def test_the_fitted_classifier_is_the_same_object_and_unchanged():
    model = fitted("local")
    content = bytes_of(model)
    new = migrate(model, [*SPLIT, ("", "tools > drills")], X, split_labels())
    assert new.fitted_ is model
    assert bytes_of(model) == content


def test_a_new_leaf_gets_rows_from_all_others():
    before = by_label(fitted("local"))
    new = migrate(fitted("local"), [("", "tools > drills")])
    np.testing.assert_array_equal(by_label(new)[SAWS], before[SAWS])
    assert ("tools", "drills") not in by_label(new)
    np.testing.assert_array_equal(by_path(new)["tools/drills"], 0.0)
    y = [NUTS if path[-1] in ("hazel", "wal") else path for path in split_labels()]
    whole = by_label(migrate(new, table=X, y=y))
    rest = 1 - whole["tools", "drills"]
    np.testing.assert_allclose(whole[APPLE], before[APPLE] * rest)
    is_drill = np.array([path[-1] == "drills" for path in y])
    assert whole["tools", "drills"][is_drill].mean() > 0.5
    assert whole["tools", "drills"][~is_drill].mean() < 0.1
    alone = migrate(new, table=X[is_drill], y=[path for path in y if path[-1] == "drills"])
    assert len(alone.pending_) == 1  # without other rows nothing can be learned


def test_migrations_are_composed_not_nested():
    y = split_labels()
    one = migrate(fitted("local"), [*SPLIT, ("", "tools > drills")], X, y)
    changes = [("food > hazel", "nuts > hazel"), ("tools > saws", "tools > metal"),
               ("tools > nails", "tools > metal"), ("food > fruit > pear", "")]  # fmt: skip
    two = migrate(one, changes)
    three = migrate(two, [("nuts > hazel", "nuts > wal"), ("food > wal", "nuts > wal")])
    assert three.fitted_ is fitted("local")
    before, after = by_label(one), by_label(three)
    kept = 1 - before[PEAR]
    both = before["food", "hazel"] + before["food", "wal"]
    np.testing.assert_allclose(after["nuts", "wal"], both / kept)
    np.testing.assert_allclose(after["tools", "metal"], (before[SAWS] + before[NAILS]) / kept)
    np.testing.assert_allclose(after["tools", "drills"], before["tools", "drills"] / kept)
    loaded = again(three)
    np.testing.assert_array_equal(loaded.predict_proba(X), three.predict_proba(X))


def test_sets_with_a_coverage_follow_their_labels():
    model = fitted("conformal")
    new = migrate(model, [*SPLIT, ("food > fruit", "tools > fruit")])
    place = {APPLE: [("tools", "fruit", "apple")], PEAR: [("tools", "fruit", "pear")],
             NUTS: [("food",), ("food", "hazel"), ("food", "wal")]}  # fmt: skip
    expected = [
        {new for old in row for new in place.get(old, [old])} for row in model.predict_set(X)
    ]
    assert new.predict_set(X) == expected
    for node, row in zip(new.predict_node_numbers(X), model.predict_node(X), strict=True):
        inside = [p for path in PATHS if path[: len(row)] == row for p in place.get(path, [path])]
        top = new.hierarchy_.path(int(node))
        assert all(path[: len(top)] == top for path in inside)


def test_labels_that_are_names_are_spelled_as_before():
    names = [path[-1] for path in Y]
    tree = pm.Hierarchy.from_paths(PATHS)
    model = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=tree).fit(X, names)
    new = migrate(model, [("nuts", "acorns"), ("food > fruit", "tools > fruit")])
    assert set(new.predict(X)) == {"apple", "pear", "acorns", "saws", "nails"}
    assert new.classes_.tolist() == sorted(new.classes_.tolist())


def test_a_model_without_probabilities_is_carried_over():
    from sklearn.svm import LinearSVC

    model = pm.LocalPerParentClassifier(LinearSVC()).fit(X, Y)
    new = migrate(model, [("food > fruit", "tools > fruit")])
    assert not hasattr(new, "predict_proba")
    same = np.mean([a[-1] == b[-1] for a, b in zip(model.predict(X), new.predict(X), strict=True)])
    assert same > 0.8  # the greedy rule starts at other groups
    pairs = OverLabels(pm.DAGSVMClassifier()).fit(X, Y)
    merged = migrate(pairs, [("tools > saws", "tools > all"), ("tools > nails", "tools > all")])
    expected = [("tools", "all") if path[0] == "tools" else path for path in pairs.predict(X)]
    assert merged.predict(X) == expected


def test_fit_fits_everything_again_along_the_new_tree():
    new = migrate(fitted("local"), SPLIT)
    y = [SAWS if path[-1] == "drills" else path for path in split_labels()]
    model = again(new).fit(X, y)
    expected = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=new.hierarchy_).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


# ---------------------------------------------------------------------- several paths per row


@pytest.mark.parametrize("name", BY_NODE)
def test_nodes_keep_their_probabilities(name):
    model = fitted(name)
    before = by_path(model)
    renamed = migrate(model, [("food > fruit", "food > fruits")])
    assert list(renamed.predict(X)) == [
        {tuple("fruits" if part == "fruit" else part for part in path) for path in row}
        for row in model.predict(X)
    ]
    after = by_path(migrate(model, [("food > fruit", "tools > fruit")]))
    for old, new in (("food/fruit", "tools/fruit"), ("food/fruit/pear", "tools/fruit/pear"),
                     ("food/nuts", "food/nuts")):  # fmt: skip
        np.testing.assert_array_equal(after[new], before[old])
    np.testing.assert_allclose(after["food"], np.minimum(before["food"], before["food/nuts"]))
    assert (after["tools"] >= after["tools/fruit"]).all()
    merged = by_path(
        migrate(model, [("tools > saws", "tools > all"), ("tools > nails", "tools > all")])
    )
    either = 1 - (1 - before["tools/saws"]) * (1 - before["tools/nails"])
    np.testing.assert_allclose(merged["tools/all"], either)
    collapsed = migrate(model, [("food > fruit > apple", "food > fruit", "merge"),
                                ("food > fruit > pear", "food > fruit", "merge")])  # fmt: skip
    np.testing.assert_array_equal(by_path(collapsed)["food/fruit"], before["food/fruit"])


@pytest.mark.parametrize("name", BY_NODE)
def test_parts_and_new_labels_of_sets(name):
    model = fitted(name)
    before = by_path(model)
    y = []
    for values, row in zip(X, SETS, strict=True):
        part = ("food", "hazel" if values[0] > 0 else "wal")
        drills = {("tools", "drills")} if values[3] > 0.8 else set()
        y.append({part if path == NUTS else path for path in row} | drills)
    new = migrate(model, [*SPLIT, ("", "tools > drills")], X, y)
    after = by_path(new)
    np.testing.assert_array_equal(after["food/fruit/apple"], before["food/fruit/apple"])
    assert (after["food/hazel"] <= before["food/nuts"]).all()
    has = np.array([("tools", "drills") in row for row in y])
    assert after["tools/drills"][has].mean() > after["tools/drills"][~has].mean() + 0.3
    assert ("tools", "drills") in set.union(*new.predict(X))
    loaded = again(new)
    np.testing.assert_array_equal(loaded.predict_node_proba(X), new.predict_node_proba(X))


def test_a_matrix_becomes_sets_of_names():
    labels = pm.NodeLabels.encode(SETS)
    matrix = labels.closed.toarray()[:, 1:].astype(int)
    model = pm.BinaryRelevance(GaussianNB(), hierarchy=labels.hierarchy).fit(X, matrix)
    new = migrate(model, [("food > nuts", "food > acorns")])
    assert "acorns" in set.union(*new.predict(X))
    np.testing.assert_array_equal(by_path(new)["food/acorns"], by_path(model)["food/nuts"])


def test_a_dag_with_new_names():
    dag = pm.Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    y = [{"x"} if row[0] > 0.5 else {"y"} for row in X]
    model = pm.LocalPerNodeClassifier(GaussianNB(), hierarchy=dag).fit(X, y)
    new = migrate(model, [("x", "cross")])
    assert [{"cross" if each == "x" else each for each in row} for row in model.predict(X)] == list(
        new.predict(X)
    )


# ---------------------------------------------------------------------- errors and files


def test_rows_need_labels_and_changes_must_be_there():
    with pytest.raises(PalmetteError, match="y is missing"):
        migrate(fitted("local"), SPLIT, X)
    with pytest.raises(PalmetteError, match="there are no changes"):
        migrate(fitted("local"))
    with pytest.raises(PalmetteError, match="fern"):
        migrate(fitted("local"), SPLIT, X, [("fern",)] * len(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("targets_", np.array([1, 2, 99], dtype=np.int32)),
        ("targets_", np.array([1, 2], dtype=np.int32)),
        ("origins_", np.zeros(3, dtype=np.int32)),
        ("steps_", ["x"]),
        ("pending_", [7]),
        ("hierarchy_", pm.Hierarchy.star(["a"])),
    ],
)
def test_a_changed_file_is_refused(name, value, tmp_path):
    model = again(migrate(fitted("local"), SPLIT))
    setattr(model, name, value)
    (tmp_path / "model.palmette").write_bytes(bytes_of(model))
    with pytest.raises(PalmetteError):
        load(tmp_path / "model.palmette")
