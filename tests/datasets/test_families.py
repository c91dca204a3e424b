"""Which file of a set is which part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from palmette.datasets._families import name_parts, only_file, split_files
from palmette.datasets._home import DatasetEntry
from palmette.exceptions import DataHomeError


def entry(**facts: Any) -> DatasetEntry:
    return DatasetEntry("s", "g", facts, Path())


def files(*names: str) -> dict[str, Path]:
    return {name: Path(name) for name in names}


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["A_Train.arff.xz", "A_Test.arff.xz"], ["train", "test"]),
        (["c.train.arff", "c.valid.arff", "c.test.arff"], ["train", "valid", "test"]),
        (["E_trainvalid.arff", "E_test.arff"], ["train", "test"]),
        (["x-train.arff", "x-test.arff", "x.arff"], ["train", "test"]),
        (["sat.trn.xz", "sat.tst.xz"], ["train", "test"]),
        (["p.tra", "p.tes"], ["train", "test"]),
    ],
)
def test_parts_go_by_the_names_of_files(names: list[str], parts: list[str]) -> None:
    found = split_files(entry(n_test=1), files(*names), "")
    assert found == {part: Path(name) for part, name in zip(parts, names, strict=False)}


def test_no_test_rows_mean_no_split() -> None:
    assert split_files(entry(n_test=0), files("aTest.mat", "b.txt"), "mat") == {
        "all": Path("aTest.mat")
    }
    with pytest.raises(DataHomeError, match="expected one data file"):
        split_files(entry(n_test=0), files("a.mat", "b.mat"), "mat")
    with pytest.raises(DataHomeError, match="no train or test file"):
        split_files(entry(n_test=5), files("a.mat"), "mat")


def test_one_file_by_its_ending() -> None:
    assert only_file(files("a.xml.xz", "a.arff"), ".xml") == Path("a.xml.xz")
    with pytest.raises(DataHomeError, match="found 2"):
        only_file(files("a.xml.xz", "b.xml"), ".xml")


def test_parts_are_named_in_order() -> None:
    named = name_parts({"test": (3, 4), "train": (1, 2)})
    assert list(named.items()) == [("X_train", 1), ("y_train", 2), ("X_test", 3), ("y_test", 4)]
    assert name_parts({"all": (1, 2)}) == {"X": 1, "y": 2}
