"""Sets in MATLAB files: proteins, SAIAPR, Bridges, News20, rcv1 subsets."""

from __future__ import annotations

from typing import Any

from palmette.datasets.families.parts import Files, name_parts, split_files
from palmette.datasets.home import DatasetEntry
from palmette.datasets.mat import read_mat
from palmette.exceptions import DataHomeError

__all__ = ["load_mat"]


def load_mat(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the published split, or the one file where there is none."""
    paths = split_files(entry, files, r"\.mat$")
    bunches = {part: read_mat(path) for part, path in paths.items()}
    shared = dict(next(iter(bunches.values())))
    for bunch in bunches.values():
        if bunch.hierarchy != shared["hierarchy"]:
            raise DataHomeError(f"{entry.name}: the files of the split have different trees.")
    del shared["X"], shared["y"]
    return {**name_parts({part: (b.X, b.y) for part, b in bunches.items()}), **shared}
