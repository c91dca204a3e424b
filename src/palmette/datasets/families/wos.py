"""Web of Science: abstracts under domain and area."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from palmette.core.hierarchy import Hierarchy
from palmette.datasets.bunch_parts import NODES, object_array
from palmette.datasets.families.parts import Files, only_file
from palmette.datasets.home import DatasetEntry
from palmette.datasets.plain_text import read_text
from palmette.exceptions import ReadError

__all__ = ["load_wos"]

_COLUMNS = ["Y1", "Y2", "Y", "Domain", "area", "keywords", "Abstract"]


def load_wos(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load abstracts with their keywords.

    ``y`` is the path of domain and area by name. The numbers Y1, Y2 and Y of the source are kept
    as ``codes``: they are coarser, as three of them stand for two areas each.
    """
    path = only_file(files, ".txt")
    reader = csv.reader(io.StringIO(read_text(path), newline=""), delimiter="\t")
    if [cell.strip() for cell in next(reader, [])] != _COLUMNS:
        raise ReadError(f"expected the columns {', '.join(_COLUMNS)}", path=path, line=1)
    rows: list[list[str]] = []
    for row in reader:
        if row and len(row) != len(_COLUMNS):
            raise ReadError(
                f"found {len(row)} columns, expected {len(_COLUMNS)}",
                path=path,
                line=reader.line_num,
            )
        if row:
            rows.append(row)
    domains = [row[3].strip() for row in rows]
    areas = [row[4].strip() for row in rows]
    paths = list(zip(domains, areas, strict=True))
    return {
        "X": [row[6] for row in rows],
        "y": object_array(map("/".join, paths)),
        "keywords": [[k.strip() for k in row[5].split(";")] for row in rows],
        "codes": np.array([[int(code) for code in row[:3]] for row in rows]),
        "hierarchy": Hierarchy.from_paths(sorted(set(paths))),
        "feature_names": None,
        "target_form": NODES,
    }
