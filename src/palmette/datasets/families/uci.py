"""Flat multi-class sets: ARFF files with a nominal class, and plain tables as UCI has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.datasets.arff import read_arff
from palmette.datasets.bunch_parts import NODES, flat_target, numbered_names, object_array
from palmette.datasets.delimited import read_delimited
from palmette.datasets.families.parts import Files, name_parts, only_file, split_files
from palmette.datasets.home import DatasetEntry
from palmette.exceptions import ReadError

__all__ = ["load_delimited", "load_flat_arff"]


def load_flat_arff(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load an ARFF file whose last attribute is the class."""
    table = read_arff(only_file(files, ".arff"))
    target = table.coded[-1]
    if target is not table.attributes[-1] or target.kind != "nominal" or len(table.coded) < 2:
        raise ReadError("the last attribute is not a nominal class", path=table.path)
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
        Which files hold data.
    one_hot_class : bool
        Whether the class is written as ``0010``, the place of the 1 being its number.
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
    """Turn classes that are all whole numbers into integers."""
    if all(label.isdecimal() and len(label) < 10 for label in y):
        return y.astype(np.int64)
    return y
