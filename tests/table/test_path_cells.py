"""Paths in cells: whatever the separator and the names, predictions are labels of the table."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import palmette as pm
from palmette.exceptions import PalmetteError
from palmette.hierarchy._separators import SEPARATORS, join_path
from palmette.persistence import load, save
from palmette.table._problem import read_problem
from palmette.table._target import TargetForm
from palmette.table._target_nodes import hierarchy_of_paths

ALL = [*SEPARATORS, " - ", "-", ".", " / / ", ", "]
names = st.text(st.sampled_from("ab ->/|:.,»"), min_size=1, max_size=5).filter(
    lambda name: name == name.strip()
)
paths = st.lists(st.lists(names, min_size=1, max_size=3).map(tuple), min_size=2, max_size=5)


class Settled(NamedTuple):
    """Paths that were read from a table, and how they are written."""

    truth: list[Any]
    target: TargetForm
    hierarchy: pm.Hierarchy

    def write(self):
        return [self.target.write(path) for path in self.truth]


def settled(cells, target="y", **options):
    """Read and write a target as `read_problem` does, without the other columns."""
    frame = cells if isinstance(cells, pd.DataFrame) else table(cells)
    known = {}
    form = TargetForm.find(frame, target, **options)
    rows = form.read(frame, known)
    hierarchy = hierarchy_of_paths(rows, several=False)
    form.settle(rows, known)
    return Settled(rows, form, hierarchy)


def table(cells):
    return pd.DataFrame({"x": [float(i) for i in range(len(cells))], "y": cells})


@settings(max_examples=60)
@given(paths, st.sampled_from(ALL))
def test_cells_that_a_separator_can_write_come_back(some, separator):
    some = [path for path in dict.fromkeys(some) if join_path(path, separator) is not None]
    if len(some) < 2:
        return
    cells = [separator.join(path) for path in some]
    problem = settled(cells, separator=separator)
    assert problem.truth == some
    assert problem.write() == cells


@settings(max_examples=40)
@given(paths)
def test_levels_are_written_unambiguously_or_refused(some):
    some = list(dict.fromkeys(some))
    frame = pd.DataFrame([path + (None,) * (3 - len(path)) for path in some], columns=list("uvw"))
    if len(some) < 2:
        return
    try:
        problem = settled(frame, ["u", "v", "w"])
    except PalmetteError:  # no separator is free
        return
    nodes = [problem.hierarchy.path(n) for n in range(1, problem.hierarchy.n_nodes)]
    assert len({problem.target.write(path) for path in nodes}) == len(nodes)


@settings(max_examples=40)
@given(st.lists(names, min_size=2, max_size=6, unique=True))
def test_found_separators_never_change_a_cell(cells):
    problem = settled(cells)
    for cell, path, text in zip(cells, problem.truth, problem.write(), strict=True):
        # two spellings of a path are one label
        assert text == cell or problem.truth[cells.index(text)] == path


def test_white_space_around_a_separator():
    cells = ["Food > Fruit", "Food >Fish", "Tools>Saws", "Food > Fruit > "]
    problem = settled(cells)
    assert problem.target.separator == ">"  # the cells have no other separator in common
    assert problem.truth == [("Food", "Fruit"), ("Food", "Fish"), ("Tools", "Saws"),
                             ("Food", "Fruit")]  # fmt: skip
    assert problem.write() == [*cells[:3], cells[0]]
    exact = settled(cells[:3], separator=" > ")
    assert exact.truth == [("Food", "Fruit"), ("Food >Fish",), ("Tools>Saws",)]


def test_several_labels_are_separated_by_what_no_label_has():
    rows = [["a;b", "c"], ["c"], ["d|e", "a;b"]]
    problem = read_problem(table(rows), "y")
    assert problem.target.labels_mark == " || "
    with pytest.raises(PalmetteError, match=r"'a;b' cannot be written in a cell"):
        read_problem(table(rows), "y", labels_separator=";")


def test_a_hierarchy_whose_names_hold_the_separator_is_refused():
    h = pm.Hierarchy.from_paths([("a", "b > c", "d"), ("e", "f")])
    frame = table(["d", "e > f", "e > f"])
    with pytest.raises(
        PalmetteError, match=r"'b > c'.* cannot be written with the separator ' > '"
    ):
        read_problem(frame, "y", hierarchy=h, separator=" > ")
    assert read_problem(frame, "y", hierarchy=h).target.write(("a", "b > c")) == "a / b > c"


CASES = [
    (" - ", ["T-shirts - Long-sleeve", "T-shirts - V-neck", "Shoes- - Low -", "Hats"]),
    (None, ["Tops > C->D", "Tops > x>", "Shoes > a/b", "Shoes > -"]),
    (None, ["Tops / A / B", "Tops / N/A", "Shoes / a|b", "Shoes / 1 > 2"]),
    ("-", ["T-shirts - Long", "T-shirts -V", "Shoes-Low", "Hats"]),
]


@pytest.mark.parametrize(("separator", "cells"), CASES)
def test_names_with_marks(separator, cells):
    problem = settled(cells, separator=separator)
    assert problem.write() == cells
    assert max(map(len, problem.truth)) > 1


def test_fit_save_load_predict(tmp_path):
    separator, cells = CASES[0]
    rows = [i % 4 for i in range(24)]
    frame = pd.DataFrame({"x": ["abcd"[i] for i in rows], "y": [cells[i] for i in rows]})
    model = pm.fit_table(frame, "y", separator=separator, model="flat-naive-bayes", folds=0,
                         columns={"x": "category"})  # fmt: skip
    save(model, tmp_path / "m.palmette")
    for each in (model, load(tmp_path / "m.palmette")):
        assert [each.label_text(path) for path in each.predict(frame)] == frame["y"].tolist()
        assert each.read_target(frame) == each.predict(frame)


@pytest.mark.parametrize("nested", [False, True])
def test_models_of_lists_of_names_are_stored_and_fitted_again(tmp_path, nested):
    paths = [["Food", name] for name in "abcd"] + [["Tools", name] for name in "efgh"]
    rows = [paths[i % 8] for i in range(48)]
    cells = [[path, rows[i - 1]][: 1 + i % 2] for i, path in enumerate(rows)] if nested else rows
    frame = pd.DataFrame({"x": [path[-1] for path in rows], "y": cells})
    model = pm.fit_table(frame, "y", model="label-tree" if nested else "flat-naive-bayes", folds=0,
                         columns={"x": "category"})  # fmt: skip
    assert model.several_paths_ == nested
    assert model.hierarchy_.n_nodes == 11
    save(model, tmp_path / "m.palmette")
    again = load(tmp_path / "m.palmette").refit(frame)
    assert again.read_target(frame) == model.read_target(frame)
    assert again.predict(frame) == model.predict(frame)
