"""CLINC150: intents of short questions under ten domains, and questions out of scope."""

from __future__ import annotations

import json
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.datasets.bunch_parts import NODES, object_array
from palmette.datasets.families.parts import Files, name_parts, only_file
from palmette.datasets.home import DatasetEntry
from palmette.datasets.plain_text import read_text

__all__ = ["load_clinc150"]


def load_clinc150(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the full set.

    ``out_of_scope`` holds the texts that belong to no intent, by part, and ``X_train_imbalanced``
    and ``y_train_imbalanced`` the smaller training set.
    """
    domains: dict[str, list[str]] = json.loads(read_text(only_file(files, "domains.json")))
    full = json.loads(read_text(only_file(files, "data_full.json")))
    imbalanced = json.loads(read_text(only_file(files, "data_imbalanced.json")))
    path_of = {intent: f"{domain}/{intent}" for domain in domains for intent in domains[domain]}

    def texts_and_labels(rows: list[list[str]]) -> tuple[list[str], Any]:
        return [text for text, _ in rows], object_array(path_of[intent] for _, intent in rows)

    parts = {"train": "train", "valid": "val", "test": "test"}
    few = texts_and_labels(imbalanced["train"])
    hierarchy = Hierarchy.from_paths([(d, intent) for d in domains for intent in domains[d]])
    return {
        **name_parts({part: texts_and_labels(full[key]) for part, key in parts.items()}),
        "X_train_imbalanced": few[0],
        "y_train_imbalanced": few[1],
        "out_of_scope": {
            part: [text for text, _ in full[f"oos_{key}"]] for part, key in parts.items()
        },
        "hierarchy": hierarchy,
        "feature_names": None,
        "target_form": NODES,
    }
