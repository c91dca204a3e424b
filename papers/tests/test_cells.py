"""Fits are done once, and again where something they depend on has changed."""

from __future__ import annotations

import warnings

import pytest

from palmette.compare import ResultStore
from papers.cells import Cells

CELL = {"dataset": "toy", "split": "published", "model": "m", "estimator": "E()"}


def test_results_carry_seconds_and_warnings():
    def compute():
        warnings.warn("first line\nsecond line", stacklevel=1)
        return {"score": 0.5}

    cells = Cells(None, {})
    found = cells.results(CELL, compute)
    assert found["score"] == 0.5
    assert found["cpu_s"] >= 0
    assert cells.notes == ["toy: first line (m)"]


def test_what_is_in_the_store_is_not_computed_again(tmp_path):
    seen = []
    path = tmp_path / "r.jsonl"
    watch = lambda *names: seen.append(names)  # noqa: E731
    first = Cells(ResultStore(path), {"v": 1}, watch).results(CELL, lambda: {"score": 0.5})
    again = Cells(ResultStore(path), {"v": 1}, watch).results(CELL, pytest.fail)
    assert again == first
    assert seen == [("toy", "m")]


def test_changes_are_told(tmp_path):
    store = ResultStore(tmp_path / "r.jsonl")
    Cells(store, {"v": 1}).results(CELL, lambda: {"score": 0.5})
    cells = Cells(store, {"v": 2})
    assert cells.results(CELL, lambda: {"score": 0.6})["score"] == 0.6
    assert cells.notes == ["toy: computed again, as these have changed: v (m)"]


def test_equal_notes_are_told_once():
    def compute():
        warnings.warn("mind this", stacklevel=1)
        return {}

    cells = Cells(None, {})
    for model in ("a", "b"):
        cells.results({**CELL, "model": model}, compute)
    assert cells.notes == ["toy: mind this (a, b)"]


def test_fits_of_another_machine_are_used_if_that_is_wanted_and_told(tmp_path):
    path = tmp_path / "r.jsonl"
    Cells(ResultStore(path), {"machine": "a"}).results(CELL, lambda: {"score": 0.5})
    cells = Cells(ResultStore(path, ignored=("made_with",)), {"machine": "b"})
    assert cells.results(CELL, pytest.fail)["score"] == 0.5
    other = {**CELL, "model": "n"}
    assert cells.results(other, lambda: {"score": 0.7})["score"] == 0.7
    assert cells.notes == ["1 of 2 fits were made elsewhere, with machine a"]
