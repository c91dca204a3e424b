"""Sets in the ARFF of Clus-HMC: ImCLEF, Diatoms, the yeast sets by FUN and GO, Enron, phyletic."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.datasets.clus import clus_targets, clus_texts, read_clus_table
from palmette.datasets.families.parts import Files, name_parts, split_files
from palmette.datasets.home import DatasetEntry
from palmette.exceptions import DataHomeError

__all__ = ["load_clus"]


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
