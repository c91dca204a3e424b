"""Predictions are written in the form of `y`, also where they are nodes that `y` did not hold."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from tests.label_cases import NAMES, PATHS, TABLES, same
from tests.strategies import any_names, node_lists, quick, trees

from palmette import (
    ClassTreeClassifier,
    CoherentForestClassifier,
    ConformalHierarchicalClassifier,
    FlatClassifier,
)
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import as_dtype
from palmette.labels._labels import NodeLabels

DAYS = ["2024-01-31", "2024-02-01", "2024-03-31"]
DATES = {
    "days": np.array(DAYS, dtype="datetime64[D]"),
    "nanoseconds": np.array(DAYS, dtype="datetime64[ns]"),
    "durations": np.array([1, 2, 3], dtype="timedelta64[ns]"),
    "scalars": list(np.array(DAYS, dtype="datetime64[ns]")),
    "timestamps": [pd.Timestamp(day) for day in DAYS],
    "dates": [pd.Timestamp(day).date() for day in DAYS],
    "series": pd.Series(pd.to_datetime(DAYS)),
    "zoned": pd.Series(pd.to_datetime(DAYS, utc=True)),
    "nanosecond series": pd.Series(DAYS, dtype="datetime64[ns]"),
    "category": pd.Series(DAYS, dtype="datetime64[ns]").astype("category"),
    "polars": pl.Series(DAYS).str.to_datetime(),
    "pyarrow": pa.array(pd.to_datetime(DAYS)),
    "pyarrow days": pa.array([pd.Timestamp(day).date() for day in DAYS]),
}
few = settings(quick, max_examples=8)
PETS = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
YEARS = Hierarchy.from_paths([(2019, 1), (2019, 2), (2020, 1), ("later", 3)])
EVERY = np.arange(1, 6, dtype=np.int32)


def written(y, nodes, hierarchy=PETS, index=None):
    return NodeLabels.encode(y, hierarchy).form.write_nodes(np.asarray(nodes), hierarchy, index)


@st.composite
def fitted(draw, names):
    """A tree, the nodes in training and those that are predicted."""
    h = draw(trees(names=names, max_nodes=8).filter(lambda h: h.n_nodes > 1))
    return h, draw(node_lists(h, root=False).filter(len)), draw(node_lists(h, root=False))


@few
@given(fitted(st.sampled_from("abc")))
def test_answers_of_names_are_read_as_the_nodes_that_were_written(case):
    h, known, nodes = case
    for form, build in NAMES.items():
        if form == "numpy bytes":
            continue
        note(form)
        y = build([h.path_strings[node] for node in known])
        answer = written(y, nodes, h)
        assert type(answer) is type(y)
        assert NodeLabels.encode(answer, h).given.indices.tolist() == nodes


@few
@given(fitted(st.sampled_from("abc")))
def test_answers_of_paths_are_read_as_the_nodes_that_were_written(case):
    h, known, nodes = case
    for form, build in [*TABLES.items(), *PATHS.items()]:
        note(form)
        y = build([h.path(node) for node in known])
        answer = written(y, nodes, h)
        assert type(answer) is type(y)
        assert len(answer) == len(nodes)
        if nodes:
            assert NodeLabels.encode(answer, h).terminals.tolist() == nodes


@pytest.mark.parametrize("style", ["name", "path", "tuple"])
@quick
@given(st.data())
def test_every_node_is_spelled_so_that_it_is_found(style, data):
    h = data.draw(trees(names=any_names))
    form = NodeLabels.encode([set()], h).form
    form = type(form)("sets", form.container, row_type=set, style=style)
    for node in range(h.n_nodes):
        assert h.index(form.spell(node, h)) == node


def test_spelling_follows_the_users():
    assert written(["cat"], EVERY) == ["animal", "cat", "dog", "plant", "oak"]
    assert written(["animal/cat"], [3, 5]) == ["animal/dog", "plant/oak"]
    assert written(["cat", "animal/dog"], [2, 3, 5]) == ["cat", "animal/dog", "plant/oak"]
    assert written([{("animal", "cat")}], [2, 5]) == [{("animal", "cat")}, {("plant", "oak")}]
    twins = Hierarchy.from_paths([("a", "x"), ("b", "x"), ("c",)])
    assert written(["c"], [2, 4, 5], twins) == ["a/x", "b/x", "c"]


def test_integers_stay_integers_and_mixtures_stay_what_they_are():
    later = YEARS.index(["later", ("later", 3)])
    answer = written(np.array([2019, 2020], dtype=np.int16), YEARS.index([2020, 2019, 3]), YEARS)
    assert same(answer, np.array([2020, 2019, 3], dtype=np.int16))
    answer = written(np.array([2019]), [YEARS.index(2020), later[0]], YEARS)
    assert answer.tolist() == [2020, "later"]
    assert answer.dtype == object
    tiny = Hierarchy.star([1, 300])
    assert written(np.array([1], dtype=np.int8), [1, 2], tiny).tolist() == [1, 300]
    halves = Hierarchy.star([1, 1.5])
    assert written(np.array([1]), [1, 2], halves).tolist() == [1, 1.5]
    truth = Hierarchy.star([0, True])
    assert [type(v) for v in written(np.array([0]), [1, 2], truth)] == [int, bool]


def test_strings_are_not_cut_to_the_length_of_those_that_came():
    assert written(np.array(["cat"]), [1, 5]).tolist() == ["animal", "oak"]
    table = np.array([["plant", "oak"]])
    assert written(table, [2, 4]).tolist() == [["animal", "cat"], ["plant", ""]]


def test_tables_become_wider_where_a_path_is_longer():
    deep = Hierarchy.from_paths([("a", "b", "c"), ("d", "e")])
    y = [("d", "e"), ("d", None)]
    assert written(np.array(y, dtype=object), [3, 4], deep).tolist() == [
        ["a", "b", "c"],
        ["d", None, None],
    ]
    frame = written(pd.DataFrame(y, columns=["x", "y"]), [3, 4], deep)
    assert frame.columns.tolist() == ["x", "y", "level_2"]
    assert frame.iloc[0].tolist() == ["a", "b", "c"]
    frame = written(pl.DataFrame(y, schema=["x", "y"], orient="row"), [3, 4], deep)
    assert frame.rows() == [("a", "b", "c"), ("d", None, None)]
    table = written(pa.table({"x": ["d"], "y": ["e"]}), [3, 4], deep)
    assert table.to_pydict() == {"x": ["a", "d"], "y": ["b", None], "level_2": ["c", None]}
    assert written([("d", "e")], [3, 4], deep) == [("a", "b", "c"), ("d",)]


def test_short_paths_in_a_table_of_integers():
    y = np.array([[2019, 1], [2019, 2]])
    assert same(written(y, YEARS.index([(2020, 1)]), YEARS), np.array([[2020, 1]]))
    short = written(y, YEARS.index([(2020, 1), 2019]), YEARS)
    assert short.tolist() == [[2020, 1], [2019, None]]
    y = pl.DataFrame({"year": [2019, 2019], "month": [1, 2]})
    assert written(y, YEARS.index([2019]), YEARS).rows() == [(2019, None)]


def test_types_of_columns_are_kept_where_they_hold_the_answer():
    category = pd.Series(["cat", "dog"], dtype="category")
    assert written(category, [3, 2]).dtype == category.dtype
    beyond = written(category, [2, 5])  # not among the categories
    assert beyond.tolist() == ["cat", "oak"]
    numbers = pd.Series([2019], dtype="Int64")
    assert written(numbers, [4], YEARS).dtype == "Int64"
    assert written(numbers, YEARS.index(["later", 2019]), YEARS).tolist() == ["later", 2019]
    strings = pd.Series(["later"], dtype="str")
    assert written(strings, YEARS.index(["later", 2019]), YEARS).tolist() == ["later", 2019]

    enum = pl.Enum(["cat", "dog"])
    assert written(pl.Series(["cat"], dtype=enum), [3]).dtype == enum
    assert written(pl.Series(["cat"], dtype=enum), [2, 5]).to_list() == ["cat", "oak"]
    mixed = written(pl.Series([2019]), YEARS.index(["later", 2019]), YEARS)
    assert mixed.to_list() == ["later", 2019]

    assert written(pa.array([2019], pa.int16()), [4], YEARS).type == pa.int16()
    assert written(pa.array([2019]), YEARS.index(["later", 2019]), YEARS).to_pylist() == [
        "later",
        "2019",
    ]


def test_the_index_is_that_of_the_rows():
    index = pd.Index([7, 8], name="i")
    series = written(pd.Series(["cat"], name="label"), [2, 3], index=index)
    assert series.index.equals(index)
    assert series.name == "label"
    frame = written(pd.DataFrame([["animal", "cat"]]), [2, 3], index=index)
    assert frame.index.equals(index)


def test_one_node_a_row_in_forms_for_several():
    assert written([{"cat"}], [2, 5]) == [{"cat"}, {"oak"}]
    assert written([frozenset({"cat"})], [2]) == [frozenset({"cat"})]
    assert written([[("animal", "cat")]], [2, 4]) == [[("animal", "cat")], [("plant",)]]
    eye = np.eye(5, dtype=np.int8)
    assert same(written(eye, EVERY), eye)
    assert same(written(sparse.csr_matrix(eye), EVERY), sparse.csr_matrix(eye))
    # a node that has no column is not written
    assert written(np.eye(3, dtype=int), [1, 2]).tolist() == [[0, 0, 0], [1, 0, 0]]


def test_several_nodes_a_row():
    labels = NodeLabels.encode([{"cat"}], PETS)
    sets = labels.form.write_sets([0, 2, 2, 3], np.array([2, 5, 1]), PETS, None)
    assert sets == [{"cat", "oak"}, set(), {"animal"}]
    labels = NodeLabels.encode(pd.DataFrame(np.eye(5), columns=PETS.path_strings[1:]), PETS)
    frame = labels.form.write_sets([0, 2, 2], np.array([2, 5]), PETS, None)
    assert frame["animal/cat"].tolist() == [1.0, 0.0]
    assert frame.sum(axis=1).tolist() == [2.0, 0.0]


def test_rows_that_are_lists_are_not_shared():
    rows = written([["animal", "cat"]], [2, 2])
    rows[0].append("x")
    assert rows[1] == ["animal", "cat"]


# ---------------------------------------------------------------------- answers and classes


def test_names_in_lists_and_columns_are_answered_by_flat_arrays():
    for y in (["cat", "dog"], ("cat", "dog"), np.array([["cat"], ["dog"]])):
        form = NodeLabels.encode(y, PETS).form.as_answer()
        assert same(form.write_nodes(np.array([3, 1]), PETS), np.array(["dog", "animal"]))
    form = NodeLabels.encode([2, 1, 2**70]).form.as_answer()
    assert form.dtype == object
    form = NodeLabels.encode([2**63, -1]).form.as_answer()
    assert form.dtype == object  # numpy would make floats of them
    series = pd.Series(["cat"])
    assert NodeLabels.encode(series, PETS).form.as_answer() is not None
    assert isinstance(
        NodeLabels.encode(series, PETS).form.as_answer().write_nodes(EVERY, PETS), pd.Series
    )


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["dog", "cat"], np.array(["cat", "dog"])),
        ([("animal", "cat")], [("animal", "cat"), ("animal", "dog")]),
        (np.array([["animal", "cat"]]), [("animal", "cat"), ("animal", "dog")]),
        ([{"animal/cat"}], ["animal/cat", "animal/dog"]),
    ],
)
def test_class_labels(y, classes):
    labels = NodeLabels.encode(y, PETS)
    found = labels.form.class_labels(np.array([2, 3]), PETS)
    assert found.shape == (2,)
    assert found.tolist() == list(classes)
    if isinstance(classes, np.ndarray):
        assert found.dtype.kind == classes.dtype.kind


def test_forms_are_pickled():
    for y in (
        ["cat"],
        [{"cat"}],
        pd.Series(["cat"], dtype="category"),
        pa.array(["cat"]),
        np.eye(5),
    ):
        form = NodeLabels.encode(y, PETS).form
        again = pickle.loads(pickle.dumps(form))
        nodes = np.array([2])
        assert same(again.write_nodes(nodes, PETS), form.write_nodes(nodes, PETS))


# ---------------------------------------------------------------------- types of arrays


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        (["a", "bcd"], "U1", "U"),
        ([b"a", b"bcd"], "S1", "S"),
        ([1, 2], "i1", "i"),
        ([1, 300], "i1", "O"),
        ([-1], "u1", "O"),
        ([1, 2.5], "i8", "O"),
        ([1, 2.5], "f4", "f"),
        ([1, True], "i8", "O"),
        ([1, True], "f8", "O"),
        ([True, False], "?", "b"),
        ([1, "a"], "U1", "O"),
        ([1, "a"], "i8", "O"),
        ([1, None], "i8", "O"),
        ([1.5, 1j], "c8", "c"),
        ([np.datetime64("2020-01-01")], "M8[ns]", "M"),
        (["2020"], "M8[ns]", "O"),
        (["a"], None, "O"),
        (["a"], "O", "O"),
        ([], "i8", "i"),
    ],
)
def test_arrays_have_the_type_where_it_holds_all_values(values, dtype, kind):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    found = as_dtype(array, None if dtype is None else np.dtype(dtype))
    assert found.dtype.kind == kind
    assert found.tolist() == values or kind == "M"


# ---------------------------------------------------------------------- labels of arrays


@pytest.mark.parametrize("form", DATES)
def test_dates_are_labels(form):
    y, X = DATES[form], np.eye(3)
    model = FlatClassifier(GaussianNB()).fit(X, y)
    assert type(model.predict(X)) is type(np.zeros(3) if isinstance(y, list) else y)
    assert list(model.predict(X)) == list(y)
    assert (model.score(X, y), len(model.classes_)) == (1.0, 3)
    assert model.hierarchy_.index(model.classes_).tolist() == [1, 2, 3]
    best, _ = model.predict_top_k(X, k=1)
    assert [row[0] for row in best] == (y.to_pylist() if isinstance(y, pa.Array) else list(y))


def test_dates_are_labels_of_models_with_intervals_and_of_dags():
    y, X = np.repeat(DATES["nanoseconds"], 8), np.repeat(np.eye(3), 8, axis=0)
    conformal = ConformalHierarchicalClassifier(FlatClassifier(GaussianNB()), cv=2).fit(X, y)
    (found,) = conformal.predict_set(X[:1])
    assert y[0] in found <= set(y)
    forest = CoherentForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert (forest.score(X, y), forest.predict(X).dtype) == (1.0, y.dtype)


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "a\0", "a\0\0"],
        [b"a", b"a\0", b"b"],
        ["\0", "b", "\0\0"],
        [("x", "a"), ("x", "a\0"), ("y", "b")],
        ["x/a", "x/a\0", "y/b"],
    ],
)
def test_zero_characters_at_the_end_distinguish_labels(labels):
    X, y = np.eye(3), labels
    for made in (y, as_objects(y)):
        model = FlatClassifier(GaussianNB()).fit(X, made)
        assert list(model.predict(X)) == labels
        assert (model.score(X, made), len(model.classes_)) == (1.0, 3)


def as_objects(labels):
    return np.fromiter(labels, dtype=object, count=len(labels))


LABEL_DAYS = np.array(["2024-01-31", "2024-02-01", "2023-12-24"], dtype="datetime64[D]")
PATH_NAMES = ["a/x", "a/y", "b"]


@pytest.mark.parametrize(
    "labels",
    [
        LABEL_DAYS,
        LABEL_DAYS.astype("datetime64[ns]"),
        pd.DataFrame({"y": PATH_NAMES}),
        pa.table({"y": PATH_NAMES}),
        pl.DataFrame({"y": PATH_NAMES}),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_of_a_learned_tree_come_back_as_dates_and_in_one_column(labels):
    codes = np.arange(30) % 3
    X = 10.0 * np.eye(3)[codes]
    y = labels.take(codes) if hasattr(labels, "take") else labels[codes.tolist()]
    predicted = ClassTreeClassifier().fit(X, y).predict(X)
    assert type(predicted) is type(y)
    assert np.array_equal(np.asarray(predicted), np.asarray(y))
