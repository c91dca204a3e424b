"""Multi-label sets of MULAN."""

from __future__ import annotations

from typing import Any

from palmette.datasets.families.parts import Files, name_parts, only_file, split_files
from palmette.datasets.home import DatasetEntry
from palmette.datasets.mulan import read_mulan, read_mulan_labels

__all__ = ["load_mulan"]


def load_mulan(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the published split, or the one file where there is none."""
    labels = read_mulan_labels(only_file(files, ".xml"))
    paths = split_files(entry, files, r"\.arff")
    bunches = {part: read_mulan(path, labels) for part, path in paths.items()}
    shared = dict(next(iter(bunches.values())))
    del shared["X"], shared["y"]
    return {**name_parts({part: (b.X, b.y) for part, b in bunches.items()}), **shared}
