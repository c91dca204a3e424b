"""Loaders by file format: Clus-HMC and MULAN ARFF, MATLAB, R, and flat multi-class sets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.datasets._arff import read_arff
from palmette.datasets._clus import clus_targets, clus_texts, read_clus_table
from palmette.datasets._home import DatasetEntry
from palmette.datasets._mat import read_mat
from palmette.datasets._mulan import read_mulan, read_mulan_labels
from palmette.datasets._rda import read_rda
from palmette.datasets._reading import NODES, flat_target, numbered_names, object_array
from palmette.datasets._table import read_delimited, read_libsvm
from palmette.exceptions import DataHomeError, ReadError

Files = Mapping[str, Path]

# `trainvalid` is a training file; .tra .tes and .trn .tst are UCI's own suffixes
_PARTS = {
    "train": re.compile(r"train|\.tra\b|\.trn\b", re.IGNORECASE),
    "valid": re.compile(r"valid", re.IGNORECASE),
    "test": re.compile(r"test|\.tes\b|\.tst\b", re.IGNORECASE),
}


def only_file(files: Files, suffix: str) -> Path:
    """Return the only file whose name ends in `suffix`, in any case, compressed or not."""
    ending = suffix.lower()
    found = [
        path
        for name, path in files.items()
        if name.lower().endswith(ending) or _plain(name).endswith(ending)
    ]
    if len(found) != 1:
        raise DataHomeError(
            f"expected one file *{suffix} among {', '.join(files)}, found {len(found)}."
        )
    return found[0]


def _plain(name: str) -> str:
    """Return a name in lower case, without the suffix of its compression."""
    return re.sub(r"\.(xz|gz|bz2|zip)$", "", name.lower())


def split_files(entry: DatasetEntry, files: Files, pattern: str) -> dict[str, Path]:
    """Return the files of the published split, or the one file under the name ``all``.

    Parameters
    ----------
    entry : DatasetEntry
    files : mapping of name to path
    pattern : str
        A regular expression that matches the names of data files; other files are ignored.

    Returns
    -------
    dict
        With ``train``, ``valid`` and ``test`` as far as they exist, or ``all``. A set without test
        rows in the manifest has no split, whatever the name of its file.
    """
    wanted = re.compile(pattern, re.IGNORECASE)
    data = {name: path for name, path in files.items() if wanted.search(name)}
    if entry.facts.get("n_test") == 0:
        if len(data) != 1:
            raise DataHomeError(f"{entry.name}: expected one data file, found {list(data)}.")
        return {"all": next(iter(data.values()))}
    found: dict[str, Path] = {}
    for name, path in data.items():
        part = next((part for part, mark in _PARTS.items() if mark.search(name)), None)
        if part is not None:
            found[part] = path
    if not found:
        raise DataHomeError(f"{entry.name}: no train or test file among {', '.join(files)}.")
    return found


def name_parts(parts: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Name X and y of each part: ``X_train``, ``y_train``, ..., or ``X`` and ``y``."""
    named: dict[str, Any] = {}
    for part in ("all", "train", "valid", "test"):
        if part in parts:
            ending = "" if part == "all" else f"_{part}"
            named[f"X{ending}"], named[f"y{ending}"] = parts[part]
    return named


def load_clus(
    entry: DatasetEntry, files: Files, dtype: type[np.floating] = np.float64
) -> dict[str, Any]:
    """Load train, validation and test files; labels have one form in all of them."""
    paths = split_files(entry, files, r"\.h?arff")
    tables = {part: read_clus_table(path, dtype) for part, path in paths.items()}
    first = next(iter(tables.values()))
    for table in tables.values():
        if table.hierarchy != first.hierarchy or table.table.attributes != first.table.attributes:
            raise DataHomeError(f"{entry.name}: the files of the split have different headers.")
    form, targets = clus_targets(list(tables.values()))
    names, categorical, categories = first.table.describe_columns()
    parts = {
        part: (table.table.numbers, y)
        for (part, table), y in zip(tables.items(), targets, strict=True)
    }
    loaded = {
        **name_parts(parts),
        "hierarchy": first.hierarchy,
        "feature_names": names,
        "categorical_features": categorical,
        "categories": categories,
        "target_form": form,
    }
    texts = clus_texts(first)
    if texts:
        loaded["texts"] = texts
    return loaded


def load_mulan(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the published split, or the one file where there is none."""
    labels = read_mulan_labels(only_file(files, ".xml"))
    paths = split_files(entry, files, r"\.arff")
    bunches = {part: read_mulan(path, labels) for part, path in paths.items()}
    shared = dict(next(iter(bunches.values())))
    del shared["X"], shared["y"]
    return {**name_parts({part: (b.X, b.y) for part, b in bunches.items()}), **shared}


def load_mat(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the published split, or the one file where there is none."""
    paths = split_files(entry, files, r"\.mat\b")
    bunches = {part: read_mat(path) for part, path in paths.items()}
    shared = dict(next(iter(bunches.values())))
    for bunch in bunches.values():
        if bunch.hierarchy != shared["hierarchy"]:
            raise DataHomeError(f"{entry.name}: the files of the split have different trees.")
    del shared["X"], shared["y"]
    return {**name_parts({part: (b.X, b.y) for part, b in bunches.items()}), **shared}


def load_libsvm(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the published split of sparse rows, whose widths are those of the wider file."""
    paths = split_files(entry, files, r".")
    width = max(read_libsvm(path).X.shape[1] for path in paths.values())
    bunches = {part: read_libsvm(path, n_features=width) for part, path in paths.items()}
    shared = dict(next(iter(bunches.values())))
    del shared["X"], shared["y"]
    parts = {part: (b.X, b.y) for part, b in bunches.items()}
    shared["hierarchy"] = flat_target(*(y for _, y in parts.values()))
    return {**name_parts(parts), **shared}


def load_rda(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the one object; mldr sets have no published split."""
    return dict(read_rda(only_file(files, ".rda")))


def load_flat_arff(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load an ARFF file whose last attribute is the class."""
    table = read_arff(only_file(files, ".arff"))
    target = table.coded[-1]
    if target is not table.attributes[-1] or target.kind != "nominal" or len(table.coded) < 2:
        raise ReadError("expected a nominal class as the last attribute", path=table.path)
    codes = table.numbers[:, -1]
    if np.isnan(codes).any():
        row = int(np.flatnonzero(np.isnan(codes))[0])
        raise ReadError("the class is missing", path=table.path, line=int(table.line_numbers[row]))
    columns = range(len(table.coded) - 1)
    names, categorical, categories = table.describe_columns(columns)
    y = _labels(object_array(target.values)[codes.astype(np.int64)])
    return {
        "X": np.ascontiguousarray(table.numbers[:, :-1]),
        "y": y,
        "hierarchy": flat_target(y),
        "feature_names": names,
        "categorical_features": categorical,
        "categories": categories,
        "target_form": NODES,
    }


def load_delimited(
    entry: DatasetEntry,
    files: Files,
    *,
    separator: str | None,
    pattern: str,
    target: int = -1,
    ignored: Sequence[int] = (),
    header: bool = False,
    one_hot_class: bool = False,
) -> dict[str, Any]:
    """Load plain tables; see `read_delimited`.

    Parameters
    ----------
    pattern : str
        Regular expression for the names of the data files.
    one_hot_class : bool
        Whether the class is written as ``0010``, its number being the position of the 1.
    """
    parts: dict[str, tuple[Any, Any]] = {}
    for part, path in split_files(entry, files, pattern).items():
        X, y = read_delimited(
            path, separator=separator, target=target, ignored=ignored, header=header
        )
        if one_hot_class:
            y = object_array(str(label.find("1")) for label in y)
        parts[part] = X, _labels(y)
    width = next(iter(parts.values()))[0].shape[1]
    return {
        **name_parts(parts),
        "hierarchy": flat_target(*(y for _, y in parts.values())),
        "feature_names": numbered_names(width),
        "target_form": NODES,
    }


def _labels(y: NDArray[np.object_]) -> NDArray[Any]:
    """Convert classes to integers if all of them are."""
    if all(label.isdecimal() and len(label) < 10 for label in y):
        return y.astype(np.int64)
    return y
