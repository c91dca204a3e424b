"""RCV1's development split: news as JSON lines, with several topics each."""

from __future__ import annotations

import json
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.datasets.bunch_parts import NODE_SETS
from palmette.datasets.families.parts import Files, only_file
from palmette.datasets.home import DatasetEntry
from palmette.datasets.plain_text import read_text
from palmette.exceptions import ReadError

__all__ = ["load_rcv1"]


def load_rcv1(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the texts, words joined by blanks, and the sets of topic paths."""
    path = only_file(files, ".json")
    texts: list[str] = []
    labels: list[frozenset[str]] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            texts.append(" ".join(row["doc_token"]))
            labels.append(frozenset(label.replace("--", "/") for label in row["doc_label"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ReadError(
                f"expected a JSON object with doc_label and doc_token ({error!r})",
                path=path,
                line=number,
                text=line,
            ) from error
    return {
        "X": texts,
        "y": labels,
        "hierarchy": Hierarchy.read(only_file(files, ".taxonomy")),
        "feature_names": None,
        "target_form": NODE_SETS,
    }
