"""Which file of a set is which part, and what the parts are called in a Bunch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palmette.datasets.home import DatasetEntry
from palmette.exceptions import DataHomeError

__all__ = ["Files", "name_parts", "only_file", "split_files"]

Files = Mapping[str, Path]

# `trainvalid` is a training file; .tra .tes and .trn .tst are UCI's own suffixes
_PARTS = {
    "train": re.compile(r"train|\.tra\b|\.trn\b", re.IGNORECASE),
    "valid": re.compile(r"valid", re.IGNORECASE),
    "test": re.compile(r"test|\.tes\b|\.tst\b", re.IGNORECASE),
}


def only_file(files: Files, suffix: str) -> Path:
    """Return the one file whose name, without its packing, has that ending."""
    found = [path for name, path in files.items() if name.removesuffix(".xz").endswith(suffix)]
    if len(found) != 1:
        raise DataHomeError(
            f"expected one file *{suffix} among {', '.join(files)}, found {len(found)}."
        )
    return found[0]


def split_files(entry: DatasetEntry, files: Files, pattern: str) -> dict[str, Path]:
    """Return the files of the published split, or the one file under the name ``all``.

    Parameters
    ----------
    entry : DatasetEntry
    files : mapping of name to path
    pattern : str
        A regular expression that names of data files match; others are left alone.

    Returns
    -------
    dict
        With ``train``, ``valid`` and ``test`` as far as they exist, or ``all``. A set whose
        manifest counts no test rows has no split, whatever its file is called.
    """
    data = {name: path for name, path in files.items() if re.search(pattern, name)}
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
