"""Taxonomies: a hierarchy without rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.datasets.families.parts import Files, only_file
from palmette.datasets.home import DatasetEntry
from palmette.datasets.plain_text import read_text

__all__ = ["load_taxonomy"]


def load_taxonomy(
    entry: DatasetEntry,
    files: Files,
    *,
    file: str | None = None,
    root: str | None = None,
    alternates: Mapping[str, str] | None = None,
    names: str | None = None,
    class_index: str | None = None,
) -> dict[str, Any]:
    """Load a hierarchy, and others that the set has.

    Parameters
    ----------
    file : str, optional
        Ending of the main file's name, where there are several.
    root : str, optional
        Joins several roots.
    alternates : mapping of key to ending, optional
        More hierarchies.
    names : str, optional
        File of lines ``node name``: what the bare codes of leaves stand for.
    class_index : str, optional
        JSON file of ImageNet's classes: number -> [node, name].
    """
    ending = file if file is not None else next(iter(files)).removesuffix(".xz")
    loaded: dict[str, Any] = {
        "hierarchy": Hierarchy.read(only_file(files, ending), root=root),
        "target_form": None,
    }
    if alternates:
        loaded["alternates"] = {
            key: Hierarchy.read(only_file(files, other)) for key, other in alternates.items()
        }
    if names is not None:
        lines = read_text(only_file(files, names)).split("\n")
        loaded["class_names"] = dict(line.strip().split(" ", 1) for line in lines if line.strip())
    if class_index is not None:
        index = json.loads(read_text(only_file(files, class_index)))
        loaded["class_names"] = dict(index.values())
        loaded["class_order"] = [index[str(i)][0] for i in range(len(index))]
    return loaded
